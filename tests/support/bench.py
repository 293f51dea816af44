"""A pipeline whose steps a test runs by hand, against a real Valkey, without Celery."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import redis

from afterturn import Scope, Turn, TurnStatus
from afterturn.adapters.redis import RedisAdapter
from afterturn.ids import new_turn_id
from afterturn.journal.client import Journal
from afterturn.journal.stages import Stage
from afterturn.publish import Wake
from afterturn_tasks.deliver import deliver_turn
from afterturn_tasks.embed import embed_turns
from afterturn_tasks.extract import extract_facts
from afterturn_tasks.work import Work

SCOPE = Scope("t1", user_id="alice")
SAID_AT = datetime(2026, 5, 4, tzinfo=UTC)


@dataclass
class Bench:
    """A pipeline whose steps a test runs by hand."""

    work: Work
    journal: Journal
    adapter: RedisAdapter
    client: redis.Redis
    wakes: list[Wake] = field(default_factory=list)

    def accept(
        self, user: str = "I moved to Lisbon", *, stage: Stage = Stage.EMBED, scope: Scope = SCOPE
    ) -> str:
        turn_id = new_turn_id()
        turn = Turn(user=user, assistant="Noted", at=SAID_AT)
        self.journal.accept(turn_id, scope, turn, stage)
        return turn_id

    def embed(self, turn_id: str = "") -> str:
        return embed_turns(self.work, turn_id, "task-embed")

    def extract(self, turn_id: str = "") -> str:
        return extract_facts(self.work, turn_id, "task-extract")

    def deliver(self, turn_id: str = "") -> str:
        return deliver_turn(self.work, turn_id, "task-deliver")

    def status(self, turn_id: str) -> TurnStatus:
        return self.journal.status(turn_id)

    def texts(self, scope: Scope = SCOPE) -> list[str]:
        return sorted(fact.text for fact in self.adapter.list_facts(scope))

    def with_parts(self, **parts: Any) -> Bench:
        return replace(self, work=replace(self.work, **parts))
