"""Steps run in this process, against a real Valkey, without Celery."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
import redis

from afterturn.adapters.redis import RedisAdapter
from afterturn.journal.client import Journal
from afterturn.journal.work import WorkJournal
from afterturn.publish import Wake
from afterturn.settings import load_settings
from afterturn_tasks.work import Work
from afterturn_worker.embedded import EmbeddedStore
from tests.support.bench import Bench
from tests.support.fakes import CountingEmbedder


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
