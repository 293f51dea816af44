"""The `extract` step: ask for a turn's facts, once, and hand them to be embedded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from afterturn.journal.stages import Stage
from afterturn.queues import Queue
from afterturn_tasks.answers import decode_answer, encode_answer
from afterturn_tasks.single import work_on_one

if TYPE_CHECKING:
    from afterturn.journal.entry import JournalEntry
    from afterturn.journal.work import Claim
    from afterturn.model import ExtractedFact
    from afterturn_tasks.work import Work


def extract_facts(work: Work, turn_id: str, task_id: str) -> str:
    """Extract the facts of `turn_id`, or of the turn that waits longest."""
    return work_on_one(
        work,
        turn_id,
        task_id,
        queue=Queue.EXTRACT,
        lease=work.settings.extract_lease,
        step=_extract,
        verb="extracted from",
    )


def _extract(work: Work, claim: Claim, entry: JournalEntry) -> None:
    if _facts(work, entry):
        if work.journal.advance(claim, Stage.FACTS):
            work.wake([(Stage.FACTS, entry.turn_id)])
    else:
        work.journal.finish(claim)


def _facts(work: Work, entry: JournalEntry) -> list[ExtractedFact]:
    kept = work.journal.answer(entry)
    if kept is not None:
        return decode_answer(kept)
    facts = list(work.extractor(entry.turn, entry.scope) or []) if work.extractor else []
    return decode_answer(work.journal.keep_answer(entry, encode_answer(facts)))
