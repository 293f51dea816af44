"""The steps that a turn goes through, and which queue, task and state belong to each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from afterturn.model import TurnState
from afterturn.queues import DELIVER_TASK, EMBED_TASK, EXTRACT_TASK, Queue


class Stage(StrEnum):
    """What a turn waits for, or is in."""

    EMBED = "embed"
    """The raw messages are to be embedded and written."""
    EXTRACT = "extract"
    """Facts are to be extracted."""
    FACTS = "facts"
    """The extracted facts are to be embedded and written."""
    DELIVER = "deliver"
    """A vendor's server is to take the turn."""


@dataclass(frozen=True, slots=True)
class Step:
    """How a stage is worked on.

    Attributes:
        waiting, running: the turn's state before and while a worker has it.
    """

    queue: Queue
    task: str
    waiting: TurnState
    running: TurnState


STEPS: Final[dict[Stage, Step]] = {
    Stage.EMBED: Step(Queue.EMBED, EMBED_TASK, TurnState.QUEUED, TurnState.EMBEDDING),
    Stage.EXTRACT: Step(Queue.EXTRACT, EXTRACT_TASK, TurnState.EXTRACTING, TurnState.EXTRACTING),
    Stage.FACTS: Step(Queue.EMBED, EMBED_TASK, TurnState.EXTRACTING, TurnState.EXTRACTING),
    Stage.DELIVER: Step(Queue.DELIVER, DELIVER_TASK, TurnState.QUEUED, TurnState.DELIVERING),
}

QUEUE_STAGES: Final[dict[Queue, tuple[Stage, ...]]] = {
    # raw turns before facts: a turn must become recallable before anything else happens to any turn
    Queue.EMBED: (Stage.EMBED, Stage.FACTS),
    Queue.EXTRACT: (Stage.EXTRACT,),
    Queue.DELIVER: (Stage.DELIVER,),
    Queue.MAINTAIN: (),
}
"""The stages whose turns a task of each queue may take, most urgent first."""
