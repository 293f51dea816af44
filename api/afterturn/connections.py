"""Redis clients with bounds, and Redis errors as our own."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import redis
from redis.backoff import ExponentialWithJitterBackoff, NoBackoff
from redis.exceptions import AuthenticationError, BusyLoadingError, NoPermissionError
from redis.retry import Retry

from afterturn.errors import PermanentError, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

WORKER_TIMEOUT = 5.0
"""Seconds that a worker waits for one answer of Redis."""


def connect_for_handler(url: str, timeout: float, *, decode_responses: bool = False) -> redis.Redis:
    """A client that fails after `timeout` seconds, without another try.

    redis-py's own defaults try ten times for five seconds each.
    """
    return redis.Redis.from_url(
        url,
        socket_timeout=timeout,
        socket_connect_timeout=timeout,
        retry=Retry(NoBackoff(), 0),
        decode_responses=decode_responses,
    )


def connect_for_worker(url: str, *, decode_responses: bool = False) -> redis.Redis:
    """A client that rides out a dropped connection; longer outages are the journal's to retry."""
    return redis.Redis.from_url(
        url,
        socket_timeout=WORKER_TIMEOUT,
        socket_connect_timeout=WORKER_TIMEOUT,
        retry=Retry(ExponentialWithJitterBackoff(base=0.05, cap=0.5), 3),
        decode_responses=decode_responses,
    )


def as_text(value: bytes | str | None) -> str | None:
    """What a decoding client answered, for the type checker: redis-py types it as bytes or str."""
    return value.decode() if isinstance(value, bytes) else value


@contextmanager
def store_errors(what: str) -> Iterator[None]:
    """Raise Redis errors inside the block as `StoreUnavailable` or `PermanentError`, without their text.

    A server's error text may quote the command, and so the conversation.
    """
    try:
        yield
    except (AuthenticationError, NoPermissionError) as error:
        raise PermanentError(
            f"Redis refused to {what} ({type(error).__name__}): check user, password and ACL"
        ) from None
    except (redis.ConnectionError, redis.TimeoutError, BusyLoadingError) as error:
        raise StoreUnavailable(f"Redis did not answer in time to {what} ({type(error).__name__})") from None
    except redis.RedisError as error:
        code = str(error).partition(" ")[0]
        name = code if code.isupper() and code.isalpha() else type(error).__name__
        raise StoreUnavailable(f"Redis could not {what} ({name})") from None
