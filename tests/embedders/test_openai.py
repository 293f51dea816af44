"""Embedding by an OpenAI-compatible endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from afterturn.embedders import Embedder
from afterturn.embedders.openai import BATCH_LIMIT, OpenAIEmbedder
from afterturn.errors import EmbedderRejected, EmbedderUnavailable
from tests.support.http_stub import Answer, HttpStub, Request, closed_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.http_stub import Script


def vectors_for(request: Request) -> Answer:
    """[length of the text, 1, 0], the items in reverse order."""
    items = [
        {"object": "embedding", "index": index, "embedding": [len(text), 1, 0]}
        for index, text in enumerate(request.json["input"])
    ]
    return Answer(body={"object": "list", "data": items[::-1]})


class Stubbed:
    """A stub and its embedder."""

    def __init__(self, script: Script, **options: Any) -> None:
        self.stub = HttpStub(script)
        self.stub.__enter__()
        self.embedder = OpenAIEmbedder(f"{self.stub.url}/v1", "small", api_key="sk-secret", **options)

    def close(self) -> None:
        self.embedder.close()
        self.stub.__exit__()


@pytest.fixture
def stubbed() -> Iterator[Callable[..., Stubbed]]:
    opened: list[Stubbed] = []

    def start(script: Script, **options: Any) -> Stubbed:
        opened.append(Stubbed(script, **options))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


def data(*embeddings: Any) -> Answer:
    return Answer(
        body={"data": [{"index": place, "embedding": vector} for place, vector in enumerate(embeddings)]}
    )


def test_the_request_is_what_the_protocol_asks_for(stubbed: Callable[..., Stubbed]) -> None:
    started = stubbed(vectors_for)
    started.embedder.embed(["a", "bb"])
    [request] = started.stub.requests
    assert (request.method, request.path) == ("POST", "/v1/embeddings")
    assert request.headers["authorization"] == "Bearer sk-secret"
    assert request.json == {"model": "small", "input": ["a", "bb"], "encoding_format": "float"}


def test_it_is_an_embedder(stubbed: Callable[..., Stubbed]) -> None:
    embedder: Embedder = stubbed(vectors_for, dimension=3).embedder
    assert isinstance(embedder, Embedder)


def test_vectors_are_ordered_by_index(stubbed: Callable[..., Stubbed]) -> None:
    vectors = stubbed(vectors_for).embedder.embed(["a", "bb", "ccc"])
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[1, 1, 0], [2, 1, 0], [3, 1, 0]]


def test_many_texts_go_in_batches_and_come_back_in_order(stubbed: Callable[..., Stubbed]) -> None:
    started = stubbed(vectors_for)
    texts = ["x" * count for count in range(1, 2 * BATCH_LIMIT + 2)]
    vectors = started.embedder.embed(texts)
    assert vectors[:, 0].tolist() == [len(text) for text in texts]
    assert [len(request.json["input"]) for request in started.stub.requests] == [BATCH_LIMIT, BATCH_LIMIT, 1]


def test_the_dimension_is_learnt_from_the_first_answer(stubbed: Callable[..., Stubbed]) -> None:
    started = stubbed(vectors_for)
    assert started.embedder.dimension == 3
    assert started.embedder.dimension == 3
    assert len(started.stub.requests) == 1


def test_a_given_dimension_needs_no_request(stubbed: Callable[..., Stubbed]) -> None:
    started = stubbed(vectors_for, dimension=3)
    assert started.embedder.embed([]).shape == (0, 3)
    assert started.stub.requests == []


def test_vectors_of_another_length_than_given_are_refused(stubbed: Callable[..., Stubbed]) -> None:
    with pytest.raises(EmbedderRejected, match=r"vectors of 3, expected 4.*AFTERTURN_EMBEDDING_DIMENSION"):
        stubbed(vectors_for, dimension=4).embedder.embed(["a"])


def test_a_model_that_changes_its_length_is_refused(stubbed: Callable[..., Stubbed]) -> None:
    embedder = stubbed([data([1, 2]), data([1, 2, 3])]).embedder
    embedder.embed(["a"])
    with pytest.raises(EmbedderRejected, match="vectors of 3, expected 2"):
        embedder.embed(["a"])


@pytest.mark.parametrize(
    "answer",
    [
        data(),
        data([1, 2], [3, 4]),
        data([]),
        data("text"),
        data(None),
        data([1, None]),
        data([[1], [2]]),
        data(["NaN", 1]),
        Answer(body='{"data": [{"index": 0, "embedding": [NaN, 1]}]}'),
        Answer(body='{"data": [{"index": 0, "embedding": [1e39, 1]}]}'),
        Answer(body={"data": [{"index": 7, "embedding": [1]}]}),
        Answer(body={"data": None}),
        Answer(body={"data": ["x"]}),
        Answer(body=[]),
        Answer(body={}),
    ],
    ids=range(15),
)
def test_what_is_not_one_finite_vector_a_text_is_refused(
    stubbed: Callable[..., Stubbed], answer: Answer
) -> None:
    with pytest.raises(EmbedderRejected):
        stubbed([answer]).embedder.embed(["a"])


def test_vectors_of_different_lengths_in_one_answer_are_refused(stubbed: Callable[..., Stubbed]) -> None:
    with pytest.raises(EmbedderRejected):
        stubbed([data([1, 2], [1, 2, 3])]).embedder.embed(["a", "b"])


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (429, EmbedderUnavailable),
        (500, EmbedderUnavailable),
        (503, EmbedderUnavailable),
        (400, EmbedderRejected),
        (401, EmbedderRejected),
        (404, EmbedderRejected),
    ],
)
def test_a_refusal_is_transient_or_permanent_by_its_status(
    stubbed: Callable[..., Stubbed], status: int, error: type[Exception]
) -> None:
    with pytest.raises(error, match=str(status)) as caught:
        stubbed([Answer(status, {"error": {"message": "private words"}})]).embedder.embed(["private words"])
    assert "private" not in str(caught.value)
    assert "sk-secret" not in str(caught.value)


def test_silence_ends_at_the_deadline_of_the_whole_call(stubbed: Callable[..., Stubbed]) -> None:
    with pytest.raises(EmbedderUnavailable, match="within"):
        stubbed([Answer(delay=30)], timeout=0.3).embedder.embed(["a"])


def test_nobody_listening_is_transient() -> None:
    embedder = OpenAIEmbedder(closed_url(), "m", timeout=5)
    with pytest.raises(EmbedderUnavailable):
        embedder.embed(["a"])
    embedder.close()


def test_a_lone_surrogate_is_replaced_on_the_wire(stubbed: Callable[..., Stubbed]) -> None:
    started = stubbed(vectors_for)
    started.embedder.embed(["a\ud800"])
    assert started.stub.requests[0].json["input"] == ["a?"]
