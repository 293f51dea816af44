"""An embedder for request handlers: it answers in time, or says that it could not."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from typing import TYPE_CHECKING, Any, Final

from afterturn.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from afterturn.embedders import Embedder

THREADS: Final = 4
"""Most texts embedded at a time; a late one keeps its thread until it is done."""
WARM_UP_TEXTS: Final = tuple(" ".join(["question"] * words) for words in (2, 6, 10, 16, 30))
"""Short questions to longer ones."""
CACHE_SIZE: Final = 256
"""Most query vectors kept."""


class DeadlineEmbedder:
    """Embeds single texts within `timeout` seconds, and remembers the last ones. Safe after a fork."""

    def __init__(self, embedder: Embedder, timeout: float) -> None:
        self._embedder = embedder
        self._timeout = timeout
        self._start_fresh()

    def _start_fresh(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._cache: OrderedDict[tuple[str, ...], NDArray[Any]] = OrderedDict()
        self._executor = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="afterturn-query")

    @property
    def model_name(self) -> str:
        """The wrapped embedder's."""
        return self._embedder.model_name

    @property
    def dimension(self) -> int:
        """The wrapped embedder's."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of `texts`; see `Embedder.embed`.

        Raises:
            EmbedderUnavailable: late, or what the wrapped embedder raises.
        """
        if self._pid != os.getpid():
            self._start_fresh()
        key = tuple(texts)
        with self._lock:
            if key in self._cache:
                self._cache.move_to_end(key)
                return self._cache[key]
        future = self._executor.submit(self._embed_and_keep, key)
        try:
            return future.result(self._timeout)
        except FutureTimeout:
            if future.done():
                return future.result()  # done just now, or a TimeoutError of the embedder's own
            # one that waits for a thread is taken back, so that a stuck embedder gathers no queue
            future.cancel()
            raise EmbedderUnavailable(f"the query was not embedded within {self._timeout:g} s") from None

    def _embed_and_keep(self, key: tuple[str, ...]) -> NDArray[np.float32]:
        """Vectors of `key`, kept even where they come too late: whoever asks again has them."""
        vectors = self._embedder.embed(key)
        vectors.flags.writeable = False  # shared between callers from now on
        with self._lock:
            self._cache[key] = vectors
            if len(self._cache) > CACHE_SIZE:
                self._cache.popitem(last=False)
        return vectors

    def warm_up(self, timeout: float) -> None:
        """Load the model and run it a few times, so that the first query is as quick as any other.

        A model prepares itself anew for its first texts of each length.

        Raises:
            EmbedderUnavailable: it was not ready within `timeout` seconds.
        """
        warm = getattr(self._embedder, "warm_up", None)
        if warm is not None:
            warm(timeout)
        try:
            for text in WARM_UP_TEXTS:
                self._executor.submit(self._embedder.embed, [text]).result(timeout)
        except TimeoutError:
            raise EmbedderUnavailable(f"the embedder was not ready within {timeout} s") from None

    def close(self) -> None:
        """Let go of the threads; a late embedding is not waited for."""
        self._executor.shutdown(wait=False, cancel_futures=True)
