"""The deliver step: a turn goes to the adapter's own save, under its own id."""

from __future__ import annotations

from datetime import datetime

import pytest

from afterturn import RecallResult, SaveReceipt, Scope, StepFailed, StoreUnavailable, Turn, TurnState
from afterturn.adapters.base import Capabilities
from afterturn.journal.stages import Stage
from afterturn.keys import ScopeKeys
from tests.support.bench import SCOPE, Bench
from tests.support.waiting import wait_until


class Vendor:
    """Takes turns, and fails with what it is told to."""

    id = "vendor"
    capabilities = Capabilities(extracts=True)

    def __init__(self, *errors: Exception) -> None:
        self.saved: list[tuple[str | None, str]] = []
        self._errors = list(errors)

    def save(self, scope: Scope, turn: Turn, *, turn_id: str | None = None) -> list[SaveReceipt]:
        if self._errors:
            raise self._errors.pop(0)
        if turn.user == "refuse this":
            return [SaveReceipt(ok=False, error=f"500 while storing {turn.user}")]
        self.saved.append((turn_id, turn.user))
        return [SaveReceipt(ok=True, raw={"text": turn.user})]

    def recall(self, scope: Scope, query: str, *, now: datetime | None = None) -> RecallResult:
        return RecallResult("")

    def close(self) -> None: ...


def test_a_turn_is_delivered_under_its_id_and_its_text_leaves_the_journal(bench: Bench) -> None:
    vendor = Vendor()
    bench = bench.with_parts(adapter=vendor)
    turn_id = bench.accept("hello", stage=Stage.DELIVER)
    assert bench.deliver(turn_id) == "delivered 1 turn"
    assert vendor.saved == [(turn_id, "hello")]
    status = bench.status(turn_id)
    assert (status.state, status.receipts) == (TurnState.STORED, (SaveReceipt(ok=True),))
    assert not bench.client.exists(ScopeKeys.of(bench.work.settings.prefix, SCOPE).pending)


def test_a_server_that_is_away_gets_the_turn_later(bench: Bench) -> None:
    vendor = Vendor(StoreUnavailable("502"))
    bench = bench.with_parts(adapter=vendor)
    turn_id = bench.accept("hello", stage=Stage.DELIVER)
    with pytest.raises(StoreUnavailable):
        bench.deliver(turn_id)
    assert bench.status(turn_id).state is TurnState.QUEUED
    wait_until(lambda: bench.deliver(turn_id) == "delivered 1 turn")


def test_a_forgotten_turn_is_not_delivered(bench: Bench) -> None:
    vendor = Vendor()
    bench = bench.with_parts(adapter=vendor)
    turn_id = bench.accept(stage=Stage.DELIVER)
    bench.client.incr(ScopeKeys.of(bench.work.settings.prefix, SCOPE).fence)
    bench.deliver(turn_id)
    assert vendor.saved == []
    assert bench.status(turn_id).state is TurnState.FORGOTTEN


def test_a_receipt_that_says_no_is_a_failure_and_its_words_are_kept_out(bench: Bench) -> None:
    bench = bench.with_parts(adapter=Vendor())
    turn_id = bench.accept("refuse this", stage=Stage.DELIVER)
    with pytest.raises(StepFailed, match="1 of 1 writes as failed"):
        bench.deliver(turn_id)
    status = bench.status(turn_id)
    assert status.state is TurnState.QUEUED
    assert "refuse this" not in str(status)
