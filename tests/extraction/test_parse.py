"""Reading model answers: form is forgiven, nonsense is not."""

from __future__ import annotations

import contextlib
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.extraction.parse import DEFAULT_IMPORTANCE, FACT_LIMIT, TEXT_LIMIT, UnusableAnswer, parse_facts
from afterturn.model import MemoryKind

ONE = '{"facts": [{"text": "The user lives in Lisbon.", "kind": "fact", "importance": 0.7}]}'


@pytest.mark.parametrize(
    "answer",
    [
        ONE,
        f"```json\n{ONE}\n```",
        f"```\n{ONE}```",
        f"Here are the facts:\n```json\n{ONE}\n```\nAnything else?",
        f"Sure! {ONE} I hope that helps {{really}}.",
        f"[Note] as asked: {ONE}",
        f'<think>{{"facts": []}} hmm, there is one</think>\n{ONE}',
        '[{"text": "The user lives in Lisbon.", "kind": "fact", "importance": 0.7}]',
        'The list: [{"text": "The user lives in Lisbon.", "importance": "0.7"}]',
        '{"text": "The user lives in Lisbon.", "importance": 0.7}',
        '{"facts": [{"text": " The user lives in Lisbon. ", "kind": "home", "importance": "0.7", "extra": 1}]}',
        '{"facts": [{"text": "The user lives in Lisbon.", "importance": 0.7}, {"text": " "}, {"text": 5}, 7, null]}',
        '{"facts": [{"text": "The user lives in Lisbon.", "importance": 0.7}, {"text": "the user lives in lisbon."}]}',
    ],
)
def test_an_answer_in_any_usual_form_gives_its_fact(answer: str) -> None:
    [fact] = parse_facts(answer)
    assert (fact.text, fact.kind, fact.importance) == ("The user lives in Lisbon.", MemoryKind.FACT, 0.7)


@pytest.mark.parametrize("answer", ['{"facts": []}', "[]", "```json\n[]\n```", 'None: {"facts": []}'])
def test_an_explicit_empty_list_means_that_there_is_nothing(answer: str) -> None:
    assert parse_facts(answer) == []


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I'm sorry, but I can't help with that.",
        "There is nothing to remember.",
        "I found nothing [1], see [].",
        "{}",
        "null",
        "42",
        '"facts"',
        '{"facts": null}',
        '{"facts": {"text": "x"}}',
        '{"memories": []}',
        '{"error": "no"}',
        '{"facts": [{"text": "cut of',
        '{"facts": [1, 2, 3]}',
        '{"facts": [{"fact": "wrong field"}]}',
        "[1, 2]",
        "[" * 100_000,
        '{"a":' * 20_000,
    ],
)
def test_nonsense_or_a_refusal_is_an_error_and_never_an_empty_list(answer: str) -> None:
    with pytest.raises(UnusableAnswer):
        parse_facts(answer)


def test_the_error_does_not_quote_the_answer() -> None:
    with pytest.raises(UnusableAnswer) as caught:
        parse_facts("secret words")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("given_importance", "importance"),
    [
        ("1.5", 1.0),
        ("-3", 0.0),
        ('"0.25"', 0.25),
        ("1", 1.0),
        ("NaN", DEFAULT_IMPORTANCE),
        ("Infinity", 1.0),
        ("true", DEFAULT_IMPORTANCE),
        ('"high"', DEFAULT_IMPORTANCE),
        ("null", DEFAULT_IMPORTANCE),
        ("[1]", DEFAULT_IMPORTANCE),
        ("1" + "0" * 400, DEFAULT_IMPORTANCE),
    ],
)
def test_importance_is_clamped_and_unreadable_ones_are_middling(
    given_importance: str, importance: float
) -> None:
    [fact] = parse_facts(f'{{"facts": [{{"text": "x", "importance": {given_importance}}}]}}')
    assert fact.importance == importance


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("Preference", "preference"), ("summary", "summary"), ("message", "fact"), (3, "fact")],
)
def test_a_kind_that_facts_do_not_have_becomes_fact(kind: object, expected: str) -> None:
    [fact] = parse_facts(json.dumps({"facts": [{"text": "x", "kind": kind}]}))
    assert fact.kind == expected


def test_thousands_of_facts_are_cut_at_the_limit_and_long_ones_shortened() -> None:
    facts = parse_facts(json.dumps({"facts": [{"text": f"{number} {'x' * 5000}"} for number in range(3000)]}))
    assert len(facts) == FACT_LIMIT
    assert max(len(fact.text) for fact in facts) == TEXT_LIMIT


def test_lone_surrogates_are_mended() -> None:
    [fact] = parse_facts('{"facts": [{"text": "a\\ud800b"}]}')
    assert fact.text == "a\ufffdb"


def test_metadata_is_given_to_each_fact() -> None:
    assert parse_facts(ONE, {"extractor": "m"})[0].metadata == {"extractor": "m"}


@given(st.text(alphabet='{}[]",:factsexn01 `\n', max_size=200))
def test_any_answer_gives_facts_or_the_error(answer: str) -> None:
    with contextlib.suppress(UnusableAnswer):
        assert all(fact.text.strip() for fact in parse_facts(answer))


@pytest.mark.parametrize("piece", ["[", "{", "```\n", '{"', "[[]", "</think>", '{"a":'])
def test_a_hostile_answer_takes_no_longer_than_its_length_deserves(piece: str) -> None:
    began = time.process_time()
    with pytest.raises(UnusableAnswer):
        parse_facts(piece * (200_000 // len(piece)) + " x")
    assert time.process_time() - began < 2
