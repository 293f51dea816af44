"""A model that loads in the background, so that neither an import nor a first request waits for it."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

from afterturn.errors import AfterturnError, EmbedderUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from afterturn.embedders import Embedder


class LazyEmbedder:
    """Starts `load` in a thread when first asked, and embeds once it is there.

    Args:
        model_name: what the loaded embedder will call itself.
        load: makes the embedder.
        blocking: wait for the load rather than raise while it goes on.
    """

    def __init__(self, model_name: str, load: Callable[[], Embedder], *, blocking: bool = False) -> None:
        self.model_name = model_name
        self._load = load
        self._blocking = blocking
        self._start_fresh()

    def _start_fresh(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._started = False
        self._done = threading.Event()
        self._loaded: Embedder | None = None
        self._error: Exception | None = None

    @property
    def dimension(self) -> int:
        """The loaded embedder's; waits for the load."""
        return self._ready(None).dimension

    def embed(self, texts: Sequence[str]) -> NDArray[Any]:
        """Vectors of `texts`.

        Raises:
            EmbedderUnavailable: still loading, unless blocking.
            AfterturnError: why it could not be loaded.
        """
        return self._ready(None if self._blocking else 0.0).embed(texts)

    def warm_up(self, timeout: float) -> None:
        """Wait until it is loaded.

        Raises:
            EmbedderUnavailable: it was not loaded within `timeout` seconds.
            AfterturnError: why it could not be loaded.
        """
        self._ready(timeout)

    def _ready(self, timeout: float | None) -> Embedder:
        # a thread that loads does not survive a fork; a model that is loaded does
        if self._pid != os.getpid() and not self._done.is_set():
            self._start_fresh()
        with self._lock:
            if not self._started:
                self._started = True
                threading.Thread(target=self._run, name="afterturn-model-load", daemon=True).start()
        self._done.wait(timeout)
        if self._error is not None:
            # the same error for everybody who asks; without this, each raise would lengthen its traceback
            raise self._error.with_traceback(None)
        if self._loaded is None:
            raise EmbedderUnavailable(f"the embedding model {self.model_name} is still loading")
        return self._loaded

    def _run(self) -> None:
        try:
            self._loaded = self._load()
        except AfterturnError as error:
            self._error = error
        except Exception as error:  # noqa: BLE001 - the thread's boundary: whoever asks next is told
            self._error = EmbedderUnavailable(
                f"the embedding model could not be loaded ({type(error).__name__})"
            )
        self._done.set()
