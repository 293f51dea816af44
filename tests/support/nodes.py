"""Our workers as nodes of pytest-celery, in processes of this machine.

pytest-celery's own components start containers. A node needs of its container only what `WorkerProcess` has, so a
local process can stand in for one, and tests use the package's own words: `ready`, `logs`, `kill`, `restart`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
from celery import Celery
from pytest_celery import CeleryTestWorker

from afterturn.queues import Queue
from tests.support.project import ROOT
from tests.support.waiting import wait_until

START_TIMEOUT = 90.0


class WorkerProcess:
    """One `afterturn worker`, shaped like a pytest-celery container."""

    def __init__(self, queue: Queue, name: str, environment: Mapping[str, str], log_path: Path) -> None:
        self.queue = queue
        self.name = name
        self._environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "2", **environment}
        self._log_path = log_path
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Id of the main process."""
        assert self._process is not None
        return self._process.pid

    @property
    def id(self) -> str:
        """What pytest-celery shortens to a host's name."""
        return str(self.pid)

    @property
    def status(self) -> str:
        """`running` or `exited`, as a container says."""
        return "running" if self._process is not None and self._process.poll() is None else "exited"

    @property
    def celeryconfig(self) -> dict[str, Any]:
        """The node's broker."""
        url = self._environment["AFTERTURN_REDIS_URL"]
        return {"url": url, "host_url": url}

    def start(self) -> None:
        """Start the process in a group of its own; its log goes on."""
        self._log_path.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "afterturn", "worker", "--queue", self.queue, "--name", self.name]
        with self._log_path.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._ready_lines = self.logs().count(" ready.")

    def ready(self) -> bool:
        """Wait until the worker says so."""
        wait_until(
            lambda: self.logs().count(" ready.") > self._ready_lines or self.status == "exited",
            timeout=START_TIMEOUT,
            what=f"a worker of {self.queue} being ready",
        )
        assert self.status == "running", self.logs()
        return True

    def logs(self) -> str:
        """Everything it has logged, over all its starts."""
        return self._log_path.read_text(errors="replace")

    def kill(self, signal: str | int = "SIGKILL") -> None:
        """Signal the main process and, for SIGKILL, its children: a container's end takes them along."""
        number = _signal_number(signal)
        family = [psutil.Process(self.pid)]
        if number == _signal_number("SIGKILL"):
            family += family[0].children(recursive=True)
        for process in family:
            if process.is_running():
                process.send_signal(number)
        assert self._process is not None
        self._process.wait(60)

    def restart(self, timeout: float = START_TIMEOUT) -> None:
        """Start it again, ending it first if it runs."""
        if self.status == "running":
            self.kill("SIGTERM")
        self.start()
        self.ready()

    def reload(self) -> None:
        """A process needs no refreshing."""

    def teardown(self) -> None:
        """End it, whatever state it is in."""
        if self.status == "running":
            self.kill("SIGKILL")

    def version(self) -> str:
        """Celery's."""
        from celery import __version__

        return str(__version__)

    def log_level(self) -> str:
        """The worker's."""
        return "info"

    def worker_name(self) -> str:
        """The node's name before the host."""
        return self.name

    def worker_queue(self) -> str:
        """The queue."""
        return self.queue.value


def _signal_number(how: str | int) -> int:
    return int(getattr(signal, how)) if isinstance(how, str) else how


def start_worker(
    queue: Queue, environment: Mapping[str, str], folder: Path, name: str | None = None
) -> CeleryTestWorker:
    """A started node; `ready()` waits for it."""
    process = WorkerProcess(queue, name or queue.value, environment, folder / f"{name or queue}.log")
    process.start()
    app = Celery(broker=environment["AFTERTURN_REDIS_URL"], set_as_current=False)
    return CeleryTestWorker(process, app)
