"""An extractor's answer as the journal keeps it, until its turn is done."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from afterturn.model import ExtractedFact, MemoryKind, from_millis, to_millis

if TYPE_CHECKING:
    from collections.abc import Sequence


def encode_answer(facts: Sequence[ExtractedFact]) -> str:
    """Facts as JSON."""
    return json.dumps(
        [
            {
                "text": fact.text,
                "kind": fact.kind.value,
                "importance": fact.importance,
                "metadata": fact.metadata,
                "expires_at": to_millis(fact.expires_at) if fact.expires_at else None,
            }
            for fact in facts
        ],
        ensure_ascii=False,
    )


def decode_answer(answer: str) -> list[ExtractedFact]:
    """The inverse of `encode_answer`."""
    return [
        ExtractedFact(
            text=fields["text"],
            kind=MemoryKind(fields["kind"]),
            importance=fields["importance"],
            metadata=fields["metadata"],
            expires_at=from_millis(fields["expires_at"]) if fields["expires_at"] is not None else None,
        )
        for fields in json.loads(answer)
    ]
