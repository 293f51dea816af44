"""A turn goes from `save` through real workers to the store and back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from pytest_celery import CeleryTestWorker

from afterturn import (
    AsyncMemory,
    ExtractedFact,
    Memory,
    Scope,
    Turn,
    TurnState,
    UnknownTurn,
    WaitTimeout,
)
from afterturn.events import TextCut
from afterturn.queues import Queue
from tests.support.http_stub import Answer, HttpStub, closed_url
from tests.support.pipeline import Pipeline
from tests.support.waiting import wait_until

ALICE = Scope("t1", user_id="alice")


def texts(memory: Memory, scope: Scope) -> list[str]:
    return sorted(fact.text for fact in memory.list_facts(scope))


def test_a_saved_turn_is_found_by_its_meaning(memory: Memory) -> None:
    scope = Scope("meaning", user_id="alice")
    accepted = memory.save(scope, Turn(user="My sister keeps three cats.", assistant="How nice."))
    for text in ("The bus was late again.", "I baked bread.", "Rain all day.", "My chair squeaks."):
        last = memory.save(scope, Turn(user=text))
    memory.wait(last.turn_id, timeout=60)
    assert memory.wait(accepted.turn_id, timeout=60).state is TurnState.STORED
    result = memory.recall(scope, "Which pets are there in the family?")
    assert result.degraded is None
    assert "cats" in (result.fragments or ())[0].text
    assert '"My sister keeps three cats."' in result.system_prompt


def test_facts_are_extracted_and_name_their_turn(memory: Memory) -> None:
    scope = Scope("facts", user_id="alice")
    accepted = memory.save(scope, Turn(user="I moved to Lisbon in May.", assistant="Noted."))
    status = memory.wait(accepted.turn_id, timeout=60)
    assert list(status.times) == [
        TurnState.QUEUED,
        TurnState.EMBEDDING,
        TurnState.EXTRACTING,
        TurnState.STORED,
    ]
    result = memory.recall(scope, "Where does the user live?")
    facts = [hit.record for hit in result.raw if hit.record.kind == "fact"]
    assert [(fact.text, (fact.metadata or {})["turn_id"]) for fact in facts] == [
        ("The user moved to Lisbon in May.", accepted.turn_id)
    ]


def test_a_burst_of_turns_is_stored_once_each(memory: Memory, pipeline: Pipeline) -> None:
    scope = Scope("burst", user_id="alice")
    accepted = [memory.save(scope, Turn(user=f"Item {number}.", assistant="ok")) for number in range(120)]
    for one in accepted:
        assert memory.wait(one.turn_id, timeout=90).state is TurnState.STORED
    assert texts(memory, scope) == sorted([*(f"Item {number}." for number in range(120)), *["ok"] * 120])
    assert "already" in pipeline.workers[0].logs(), "a task that found its turn done says so"


def test_a_key_makes_a_second_save_harmless(memory: Memory) -> None:
    scope = Scope("idempotent", user_id="alice")
    first = memory.save(scope, Turn(user="Only once."), idempotency_key="m-1")
    memory.wait(first.turn_id, timeout=60)
    again = memory.save(scope, Turn(user="Only once."), idempotency_key="m-1")
    assert (again.turn_id, again.state) == (first.turn_id, TurnState.STORED)
    assert texts(memory, scope) == ["Only once."]
    other = memory.save(Scope("elsewhere", user_id="alice"), Turn(user="x"), idempotency_key="m-1")
    assert other.turn_id != first.turn_id


def test_the_time_of_the_turn_becomes_the_records_time(memory: Memory) -> None:
    scope = Scope("time", user_id="alice")
    said = datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)
    memory.wait(memory.save(scope, Turn(user="Back then.", at=said)).turn_id, timeout=60)
    assert [fact.created_at for fact in memory.list_facts(scope)] == [said]


def test_a_long_text_is_stored_cut_and_says_so(pipeline: Pipeline) -> None:
    events: list[TextCut] = []
    scope = Scope("long", user_id="alice")
    settings = pipeline.memory(text_limit=10).settings
    with Memory(settings, on_event=events.append) as memory:
        accepted = memory.save(scope, Turn(user="0123456789abc", assistant="short", metadata={"a": 1}))
        memory.wait(accepted.turn_id, timeout=60)
        assert texts(memory, scope) == ["0123456789", "short"]
        (hit, _) = memory.recall(scope, "0123456789").raw
    assert hit.record.metadata == {"a": 1, "afterturn_cut": {"user": 13}}
    assert [(event.length, event.limit) for event in events] == [(13, 10)]


def test_what_a_person_typed_never_raises(memory: Memory) -> None:
    scope = Scope("typed", user_id="alice")
    turns = [Turn(user="a\ud800b\0c"), Turn(user="\0")]
    for turn in turns:
        assert memory.wait(memory.save(scope, turn).turn_id, timeout=60).state is TurnState.STORED
    assert texts(memory, scope) == ["a\ufffdbc"]


def test_a_turn_is_recallable_before_any_worker_runs(own_pipeline: Callable[..., Pipeline]) -> None:
    with own_pipeline().memory() as memory:
        memory.save(ALICE, Turn(user="I keep bees in Porto", assistant="Lovely"))
        (first, *_) = memory.recall(ALICE, "bees in Porto").fragments or ()
        assert (first.text, first.pending) == ("I keep bees in Porto", True)
        assert memory.recall(Scope("t1", user_id="bob"), "bees").fragments == ()


def test_wait_gives_up_and_says_where_the_turn_is(own_pipeline: Callable[..., Pipeline]) -> None:
    with own_pipeline().memory() as memory:
        accepted = memory.save(ALICE, Turn(user="hello"))
        with pytest.raises(WaitTimeout, match="still queued"):
            memory.wait(accepted.turn_id, timeout=0.05)
        with pytest.raises(UnknownTurn):
            memory.status("00000000-0000-7000-8000-000000000000")


def test_a_store_that_is_away_refuses_in_time_and_raises_nothing(
    own_pipeline: Callable[..., Pipeline],
) -> None:
    away = closed_url().replace("http", "redis")
    with own_pipeline(away).memory(save_timeout=0.1) as memory:
        began = datetime.now(UTC)
        accepted = memory.save(ALICE, Turn(user="hello"))
    assert accepted.state is TurnState.REFUSED
    assert "StoreUnavailable" in (accepted.error or "")
    assert datetime.now(UTC) - began < timedelta(seconds=5)


def test_a_turn_whose_message_never_got_out_is_swept_up(own_pipeline: Callable[..., Pipeline]) -> None:
    pipeline = own_pipeline(EXTRACT="none")
    pipeline.start(Queue.EMBED)
    with pipeline.memory(broker_url=closed_url().replace("http", "redis")) as memory:
        accepted = memory.save(ALICE, Turn(user="nobody was told"))
        assert memory.wait(accepted.turn_id, timeout=30).state is TurnState.STORED
    assert "afterturn.swept" in pipeline.logs()


def test_a_model_behind_http_extracts_and_a_failing_one_is_asked_again(
    own_pipeline: Callable[..., Pipeline],
) -> None:
    answer = {"choices": [{"message": {"content": '{"facts": [{"text": "The user keeps bees"}]}'}}]}
    with HttpStub([Answer(503), Answer(body=answer)]) as stub:
        pipeline = own_pipeline(EXTRACTION_URL=f"{stub.url}/v1", EXTRACTION_MODEL="stub")
        pipeline.start(Queue.EMBED, Queue.EXTRACT)
        with pipeline.memory() as memory:
            accepted = memory.save(ALICE, Turn(user="I keep bees"))
            assert memory.wait(accepted.turn_id, timeout=60).state is TurnState.STORED
            assert texts(memory, ALICE) == ["I keep bees", "The user keeps bees"]
        assert [request.path for request in stub.requests] == ["/v1/chat/completions"] * 2


def test_a_turn_whose_worker_was_killed_is_stored_once(own_pipeline: Callable[..., Pipeline]) -> None:
    pipeline = own_pipeline(
        EXTRACT="tests.support.fakes:wait_for_file", EXTRACT_LEASE="1", EXTRACTION_TIMEOUT="0.4"
    )
    embed, extract = pipeline.start(Queue.EMBED, Queue.EXTRACT, TEST_FOLDER=str(pipeline.folder))
    with pipeline.memory() as memory:
        accepted = memory.save(ALICE, Turn(user="hold on"))
        wait_until((pipeline.folder / "started").exists)
        extract.kill("SIGKILL")
        (pipeline.folder / "go").touch()
        extract.restart()
        assert memory.wait(accepted.turn_id, timeout=60).state is TurnState.STORED
        assert texts(memory, ALICE) == ["The user said hold on", "hold on"]
    assert (pipeline.folder / "started").read_text() == "hold on\nhold on\n"
    assert isinstance(embed, CeleryTestWorker)


def test_turns_wait_for_a_worker_that_starts_later(own_pipeline: Callable[..., Pipeline]) -> None:
    pipeline = own_pipeline(EXTRACT="none")
    with pipeline.memory() as memory:
        accepted = [memory.save(ALICE, Turn(user=f"turn {number}")) for number in range(3)]
    pipeline.start(Queue.EMBED)
    with pipeline.memory() as memory:
        for one in accepted:
            assert memory.wait(one.turn_id, timeout=30).state is TurnState.STORED


def test_the_async_face_saves_and_recalls(pipeline: Pipeline) -> None:
    scope = Scope("async", user_id="alice")

    async def go() -> list[str]:
        async with AsyncMemory(pipeline.memory().settings) as memory:
            await memory.warm_up()
            accepted = await memory.save(scope, Turn(user="I sail on Sundays."))
            assert (await memory.wait(accepted.turn_id, 60)).state is TurnState.STORED
            result = await memory.recall(scope, "What about boats?")
            return [fragment.text for fragment in result.fragments or ()]

    assert "I sail on Sundays." in asyncio.run(go())


def test_in_memory_runs_the_whole_pipeline_in_this_process() -> None:
    def extract(turn: Turn, scope: Scope) -> list[ExtractedFact]:
        return [ExtractedFact(text=f"said: {turn.user}")]

    from afterturn.adapters.in_memory import InMemoryAdapter

    with Memory(adapter=InMemoryAdapter(extract=extract)) as memory:
        accepted = memory.save(ALICE, Turn(user="hello", assistant="hi"))
        assert memory.wait(accepted.turn_id, timeout=30).state is TurnState.STORED
        assert texts(memory, ALICE) == ["hello", "hi", "said: hello"]
        assert memory.save(ALICE, Turn(user="x"), idempotency_key="k").turn_id == (
            memory.save(ALICE, Turn(user="x"), idempotency_key="k").turn_id
        )
