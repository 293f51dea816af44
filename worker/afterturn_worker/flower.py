"""Flower over our queues, closed where it is not on loopback."""

from __future__ import annotations

import ipaddress
import os
from typing import TYPE_CHECKING, Final

from afterturn.errors import MissingExtra, SettingsError
from afterturn.queues import Queue, queue_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from celery import Celery

    from afterturn.settings import Settings

MAX_TASKS: Final = 5000
"""Tasks that Flower keeps in memory; its own default is 100,000."""
PURGE_AFTER: Final = 300
"""Seconds after which a worker that is gone leaves Flower's list."""
INSPECT_TIMEOUT: Final = 3000
"""Milliseconds in which workers may answer Flower."""


def run_flower(settings: Settings, address: str, port: int, *, read_only: bool = True) -> None:
    """Run Flower until it is told to stop.

    Args:
        read_only: no operations on workers and tasks, where the installed Flower knows that.

    Raises:
        MissingExtra: Flower is not installed.
        SettingsError: it would be open to others without a password.
    """
    check_installed()
    check_access(address, os.environ)
    if not os.environ.get("FLOWER_BASIC_AUTH", "x").strip():
        del os.environ["FLOWER_BASIC_AUTH"]  # Flower would ask for a password that nobody can give
    flower_app(settings).start(flower_arguments(address, port, read_only=read_only))


def check_installed() -> None:
    """Raise `MissingExtra` where Flower can't be imported."""
    try:
        import flower  # noqa: F401
    except ImportError as error:
        raise MissingExtra("Flower is not installed: pip install 'afterturn[flower]'") from error


def check_access(address: str, environment: Mapping[str, str]) -> None:
    """Refuse an address that others can reach unless they must log in.

    Raises:
        SettingsError: saying what to set.
    """
    basic = environment.get("FLOWER_BASIC_AUTH", "").strip()
    malformed = [pair for pair in basic.split(",") if not all(pair.partition(":")[::2])]
    if basic and malformed:
        raise SettingsError(
            "FLOWER_BASIC_AUTH is malformed: expected user:password, several separated by commas"
        )
    if is_loopback(address) or basic or environment.get("FLOWER_AUTH", "").strip():
        return
    raise SettingsError(
        f"Flower at {address or 'all addresses'} would be open to everyone who can reach it: "
        "set FLOWER_BASIC_AUTH=user:password, or listen on 127.0.0.1"
    )


def is_loopback(address: str) -> bool:
    """Whether only this machine can reach what listens on `address`."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def flower_app(settings: Settings) -> Celery:
    """A Celery app that knows the broker and our queues, and no tasks."""
    from celery import Celery
    from kombu import Queue as BrokerQueue

    names = [queue_name(settings.queue_prefix, queue) for queue in Queue]
    app = Celery("afterturn-flower", broker=settings.broker)
    app.conf.update(
        # shown while no worker listens to them; afterwards Flower asks the workers
        task_queues=[BrokerQueue(name) for name in names],
        task_default_queue=names[-1],
        accept_content=["json"],
        task_ignore_result=True,
        broker_connection_retry_on_startup=True,
    )
    return app


def flower_arguments(address: str, port: int, *, read_only: bool) -> list[str]:
    """Flower's command line; what stands there wins over `FLOWER_*` variables."""
    from flower.options import default_options

    arguments = [
        "flower",
        f"--address={address}",
        f"--port={port}",
        f"--max_tasks={MAX_TASKS}",
        f"--purge_offline_workers={PURGE_AFTER}",
        f"--inspect_timeout={INSPECT_TIMEOUT}",
    ]
    if read_only and "read_only" in default_options:
        arguments.append("--read_only")
    return arguments
