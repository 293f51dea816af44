"""The tasks as Celery sees them: they carry a turn's id, never its text, and return sentences without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from afterturn.errors import AfterturnError, PermanentError, TransientError
from afterturn.queues import DELIVER_TASK, EMBED_TASK, EXTRACT_TASK, SWEEP_TASK
from afterturn_tasks.deliver import deliver_turn
from afterturn_tasks.embed import embed_turns
from afterturn_tasks.extract import extract_facts
from afterturn_tasks.failures import without_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from celery import Celery

    from afterturn_tasks.work import Work

T = TypeVar("T")

TURN_STEPS: dict[str, Callable[[Work, str, str], str]] = {
    EMBED_TASK: embed_turns,
    EXTRACT_TASK: extract_facts,
    DELIVER_TASK: deliver_turn,
}
"""Task name to step; each takes the turn that it is told of, or another that waits."""


def register(app: Celery, work: Callable[[], Work], sweep: Callable[[], int]) -> None:
    """Add the tasks to a Celery app.

    Args:
        work: the process's parts; called in the process that runs the task.
        sweep: looks for overdue turns; returns the number of messages sent.
    """
    for name, step in TURN_STEPS.items():
        _register_step(app, name, step, work)

    @app.task(name=SWEEP_TASK, ignore_result=True)
    def sweep_task() -> str:
        return f"woke workers {_guarded(sweep)} times"


def _register_step(
    app: Celery, name: str, step: Callable[[Work, str, str], str], work: Callable[[], Work]
) -> None:
    # `throws`: these are logged in one line, since the journal already has what follows from them
    @app.task(
        name=name, bind=True, acks_late=True, ignore_result=True, throws=(TransientError, PermanentError)
    )
    def step_task(self: Any, turn_id: str) -> str:
        return _guarded(lambda: step(work(), turn_id, self.request.id))


def _guarded(call: Callable[[], T]) -> T:
    try:
        return call()
    except AfterturnError:
        raise
    except Exception as error:  # noqa: BLE001 - it is raised again, without the text that it may quote
        raise without_text(error) from None
