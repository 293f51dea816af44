"""The frame of the steps that take one turn a task: `extract` and `deliver`."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

from afterturn.errors import Forgotten
from afterturn.journal.stages import QUEUE_STAGES
from afterturn_tasks.failures import claimed_entries, raise_failures, settle_failure, without_text
from afterturn_tasks.work import what_was_done, why_idle

if TYPE_CHECKING:
    from collections.abc import Callable

    from afterturn.journal.entry import JournalEntry
    from afterturn.journal.work import Claim
    from afterturn.queues import Queue
    from afterturn_tasks.work import Work


def work_on_one(
    work: Work,
    turn_id: str,
    task_id: str,
    *,
    queue: Queue,
    lease: float,
    step: Callable[[Work, Claim, JournalEntry], None],
    verb: str,
) -> str:
    """Claim one turn of `queue`, `turn_id` first, and do `step` on it.

    Returns:
        A short sentence without text of the conversation.

    Raises:
        AfterturnError: what the step failed with, after the turn is settled in the journal.
    """
    claims = work.journal.claim(
        QUEUE_STAGES[queue], own=turn_id, limit=1, lease=lease, token=str(uuid4()), task_id=task_id
    )
    if not claims:
        return why_idle(work.journal, turn_id)
    for claim, entry in claimed_entries(work.journal, work.settings, claims):
        try:
            _check_fence(work, entry)
            step(work, claim, entry)
        except Exception as error:  # noqa: BLE001 - whatever it is, the turn is settled first, then it is raised
            told = without_text(error)
            settle_failure(work.journal, work.settings, claim, told)
            raise_failures([told], of=1)
    return what_was_done(verb, claims)


def _check_fence(work: Work, entry: JournalEntry) -> None:
    if work.journal.fence(entry.scope) > entry.generation:
        raise Forgotten
