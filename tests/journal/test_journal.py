"""The journal on a real Valkey: accept, claim, move on, let go."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import redis

from afterturn.connections import connect_for_handler
from afterturn.errors import StoreUnavailable, UnknownTurn
from afterturn.ids import new_turn_id
from afterturn.journal.client import Journal
from afterturn.journal.stages import Stage
from afterturn.journal.work import Claim, WorkJournal
from afterturn.keys import JournalKeys, ScopeKeys
from afterturn.model import SaveReceipt, Scope, Turn, TurnState
from afterturn_worker.embedded import EmbeddedStore, free_port
from tests.support.waiting import wait_until

SCOPE = Scope("t1", user_id="alice")
TURN = Turn(user="I moved to Lisbon", assistant="Noted", at=datetime(2026, 5, 4, tzinfo=UTC))


@pytest.fixture
def client(store: EmbeddedStore) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(store.url, decode_responses=True) as opened:
        yield opened


@pytest.fixture
def journal(client: redis.Redis, prefix: str) -> Journal:
    return Journal(client, prefix)


@pytest.fixture
def work(client: redis.Redis, prefix: str) -> WorkJournal:
    return WorkJournal(client, prefix, status_ttl=60)


def accept(journal: Journal, *, stage: Stage = Stage.EMBED, turn: Turn = TURN, scope: Scope = SCOPE) -> str:
    turn_id = new_turn_id()
    journal.accept(turn_id, scope, turn, stage)
    return turn_id


def claim(
    work: WorkJournal, *stages: Stage, own: str | None = None, limit: int = 16, lease: float = 30
) -> list[Claim]:
    return work.claim(
        stages or (Stage.EMBED, Stage.FACTS),
        own=own,
        limit=limit,
        lease=lease,
        token=new_turn_id(),
        task_id="t",
    )


def test_an_accepted_turn_is_queued_with_its_time(journal: Journal) -> None:
    turn_id = accept(journal)
    status = journal.status(turn_id)
    assert status.state is TurnState.QUEUED
    assert TurnState.QUEUED in status.times


def test_accepting_a_turn_again_keeps_the_first_and_tells_its_state(
    journal: Journal, work: WorkJournal, client: redis.Redis, prefix: str
) -> None:
    turn_id = accept(journal)
    (held,) = claim(work)
    work.finish(held)
    assert journal.accept(turn_id, SCOPE, TURN, Stage.EMBED) is TurnState.STORED
    assert claim(work) == []
    assert client.hlen(ScopeKeys.of(prefix, SCOPE).pending) == 0


def test_a_claimed_turn_comes_back_as_it_was_accepted(journal: Journal, work: WorkJournal) -> None:
    turn = Turn(user='Olá ☀️\n"x"', assistant="", at=TURN.at, metadata={"source": ["web", 1]})
    turn_id = accept(journal, turn=turn)
    (entry,) = work.entries(claim(work))
    assert entry is not None
    assert (entry.turn_id, entry.scope, entry.turn) == (turn_id, SCOPE, turn)


def test_the_status_of_an_unknown_turn_is_an_error(journal: Journal) -> None:
    with pytest.raises(UnknownTurn, match="never accepted"):
        journal.status(new_turn_id())


def test_a_turn_is_held_by_one_task_at_a_time(journal: Journal, work: WorkJournal) -> None:
    accept(journal)
    assert len(claim(work)) == 1
    assert claim(work) == []


def test_a_task_takes_its_own_turn_first_and_then_the_oldest(journal: Journal, work: WorkJournal) -> None:
    first, second, third = accept(journal), accept(journal), accept(journal)
    taken = [held.turn_id for held in claim(work, own=third, limit=2)]
    assert taken == [third, first]
    assert [held.turn_id for held in claim(work)] == [second]


def test_raw_turns_are_taken_before_facts(journal: Journal, work: WorkJournal) -> None:
    facts, raw = accept(journal, stage=Stage.FACTS), accept(journal)
    assert [held.turn_id for held in claim(work)] == [raw, facts]


def test_a_turn_whose_lease_has_ended_is_taken_again(journal: Journal, work: WorkJournal) -> None:
    turn_id = accept(journal)
    (lost,) = claim(work, lease=0.01)
    (held,) = wait_until(lambda: claim(work))
    assert (held.turn_id, held.attempts) == (turn_id, 2)
    assert not work.finish(lost), "the task that lost its lease must not end the turn"
    assert work.finish(held)


def test_a_turn_started_twice_without_an_outcome_is_taken_alone(journal: Journal, work: WorkJournal) -> None:
    suspect = accept(journal)
    for _ in range(2):
        claim(work, lease=0.001)
        wait_until(lambda: work.overdue(Stage.EMBED, 0, 1))
    others = [accept(journal), accept(journal)]
    assert [held.turn_id for held in wait_until(lambda: claim(work))] == [suspect]
    assert [held.turn_id for held in claim(work)] == others


def test_a_suspect_never_joins_a_batch_that_another_turn_began(journal: Journal, work: WorkJournal) -> None:
    suspect = accept(journal)
    for _ in range(2):
        claim(work, lease=0.001)
        wait_until(lambda: work.overdue(Stage.EMBED, 0, 1))
    other = accept(journal)
    assert [held.turn_id for held in claim(work, own=other)] == [other]
    assert [held.turn_id for held in wait_until(lambda: claim(work))] == [suspect]


def test_advancing_hands_the_turn_to_the_next_stage_with_fresh_attempts(
    journal: Journal, work: WorkJournal
) -> None:
    turn_id = accept(journal)
    (held,) = claim(work)
    work.settle(SCOPE, turn_id)
    assert work.advance(held, Stage.EXTRACT, [SaveReceipt(ok=True, latency_ms=1.5)])
    status = journal.status(turn_id)
    assert (status.state, status.receipts) == (TurnState.EXTRACTING, (SaveReceipt(ok=True, latency_ms=1.5),))
    (following,) = claim(work, Stage.EXTRACT)
    assert (following.turn_id, following.attempts) == (turn_id, 1)
    (entry,) = work.entries([following])
    assert entry is not None
    assert entry.turn.user == TURN.user


def test_a_finished_turn_keeps_a_status_that_expires_and_no_text(
    journal: Journal, work: WorkJournal, client: redis.Redis, prefix: str
) -> None:
    turn_id = accept(journal)
    (held,) = claim(work)
    work.finish(held)
    status_key = JournalKeys.of(prefix).turn(turn_id)
    assert 0 < client.pttl(status_key) <= 60_000
    left = {key: client.type(key) for key in client.scan_iter(f"*{prefix}*")}
    assert left == {status_key: "hash"}
    assert "Lisbon" not in str(client.hgetall(status_key))


def test_a_postponed_turn_waits_and_a_passing_failure_is_not_held_against_it(
    journal: Journal, work: WorkJournal
) -> None:
    turn_id = accept(journal)
    (held,) = claim(work)
    assert work.postpone(held, wait=0.3, error="embed: away", passing=True)
    assert claim(work) == []
    assert journal.status(turn_id).error == "embed: away"
    (again,) = wait_until(lambda: claim(work))
    assert (again.attempts, again.retries) == (1, 1)


def test_a_postponed_turn_counts_a_failure_that_will_not_pass(journal: Journal, work: WorkJournal) -> None:
    accept(journal)
    (held,) = claim(work)
    work.postpone(held, wait=0.001, error="broken", passing=False)
    (again,) = wait_until(lambda: claim(work))
    assert again.attempts == 2


def test_a_buried_turn_is_dead_and_its_text_kept_apart(
    journal: Journal, work: WorkJournal, client: redis.Redis, prefix: str
) -> None:
    turn_id = accept(journal)
    (held,) = claim(work)
    assert work.bury(held, "embed: EmbedderRejected: 400")
    status = journal.status(turn_id)
    assert (status.state, status.error) == (TurnState.DEAD, "embed: EmbedderRejected: 400")
    keys = ScopeKeys.of(prefix, SCOPE)
    assert client.hkeys(keys.dead) == [turn_id]
    assert not client.exists(keys.pending)
    assert client.zrange(JournalKeys.of(prefix).dead, 0, -1) == [turn_id]


def test_a_task_that_lost_its_lease_takes_no_text_from_the_one_that_holds_the_turn(
    journal: Journal, work: WorkJournal
) -> None:
    accept(journal)
    (lost,) = claim(work, lease=0.001)
    (held,) = wait_until(lambda: claim(work))
    assert not work.bury(lost, "too late")
    assert not work.finish(lost)
    (entry,) = work.entries([held])
    assert entry is not None


def test_an_entry_carries_the_generation_that_it_was_accepted_under(
    journal: Journal, work: WorkJournal, client: redis.Redis, prefix: str
) -> None:
    client.incr(ScopeKeys.of(prefix, SCOPE).fence)
    accept(journal)
    (entry,) = work.entries(claim(work))
    assert entry is not None
    assert entry.generation == 1
    assert work.fence(SCOPE) == 1


def test_an_answer_is_kept_until_its_turn_is_settled(journal: Journal, work: WorkJournal) -> None:
    accept(journal)
    (held,) = claim(work)
    (entry,) = work.entries([held])
    assert entry is not None
    assert work.answer(entry) is None
    work.keep_answer(entry, "[1]")
    assert work.answer(entry) == "[1]"
    work.finish(held)
    assert work.answer(entry) is None


def test_the_first_answer_counts_and_a_late_one_does_not_replace_it(
    journal: Journal, work: WorkJournal
) -> None:
    accept(journal)
    (entry,) = work.entries(claim(work))
    assert entry is not None
    assert work.keep_answer(entry, "[1]") == "[1]"
    assert work.keep_answer(entry, "[]") == "[1]"


def test_a_turn_of_which_nothing_is_known_leaves_the_queue(
    journal: Journal, work: WorkJournal, client: redis.Redis, prefix: str
) -> None:
    lost, kept = accept(journal), accept(journal)
    client.delete(JournalKeys.of(prefix).turn(lost))
    assert [held.turn_id for held in claim(work)] == [kept]
    assert client.zscore(JournalKeys.of(prefix).due(Stage.EMBED), lost) is None


def test_no_answer_is_kept_for_a_turn_that_was_erased(journal: Journal, work: WorkJournal) -> None:
    accept(journal)
    (held,) = claim(work)
    (entry,) = work.entries([held])
    assert entry is not None
    work.finish(held)
    assert work.keep_answer(entry, "[1]") == "[1]"
    assert work.answer(entry) is None


def test_overdue_turns_are_told_oldest_first_and_held_ones_left_out(
    journal: Journal, work: WorkJournal
) -> None:
    first, second, third = accept(journal), accept(journal), accept(journal)
    claim(work, own=second, limit=1)
    assert work.overdue(Stage.EMBED, 0, 10) == [first, third]
    assert work.overdue(Stage.EMBED, 60, 10) == []


def test_one_process_sweeps_at_a_time(work: WorkJournal) -> None:
    assert work.take_sweep_lease("a", 0.05)
    assert not work.take_sweep_lease("b", 0.05)
    assert wait_until(lambda: work.take_sweep_lease("b", 0.05))


def test_a_store_that_is_away_is_a_typed_error_without_the_conversation(prefix: str) -> None:
    away = Journal(
        connect_for_handler(f"redis://127.0.0.1:{free_port()}", 0.1, decode_responses=True), prefix
    )
    with pytest.raises(StoreUnavailable) as caught:
        away.accept(new_turn_id(), SCOPE, TURN, Stage.EMBED)
    assert "Lisbon" not in str(caught.value)
    assert caught.value.__suppress_context__
