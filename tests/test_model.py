"""What is refused at the edge, with which words, and what is mended instead."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterturn import ExtractedFact, MemoryKind, Role, Scope, ScopeError, Turn, TurnError, ValidationError
from afterturn.model import (
    METADATA_LIMIT,
    SCOPE_VALUE_LIMIT,
    TurnState,
    from_millis,
    revised_turn,
    to_millis,
)

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
FIELDS = ["thread_id", "user_id", "tenant_id", "namespace"]
LONE = "\ud83e"
CYCLE: dict[str, Any] = {}
CYCLE["again"] = CYCLE

anything_typed = st.text(st.characters(exclude_categories=[]))


def refusal(error: type[ValidationError], make: Callable[[], object]) -> str:
    with pytest.raises(error) as caught:
        make()
    assert type(caught.value) is error
    return str(caught.value)


def scope_with(field: str, value: object) -> Scope:
    fields: dict[str, Any] = {"thread_id": "t", field: value}
    return Scope(**fields)


def turn_with(**fields: Any) -> Turn:
    return Turn(**{"user": "hello", **fields})


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(
    ("value", "kind"), [(7, "int"), (b"t", "bytes"), (True, "bool"), (["t"], "list"), (1.5, "float")]
)
def test_a_scope_value_that_is_no_string_is_named_with_its_type(field: str, value: object, kind: str) -> None:
    assert refusal(ScopeError, lambda: scope_with(field, value)) == f"{field} must be a string, not {kind}"


@pytest.mark.parametrize("field", FIELDS)
def test_a_scope_value_of_513_characters_is_refused_with_the_limit(field: str) -> None:
    message = refusal(ScopeError, lambda: scope_with(field, "x" * 513))
    assert message == f"{field} has 513 characters; the limit is 512"


@pytest.mark.parametrize("field", FIELDS)
def test_a_scope_value_of_512_characters_is_taken(field: str) -> None:
    longest = "\U0001f9e0" * SCOPE_VALUE_LIMIT
    assert getattr(scope_with(field, longest), field) == longest


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("value", [LONE, f"a{LONE}b", LONE + LONE])
def test_a_scope_value_with_surrogates_is_refused_and_not_quoted(field: str, value: str) -> None:
    message = refusal(ScopeError, lambda: scope_with(field, value))
    assert message.startswith(f"{field} has a lone surrogate")
    assert message.isascii()


def test_an_empty_thread_id_is_refused() -> None:
    assert refusal(ScopeError, lambda: Scope("")).startswith("thread_id is empty")


def test_no_thread_id_is_refused() -> None:
    message = refusal(ScopeError, lambda: scope_with("thread_id", None))
    assert message == "thread_id must be a string, not NoneType"


@pytest.mark.parametrize("field", FIELDS[1:])
def test_an_empty_optional_scope_value_counts_as_unset(field: str) -> None:
    assert scope_with(field, "") == Scope("t")
    assert hash(scope_with(field, "")) == hash(Scope("t"))


@pytest.mark.parametrize("value", [" ", "\0", "_", ":", "None", "\u202e"])
def test_a_scope_value_is_kept_as_it_is(value: str) -> None:
    assert Scope(value, value, value, value).to_dict() == dict.fromkeys(
        ("threadId", "userId", "tenantId", "namespace"), value
    )


def test_unset_scope_values_are_absent_from_its_dict() -> None:
    assert Scope("t").to_dict() == {"threadId": "t"}


optional_values = st.none() | st.text(max_size=20)


@given(st.text(min_size=1, max_size=20), optional_values, optional_values, optional_values)
def test_a_scope_survives_its_dict(
    thread: str, user: str | None, tenant: str | None, space: str | None
) -> None:
    scope = Scope(thread, user, tenant, space)
    assert Scope.from_dict(scope.to_dict()) == scope


def test_scopes_and_turns_cannot_be_changed() -> None:
    for value, field in [(Scope("t"), "user_id"), (turn_with(), "user")]:
        with pytest.raises(FrozenInstanceError):
            setattr(value, field, "mallory")


def test_a_turn_with_two_empty_texts_is_refused() -> None:
    assert refusal(TurnError, Turn).startswith("user and assistant are both empty")


@pytest.mark.parametrize("side", ["user", "assistant"])
@pytest.mark.parametrize(
    ("value", "kind"), [(None, "NoneType"), (b"hello", "bytes"), (7, "int"), (["hello"], "list")]
)
def test_a_text_that_is_no_string_is_named_with_its_type(side: str, value: object, kind: str) -> None:
    fields = {"user": "hello", "assistant": "hello", side: value}
    assert refusal(TurnError, lambda: turn_with(**fields)) == f"{side} must be a string, not {kind}"


def test_a_naive_time_is_refused() -> None:
    message = refusal(TurnError, lambda: turn_with(at=datetime(2026, 5, 4)))  # noqa: DTZ001
    assert message.startswith("at has no time zone")


@pytest.mark.parametrize(
    ("value", "kind"), [("2026-05-04T12:00:00Z", "str"), (1_777_896_000, "int"), (date(2026, 5, 4), "date")]
)
def test_a_time_of_another_type_is_refused(value: object, kind: str) -> None:
    assert refusal(TurnError, lambda: turn_with(at=value)) == f"at must be a datetime, not {kind}"


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (["a"], "metadata must be a dict, not list"),
        ("a", "metadata must be a dict, not str"),
        ({"secret": object()}, "metadata is not JSON (TypeError)"),
        ({"secret": {1, 2}}, "metadata is not JSON (TypeError)"),
        ({"secret": float("nan")}, "metadata is not JSON (ValueError)"),
        ({"secret": float("inf")}, "metadata is not JSON (ValueError)"),
        ({("a", "b"): "secret"}, "metadata is not JSON (TypeError)"),
        ({1: "secret"}, "metadata has a key that is not a string"),
        ({"secret": {1: "a"}}, "metadata has a key that is not a string"),
        (CYCLE, "metadata is not JSON (RecursionError)"),
        ({"a": "x" * 16_376}, "metadata has 16385 characters of JSON; the limit is 16384"),
    ],
    ids=[
        *("a-list", "a-string", "an-object", "a-set", "nan", "infinity", "a-tuple-as-key", "a-number-as-key"),
        *("a-nested-number-as-key", "a-cycle", "too-long"),
    ],
)
def test_metadata_that_no_store_could_keep_is_refused_and_not_quoted(metadata: object, message: str) -> None:
    assert refusal(TurnError, lambda: turn_with(metadata=metadata)) == message


def test_metadata_at_the_limit_is_taken() -> None:
    longest = {"a": "x" * (METADATA_LIMIT - len('{"a": ""}'))}
    assert turn_with(metadata=longest).metadata == longest


def test_metadata_changed_after_the_fact_changes_no_turn() -> None:
    metadata: dict[str, Any] = {"topic": "birds", "seen": ["heron"]}
    turn = turn_with(metadata=metadata)
    metadata["topic"] = "nuts"
    metadata["seen"].append("walnut")
    assert turn.metadata == {"topic": "birds", "seen": ["heron"]}


@settings(deadline=None)
@given(anything_typed, anything_typed, st.dictionaries(anything_typed, anything_typed, max_size=3))
def test_what_a_person_typed_is_never_refused(user: str, assistant: str, metadata: dict[str, str]) -> None:
    turn = Turn(user=user or "x", assistant=assistant, metadata=metadata)
    assert turn.metadata is not None
    for text in (turn.user, turn.assistant, *turn.metadata, *turn.metadata.values()):
        assert text.encode().decode() == text
        assert "\0" not in text


def test_surrogates_are_mended_and_nul_dropped() -> None:
    turn = Turn(user=f"a{LONE}b\ud83d\ude00", assistant="c\0d", metadata={f"k{LONE}": ["\0v"]})
    assert (turn.user, turn.assistant) == ("a\ufffdb\U0001f600", "cd")
    assert turn.metadata == {"k\ufffd": ["v"]}


def test_a_turn_that_is_empty_once_cleaned_has_no_sides() -> None:
    assert Turn(user="\0").sides() == []


def test_sides_are_the_texts_that_are_not_empty_user_first() -> None:
    assert Turn(user="a", assistant="b").sides() == [(Role.USER, "a"), (Role.ASSISTANT, "b")]
    assert Turn(assistant="b").sides() == [(Role.ASSISTANT, "b")]


def test_a_revised_turn_keeps_what_is_not_named() -> None:
    turn = turn_with(metadata={"a": 1})
    assert revised_turn(turn, at=NOON) == turn_with(metadata={"a": 1}, at=NOON)
    assert revised_turn(Turn(user="\0"), at=NOON).user == ""


@pytest.mark.parametrize("text", ["", " \n", "\0", None, 7])
def test_a_fact_without_text_is_refused(text: Any) -> None:
    assert refusal(ValidationError, lambda: ExtractedFact(text)) == "a fact needs a text"


def test_a_fact_of_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    kind: Any = "rumour"
    message = refusal(ValidationError, lambda: ExtractedFact("x", kind))
    assert message == "a fact's kind must be one of message, summary, fact, preference"


def test_a_facts_kind_may_be_written_as_a_string() -> None:
    kind: Any = "preference"
    assert ExtractedFact("x", kind).kind is MemoryKind.PREFERENCE


@pytest.mark.parametrize("importance", [-0.01, 1.01, float("nan"), float("inf"), "0.5", True, [0.5]])
def test_an_importance_that_is_no_number_from_0_to_1_is_refused(importance: Any) -> None:
    message = refusal(ValidationError, lambda: ExtractedFact("x", importance=importance))
    assert message.startswith("a fact's importance must be a number from 0 to 1")


@pytest.mark.parametrize("importance", [None, 0, 0.4, 1])
def test_an_importance_from_0_to_1_is_taken(importance: float | None) -> None:
    assert ExtractedFact("x", importance=importance).importance == importance


def test_an_importance_of_numpy_becomes_a_number_that_json_has() -> None:
    importance: Any = np.float32(0.5)
    assert json.dumps(ExtractedFact("x", importance=importance).importance) == "0.5"


def test_a_fact_that_expires_at_a_naive_time_is_refused() -> None:
    message = refusal(ValidationError, lambda: ExtractedFact("x", expires_at=datetime(2026, 5, 4)))  # noqa: DTZ001
    assert message.startswith("expires_at has no time zone")


@pytest.mark.parametrize("metadata", [{"a": object()}, {"a": float("nan")}, {1: "a"}, ["a"]])
def test_a_facts_metadata_must_be_json(metadata: Any) -> None:
    message = refusal(ValidationError, lambda: ExtractedFact("x", metadata=metadata))
    assert message.startswith("metadata ")


def test_a_facts_text_and_metadata_are_cleaned() -> None:
    fact = ExtractedFact(f"a\0{LONE}", metadata={"k": LONE})
    assert (fact.text, fact.metadata) == ("a\ufffd", {"k": "\ufffd"})


@pytest.mark.parametrize(
    ("moment", "millis"),
    [
        (datetime(1970, 1, 1, tzinfo=UTC), 0),
        (datetime(1970, 1, 1, 0, 0, 0, 1_999, tzinfo=UTC), 1),
        (datetime(1969, 12, 31, 23, 59, 59, 999_500, tzinfo=UTC), -1),
        (datetime(2026, 5, 4, 14, tzinfo=timezone(timedelta(hours=2))), 1_777_896_000_000),
    ],
)
def test_milliseconds_are_rounded_down_whatever_the_zone(moment: datetime, millis: int) -> None:
    assert to_millis(moment) == millis


@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_milliseconds_of_any_calendar_time_survive(millis: int) -> None:
    assert to_millis(from_millis(millis)) == millis


def test_a_turn_that_waits_for_somebody_is_not_finished() -> None:
    finished = {state for state in TurnState if state.finished}
    assert finished == {TurnState.STORED, TurnState.DEAD, TurnState.FORGOTTEN, TurnState.REFUSED}
