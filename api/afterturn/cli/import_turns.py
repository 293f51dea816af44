"""Saving many turns and waiting for them: the import without its progress bars."""

from __future__ import annotations

import time
from collections import Counter, deque
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final

from afterturn.errors import StoreUnavailable, UnknownTurn, WaitTimeout
from afterturn.history import BadItem
from afterturn.model import TurnState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from afterturn.history.reader import Imported, ImportedTurn
    from afterturn.memory import Memory

REFUSAL_TIMEOUT: Final = 60.0
"""Seconds that a refused turn is tried again before the import gives up."""
FIRST_PAUSE: Final = 0.05
LONGEST_PAUSE: Final = 2.0
"""Seconds between two tries of a refused turn: doubles from the first to the longest."""
WINDOW: Final = 64
"""Turns whose status is asked for in one round."""
SHORTEST_LOOK: Final = 0.02
LONGEST_LOOK: Final = 0.5
"""Seconds between two rounds while nothing changes."""


@dataclass
class Outcome:
    """What became of a file.

    Attributes:
        turn_ids: of the accepted turns, in the file's order.
        already: turns that were there from an earlier import.
        bad: what could not be read.
        ended: final states and how many turns have them; turns whose status has expired count as stored.
        dead: id and error of the turns that were given up.
        accept_seconds, store_seconds: from the start until all were accepted, and until all had ended.
    """

    turn_ids: list[str] = field(default_factory=list)
    already: int = 0
    bad: list[BadItem] = field(default_factory=list)
    ended: Counter[TurnState] = field(default_factory=Counter)
    dead: list[tuple[str, str]] = field(default_factory=list)
    accept_seconds: float = 0.0
    store_seconds: float = 0.0

    @property
    def flawless(self) -> bool:
        """Whether every turn was read, and none given up."""
        return not self.bad and not self.dead


def accept_all(
    memory: Memory,
    items: Iterable[Imported],
    outcome: Outcome,
    *,
    on_item: Callable[[Imported], None] = lambda _: None,
    on_refusal: Callable[[str], None] = lambda _: None,
    refusal_timeout: float = REFUSAL_TIMEOUT,
) -> None:
    """Save every turn.

    Args:
        outcome: filled as it goes, so that it stands when this is interrupted.
        on_item: called after each item.
        on_refusal: called with the reason when a turn is refused for the first time.

    Raises:
        StoreUnavailable: a turn was refused for `refusal_timeout` seconds.
    """
    started = time.monotonic()
    for item in items:
        if isinstance(item, BadItem):
            outcome.bad.append(item)
        else:
            turn_id, state = _save(memory, item, on_refusal, refusal_timeout)
            outcome.turn_ids.append(turn_id)
            outcome.already += state.finished
        outcome.accept_seconds = time.monotonic() - started
        on_item(item)


def _save(
    memory: Memory, item: ImportedTurn, on_refusal: Callable[[str], None], timeout: float
) -> tuple[str, TurnState]:
    deadline = time.monotonic() + timeout
    pause = FIRST_PAUSE
    told = False
    while (accepted := memory.save(item.scope, item.turn, idempotency_key=item.key)).error is not None:
        if time.monotonic() > deadline:
            raise StoreUnavailable(
                f"{item.place} was refused for {timeout:g} s ({accepted.error}); "
                "import the file again later: what was accepted is not stored twice"
            )
        if not told:
            on_refusal(accepted.error)
            told = True
        time.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE)
    return accepted.turn_id, accepted.state


def wait_for_all(
    memory: Memory,
    outcome: Outcome,
    *,
    on_ended: Callable[[int], None] = lambda _: None,
    idle_timeout: float,
) -> None:
    """Wait until nothing more will happen to any accepted turn.

    Args:
        on_ended: called with the number of turns that have newly ended.
        idle_timeout: seconds without any turn ending until this gives up.

    Raises:
        WaitTimeout: nothing ended for that long.
        StoreUnavailable: the journal did not answer.
    """
    started = last_change = time.monotonic()
    waiting = deque(outcome.turn_ids)
    pause = SHORTEST_LOOK
    while waiting:
        ended = _look(memory, waiting, outcome)
        now = time.monotonic()
        if ended:
            on_ended(ended)
            outcome.store_seconds = outcome.accept_seconds + now - started
            last_change, pause = now, SHORTEST_LOOK
            continue
        if now - last_change > idle_timeout:
            raise WaitTimeout(
                f"{len(waiting)} turns are accepted and not stored yet, and none was for {idle_timeout:g} s: are "
                "workers running (afterturn up)? The turns are safe; workers take them as soon as they run"
            )
        time.sleep(pause)
        pause = min(pause * 1.5, LONGEST_LOOK)


def _look(memory: Memory, waiting: deque[str], outcome: Outcome) -> int:
    """Ask about the first of the waiting turns and take out those that have ended; how many that were.

    Turns end about in the order of their saving, so the rest is asked about again first; unless none ended, since
    a few that are being retried must not hide all others.
    """
    first = list(islice(waiting, WINDOW))
    left = [turn_id for turn_id in first if not _ended(memory, turn_id, outcome)]
    for _ in first:
        waiting.popleft()
    if len(left) < len(first):
        waiting.extendleft(reversed(left))
    else:
        waiting.extend(left)
    return len(first) - len(left)


def _ended(memory: Memory, turn_id: str, outcome: Outcome) -> bool:
    try:
        status = memory.status(turn_id)
    except UnknownTurn:
        # only a finished turn's status expires
        outcome.ended[TurnState.STORED] += 1
        return True
    if not status.state.finished:
        return False
    outcome.ended[status.state] += 1
    if status.state is TurnState.DEAD:
        outcome.dead.append((turn_id, status.error or "no reason given"))
    return True
