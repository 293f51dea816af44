"""Ids: made by the client, and everything else derived from them, so that a repeated step changes nothing."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Final
from uuid import UUID, uuid5

if TYPE_CHECKING:
    from afterturn.journal.stages import Stage
    from afterturn.model import Scope

_IDEMPOTENCY_NAMESPACE: Final = UUID("6f3e2e5c-54f5-5a0e-9b5c-0f6d8f3f7a11")


def new_turn_id() -> str:
    """A UUID that sorts by its time of making (RFC 9562, version 7).

    The 12 bits after the milliseconds hold a fraction of one (its section 6.2, method 3), so that turns saved one
    after the other sort in that order.
    """
    millis, rest = divmod(time.time_ns(), 1_000_000)
    fraction = (rest << 12) // 1_000_000
    random = int.from_bytes(os.urandom(8), "big") & (1 << 62) - 1
    return str(UUID(int=(millis & (1 << 48) - 1) << 80 | 0x7 << 76 | fraction << 64 | 0b10 << 62 | random))


def keyed_turn_id(scope: Scope, idempotency_key: str) -> str:
    """The id of the turn that the caller's key names within its scope; the same each time."""
    name = json.dumps([scope.tenant_id, scope.user_id, scope.thread_id, idempotency_key])
    return str(uuid5(_IDEMPOTENCY_NAMESPACE, name))


def task_id(turn_id: str, stage: Stage) -> str:
    """The Celery task id of a turn's stage."""
    return str(uuid5(UUID(turn_id), f"task:{stage}"))
