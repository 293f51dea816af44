"""What happens to memory, for hooks: one frozen object an event, named as in the contract."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from afterturn.model import Role

logger = logging.getLogger("afterturn")


@dataclass(frozen=True, slots=True)
class TextCut:
    """A text was longer than the limit and is stored cut.

    Attributes:
        length: characters that were given.
        limit: characters that are kept.
    """

    name: ClassVar[str] = "memory:text:cut"

    turn_id: str
    role: Role
    length: int
    limit: int


Event: TypeAlias = TextCut
EventHook: TypeAlias = Callable[[Event], None]


def emit(hook: EventHook | None, event: Event) -> None:
    """Call the hook, if there is one; its failure is logged and never reaches the request."""
    if hook is None:
        return
    try:
        hook(event)
    except Exception as error:  # noqa: BLE001 - a hook is foreign code on the request's way
        logger.warning("afterturn.hook_failed: %s on %s", type(error).__name__, event.name)
