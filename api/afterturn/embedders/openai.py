"""Embedding by any OpenAI-compatible `/embeddings` endpoint."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from afterturn._http import ErrorClasses, JsonEndpoint
from afterturn.errors import EmbedderRejected, EmbedderUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

PATH: Final = "/embeddings"
BATCH_LIMIT: Final = 128
"""Most inputs in one request."""


class OpenAIEmbedder:
    """An embedding model behind HTTP (protocol: OpenAI API reference, "Create embeddings").

    Safe to share between threads and over a fork.

    Args:
        base_url: such as `http://host/v1`.
        model: name that the endpoint knows the model by; vectors are stored under it.
        dimension: length that vectors must have; None: the first answer's.
        timeout: seconds for one call of `embed`, all its requests together.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        dimension: int | None = None,
        timeout: float = 30.0,
    ) -> None:
        self.model_name = model
        self._dimension = dimension
        self._timeout = timeout
        self._endpoint = JsonEndpoint(
            base_url, api_key=api_key, errors=ErrorClasses(EmbedderUnavailable, EmbedderRejected)
        )

    @property
    def dimension(self) -> int:
        """Length of each vector; where it is not known yet, one word is embedded to learn it.

        Raises:
            EmbedderUnavailable, EmbedderRejected: as `embed`.
        """
        if self._dimension is None:
            return int(self.embed(["dimension"]).shape[1])
        return self._dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of `texts`, shape (len(texts), dimension), float32; see `Embedder.embed`.

        Raises:
            EmbedderUnavailable: no connection, no answer in time, 429 or 5xx.
            EmbedderRejected: any other refusal, or vectors that are missing, not finite or of another length.
        """
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        deadline = time.monotonic() + self._timeout
        batches = [texts[start : start + BATCH_LIMIT] for start in range(0, len(texts), BATCH_LIMIT)]
        return np.concatenate([self._batch(batch, deadline) for batch in batches])

    def close(self) -> None:
        """Close this process's connections."""
        self._endpoint.close()

    def _batch(self, texts: Sequence[str], deadline: float) -> NDArray[np.float32]:
        body = {"model": self.model_name, "input": list(texts), "encoding_format": "float"}
        reply = self._endpoint.post(PATH, body, timeout=deadline - time.monotonic())
        try:
            vectors = _vectors(reply.body, len(texts))
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
            raise EmbedderRejected(
                f"the embedding endpoint's answer is not a list of {len(texts)} vectors of one length "
                f"({type(error).__name__})"
            ) from None
        self._check(vectors)
        return vectors

    def _check(self, vectors: NDArray[np.float32]) -> None:
        length = vectors.shape[1]
        if not np.isfinite(vectors).all():
            raise EmbedderRejected(f"{self.model_name} answered with numbers that are not finite")
        if self._dimension is None:
            self._dimension = length
        if length != self._dimension:
            raise EmbedderRejected(
                f"{self.model_name} answered with vectors of {length}, expected {self._dimension}: "
                "set embedding_dimension (AFTERTURN_EMBEDDING_DIMENSION) to what the model makes, or unset it"
            )


def _vectors(body: Any, count: int) -> NDArray[np.float32]:
    """Array of shape (count, length), ordered by each item's `index` where it has one."""
    items = body["data"]
    placed = {item.get("index", place): item["embedding"] for place, item in enumerate(items)}
    if len(items) != count or set(placed) != set(range(count)):
        raise ValueError("not one vector a text")
    with np.errstate(over="ignore"):  # too large for float32 becomes infinite, which the check refuses
        vectors = np.asarray([placed[place] for place in range(count)], dtype=np.float64).astype(np.float32)
    if vectors.ndim != 2 or vectors.shape[1] == 0:
        raise ValueError("not vectors")
    return vectors
