"""What a step works with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from afterturn.adapters.base import Adapter
from afterturn.embedders import Embedder
from afterturn.extraction import Extractor
from afterturn.journal.work import WorkJournal
from afterturn.publish import Wake
from afterturn.settings import Settings

if TYPE_CHECKING:
    from afterturn.journal.work import Claim


@dataclass(frozen=True, slots=True)
class Work:
    """The parts that the steps share; one a process.

    Attributes:
        embedder: None where turns are found by words only, and in workers that embed nothing.
        extractor: None where no facts are extracted.
        wake: publishes tasks for turns that entered their next stage; what it can't publish, the sweeper finds.
    """

    settings: Settings
    journal: WorkJournal
    adapter: Adapter
    embedder: Embedder | None
    extractor: Extractor | None
    wake: Callable[[Sequence[Wake]], None]


def why_idle(journal: WorkJournal, turn_id: str) -> str:
    """What a task returns that found nothing to do, for whoever reads it in Flower."""
    state, task_id = journal.describe(turn_id)
    if state is None:
        return f"turn {turn_id} is not known any more"
    return f"already {state} by {task_id}" if task_id else f"already {state}"


def what_was_done(verb: str, claims: Sequence[Claim]) -> str:
    """What a task returns that did something."""
    return f"{verb} {len(claims)} turn{'s' if len(claims) != 1 else ''}"
