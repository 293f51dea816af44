"""Keeping a handful of processes running, and leaving none behind.

One thread starts, watches, restarts and ends them, so that a signal, which Python raises in the main thread,
can't interrupt it between starting a process and knowing of it. Should this whole process be killed, the keeper
(`afterturn_worker.keeper`) ends what it started.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Final

from afterturn_worker.groups import end_groups, group_exists
from afterturn_worker.guard import Guard

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

TICK: Final = 0.1
"""Seconds between two looks at the processes."""


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """A process to keep running.

    Attributes:
        name: short and unique; names the log file.
        env: added to this process's own environment.
        stage: a process of a higher stage is ended before one of a lower, which it may need to end well.
        pass_fds: file descriptors that it inherits.
    """

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    stage: int = 0
    cwd: Path | None = None
    pass_fds: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Restarts:
    """How fast what dies is started again.

    Attributes:
        first_delay: seconds before the first restart; each further one waits twice as long.
        longest_delay: the limit of that.
        settled_after: seconds of running after which the delay starts anew.
    """

    first_delay: float = 0.5
    longest_delay: float = 30.0
    settled_after: float = 30.0

    def delay(self, failures: int) -> float:
        """Seconds to wait after the given number of failures in a row, from 1."""
        # the exponent's limit only keeps the number small: any sensible longest delay is reached before
        return min(self.first_delay * 2.0 ** min(failures - 1, 30), self.longest_delay)


@dataclass(frozen=True, slots=True)
class Ended:
    """A process ended by itself and will be started again."""

    name: str
    reason: str
    restart_in: float
    failures: int


@dataclass(frozen=True, slots=True)
class Restarted:
    """A process that had ended runs again."""

    name: str
    pid: int


Event = Ended | Restarted


class _Kept:
    """One process and its history."""

    def __init__(self, spec: ProcessSpec) -> None:
        self.spec = spec
        self.process: subprocess.Popen[bytes] | None = None
        self.started_at = 0.0
        self.failures = 0
        self.total_failures = 0
        self.start_at = 0.0


class Supervisor:
    """Starts processes, each in a session of its own with a log file, and restarts what dies.

    Args:
        log_dir: `<name>.log` of each process is appended to here.
        grace: seconds between SIGTERM and SIGKILL when stopping.
    """

    def __init__(self, log_dir: Path, *, restarts: Restarts | None = None, grace: float = 10.0) -> None:
        self.log_dir = log_dir
        self.events: SimpleQueue[Event] = SimpleQueue()
        self._restarts = restarts or Restarts()
        self._grace = grace
        self._added: SimpleQueue[ProcessSpec] = SimpleQueue()
        self._kept: dict[str, _Kept] = {}
        self._stop = threading.Event()
        self._hurry = threading.Event()
        self._guard = Guard()
        self._thread = threading.Thread(target=self._run, name="afterturn-supervisor", daemon=True)

    def start(self) -> None:
        """Start watching; `add` processes before or after."""
        self.log_dir.mkdir(parents=True, exist_ok=True)
        self._thread.start()

    def add(self, spec: ProcessSpec) -> None:
        """Start a process, soon, and keep it running."""
        self._added.put(spec)

    @property
    def running(self) -> bool:
        """Whether the watching thread is there; it ends by itself only through a defect or a lack of resources."""
        return self._thread.is_alive()

    def pids(self) -> dict[str, int]:
        """Process ids of what runs, by name."""
        found = ((kept.spec.name, kept.process) for kept in self._kept.values())
        return {name: process.pid for name, process in found if process is not None}

    def failures(self, name: str) -> int:
        """How often the process ended by itself, all in all."""
        kept = self._kept.get(name)
        return kept.total_failures if kept else 0

    def log_path(self, name: str) -> Path:
        """Where the output of a process goes."""
        return self.log_dir / f"{name}.log"

    def stop(self) -> None:
        """End all processes and wait for it; Ctrl-C meanwhile skips the grace."""
        self._stop.set()
        while self._thread.is_alive():
            try:
                self._thread.join()
            except KeyboardInterrupt:
                self._hurry.set()

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._take_added()
                self._guard.keep_alive(self._groups())
                for kept in self._kept.values():
                    self._look_at(kept)
                self._stop.wait(TICK)
        finally:
            self._end_all()
            self._guard.close()
            self._kept = {}

    def _groups(self) -> dict[int, int]:
        return {one.process.pid: one.spec.stage for one in self._kept.values() if one.process is not None}

    def _take_added(self) -> None:
        while True:
            try:
                spec = self._added.get_nowait()
            except Empty:
                return
            self._kept = {**self._kept, spec.name: _Kept(spec)}

    def _look_at(self, kept: _Kept) -> None:
        now = time.monotonic()
        if kept.process is None:
            if now >= kept.start_at:
                self._start(kept)
        elif kept.process.poll() is not None:
            self._bury(kept, kept.process, now)

    def _start(self, kept: _Kept) -> None:
        kept.started_at = time.monotonic()
        try:
            process = self._spawn(kept.spec)
        except OSError as error:
            self._plan_restart(kept, f"could not start ({error.strerror})", kept.started_at)
            return
        self._guard.started(process.pid, kept.spec.stage)
        kept.process = process
        if kept.total_failures:
            self.events.put(Restarted(kept.spec.name, process.pid))

    def _spawn(self, spec: ProcessSpec) -> subprocess.Popen[bytes]:
        with self.log_path(spec.name).open("ab") as log:
            return subprocess.Popen(
                list(spec.argv),
                env={**os.environ, **spec.env},
                cwd=spec.cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=spec.pass_fds,
            )

    def _bury(self, kept: _Kept, process: subprocess.Popen[bytes], now: float) -> None:
        if group_exists(process.pid):
            end_groups([process.pid], grace=0)  # its children have nobody to report to
        self._guard.ended(process.pid, kept.spec.stage)
        kept.process = None
        if now - kept.started_at >= self._restarts.settled_after:
            kept.failures = 0
        self._plan_restart(kept, exit_reason(process.returncode), now)

    def _plan_restart(self, kept: _Kept, reason: str, now: float) -> None:
        kept.failures += 1
        kept.total_failures += 1
        delay = self._restarts.delay(kept.failures)
        kept.start_at = now + delay
        self.events.put(Ended(kept.spec.name, reason, delay, kept.total_failures))

    def _end_all(self) -> None:
        stages = {kept.spec.stage for kept in self._kept.values()}
        for stage in sorted(stages, reverse=True):
            self._end_stage(stage)

    def _end_stage(self, stage: int) -> None:
        groups = [group for group, its in self._groups().items() if its == stage]
        end_groups(groups, self._grace, collect=self._collect, hurry=self._hurry.is_set)
        for group in groups:
            self._guard.ended(group, stage)

    def _collect(self) -> None:
        for kept in self._kept.values():
            if kept.process is not None:
                kept.process.poll()


def exit_reason(code: int) -> str:
    """A process's exit code in words."""
    if code >= 0:
        return f"ended with exit code {code}"
    return f"was killed by {signal.Signals(-code).name}"
