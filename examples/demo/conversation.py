"""The demo's conversation and questions, read from the files beside this one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from afterturn import Scope, Turn

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Said:
    """One exchange and whose it is."""

    scope: Scope
    turn: Turn


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and a piece of what should come back."""

    scope: Scope
    text: str
    expected: str


def read_conversation(now: datetime | None = None) -> list[Said]:
    """All exchanges, oldest first; their times count back from `now` (default: the clock)."""
    moment = now or datetime.now(UTC)
    said = [
        Said(
            _scope(row),
            Turn(row["user"], row["assistant"], at=moment - timedelta(minutes=row["minutes_ago"])),
        )
        for row in _rows("conversation.jsonl")
    ]
    return sorted(said, key=lambda one: one.turn.at or moment)


def read_questions() -> list[Question]:
    """All questions."""
    return [Question(_scope(row), row["question"], row["expected"]) for row in _rows("questions.jsonl")]


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def _scope(row: dict[str, Any]) -> Scope:
    return Scope(row["thread_id"], user_id=row["user_id"])
