"""Records of a turn: how they are made, and their stored form."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterturn import ExtractedFact, MemoryKind, Record, Role, Scope, Turn
from afterturn.adapters.records import (
    embed_records,
    fact_records,
    message_records,
    record_from_json,
    record_to_json,
)
from tests.support.vectors import TableEmbedder

SCOPE = Scope("t1", user_id="alice")
TURN_ID = "0197f3b4-0000-7000-8000-000000000001"
TURN = Turn(user="I moved to Lisbon", assistant="Noted", at=datetime(2026, 3, 1, tzinfo=UTC))


def stored(**changes: Any) -> str:
    """A record as the reference implementation writes it, with other fields; `...` leaves a field out."""
    fields = {
        "id": "r1",
        "scope": {"threadId": "t1", "userId": "alice"},
        "text": "I moved to Lisbon",
        "kind": "message",
        "role": "user",
        "createdAt": 1_772_323_200_000,
        "updatedAt": 1_772_323_200_001,
        "importance": 0.4,
        "embedding": [0.5, -0.25],
        **changes,
    }
    return json.dumps({name: value for name, value in fields.items() if value is not ...})


def test_ids_derive_from_the_turn_and_the_role() -> None:
    once, again = message_records(TURN_ID, SCOPE, TURN, 1), message_records(TURN_ID, SCOPE, TURN, 2)
    assert [record.id for record in once] == [record.id for record in again]
    assert len({record.id for record in once}) == 2


def test_ids_are_the_same_in_every_version() -> None:
    """A retry may be run by a worker of the next release."""
    user, assistant = message_records(TURN_ID, SCOPE, TURN, 1)
    (fact,) = fact_records(TURN_ID, SCOPE, TURN, [ExtractedFact("Lives in Lisbon")], 1)
    assert user.id == "a3bb7906-58b4-5294-a6d3-0c544e65834b"
    assert assistant.id == "11718a44-3792-5b8a-8c1b-93f5e9fccebc"
    assert fact.id == "773454b3-c35b-51ff-aeb8-e7da17ea9cdb"


def test_ids_of_another_turn_differ() -> None:
    other = TURN_ID[:-1] + "2"
    one, two = message_records(TURN_ID, SCOPE, TURN, 1), message_records(other, SCOPE, TURN, 1)
    assert not {record.id for record in one} & {record.id for record in two}


def test_a_fact_said_like_a_role_is_no_message() -> None:
    (fact,) = fact_records(TURN_ID, SCOPE, TURN, [ExtractedFact("user")], 1)
    assert fact.id not in {record.id for record in message_records(TURN_ID, SCOPE, TURN, 1)}


def test_all_texts_are_embedded_in_one_call() -> None:
    embedder = TableEmbedder({"Noted": (1, 0)})
    user, assistant = embed_records(message_records(TURN_ID, SCOPE, TURN, 1), embedder)
    assert embedder.asked == ["I moved to Lisbon", "Noted"]
    assert assistant.embedding is not None
    assert list(assistant.embedding) == [1, 0, 0]
    assert user.embedding_model == assistant.embedding_model == "table"


def test_unset_fields_are_absent_and_text_is_unescaped() -> None:
    record = Record(id="1", scope=Scope("t"), text="猫 🧠", kind=MemoryKind.FACT, created_at=5)
    assert (
        record_to_json(record)
        == '{"id":"1","scope":{"threadId":"t"},"text":"猫 🧠","kind":"fact","createdAt":5}'
    )


def test_vectors_are_in_the_json_only_when_asked_for() -> None:
    record = Record(
        "1", Scope("t"), "x", MemoryKind.FACT, 5, embedding=np.array([0.5, -0.25], dtype=np.float32)
    )
    assert "embedding" not in json.loads(record_to_json(record))
    assert json.loads(record_to_json(record, with_embedding=True))["embedding"] == [0.5, -0.25]


times = st.integers(0, 4_000_000_000_000)
printable = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)


@st.composite
def records(draw: st.DrawFn) -> Record:
    return Record(
        id=draw(printable),
        scope=Scope(draw(printable), draw(st.none() | printable), draw(st.none() | printable)),
        text=draw(st.text(st.characters(codec="utf-8"))),
        kind=draw(st.sampled_from(MemoryKind)),
        created_at=draw(times),
        role=draw(st.none() | st.sampled_from(Role)),
        updated_at=draw(st.none() | times),
        expires_at=draw(st.none() | times),
        importance=draw(st.none() | st.floats(0, 1)),
        metadata=draw(st.none() | st.dictionaries(printable, st.integers() | printable | st.booleans())),
    )


@settings(deadline=None)
@given(records())
def test_a_stored_record_reads_back_as_it_was(record: Record) -> None:
    text = record_to_json(record)
    assert record_from_json(text) == record_from_json(text.encode()) == record
    assert None not in json.loads(text).values()


def test_a_record_of_the_reference_reads_with_its_vector() -> None:
    record = record_from_json(stored())
    assert record.embedding is not None
    assert record.embedding.tolist() == [0.5, -0.25]
    assert record.embedding_model is None
    assert record.created_at == 1_772_323_200_000


def test_optional_fields_may_be_missing_or_null() -> None:
    for nothing in (..., None):
        record = record_from_json(
            stored(role=nothing, updatedAt=nothing, importance=nothing, embedding=nothing, expiresAt=nothing)
        )
        assert (record.role, record.updated_at, record.importance, record.embedding) == (
            None,
            None,
            None,
            None,
        )
        assert record.expires_at is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "7",
        "[]",
        '"a string"',
        "{}",
        "\ufeff{}",
        "[" * 100_000,
        stored(id=...),
        stored(id=7),
        stored(text=...),
        stored(text=None),
        stored(kind="rumour"),
        stored(role="system"),
        stored(scope=None),
        stored(scope={}),
        stored(scope={"threadId": ["t1"]}),
        stored(createdAt="yesterday"),
        stored(createdAt=1e300),
        stored(createdAt=1_772_323_200_000_000_000),
        stored(createdAt=float("inf")),
        stored(importance=float("nan")),
        stored(metadata={"score": float("nan")}),
        stored(importance="high"),
        stored(embedding="oops"),
        stored(embedding=[[1.0], [2.0]]),
        stored(embedding=[1.0, "x"]),
    ],
    ids=lambda text: text[:60].replace("[[", "") if len(text) < 1000 else "nested",
)
def test_what_is_no_record_is_refused_without_quoting_it(text: str) -> None:
    with pytest.raises(ValueError, match=r"^is not the JSON of a record \(\w+\)$"):
        record_from_json(text)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(ValueError, match="not the JSON of a record"):
        record_from_json(b"\xff\xfe")


@pytest.mark.parametrize(
    "other", [Scope("t2", user_id="alice"), Scope("t1"), Scope("t1", "alice", "acme"), Scope("t1", "bob")]
)
def test_a_record_of_another_scope_is_refused(other: Scope) -> None:
    with pytest.raises(ValueError, match="belongs to another scope"):
        record_from_json(stored(), scope=other)


def test_a_record_of_another_namespace_is_of_the_same_scope() -> None:
    assert record_from_json(stored(), scope=Scope("t1", "alice", namespace="n")).id == "r1"


def test_an_empty_user_in_the_json_counts_as_unset() -> None:
    assert record_from_json(stored(scope={"threadId": "t1", "userId": ""}), scope=Scope("t1")).id == "r1"
