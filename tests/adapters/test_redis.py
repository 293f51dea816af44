"""The Redis adapter's layout, and what a real server can do to it."""

from __future__ import annotations

import json
import logging
import os
import signal
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import redis

from afterturn import ExtractedFact, PermanentError, Record, Scope, SettingsError, StoreUnavailable, Turn
from afterturn.adapters.records import embed_records, fact_records, message_records
from afterturn.adapters.redis import RedisAdapter
from afterturn.ids import new_turn_id
from afterturn.keys import ScopeKeys, record_key
from afterturn.model import to_millis
from afterturn.settings import load_settings
from afterturn.testing import AdapterContract
from afterturn_worker.embedded import EmbeddedStore
from tests.support.http_stub import closed_url
from tests.support.vectors import TableEmbedder
from tests.support.waiting import wait_until

SCOPE = Scope("t1", user_id="alice", tenant_id="acme")
SAID_AT = datetime(2026, 3, 1, tzinfo=UTC)
TURN = Turn(user="I moved to Lisbon", assistant="Noted", at=SAID_AT)
NOW_MS = to_millis(datetime.now(UTC))


class TestContract(AdapterContract):
    @pytest.fixture
    def adapter(self, store_client: redis.Redis, prefix: str) -> RedisAdapter:
        return RedisAdapter(client=store_client, prefix=prefix)


@pytest.fixture
def adapter(store_client: redis.Redis, prefix: str) -> RedisAdapter:
    """An adapter whose embedder knows one text."""
    embedder = TableEmbedder({"I moved to Lisbon": (1, 0), "where": (1, 0)})
    return RedisAdapter(client=store_client, prefix=prefix, embedder=embedder, min_score=-1, top_k=100)


@pytest.fixture
def keys(prefix: str) -> ScopeKeys:
    """The scope's keys."""
    return ScopeKeys.of(prefix, SCOPE)


@pytest.fixture
def own_store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    """A server of the test's own, to be frozen or locked."""
    server = EmbeddedStore(tmp_path)
    server.start()
    yield server
    if server.process is not None:
        server.process.send_signal(signal.SIGCONT)
    server.stop()


def texts(adapter: RedisAdapter, query: str = "") -> list[str]:
    return sorted(fragment.text for fragment in adapter.recall(SCOPE, query).fragments or ())


def put(client: redis.Redis, prefix: str, record_id: str, stored: str | bytes, scope: Scope = SCOPE) -> None:
    """A record as the reference implementation writes it: SET, then SADD."""
    client.set(record_key(prefix, record_id), stored)
    client.sadd(ScopeKeys.of(prefix, scope).index, record_id)


def reference_json(record_id: str, text: str, **fields: Any) -> str:
    return json.dumps(
        {
            "id": record_id,
            "scope": SCOPE.to_dict(),
            "text": text,
            "kind": "message",
            "role": "user",
            "createdAt": NOW_MS,
            **fields,
        }
    )


# options


def test_either_a_client_or_a_url_is_needed(store: EmbeddedStore, store_client: redis.Redis) -> None:
    untyped: Any = RedisAdapter
    for options in ({}, {"client": store_client, "url": store.url}):
        with pytest.raises(SettingsError, match="exactly one of client and url"):
            untyped(**options)


def test_a_client_that_decodes_is_refused(store: EmbeddedStore) -> None:
    with (
        redis.Redis.from_url(store.url, decode_responses=True) as client,
        pytest.raises(SettingsError, match="without decode_responses"),
    ):
        RedisAdapter(client=client)


def test_an_address_that_is_none_is_refused_without_quoting_it() -> None:
    with pytest.raises(SettingsError, match="url is no address of Redis") as caught:
        RedisAdapter(url="http://user:secret@host")
    assert "secret" not in str(caught.value)
    with pytest.raises(SettingsError):
        RedisAdapter(url="")


def test_an_adapter_closes_the_client_that_it_opened_and_no_other(store: EmbeddedStore) -> None:
    with redis.Redis.from_url(store.url, client_name="outside") as outside:
        owning = RedisAdapter(url=f"{store.url}?client_name=owned")
        borrowing = RedisAdapter(client=outside)
        for adapter in (owning, borrowing):
            adapter.recall(SCOPE, "x")
        connection = outside.client_id()
        assert "owned" in connected(outside)
        borrowing.close()
        assert outside.client_id() == connection, "it had to connect anew"
        owning.close()
        wait_until(lambda: "owned" not in connected(outside), what="the owned connection being closed")


def connected(client: redis.Redis) -> set[str]:
    listed: Any = client.client_list()
    return {one["name"] for one in listed}


def test_settings_give_address_prefix_limits_and_the_bound(store: EmbeddedStore, prefix: str) -> None:
    settings = load_settings(redis_url=store.url, prefix=prefix, top_k=1, min_score=0, recall_timeout=1.5)
    adapter = RedisAdapter.from_settings(settings, None)
    worker = RedisAdapter.for_worker(settings)
    worker.save(SCOPE, TURN)
    assert len(texts(adapter, "Lisbon")) == 1
    assert adapter._client.connection_pool.connection_kwargs["socket_timeout"] == 1.5
    adapter.close()
    worker.close()


# layout


def test_a_record_lies_under_the_contracts_keys(
    adapter: RedisAdapter, store_client: redis.Redis, prefix: str
) -> None:
    (receipt,) = adapter.save(SCOPE, Turn(user="I moved to Lisbon — ça va", at=SAID_AT))
    (record_id,) = receipt.raw["added_ids"]
    assert store_client.smembers(f"{prefix}:index:acme:alice:t1") == {record_id.encode()}
    stored: Any = store_client.get(f"{prefix}:record:{record_id}")
    assert "I moved to Lisbon — ça va" in stored.decode()
    fields = json.loads(stored)
    assert set(fields) == {*("id", "scope", "text", "kind", "role", "createdAt", "updatedAt", "importance")}
    assert fields["scope"] == {"threadId": "t1", "userId": "alice", "tenantId": "acme"}


def test_a_vector_lies_beside_the_index_as_model_name_and_float32(
    adapter: RedisAdapter, store_client: redis.Redis, keys: ScopeKeys
) -> None:
    (receipt,) = adapter.save(SCOPE, Turn(user="I moved to Lisbon"))
    (record_id,) = receipt.raw["added_ids"]
    packed = store_client.hgetall(keys.vectors)
    assert packed == {record_id.encode(): b"table\0" + np.array([1, 0, 0], dtype="<f4").tobytes()}


def test_the_vector_is_in_the_json_by_option(store_client: redis.Redis, prefix: str) -> None:
    adapter = RedisAdapter(
        client=store_client, prefix=prefix, embedder=TableEmbedder(), store_embeddings_in_records=True
    )
    (receipt,) = adapter.save(SCOPE, Turn(user="I moved to Lisbon"))
    stored: Any = store_client.get(record_key(prefix, receipt.raw["added_ids"][0]))
    assert json.loads(stored)["embedding"] == [0.0, 0.0, 1.0]


def test_a_record_that_expires_is_live_until_then_and_gone_after(
    adapter: RedisAdapter, store_client: redis.Redis, prefix: str
) -> None:
    expiry = datetime.now(UTC) + timedelta(hours=1)
    facts = [ExtractedFact("a heron", expires_at=expiry), ExtractedFact("a walnut")]
    heron, walnut = fact_records(new_turn_id(), SCOPE, TURN, facts, NOW_MS)
    adapter.write(SCOPE, [heron, walnut])
    assert store_client.pexpiretime(record_key(prefix, heron.id)) == to_millis(expiry) + 1
    assert store_client.ttl(record_key(prefix, walnut.id)) == -1


def test_a_record_written_again_is_replaced(adapter: RedisAdapter) -> None:
    (first,) = message_records(new_turn_id(), SCOPE, Turn(user="I moved to Lisbon"), NOW_MS)
    assert adapter.write(SCOPE, embed_records([first], TableEmbedder())).raw == {"added_ids": [first.id]}
    changed = Record(
        **{name: getattr(first, name) for name in first.__slots__} | {"text": "I moved to Porto"}
    )
    assert adapter.write(SCOPE, [changed]).raw == {"added_ids": []}
    (hit,) = adapter.recall(SCOPE, "Porto").raw
    assert hit.record.text == "I moved to Porto"
    assert hit.record.embedding is None, "the vector of the old text"


# what others left behind


def test_a_record_of_the_reference_is_recalled_with_its_vector(
    adapter: RedisAdapter, store_client: redis.Redis, prefix: str
) -> None:
    put(store_client, prefix, "r1", reference_json("r1", "I live in Lisbon", embedding=[2.0, 0.0, 0.0]))
    (hit,) = adapter.recall(SCOPE, "where").raw
    assert (hit.record.text, hit.parts.semantic) == ("I live in Lisbon", 1.0)


def test_malformed_records_are_skipped_named_once_and_left_in_place(
    adapter: RedisAdapter,
    store_client: redis.Redis,
    prefix: str,
    keys: ScopeKeys,
    caplog: pytest.LogCaptureFixture,
) -> None:
    adapter.save(SCOPE, TURN)
    put(store_client, prefix, "broken-1", "{secret")
    put(store_client, prefix, "broken-2", b"\xff\xfe")
    with caplog.at_level(logging.WARNING, "afterturn"):
        for _ in range(3):
            assert texts(adapter) == ["I moved to Lisbon", "Noted"]
    assert sorted(message.split()[1] for message in caplog.messages) == ["broken-1", "broken-2"]
    assert "secret" not in caplog.text
    assert store_client.smismember(keys.index, ["broken-1", "broken-2"]) == [1, 1]
    assert store_client.get(record_key(prefix, "broken-1")) == b"{secret"


def test_a_broken_store_cannot_flood_the_log(
    adapter: RedisAdapter, store_client: redis.Redis, prefix: str, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(150):
        put(store_client, prefix, f"broken-{number}", "{")
    with caplog.at_level(logging.WARNING, "afterturn"):
        texts(adapter)
        texts(adapter)
    assert len(caplog.messages) == 100


def test_a_malformed_vector_leaves_the_record_to_its_words(
    adapter: RedisAdapter, store_client: redis.Redis, keys: ScopeKeys, caplog: pytest.LogCaptureFixture
) -> None:
    (receipt,) = adapter.save(SCOPE, Turn(user="I moved to Lisbon"))
    for packed in (b"table\0abc", b"\xff\0abcd"):
        store_client.hset(keys.vectors, receipt.raw["added_ids"][0], packed)
        (hit,) = adapter.recall(SCOPE, "where").raw
        assert hit.parts.semantic == 0
    assert "malformed vector" in caplog.text


def test_an_id_whose_record_is_gone_is_swept_with_its_vector(
    adapter: RedisAdapter, store_client: redis.Redis, prefix: str, keys: ScopeKeys
) -> None:
    (receipt,) = adapter.save(SCOPE, Turn(user="I moved to Lisbon"))
    store_client.delete(record_key(prefix, receipt.raw["added_ids"][0]))
    assert texts(adapter) == []
    assert not store_client.exists(keys.index, keys.vectors)


def test_a_vector_that_no_id_stands_for_is_swept(
    adapter: RedisAdapter, store_client: redis.Redis, keys: ScopeKeys
) -> None:
    """The reference takes ids out of the index, and knows nothing of our vectors."""
    adapter.save(SCOPE, Turn(user="I moved to Lisbon"))
    store_client.hset(keys.vectors, "gone", b"table\0abcd")
    assert texts(adapter) == ["I moved to Lisbon"]
    assert store_client.hkeys(keys.vectors) == list(store_client.smembers(keys.index))


def test_an_expired_record_of_the_reference_is_swept_with_its_key(
    adapter: RedisAdapter, store_client: redis.Redis, prefix: str, keys: ScopeKeys
) -> None:
    put(store_client, prefix, "old", reference_json("old", "a heron", expiresAt=NOW_MS - 1))
    assert texts(adapter) == []
    assert not store_client.exists(keys.index, record_key(prefix, "old"))


def test_a_record_written_anew_while_a_sweep_was_on_its_way_stays(
    adapter: RedisAdapter, store_client: redis.Redis, prefix: str, keys: ScopeKeys
) -> None:
    put(store_client, prefix, "r1", reference_json("r1", "a heron"))
    put(store_client, prefix, "r2", reference_json("r2", "a walnut"))
    adapter._reader._sweep(keys, {b"r1": b"", b"r2": b"what it was before"})
    assert texts(adapter) == ["a heron", "a walnut"]


def test_a_record_of_another_scope_in_the_index_is_not_shown(
    adapter: RedisAdapter, store_client: redis.Redis, prefix: str
) -> None:
    other = json.loads(reference_json("r1", "a heron")) | {"scope": {"threadId": "t1", "userId": "bob"}}
    put(store_client, prefix, "r1", json.dumps(other))
    assert texts(adapter) == []
    assert store_client.exists(record_key(prefix, "r1"))


def test_one_turn_id_in_two_scopes_shows_neither_the_others_text(adapter: RedisAdapter) -> None:
    turn_id, bob = new_turn_id(), Scope("t1", user_id="bob", tenant_id="acme")
    adapter.save(SCOPE, Turn(user="the heron of alice"), turn_id=turn_id)
    adapter.save(bob, Turn(user="the walnut of bob"), turn_id=turn_id)
    assert "the walnut of bob" not in texts(adapter)
    assert [fact.text for fact in adapter.list_facts(bob)] == ["the walnut of bob"]


def test_more_records_than_one_command_may_ask_for_are_all_read(adapter: RedisAdapter) -> None:
    turn = Turn(user="a heron", at=SAID_AT)
    for _ in range(3):
        many = [message_records(new_turn_id(), SCOPE, turn, NOW_MS)[0] for _ in range(700)]
        adapter.write(SCOPE, many)
    assert len(adapter.list_facts(SCOPE)) == 2_100


def test_a_scope_of_a_hundred_and_thirty_thousand_ids_is_read(
    adapter: RedisAdapter, store_client: redis.Redis, keys: ScopeKeys
) -> None:
    """The reference fails from 125,000 on."""
    adapter.save(SCOPE, Turn(user="I moved to Lisbon"))
    for start in range(0, 130_000, 10_000):
        store_client.sadd(keys.index, *(f"gone-{number}" for number in range(start, start + 10_000)))
    assert texts(adapter) == ["I moved to Lisbon"]
    assert store_client.scard(keys.index) == 1


# a server that is away, slow or locked


def test_a_store_that_is_away_is_an_error_with_our_name() -> None:
    adapter = RedisAdapter(url=closed_url().replace("http", "redis"))
    for call in (
        lambda: adapter.recall(SCOPE, "Lisbon"),
        lambda: adapter.save(SCOPE, TURN),
        lambda: adapter.list_facts(SCOPE),
    ):
        with pytest.raises(StoreUnavailable) as caught:
            call()
        assert "Lisbon" not in str(caught.value)


def test_a_store_that_hangs_costs_one_timeout(own_store: EmbeddedStore) -> None:
    adapter = RedisAdapter(url=own_store.url, socket_timeout=0.3, min_score=-1)
    adapter.save(SCOPE, TURN)
    assert own_store.process is not None
    own_store.process.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    with pytest.raises(StoreUnavailable):
        adapter.recall(SCOPE, "Lisbon")
    # redis-py by itself would try again, for a minute
    assert time.monotonic() - began < 5 * 0.3
    own_store.process.send_signal(signal.SIGCONT)
    assert texts(adapter, "Lisbon") == ["I moved to Lisbon", "Noted"]
    adapter.close()


def test_a_reader_that_may_not_write_recalls_all_the_same(
    own_store: EmbeddedStore, caplog: pytest.LogCaptureFixture
) -> None:
    with redis.Redis.from_url(own_store.url) as admin:
        writer = RedisAdapter(client=admin)
        writer.save(SCOPE, TURN)
        admin.sadd(ScopeKeys.of("afterturn:memory", SCOPE).index, "gone")
        admin.acl_setuser(
            "reader",
            enabled=True,
            passwords=["+pw"],
            keys=["*"],
            categories=["+@read", "+@connection"],
            commands=["+multi", "+exec"],
        )
    reader = RedisAdapter(url=own_store.url.replace("redis://", "redis://reader:pw@"), min_score=-1)
    assert texts(reader, "Lisbon") == ["I moved to Lisbon", "Noted"]
    assert texts(reader, "Lisbon") == ["I moved to Lisbon", "Noted"]
    assert [message.partition(":")[0] for message in caplog.messages] == ["afterturn.sweep_refused"]
    with pytest.raises(PermanentError, match="ACL"):
        reader.save(SCOPE, TURN)
    reader.close()


def test_an_adapter_works_on_in_a_forked_child(adapter: RedisAdapter) -> None:
    adapter.save(SCOPE, TURN)
    child = os.fork()
    if child == 0:
        os._exit(0 if len(texts(adapter)) == 2 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(texts(adapter)) == 2
