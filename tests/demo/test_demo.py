"""The demo does what it says, and its data is sound."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import psutil
import pytest

from afterturn import Scope, Turn
from afterturn.extraction.rules import extract_by_rules
from tests.support.project import ROOT

DEMO = ROOT / "examples" / "demo"
NOW = datetime(2026, 12, 1, tzinfo=UTC)


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DEMO / name).read_text(encoding="utf-8").splitlines()]


def test_two_people_have_some_twenty_turns_each() -> None:
    counts = Counter((row["thread_id"], row["user_id"]) for row in rows("conversation.jsonl"))
    assert len({user for _, user in counts}) == 2
    assert list(counts.values()) == [20, 20]


@pytest.mark.parametrize("question", rows("questions.jsonl"), ids=lambda row: row["question"])
def test_a_question_expects_what_was_said_in_its_thread_and_does_not_give_it_away(
    question: dict[str, Any],
) -> None:
    expected = question["expected"].lower()
    said = [
        f"{row['user']} {row['assistant']}".lower()
        for row in rows("conversation.jsonl")
        if (row["thread_id"], row["user_id"]) == (question["thread_id"], question["user_id"])
    ]
    assert any(expected in text for text in said)
    assert expected not in question["question"].lower()


def test_the_rules_find_many_facts_in_the_conversation() -> None:
    facts = [
        fact
        for row in rows("conversation.jsonl")
        for fact in extract_by_rules(Turn(row["user"], row["assistant"], at=NOW), Scope(row["thread_id"]))
    ]
    assert len(facts) >= 20


@pytest.mark.timeout(300)
def test_the_demo_ends_well_and_leaves_nothing_running() -> None:
    before = {process.pid for process in psutil.process_iter()}
    done = subprocess.run(
        [sys.executable, str(DEMO / "demo.py")], capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"answers found +(\d+) of 10", done.stdout)
    facts = re.search(r"facts extracted +(\d+)", done.stdout)
    assert found, done.stdout
    assert facts, done.stdout
    assert int(found.group(1)) >= 8
    assert int(facts.group(1)) >= 10
    assert "recalled in the next call" in done.stdout
    left = [
        process.cmdline()
        for process in psutil.process_iter()
        if process.pid not in before and "afterturn" in " ".join(process.cmdline())
    ]
    assert left == []
