"""Building what the tasks work with: one `Work` a process, made where the task runs."""

from __future__ import annotations

import logging
import os
import threading
from typing import TYPE_CHECKING

from afterturn.adapters.base import build_worker_adapter
from afterturn.connections import connect_for_worker
from afterturn.errors import SettingsError
from afterturn.extraction.resolve import build_extractor
from afterturn.journal.work import WorkJournal
from afterturn.publish import publish_wakes, publishing_app
from afterturn_tasks import Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celery import Celery

    from afterturn.embedders import Embedder
    from afterturn.publish import Wake
    from afterturn.settings import Settings

logger = logging.getLogger("afterturn")

PUBLISH_TIMEOUT = 2.0
"""Seconds for one socket operation of a worker that publishes or looks at a queue."""


class Parts:
    """The parts of this process's tasks; a forked child makes its own connections and keeps the parent's model."""

    def __init__(self, settings: Settings, embedder: Embedder | None) -> None:
        self._settings = settings
        self._embedder = embedder
        self._start_fresh()

    def _start_fresh(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._work: Work | None = None

    def work(self) -> Work:
        """This process's parts, made on first use."""
        if self._pid != os.getpid():
            self._start_fresh()
        with self._lock:
            if self._work is None:
                self._work = self._build()
            return self._work

    def _build(self) -> Work:
        publisher = publishing_app(self._settings.broker, PUBLISH_TIMEOUT)
        client = connect_for_worker(self._settings.redis_url, decode_responses=True)
        return Work(
            settings=self._settings,
            journal=WorkJournal(client, self._settings.prefix, status_ttl=self._settings.status_ttl),
            adapter=build_worker_adapter(self._settings),
            embedder=self._embedder,
            extractor=build_extractor(self._settings),
            wake=lambda wakes: self._wake(publisher, wakes),
        )

    def _wake(self, publisher: Celery, wakes: Sequence[Wake]) -> None:
        if not wakes:
            return
        try:
            publish_wakes(publisher, self._settings.queue_prefix, wakes)
        except Exception as error:  # noqa: BLE001 - whatever a transport raises: the turns have moved on
            logger.warning(
                "afterturn.publish_failed: %s; the sweeper takes over",
                type(error).__name__,
                extra={"action": "publish_failed", "count": len(wakes)},
            )


def check_leases(settings: Settings) -> None:
    """Refuse a lease that a healthy step may outlast: another task would take its turns and do them again.

    Raises:
        SettingsError: names the lease and the least value that is right.
    """
    for lease, least in (
        ("embed_lease", 2 * settings.embedding_timeout),
        # an answer that can't be read is asked for once more
        ("extract_lease", 2 * settings.extraction_timeout),
    ):
        given = getattr(settings, lease)
        if given <= least:
            raise SettingsError(
                f"{lease} (AFTERTURN_{lease.upper()}) is {given} s; it must be over {least} s"
            )


def check_shared(settings: Settings) -> None:
    """Refuse an adapter whose memory lives in one process: nobody could recall what a worker saved there.

    Raises:
        SettingsError: the adapter is not shared, or its name is not known.
    """
    adapter = build_worker_adapter(settings)
    try:
        if not adapter.capabilities.shared:
            raise SettingsError(
                f"adapter {settings.adapter!r} keeps its memory in one process, so a worker's memory could not be "
                "recalled anywhere else: set AFTERTURN_ADAPTER to a shared one, such as redis"
            )
    finally:
        adapter.close()
