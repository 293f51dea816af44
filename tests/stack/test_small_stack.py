"""The stack reduced to its store, which starts in a moment: signals, terminals, folders and ports."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import redis

from afterturn.errors import StackFailed
from afterturn_worker.data_dir import DataDir
from afterturn_worker.embedded import EmbeddedStore
from afterturn_worker.stack import DevStack, StackOptions, safe_url
from tests.support.waiting import wait_until

SMALL_UP = """
import fcntl, sys, termios
from pathlib import Path
from afterturn_worker.stack import StackOptions
from afterturn_worker.up import run_up
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # keys such as Ctrl-C now signal this process, as a shell's foreground job
run_up(StackOptions(Path(sys.argv[1]), flower=False, queues=()))
"""


class SmallUp:
    """A stack in a process of its own, with a terminal."""

    def __init__(self, data_dir: Path) -> None:
        self._terminal, its_side = pty.openpty()
        os.set_blocking(self._terminal, False)
        self.process = subprocess.Popen(
            [sys.executable, "-c", SMALL_UP, str(data_dir)],
            stdin=its_side,
            stdout=its_side,
            stderr=its_side,
            start_new_session=True,
        )
        os.close(its_side)
        self._output = b""
        self.started: list[psutil.Process] = []

    def text(self) -> str:
        # EIO: the terminal's other side is closed
        with suppress(BlockingIOError, OSError):
            self._output += os.read(self._terminal, 65_536)
        return self._output.decode(errors="replace")

    def wait_ready(self) -> None:
        wait_until(lambda: "Ready." in self.text(), what="the stack being ready")
        self.started = psutil.Process(self.process.pid).children(recursive=True)

    def type(self, keys: bytes) -> None:
        os.write(self._terminal, keys)

    def hang_up(self) -> None:
        os.close(self._terminal)

    def exit_code(self) -> int:
        """Waits for the end and reads on meanwhile: who prints to a full terminal doesn't end."""
        wait_until(lambda: (self.text(), self.process.poll() is not None)[1], what="the end")
        return self.process.wait()

    def store_url(self) -> str:
        found = re.search(r"AFTERTURN_REDIS_URL=(\S+)", self.text())
        assert found, self.text()
        return found.group(1)

    def nothing_left(self) -> bool:
        return psutil.wait_procs(self.started, timeout=30)[1] == []


@pytest.fixture
def small_up(tmp_path: Path) -> Iterator[Callable[[], SmallUp]]:
    running: list[SmallUp] = []

    def start() -> SmallUp:
        running.append(SmallUp(tmp_path / "data"))
        running[-1].wait_ready()
        return running[-1]

    yield start
    for one in running:
        one.process.kill()
        one.process.wait()
        for left in one.started:
            with suppress(psutil.NoSuchProcess):
                left.kill()


def test_ctrl_c_in_a_terminal_ends_everything(small_up: Callable[[], SmallUp]) -> None:
    stack = small_up()
    assert len(stack.started) == 2  # the store and the keeper
    stack.type(b"\x03")
    assert stack.exit_code() == 0
    assert "nothing is left running" in stack.text()
    assert stack.nothing_left()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_ends_everything(small_up: Callable[[], SmallUp], how: signal.Signals) -> None:
    stack = small_up()
    stack.process.send_signal(how)
    assert stack.exit_code() == 0
    assert stack.nothing_left()


def test_closing_the_terminal_ends_everything(small_up: Callable[[], SmallUp]) -> None:
    stack = small_up()
    stack.hang_up()
    stack.process.wait(30)
    assert stack.nothing_left()


def test_a_killed_stack_leaves_nothing_and_the_next_one_has_its_memory_at_the_same_port(
    small_up: Callable[[], SmallUp],
) -> None:
    first = small_up()
    with redis.Redis.from_url(first.store_url()) as client:
        client.set("remembered", "yes")
        client.waitaof(1, 0, 5000)
    first.process.kill()
    second = small_up()  # at once: it waits for the old store's end
    assert first.nothing_left()
    assert second.store_url() == first.store_url()
    with redis.Redis.from_url(second.store_url()) as client:
        assert client.get("remembered") == b"yes"


def test_a_store_that_outlives_its_stack_and_keeper_keeps_the_folder_locked(
    small_up: Callable[[], SmallUp], tmp_path: Path
) -> None:
    stack = small_up()
    (keeper,) = [one for one in stack.started if "afterturn_worker.keeper" in one.cmdline()]
    (server,) = [one for one in stack.started if one != keeper]
    keeper.suspend()  # it neither ends the store nor dies, which would bring another
    stack.process.kill()
    stack.process.wait()
    keeper.kill()
    folder = DataDir(tmp_path / "data")
    with pytest.raises(StackFailed, match="another stack uses"):
        folder.acquire(timeout=0.2)
    server.kill()
    folder.acquire(timeout=10)
    folder.release()


def test_a_killed_store_is_started_again_with_its_data(tmp_path: Path) -> None:
    with DevStack(StackOptions(tmp_path, flower=False, queues=())) as stack:
        stack.start()
        with redis.Redis.from_url(stack.redis_url) as client:
            client.set("remembered", "yes")
            client.waitaof(1, 0, 5000)
        os.kill(stack.supervisor.pids()["store"], signal.SIGKILL)
        wait_until(lambda: stack.supervisor.failures("store") == 1)
        assert wait_until(lambda: answer(stack.redis_url), what="the store's answer") == b"yes"


def answer(url: str) -> bytes | None:
    with redis.Redis.from_url(url) as client:
        try:
            value = client.get("remembered")
            return value if isinstance(value, bytes) else None
        except redis.ConnectionError:
            return None


def test_a_store_of_ones_own_is_used_and_left_running(
    store_client: redis.Redis, store: EmbeddedStore, tmp_path: Path
) -> None:
    with DevStack(StackOptions(tmp_path, redis_url=store.url, flower=False, queues=())) as stack:
        stack.start()
        assert stack.redis_url == store.url
        assert "store" not in stack.supervisor.pids()
    assert store_client.ping()


def test_a_process_that_keeps_ending_stops_the_start_and_its_last_words_are_told(tmp_path: Path) -> None:
    stack = DevStack(StackOptions(tmp_path / "data", flower=False, queues=()))
    blocked = tmp_path / "data" / "store" / "appendonlydir"
    blocked.parent.mkdir(parents=True)
    blocked.write_text("not a folder")
    began = time.monotonic()
    with (
        pytest.raises(
            StackFailed, match=r"store ended before it was ready\. The end of its log, .*store\.log"
        ),
        stack,
    ):
        stack.start()
    assert time.monotonic() - began < 30
    assert stack.supervisor.pids() == {}


def test_a_folder_serves_one_stack_at_a_time(tmp_path: Path) -> None:
    first, second = DataDir(tmp_path), DataDir(tmp_path)
    first.acquire()
    with pytest.raises(StackFailed, match="another stack uses"):
        second.acquire(timeout=0.2)
    first.release()
    second.acquire(timeout=0.2)
    second.release()


def test_a_folder_stays_locked_while_a_process_that_inherited_the_lock_runs(tmp_path: Path) -> None:
    first, second = DataDir(tmp_path), DataDir(tmp_path)
    first.acquire()
    with subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(600)"], pass_fds=(first.lock,)
    ) as heir:
        first.release()
        with pytest.raises(StackFailed):
            second.acquire(timeout=0.2)
        heir.kill()
    second.acquire(timeout=5)
    second.release()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StackFailed, match=r"file/data can't be used: Not a directory"):
        DataDir(tmp_path / "file" / "data").acquire()


def test_a_folder_is_private_and_kept_out_of_git(tmp_path: Path) -> None:
    folder = DataDir(tmp_path / "data")
    folder.acquire()
    folder.release()
    assert folder.store.stat().st_mode & 0o077 == 0
    assert (folder.path / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize("note", ["", "words", "0", "99999", "-1"])
def test_a_port_note_that_is_no_port_is_ignored(tmp_path: Path, note: str) -> None:
    (tmp_path / "port").write_text(note)
    port = DataDir(tmp_path).port()
    assert 0 < port < 65_536
    assert (tmp_path / "port").read_text() == f"{port}\n"


def test_a_password_is_left_out_of_a_shown_address() -> None:
    assert "secret" not in safe_url("redis://user:secret@127.0.0.1:6379/0")
    assert safe_url("redis://127.0.0.1:6379/0") == "redis://127.0.0.1:6379/0"
