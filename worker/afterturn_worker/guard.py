"""The supervisor's end of the pipe to its keeper."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

CLOSE_TIMEOUT: Final = 30.0
"""Seconds until a keeper that has been told of the end must be gone."""


class Guard:
    """A keeper process that knows which process groups are there; restarted if it dies. Not thread-safe."""

    def __init__(self) -> None:
        self._keeper: subprocess.Popen[bytes] | None = None

    def keep_alive(self, groups: Mapping[int, int]) -> None:
        """Start a keeper where none runs, and tell it of the groups (id to stage) that are there."""
        if self._keeper is not None and self._keeper.poll() is None:
            return
        self._keeper = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "afterturn_worker.keeper",
                *(f"{group}:{stage}" for group, stage in groups.items()),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # Ctrl-C in the terminal is the supervisor's to deal with
            start_new_session=True,
        )

    def started(self, group: int, stage: int) -> None:
        """A group is there."""
        self._tell(f"+ {group}:{stage}\n")

    def ended(self, group: int, stage: int) -> None:
        """A group has ended; its number may come to mean another."""
        self._tell(f"- {group}:{stage}\n")

    def close(self) -> None:
        """Let the keeper end; it ends what it believes to be left."""
        if self._keeper is None or self._keeper.stdin is None:
            return
        with suppress(BrokenPipeError):  # it is dead already, and nothing is left for it to do
            self._keeper.stdin.close()
        self._keeper.wait(CLOSE_TIMEOUT)

    def _tell(self, line: str) -> None:
        if self._keeper is None or self._keeper.stdin is None:
            return
        try:
            self._keeper.stdin.write(line.encode())
            self._keeper.stdin.flush()
        except BrokenPipeError:
            return  # it died; the next one is told of all groups
