"""What becomes of a turn whose step failed, and what may be said about it."""

from __future__ import annotations

import logging
import random
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from afterturn.errors import AfterturnError, Forgotten, PermanentError, StepFailed, TransientError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from afterturn.journal.entry import JournalEntry
    from afterturn.journal.work import Claim, WorkJournal
    from afterturn.model import SaveReceipt
    from afterturn.settings import Settings

logger = logging.getLogger("afterturn")


def retry_wait(
    retries: int, first: float, longest: float, *, jitter: Callable[[float, float], float] = random.uniform
) -> float:
    """Seconds to wait before try number `retries` + 2: doubling, between half and all of it."""
    full = min(longest, first * 2.0 ** min(retries, 32))
    return jitter(full / 2, full)


def without_text(error: Exception) -> AfterturnError:
    """An error that may be logged and shown: ours as it is, a foreign one by its class and place only.

    A foreign message may quote the conversation.
    """
    if isinstance(error, AfterturnError):
        return error
    frames = traceback.extract_tb(error.__traceback__)
    places = " < ".join(f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in reversed(frames[-4:]))
    return StepFailed(f"{type(error).__name__} at {places}")


def settle_failure(journal: WorkJournal, settings: Settings, claim: Claim, error: AfterturnError) -> None:
    """Let the turn wait for another try, or make it a dead letter."""
    if isinstance(error, Forgotten):
        journal.forget(claim)
        return
    told = f"{claim.stage}: {type(error).__name__}: {error}"
    logger.warning(
        "afterturn.step_failed: %s", told, extra={"action": "step_failed", "turn_id": claim.turn_id}
    )
    if isinstance(error, TransientError) and _age(claim) < settings.retry_for:
        wait = retry_wait(claim.retries, settings.retry_delay, settings.retry_delay_max)
        journal.postpone(claim, wait=max(wait, error.retry_after or 0.0), error=told, passing=True)
    elif isinstance(error, StepFailed) and claim.attempts < settings.max_attempts:
        wait = retry_wait(claim.attempts - 1, settings.retry_delay, settings.retry_delay_max)
        journal.postpone(claim, wait=wait, error=told, passing=False)
    else:
        journal.bury(claim, told)


def claimed_entries(
    journal: WorkJournal, settings: Settings, claims: Sequence[Claim]
) -> list[tuple[Claim, JournalEntry]]:
    """The claims that are to be worked on, with their turns; the others are closed.

    A turn without text was written just before a crash, or erased by a forget. One that was started too often
    without an outcome becomes a dead letter before anything else happens to it.

    Raises:
        StoreUnavailable: the turns could not be read; no start is counted.
    """
    try:
        entries = journal.entries(claims)
    except TransientError as error:
        for claim in claims:
            settle_failure(journal, settings, claim, error)
        raise
    live: list[tuple[Claim, JournalEntry]] = []
    for claim, entry in zip(claims, entries, strict=True):
        if entry is None:
            _close_without_text(journal, claim)
        elif claim.attempts > settings.max_attempts:
            journal.bury(claim, f"{claim.stage}: started {settings.max_attempts} times without an outcome")
        else:
            live.append((claim, entry))
    return live


def _close_without_text(journal: WorkJournal, claim: Claim) -> None:
    if journal.fence(claim.scope) > claim.generation:
        journal.forget(claim)
    else:
        journal.finish(claim)


def check_receipts(receipts: Sequence[SaveReceipt]) -> None:
    """Refuse a write that an adapter reports as failed instead of raising.

    Raises:
        StepFailed: without the adapter's words, which may quote the conversation.
    """
    failed = sum(not receipt.ok for receipt in receipts)
    if failed or not receipts:
        raise StepFailed(f"the adapter reports {failed} of {len(receipts)} writes as failed")


def raise_failures(errors: Sequence[AfterturnError], of: int) -> None:
    """Raise what a task's turns failed with, after all of them are settled. A forgotten turn is no failure."""
    failures = [error for error in errors if not isinstance(error, Forgotten)]
    if not failures:
        return
    worst = next((error for error in failures if isinstance(error, PermanentError)), failures[0])
    if of == 1:
        raise worst from None
    raise type(worst)(f"{len(failures)} of {of} turns failed, one with: {worst}") from None


def _age(claim: Claim) -> float:
    return time.time() - claim.accepted / 1000
