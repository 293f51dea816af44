"""The real model in this process."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest

from afterturn.embedders import Embedder
from afterturn.embedders.sentence_transformer import SentenceTransformerEmbedder, stored_name
from afterturn.errors import SettingsError

if TYPE_CHECKING:
    from pathlib import Path

FORKED = """
import os, sys
from afterturn.embedders.sentence_transformer import SentenceTransformerEmbedder
embedder = SentenceTransformerEmbedder()
pid = os.fork()
if pid == 0:
    vectors = embedder.embed(["one", "two words", "and three words"] * 8)
    os._exit(0 if vectors.shape == (24, 384) else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_it_is_an_embedder(minilm: SentenceTransformerEmbedder) -> None:
    assert isinstance(minilm, Embedder)


def test_vectors_are_float32_of_the_models_dimension_and_length_one(
    minilm: SentenceTransformerEmbedder,
) -> None:
    vectors = minilm.embed(["The user lives in Lisbon.", "x"])
    assert vectors.shape == (2, 384)
    assert vectors.dtype == np.dtype(np.float32)
    assert minilm.dimension == 384
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_what_means_the_same_lies_closer(minilm: SentenceTransformerEmbedder) -> None:
    home, same, other = minilm.embed(
        ["I live in Lisbon", "My home is in Lisbon", "The printer is out of ink"]
    )
    assert home @ same > home @ other + 0.3


def test_order_does_not_depend_on_length(minilm: SentenceTransformerEmbedder) -> None:
    texts = ["word " * count for count in (9, 1, 30, 4, 2, 17, 3, 8, 5, 40)]
    together = minilm.embed(texts)
    np.testing.assert_allclose(together, np.concatenate([minilm.embed([text]) for text in texts]), atol=1e-5)


def test_no_texts_give_no_vectors_of_the_right_width(minilm: SentenceTransformerEmbedder) -> None:
    assert minilm.embed([]).shape == (0, 384)


def test_threads_share_one_model(minilm: SentenceTransformerEmbedder) -> None:
    expected = minilm.embed(["hello"])
    with ThreadPoolExecutor(4) as pool:
        for vectors in pool.map(minilm.embed, [["hello"]] * 8):
            np.testing.assert_allclose(vectors, expected, atol=1e-5)


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"])
def test_both_names_of_minilm_are_stored_as_one(name: str) -> None:
    assert stored_name(name) == "all-MiniLM-L6-v2"


def test_another_model_keeps_its_name() -> None:
    assert stored_name("acme/all-MiniLM-L6-v2") == "acme/all-MiniLM-L6-v2"


def test_a_model_that_is_nowhere_is_refused_with_the_settings_name(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="AFTERTURN_EMBEDDING_MODEL"):
        SentenceTransformerEmbedder(str(tmp_path))


def _run(script: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    return subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env=environment,
        timeout=100,
        check=False,
    )


def test_a_child_forked_after_loading_can_embed_and_nothing_is_printed() -> None:
    done = _run(FORKED)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_without_the_package_it_says_what_to_install() -> None:
    done = _run(
        "import sys\n"
        "sys.modules['sentence_transformers'] = None\n"
        "from afterturn.embedders.sentence_transformer import SentenceTransformerEmbedder\n"
        "from afterturn.errors import MissingExtra\n"
        "try:\n    SentenceTransformerEmbedder()\n"
        "except MissingExtra as error:\n    print(error)\n"
    )
    assert "pip install 'afterturn[worker]'" in done.stdout
