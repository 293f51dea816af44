"""The client alone: arguments, faces, ids, and a store or broker that does not answer."""

from __future__ import annotations

import inspect
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import redis

from afterturn import (
    AsyncMemory,
    BrokerUnavailable,
    Memory,
    QueryError,
    Scope,
    SettingsError,
    StoreUnavailable,
    Turn,
    TurnError,
    TurnState,
    ValidationError,
    load_settings,
)
from afterturn.adapters.in_memory import InMemoryAdapter
from afterturn.events import TextCut
from afterturn.ids import keyed_turn_id, new_turn_id, task_id
from afterturn.journal.stages import Stage
from afterturn_worker.embedded import EmbeddedStore
from tests.support.http_stub import closed_url

ALICE = Scope("t1", user_id="alice")
HELLO = Turn(user="hello")


@pytest.fixture
def memory(store: EmbeddedStore, prefix: str) -> Iterator[Memory]:
    settings = load_settings(
        redis_url=store.url, prefix=prefix, queue_prefix=prefix, embedder="none", save_timeout=5
    )
    with Memory(settings) as opened:
        yield opened


@pytest.fixture
def own_store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    server = EmbeddedStore(tmp_path)
    server.start()
    yield server
    if server.process is not None:
        server.process.send_signal(signal.SIGCONT)
    server.stop()


def public(cls: type) -> dict[str, Any]:
    return {
        name: member for name, member in vars(cls).items() if not name.startswith("_") or name == "__init__"
    }


def test_the_async_face_has_the_same_methods_with_the_same_parameters() -> None:
    assert set(public(AsyncMemory)) == set(public(Memory))
    for name in public(Memory):
        ours = inspect.signature(getattr(Memory, name)).parameters
        theirs = inspect.signature(getattr(AsyncMemory, name)).parameters
        assert [str(parameter) for parameter in ours.values()] == [
            str(parameter) for parameter in theirs.values()
        ], name


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("t1", HELLO), "scope must be a Scope, not str"),
        ((ALICE, {"user": "hello"}), "turn must be a Turn, not dict"),
    ],
)
def test_a_wrong_argument_is_refused_by_name(memory: Memory, arguments: Any, named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        memory.save(*arguments)


@pytest.mark.parametrize(
    ("key", "named"), [("", "0 characters"), ("x" * 513, "513 characters"), (5, "not int")]
)
def test_a_wrong_idempotency_key_is_refused_and_nothing_written(
    memory: Memory, store_client: redis.Redis, prefix: str, key: Any, named: str
) -> None:
    with pytest.raises(ValidationError, match=f"idempotency_key .*{named}"):
        memory.save(ALICE, HELLO, idempotency_key=key)
    assert not list(store_client.scan_iter(f"*{prefix.replace('[', '?').replace(']', '?')}*"))


def test_a_query_that_is_no_string_and_a_naive_now_are_refused(memory: Memory) -> None:
    with pytest.raises(QueryError, match="query must be a string"):
        memory.recall(ALICE, None)  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="now has no time zone"):
        memory.recall(ALICE, "x", now=datetime(2026, 1, 1))  # noqa: DTZ001 - what is refused


def test_an_adapter_by_name_that_is_not_known_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SettingsError, match=r"'nope' is not registered; known adapters: in_memory, redis"):
        Memory(adapter="nope")


def test_settings_and_options_together_are_refused() -> None:
    with pytest.raises(SettingsError, match="both a settings object and top_k"):
        Memory(load_settings(), top_k=3)


def test_a_failing_event_hook_does_not_touch_the_save() -> None:
    seen: list[TextCut] = []

    def hook(event: TextCut) -> None:
        seen.append(event)
        raise RuntimeError("hook")

    with Memory(load_settings(adapter="in_memory", text_limit=3, embedder="none"), on_event=hook) as memory:
        accepted = memory.save(ALICE, HELLO)
        assert memory.wait(accepted.turn_id).state is TurnState.STORED
    assert [event.length for event in seen] == [5]


def test_an_adapter_that_was_handed_in_stays_open() -> None:
    class Watched(InMemoryAdapter):
        closed = False

        def close(self) -> None:
            self.closed = True

    adapter = Watched()
    Memory(adapter=adapter).close()
    assert not adapter.closed


def test_an_in_process_save_that_fails_is_told_by_its_status_without_text() -> None:
    def extract(turn: Turn, scope: Scope) -> None:
        raise RuntimeError(turn.user)

    with Memory(adapter=InMemoryAdapter(extract=extract)) as memory:
        status = memory.wait(memory.save(ALICE, Turn(user="secret words")).turn_id)
        assert (status.state, status.error) == (TurnState.DEAD, "RuntimeError: unexpected")
        assert [fact.text for fact in memory.list_facts(ALICE)] == ["secret words"]


def test_a_frozen_store_refuses_a_save_and_fails_a_recall(own_store: EmbeddedStore) -> None:
    settings = load_settings(redis_url=own_store.url, embedder="none", save_timeout=0.1, recall_timeout=0.1)
    with Memory(settings) as memory:
        assert memory.save(ALICE, HELLO).state is TurnState.QUEUED
        assert own_store.process is not None
        own_store.process.send_signal(signal.SIGSTOP)
        refused = memory.save(ALICE, HELLO)
        assert refused.state is TurnState.REFUSED
        assert refused.error is not None
        assert refused.error.startswith("StoreUnavailable: Redis did not answer in time")
        with pytest.raises(StoreUnavailable):
            memory.recall(ALICE, "hello")
        own_store.process.send_signal(signal.SIGCONT)


def test_a_broker_that_is_away_costs_the_handler_nothing(store: EmbeddedStore, prefix: str) -> None:
    settings = load_settings(
        redis_url=store.url, broker_url=closed_url().replace("http", "redis"), prefix=prefix, embedder="none"
    )
    memory = Memory(settings)
    states = {memory.save(ALICE, HELLO).state for _ in range(50)}
    memory.close(timeout=10)
    assert states == {TurnState.QUEUED}


def test_warming_up_says_what_can_not_be_reached(store: EmbeddedStore, prefix: str) -> None:
    away = closed_url().replace("http", "redis")
    with (
        Memory(load_settings(redis_url=away, embedder="none")) as memory,
        pytest.raises(StoreUnavailable, match="Redis did not answer in time to connect"),
    ):
        memory.warm_up()
    with (
        Memory(load_settings(redis_url=store.url, broker_url=away, prefix=prefix, embedder="none")) as memory,
        pytest.raises(BrokerUnavailable, match="the broker cannot be reached"),
    ):
        memory.warm_up()


def test_a_time_that_no_store_can_hold_is_refused() -> None:
    edge = datetime.max.replace(tzinfo=timezone(-timedelta(hours=12)))
    with pytest.raises(TurnError, match="at lies outside the years 1 to 9999"):
        Turn(user="hello", at=edge)


def test_a_closed_in_process_memory_refuses_and_does_not_raise() -> None:
    memory = Memory(load_settings(adapter="in_memory", embedder="none"))
    memory.close()
    refused = memory.save(ALICE, HELLO)
    assert (refused.state, refused.error) == (TurnState.REFUSED, "the memory is closed")


def test_a_forked_process_publishes_its_own_turns(
    store: EmbeddedStore, store_client: redis.Redis, prefix: str
) -> None:
    script = textwrap.dedent(
        """
        import os, sys
        from afterturn import Memory, Scope, Turn, load_settings
        url, prefix = sys.argv[1:]
        settings = load_settings(redis_url=url, prefix=prefix, queue_prefix=prefix, embedder="none", save_timeout=5)
        memory = Memory(settings)
        print(memory.save(Scope("t"), Turn(user="parent")).turn_id, flush=True)
        child = os.fork()
        if child == 0:
            print(memory.save(Scope("t"), Turn(user="child")).turn_id, flush=True)
            os._exit(0 if memory.close(timeout=20) else 1)
        _, status = os.waitpid(child, 0)
        assert memory.close(timeout=20)
        sys.exit(os.waitstatus_to_exitcode(status))
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script, store.url, prefix],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    messages = str(store_client.lrange(f"{prefix}.embed", 0, -1))
    turn_ids = done.stdout.split()
    assert len(turn_ids) == 2
    assert all(task_id(turn_id, Stage.EMBED) in messages for turn_id in turn_ids), done.stderr


def test_turn_ids_sort_in_the_order_in_which_they_were_made() -> None:
    made = [new_turn_id() for _ in range(2_000)]
    assert all(UUID(turn_id).version == 7 for turn_id in made)
    assert len(set(made)) == len(made)
    # ids of one quarter of a microsecond may stand in either order
    assert sum(before > after for before, after in pairwise(made)) < 5


def test_a_key_names_one_turn_within_its_scope_and_none_elsewhere() -> None:
    scopes = [Scope("t"), Scope("t", user_id="u"), Scope("t", tenant_id="u"), Scope("u")]
    ids = [keyed_turn_id(scope, "k") for scope in scopes]
    assert len(set(ids)) == len(ids)
    assert ids == [keyed_turn_id(scope, "k") for scope in scopes]
