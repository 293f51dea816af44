"""Reading files of conversations; no service needed."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.history import BadItem, ImportedTurn, read_history
from afterturn.history.items import CHUNK, Item, read_items
from afterturn.history.messages import MalformedMessage, pair_messages
from afterturn.model import Scope

BASE = {"thread_id": "t", "user_id": "u"}


def read(*values: object) -> list[ImportedTurn | BadItem]:
    return list(read_history(io.BytesIO("\n".join(map(json.dumps, values)).encode())))


def read_bytes(data: bytes) -> list[ImportedTurn | BadItem]:
    return list(read_history(io.BytesIO(data)))


def turn_of(value: object) -> ImportedTurn:
    (found,) = read(value)
    assert isinstance(found, ImportedTurn), found
    return found


def reason_of(value: object) -> str:
    (found,) = read(value)
    assert isinstance(found, BadItem), found
    return found.reason


def pairs(messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [("|".join(one.user), "|".join(one.assistant)) for one in pair_messages(messages)]


def said(*roles: str) -> list[dict[str, Any]]:
    return [{"role": role, "content": f"{role[0]}{number}"} for number, role in enumerate(roles, 1)]


def test_an_exchange_becomes_a_turn_with_scope_time_and_metadata() -> None:
    found = turn_of(
        {
            **BASE,
            "tenant_id": "x",
            "user": "Hi",
            "assistant": "Hello",
            "at": "2026-11-30T10:00:00+01:00",
            "metadata": {"ref": 1},
        }
    )
    assert found.scope == Scope("t", "u", "x")
    assert (found.turn.user, found.turn.assistant) == ("Hi", "Hello")
    assert found.turn.at == datetime(2026, 11, 30, 9, tzinfo=UTC)
    assert found.turn.metadata == {"ref": 1}


def test_null_stands_for_an_unset_value() -> None:
    found = turn_of(
        {"thread_id": "t", "user_id": None, "tenant_id": None, "user": "Hi", "assistant": None, "at": None}
    )
    assert found.scope == Scope("t")
    assert found.turn.assistant == ""
    assert found.turn.at is None


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([[BASE]], "must be an object, not list"),
        ({"user_id": "u", "user": "x"}, "thread_id is missing"),
        ({"thread_id": "t", "user": "x"}, "user_id is missing (null where the thread has no user)"),
        ({**BASE, "thread_id": "", "user": "x"}, "thread_id is empty: give the id of the conversation"),
        ({**BASE, "thread_id": 7, "user": "x"}, "thread_id must be a string, not int"),
        ({**BASE, "user_id": "\ud800", "user": "x"}, "user_id has a lone surrogate"),
        (BASE, "user and assistant are both empty"),
        ({**BASE, "user": "", "assistant": ""}, "user and assistant are both empty"),
        ({**BASE, "user": ["x"]}, "user must be a string, not list"),
        ({**BASE, "user": "x", "at": "2026-11-30T10:00:00"}, "at has no time zone"),
        ({**BASE, "user": "x", "at": "yesterday"}, "at must be an ISO 8601 time"),
        ({**BASE, "user": "x", "at": 1764496800}, "at must be an ISO 8601 time"),
        ({**BASE, "user": "x", "metadata": []}, "metadata must be a dict, not list"),
        ({**BASE, "user": "x", "messages": []}, "has messages beside user or assistant"),
        ({**BASE, "messages": []}, "messages have no text of user or assistant"),
        ({**BASE, "messages": {"role": "user"}}, "messages must be a list, not dict"),
        ({**BASE, "messages": ["hello"]}, "message 1 must be an object, not str"),
        (
            {**BASE, "messages": [{"role": "robot", "content": "x"}]},
            "message 1 needs a role: one of user, assistant",
        ),
        (
            {**BASE, "messages": [{"role": "user", "content": 5}]},
            "content of message 1 must be a string or a list",
        ),
        (
            {**BASE, "messages": [{"role": "user", "content": [{"type": "text", "text": 5}]}]},
            "content of message 1 has a text part whose text is not a string",
        ),
    ],
)
def test_what_is_wrong_with_a_line_is_named(value: object, reason: str) -> None:
    assert reason_of(value).startswith(reason)


def test_a_reason_never_quotes_the_conversation() -> None:
    secret = "PINEAPPLE"
    values: list[object] = [
        {**BASE, "user": [secret]},
        {**BASE, "user": "x", "at": secret},
        {**BASE, "messages": [{"role": secret, "content": secret}]},
        {**BASE, "messages": [{"role": "user", "content": {"text": secret}}]},
        secret,
    ]
    broken = f'{{"user": "{secret}\n'.encode() + f'{{"user": "{secret}\\q"}}'.encode()
    found = read(*values) + read_bytes(broken)
    assert len(found) == 7
    assert all(isinstance(one, BadItem) and secret not in one.reason for one in found)


def test_bad_lines_are_numbered_as_an_editor_does_and_the_rest_goes_on() -> None:
    good = json.dumps({**BASE, "user": "x"}).encode()
    found = read_bytes(b"\n".join([b"", good, b"{", b"", b"\xff\xfe", good, b"9" * 5000]))
    assert [(type(one).__name__, one.place) for one in found] == [
        ("ImportedTurn", "line 2"),
        ("BadItem", "line 3"),
        ("BadItem", "line 5"),
        ("ImportedTurn", "line 6"),
        ("BadItem", "line 7"),
    ]


@pytest.mark.parametrize("depth", [100_000])
def test_nesting_without_end_is_a_bad_line(depth: int) -> None:
    (found,) = read_bytes(b'{"a":' * depth)
    assert isinstance(found, BadItem)


def test_a_byte_order_mark_and_windows_line_ends_are_accepted() -> None:
    line = json.dumps({**BASE, "user": "x"}).encode()
    found = read_bytes(b"\xef\xbb\xbf" + line + b"\r\n" + line + b"\r\n")
    assert [one.place for one in found if isinstance(one, ImportedTurn)] == ["line 1", "line 2"]


def test_an_empty_file_has_no_turns() -> None:
    assert read_bytes(b"") == read_bytes(b"\n \n") == read_bytes(b"[]") == []


def test_a_file_may_be_one_array() -> None:
    values = [{**BASE, "user": "one"}, {**BASE, "user": 2}, {**BASE, "messages": said("user", "assistant")}]
    found = read_bytes(json.dumps(values, indent=2).encode())
    assert [(type(one).__name__, one.place) for one in found] == [
        ("ImportedTurn", "item 1"),
        ("BadItem", "item 2"),
        ("ImportedTurn", "item 3"),
    ]


@pytest.mark.parametrize("tail", [b"", b",", b" x]", b'{"user"'])
def test_a_broken_array_gives_what_stands_before_the_break(tail: bytes) -> None:
    found = read_bytes(b"[" + json.dumps({**BASE, "user": "x"}).encode() + tail)
    assert isinstance(found[0], ImportedTurn)
    assert isinstance(found[-1], BadItem)
    assert found[-1].reason.endswith("nothing after it was read")


def test_an_array_that_is_not_utf_8_says_so() -> None:
    found = read_bytes(b"[" + json.dumps({**BASE, "user": "x"}).encode() + b"\xff")
    assert isinstance(found[-1], BadItem)
    assert found[-1].reason == "is not UTF-8; nothing after it was read"


@given(st.lists(st.recursive(st.none() | st.integers() | st.text(), st.lists), max_size=8), st.booleans())
def test_an_array_is_read_as_json_reads_it(values: list[Any], escaped: bool) -> None:
    data = json.dumps(values, ensure_ascii=escaped, indent=1).encode("utf-8", "surrogatepass")
    assert [one.value for one in read_items(io.BytesIO(data)) if isinstance(one, Item)] == values


def test_an_element_longer_than_a_chunk_is_read_whole() -> None:
    values = [12345, "é" * CHUNK * 3, 67890]
    for text in (json.dumps(values), json.dumps(values, ensure_ascii=False)):
        found = list(read_items(io.BytesIO(text.encode())))
        assert [one.value for one in found if isinstance(one, Item)] == values


@pytest.mark.parametrize("separators", [(",", ":"), (",\n ", ": ")])
def test_an_array_much_longer_than_a_chunk_is_read_to_its_end(separators: tuple[str, str]) -> None:
    values = [{"number": number, "text": "x" * (number % 977)} for number in range(3000)]
    values.insert(1500, {"number": -1, "text": "y" * CHUNK * 20})
    data = json.dumps(values, separators=separators).encode()
    assert [one.value for one in read_items(io.BytesIO(data)) if isinstance(one, Item)] == values


def test_a_first_line_longer_than_a_chunk_is_one_line() -> None:
    lines = [json.dumps({"text": "x" * CHUNK * 2}), json.dumps({"text": "y"})]
    found = list(read_items(io.BytesIO("\n".join(lines).encode())))
    assert [one.place for one in found if isinstance(one, Item)] == ["line 1", "line 2"]


def test_users_and_assistants_are_paired_in_order() -> None:
    assert pairs(said("system", "user", "assistant", "user", "assistant")) == [("u2", "a3"), ("u4", "a5")]


def test_messages_of_one_side_in_a_row_are_one_text() -> None:
    assert pairs(said("user", "user", "assistant", "tool", "assistant")) == [("u1|u2", "a3|a5")]
    assert turn_of({**BASE, "messages": said("user", "user")}).turn.user == "u1\nu2"


def test_a_greeting_and_an_unanswered_question_are_turns_of_one_side() -> None:
    assert pairs(said("assistant", "user", "assistant", "user")) == [("", "a1"), ("u2", "a3"), ("u4", "")]


def test_content_may_be_text_parts_or_absent() -> None:
    parts: list[dict[str, Any]] = [
        {"type": "text", "text": "one"},
        {"type": "image_url", "image_url": {"url": "x"}},
        {"type": "input_text", "text": "two"},
    ]
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": parts},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "assistant", "content": "done"},
    ]
    assert pairs(messages) == [("one\ntwo", "done")]


def test_an_unknown_role_refuses_the_whole_list() -> None:
    with pytest.raises(MalformedMessage, match="message 2"):
        pair_messages([{"role": "user", "content": "x"}, {"role": "robot"}])


def test_a_messages_own_time_wins_over_the_lists() -> None:
    messages = said("user", "assistant", "user")
    messages[0]["at"] = "2026-01-01T00:00:00Z"
    found = read({**BASE, "at": "2026-02-02T00:00:00Z", "messages": messages})
    months = [one.turn.at.month for one in found if isinstance(one, ImportedTurn) and one.turn.at]
    assert months == [1, 2]


def test_the_same_file_gives_the_same_keys_again() -> None:
    values = [
        {**BASE, "user": "x"},
        {**BASE, "user": "x"},
        {**BASE, "messages": said("user", "assistant", "user")},
    ]
    first, second = read(*values), read(*values)
    assert first == second
    keys = {one.key for one in first if isinstance(one, ImportedTurn)}
    assert len(keys) == 4


def test_a_key_says_how_often_the_same_stood_before() -> None:
    keys = [
        one.key.rpartition(":")[2]
        for one in read(*[{**BASE, "user": "ok"}] * 3)
        if isinstance(one, ImportedTurn)
    ]
    assert keys == ["0", "1", "2"]


def test_a_line_put_in_front_changes_no_other_key() -> None:
    alone = turn_of({**BASE, "user": "x"})
    _, after = read({**BASE, "user": "new"}, {**BASE, "user": "x"})
    assert isinstance(after, ImportedTurn)
    assert after.key == alone.key


@pytest.mark.parametrize(
    "change",
    [
        {"thread_id": "t2"},
        {"user_id": "u2"},
        {"user_id": None},
        {"tenant_id": "x"},
        {"namespace": "n"},
        {"user": "y"},
        {"assistant": "y"},
        {"at": "2026-11-30T10:00:00Z"},
        {"user": "", "assistant": "x"},
    ],
)
def test_another_scope_text_or_time_is_another_key(change: dict[str, Any]) -> None:
    value = {**BASE, "user": "x"}
    assert turn_of(value).key != turn_of({**value, **change}).key


def test_the_same_moment_in_another_zone_is_the_same_key() -> None:
    moment = datetime(2026, 11, 30, 10, tzinfo=UTC)
    elsewhere = moment.astimezone(timezone(timedelta(hours=5, minutes=30)))
    keys = {turn_of({**BASE, "user": "x", "at": one.isoformat()}).key for one in (moment, elsewhere)}
    assert len(keys) == 1
