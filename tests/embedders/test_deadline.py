"""Embedding for request handlers: in time or not at all; and models that load in the background."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from afterturn.embedders.deadline import CACHE_SIZE, THREADS, DeadlineEmbedder
from afterturn.embedders.lazy import LazyEmbedder
from afterturn.errors import EmbedderUnavailable, SettingsError
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


class Gated:
    """An embedder that answers once its gate is open, and counts what it was asked."""

    model_name = "gated"
    dimension = 2

    def __init__(self, *, is_open: bool = True) -> None:
        self.gate = threading.Event()
        self.asked: list[str] = []
        self.error: Exception | None = None
        if is_open:
            self.gate.set()

    def embed(self, texts: Sequence[str]) -> NDArray[Any]:
        self.asked += texts
        self.gate.wait(60)
        if self.error:
            raise self.error
        return np.full((len(texts), 2), len(self.asked), dtype=np.float32)


@pytest.fixture
def gated() -> Iterator[Gated]:
    embedder = Gated(is_open=False)
    yield embedder
    embedder.gate.set()


def test_an_embedding_in_time_is_the_embedders() -> None:
    embedder = DeadlineEmbedder(Gated(), timeout=10)
    assert embedder.embed(["a", "b"]).tolist() == [[2, 2], [2, 2]]
    assert (embedder.model_name, embedder.dimension) == ("gated", 2)
    embedder.close()


def test_a_late_embedding_is_unavailable(gated: Gated) -> None:
    embedder = DeadlineEmbedder(gated, timeout=0.05)
    with pytest.raises(EmbedderUnavailable, match=r"0\.05 s"):
        embedder.embed(["a"])


def test_a_late_embedding_is_there_for_whoever_asks_again(gated: Gated) -> None:
    embedder = DeadlineEmbedder(gated, timeout=0.05)
    with pytest.raises(EmbedderUnavailable):
        embedder.embed(["a"])
    gated.gate.set()
    wait_until(lambda: _answers(embedder, "a"), what="the late embedding")
    asked = len(gated.asked)
    embedder.embed(["a"])
    assert len(gated.asked) == asked


def _answers(embedder: DeadlineEmbedder, text: str) -> bool:
    try:
        return embedder.embed([text]) is not None
    except EmbedderUnavailable:
        return False


def test_a_stuck_embedder_gathers_no_queue(gated: Gated) -> None:
    embedder = DeadlineEmbedder(gated, timeout=0.02)
    for number in range(THREADS + 5):
        with pytest.raises(EmbedderUnavailable):
            embedder.embed([str(number)])
    gated.gate.set()
    wait_until(lambda: _answers(embedder, "last"), what="an answer after the jam")
    assert set(gated.asked) == {*(str(number) for number in range(THREADS)), "last"}


def test_the_same_query_is_embedded_once_and_its_vector_cannot_be_changed() -> None:
    gated = Gated()
    embedder = DeadlineEmbedder(gated, timeout=10)
    first = embedder.embed(["a"])
    assert embedder.embed(["a"]) is first
    assert gated.asked == ["a"]
    with pytest.raises(ValueError, match="read-only"):
        first[0, 0] = 9


def test_the_cache_lets_go_of_the_query_that_was_not_asked_for_longest() -> None:
    gated = Gated()
    embedder = DeadlineEmbedder(gated, timeout=10)
    for number in range(CACHE_SIZE):
        embedder.embed([str(number)])
    embedder.embed(["0"])
    embedder.embed(["one more"])
    del gated.asked[:]
    embedder.embed(["0"])
    embedder.embed(["1"])
    assert gated.asked == ["1"]


def test_a_failure_is_passed_on_and_not_kept() -> None:
    gated = Gated()
    gated.error = EmbedderUnavailable("away")
    embedder = DeadlineEmbedder(gated, timeout=10)
    for _ in range(2):
        with pytest.raises(EmbedderUnavailable, match="away"):
            embedder.embed(["a"])
    assert gated.asked == ["a", "a"]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_embeds_with_threads_of_its_own() -> None:
    embedder = DeadlineEmbedder(Gated(), timeout=10)
    embedder.embed(["a"])
    pid = os.fork()
    if pid == 0:
        os._exit(0 if embedder.embed(["b"]).shape == (1, 2) else 1)
    assert os.waitpid(pid, 0)[1] == 0


def test_a_model_that_is_still_loading_is_unavailable_and_then_answers() -> None:
    loading = threading.Event()

    def load() -> Gated:
        loading.wait(60)
        return Gated()

    lazy = LazyEmbedder("gated", load)
    with pytest.raises(EmbedderUnavailable, match="still loading"):
        lazy.embed(["a"])
    with pytest.raises(EmbedderUnavailable, match="still loading"):
        lazy.warm_up(0.01)
    loading.set()
    lazy.warm_up(30)
    assert lazy.embed(["a"]).shape == (1, 2)
    assert lazy.dimension == 2


def test_a_blocking_one_waits_for_its_model() -> None:
    assert LazyEmbedder("gated", Gated, blocking=True).embed(["a"]).shape == (1, 2)


def test_a_model_is_loaded_once_however_many_ask() -> None:
    loads: list[int] = []

    def load() -> Gated:
        loads.append(1)
        return Gated()

    lazy = LazyEmbedder("gated", load, blocking=True)
    threads = [threading.Thread(target=lazy.embed, args=(["a"],)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == [1]


def test_why_a_model_could_not_be_loaded_is_told_to_everyone_who_asks() -> None:
    def load() -> Gated:
        raise SettingsError("no such model")

    lazy = LazyEmbedder("gated", load)
    for _ in range(3):
        with pytest.raises(SettingsError, match="no such model") as caught:
            lazy.warm_up(30)
        assert len(caught.traceback) < 5


def test_a_foreign_error_while_loading_is_unavailable_without_its_text() -> None:
    def load() -> Gated:
        raise RuntimeError("private")

    with pytest.raises(EmbedderUnavailable, match="RuntimeError") as caught:
        LazyEmbedder("gated", load).warm_up(30)
    assert "private" not in str(caught.value)
