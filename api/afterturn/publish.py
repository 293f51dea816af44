"""Waking the workers: a task with a turn's id, published in the background, within a bound.

Nothing depends on a wake-up: what the journal holds is found by the workers' sweeper too. So a failed publish is
logged and let go.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from afterturn.errors import BrokerUnavailable
from afterturn.ids import task_id
from afterturn.journal.stages import STEPS
from afterturn.queues import queue_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celery import Celery

    from afterturn.journal.stages import Stage

logger = logging.getLogger("afterturn")

BATCH: Final = 16
"""Most messages published in one go."""
BACKLOG_LIMIT: Final = 100_000
"""Most wake-ups kept in memory; older ones are left to the sweeper."""
REST: Final = 3.0
"""Rest after a batch, as a multiple of the time that it took: request handlers share the interpreter."""
OUTAGE_PAUSE: Final = 1.0
"""Seconds between two tries while the broker takes nothing."""

Wake = tuple["Stage", str]


def publishing_app(broker_url: str, timeout: float) -> Celery:
    """A Celery app that only publishes, and never blocks for long.

    These settings together hold a publish to a broker that is frozen or cannot be reached to about `timeout`;
    each alone lets it hang for seconds or for ever.
    """
    from celery import Celery

    app = Celery("afterturn-client", broker=broker_url, set_as_current=False)
    app.conf.update(
        broker_connection_timeout=timeout,
        broker_pool_acquire_timeout=timeout,
        broker_transport_options={"socket_timeout": timeout, "socket_connect_timeout": timeout},
        task_publish_retry=True,
        task_publish_retry_policy={
            "max_retries": 0,
            "interval_start": 0,
            "interval_step": 0,
            "interval_max": 0,
        },
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
    )
    _import_what_publishing_needs(app)
    return app


def _import_what_publishing_needs(app: Celery) -> None:
    """Before any thread starts: a process that forks in the middle of an import leaves its child half a module."""
    from celery import Celery

    with app.connection_for_write() as connection:
        connection.get_transport_cls()
    # Celery imports most of itself with the first task sent; this one goes nowhere
    with Celery(broker="memory://", set_as_current=False) as rehearsal:
        rehearsal.send_task("afterturn.rehearsal", ignore_result=True)


def publish_wakes(app: Celery, queue_prefix: str, wakes: Sequence[Wake]) -> None:
    """Publish one task a wake-up, in one batch where the broker's transport can.

    Raises:
        kombu.exceptions.OperationalError: the broker took them not, or not all, within its bounds.
    """
    with app.producer_pool.acquire(block=True) as pooled:
        producer: Any = pooled  # celery-types doesn't know kombu 5.7's batch()
        with producer.batch(max_size=BATCH):
            for stage, turn_id in wakes:
                _send_wake(app, queue_prefix, stage, turn_id, producer)


def _send_wake(app: Celery, queue_prefix: str, stage: Stage, turn_id: str, producer: Any) -> None:
    step = STEPS[stage]
    app.send_task(
        step.task,
        args=(turn_id,),
        task_id=task_id(turn_id, stage),
        queue=queue_name(queue_prefix, step.queue),
        ignore_result=True,
        producer=producer,
    )


class Publisher:
    """One background thread a process that wakes the workers for accepted turns.

    Safe to use from many threads, and after a fork: a child starts with an empty backlog and a thread of its own.
    """

    def __init__(self, broker_url: str, queue_prefix: str, timeout: float) -> None:
        self._broker_url = broker_url
        self._queue_prefix = queue_prefix
        self._timeout = timeout
        self._start_fresh()

    def _start_fresh(self) -> None:
        self._pid = os.getpid()
        self._backlog: deque[Wake] = deque(maxlen=BACKLOG_LIMIT)
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._something = threading.Event()
        self._hurry = threading.Event()
        self._busy = False
        self._closed = False
        self._app = publishing_app(self._broker_url, self._timeout)
        self._warned = False

    def wake(self, stage: Stage, turn_id: str) -> None:
        """Have a task published soon; returns at once."""
        if self._pid != os.getpid():
            self._start_fresh()
        self._backlog.append((stage, turn_id))
        if not self._something.is_set():
            self._something.set()
        if self._thread is None:
            self._start_thread()

    def warm_up(self) -> None:
        """Connect now rather than with the first turn.

        Raises:
            BrokerUnavailable: the broker cannot be reached.
        """
        from kombu.exceptions import OperationalError

        try:
            with self._app.producer_pool.acquire(block=True) as producer:
                connection: Any = producer.connection  # celery-types wants whole seconds
                connection.ensure_connection(max_retries=1, timeout=self._timeout)
        except OperationalError as error:
            raise BrokerUnavailable(f"the broker cannot be reached ({type(error).__name__})") from None

    def close(self, timeout: float) -> bool:
        """Publish what waits, for at most `timeout` seconds; False if something was left to the sweeper."""
        if self._thread is None or self._pid != os.getpid():
            return True
        self._hurry.set()
        self._something.set()
        deadline = time.monotonic() + timeout
        while (left := bool(self._backlog) or self._busy) and time.monotonic() < deadline:
            time.sleep(0.002)
        self._closed = True
        self._something.set()
        self._app.close()
        return not left

    def _start_thread(self) -> None:
        with self._starting:
            if self._thread is not None:
                return
            thread = threading.Thread(target=self._run, name="afterturn-publisher", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the process has as many threads as it may; the next wake-up tries again
                logger.warning("afterturn.publish_failed: no thread could be started; the sweeper takes over")
                return
            self._thread = thread

    def _run(self) -> None:
        while not self._closed:
            self._something.wait()
            self._busy = True
            wakes = self._take()
            began = time.monotonic()
            published = not wakes or self._publish(wakes)
            self._busy = False
            if wakes:
                self._hurry.wait((time.monotonic() - began) * REST if published else OUTAGE_PAUSE)

    def _take(self) -> list[Wake]:
        wakes: list[Wake] = []
        while self._backlog and len(wakes) < BATCH:
            wakes.append(self._backlog.popleft())
        if not wakes:
            # cleared before looking again: a wake-up that comes in between sets it again
            self._something.clear()
            if self._backlog:
                self._something.set()
        return wakes

    def _publish(self, wakes: list[Wake]) -> bool:
        try:
            publish_wakes(self._app, self._queue_prefix, wakes)
        except Exception as error:  # noqa: BLE001 - whatever a transport raises, the thread must live on
            level = logging.DEBUG if self._warned else logging.WARNING
            logger.log(
                level,
                "afterturn.publish_failed: %s; the workers' sweeper takes over",
                type(error).__name__,
                extra={"action": "publish_failed", "count": len(wakes)},
            )
            self._warned = True
            return False
        self._warned = False
        return True
