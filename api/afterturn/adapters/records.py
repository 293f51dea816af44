"""Records of a turn: how they are made, embedded and stored as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

import numpy as np

from afterturn.model import MESSAGE_IMPORTANCE, MemoryKind, Record, Role, Scope, to_millis

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from afterturn.embedders import Embedder
    from afterturn.model import ExtractedFact, Turn

TURN_KEY = "turn_id"
"""Metadata key of a fact's source."""


def message_records(turn_id: str, scope: Scope, turn: Turn, now: int) -> list[Record]:
    """One record for each side of a turn that is not empty; `turn.at` must be set, `now` is in ms."""
    return [
        Record(
            id=str(uuid5(UUID(turn_id), role.value)),
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
            id=str(uuid5(UUID(turn_id), f"fact:{fact.text}")),
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


def record_from_json(stored: str | bytes) -> Record:
    """The inverse of `record_to_json`, for records of any writer.

    Raises:
        ValueError: not the JSON of a record.
    """
    fields = json.loads(stored)
    try:
        return _record(fields)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a record ({type(error).__name__})") from None


def _record(fields: Mapping[str, Any]) -> Record:
    numbers = fields.get("embedding")
    if not isinstance(fields["text"], str):
        raise TypeError("text")
    return Record(
        id=str(fields["id"]),
        scope=Scope.from_dict(fields["scope"]),
        text=fields["text"],
        kind=MemoryKind(fields["kind"]),
        role=Role(fields["role"]) if fields.get("role") else None,
        created_at=int(fields["createdAt"]),
        updated_at=_optional_int(fields.get("updatedAt")),
        expires_at=_optional_int(fields.get("expiresAt")),
        importance=float(fields["importance"]) if fields.get("importance") is not None else None,
        embedding=np.asarray(numbers, dtype=np.float64) if numbers else None,
        metadata=fields.get("metadata"),
    )


def _optional_int(value: Any) -> int | None:
    return None if value is None else int(value)
