"""Names that clients and workers share: queues and tasks."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Queue(StrEnum):
    """The queues; each has workers of its own."""

    EMBED = "embed"
    """Bound by the CPU or GPU."""
    EXTRACT = "extract"
    """Waits for a language model."""
    DELIVER = "deliver"
    """Waits for a vendor's server."""
    MAINTAIN = "maintain"
    """Sweeps and repairs."""


EMBED_TASK: Final = "afterturn.embed"
EXTRACT_TASK: Final = "afterturn.extract"
DELIVER_TASK: Final = "afterturn.deliver"
SWEEP_TASK: Final = "afterturn.sweep"


def queue_name(queue_prefix: str, queue: Queue) -> str:
    """The broker's name of a queue, such as `afterturn.embed`."""
    return f"{queue_prefix}.{queue}" if queue_prefix else queue.value
