"""Ending process groups: asked first, then killed."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

POLL: Final = 0.02
"""Seconds between two looks at a group that is to end."""
KILL_TIMEOUT: Final = 5.0
"""Seconds that the kernel gets to remove a killed group; a process inside a system call may hold it up."""


def group_exists(group: int) -> bool:
    """Whether a process of the group is left; a zombie that nobody has collected counts."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # macOS answers so for a group of zombies
    return True


def signal_group(group: int, how: signal.Signals) -> None:
    """Send a signal to all processes of a group, if there are any."""
    try:
        os.killpg(group, how)
    except (ProcessLookupError, PermissionError):
        return  # it has ended; macOS says PermissionError for zombies


def end_groups(
    groups: Iterable[int],
    grace: float,
    *,
    collect: Callable[[], None] | None = None,
    hurry: Callable[[], bool] | None = None,
) -> None:
    """SIGTERM to all groups, then SIGKILL to what is left after `grace` seconds; returns when all have ended.

    Args:
        collect: called at each look; the parent of the groups' leaders collects its zombies here.
        hurry: when it answers true, the rest of the grace is skipped.
    """
    left = list(groups)
    for group in left:
        signal_group(group, signal.SIGTERM)
    left = _wait(left, grace, collect, hurry)
    for group in left:
        signal_group(group, signal.SIGKILL)
    _wait(left, KILL_TIMEOUT, collect, None)


def _wait(
    groups: list[int],
    timeout: float,
    collect: Callable[[], None] | None,
    hurry: Callable[[], bool] | None,
) -> list[int]:
    deadline = time.monotonic() + timeout
    while True:
        if collect is not None:
            collect()
        groups = [group for group in groups if group_exists(group)]
        if not groups or time.monotonic() > deadline or (hurry is not None and hurry()):
            return groups
        time.sleep(POLL)
