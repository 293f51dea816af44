"""The sweeper: a thread in each worker's main process; a lease lets one of them sweep at a time."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from afterturn.journal.stages import QUEUE_STAGES, STEPS
from afterturn.queues import Queue, queue_name
from afterturn_tasks.sweep import sweep

if TYPE_CHECKING:
    from celery import Celery

    from afterturn.journal.work import WorkJournal
    from afterturn.settings import Settings

logger = logging.getLogger("afterturn")

LEASE_SHARE = 0.9
"""Share of the interval that the lease lasts: it ends before its holder's own next look."""


class Sweeper:
    """Looks for overdue turns every `sweep_interval` seconds."""

    def __init__(self, app: Celery, settings: Settings, journal: WorkJournal) -> None:
        self._app = app
        self._settings = settings
        self._journal = journal
        self._holder = str(uuid4())
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="afterturn-sweeper", daemon=True)
        self._failing = False

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Ask the thread to end."""
        self._stop.set()

    def sweep_once(self) -> int:
        """Look now, whoever holds the lease; the number of messages sent."""
        return sweep(self._journal, self._settings, depth=self._depth, send=self._send)

    def _run(self) -> None:
        while not self._stop.wait(self._settings.sweep_interval):
            try:
                if self._journal.take_sweep_lease(self._holder, self._settings.sweep_interval * LEASE_SHARE):
                    self.sweep_once()
            except Exception as error:  # noqa: BLE001 - whatever broker and store raise, the thread must live on
                # told once an outage: the next look, a second later, finds the same turns
                if not self._failing:
                    logger.warning("afterturn.sweep_failed: %s", type(error).__name__)
                self._failing = True
            else:
                self._failing = False

    def _depth(self, queue: Queue) -> int:
        with self._app.connection_for_read() as connection, connection.channel() as opened:
            channel: Any = opened  # every transport's channel has queue_declare; kombu's types leave it out
            try:
                declared = channel.queue_declare(queue_name(self._settings.queue_prefix, queue), passive=True)
            except connection.channel_errors:
                return 0  # nobody has sent or listened to it yet
            return int(declared.message_count)

    def _send(self, queue: Queue, turn_ids: list[str]) -> None:
        task = STEPS[QUEUE_STAGES[queue][0]].task
        with self._app.producer_pool.acquire(block=True) as producer:
            for turn_id in turn_ids:
                self._app.send_task(
                    task,
                    args=(turn_id,),
                    queue=queue_name(self._settings.queue_prefix, queue),
                    ignore_result=True,
                    producer=producer,
                )
