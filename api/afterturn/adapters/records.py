"""Records of a turn: how they are made, embedded and stored as JSON."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID, uuid5

import numpy as np

from afterturn.errors import TurnError
from afterturn.model import MESSAGE_IMPORTANCE, MemoryKind, Record, Role, Scope, from_millis, to_millis

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from afterturn.embedders import Embedder
    from afterturn.model import ExtractedFact, Turn

TURN_KEY = "turn_id"
"""Metadata key of a fact's source."""


def message_records(turn_id: str, scope: Scope, turn: Turn, now: int) -> list[Record]:
    """One record for each side of a turn that is not empty; `turn.at` must be set, `now` is in ms.

    Raises:
        TurnError: `turn_id` is no UUID.
    """
    return [
        Record(
            id=_part_id(turn_id, role.value),
            scope=scope,
            text=text,
            kind=MemoryKind.MESSAGE,
            role=role,
            created_at=_said_at(turn, now),
            updated_at=now,
            importance=MESSAGE_IMPORTANCE,
            metadata=turn.metadata,
        )
        for role, text in turn.sides()
    ]


def fact_records(
    turn_id: str, scope: Scope, turn: Turn, facts: Sequence[ExtractedFact], now: int
) -> list[Record]:
    """One record for each different fact of a turn; its metadata names the turn."""
    records = {
        fact.text: Record(
            id=_part_id(turn_id, f"fact:{fact.text}"),
            scope=scope,
            text=fact.text,
            kind=fact.kind,
            created_at=_said_at(turn, now),
            updated_at=now,
            expires_at=to_millis(fact.expires_at) if fact.expires_at else None,
            importance=fact.importance,
            metadata={**(fact.metadata or {}), TURN_KEY: turn_id},
        )
        for fact in facts
    }
    return list(records.values())


def _part_id(turn_id: str, part: str) -> str:
    try:
        namespace = UUID(turn_id)
    except ValueError:
        raise TurnError(
            "turn_id must be a UUID, as afterturn.ids.new_turn_id or keyed_turn_id makes them"
        ) from None
    return str(uuid5(namespace, part))


def _said_at(turn: Turn, now: int) -> int:
    return to_millis(turn.at) if turn.at else now


def embed_records(records: Sequence[Record], embedder: Embedder) -> list[Record]:
    """The same records with their vectors, made in one call of the embedder."""
    vectors = embedder.embed([record.text for record in records])
    return [
        replace(record, embedding=vector, embedding_model=embedder.model_name)
        for record, vector in zip(records, vectors, strict=True)
    ]


def record_to_json(record: Record, *, with_embedding: bool = False) -> str:
    """A record as the contract stores it: camelCase, unset fields absent, text unescaped."""
    embedding = record.embedding.tolist() if with_embedding and record.embedding is not None else None
    fields = {
        "id": record.id,
        "scope": record.scope.to_dict(),
        "text": record.text,
        "kind": record.kind.value,
        "role": record.role.value if record.role else None,
        "createdAt": record.created_at,
        "updatedAt": record.updated_at,
        "expiresAt": record.expires_at,
        "importance": record.importance,
        "embedding": embedding,
        "metadata": record.metadata,
    }
    return json.dumps(
        {name: value for name, value in fields.items() if value is not None},
        ensure_ascii=False,
        separators=(",", ":"),
    )


def record_from_json(
    stored: str | bytes,
    *,
    scope: Scope | None = None,
    vector: tuple[NDArray[Any], str | None] | None = None,
) -> Record:
    """The inverse of `record_to_json`, for records of any writer.

    Args:
        stored: the JSON.
        scope: where the record was found; one that says it belongs to another thread, user or tenant is refused,
            so that no mistake of a writer can show one user's memory to another.
        vector: embedding of shape (dimension,) and its model's name, kept beside the JSON; wins over numbers in it.

    Raises:
        ValueError: not the JSON of a record, or of another scope; quotes nothing of it.
    """
    try:
        fields = _STRICT.decode(stored.decode() if isinstance(stored, bytes) else stored)
        found_in = _scope(fields["scope"])
        record = _record(fields, found_in, vector or (_vector(fields.get("embedding")), None))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"is not the JSON of a record ({type(error).__name__})") from None
    if scope is not None and _owner(found_in) != _owner(scope):
        raise ValueError("belongs to another scope")
    return record


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


_STRICT: Final = json.JSONDecoder(parse_constant=_refuse_constant)
"""Python reads NaN and Infinity, which JSON does not have."""


@lru_cache(maxsize=256)
def _known_scope(fields: frozenset[tuple[str, str]]) -> Scope:
    return Scope.from_dict(dict(fields))


def _scope(fields: Mapping[str, str]) -> Scope:
    # the records of one recall share their scope, and checking it anew for each would take a fifth of the time
    return _known_scope(frozenset(fields.items()))


def _owner(scope: Scope) -> tuple[str, str | None, str | None]:
    return (scope.thread_id, scope.user_id, scope.tenant_id)


def _record(
    fields: Mapping[str, Any], scope: Scope, vector: tuple[NDArray[Any] | None, str | None]
) -> Record:
    record_id, text, importance = fields["id"], fields["text"], fields.get("importance")
    if not isinstance(record_id, str) or not isinstance(text, str):
        raise TypeError("id and text")
    if importance is not None and not math.isfinite(importance):
        raise ValueError("importance")
    created_at = int(fields["createdAt"])
    from_millis(created_at)  # raises for a time that no calendar has, such as one in nanoseconds
    return Record(
        id=record_id,
        scope=scope,
        text=text,
        kind=MemoryKind(fields["kind"]),
        role=Role(fields["role"]) if fields.get("role") else None,
        created_at=created_at,
        updated_at=_optional_int(fields.get("updatedAt")),
        expires_at=_optional_int(fields.get("expiresAt")),
        importance=None if importance is None else float(importance),
        embedding=vector[0],
        embedding_model=vector[1],
        metadata=fields.get("metadata"),
    )


def _vector(numbers: Sequence[float] | None) -> NDArray[np.float64] | None:
    if not numbers:
        return None
    vector = np.asarray(numbers, dtype=np.float64)
    if vector.ndim != 1:
        raise ValueError("embedding")
    return vector


def _optional_int(value: Any) -> int | None:
    return None if value is None else int(value)
