"""Celery's settings for our workers, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from afterturn.queues import Queue

if TYPE_CHECKING:
    from afterturn.settings import Settings


@dataclass(frozen=True, slots=True)
class Pool:
    """How a queue's worker runs its tasks.

    Attributes:
        kind: Celery's pool. `prefork` shares the model's memory between children and survives a native crash;
            `threads` fits what waits for a network.
        concurrency: default number of children or threads.
    """

    kind: str
    concurrency: int


POOLS: Final[dict[Queue, Pool]] = {
    # one child: the model uses all cores by itself, and a batch is better than two halves
    Queue.EMBED: Pool("prefork", 1),
    Queue.EXTRACT: Pool("threads", 8),
    Queue.DELIVER: Pool("threads", 8),
    Queue.MAINTAIN: Pool("threads", 1),
}

MODEL_LOAD_LIMIT: Final = 120.0
"""Seconds that a child may take to come up; Celery kills it after four by default, again and again."""


def celery_config(settings: Settings) -> dict[str, Any]:
    """Settings of the worker's Celery app."""
    return {
        # a task that was taken by a process that died comes back; the journal makes doing it twice harmless
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        # what waits in a worker's memory can't be taken by another
        "worker_prefetch_multiplier": 1,
        "worker_proc_alive_timeout": MODEL_LOAD_LIMIT,
        # longer than any task; the journal's leases bring a dead worker's turns back long before
        "broker_transport_options": {
            "visibility_timeout": 3600,
            "unacked_restore_interval": 5,
            "unacked_restore_throttle": 1,
        },
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        # with True, tasks that run when Redis is away are killed and stay unacknowledged
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "task_ignore_result": True,
        "task_serializer": "json",
        "accept_content": ["json"],
        "result_accept_content": ["json"],
        "task_send_sent_event": False,
        "worker_send_task_events": True,
        "event_queue_ttl": 60,
        "timezone": "UTC",
        "task_default_queue": f"{settings.queue_prefix}.maintain",
    }
