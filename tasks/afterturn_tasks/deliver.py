"""The `deliver` step: hand a turn to a vendor's server through its adapter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from afterturn.queues import Queue
from afterturn_tasks.failures import check_receipts
from afterturn_tasks.single import work_on_one

if TYPE_CHECKING:
    from afterturn.journal.entry import JournalEntry
    from afterturn.journal.work import Claim
    from afterturn_tasks.work import Work


def deliver_turn(work: Work, turn_id: str, task_id: str) -> str:
    """Deliver `turn_id`, or the turn that waits longest."""
    return work_on_one(
        work,
        turn_id,
        task_id,
        queue=Queue.DELIVER,
        lease=work.settings.deliver_lease,
        step=_deliver,
        verb="delivered",
    )


def _deliver(work: Work, claim: Claim, entry: JournalEntry) -> None:
    receipts = work.adapter.save(entry.scope, entry.turn, turn_id=entry.turn_id)
    check_receipts(receipts)
    work.journal.finish(claim, receipts)
