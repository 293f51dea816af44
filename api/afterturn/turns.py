"""A turn made ready for the journal: its time set, its texts within the limit."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from afterturn.events import TextCut, emit
from afterturn.model import revised_turn

if TYPE_CHECKING:
    from afterturn.events import EventHook
    from afterturn.model import Turn

CUT_KEY: Final = "afterturn_cut"
"""Metadata key of a turn whose text was cut: role to the length that was given."""


def prepare_turn(turn_id: str, turn: Turn, text_limit: int, hook: EventHook | None) -> Turn:
    """The turn with its time set and each text at most `text_limit` characters, said in its metadata."""
    changes: dict[str, Any] = {} if turn.at else {"at": datetime.now(UTC)}
    cut: dict[str, int] = {}
    for role, text in turn.sides():
        if len(text) > text_limit:
            changes[role.value] = text[:text_limit]
            cut[role.value] = len(text)
            emit(hook, TextCut(turn_id=turn_id, role=role, length=len(text), limit=text_limit))
    if cut:
        changes["metadata"] = {**(turn.metadata or {}), CUT_KEY: cut}
    return revised_turn(turn, **changes)
