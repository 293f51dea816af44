"""Small embedders and extractors with a known behaviour, for tests of the steps around them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from afterturn import ExtractedFact, Scope, Turn

MARKER = "xyzzy-secret-text"
"""Stands for what a person said: it must be found nowhere but in the store."""


class CountingEmbedder:
    """Vectors of ones, and a record of each call; `fail` is asked for an error before each."""

    model_name = "ones"
    dimension = 4

    def __init__(self, fail: Callable[[Sequence[str]], Exception | None] = lambda _: None) -> None:
        self.calls: list[list[str]] = []
        self._fail = fail

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(list(texts))
        error = self._fail(texts)
        if error is not None:
            raise error
        return np.ones((len(texts), 4), dtype=np.float32)


def raise_with_text(turn: Turn, scope: Scope) -> list[ExtractedFact]:
    """An extractor whose error quotes what was said."""
    raise RuntimeError(f"cannot understand {turn.user!r}")


def wait_for_file(turn: Turn, scope: Scope) -> list[ExtractedFact]:
    """An extractor that notes its start, and goes on once a file exists; its folder is in TEST_FOLDER."""
    folder = Path(os.environ["TEST_FOLDER"])
    with (folder / "started").open("a") as started:
        started.write(f"{turn.user}\n")
    while not (folder / "go").exists():
        time.sleep(0.02)
    return [ExtractedFact(text=f"The user said {turn.user}")]
