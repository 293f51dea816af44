"""Starting a worker: one queue, one process tree."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celery import Celery
from celery.signals import worker_process_init, worker_ready, worker_shutting_down

from afterturn.connections import connect_for_worker
from afterturn.embedders.resolve import build_embedder
from afterturn.extraction.resolve import build_extractor
from afterturn.journal.work import WorkJournal
from afterturn.publish import publishing_app
from afterturn.queues import Queue, queue_name
from afterturn.settings import load_settings
from afterturn_tasks import register
from afterturn_worker.config import POOLS, celery_config
from afterturn_worker.models import share_cores
from afterturn_worker.parts import PUBLISH_TIMEOUT, Parts, check_leases, check_shared
from afterturn_worker.sweeper import Sweeper

if TYPE_CHECKING:
    from afterturn.embedders import Embedder
    from afterturn.settings import Settings


def run_worker(
    queue: Queue, concurrency: int | None = None, name: str | None = None, loglevel: str = "info"
) -> None:
    """Run a worker of `queue` until it is told to stop.

    Args:
        concurrency: children or threads; default: what fits the queue.
        name: node name, shown in Flower; default `<queue>-<process id>`.

    Raises:
        SettingsError: the configuration can't work in a worker; says what to set.
        MissingExtra: a part that the configuration needs is not installed; says which.
    """
    settings = load_settings()
    # as `celery -A` does, so that AFTERTURN_EXTRACT=myapp.memory:facts is found in the folder it is started from
    sys.path.insert(0, str(Path.cwd()))
    check_leases(settings)
    check_shared(settings)
    build_extractor(settings)  # refuses a wrong setting here rather than in the first task
    # loaded before the pool forks, so that children share its memory
    embedder = build_embedder(settings) if queue is Queue.EMBED else None
    app = worker_app(settings, embedder)
    workers = concurrency or POOLS[queue].concurrency
    _share_cores_in_children(workers)
    app.worker_main(
        [
            "worker",
            f"--queues={queue_name(settings.queue_prefix, queue)}",
            f"--pool={POOLS[queue].kind}",
            f"--concurrency={workers}",
            f"--hostname={name or f'{queue}-{os.getpid()}'}@%h",
            f"--loglevel={loglevel}",
            "--task-events",
            "--without-gossip",
            "--without-mingle",
        ]
    )


def worker_app(settings: Settings, embedder: Embedder | None) -> Celery:
    """A Celery app with our tasks and a sweeper that starts with the worker."""
    app = Celery("afterturn", broker=settings.broker)
    app.conf.update(celery_config(settings))
    parts = Parts(settings, embedder)
    client = connect_for_worker(settings.redis_url, decode_responses=True)
    journal = WorkJournal(client, settings.prefix, status_ttl=settings.status_ttl)
    # an app of its own, whose calls are bounded: the worker's waits for a frozen broker without end
    sweeper = Sweeper(publishing_app(settings.broker, PUBLISH_TIMEOUT), settings, journal)
    register(app, parts.work, sweeper.sweep_once)

    def start_sweeper(**_: Any) -> None:
        sweeper.start()

    def stop_sweeper(**_: Any) -> None:
        sweeper.stop()

    # not weak: nothing else holds these functions
    worker_ready.connect(start_sweeper, weak=False)
    worker_shutting_down.connect(stop_sweeper, weak=False)
    return app


def _share_cores_in_children(children: int) -> None:
    def limit(**_: Any) -> None:
        share_cores(children)

    worker_process_init.connect(limit, weak=False)
