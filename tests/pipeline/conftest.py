"""Workers in processes of their own: one set with the real model for the whole run, others as a test needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from afterturn import Memory
from afterturn.queues import Queue
from afterturn_worker.embedded import EmbeddedStore
from tests.support.pipeline import Pipeline


@pytest.fixture(scope="session")
def pipeline(store: EmbeddedStore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipeline]:
    """All queues' workers, with MiniLM and the rule-based extractor."""
    with Pipeline(store.url, "pipeline", tmp_path_factory.mktemp("workers")) as running:
        running.start(Queue.EMBED, Queue.EXTRACT, Queue.MAINTAIN)
        yield running


@pytest.fixture
def memory(pipeline: Pipeline) -> Iterator[Memory]:
    """A client of the session's workers, its model loaded."""
    with pipeline.memory() as client:
        client.warm_up()
        yield client


@pytest.fixture
def own_pipeline(store: EmbeddedStore, prefix: str, tmp_path: Path) -> Iterator[Callable[..., Pipeline]]:
    """Makes a pipeline of the test's own; it embeds nothing, so that its workers start quickly."""
    made: list[Pipeline] = []

    def make(redis_url: str = store.url, **settings: str) -> Pipeline:
        options = {"EMBEDDER": "none", "SWEEP_INTERVAL": "0.2", "SWEEP_GRACE": "0.5", "RETRY_DELAY": "0.1"}
        made.append(Pipeline(redis_url, prefix, tmp_path, {**options, **settings}))
        return made[-1]

    yield make
    for pipeline in made:
        pipeline.stop()
