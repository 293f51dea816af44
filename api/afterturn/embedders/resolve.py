"""Which embedder the settings mean."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from afterturn.embedders.deadline import DeadlineEmbedder
from afterturn.embedders.lazy import LazyEmbedder
from afterturn.embedders.sentence_transformer import SentenceTransformerEmbedder, stored_name
from afterturn.errors import MissingExtra, SettingsError

if TYPE_CHECKING:
    from afterturn.embedders import Embedder
    from afterturn.settings import Settings


def build_embedder(settings: Settings) -> Embedder | None:
    """The embedder of a worker, loaded and checked; None where records are found by words only.

    Raises:
        MissingExtra: the chosen embedder's package is not installed; says which.
        SettingsError: settings contradict each other, or the model has another dimension than configured.
    """
    choice = _choice(settings)
    if choice == "none" and settings.embedder == "auto":
        raise MissingExtra(
            "no embedder: pip install 'afterturn[worker]', set AFTERTURN_EMBEDDING_URL to an OpenAI-compatible "
            "endpoint, or set AFTERTURN_EMBEDDER=none to find memories by words only"
        )
    if choice == "none":
        return None
    if choice == "openai":
        return _endpoint(settings)
    embedder = SentenceTransformerEmbedder(settings.embedding_model)
    if settings.embedding_dimension not in {None, embedder.dimension}:
        raise SettingsError(
            f"embedding_dimension (AFTERTURN_EMBEDDING_DIMENSION) is {settings.embedding_dimension}, but "
            f"{embedder.model_name} makes vectors of {embedder.dimension}: set it to {embedder.dimension} or unset it"
        )
    return embedder


def build_query_embedder(settings: Settings) -> Embedder | None:
    """The embedder of a request handler: it loads in the background and answers within `recall_timeout`."""
    choice = _choice(settings)
    if choice == "none":
        return None
    embedder = _endpoint(settings) if choice == "openai" else _later(settings, blocking=False)
    return DeadlineEmbedder(embedder, settings.recall_timeout)


def build_inline_embedder(settings: Settings) -> Embedder | None:
    """The embedder of a pipeline in one process, which embeds turns, too: it loads when first used, and is waited for."""
    choice = _choice(settings)
    if choice == "none":
        return None
    return _endpoint(settings) if choice == "openai" else _later(settings, blocking=True)


def _choice(settings: Settings) -> str:
    if settings.embedder == "openai" and settings.embedding_url is None:
        raise SettingsError(
            "embedder (AFTERTURN_EMBEDDER) is openai, but embedding_url (AFTERTURN_EMBEDDING_URL) is not set"
        )
    if settings.embedder != "auto":
        return settings.embedder
    if find_spec("sentence_transformers") is not None:
        return "sentence-transformers"
    return "openai" if settings.embedding_url else "none"


def _later(settings: Settings, *, blocking: bool) -> Embedder:
    return LazyEmbedder(
        stored_name(settings.embedding_model),
        lambda: SentenceTransformerEmbedder(settings.embedding_model),
        blocking=blocking,
    )


def _endpoint(settings: Settings) -> Embedder:
    from afterturn.embedders.openai import OpenAIEmbedder

    if settings.embedding_url is None:
        raise SettingsError("embedding_url (AFTERTURN_EMBEDDING_URL) is not set")
    key = settings.embedding_api_key
    return OpenAIEmbedder(
        settings.embedding_url,
        settings.embedding_model,
        api_key=key.get_secret_value() if key else None,
        dimension=settings.embedding_dimension,
        timeout=settings.embedding_timeout,
    )
