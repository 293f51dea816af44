"""The `embed` step: embed what waits in one batch, write it, and hand each turn on.

It does two stages, since one model serves both: raw turns (recallable from then on), and extracted facts.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from afterturn.adapters.record_adapter import RecordAdapter
from afterturn.adapters.records import embed_records, fact_records, message_records
from afterturn.adapters.redis import RedisAdapter
from afterturn.errors import AfterturnError, Forgotten, SettingsError, TransientError
from afterturn.journal.stages import QUEUE_STAGES, Stage
from afterturn.queues import Queue
from afterturn_tasks.answers import decode_answer
from afterturn_tasks.failures import (
    check_receipts,
    claimed_entries,
    raise_failures,
    settle_failure,
    without_text,
)
from afterturn_tasks.work import what_was_done, why_idle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from afterturn.journal.entry import JournalEntry
    from afterturn.journal.work import Claim
    from afterturn.model import Record, SaveReceipt
    from afterturn.publish import Wake
    from afterturn_tasks.work import Work


@dataclass(slots=True)
class _Job:
    """One claimed turn's records on their way into the store."""

    claim: Claim
    entry: JournalEntry
    records: list[Record]

    def last(self, work: Work) -> bool:
        return self.claim.stage is Stage.FACTS or work.extractor is None


def embed_turns(work: Work, turn_id: str, task_id: str) -> str:
    """Embed and write `turn_id` and whatever else waits, up to a batch.

    Returns:
        A short sentence without text of the conversation.

    Raises:
        AfterturnError: what turns failed with, after each is settled in the journal.
    """
    claims = work.journal.claim(
        QUEUE_STAGES[Queue.EMBED],
        own=turn_id,
        limit=work.settings.batch_size,
        lease=work.settings.embed_lease,
        token=str(uuid4()),
        task_id=task_id,
    )
    if not claims:
        return why_idle(work.journal, turn_id)
    wakes: list[Wake] = []
    errors: list[AfterturnError] = []
    for job in _embedded(work, _jobs(work, claims, errors), errors):
        try:
            wakes += _write(work, job)
        except Exception as error:  # noqa: BLE001 - one turn's failure must not cost the batch; raised below
            errors.append(_settled(work, job.claim, error))
    work.wake(wakes)
    raise_failures(errors, len(claims))
    return what_was_done("embedded", claims)


def _jobs(work: Work, claims: Sequence[Claim], errors: list[AfterturnError]) -> list[_Job]:
    jobs = []
    for claim, entry in claimed_entries(work.journal, work.settings, claims):
        try:
            jobs.append(_Job(claim, entry, _records(work, claim, entry)))
        except Exception as error:  # noqa: BLE001 - as in embed_turns
            errors.append(_settled(work, claim, error))
    return jobs


def _records(work: Work, claim: Claim, entry: JournalEntry) -> list[Record]:
    now = time.time_ns() // 1_000_000
    if claim.stage is Stage.EMBED:
        return message_records(entry.turn_id, entry.scope, entry.turn, now)
    answer = work.journal.answer(entry)
    facts = decode_answer(answer) if answer else []
    return fact_records(entry.turn_id, entry.scope, entry.turn, facts, now)


def _embedded(work: Work, jobs: list[_Job], errors: list[AfterturnError]) -> list[_Job]:
    """The jobs with vectors in their records, all embedded in one call.

    Where that call fails for a reason of the texts' own, each job gets a call of its own, so that one turn costs no
    other. Where the embedder is away, one call is enough to know it.
    """
    if work.embedder is None or not jobs:
        return jobs
    try:
        vectored = embed_records([record for job in jobs for record in job.records], work.embedder)
    except TransientError as error:
        errors.extend(_settled(work, job.claim, error) for job in jobs)
        return []
    except Exception as error:  # noqa: BLE001 - as in embed_turns
        if len(jobs) == 1:
            errors.append(_settled(work, jobs[0].claim, error))
            return []
        return [done for job in jobs for done in _embedded(work, [job], errors)]
    following = iter(vectored)
    for job in jobs:
        job.records = [next(following) for _ in job.records]
    return jobs


def _write(work: Work, job: _Job) -> list[Wake]:
    receipt = _commit(work, job)
    if job.last(work):
        work.journal.finish(job.claim, [receipt])
        return []
    moved = work.journal.advance(job.claim, Stage.EXTRACT, [receipt])
    return [(Stage.EXTRACT, job.entry.turn_id)] if moved else []


def _commit(work: Work, job: _Job) -> SaveReceipt:
    last = job.last(work)
    if isinstance(work.adapter, RedisAdapter):
        return work.adapter.commit(job.entry, job.records, last=last)
    if not isinstance(work.adapter, RecordAdapter):
        raise SettingsError(f"adapter {work.adapter.id!r} declares records but is no RecordAdapter")
    if work.journal.fence(job.entry.scope) > job.entry.generation:
        raise Forgotten
    receipt = work.adapter.write(job.entry.scope, job.records)
    check_receipts([receipt])
    if not last:
        work.journal.settle(job.entry.scope, job.entry.turn_id)
    return receipt


def _settled(work: Work, claim: Claim, error: Exception) -> AfterturnError:
    told = without_text(error)
    settle_failure(work.journal, work.settings, claim, told)
    return told
