"""`afterturn up`: the stack in the foreground of a terminal."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from queue import Empty
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from afterturn.errors import StackFailed
from afterturn_worker.stack import DevStack, safe_url
from afterturn_worker.supervisor import Ended

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from afterturn_worker.stack import StackOptions
    from afterturn_worker.supervisor import Event


def run_up(options: StackOptions) -> None:
    """Start the stack, say where it is, tell of restarts, and stop it on Ctrl-C, SIGTERM or SIGHUP.

    Raises:
        StackFailed: a part did not start; all others have been stopped.
    """
    console = Console(highlight=False)
    with signals_interrupt(), DevStack(options) as stack:
        try:
            stack.start(lambda line: console.print(f"[dim]{line}[/dim]", soft_wrap=True))
            print_addresses(stack, console)
            watch(stack, console)
        except KeyboardInterrupt:
            console.print("stopping (Ctrl-C again: at once)")
    console.print("stopped; nothing is left running")


@contextmanager
def signals_interrupt() -> Iterator[None]:
    """Inside the block SIGTERM and SIGHUP raise KeyboardInterrupt in the main thread, as Ctrl-C does."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    caught = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, interrupt) for number in caught}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def print_addresses(stack: DevStack, console: Console) -> None:
    """A table of what runs where, and what other shells need."""
    table = Table(show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    kind = "yours" if stack.options.redis_url else "embedded"
    table.add_row("store", f"{safe_url(stack.redis_url)} ({kind})")
    table.add_row("workers", ", ".join(stack.options.queues))
    if stack.flower_url:
        note = "" if os.environ.get("FLOWER_BASIC_AUTH", "").strip() else " (no password: loopback only)"
        table.add_row("Flower", f"{stack.flower_url}{note}")
    table.add_row("memory", "in your store" if stack.options.redis_url else str(stack.data_dir.store))
    table.add_row("logs", str(stack.supervisor.log_dir))
    console.print(table)
    if not stack.options.redis_url:
        console.print("In other shells:")
        # unstyled and unwrapped, to be copied
        console.print(f"  export AFTERTURN_REDIS_URL={stack.redis_url}", soft_wrap=True)
    console.print("Ready. Ctrl-C stops it all.")


def watch(stack: DevStack, console: Console) -> None:
    """Tell of what ends and is started again, until interrupted."""
    supervisor = stack.supervisor
    while supervisor.running:
        try:
            event = supervisor.events.get(timeout=1)
        except Empty:
            continue
        console.print(describe(event, supervisor.log_path(event.name)), soft_wrap=True)
    raise StackFailed("the supervisor ended; the traceback above says why")


def describe(event: Event, log: object) -> str:
    """An event of the supervisor as a line."""
    if isinstance(event, Ended):
        return f"{event.name} {event.reason}; starting it again in {event.restart_in:g} s (log: {log})"
    return f"{event.name} runs again, as process {event.pid}"
