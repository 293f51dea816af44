"""`afterturn up` as a person runs it: it works, mends what dies, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from afterturn import Memory, Scope, Turn, TurnState, load_settings
from tests.support.waiting import wait_until

SCOPE = Scope("up", user_id="alice")


class Up:
    """A running `afterturn up` and what it printed."""

    def __init__(self, folder: Path) -> None:
        self.output = folder / "up.out"
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "afterturn", "up", "--data-dir", str(folder / "data")],
                env={**os.environ, "COLUMNS": "200"},
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def text(self) -> str:
        return self.output.read_text()

    def address(self, pattern: str) -> str:
        found = re.search(pattern, self.text())
        assert found, self.text()
        return found.group(1)

    def family(self) -> list[psutil.Process]:
        main = psutil.Process(self.process.pid)
        return [main, *main.children(recursive=True)]


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    running = Up(tmp_path)
    yield running
    if running.process.poll() is None:
        running.process.send_signal(signal.SIGTERM)
        running.process.wait(60)


def left(family: list[psutil.Process]) -> list[psutil.Process]:
    return [one for one in family if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.timeout(240)
def test_the_stack_works_mends_itself_and_leaves_nothing_behind(up: Up) -> None:
    wait_until(
        lambda: "Ready." in up.text() or up.process.poll() is not None,
        timeout=120,
        what="the stack being ready",
    )
    assert up.process.poll() is None, up.text()
    settings = load_settings(
        redis_url=up.address(r"AFTERTURN_REDIS_URL=(\S+)"), embedder="none", save_timeout=5, recall_timeout=5
    )
    flower = up.address(r"(http://127\.0\.0\.1:\d+)")
    assert httpx.get(f"{flower}/healthcheck").status_code == 200
    wait_until(
        lambda: "embed@" in httpx.get(f"{flower}/workers?json=1").text, what="Flower listing the workers"
    )

    with Memory(settings) as memory:
        first = memory.save(SCOPE, Turn(user="I live in Porto.", assistant="Noted."))
        assert memory.wait(first.turn_id, timeout=60).state is TurnState.STORED

        (embed, *_) = [one for one in up.family() if {"worker", "embed"} <= set(one.cmdline())]
        embed.kill()
        wait_until(lambda: "embed runs again" in up.text(), timeout=60, what="the worker being restarted")
        second = memory.save(SCOPE, Turn(user="I keep bees."))
        assert memory.wait(second.turn_id, timeout=90).state is TurnState.STORED

    family = up.family()
    assert len(family) > 6
    up.process.send_signal(signal.SIGINT)
    assert up.process.wait(60) == 0, up.text()
    assert left(family) == []
    assert "nothing is left running" in up.text()
