"""Waiting for a condition instead of sleeping."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def wait_until(condition: Callable[[], T], *, timeout: float = 30.0, what: str = "the condition") -> T:
    """The first true value of `condition`, asked every 20 ms.

    Raises:
        AssertionError: none within `timeout` seconds.
    """
    deadline = time.monotonic() + timeout
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not hold within {timeout} s")
        time.sleep(0.02)
    return value
