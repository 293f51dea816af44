"""The real MiniLM, loaded once."""

from __future__ import annotations

import pytest

from afterturn.embedders.sentence_transformer import SentenceTransformerEmbedder


@pytest.fixture(scope="session")
def minilm() -> SentenceTransformerEmbedder:
    """The packaged all-MiniLM-L6-v2."""
    return SentenceTransformerEmbedder()
