"""Servers and helpers that all tests share. Real ones: an embedded Valkey, worker processes, the MiniLM model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import hypothesis
import pytest
import redis

from afterturn_worker.embedded import EmbeddedStore

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.register_assert_rewrite("afterturn.testing", "tests.support")

# a first example pays for lazy imports, and a shared machine is slow at times: neither is a fault
hypothesis.settings.register_profile("afterturn", deadline=None)
hypothesis.settings.load_profile("afterturn")

for name in list(os.environ):
    if name.startswith(("AFTERTURN_", "HINDSIGHT_", "MEM0_", "HONCHO_")) or name == "REDIS_URL":
        del os.environ[name]


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStore]:
    """One Valkey for the whole run; tests keep apart by key prefix."""
    server = EmbeddedStore(tmp_path_factory.mktemp("store"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def store_client(store: EmbeddedStore) -> Iterator[redis.Redis]:
    """A client of the shared Valkey, decoding nothing."""
    with redis.Redis.from_url(store.url) as client:
        yield client


@pytest.fixture
def prefix(request: pytest.FixtureRequest) -> str:
    """A key prefix that no other test uses."""
    return f"test:{request.node.nodeid.rpartition('::')[2]}:{os.urandom(4).hex()}"
