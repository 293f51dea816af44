"""`afterturn import` against a real store, and real workers where turns must get stored."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from afterturn import Memory, Scope, load_settings
from afterturn.cli import main
from afterturn.cli.import_turns import WINDOW, Outcome, accept_all, wait_for_all
from afterturn.errors import StoreUnavailable, WaitTimeout
from afterturn.history import read_history
from afterturn.queues import Queue
from afterturn_worker.embedded import EmbeddedStore
from tests.support.pipeline import Pipeline

Run = Callable[..., Result]
EXCHANGE = {"thread_id": "t", "user_id": "u", "user": "My name is Ann.", "assistant": "Hello!"}


@pytest.fixture
def pipeline(store: EmbeddedStore, prefix: str, tmp_path: Path) -> Iterator[Pipeline]:
    with Pipeline(store.url, prefix, tmp_path / "workers", {"EMBEDDER": "none"}) as made:
        yield made


@pytest.fixture
def run(pipeline: Pipeline) -> Run:
    """Runs the command with the pipeline's settings."""

    def invoke(*arguments: str, given: bytes | None = None) -> Result:
        return CliRunner(env=pipeline.environment).invoke(main, arguments, input=given)

    return invoke


def lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def exchanges(count: int) -> bytes:
    return lines(*({**EXCHANGE, "user": f"Message {number}"} for number in range(count)))


def test_turns_of_a_file_are_stored_and_again_changes_nothing(
    run: Run, pipeline: Pipeline, tmp_path: Path
) -> None:
    pipeline.start(Queue.EMBED, Queue.EXTRACT)
    messages = [{"role": "user", "content": "I love jazz."}, {"role": "assistant", "content": "Nice."}]
    file = tmp_path / "history.jsonl"
    file.write_bytes(
        lines(
            {**EXCHANGE, "metadata": {"ref": 7}},
            EXCHANGE,
            EXCHANGE,
            {"thread_id": "m", "user_id": "u", "messages": messages},
        )
    )
    first = run("import", str(file))
    assert first.exit_code == 0, first.output
    assert "4 turns accepted" in first.stdout
    assert "4 stored" in first.stdout

    with pipeline.memory() as memory:
        before = {thread: memory.list_facts(Scope(thread, "u")) for thread in ("t", "m")}
        # the same exchange three times, told apart by where it stands in the file
        assert sum(fact.text == "My name is Ann." for fact in before["t"]) == 3
        second = run("import", str(file))
        assert second.exit_code == 0
        assert "4 of them stored before" in second.stdout
        assert {thread: memory.list_facts(Scope(thread, "u")) for thread in ("t", "m")} == before


def test_bad_lines_are_told_by_number_and_reason_and_the_rest_goes_on(run: Run) -> None:
    given = (
        lines(EXCHANGE, {**EXCHANGE, "thread_id": ""})
        + b"PINEAPPLE\n"
        + lines({**EXCHANGE, "user": ["PINEAPPLE"]})
    )
    result = run("import", "--no-wait", "-", given=given)
    assert result.exit_code == 1
    assert "1 turns accepted" in result.stdout
    assert "3 bad lines" in result.stdout
    assert [line for line in result.stderr.splitlines() if line.startswith("line ")] == [
        "line 2: thread_id is empty: give the id of the conversation",
        "line 3: is not JSON (from column 1)",
        "line 4: user must be a string, not list",
    ]
    assert "PINEAPPLE" not in result.output


def test_a_file_without_turns_is_no_failure(run: Run) -> None:
    result = run("import", "-", given=b"")
    assert result.exit_code == 0
    assert "0 turns accepted" in result.stdout


def test_the_rate_is_told(run: Run) -> None:
    result = run("import", "--no-wait", "-", given=exchanges(20))
    assert re.search(r"20 turns accepted in \d+\.\d s \(\d+ a second\)", result.stdout)


def test_a_missing_file_is_a_wrong_use(run: Run) -> None:
    result = run("import", "nowhere.jsonl")
    assert result.exit_code == 2
    assert "nowhere.jsonl" in result.stderr


def test_waiting_without_workers_ends_with_what_to_do(run: Run) -> None:
    result = run("import", "--idle-timeout", "0.3", "-", given=exchanges(3))
    assert result.exit_code == 1
    assert "3 turns are accepted and not stored yet" in result.stderr
    assert "afterturn up" in result.stderr


def test_an_interrupted_import_is_taken_up_by_importing_again(run: Run, pipeline: Pipeline) -> None:
    half = run("import", "--no-wait", "-", given=exchanges(5))
    assert half.exit_code == 0
    pipeline.start(Queue.EMBED, Queue.EXTRACT)
    whole = run("import", "-", given=exchanges(10))
    assert "10 stored" in whole.stdout
    with pipeline.memory() as memory:
        said = [fact.text for fact in memory.list_facts(Scope("t", "u")) if fact.source == "user"]
    assert sorted(said) == sorted(f"Message {number}" for number in range(10))


def test_a_refused_turn_is_tried_again_until_the_store_is_back(tmp_path: Path, prefix: str) -> None:
    store = EmbeddedStore(tmp_path)
    refusals: list[str] = []

    def start_store(reason: str) -> None:
        refusals.append(reason)
        store.start()

    outcome = Outcome()
    settings = load_settings(redis_url=store.url, prefix=prefix, embedder="none", save_timeout=2)
    try:
        with Memory(settings) as memory:
            accept_all(memory, read_history(io.BytesIO(exchanges(3))), outcome, on_refusal=start_store)
    finally:
        store.stop()
    assert len(outcome.turn_ids) == 3
    assert len(refusals) == 1
    assert refusals[0].startswith("StoreUnavailable")


def test_an_import_that_is_refused_for_too_long_gives_up_and_names_the_line(
    prefix: str, tmp_path: Path
) -> None:
    away = EmbeddedStore(tmp_path)  # never started
    outcome = Outcome()
    settings = load_settings(redis_url=away.url, prefix=prefix, embedder="none")
    with Memory(settings) as memory, pytest.raises(StoreUnavailable, match=r"line 1 was refused for 0\.2 s"):
        accept_all(memory, read_history(io.BytesIO(exchanges(3))), outcome, refusal_timeout=0.2)
    assert outcome.turn_ids == []


def test_turns_that_end_late_hold_up_no_others(pipeline: Pipeline) -> None:
    """More turns than one round asks for, the oldest of which never end."""
    outcome = Outcome()
    with pipeline.memory() as memory:
        accept_all(memory, read_history(io.BytesIO(exchanges(WINDOW + 3))), outcome)
        ended: list[int] = []
        # what is not known any more has ended: only a finished turn's status expires
        outcome.turn_ids += [f"gone-{number}" for number in range(60)]
        with pytest.raises(WaitTimeout, match=f"{WINDOW + 3} turns are accepted"):
            wait_for_all(memory, outcome, on_ended=ended.append, idle_timeout=1)
    assert sum(ended) == sum(outcome.ended.values()) == 60
