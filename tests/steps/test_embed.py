"""The embed step: batches, failures of one turn among many, and crashes between its writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from afterturn import (
    EmbedderRejected,
    EmbedderUnavailable,
    ExtractedFact,
    Scope,
    StepFailed,
    Turn,
    TurnState,
)
from afterturn.adapters.in_memory import InMemoryAdapter
from afterturn.journal.stages import Stage
from afterturn.keys import ScopeKeys, record_key
from tests.support.bench import SAID_AT, SCOPE, Bench
from tests.support.fakes import MARKER, CountingEmbedder
from tests.support.waiting import wait_until


def one_fact(turn: Turn, scope: Scope) -> list[ExtractedFact]:
    return [ExtractedFact(text="The user moved to Lisbon", importance=0.7)]


def fail_on(word: str, error: Exception) -> Callable[[Sequence[str]], Exception | None]:
    return lambda texts: error if any(word in text for text in texts) else None


def test_a_turn_is_stored_with_vectors_when_nothing_is_extracted(bench: Bench) -> None:
    turn_id = bench.accept()
    assert bench.embed(turn_id) == "embedded 1 turn"
    assert bench.status(turn_id).state is TurnState.STORED
    assert bench.texts() == ["I moved to Lisbon", "Noted"]
    result = bench.adapter.recall(SCOPE, "Lisbon", now=SAID_AT)
    assert [fragment.pending for fragment in result.fragments or ()] == [False, False]


def test_one_task_takes_what_waits_and_embeds_it_in_one_call(bench: Bench) -> None:
    turn_ids = [bench.accept(f"turn {number}") for number in range(5)]
    assert bench.embed(turn_ids[3]) == "embedded 5 turns"
    assert isinstance(bench.work.embedder, CountingEmbedder)
    assert [len(texts) for texts in bench.work.embedder.calls] == [10]
    assert all(bench.status(turn_id).state is TurnState.STORED for turn_id in turn_ids)


def test_a_task_that_finds_its_turn_done_says_which_task_did_it(bench: Bench) -> None:
    turn_id = bench.accept()
    bench.embed(turn_id)
    assert bench.embed(turn_id) == "already stored by task-embed"


def test_a_batch_is_no_larger_than_the_setting(build_bench: Callable[..., Bench]) -> None:
    bench = build_bench(batch_size=2)
    for number in range(3):
        bench.accept(f"turn {number}")
    assert [bench.embed(), bench.embed()] == ["embedded 2 turns", "embedded 1 turn"]


def test_with_an_extractor_the_raw_turn_is_recallable_and_handed_on(bench: Bench) -> None:
    bench = bench.with_parts(extractor=one_fact)
    turn_id = bench.accept()
    bench.embed(turn_id)
    assert bench.status(turn_id).state is TurnState.EXTRACTING
    assert bench.texts() == ["I moved to Lisbon", "Noted"]
    assert bench.wakes == [(Stage.EXTRACT, turn_id)]


def test_facts_are_embedded_and_written_with_the_turn_that_they_came_from(bench: Bench) -> None:
    bench = bench.with_parts(extractor=one_fact)
    turn_id = bench.accept()
    bench.embed(turn_id)
    assert bench.extract(turn_id) == "extracted from 1 turn"
    assert bench.wakes[-1] == (Stage.FACTS, turn_id)
    assert bench.embed(turn_id) == "embedded 1 turn"
    assert bench.status(turn_id).state is TurnState.STORED
    assert bench.texts() == ["I moved to Lisbon", "Noted", "The user moved to Lisbon"]
    (hit,) = [hit for hit in bench.adapter.recall(SCOPE, "Lisbon").raw if hit.record.kind == "fact"]
    assert hit.record.metadata == {"turn_id": turn_id}
    assert hit.record.embedding is not None


def test_nothing_of_a_finished_turn_stays_in_the_journal(bench: Bench) -> None:
    bench = bench.with_parts(extractor=one_fact)
    turn_id = bench.accept()
    bench.embed(turn_id)
    bench.extract(turn_id)
    bench.embed(turn_id)
    keys = ScopeKeys.of(bench.work.settings.prefix, SCOPE)
    assert not bench.client.exists(keys.pending, keys.unextracted, keys.answers, keys.dead)


def test_an_embedder_that_is_away_postpones_every_turn_and_raises(bench: Bench) -> None:
    bench = bench.with_parts(embedder=CountingEmbedder(lambda _: EmbedderUnavailable("away")))
    turn_ids = [bench.accept(), bench.accept()]
    with pytest.raises(EmbedderUnavailable, match="2 of 2 turns failed"):
        bench.embed()
    assert isinstance(bench.work.embedder, CountingEmbedder)
    assert len(bench.work.embedder.calls) == 1, "one call is enough to know that it is away"
    for turn_id in turn_ids:
        status = bench.status(turn_id)
        assert (status.state, status.error) == (TurnState.QUEUED, "embed: EmbedderUnavailable: away")
    recovered = bench.with_parts(embedder=CountingEmbedder())
    wait_until(lambda: recovered.embed() == "embedded 2 turns")


def test_one_turn_that_can_not_be_embedded_costs_no_other(bench: Bench) -> None:
    bench = bench.with_parts(embedder=CountingEmbedder(fail_on("poison", EmbedderRejected("no"))))
    good, bad, other = bench.accept("fine"), bench.accept("poison"), bench.accept("well")
    with pytest.raises(EmbedderRejected, match="1 of 3 turns failed"):
        bench.embed()
    states = [bench.status(turn_id).state for turn_id in (good, bad, other)]
    assert states == [TurnState.STORED, TurnState.DEAD, TurnState.STORED]


def test_an_unexpected_error_is_told_by_class_and_place_without_its_text(bench: Bench) -> None:
    bench = bench.with_parts(embedder=CountingEmbedder(fail_on(MARKER, RuntimeError(MARKER))))
    turn_id = bench.accept(MARKER)
    with pytest.raises(StepFailed) as caught:
        bench.embed()
    told = f"{caught.value} {bench.status(turn_id).error}"
    assert "RuntimeError at fakes.py" in told
    assert MARKER not in told


def test_an_unexpected_error_is_tried_again_only_so_often(build_bench: Callable[..., Bench]) -> None:
    bench = build_bench(max_attempts=2).with_parts(
        embedder=CountingEmbedder(lambda _: RuntimeError("broken"))
    )
    turn_id = bench.accept()
    for _ in range(2):
        with pytest.raises(StepFailed):
            wait_until(lambda: not bench.embed(turn_id).startswith("already"))
    assert bench.status(turn_id).state is TurnState.DEAD
    keys = ScopeKeys.of(bench.work.settings.prefix, SCOPE)
    assert bench.client.hkeys(keys.dead) == [turn_id]


def test_a_turn_that_kills_its_worker_is_given_up_before_it_is_touched_again(
    build_bench: Callable[..., Bench],
) -> None:
    bench = build_bench(max_attempts=3, embed_lease=0.001)
    turn_id = bench.accept()
    for _ in range(3):  # taken three times, and never heard of again
        wait_until(
            lambda: bench.work.journal.claim(
                [Stage.EMBED], own=None, limit=1, lease=0.001, token="gone", task_id="gone"
            )
        )
    wait_until(lambda: bench.embed() == "embedded 1 turn")
    assert isinstance(bench.work.embedder, CountingEmbedder)
    assert bench.work.embedder.calls == []
    status = bench.status(turn_id)
    assert (status.state, status.error) == (
        TurnState.DEAD,
        "embed: started 3 times without an outcome",
    )


def test_a_crash_between_the_write_and_the_journal_leaves_one_copy(bench: Bench) -> None:
    bench = bench.with_parts(extractor=one_fact)
    turn_id = bench.accept()
    (claim,) = bench.work.journal.claim(
        [Stage.EMBED], own=None, limit=1, lease=0.001, token="gone", task_id="gone"
    )
    (entry,) = bench.work.journal.entries([claim])
    assert entry is not None
    from afterturn.adapters.records import message_records

    bench.adapter.commit(entry, message_records(turn_id, SCOPE, entry.turn, 1), last=False)
    wait_until(lambda: bench.embed() == "embedded 1 turn")
    assert bench.texts() == ["I moved to Lisbon", "Noted"]
    assert bench.status(turn_id).state is TurnState.EXTRACTING


def test_a_crash_after_the_last_write_ends_as_stored(bench: Bench) -> None:
    turn_id = bench.accept()
    (claim,) = bench.work.journal.claim(
        [Stage.EMBED], own=None, limit=1, lease=0.001, token="gone", task_id="gone"
    )
    (entry,) = bench.work.journal.entries([claim])
    assert entry is not None
    bench.adapter.commit(entry, [], last=True)
    wait_until(lambda: bench.embed() == "embedded 1 turn")
    assert bench.status(turn_id).state is TurnState.STORED


def test_a_turn_accepted_before_a_forget_is_not_written(bench: Bench) -> None:
    turn_id = bench.accept()
    keys = ScopeKeys.of(bench.work.settings.prefix, SCOPE)
    bench.client.incr(keys.fence)
    assert bench.embed() == "embedded 1 turn"
    assert bench.status(turn_id).state is TurnState.FORGOTTEN
    assert bench.texts() == []
    assert not list(bench.client.scan_iter(record_key(bench.work.settings.prefix, "*")))
    assert not bench.client.exists(keys.pending)


def test_a_turn_stored_after_an_old_forget_ends_as_stored_whatever_crashes(bench: Bench) -> None:
    bench.client.incr(ScopeKeys.of(bench.work.settings.prefix, SCOPE).fence)
    turn_id = bench.accept()
    (claim,) = bench.work.journal.claim(
        [Stage.EMBED], own=None, limit=1, lease=0.001, token="gone", task_id="gone"
    )
    (entry,) = bench.work.journal.entries([claim])
    assert entry is not None
    bench.adapter.commit(entry, [], last=True)
    wait_until(lambda: bench.embed() == "embedded 1 turn")
    assert bench.status(turn_id).state is TurnState.STORED


def test_facts_of_a_forgotten_turn_are_not_written(bench: Bench) -> None:
    bench = bench.with_parts(extractor=one_fact)
    turn_id = bench.accept()
    bench.embed()
    bench.extract()
    bench.client.incr(ScopeKeys.of(bench.work.settings.prefix, SCOPE).fence)
    bench.embed()
    assert bench.status(turn_id).state is TurnState.FORGOTTEN
    assert "The user moved to Lisbon" not in bench.texts()


def test_a_record_adapter_that_is_not_redis_is_written_and_settled_too(bench: Bench) -> None:
    kept = InMemoryAdapter()
    bench = bench.with_parts(adapter=kept)
    turn_id = bench.accept()
    bench.embed()
    assert bench.status(turn_id).state is TurnState.STORED
    assert sorted(fact.text for fact in kept.list_facts(SCOPE)) == ["I moved to Lisbon", "Noted"]
    assert not bench.client.exists(ScopeKeys.of(bench.work.settings.prefix, SCOPE).pending)
