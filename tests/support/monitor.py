"""Everything that goes through a Redis server, as it is sent."""

from __future__ import annotations

import base64
import re
import threading
from typing import Any, Self

import redis

_BODY = re.compile(r'"body": ?"([A-Za-z0-9+/=]+)"')


class Monitor:
    """Collects a server's commands in a thread; a context manager."""

    def __init__(self, url: str) -> None:
        self._client = redis.Redis.from_url(url)
        self._commands: list[str] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._listening = threading.Event()

    def _run(self) -> None:
        opened: Any = self._client  # redis-py leaves monitor() untyped
        try:
            with opened.monitor() as monitor:
                self._listening.set()
                for command in monitor.listen():
                    self._commands.append(command["command"])
        except (redis.ConnectionError, ValueError, OSError):
            return  # the connection was closed on leaving, or with the server

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._listening.wait(10)
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._client.close()

    def text(self) -> str:
        """All commands, and the message bodies in them decoded."""
        plain = "\n".join(self._commands).replace('\\"', '"')
        bodies = [base64.b64decode(body).decode(errors="replace") for body in _BODY.findall(plain)]
        return "\n".join([plain, *bodies])
