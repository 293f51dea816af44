"""When a record in Redis stops being remembered, and what is left of it then."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import redis

from afterturn import ExtractedFact, Record, Scope, Turn
from afterturn.adapters.records import embed_records, fact_records
from afterturn.adapters.redis import RedisAdapter
from afterturn.ids import new_turn_id
from afterturn.keys import ScopeKeys, record_key
from afterturn.model import from_millis, to_millis
from tests.support.vectors import TableEmbedder

SCOPE = Scope("t1", user_id="alice")
MILLISECOND = timedelta(milliseconds=1)


@pytest.fixture
def adapter(store_client: redis.Redis, prefix: str) -> RedisAdapter:
    """An adapter that lets everything through."""
    return RedisAdapter(client=store_client, prefix=prefix, min_score=-1)


@pytest.fixture
def keys(prefix: str) -> ScopeKeys:
    """The scope's keys."""
    return ScopeKeys.of(prefix, SCOPE)


def expiring(at: datetime, text: str = "a heron") -> Record:
    facts = [ExtractedFact(text, expires_at=at)]
    (record,) = embed_records(
        fact_records(new_turn_id(), SCOPE, Turn(user="x"), facts, to_millis(datetime.now(UTC))),
        TableEmbedder(),
    )
    return record


def recalled(adapter: RedisAdapter, now: datetime | None = None) -> list[str]:
    return [fragment.text for fragment in adapter.recall(SCOPE, "heron", now=now).fragments or ()]


def test_a_record_is_live_at_its_expiry_and_not_a_millisecond_later(adapter: RedisAdapter) -> None:
    record = expiring(datetime.now(UTC) + timedelta(hours=1))
    adapter.write(SCOPE, [record])
    assert record.expires_at is not None
    expiry = from_millis(record.expires_at)
    assert recalled(adapter, expiry) == ["a heron"]
    assert recalled(adapter, expiry + MILLISECOND) == []


def test_asking_as_of_a_time_to_come_sweeps_nothing(
    adapter: RedisAdapter, store_client: redis.Redis, keys: ScopeKeys, prefix: str
) -> None:
    record = expiring(datetime.now(UTC) + timedelta(hours=1))
    adapter.write(SCOPE, [record])
    assert recalled(adapter, datetime.now(UTC) + timedelta(days=400)) == []
    assert store_client.smembers(keys.index) == {record.id.encode()}
    assert store_client.hkeys(keys.vectors) == [record.id.encode()]
    assert store_client.exists(record_key(prefix, record.id))


@pytest.mark.parametrize(
    "expiry",
    [
        datetime(2020, 1, 1, tzinfo=UTC),
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(1960, 1, 1, tzinfo=UTC),
        datetime.min.replace(tzinfo=UTC),
    ],
    ids=lambda moment: str(moment.year),
)
def test_a_record_that_has_expired_when_it_is_written_leaves_nothing(
    adapter: RedisAdapter, store_client: redis.Redis, keys: ScopeKeys, prefix: str, expiry: datetime
) -> None:
    record = expiring(expiry)
    assert adapter.write(SCOPE, [record]).ok
    assert recalled(adapter) == []
    assert not store_client.exists(keys.index, keys.vectors, record_key(prefix, record.id))


def test_a_record_that_expires_at_the_end_of_the_calendar_is_kept(adapter: RedisAdapter) -> None:
    adapter.write(SCOPE, [expiring(datetime.max.replace(tzinfo=UTC))])
    assert recalled(adapter) == ["a heron"]


def test_an_expired_record_takes_no_other_with_it(adapter: RedisAdapter) -> None:
    lasting = expiring(datetime.now(UTC) + timedelta(hours=1), "a lasting heron")
    adapter.write(SCOPE, [expiring(datetime(2020, 1, 1, tzinfo=UTC)), lasting])
    assert recalled(adapter) == recalled(adapter) == ["a lasting heron"]
