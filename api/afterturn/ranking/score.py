r"""The contract's score, vectorised.

.. math::
    score = 0.55\,cosine + 0.20\,overlap + 0.15\,recency + 0.10\,importance

- cosine of the query's and the record's vector; 0 where one is missing, all zeros, of another length or model;
- overlap: share of the query's distinct tokens that the record's text has; 0 for a query without tokens;
- recency: :math:`0.5^{age / 30\,days}`, age never below 0;
- importance: the record's own, 0 where unset.

Source: the memory adapters' page of TanStack AI ("How `inMemory()` and `redis()` score") and its implementation.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nsmallest
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from afterturn.model import Hit, ScoreParts
from afterturn.ranking.words import query_tokens, text_tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from afterturn.model import MemoryKind, Record

SEMANTIC_WEIGHT: Final = 0.55
LEXICAL_WEIGHT: Final = 0.20
RECENCY_WEIGHT: Final = 0.15
IMPORTANCE_WEIGHT: Final = 0.10
HALF_LIFE_MS: Final = 30 * 86_400_000


@dataclass(frozen=True, slots=True)
class Query:
    """What records are scored against.

    Attributes:
        vector: shape (dimension,), or None to score without the semantic part.
        model: name of the vector's model.
        now: milliseconds since the epoch.
    """

    text: str
    now: int
    vector: NDArray[Any] | None = None
    model: str | None = None


def rank(
    records: Sequence[Record],
    query: Query,
    *,
    top_k: int,
    min_score: float,
    kinds: Collection[MemoryKind] = (),
    pending: Collection[str] = (),
) -> list[Hit]:
    """The best live records, best first; ties: newer first, then by id.

    Args:
        kinds: only these; empty: all.
        pending: ids of records that are not embedded yet.
    """
    live = [r for r in records if is_live(r, query.now) and (not kinds or r.kind in kinds)]
    if not live:
        return []
    semantic = _cosines(live, query)
    lexical = _overlaps(live, query.text)
    recency = 0.5 ** (np.maximum(0.0, [float(query.now - r.created_at) for r in live]) / HALF_LIFE_MS)
    importance = np.array([r.importance or 0.0 for r in live])
    scores = (
        SEMANTIC_WEIGHT * semantic
        + LEXICAL_WEIGHT * lexical
        + RECENCY_WEIGHT * recency
        + IMPORTANCE_WEIGHT * importance
    )
    values: list[float] = scores.tolist()
    kept = [i for i, value in enumerate(values) if value >= min_score]
    best = nsmallest(top_k, kept, key=lambda i: (-values[i], -live[i].created_at, live[i].id))
    return [
        Hit(
            record=live[i],
            score=values[i],
            parts=ScoreParts(float(semantic[i]), float(lexical[i]), float(recency[i]), float(importance[i])),
            pending=live[i].id in pending,
        )
        for i in best
    ]


def is_live(record: Record, now: int) -> bool:
    """Whether a record may be recalled: its expiry is unset, or not before `now` (ms)."""
    return record.expires_at is None or record.expires_at >= now


def _cosines(records: Sequence[Record], query: Query) -> NDArray[np.float64]:
    cosines = np.zeros(len(records))
    if query.vector is None:
        return cosines
    vector = np.asarray(query.vector, dtype=np.float64)
    rows = [i for i, record in enumerate(records) if _comparable(record, query, vector.shape)]
    if not rows:
        return cosines
    matrix = np.array([records[i].embedding for i in rows], dtype=np.float64)
    # a zero vector divides by zero, and one too long for its norm overflows: neither says anything, so both give 0
    with np.errstate(all="ignore"):
        quotients = (matrix @ vector) / (np.linalg.norm(matrix, axis=1) * np.linalg.norm(vector))
    cosines[rows] = np.where(np.isfinite(quotients), quotients, 0.0)
    return cosines


def _comparable(record: Record, query: Query, shape: tuple[int, ...]) -> bool:
    if record.embedding is None or record.embedding.shape != shape:
        return False
    # the reference implementation stores no model's name, so there the length alone decides
    return record.embedding_model is None or query.model is None or record.embedding_model == query.model


def _overlaps(records: Sequence[Record], text: str) -> NDArray[np.float64]:
    asked = query_tokens(text)
    if not asked:
        return np.zeros(len(records))
    return np.array([len(asked & text_tokens(record.text)) / len(asked) for record in records])
