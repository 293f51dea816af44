"""The pipeline in one process, without a broker: a background thread saves each turn through the adapter."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from afterturn.errors import AfterturnError, UnknownTurn
from afterturn.model import Accepted, TurnState, TurnStatus

if TYPE_CHECKING:
    from concurrent.futures import Future

    from afterturn.adapters.base import Adapter
    from afterturn.model import SaveReceipt, Scope, Turn

logger = logging.getLogger("afterturn")

STATUS_LIMIT: Final = 10_000
"""Most turns whose status is kept; the oldest finished ones go first."""


class InlinePipeline:
    """Saves turns in order, one at a time, in a thread of this process. What waits is lost with the process."""

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self._start_fresh()

    def _start_fresh(self) -> None:
        self._pid = os.getpid()
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="afterturn-inline")
        self._lock = threading.Lock()
        self._statuses: OrderedDict[str, TurnStatus] = OrderedDict()
        self._running: set[Future[None]] = set()

    def accept(self, turn_id: str, scope: Scope, turn: Turn) -> Accepted:
        """Hand the turn to the thread, once. A forked process starts a thread of its own."""
        if self._pid != os.getpid():
            self._start_fresh()
        with self._lock:
            known = self._statuses.get(turn_id)
            if known is None:
                self._enter(TurnStatus(turn_id, TurnState.QUEUED), TurnState.QUEUED)
        if known is not None:
            return Accepted(turn_id, known.state)
        try:
            future = self._executor.submit(self._save, turn_id, scope, turn)
        except RuntimeError:
            self._move(turn_id, TurnState.REFUSED, error="the memory is closed")
            return Accepted(turn_id, TurnState.REFUSED, "the memory is closed")
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        return Accepted(turn_id, TurnState.QUEUED)

    def _save(self, turn_id: str, scope: Scope, turn: Turn) -> None:
        self._move(turn_id, TurnState.EMBEDDING)
        try:
            receipts = self._adapter.save(scope, turn, turn_id=turn_id)
        except Exception as error:  # noqa: BLE001 - the thread's boundary: the status carries the failure
            told = str(error) if isinstance(error, AfterturnError) else "unexpected"
            logger.error("afterturn.inline_save_failed: %s", type(error).__name__, extra={"turn_id": turn_id})
            self._move(turn_id, TurnState.DEAD, error=f"{type(error).__name__}: {told}")
        else:
            self._move(turn_id, TurnState.STORED, receipts=receipts)

    def _move(
        self,
        turn_id: str,
        state: TurnState,
        *,
        error: str | None = None,
        receipts: list[SaveReceipt] | None = None,
    ) -> None:
        with self._lock:
            known = self._statuses.get(turn_id, TurnStatus(turn_id, state))
            self._enter(replace(known, error=error, receipts=tuple(receipts or ()), attempts=1), state)

    def _enter(self, status: TurnStatus, state: TurnState) -> None:
        times = {**status.times, state: datetime.now(UTC)}
        self._statuses[status.turn_id] = replace(status, state=state, times=times)
        while len(self._statuses) > STATUS_LIMIT:
            self._statuses.popitem(last=False)

    def status(self, turn_id: str) -> TurnStatus:
        """Where the turn is."""
        with self._lock:
            known = self._statuses.get(turn_id)
        if known is None:
            raise UnknownTurn(f"no turn {turn_id} is known in this process")
        return known

    def warm_up(self) -> None:
        """Nothing to connect to."""

    def close(self, timeout: float) -> bool:
        """Wait for the turns under way; False if some were not done in `timeout` seconds."""
        deadline = time.monotonic() + timeout
        left = wait(list(self._running), timeout=max(0.0, deadline - time.monotonic())).not_done
        self._executor.shutdown(wait=not left, cancel_futures=True)
        return not left
