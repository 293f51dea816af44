"""A worker's write, the turns that are still pending, and the fence that forgetting raises."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import redis

from afterturn import Forgotten, Record, Scope, Turn
from afterturn.adapters.records import embed_records, message_records
from afterturn.adapters.redis import RedisAdapter
from afterturn.ids import new_turn_id
from afterturn.journal.client import Journal
from afterturn.journal.entry import JournalEntry
from afterturn.journal.stages import Stage
from afterturn.keys import ScopeKeys, record_key
from afterturn_worker.embedded import EmbeddedStore
from tests.support.vectors import TableEmbedder

SCOPE = Scope("t1", user_id="alice")
TURN = Turn(user="I moved to Lisbon", assistant="Noted", at=datetime(2026, 3, 1, tzinfo=UTC))


@pytest.fixture
def adapter(store_client: redis.Redis, prefix: str) -> RedisAdapter:
    """An adapter that lets everything through."""
    return RedisAdapter(client=store_client, prefix=prefix, min_score=-1)


@pytest.fixture
def keys(prefix: str) -> ScopeKeys:
    """The scope's keys."""
    return ScopeKeys.of(prefix, SCOPE)


@pytest.fixture
def journal(store: EmbeddedStore, prefix: str) -> Iterator[Journal]:
    """Where turns are accepted."""
    with redis.Redis.from_url(store.url, decode_responses=True) as client:
        yield Journal(client, prefix)


@pytest.fixture
def entry(journal: Journal) -> JournalEntry:
    """A turn that the journal has accepted."""
    return accepted(journal)


def accepted(journal: Journal, generation: int = 0) -> JournalEntry:
    turn_id = new_turn_id()
    journal.accept(turn_id, SCOPE, TURN, Stage.EMBED)
    return JournalEntry(turn_id, SCOPE, TURN, generation)


def records_of(entry: JournalEntry) -> list[Record]:
    return embed_records(message_records(entry.turn_id, SCOPE, TURN, 1), TableEmbedder())


def shown(adapter: RedisAdapter) -> list[tuple[str, bool]]:
    fragments = adapter.recall(SCOPE, "Lisbon").fragments or ()
    return sorted((fragment.text, fragment.pending) for fragment in fragments)


def stored_keys(client: redis.Redis, prefix: str) -> int:
    return len(list(client.scan_iter(record_key(prefix, "*").replace("[", "\\["))))


def test_an_accepted_turn_is_recalled_as_pending_until_it_is_written(
    adapter: RedisAdapter, entry: JournalEntry
) -> None:
    assert shown(adapter) == [("I moved to Lisbon", True), ("Noted", True)]
    hits = adapter.recall(SCOPE, "Lisbon").raw
    assert all(hit.pending and hit.record.embedding is None for hit in hits)
    adapter.commit(entry, records_of(entry), last=False)
    assert shown(adapter) == [("I moved to Lisbon", False), ("Noted", False)]


def test_a_pending_turn_has_the_ids_of_the_records_to_come(
    adapter: RedisAdapter, entry: JournalEntry
) -> None:
    before = {hit.record.id for hit in adapter.recall(SCOPE, "Lisbon").raw}
    adapter.commit(entry, records_of(entry), last=True)
    assert {hit.record.id for hit in adapter.recall(SCOPE, "Lisbon").raw} == before


def test_a_pending_turn_that_is_written_already_is_not_shown_twice(
    adapter: RedisAdapter, entry: JournalEntry
) -> None:
    adapter.write(SCOPE, records_of(entry))
    assert shown(adapter) == [("I moved to Lisbon", False), ("Noted", False)]


def test_pending_turns_are_not_read_where_that_is_switched_off(
    store_client: redis.Redis, prefix: str, entry: JournalEntry
) -> None:
    adapter = RedisAdapter(client=store_client, prefix=prefix, min_score=-1, read_pending=False)
    assert shown(adapter) == []


def test_a_pending_turn_from_before_a_forget_is_not_shown(
    adapter: RedisAdapter, store_client: redis.Redis, journal: Journal, keys: ScopeKeys, entry: JournalEntry
) -> None:
    store_client.incr(keys.fence)
    assert shown(adapter) == []
    accepted(journal)
    assert shown(adapter) == [("I moved to Lisbon", True), ("Noted", True)]


def test_a_pending_turn_that_cannot_be_read_hides_no_other(
    adapter: RedisAdapter,
    store_client: redis.Redis,
    keys: ScopeKeys,
    entry: JournalEntry,
    caplog: pytest.LogCaptureFixture,
) -> None:
    unreadable: dict[str, str | bytes] = {
        "empty": "",
        "no-json": "0 {",
        "a-list": "0 []",
        "no-generation": "x {}",
        "no-text": b"\xff",
        "no-uuid": '0 {"user":"x","at":1}',
    }
    for name, stored in unreadable.items():
        store_client.hset(keys.pending, name, stored)
    with caplog.at_level(logging.WARNING, "afterturn"):
        assert shown(adapter) == [("I moved to Lisbon", True), ("Noted", True)]
    assert {message.split()[1] for message in caplog.messages} == set(unreadable)


def test_a_write_that_is_not_the_last_keeps_the_turns_text_for_extraction(
    adapter: RedisAdapter, store_client: redis.Redis, keys: ScopeKeys, entry: JournalEntry
) -> None:
    payload = store_client.hget(keys.pending, entry.turn_id)
    adapter.commit(entry, records_of(entry), last=False)
    assert not store_client.exists(keys.pending)
    assert store_client.hgetall(keys.unextracted) == {entry.turn_id.encode(): payload}


def test_the_last_write_leaves_nothing_of_the_turn_in_the_journal(
    adapter: RedisAdapter, store_client: redis.Redis, keys: ScopeKeys, entry: JournalEntry
) -> None:
    adapter.commit(entry, records_of(entry), last=False)
    store_client.hset(keys.answers, entry.turn_id, "[]")
    adapter.commit(entry, [], last=True)
    assert not store_client.exists(keys.pending, keys.unextracted, keys.answers)
    assert shown(adapter) == [("I moved to Lisbon", False), ("Noted", False)]


def test_other_turns_of_the_scope_are_left_alone(
    adapter: RedisAdapter, store_client: redis.Redis, journal: Journal, keys: ScopeKeys, entry: JournalEntry
) -> None:
    other = accepted(journal)
    adapter.commit(entry, records_of(entry), last=True)
    assert store_client.hkeys(keys.pending) == [other.turn_id.encode()]


@pytest.mark.parametrize("last", [False, True])
def test_committing_twice_changes_nothing(
    adapter: RedisAdapter, store_client: redis.Redis, keys: ScopeKeys, entry: JournalEntry, last: bool
) -> None:
    records = records_of(entry)
    first = adapter.commit(entry, records, last=last)
    scope_keys = [keys.index, keys.vectors, keys.pending, keys.unextracted]
    before = [store_client.dump(key) for key in scope_keys]
    again = adapter.commit(entry, records, last=last)
    assert sorted(first.raw["added_ids"]) == sorted(record.id for record in records)
    assert again.raw == {"added_ids": []}
    assert [store_client.dump(key) for key in scope_keys] == before


def test_a_write_from_before_a_forget_is_void_and_leaves_no_key(
    adapter: RedisAdapter, store_client: redis.Redis, prefix: str, keys: ScopeKeys, entry: JournalEntry
) -> None:
    store_client.incr(keys.fence)
    with pytest.raises(Forgotten):
        adapter.commit(entry, records_of(entry), last=True)
    assert not store_client.exists(keys.index, keys.vectors)
    assert stored_keys(store_client, prefix) == 0


def test_a_void_write_deletes_no_record_that_the_index_has(
    adapter: RedisAdapter, store_client: redis.Redis, prefix: str, keys: ScopeKeys, entry: JournalEntry
) -> None:
    user, assistant = records_of(entry)
    adapter.write(SCOPE, [user])
    store_client.incr(keys.fence)
    with pytest.raises(Forgotten):
        adapter.commit(entry, [user, assistant], last=True)
    assert stored_keys(store_client, prefix) == 1
    assert [fact.text for fact in adapter.list_facts(SCOPE)] == ["I moved to Lisbon"]


def test_a_void_write_without_records_is_void_too(
    adapter: RedisAdapter, store_client: redis.Redis, keys: ScopeKeys, entry: JournalEntry
) -> None:
    store_client.incr(keys.fence)
    with pytest.raises(Forgotten):
        adapter.commit(entry, [], last=True)
    assert store_client.hexists(keys.pending, entry.turn_id)


def test_a_write_under_the_present_generation_goes_through(
    adapter: RedisAdapter, store_client: redis.Redis, journal: Journal, keys: ScopeKeys
) -> None:
    store_client.set(keys.fence, 3)
    entry = accepted(journal, generation=3)
    adapter.commit(entry, records_of(entry), last=True)
    assert shown(adapter) == [("I moved to Lisbon", False), ("Noted", False)]


def test_generations_are_compared_as_numbers(
    adapter: RedisAdapter, store_client: redis.Redis, journal: Journal, keys: ScopeKeys
) -> None:
    store_client.set(keys.fence, 9)
    entry = accepted(journal, generation=10)
    adapter.commit(entry, records_of(entry), last=True)
    store_client.set(keys.fence, 10)
    late = JournalEntry(new_turn_id(), SCOPE, TURN, generation=9)
    with pytest.raises(Forgotten):
        adapter.commit(late, records_of(late), last=True)


def test_a_plain_write_heeds_no_fence(
    adapter: RedisAdapter, store_client: redis.Redis, keys: ScopeKeys
) -> None:
    store_client.incr(keys.fence)
    adapter.save(SCOPE, TURN)
    assert shown(adapter) == [("I moved to Lisbon", False), ("Noted", False)]


def test_a_commit_is_found_by_a_server_that_lost_its_scripts(
    adapter: RedisAdapter, store_client: redis.Redis, entry: JournalEntry
) -> None:
    store_client.script_flush()
    adapter.commit(entry, records_of(entry), last=True)
    assert shown(adapter) == [("I moved to Lisbon", False), ("Noted", False)]
