"""The stack for development: a store, a worker for each queue, and Flower, on loopback, in one supervisor."""

from __future__ import annotations

import sys
import time
import urllib.request
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self
from urllib.error import URLError

import redis

from afterturn.errors import StackFailed
from afterturn.queues import Queue
from afterturn.settings import load_settings
from afterturn_worker.data_dir import DataDir
from afterturn_worker.embedded import HOST, EmbeddedStore, free_port
from afterturn_worker.supervisor import ProcessSpec, Supervisor

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from celery import Celery

STORE: Final = "store"
FLOWER: Final = "flower"
STORE_STAGE: Final = 0
WORKER_STAGE: Final = 1
"""Workers and Flower end before the store, which they need to end well."""

STORE_TIMEOUT: Final = 60.0
"""Seconds until the store answers; it reads its data first."""
WORKERS_TIMEOUT: Final = 180.0
"""Seconds until all workers answer; the `embed` worker loads its model first."""
FLOWER_TIMEOUT: Final = 60.0
PING_TIMEOUT: Final = 0.5
"""Seconds in which workers' answers to one ping are gathered."""
EARLY_ENDS: Final = 2
"""How often a process may end before it was ready until the stack gives up."""


@dataclass(frozen=True, slots=True)
class StackOptions:
    """What the stack consists of.

    Attributes:
        data_dir: memory and logs; kept.
        log_dir: default: `logs` in the data folder.
        redis_url: an existing store; None: an embedded one.
        flower_port: None: a free one.
        queues: the queues to run a worker for.
    """

    data_dir: Path
    log_dir: Path | None = None
    redis_url: str | None = None
    flower: bool = True
    flower_port: int | None = None
    queues: tuple[Queue, ...] = field(default_factory=lambda: tuple(Queue))


class DevStack:
    """Starts the stack and keeps it running until `stop`; a context manager.

    Attributes:
        redis_url: the store's address.
        flower_url: Flower's, or None.
    """

    def __init__(self, options: StackOptions) -> None:
        self.options = options
        self.data_dir = DataDir(options.data_dir)
        self.supervisor = Supervisor(options.log_dir or self.data_dir.path / "logs")
        self.redis_url = options.redis_url or ""
        self.flower_url: str | None = None

    def start(self, report: Callable[[str], None] = lambda _: None) -> None:
        """Start everything and return when it answers.

        Args:
            report: called with a line about each step.

        Raises:
            StackFailed: a process ended or did not answer in time; names its log.
            MissingExtra: a part is not installed; says which.
        """
        self.data_dir.acquire()
        store = None if self.redis_url else EmbeddedStore(self.data_dir.store, self.data_dir.port())
        store_spec = store and self._store_spec(store)
        self.supervisor.start()
        if store and store_spec:
            self.redis_url = store.url
            self.supervisor.add(store_spec)
        report(f"waiting for the store at {safe_url(self.redis_url)}")
        self._wait([STORE] if store else [], self._store_answers, STORE_TIMEOUT, "the store")
        self._start_workers(report)
        if self.options.flower:
            self._start_flower(report)

    def stop(self) -> None:
        """End everything and wait for it; Ctrl-C meanwhile skips the grace."""
        self.supervisor.stop()
        self.data_dir.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stop()

    def _store_spec(self, store: EmbeddedStore) -> ProcessSpec:
        return ProcessSpec(
            STORE, store.command(), stage=STORE_STAGE, cwd=store.directory, pass_fds=(self.data_dir.lock,)
        )

    def _start_workers(self, report: Callable[[str], None]) -> None:
        names = [queue.value for queue in self.options.queues]
        for name in names:
            self.supervisor.add(self._command(name, ["worker", "--queue", name, "--name", name]))
        report(f"waiting for the workers {', '.join(names)}")
        broker = load_settings(redis_url=self.redis_url).broker
        with pinging_app(broker) as app:
            self._wait(names, lambda: answering(app) >= set(names), WORKERS_TIMEOUT, "the workers")

    def _start_flower(self, report: Callable[[str], None]) -> None:
        from afterturn_worker.flower import check_installed

        check_installed()
        port = self.options.flower_port or free_port()
        url = f"http://{HOST}:{port}"
        self.supervisor.add(self._command(FLOWER, ["flower", "--address", HOST, "--port", str(port)]))
        report("waiting for Flower")
        self._wait([FLOWER], lambda: http_answers(f"{url}/healthcheck"), FLOWER_TIMEOUT, "Flower")
        self.flower_url = url

    def _command(self, name: str, arguments: list[str]) -> ProcessSpec:
        return ProcessSpec(
            name,
            [sys.executable, "-m", "afterturn", *arguments],
            env={"AFTERTURN_REDIS_URL": self.redis_url, "PYTHONUNBUFFERED": "1"},
            stage=WORKER_STAGE,
        )

    def _store_answers(self) -> bool:
        with redis.Redis.from_url(self.redis_url, socket_timeout=1, socket_connect_timeout=1) as client:
            try:
                return bool(client.ping())
            except (redis.ConnectionError, redis.TimeoutError):
                return False

    def _wait(self, names: list[str], ready: Callable[[], bool], timeout: float, what: str) -> None:
        deadline = time.monotonic() + timeout
        while not ready():
            for name in names:
                if self.supervisor.failures(name) >= EARLY_ENDS:
                    raise StackFailed(self._ended_early(name))
            if not self.supervisor.running:
                raise StackFailed("the supervisor ended; the traceback above says why")
            if time.monotonic() > deadline:
                raise StackFailed(
                    f"{what} did not answer within {timeout:.0f} s; logs are in {self.supervisor.log_dir}"
                )
            time.sleep(0.05)

    def _ended_early(self, name: str) -> str:
        log = self.supervisor.log_path(name)
        lines = log.read_text(errors="replace").split("\n") if log.exists() else []
        last = next((line for line in reversed(lines) if line.strip()), "(its log is empty)")
        return f"{name} ended before it was ready. The end of its log, {log}: {last.strip()}"


def pinging_app(broker: str) -> Celery:
    """A Celery app for asking workers; a context manager that closes its connections."""
    from celery import Celery

    app = Celery("afterturn-stack", broker=broker, set_as_current=False)
    app.conf.update(
        broker_connection_timeout=2,
        broker_transport_options={"socket_timeout": 5, "socket_connect_timeout": 2},
    )
    return app


def answering(app: Celery) -> set[str]:
    """Names (before the `@`) of this machine's workers that answer a ping."""
    from celery.utils.nodenames import gethostname
    from kombu.exceptions import OperationalError

    try:
        answers = app.control.ping(timeout=PING_TIMEOUT) or []
    except OperationalError:
        return set()  # the store was restarted meanwhile
    nodes = (node.partition("@") for answer in answers for node in answer)
    return {name for name, _, host in nodes if host == gethostname()}


def http_answers(url: str) -> bool:
    """Whether a GET of `url` is answered with a success."""
    try:
        with urllib.request.urlopen(url, timeout=2) as response:  # noqa: S310 - our own http address
            return bool(response.status == 200)
    except (URLError, OSError):
        return False


def safe_url(url: str) -> str:
    """A broker's or store's address without its password."""
    from kombu.utils.url import maybe_sanitize_url

    return str(maybe_sanitize_url(url)).rstrip("/")
