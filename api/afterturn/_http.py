"""POST of JSON to an OpenAI-compatible endpoint: a deadline, typed errors, and nothing said that is private.

Messages of errors carry the address without credentials, the status and the provider's error code; never a body,
which may quote the conversation or a key.
"""

from __future__ import annotations

import json
import math
import os
import re
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from afterturn.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Collection

    import httpx

    from afterturn.errors import PermanentError, TransientError

CONNECT_TIMEOUT: Final = 10.0
"""Most seconds for the connection alone; the deadline includes them."""
BODY_LIMIT: Final = 64 * 1024 * 1024
"""Longest answer that is read, in bytes."""
RETRY_AFTER_LIMIT: Final = 86_400.0
"""Longest wait that a server is believed, in seconds."""
PASSING: Final = frozenset({408, 409, 425, 429})
"""Statuses under 500 that may be better later (RFC 9110, 15.5; RFC 6585; RFC 8470)."""

_IDENTIFIER: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.\-]{0,63}")


@dataclass(frozen=True, slots=True)
class ErrorClasses:
    """What an endpoint's failures are raised as."""

    unavailable: type[TransientError]
    rejected: type[PermanentError]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that was read to its end.

    Attributes:
        body: the decoded JSON; None where a refusal's body is no JSON.
        retry_after: seconds that the server asks to wait, or None.
    """

    status: int
    body: Any
    retry_after: float | None = None

    @property
    def code(self) -> str | None:
        """The provider's error code, where it is an identifier: prose may quote what was sent."""
        return self._named("code") or self._named("type")

    @property
    def parameter(self) -> str | None:
        """The name of the request's field that the provider refuses, where it says so."""
        return self._named("param")

    def _named(self, name: str) -> str | None:
        error = self.body.get("error") if isinstance(self.body, dict) else None
        value = error.get(name) if isinstance(error, dict) else None
        return value if isinstance(value, str) and _IDENTIFIER.fullmatch(value) else None


class JsonEndpoint:
    """A base URL that takes JSON. Safe to share between threads and over a fork.

    The connection pool is made on first use in each process: a forked child that used its parent's sockets would
    read the parent's answers.

    Args:
        base_url: such as `http://host/v1`; may end with a slash.
        api_key: sent as a bearer token; surrounding white space is dropped.
        errors: what failures are raised as.

    Raises:
        SettingsError: the key has characters that no header can carry.
    """

    def __init__(self, base_url: str, *, api_key: str | None, errors: ErrorClasses) -> None:
        self._base_url = base_url.rstrip("/")
        self._headers = {"accept": "application/json", "content-type": "application/json"}
        if api_key and api_key.strip():
            self._headers["authorization"] = f"Bearer {_checked_key(api_key.strip())}"
        self._errors = errors
        self._start_fresh()

    def _start_fresh(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None

    def post(
        self, path: str, body: object, *, timeout: float, tolerated: Collection[int] = frozenset()
    ) -> Reply:
        """The answer to `body`, a success or a tolerated status.

        The deadline is held to within one pause of the server: it is checked as the answer arrives, and no single
        wait is longer than `timeout`.

        Raises:
            TransientError: (of the class given) no connection, no whole answer in `timeout` seconds, a status of
                408, 409, 425, 429 or 5xx, or a success that is not JSON.
            PermanentError: (of the class given) any other status.
        """
        import httpx

        deadline = time.monotonic() + timeout
        try:
            reply = self._exchange(
                path, json.dumps(body, ensure_ascii=False).encode(errors="replace"), deadline
            )
        except httpx.TimeoutException as error:
            raise self._late(path, timeout) from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise self._errors.unavailable(f"{self._place(path)} failed: {type(error).__name__}") from error
        if reply is None:
            raise self._late(path, timeout)
        if not 200 <= reply.status < 300 and reply.status not in tolerated:
            raise self.refusal(path, reply)
        return reply

    def refusal(
        self, path: str, reply: Reply, *, status: int | None = None
    ) -> TransientError | PermanentError:
        """The error that a refused request is raised as; `status` where the body tells another than the answer."""
        number = status or reply.status
        code = f" ({reply.code})" if reply.code else ""
        told = f"{self._place(path)} answered {number}{code}{_advice(number)}"
        if number in PASSING or number >= 500:
            return self._errors.unavailable(told, retry_after=reply.retry_after)
        return self._errors.rejected(told)

    def close(self) -> None:
        """Close this process's connections; the endpoint can still be used."""
        if self._pid != os.getpid():
            self._start_fresh()
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _exchange(self, path: str, content: bytes, deadline: float) -> Reply | None:
        import httpx

        left = deadline - time.monotonic()
        if left <= 0:
            return None
        timeout = httpx.Timeout(left, connect=min(left, CONNECT_TIMEOUT))
        with self._connected().stream(
            "POST", self._base_url + path, content=content, timeout=timeout
        ) as response:
            # httpx's read timeout restarts with every chunk; the body may only have what the headers left
            response.request.extensions["timeout"]["read"] = max(0.001, deadline - time.monotonic())
            raw = bytearray()
            for chunk in response.iter_bytes():
                raw += chunk
                if time.monotonic() > deadline:
                    return None
                if len(raw) > BODY_LIMIT:
                    raise self._errors.rejected(f"{self._place(path)} answered more than {BODY_LIMIT} bytes")
            return self._decoded(path, response, bytes(raw))

    def _decoded(self, path: str, response: httpx.Response, raw: bytes) -> Reply:
        try:
            body = json.loads(raw)
        except (ValueError, RecursionError):
            if response.is_success:
                raise self._errors.unavailable(
                    f"{self._place(path)} answered {response.status_code} without JSON"
                ) from None
            body = None
        return Reply(response.status_code, body, parse_retry_after(response.headers.get("retry-after")))

    def _connected(self) -> httpx.Client:
        import httpx

        if self._pid != os.getpid():
            self._start_fresh()
        with self._lock:
            if self._client is None:
                self._client = httpx.Client(headers=self._headers)
            return self._client

    def _late(self, path: str, timeout: float) -> TransientError:
        return self._errors.unavailable(
            f"{self._place(path)} did not answer within {max(timeout, 0.0):.3g} s"
        )

    def _place(self, path: str) -> str:
        parts = urlsplit(self._base_url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}{path}"


def parse_retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Seconds to wait by a Retry-After header (RFC 9110, 10.2.3): a number, or an HTTP date; None for neither."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        seconds = _seconds_until(value, now or datetime.now(UTC))
    return min(max(seconds, 0.0), RETRY_AFTER_LIMIT) if math.isfinite(seconds) else None


def _seconds_until(date: str, now: datetime) -> float:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return math.nan
    # a date without a zone is in GMT, as HTTP dates are
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now).total_seconds()


def _checked_key(key: str) -> str:
    if not (key.isascii() and key.isprintable()):
        raise SettingsError("an API key has characters that no HTTP header can carry: printable ASCII only")
    return key


def _advice(status: int) -> str:
    if status in {401, 403}:
        return ": check the API key"
    if status == 404:
        return ": check the base URL and the model's name"
    return ""
