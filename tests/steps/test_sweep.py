"""The sweep: as many messages as there are batches that no message stands for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from afterturn.journal.stages import Stage
from afterturn.queues import Queue
from afterturn_tasks.failures import retry_wait
from afterturn_tasks.sweep import sweep
from tests.support.bench import Bench


class Broker:
    """Counts what is sent."""

    def __init__(self, depth: int = 0) -> None:
        self.waiting = depth
        self.sent: list[tuple[Queue, list[str]]] = []

    def depth(self, queue: Queue) -> int:
        return self.waiting

    def send(self, queue: Queue, turn_ids: list[str]) -> None:
        self.sent.append((queue, turn_ids))
        self.waiting += len(turn_ids)


def run(bench: Bench, broker: Broker) -> int:
    return sweep(bench.work.journal, bench.work.settings, depth=broker.depth, send=broker.send)


@pytest.fixture
def eager(build_bench: Callable[..., Bench]) -> Bench:
    return build_bench(sweep_grace=0.0001, batch_size=4)


def test_one_message_stands_for_a_whole_batch(eager: Bench) -> None:
    turn_ids = [eager.accept() for _ in range(10)]
    broker = Broker()
    assert run(eager, broker) == 3
    assert broker.sent == [(Queue.EMBED, [turn_ids[0], turn_ids[4], turn_ids[8]])]


def test_sweeping_again_while_the_messages_wait_sends_none(eager: Bench) -> None:
    for _ in range(10):
        eager.accept()
    broker = Broker()
    assert [run(eager, broker) for _ in range(20)] == [3] + [0] * 19


def test_turns_that_messages_stand_for_are_left_alone(eager: Bench) -> None:
    for _ in range(10):
        eager.accept()
    broker = Broker(depth=2)
    assert run(eager, broker) == 1


def test_each_waiting_extraction_needs_a_message_of_its_own(eager: Bench) -> None:
    turn_ids = [eager.accept(stage=Stage.EXTRACT) for _ in range(3)]
    broker = Broker()
    run(eager, broker)
    assert broker.sent == [(Queue.EXTRACT, turn_ids)]


def test_a_fresh_turn_is_left_to_its_own_message(build_bench: Callable[..., Bench]) -> None:
    bench = build_bench(sweep_grace=60)
    bench.accept()
    assert run(bench, Broker()) == 0


def test_a_turn_that_a_task_holds_is_not_overdue(eager: Bench) -> None:
    eager.accept()
    eager.work.journal.claim([Stage.EMBED], own=None, limit=1, lease=60, token="t", task_id="t")
    assert run(eager, Broker()) == 0


@pytest.mark.parametrize(("retries", "longest"), [(0, 1.0), (1, 2.0), (5, 32.0), (6, 60.0), (500, 60.0)])
def test_waits_double_up_to_a_limit_and_lie_in_their_upper_half(retries: int, longest: float) -> None:
    assert retry_wait(retries, 1.0, 60.0, jitter=lambda low, high: high) == longest
    assert retry_wait(retries, 1.0, 60.0, jitter=lambda low, high: low) == longest / 2
    assert longest / 2 <= retry_wait(retries, 1.0, 60.0) <= longest
