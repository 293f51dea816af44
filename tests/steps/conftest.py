"""Steps run in this process, against a real Valkey, without Celery."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest
import redis
from afterturn_tasks.deliver import deliver_turn
from afterturn_tasks.embed import embed_turns
from afterturn_tasks.extract import extract_facts
from afterturn_tasks.work import Work
from afterturn_worker.embedded import EmbeddedStore

from afterturn import Scope, Turn, TurnStatus
from afterturn.adapters.redis import RedisAdapter
from afterturn.ids import new_turn_id
from afterturn.journal.client import Journal
from afterturn.journal.stages import Stage
from afterturn.journal.work import WorkJournal
from afterturn.publish import Wake
from afterturn.settings import load_settings
from tests.support.fakes import CountingEmbedder

SCOPE = Scope("t1", user_id="alice")


@dataclass
class Bench:
    """A pipeline whose steps a test runs by hand."""

    work: Work
    journal: Journal
    adapter: RedisAdapter
    client: redis.Redis
    wakes: list[Wake] = field(default_factory=list)

    def accept(self, user: str = "I moved to Lisbon", *, stage: Stage = Stage.EMBED, scope: Scope = SCOPE) -> str:
        turn_id = new_turn_id()
        turn = Turn(user=user, assistant="Noted", at=datetime(2026, 5, 4, tzinfo=UTC))
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


@pytest.fixture
def build_bench(store: EmbeddedStore, prefix: str) -> Iterator[Callable[..., Bench]]:
    """Makes a bench; settings as keywords, parts by `Bench.with_parts`."""
    client = redis.Redis.from_url(store.url, decode_responses=True)
    adapters: list[RedisAdapter] = []

    def build(**options: Any) -> Bench:
        settings = load_settings(redis_url=store.url, prefix=prefix, **{"retry_delay": 0.01, **options})
        adapter = RedisAdapter.for_worker(settings)
        adapters.append(adapter)
        wakes: list[Wake] = []

        def wake(more: Sequence[Wake]) -> None:
            wakes.extend(more)

        work = Work(
            settings=settings,
            journal=WorkJournal(client, prefix, status_ttl=60),
            adapter=adapter,
            embedder=CountingEmbedder(),
            extractor=None,
            wake=wake,
        )
        return Bench(work, Journal(client, prefix), adapter, client, wakes)

    yield build
    for adapter in adapters:
        adapter.close()
    client.close()


@pytest.fixture
def bench(build_bench: Callable[..., Bench]) -> Bench:
    """A bench with default settings, no extractor."""
    return build_bench()
