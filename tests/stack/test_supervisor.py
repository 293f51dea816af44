"""The supervisor, with real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import psutil
import pytest

from afterturn_worker.supervisor import Ended, ProcessSpec, Restarted, Restarts, Supervisor, exit_reason
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUICK = Restarts(first_delay=0.05, longest_delay=0.2, settled_after=30)
SLEEPER = "import time; print('up', flush=True); time.sleep(600)"
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
PARENT = (
    "import subprocess, sys, time\n"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    "print(child.pid, flush=True)\n"
    "time.sleep(600)\n"
)
SUPERVISING = """
import sys, time
from pathlib import Path
from afterturn_worker.supervisor import ProcessSpec, Supervisor
supervisor = Supervisor(Path(sys.argv[1]))
supervisor.start()
supervisor.add(ProcessSpec("parent", [sys.executable, "-c", sys.argv[2]]))
time.sleep(600)
"""


def python(name: str, code: str, *, stage: int = 0) -> ProcessSpec:
    return ProcessSpec(name, [sys.executable, "-c", code], stage=stage)


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def logged(supervisor: Supervisor, name: str) -> str:
    path = supervisor.log_path(name)
    return path.read_text() if path.exists() else ""


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[Supervisor]:
    one = Supervisor(tmp_path / "logs", restarts=QUICK, grace=2)
    one.start()
    yield one
    one.stop()


def test_what_a_process_prints_goes_to_the_log_that_bears_its_name(supervisor: Supervisor) -> None:
    supervisor.add(python("sleeper", SLEEPER))
    wait_until(lambda: logged(supervisor, "sleeper") == "up\n", what="the log line")


def test_a_killed_process_is_started_again_and_both_are_told(supervisor: Supervisor) -> None:
    supervisor.add(python("sleeper", SLEEPER))
    wait_until(lambda: "sleeper" in supervisor.pids())
    first = supervisor.pids()["sleeper"]
    os.kill(first, signal.SIGKILL)
    assert supervisor.events.get(timeout=10) == Ended("sleeper", "was killed by SIGKILL", 0.05, 1)
    second = supervisor.events.get(timeout=10)
    assert isinstance(second, Restarted)
    assert second.pid != first
    assert alive(second.pid)
    assert supervisor.failures("sleeper") == 1


def test_the_children_of_a_killed_process_are_ended_before_it_is_started_again(
    supervisor: Supervisor,
) -> None:
    supervisor.add(python("parent", PARENT))
    child = int(wait_until(lambda: logged(supervisor, "parent")))
    assert alive(child)
    os.kill(supervisor.pids()["parent"], signal.SIGKILL)
    assert isinstance(supervisor.events.get(timeout=10), Ended)
    assert isinstance(supervisor.events.get(timeout=10), Restarted)
    assert not alive(child)


def test_the_delay_doubles_while_a_process_keeps_ending(supervisor: Supervisor) -> None:
    supervisor.add(python("broken", "raise SystemExit(3)"))
    ends: list[tuple[str, float]] = []
    while len(ends) < 4:
        event = supervisor.events.get(timeout=10)
        if isinstance(event, Ended):
            ends.append((event.reason, event.restart_in))
    assert ends == [("ended with exit code 3", delay) for delay in (0.05, 0.1, 0.2, 0.2)]


@pytest.mark.parametrize(
    ("failures", "delay"), [(1, 0.5), (2, 1.0), (3, 2.0), (6, 16.0), (7, 30.0), (10_000, 30.0)]
)
def test_the_delay_grows_to_its_limit(failures: int, delay: float) -> None:
    assert Restarts().delay(failures) == delay


def test_a_program_that_does_not_exist_is_told_and_tried_again(supervisor: Supervisor) -> None:
    supervisor.add(ProcessSpec("missing", ["/nonexistent/program"]))
    event = supervisor.events.get(timeout=10)
    assert isinstance(event, Ended)
    assert event.reason == "could not start (No such file or directory)"
    wait_until(lambda: supervisor.failures("missing") >= 2)


def test_stopping_ends_processes_and_their_children(supervisor: Supervisor) -> None:
    supervisor.add(python("parent", PARENT))
    child = int(wait_until(lambda: logged(supervisor, "parent")))
    parent = supervisor.pids()["parent"]
    supervisor.stop()
    assert not alive(parent)
    assert not alive(child)


def test_what_ignores_the_request_to_end_is_killed_after_the_grace(tmp_path: Path) -> None:
    supervisor = Supervisor(tmp_path, grace=0.3)
    supervisor.start()
    supervisor.add(python("stubborn", STUBBORN))
    wait_until(lambda: logged(supervisor, "stubborn"))
    pid = supervisor.pids()["stubborn"]
    supervisor.stop()
    assert not alive(pid)


def test_a_higher_stage_has_ended_before_a_lower_is_asked_to(tmp_path: Path) -> None:
    ending = (
        "import signal, sys, time\n"
        "def end(*_):\n"
        "    print('asked', time.monotonic(), flush=True); time.sleep(0.3)\n"
        "    print('ended', time.monotonic(), flush=True); sys.exit()\n"
        "signal.signal(signal.SIGTERM, end)\n"
        "print('up', flush=True)\n"
        "time.sleep(600)\n"
    )
    supervisor = Supervisor(tmp_path, grace=10)
    supervisor.start()
    supervisor.add(python("store", ending, stage=0))
    supervisor.add(python("worker", ending, stage=1))
    wait_until(lambda: logged(supervisor, "store") and logged(supervisor, "worker"))
    supervisor.stop()
    times = {
        name: dict(line.split() for line in logged(supervisor, name).splitlines()[1:])
        for name in ("store", "worker")
    }
    assert float(times["worker"]["ended"]) <= float(times["store"]["asked"])


def test_nothing_is_left_when_the_supervisor_itself_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", SUPERVISING, str(tmp_path), PARENT]) as supervising:
        log = tmp_path / "parent.log"
        wait_until(lambda: log.exists() and log.read_text())
        started = psutil.Process(supervising.pid).children(recursive=True)
        assert len(started) == 3  # the process, its child, and the keeper
        supervising.kill()
    gone, left = psutil.wait_procs(started, timeout=20)
    assert left == []
    assert len(gone) == 3


def test_a_killed_keeper_is_replaced_by_one_that_knows_all_processes(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", SUPERVISING, str(tmp_path), PARENT]) as supervising:
        log = tmp_path / "parent.log"
        wait_until(lambda: log.exists() and log.read_text())
        parent = psutil.Process(supervising.pid)
        first = keepers(parent)[0]
        first.kill()
        wait_until(lambda: [one for one in keepers(parent) if one.pid != first.pid], what="a new keeper")
        started = parent.children(recursive=True)
        supervising.kill()
    assert psutil.wait_procs(started, timeout=20)[1] == []


def keepers(parent: psutil.Process) -> list[psutil.Process]:
    return [
        child
        for child in parent.children()
        if child.status() != psutil.STATUS_ZOMBIE and "afterturn_worker.keeper" in child.cmdline()
    ]


@pytest.mark.parametrize(
    ("code", "reason"),
    [(0, "ended with exit code 0"), (2, "ended with exit code 2"), (-9, "was killed by SIGKILL")],
)
def test_an_exit_code_is_told_in_words(code: int, reason: str) -> None:
    assert exit_reason(code) == reason
