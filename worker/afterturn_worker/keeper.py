"""A small process that outlives a killed supervisor and ends what it left behind.

It reads lines from its standard input, a pipe whose other end only the supervisor holds: `+ <group> <stage>`
for a process group that was started, `- <group>` for one that has ended. The end of the input means that the
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


def read_groups(lines: Iterable[str]) -> dict[int, int]:
    """Process groups that are still there at the end of the input, with their stages."""
    stages: dict[int, int] = {}
    for line in lines:
        match line.split():
            case ["+", group, stage]:
                stages[int(group)] = int(stage)
            case ["-", group]:
                stages.pop(int(group), None)
            case _:
                raise ValueError("a line is neither `+ <group> <stage>` nor `- <group>`")
    return stages


def main() -> None:
    """Wait for the supervisor's end, then end its groups, the highest stage first."""
    stages = read_groups(sys.stdin)
    for stage in sorted(set(stages.values()), reverse=True):
        end_groups([group for group, its in stages.items() if its == stage], GRACE)


if __name__ == "__main__":
    main()
