"""The folder where the development stack keeps its memory and logs between runs."""

from __future__ import annotations

import fcntl
import os
import socket
import time
from typing import TYPE_CHECKING, Final

from afterturn.errors import StackFailed
from afterturn_worker.embedded import HOST, free_port

if TYPE_CHECKING:
    from pathlib import Path

LOCK_TIMEOUT: Final = 20.0
"""Seconds to wait for the lock: a killed stack's keeper takes up to ten to end its store."""


class DataDir:
    """A folder that one stack at a time uses.

    The lock is an open file that the store's process inherits: as long as a store still writes here, whoever
    started it, no second one starts.

    Args:
        path: made, readable for its owner alone, where it is missing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._lock: int | None = None

    @property
    def store(self) -> Path:
        """Folder of the embedded store."""
        return self.path / "store"

    @property
    def lock(self) -> int:
        """File descriptor of the lock, to be passed to the store's process."""
        if self._lock is None:
            raise RuntimeError("acquire() comes first")
        return self._lock

    def acquire(self, timeout: float = LOCK_TIMEOUT) -> None:
        """Make the folder and lock it.

        Raises:
            StackFailed: another stack uses it, or it can't be written.
        """
        try:
            self.store.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._keep_out_of_git()
            lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StackFailed(f"the data folder {self.path} can't be used: {error.strerror}") from error
        deadline = time.monotonic() + timeout
        while not _locked(lock):
            if time.monotonic() > deadline:
                os.close(lock)
                raise StackFailed(
                    f"another stack uses {self.path}: stop that one, or give another folder with --data-dir"
                )
            time.sleep(0.1)
        self._lock = lock

    def release(self) -> None:
        """Unlock the folder."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def port(self) -> int:
        """The store's port: that of the last run, if it is free, so that clients find the store again."""
        note = self.path / "port"
        last = _read_port(note)
        port = last if last is not None and _is_free(last) else free_port()
        note.write_text(f"{port}\n")
        return port

    def _keep_out_of_git(self) -> None:
        ignore = self.path / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read_port(note: Path) -> int | None:
    text = note.read_text().strip() if note.exists() else ""
    return int(text) if text.isdecimal() and 0 < int(text) < 65_536 else None


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # as the store itself does: connections of the last run that the kernel still remembers don't count
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True
