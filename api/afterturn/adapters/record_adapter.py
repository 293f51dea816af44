"""What the adapters that keep records share: one way to save and recall, over two hooks of the store."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import UTC, datetime
from inspect import getattr_static
from typing import TYPE_CHECKING, Any, Final, TypedDict

from afterturn.adapters.records import embed_records, fact_records, message_records
from afterturn.errors import PermanentError, QueryError, SettingsError, TransientError
from afterturn.ids import new_turn_id
from afterturn.model import (
    Fact,
    Fragment,
    MemoryKind,
    RecallResult,
    Snapshot,
    Turn,
    check_aware,
    from_millis,
    revised_turn,
    to_millis,
)
from afterturn.ranking.score import Query, is_live, rank
from afterturn.render import render_hits
from afterturn.text import clean_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray

    from afterturn.embedders import Embedder
    from afterturn.extraction import Extractor
    from afterturn.model import Hit, Record, SaveReceipt, Scope

DEFAULT_TOP_K: Final = 6
DEFAULT_MIN_SCORE: Final = 0.15


class RecordOptions(TypedDict, total=False):
    """The common options as keyword arguments; `RecordAdapter` says what they mean."""

    top_k: int
    min_score: float
    kinds: Collection[MemoryKind | str] | None
    embedder: Embedder | None
    extract: Extractor | None
    render: Callable[[Sequence[Hit]], str] | None


@dataclass(frozen=True, slots=True)
class Memories:
    """What a store holds for a scope.

    Attributes:
        records: written records.
        pending: messages of turns that are accepted and not yet written.
    """

    records: Sequence[Record]
    pending: Sequence[Record] = ()


class RecordAdapter(ABC):
    """Saves turns as records and ranks them by the contract's formula.

    Args:
        top_k: most hits that a recall returns.
        min_score: hits with a lower score are dropped.
        kinds: recall only these kinds; empty or None: all.
        embedder: adds the semantic part of the score.
        extract: gives facts to save next to the raw turn.
        render: replaces the prompt block's renderer.

    Raises:
        SettingsError: an option is outside its range; names it.
    """

    def __init__(
        self,
        *,
        top_k: int = DEFAULT_TOP_K,
        min_score: float = DEFAULT_MIN_SCORE,
        kinds: Collection[MemoryKind | str] | None = None,
        embedder: Embedder | None = None,
        extract: Extractor | None = None,
        render: Callable[[Sequence[Hit]], str] | None = None,
    ) -> None:
        self._top_k = _checked_top_k(top_k)
        self._min_score = _checked_min_score(min_score)
        self._kinds = _checked_kinds(kinds)
        self._embedder = _checked_embedder(embedder)
        self._extract = extract
        self._render = render or render_hits

    @abstractmethod
    def write(self, scope: Scope, records: Sequence[Record]) -> SaveReceipt:
        """Store records; one that is there already is replaced.

        Returns:
            A receipt whose `raw` is `{"added_ids": [ids that were not there before]}`.
        """

    @abstractmethod
    def _load(self, scope: Scope) -> Memories:
        """Everything kept for `scope`; what has expired, by the clock, may be swept on the way."""

    def save(self, scope: Scope, turn: Turn, *, turn_id: str | None = None) -> list[SaveReceipt]:
        """Write a turn's messages, then the facts that `extract` finds in it.

        The raw messages are written whatever fails after them: with a failing embedder, without vectors.

        Args:
            scope: whose memory.
            turn: what was said; without `at`, it was said now.
            turn_id: a UUID that the records' ids derive from; default: a new one.

        Raises:
            TurnError: `turn_id` is no UUID.
            TransientError, PermanentError: what the store, embedder or extractor failed with.
        """
        turn_id = turn_id or new_turn_id()
        turn = turn if turn.at else revised_turn(turn, at=datetime.now(UTC))
        now = time.time_ns() // 1_000_000
        messages = message_records(turn_id, scope, turn, now)
        try:
            embedded = self._embedded(messages)
        except Exception:
            self.write(scope, messages)
            raise
        receipts = [self.write(scope, embedded)]
        facts = list(self._extract(turn, scope) or []) if self._extract else []
        if facts:
            records = fact_records(turn_id, scope, turn, facts, now)
            receipts.append(self.write(scope, self._embedded(records)))
        return receipts

    def _embedded(self, records: list[Record]) -> list[Record]:
        return embed_records(records, self._embedder) if self._embedder and records else records

    def recall(self, scope: Scope, query: str, *, now: datetime | None = None) -> RecallResult:
        """The best records for `query`, and the prompt block that holds them.

        A query embedder that fails or is late leaves words, recency and importance; the result says so.

        Raises:
            QueryError: `query` is not a string, or `now` not an aware datetime.
            StoreUnavailable: the store did not answer in time.
        """
        if not isinstance(query, str):
            raise QueryError(f"query must be a string, not {type(query).__name__}")
        check_aware("now", now, QueryError)
        text = clean_text(query)
        moment = to_millis(now) if now else time.time_ns() // 1_000_000
        vector, degraded = self._query_vector(text)
        memories = self._load(scope)
        hits = rank(
            [*memories.records, *memories.pending],
            Query(text, moment, vector, self._embedder.model_name if self._embedder else None),
            top_k=self._top_k,
            min_score=self._min_score,
            kinds=self._kinds,
            pending={record.id for record in memories.pending},
        )
        fragments = tuple(_fragment(hit) for hit in hits)
        return RecallResult(self._render(hits), fragments, raw=tuple(hits), degraded=degraded)

    def _query_vector(self, text: str) -> tuple[NDArray[Any] | None, str | None]:
        if self._embedder is None or not text.strip():
            return None, None
        try:
            return self._embedder.embed([text])[0], None
        except (TransientError, PermanentError) as error:
            # the class alone: an embedder from elsewhere may quote the query in its message
            return None, f"the query was not embedded ({type(error).__name__})"

    def inspect(self, scope: Scope) -> Snapshot:
        """All live records of `scope`, without vectors and metadata."""
        rows = [
            {
                "id": record.id,
                "text": record.text,
                "kind": record.kind.value,
                "role": record.role.value if record.role else None,
                "createdAt": record.created_at,
                "importance": record.importance,
            }
            for record in self._live(scope)
        ]
        return Snapshot(taken_at=datetime.now(UTC), data={"records": rows})

    def list_facts(self, scope: Scope, *, kinds: Collection[MemoryKind | str] | None = None) -> list[Fact]:
        """All live records of `scope`, oldest first, messages included; `source` is the role, else the kind.

        Args:
            scope: whose memory.
            kinds: only these; empty or None: all.

        Raises:
            SettingsError: a kind is not known.
        """
        wanted = _checked_kinds(kinds)
        return [
            Fact(record.id, record.text, str(record.role or record.kind), from_millis(record.created_at))
            for record in self._live(scope)
            if not wanted or record.kind in wanted
        ]

    def _live(self, scope: Scope) -> list[Record]:
        now = time.time_ns() // 1_000_000
        live = [record for record in self._load(scope).records if is_live(record, now)]
        return sorted(live, key=lambda record: (record.created_at, record.id))


def _checked_top_k(top_k: object) -> int:
    if not isinstance(top_k, int) or isinstance(top_k, bool) or top_k < 1:
        raise SettingsError(f"top_k must be a whole number of at least 1, not {top_k!r}")
    return top_k


def _checked_min_score(min_score: object) -> float:
    if not isinstance(min_score, int | float) or not -1 <= min_score <= 1:
        raise SettingsError(f"min_score must lie between -1 and 1, not {min_score!r}")
    return float(min_score)


def _checked_kinds(kinds: Collection[MemoryKind | str] | None) -> frozenset[MemoryKind]:
    if isinstance(kinds, str):
        raise SettingsError(f"kinds must be a collection such as {{{kinds!r}}}, not a string")
    known = set(MemoryKind)
    unknown = sorted(str(kind) for kind in kinds or () if kind not in known)
    if unknown:
        raise SettingsError(f"kinds has {', '.join(unknown)}; known kinds: {', '.join(MemoryKind)}")
    return frozenset(MemoryKind(kind) for kind in kinds or ())


def _checked_embedder(embedder: Embedder | None) -> Embedder | None:
    # not by isinstance: on Python 3.11 that reads `dimension`, and a lazy embedder would load its model
    names = ("model_name", "dimension", "embed")
    missing = [name for name in names if getattr_static(embedder, name, None) is None]
    if embedder is not None and missing:
        raise SettingsError(f"embedder has no {', '.join(missing)}: see afterturn.embedders.Embedder")
    return embedder


def _fragment(hit: Hit) -> Fragment:
    record = hit.record
    return Fragment(
        text=record.text,
        source=record.id,
        score=hit.score,
        kind=record.kind,
        role=record.role,
        created_at=from_millis(record.created_at),
        pending=hit.pending,
    )
