"""A small process that outlives a killed supervisor and ends what it left behind.

Its arguments name the process groups that are there, each as `<group>:<stage>`. Then it reads lines from its
standard input, a pipe whose other end only the supervisor holds: `+ <group>:<stage>` for a group that was
started, `- <group>:<stage>` for one that has ended. The end of the input means that the
supervisor is gone, however that came about; a signal at a parent's death (Linux) would reach only its own
children, not their children, and exists nowhere else.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from afterturn_worker.groups import end_groups

if TYPE_CHECKING:
    from collections.abc import Iterable

GRACE = 10.0
"""Seconds between SIGTERM and SIGKILL."""


def read_groups(at_start: Iterable[str], lines: Iterable[str]) -> dict[int, int]:
    """Process groups that are still there at the end of the input, with their stages."""
    left = set(at_start)
    for line in lines:
        change, _, group = line.strip().partition(" ")
        if change == "+":
            left.add(group)
        else:
            left.discard(group)
    pairs = (group.split(":") for group in left)
    return {int(group): int(stage) for group, stage in pairs}


def main() -> None:
    """Wait for the supervisor's end, then end its groups, the highest stage first."""
    stages = read_groups(sys.argv[1:], sys.stdin)
    for stage in sorted(set(stages.values()), reverse=True):
        end_groups([group for group, its in stages.items() if its == stage], GRACE)


if __name__ == "__main__":
    main()
