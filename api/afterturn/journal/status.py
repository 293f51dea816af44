"""A turn's status hash as the client sees it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from afterturn.model import SaveReceipt, TurnState, TurnStatus, from_millis

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TIME_FIELD = "at:"


def read_status(turn_id: str, fields: Mapping[str, str]) -> TurnStatus:
    """Status from the fields that the journal's scripts write."""
    times = {
        TurnState(name.removeprefix(TIME_FIELD)): from_millis(int(value))
        for name, value in fields.items()
        if name.startswith(TIME_FIELD)
    }
    return TurnStatus(
        turn_id=turn_id,
        state=TurnState(fields["state"]),
        attempts=int(fields.get("attempts", 0)) + int(fields.get("retries", 0)),
        times=times,
        error=fields.get("error"),
        receipts=read_receipts(fields.get("receipts", "")),
    )


def write_receipts(receipts: Sequence[SaveReceipt]) -> str:
    """Receipts as JSON, or nothing for none; without an adapter's own words, which may quote the conversation."""
    return json.dumps([{"ok": r.ok, "latency_ms": r.latency_ms} for r in receipts]) if receipts else ""


def read_receipts(stored: str) -> tuple[SaveReceipt, ...]:
    """The inverse of `write_receipts`."""
    return tuple(SaveReceipt(**fields) for fields in json.loads(stored)) if stored else ()
