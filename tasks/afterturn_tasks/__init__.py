"""The Celery tasks of afterturn: the steps that a turn goes through after `save`.

`register(app, work)` adds them to any Celery app.
"""

from __future__ import annotations

from afterturn_tasks.registry import register as register
from afterturn_tasks.work import Work as Work

__all__ = ["Work", "register"]
