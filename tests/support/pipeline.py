"""Workers and clients that belong together: one prefix, one set of settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pytest_celery import CeleryTestWorker

from afterturn import Memory
from afterturn.queues import Queue
from tests.support.nodes import start_worker


class Pipeline:
    """Worker processes and the settings that they share with their clients.

    Args:
        settings: names without `AFTERTURN_`, as in the environment.
    """

    def __init__(
        self, redis_url: str, prefix: str, folder: Path, settings: Mapping[str, str] | None = None
    ) -> None:
        self.folder = folder
        self.settings = {
            "REDIS_URL": redis_url,
            "PREFIX": prefix,
            "QUEUE_PREFIX": f"q-{prefix}",
            **(settings or {}),
        }
        self.workers: list[CeleryTestWorker] = []

    @property
    def environment(self) -> dict[str, str]:
        """The settings as environment variables."""
        return {f"AFTERTURN_{name}": value for name, value in self.settings.items()}

    def start(self, *queues: Queue, **more: str) -> list[CeleryTestWorker]:
        """Start a worker for each queue and wait until all are ready."""
        started = []
        for queue in queues:
            name = f"{queue}-{len(self.workers)}"
            started.append(start_worker(queue, {**self.environment, **more}, self.folder, name))
            self.workers.append(started[-1])
        for worker in started:
            worker.ready()
        return started

    def memory(self, **options: Any) -> Memory:
        """A client with the pipeline's addresses."""
        named = {
            "redis_url": "REDIS_URL",
            "prefix": "PREFIX",
            "queue_prefix": "QUEUE_PREFIX",
            "embedder": "EMBEDDER",
        }
        shared: dict[str, Any] = {
            option: self.settings[name] for option, name in named.items() if name in self.settings
        }
        from afterturn.settings import load_settings

        return Memory(load_settings(**{"recall_timeout": 10, "save_timeout": 5, **shared, **options}))

    def logs(self) -> str:
        """What all workers have logged."""
        return "".join(worker.logs() for worker in self.workers)

    def stop(self) -> None:
        """End all workers."""
        for worker in self.workers:
            worker.teardown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stop()
