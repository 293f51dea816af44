"""What `save` costs a request handler, against Celery's own bare `send_task` of the same turn.

Run: python benchmarks/save.py

Both write to one embedded Valkey, in loops of 2,000 that take turns; between them the publisher's backlog is
waited for. The figures are medians over all calls of a kind; the ratio is what counts, since machines differ.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from celery import Celery
from rich.console import Console
from rich.table import Table

from afterturn import Memory, Scope, Turn, load_settings
from afterturn_worker.embedded import EmbeddedStore

CALLS = 2_000
ROUNDS = 3
TURN = Turn(user="I moved to Lisbon in May, and I still miss the bakery. " * 5, assistant="Noted. " * 30)
SCOPE = Scope("benchmark", user_id="alice")


def timed(call: Callable[[], object]) -> list[float]:
    """Microseconds of each of a loop's calls."""
    took = []
    for _ in range(CALLS):
        began = time.perf_counter_ns()
        call()
        took.append((time.perf_counter_ns() - began) / 1_000)
    return took


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        store = EmbeddedStore(Path(folder))
        store.start()
        try:
            print_figures(*measure(store.url))
        finally:
            store.stop()


def measure(url: str) -> tuple[list[float], list[float], list[float]]:
    """Times of `save`, of `send_task`, and seconds until each loop's wake-ups were published."""
    app = Celery("bare", broker=url, set_as_current=False)
    payload = [TURN.user, TURN.assistant]
    saves: list[float] = []
    sends: list[float] = []
    drained: list[float] = []
    app.send_task("bare.task", args=payload, ignore_result=True)
    for _ in range(ROUNDS):
        with Memory(load_settings(redis_url=url, embedder="none", save_timeout=5)) as memory:
            memory.save(SCOPE, TURN)
            saves += timed(lambda: memory.save(SCOPE, TURN))
            began = time.perf_counter()
            memory.close(timeout=60)
            drained.append(time.perf_counter() - began)
        sends += timed(lambda: app.send_task("bare.task", args=payload, ignore_result=True))
    app.close()
    return saves, sends, drained


def print_figures(saves: list[float], sends: list[float], drained: list[float]) -> None:
    """A table of both, and their ratio."""
    table = Table("µs a call", "p50", "p90", "p99")
    for name, took in (("memory.save", saves), ("app.send_task", sends)):
        cuts = statistics.quantiles(took, n=100)
        table.add_row(name, f"{statistics.median(took):.0f}", f"{cuts[89]:.0f}", f"{cuts[98]:.0f}")
    console = Console()
    console.print(table)
    ratio = statistics.median(saves) / statistics.median(sends)
    console.print(f"save / send_task: {ratio:.2f} (median; the goal is at most 1)")
    console.print(f"the last wake-up was out {statistics.median(drained):.2f} s after a loop's end")


if __name__ == "__main__":
    main()
