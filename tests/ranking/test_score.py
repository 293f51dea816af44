"""The contract's score: against a literal implementation, and rule by rule."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from afterturn import Hit, MemoryKind, Record, Scope
from afterturn.ranking.score import Query, is_live, rank
from afterturn.ranking.words import query_tokens, text_tokens

DAY = 86_400_000
NOW = 1_800_000_000_000
SCOPE = Scope("t")


def record(record_id: str = "a", text: str = "", **fields: Any) -> Record:
    fields = {"kind": MemoryKind.MESSAGE, "created_at": NOW, **fields}
    if isinstance(fields.get("embedding"), list):
        fields["embedding"] = np.array(fields["embedding"], dtype=np.float64)
    return Record(id=record_id, scope=SCOPE, text=text, **fields)


def asked(text: str = "", vector: list[float] | None = None, model: str | None = "m") -> Query:
    return Query(text, NOW, None if vector is None else np.array(vector), model)


def score_of(one: Record, query: Query) -> float:
    (hit,) = rank([one], query, top_k=1, min_score=-1)
    return hit.score


def literal_cosine(one: Record, query: Query) -> float:
    if one.embedding is None or query.vector is None or len(one.embedding) != len(query.vector):
        return 0.0
    if None not in (one.embedding_model, query.model) and one.embedding_model != query.model:
        return 0.0
    a, b = [float(x) for x in one.embedding], [float(x) for x in query.vector]
    norms = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / norms if norms else 0.0


def literal_score(one: Record, query: Query) -> float:
    tokens = query_tokens(query.text)
    overlap = len([t for t in tokens if t in text_tokens(one.text)]) / len(tokens) if tokens else 0.0
    recency = math.pow(0.5, max(0, query.now - one.created_at) / (30 * DAY))
    return 0.55 * literal_cosine(one, query) + 0.2 * overlap + 0.15 * recency + 0.1 * (one.importance or 0.0)


def literal_rank(
    records: list[Record], query: Query, top_k: int, min_score: float, kinds: set[MemoryKind]
) -> list[tuple[Record, float]]:
    scored = [
        (one, literal_score(one, query))
        for one in records
        if (one.expires_at is None or not one.expires_at < query.now) and (not kinds or one.kind in kinds)
    ]
    kept = [pair for pair in scored if pair[1] >= min_score]
    kept.sort(key=lambda pair: (-pair[1], -pair[0].created_at, pair[0].id))
    return kept[:top_k]


numbers = st.floats(-10, 10, width=32).map(lambda x: 0.0 if abs(x) < 1e-3 else x)
vectors = st.none() | st.lists(numbers, min_size=3, max_size=3) | st.lists(numbers, min_size=2, max_size=2)
texts = st.lists(st.sampled_from(["cat", "dog", "Lisbon", "moved", "猫が好き", "…"]), max_size=5).map(
    " ".join
)
times = st.integers(NOW - 400 * DAY, NOW + 10 * DAY)


@st.composite
def records(draw: st.DrawFn) -> list[Record]:
    count = draw(st.integers(0, 12))
    return [
        record(
            f"id{number}",
            draw(texts),
            kind=draw(st.sampled_from(MemoryKind)),
            created_at=draw(times),
            expires_at=draw(st.none() | st.integers(NOW - 2, NOW + 2)),
            importance=draw(st.none() | st.floats(0, 1)),
            embedding=draw(vectors),
            embedding_model=draw(st.sampled_from([None, "m", "other"])),
        )
        for number in range(count)
    ]


@settings(max_examples=300, deadline=None)
@given(
    records(),
    st.builds(asked, texts, vectors, st.sampled_from([None, "m"])),
    st.integers(1, 8),
    st.floats(-1, 1),
    st.sets(st.sampled_from(MemoryKind)),
)
@example([], asked("x"), 1, 0.0, set())
def test_the_vectorised_ranking_equals_the_literal_one(
    given_records: list[Record], query: Query, top_k: int, min_score: float, kinds: set[MemoryKind]
) -> None:
    # records at the very threshold may fall on either side of it by the last digit
    clear = [one for one in given_records if abs(literal_score(one, query) - min_score) > 1e-9]
    hits = rank(clear, query, top_k=top_k, min_score=min_score, kinds=kinds)
    expected = literal_rank(clear, query, top_k, min_score, kinds)
    assert [hit.score for hit in hits] == pytest.approx([score for _, score in expected], abs=1e-9)
    assert ordered_alike(hits, dict(pairs(clear, query)), [one.id for one, _ in expected])


def pairs(all_records: list[Record], query: Query) -> list[tuple[str, float]]:
    return [(one.id, literal_score(one, query)) for one in all_records]


def ordered_alike(hits: list[Hit], scores: dict[str, float], expected: list[str]) -> bool:
    """The same ids at the same places, save where scores differ by less than 1e-9."""
    return all(
        hit.record.id == other or abs(scores[hit.record.id] - scores[other]) <= 1e-9
        for hit, other in zip(hits, expected, strict=True)
    )


def test_the_parts_are_weighted_55_20_15_10() -> None:
    one = record(text="cat", importance=1.0, embedding=[1, 0], embedding_model="m")
    (hit,) = rank([one], asked("cat dog", [1, 0]), top_k=1, min_score=0)
    assert (hit.parts.semantic, hit.parts.lexical, hit.parts.recency, hit.parts.importance) == (1, 0.5, 1, 1)
    assert hit.score == pytest.approx(0.55 + 0.10 + 0.15 + 0.10, abs=1e-12)


@pytest.mark.parametrize(("age", "recency"), [(0, 1), (30 * DAY, 0.5), (60 * DAY, 0.25), (-5 * DAY, 1)])
def test_recency_halves_every_thirty_days_and_the_future_is_now(age: int, recency: float) -> None:
    assert score_of(record(created_at=NOW - age), asked()) == pytest.approx(0.15 * recency, abs=1e-12)


@pytest.mark.parametrize(
    ("embedding", "model"),
    [
        (None, None),
        ([1.0, 0.0, 0.0], "m"),
        ([0.0, 0.0], "m"),
        ([1.0, 0.0], "other"),
        ([math.inf, 0.0], "m"),
        ([math.nan, 0.0], "m"),
        ([1e-300, 0.0], "m"),
        ([1e300, 1e300], "m"),
        ([[1.0, 0.0], [1.0, 0.0]], "m"),
    ],
    ids=[
        "missing",
        "another-length",
        "zeros",
        "another-model",
        "infinite",
        "not-a-number",
        "too-short-for-its-norm",
        "too-long-for-its-norm",
        "a-matrix",
    ],
)
def test_a_vector_that_cannot_be_compared_counts_as_zero(embedding: Any, model: str | None) -> None:
    one = record(embedding=embedding, embedding_model=model)
    assert score_of(one, asked("", [1, 0])) == pytest.approx(0.15)


def test_a_vector_without_a_models_name_is_compared_by_its_length() -> None:
    assert score_of(record(embedding=[1, 0]), asked("", [1, 0])) == pytest.approx(0.70)


def test_a_query_of_zeros_has_no_semantic_part() -> None:
    one = record(embedding=[1, 0], embedding_model="m")
    assert score_of(one, asked("", [0, 0])) == pytest.approx(0.15)


def test_an_opposite_vector_lowers_the_score() -> None:
    one = record(embedding=[-1, 0], embedding_model="m")
    assert score_of(one, asked("", [1, 0])) == pytest.approx(0.15 - 0.55)


@pytest.mark.parametrize(
    ("expires_at", "live"), [(None, True), (NOW + 1, True), (NOW, True), (NOW - 1, False)]
)
def test_a_record_expiring_now_is_still_live(expires_at: int | None, live: bool) -> None:
    one = record(expires_at=expires_at)
    assert is_live(one, NOW) is live
    assert bool(rank([one], asked(), top_k=1, min_score=0)) is live


def test_only_the_kinds_asked_for_are_ranked() -> None:
    both = [record("a", kind=MemoryKind.FACT), record("b", kind=MemoryKind.MESSAGE)]
    assert [hit.record.id for hit in rank(both, asked(), top_k=9, min_score=0, kinds={MemoryKind.FACT})] == [
        "a"
    ]
    assert len(rank(both, asked(), top_k=9, min_score=0, kinds=())) == 2


def test_a_score_at_the_threshold_is_kept() -> None:
    one = record()
    assert rank([one], asked(), top_k=1, min_score=score_of(one, asked()))


def test_ties_go_to_the_newer_and_then_by_id() -> None:
    # times ahead of now have the same recency
    same = [record("c", created_at=NOW), record("b", created_at=NOW), record("z", created_at=NOW + 1)]
    assert [hit.record.id for hit in rank(same, asked(), top_k=3, min_score=0)] == ["z", "b", "c"]


def test_hits_of_pending_records_say_so() -> None:
    both = [record("a"), record("b")]
    assert [hit.pending for hit in rank(both, asked(), top_k=2, min_score=0, pending={"b"})] == [False, True]


def test_ten_thousand_records_are_ranked_best_first() -> None:
    generator = np.random.default_rng(0)
    many = [
        record(str(n), embedding=list(row)) for n, row in enumerate(generator.standard_normal((10_000, 8)))
    ]
    hits = rank(many, asked("", [1.0] * 8), top_k=6, min_score=-1)
    assert all(better.score >= worse.score for better, worse in pairwise(hits))
    assert hits[0].score == max(score_of(one, asked("", [1.0] * 8)) for one in many)
