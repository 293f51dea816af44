"""The extract step: asked once, paid once, and never a failure that looks like nothing to remember."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from afterturn import (
    ExtractedFact,
    ExtractorRejected,
    ExtractorUnavailable,
    Scope,
    StepFailed,
    Turn,
    TurnState,
)
from afterturn.journal.stages import Stage
from afterturn.keys import ScopeKeys
from tests.support.bench import SCOPE, Bench
from tests.support.fakes import MARKER, raise_with_text
from tests.support.waiting import wait_until


class Extractor:
    """Answers in turn with what it is given, and counts."""

    def __init__(self, *answers: list[ExtractedFact] | Exception) -> None:
        self.answers = list(answers)
        self.calls = 0

    def __call__(self, turn: Turn, scope: Scope) -> list[ExtractedFact]:
        self.calls += 1
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


FACT = ExtractedFact(text="The user moved to Lisbon")


def embedded(
    bench: Bench, extractor: Callable[..., object], user: str = "I moved to Lisbon"
) -> tuple[Bench, str]:
    bench = bench.with_parts(extractor=extractor)
    turn_id = bench.accept(user)
    bench.embed(turn_id)
    return bench, turn_id


def test_a_turn_without_facts_is_done_after_the_extraction(bench: Bench) -> None:
    bench, turn_id = embedded(bench, Extractor([]))
    bench.extract(turn_id)
    assert bench.status(turn_id).state is TurnState.STORED
    keys = ScopeKeys.of(bench.work.settings.prefix, SCOPE)
    assert not bench.client.exists(keys.unextracted, keys.answers)


def test_a_model_that_is_away_is_asked_again_later(bench: Bench) -> None:
    extractor = Extractor(ExtractorUnavailable("503"), [FACT])
    bench, turn_id = embedded(bench, extractor)
    with pytest.raises(ExtractorUnavailable):
        bench.extract(turn_id)
    assert bench.status(turn_id).state is TurnState.EXTRACTING
    wait_until(lambda: bench.extract(turn_id) == "extracted from 1 turn")
    assert extractor.calls == 2


def test_a_model_that_asks_to_wait_is_given_the_time(bench: Bench) -> None:
    bench, turn_id = embedded(bench, Extractor(ExtractorUnavailable("429", retry_after=60), [FACT]))
    with pytest.raises(ExtractorUnavailable):
        bench.extract(turn_id)
    assert bench.extract(turn_id).startswith("already extracting")


def test_a_model_that_refuses_makes_a_dead_letter_and_the_raw_turn_stays_recallable(bench: Bench) -> None:
    bench, turn_id = embedded(bench, Extractor(ExtractorRejected("401")))
    with pytest.raises(ExtractorRejected):
        bench.extract(turn_id)
    status = bench.status(turn_id)
    assert (status.state, status.error) == (TurnState.DEAD, "extract: ExtractorRejected: 401")
    assert bench.texts() == ["I moved to Lisbon", "Noted"]


def test_an_answer_that_was_kept_is_not_asked_for_again(bench: Bench) -> None:
    extractor = Extractor([FACT])
    bench, turn_id = embedded(bench, extractor)
    (claim,) = bench.work.journal.claim(
        [Stage.EXTRACT], own=None, limit=1, lease=0.001, token="gone", task_id="gone"
    )
    (entry,) = bench.work.journal.entries([claim])
    assert entry is not None
    from afterturn_tasks.answers import encode_answer

    bench.work.journal.keep_answer(entry, encode_answer(extractor(entry.turn, SCOPE)))  # and then it died
    wait_until(lambda: bench.extract(turn_id) == "extracted from 1 turn")
    bench.embed(turn_id)
    assert extractor.calls == 1
    assert "The user moved to Lisbon" in bench.texts()


def test_an_extractor_whose_error_quotes_the_turn_does_not_get_it_out(bench: Bench) -> None:
    bench, turn_id = embedded(bench, raise_with_text, MARKER)
    with pytest.raises(StepFailed) as caught:
        bench.extract(turn_id)
    assert caught.value.__suppress_context__
    assert MARKER not in f"{caught.value} {bench.status(turn_id).error}"


def test_a_forgotten_turn_is_not_paid_for(bench: Bench) -> None:
    extractor = Extractor([FACT])
    bench, turn_id = embedded(bench, extractor)
    bench.client.incr(ScopeKeys.of(bench.work.settings.prefix, SCOPE).fence)
    bench.extract(turn_id)
    assert extractor.calls == 0
    assert bench.status(turn_id).state is TurnState.FORGOTTEN


def test_transient_failures_end_after_the_time_that_the_settings_give(
    build_bench: Callable[..., Bench],
) -> None:
    bench, turn_id = embedded(build_bench(retry_for=0.001), Extractor(ExtractorUnavailable("503")))
    with pytest.raises(ExtractorUnavailable):
        bench.extract(turn_id)
    assert bench.status(turn_id).state is TurnState.DEAD


def test_two_extractions_of_one_turn_lose_no_fact(bench: Bench) -> None:
    """The first outlives its lease and answers last, with nothing."""
    bench, turn_id = embedded(bench, Extractor([FACT]))

    def slow(turn: Turn, scope: Scope) -> list[ExtractedFact]:
        wait_until(lambda: bench.extract(turn_id) == "extracted from 1 turn")
        bench.embed(turn_id)
        return []

    late = bench.with_parts(
        extractor=slow, settings=bench.work.settings.model_copy(update={"extract_lease": 0.001})
    )
    late.extract(turn_id)
    assert bench.status(turn_id).state is TurnState.STORED
    assert "The user moved to Lisbon" in bench.texts()
