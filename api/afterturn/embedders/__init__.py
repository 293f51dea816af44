"""Turning texts into vectors: the protocol, and one file an implementation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@runtime_checkable
class Embedder(Protocol):
    """Makes one vector a text. Vectors of different `model_name`s are never compared."""

    @property
    def model_name(self) -> str:
        """What is stored beside each vector."""
        ...

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[Any]:
        """Vectors of `texts`.

        Returns:
            Array of shape (len(texts), dimension), float32; shape (0, dimension) for no texts.

        Raises:
            EmbedderUnavailable: no answer in time, or an answer that may be better later.
            EmbedderRejected: a refusal, or vectors of the wrong size.
        """
        ...
