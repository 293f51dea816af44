"""The sweeper outlives its broker."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from afterturn import Scope, Turn, load_settings
from afterturn.ids import new_turn_id
from afterturn.journal.client import Journal
from afterturn.journal.stages import Stage
from afterturn.journal.work import WorkJournal
from afterturn.model import revised_turn
from afterturn.publish import publishing_app
from afterturn_worker.embedded import EmbeddedStore
from afterturn_worker.sweeper import Sweeper
from tests.support.bench import SAID_AT
from tests.support.waiting import wait_until


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[EmbeddedStore]:
    server = EmbeddedStore(tmp_path / "broker")
    server.start()
    yield server
    server.stop()


def test_a_broker_that_is_away_for_a_while_does_not_end_the_sweeper(
    store: EmbeddedStore, broker: EmbeddedStore, prefix: str, caplog: pytest.LogCaptureFixture
) -> None:
    settings = load_settings(
        redis_url=store.url,
        broker_url=broker.url,
        prefix=prefix,
        queue_prefix="swept",
        sweep_interval=0.05,
        sweep_grace=0.01,
    )
    client = redis.Redis.from_url(store.url, decode_responses=True)
    app = publishing_app(broker.url, timeout=0.5)
    sweeper = Sweeper(app, settings, WorkJournal(client, prefix, status_ttl=60))
    broker.stop()
    Journal(client, prefix).accept(
        new_turn_id(), Scope("t"), revised_turn(Turn(user="hello"), at=SAID_AT), Stage.EMBED
    )
    with caplog.at_level(logging.WARNING, logger="afterturn"):
        sweeper.start()
        wait_until(lambda: "afterturn.sweep_failed" in caplog.text, what="the sweep failing")
    broker.start()
    with redis.Redis.from_url(broker.url) as queue:
        wait_until(lambda: queue.llen("swept.embed") == 1, what="a message for the overdue turn")
    sweeper.stop()
    app.close()
    client.close()
