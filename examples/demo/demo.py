"""The main job on a small conversation: save, let the workers work, recall.

Run: make demo, or python examples/demo/demo.py [--keep]

Starts what `afterturn up` starts (an embedded store, a worker for each queue, Flower) in a temporary folder, feeds two
people's conversations, asks ten questions, and shows what came back, the facts found and the times.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import click
from conversation import Question, Said, read_conversation, read_questions
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from afterturn import Fragment, Memory, MemoryKind, Scope, Turn, TurnState, load_settings
from afterturn_worker.stack import DevStack, StackOptions
from afterturn_worker.up import signals_interrupt

FOUND_GOAL = 8
FACTS_GOAL = 10
STORE_TIMEOUT = 120.0


@dataclass
class Figures:
    """What was measured, in seconds."""

    saves: list[float] = field(default_factory=list)
    recalls: list[float] = field(default_factory=list)
    until_recallable: list[float] = field(default_factory=list)


@click.command()
@click.option("--keep", is_flag=True, help="Leave everything running until Ctrl-C.")
def main(keep: bool) -> None:
    """Run the demo; exit code 1 if fewer than 8 of 10 answers or 10 facts were found."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 100)
    with tempfile.TemporaryDirectory(prefix="afterturn-demo-") as folder, signals_interrupt():
        try:
            good = run(console, Path(folder), keep=keep)
        except KeyboardInterrupt:
            console.print("stopped; nothing is left running")
            good = True
    sys.exit(0 if good else 1)


def run(console: Console, folder: Path, *, keep: bool) -> bool:
    """The demo between the stack's start and its end."""
    console.rule("[bold]1. starting the stack")
    with DevStack(StackOptions(data_dir=folder)) as stack:
        stack.start(lambda line: console.print(line, style="dim", soft_wrap=True))
        settings = load_settings(redis_url=stack.redis_url, save_timeout=1, recall_timeout=2)
        with Memory(settings) as memory:
            console.print("loading the model for queries in this process, too", style="dim")
            memory.warm_up()
            good = show(console, memory)
        console.print(f"\nFlower, with the workers and tasks: {stack.flower_url}")
        if keep:
            console.print(f"In another shell: export AFTERTURN_REDIS_URL={stack.redis_url}", soft_wrap=True)
            console.print("Ctrl-C stops it all.")
            while True:
                time.sleep(1)
    return good


def show(console: Console, memory: Memory) -> bool:
    """Feed, ask, and print; whether enough was found."""
    said, questions, figures = read_conversation(), read_questions(), Figures()
    console.rule("[bold]2. two people talk, and every turn is saved")
    feed(console, memory, said, figures)
    console.rule("[bold]3. ten questions, each in its own thread")
    found = ask(console, memory, questions, figures)
    console.rule("[bold]4. facts extracted from the turns (by rules: no language model is configured)")
    facts = print_facts(console, memory, said)
    console.rule("[bold]5. your own words, at once")
    print_pending(console, memory, said[-1].scope)
    console.rule("[bold]6. figures")
    print_figures(console, figures, found, len(questions), facts)
    return found >= FOUND_GOAL and facts >= FACTS_GOAL


def feed(console: Console, memory: Memory, said: list[Said], figures: Figures) -> None:
    """Save every turn, then wait until each is stored."""
    columns = (TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        saving = progress.add_task("saved", total=len(said))
        storing = progress.add_task("stored", total=len(said))
        ids = []
        for one in said:
            began = time.perf_counter()
            ids.append(memory.save(one.scope, one.turn).turn_id)
            figures.saves.append(time.perf_counter() - began)
            progress.advance(saving)
        for turn_id in ids:
            times = memory.wait(turn_id, timeout=STORE_TIMEOUT).times
            recallable = times.get(TurnState.EXTRACTING) or times[TurnState.STORED]
            figures.until_recallable.append((recallable - times[TurnState.QUEUED]).total_seconds())
            progress.advance(storing)


def ask(console: Console, memory: Memory, questions: list[Question], figures: Figures) -> int:
    """Print each question with the best of what came back; the number of answers found."""
    found = 0
    for question in questions:
        began = time.perf_counter()
        fragments = memory.recall(question.scope, question.text).fragments or ()
        figures.recalls.append(time.perf_counter() - began)
        place = place_of(question.expected, fragments)
        found += place is not None
        console.print(f"\n[bold]{question.scope.user_id}: {question.text}[/bold]")
        console.print(f"  found at place {place}" if place else f"  [red]not found: {question.expected}")
        for number, fragment in enumerate(fragments[: max(2, place or 0)], start=1):
            mark = ">" if number == place else " "
            console.print(f"  {mark} {fragment.score:.2f}  {fragment.text}", markup=False)
    return found


def place_of(expected: str, fragments: tuple[Fragment, ...]) -> int | None:
    """Where the expected words stand among the fragments, from 1; None if nowhere."""
    return next(
        (n for n, fragment in enumerate(fragments, start=1) if expected.lower() in fragment.text.lower()),
        None,
    )


def print_facts(console: Console, memory: Memory, said: list[Said]) -> int:
    """Print what was extracted for each person; the number of facts."""
    total = 0
    messages = {MemoryKind.MESSAGE.value, "user", "assistant"}
    for scope in dict.fromkeys(one.scope for one in said):
        facts = [fact for fact in memory.list_facts(scope) if fact.source not in messages]
        total += len(facts)
        console.print(f"\n[bold]{scope.user_id}[/bold]")
        for fact in facts:
            console.print(f"  {fact.source:<10} {fact.text}", markup=False)
    console.print(
        "\nMarta changed her mind about fish: today both statements are kept. Facts that replace each other\n"
        "come with a later version.",
        style="dim",
    )
    return total


def print_pending(console: Console, memory: Memory, scope: Scope) -> None:
    """Save one more turn and recall it in the next moment."""
    memory.save(
        scope, Turn(user="We booked a cabin by the lake for the first week of May.", assistant="Lovely!")
    )
    fragments = memory.recall(scope, "What did we book, a cabin by the lake?").fragments or ()
    place = place_of("cabin by the lake", fragments)
    if place is None:
        console.print("[red]not found")
        return
    state = "pending: no worker has embedded it yet" if fragments[place - 1].pending else "already embedded"
    console.print(f"saved, and recalled in the next call ({state}):")
    console.print(f"  > {fragments[place - 1].score:.2f}  {fragments[place - 1].text}", markup=False)


def print_figures(console: Console, figures: Figures, found: int, asked: int, facts: int) -> None:
    """The summary."""
    table = Table(show_header=False, box=None)
    table.add_row("answers found", f"{found} of {asked}")
    table.add_row("facts extracted", str(facts))
    for name, seconds in (
        ("save, median", figures.saves),
        ("recall with embedding the question, median", figures.recalls),
        ("save until recallable by meaning, median", figures.until_recallable),
    ):
        table.add_row(name, f"{statistics.median(seconds) * 1000:.1f} ms")
    console.print(table)


if __name__ == "__main__":
    main()
