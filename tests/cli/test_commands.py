"""The `afterturn` command around its subcommands."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from afterturn import Scope, Turn
from afterturn.cli import OWN_COMMANDS, main
from afterturn.queues import Queue
from afterturn_worker.embedded import EmbeddedStore
from tests.support.pipeline import Pipeline

Run = Callable[..., Result]
SCOPE = Scope("t", "u")


@pytest.fixture
def pipeline(store: EmbeddedStore, prefix: str, tmp_path: Path) -> Iterator[Pipeline]:
    with Pipeline(store.url, prefix, tmp_path, {"EMBEDDER": "none"}) as made:
        yield made


@pytest.fixture
def run(pipeline: Pipeline) -> Run:
    def invoke(*arguments: str) -> Result:
        return CliRunner(env=pipeline.environment).invoke(main, arguments)

    return invoke


def test_help_lists_own_and_installed_commands(run: Run) -> None:
    output = run("--help").stdout
    for name in ("import", "recall", "status", "worker", "up", "flower"):
        assert f"\n  {name} " in output


@pytest.mark.parametrize("name", ["import", "recall", "status", "worker", "up", "flower"])
def test_each_command_explains_itself(run: Run, name: str) -> None:
    result = run(name, "--help")
    assert result.exit_code == 0
    assert result.stdout.startswith("Usage:")


def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "afterturn", "--version"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.startswith("afterturn, version ")


def test_asking_for_help_loads_no_model_and_no_celery() -> None:
    code = (
        "import sys; from click.testing import CliRunner; from afterturn.cli import main; "
        "assert CliRunner().invoke(main, ['--help']).exit_code == 0; "
        "print([name for name in ('torch', 'celery', 'redis', 'pydantic', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_command_whose_package_is_missing_says_so_and_the_others_work(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(
        OWN_COMMANDS, "broken", EntryPoint("broken", "no_such_package:command", "afterturn.commands")
    )
    assert "no_such_package" in run("--help").stdout
    result = run("broken", "--some-option", "value")
    assert result.exit_code == 1
    assert "broken can't run: No module named 'no_such_package'" in result.stderr


def test_an_entry_point_that_is_no_command_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OWN_COMMANDS, "odd", EntryPoint("odd", "json:dumps", "afterturn.commands"))
    assert "is not a click command" in run("odd").stderr


def test_a_wrong_setting_ends_with_its_name_and_code_2(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERTURN_TOP_K", "many")
    result = run("recall", "--thread", "t", "anything")
    assert result.exit_code == 2
    assert "top_k (AFTERTURN_TOP_K)" in result.stderr
    assert "Traceback" not in result.output


def test_an_unknown_turn_ends_with_a_message_and_code_1(run: Run) -> None:
    result = run("status", "nobody")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: no turn nobody is known")


def test_status_shows_where_a_turn_is(run: Run, pipeline: Pipeline) -> None:
    with pipeline.memory() as memory:
        turn_id = memory.save(SCOPE, Turn(user="Hi")).turn_id
        assert run("status", turn_id).stdout.startswith(f"{turn_id}  queued\n")
        pipeline.start(Queue.EMBED, Queue.EXTRACT)
        stored = json.loads(run("status", turn_id, "--wait", "30", "--json").stdout)
    assert stored["state"] == "stored"
    assert next(iter(stored["times"])) == "queued"


def test_recall_shows_what_helps_and_nothing_of_another_scope(run: Run, pipeline: Pipeline) -> None:
    with pipeline.memory() as memory:
        memory.save(SCOPE, Turn(user="My sister lives in [Lisbon]."))
    found = run("recall", "--thread", "t", "--user", "u", "where does my sister live?")
    assert "My sister lives in [Lisbon]." in found.stdout
    assert "nothing remembered" in run("recall", "--thread", "t", "--user", "x", "my sister?").stdout


def test_recall_can_answer_in_json(run: Run, pipeline: Pipeline) -> None:
    with pipeline.memory() as memory:
        memory.save(SCOPE, Turn(user="My sister lives in Lisbon."))
    found = json.loads(run("recall", "--thread", "t", "--user", "u", "--json", "my sister").stdout)
    assert [fragment["text"] for fragment in found["fragments"]] == ["My sister lives in Lisbon."]
    assert found["fragments"][0]["pending"] is True
    assert found["system_prompt"]


def test_every_command_is_a_click_command() -> None:
    context = click.Context(main)
    assert all(
        isinstance(main.get_command(context, name), click.Command) for name in main.list_commands(context)
    )
