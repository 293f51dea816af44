"""`afterturn import`."""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from typing import BinaryIO

    from rich.console import Console
    from rich.progress import Progress

    from afterturn.cli.import_turns import Outcome
    from afterturn.history.reader import Imported
    from afterturn.memory import Memory

BAD_SHOWN = 50
"""Bad lines that are listed; more are counted."""


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--wait/--no-wait", default=True, show_default=True, help="Wait until all turns are stored.")
@click.option(
    "--idle-timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=300.0,
    show_default=True,
    help="Give up waiting when no turn was stored for so many seconds.",
)
def command(file: Path, wait: bool, idle_timeout: float) -> None:
    """Remember the conversations of FILE (- reads standard input).

    One JSON object a line: {"thread_id", "user_id", "tenant_id"?, "user", "assistant", "at"?, "metadata"?}, or
    {"thread_id", "user_id", "messages": [{"role", "content"}]}; or one JSON array of such objects. "at" is an ISO
    8601 time with a time zone.

    Bad lines are reported, and the rest goes on. Importing a file again changes nothing, so after an interruption
    start it again. Exit code 1: there were bad lines, or turns that failed.
    """
    from rich.console import Console

    from afterturn.cli.import_turns import Outcome
    from afterturn.memory import Memory
    from afterturn.settings import load_settings

    console = Console(stderr=True, highlight=False)
    outcome = Outcome()
    # nothing is recalled here, and a slow write is better than a refused one
    settings = load_settings(embedder="none", save_timeout=5.0)
    try:
        with Memory(settings) as memory, _opened(file) as stream:
            _accept(memory, stream, outcome, console)
            if wait:
                _wait(memory, outcome, idle_timeout, console)
    finally:
        _summarise(outcome, waited=wait, console=console)
    if not outcome.flawless:
        sys.exit(1)


def _opened(file: Path) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if str(file) == "-" else file.open("rb")


def _accept(memory: Memory, stream: BinaryIO, outcome: Outcome, console: Console) -> None:
    from afterturn.cli.import_turns import accept_all
    from afterturn.history import read_history

    size = _size(stream)
    with _progress(console) as progress:
        task = progress.add_task("accepted", total=size, count=0)

        def tell(_: Imported) -> None:
            done = stream.tell() if size else None
            progress.update(task, completed=done, count=len(outcome.turn_ids))

        accept_all(
            memory,
            read_history(stream),
            outcome,
            on_item=tell,
            on_refusal=lambda reason: console.print(f"refused ({reason}); trying again"),
        )
        progress.update(task, total=size or 1, completed=size or 1)


def _size(stream: BinaryIO) -> int | None:
    """Bytes of a file; None for a pipe."""
    if not stream.seekable():
        return None
    start = stream.tell()
    size = stream.seek(0, 2)
    stream.seek(start)
    return size


def _wait(memory: Memory, outcome: Outcome, idle_timeout: float, console: Console) -> None:
    from afterturn.cli.import_turns import wait_for_all

    with _progress(console) as progress:
        task = progress.add_task("stored", total=len(outcome.turn_ids), count=0)

        def tell(ended: int) -> None:
            progress.update(task, advance=ended, count=sum(outcome.ended.values()))

        wait_for_all(memory, outcome, on_ended=tell, idle_timeout=idle_timeout)


@contextmanager
def _progress(console: Console) -> Iterator[Progress]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description:<8}"),
        BarColumn(),
        TextColumn("{task.fields[count]:>7} turns"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        yield progress


def _summarise(outcome: Outcome, *, waited: bool, console: Console) -> None:
    from rich.markup import escape

    for bad in outcome.bad[:BAD_SHOWN]:
        console.print(f"{bad.place}: {escape(bad.reason)}", soft_wrap=True)
    if len(outcome.bad) > BAD_SHOWN:
        console.print(f"... and {len(outcome.bad) - BAD_SHOWN} more that could not be read")
    for turn_id, error in outcome.dead[:BAD_SHOWN]:
        console.print(f"turn {turn_id} was given up: {escape(error)}", soft_wrap=True)
    click.echo(summary(outcome, waited=waited))


def summary(outcome: Outcome, *, waited: bool) -> str:
    """What became of the file, in a line or two."""
    count = len(outcome.turn_ids)
    lines = [f"{count} turns accepted{_rate(count, outcome.accept_seconds)}"]
    if outcome.already:
        lines[0] += f", {outcome.already} of them stored before"
    if outcome.bad:
        lines[0] += f"; {len(outcome.bad)} bad lines"
    if waited:
        states = ", ".join(f"{number} {state}" for state, number in outcome.ended.most_common())
        lines.append(f"{states or '0 stored'}{_rate(sum(outcome.ended.values()), outcome.store_seconds)}")
    return "\n".join(lines)


def _rate(count: int, seconds: float) -> str:
    return f" in {seconds:.1f} s ({count / seconds:.0f} a second)" if count and seconds > 0 else ""
