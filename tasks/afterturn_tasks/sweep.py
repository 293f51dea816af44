"""The sweep: wake the workers for turns that wait in the journal and that no message stands for.

Messages get lost (a worker killed between taking a message and noting that it did, a broker restarted without
persistence, a client that died before publishing). Turns don't: they stay due in the journal.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from afterturn.journal.stages import QUEUE_STAGES
from afterturn.queues import Queue

if TYPE_CHECKING:
    from collections.abc import Callable

    from afterturn.journal.work import WorkJournal
    from afterturn.settings import Settings

logger = logging.getLogger("afterturn")

MOST_WAKES: Final = 500
"""Most messages that one sweep publishes for a queue."""


def sweep(
    journal: WorkJournal,
    settings: Settings,
    *,
    depth: Callable[[Queue], int],
    send: Callable[[Queue, list[str]], None],
) -> int:
    """Wake workers for overdue turns; at most as many messages as there are batches that none stands for.

    Args:
        depth: messages that wait in a queue.
        send: publishes one task for each turn id.

    Returns:
        Number of messages sent.
    """
    sent = 0
    for queue, stages in QUEUE_STAGES.items():
        batch = settings.batch_size if queue is Queue.EMBED else 1
        overdue = [
            turn
            for stage in stages
            for turn in journal.overdue(stage, settings.sweep_grace, batch * MOST_WAKES)
        ]
        firsts = overdue[::batch]
        missing = firsts[: max(0, len(firsts) - depth(queue))] if firsts else []
        if missing:
            send(queue, missing)
            sent += len(missing)
            logger.info(
                "afterturn.swept: woke %s %d times for %d overdue turns", queue, len(missing), len(overdue)
            )
    return sent
