"""A turn as the journal holds it: `<generation> <payload JSON>` under the turn's id."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from afterturn.model import from_millis, revised_turn, to_millis

if TYPE_CHECKING:
    from afterturn.model import Scope, Turn

PAYLOAD_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """An accepted turn.

    Attributes:
        turn: its `at` is always set.
        generation: the scope's fence when the turn was accepted; a write under an older one is void.
    """

    turn_id: str
    scope: Scope
    turn: Turn
    generation: int = 0


def encode_payload(turn: Turn) -> str:
    """A turn, with its time set, as JSON."""
    if turn.at is None:
        raise ValueError("a turn in the journal needs its time")
    fields = {
        "v": PAYLOAD_VERSION,
        "user": turn.user,
        "assistant": turn.assistant,
        "at": to_millis(turn.at),
        "metadata": turn.metadata,
    }
    return json.dumps(
        {name: value for name, value in fields.items() if value}, ensure_ascii=False, separators=(",", ":")
    )


def decode_entry(scope: Scope, turn_id: str, stored: str) -> JournalEntry:
    """The inverse of what the accept script stores."""
    generation, _, payload = stored.partition(" ")
    fields = json.loads(payload)
    turn = revised_turn(
        user=fields.get("user", ""),
        assistant=fields.get("assistant", ""),
        at=from_millis(fields.get("at", 0)),
        metadata=fields.get("metadata"),
    )
    return JournalEntry(turn_id=turn_id, scope=scope, turn=turn, generation=int(generation))
