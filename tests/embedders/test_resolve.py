"""Which embedder the settings mean, in a worker and in a client."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from afterturn.embedders.deadline import DeadlineEmbedder
from afterturn.embedders.openai import OpenAIEmbedder
from afterturn.embedders.resolve import build_embedder, build_query_embedder
from afterturn.embedders.sentence_transformer import SentenceTransformerEmbedder
from afterturn.errors import SettingsError
from afterturn.settings import load_settings

WITHOUT_THE_PACKAGE = """
import sys
from importlib.machinery import PathFinder

class Hidden:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return None if name == "sentence_transformers" else PathFinder.find_spec(name, path, target)

sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not PathFinder]
sys.meta_path.append(Hidden)
from afterturn.embedders.resolve import build_embedder, build_query_embedder
from afterturn.errors import MissingExtra
from afterturn.settings import load_settings

print(build_query_embedder(load_settings()))
print(type(build_embedder(load_settings(embedding_url="http://host/v1"))).__name__)
try:
    build_embedder(load_settings())
except MissingExtra as error:
    print(error)
"""


def test_a_worker_embeds_in_process_where_the_package_is_installed() -> None:
    embedder = build_embedder(load_settings(embedding_url="http://host/v1"))
    assert isinstance(embedder, SentenceTransformerEmbedder)
    assert embedder.model_name == "all-MiniLM-L6-v2"


def test_an_endpoint_is_taken_where_asked_for() -> None:
    settings = load_settings(
        embedder="openai", embedding_url="http://host/v1", embedding_model="big", embedding_dimension=1024
    )
    embedder = build_embedder(settings)
    assert isinstance(embedder, OpenAIEmbedder)
    assert (embedder.model_name, embedder.dimension) == ("big", 1024)


@pytest.mark.parametrize("build", [build_embedder, build_query_embedder])
def test_an_endpoint_without_an_address_is_refused(build: object) -> None:
    assert callable(build)
    with pytest.raises(SettingsError, match=r"embedder .*embedding_url"):
        build(load_settings(embedder="openai"))


@pytest.mark.parametrize("build", [build_embedder, build_query_embedder])
def test_none_embeds_nothing(build: object) -> None:
    assert callable(build)
    assert build(load_settings(embedder="none")) is None


def test_a_dimension_that_the_model_does_not_have_is_refused_naming_both() -> None:
    with pytest.raises(SettingsError, match=r"768.*384"):
        build_embedder(load_settings(embedding_dimension=768))


def test_without_the_package_a_client_goes_by_words_and_a_worker_says_what_to_do() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_PACKAGE],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )
    query, endpoint, missing = done.stdout.splitlines()
    assert (query, endpoint) == ("None", "OpenAIEmbedder")
    assert "pip install 'afterturn[worker]'" in missing


def test_a_client_loads_its_model_in_the_background_and_can_wait_for_it() -> None:
    embedder = build_query_embedder(load_settings(recall_timeout=30))
    assert isinstance(embedder, DeadlineEmbedder)
    assert embedder.model_name == "all-MiniLM-L6-v2"
    embedder.warm_up(100)
    assert embedder.embed(["hello"]).shape == (1, 384)
    embedder.close()
