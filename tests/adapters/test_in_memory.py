"""The adapter that keeps memory in its process."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from afterturn import MemoryKind, Scope, Turn
from afterturn.adapters.in_memory import InMemoryAdapter
from afterturn.settings import load_settings
from afterturn.testing import AdapterContract

SCOPE = Scope("t1", user_id="alice")


class TestContract(AdapterContract):
    @pytest.fixture
    def adapter(self) -> InMemoryAdapter:
        return InMemoryAdapter()


def test_it_is_not_shared_between_processes() -> None:
    assert InMemoryAdapter.capabilities.records
    assert not InMemoryAdapter.capabilities.shared


def test_two_adapters_share_nothing() -> None:
    InMemoryAdapter().save(SCOPE, Turn(user="a heron"))
    assert InMemoryAdapter().list_facts(SCOPE) == []


def test_turns_saved_by_many_threads_while_others_recall_are_all_kept() -> None:
    adapter = InMemoryAdapter()

    def save_and_recall(number: int) -> None:
        adapter.save(SCOPE, Turn(user=f"heron number {number}"))
        adapter.recall(SCOPE, "heron")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(save_and_recall, range(400)))
    assert len(adapter.list_facts(SCOPE)) == 400


def test_a_save_touches_its_own_scope_only() -> None:
    """The reference sweeps every record of every scope on each save."""
    adapter = InMemoryAdapter()
    adapter.save(Scope("other"), Turn(user="a heron"))
    adapter._scopes[("other", None, None)] = _Untouchable(adapter._scopes[("other", None, None)])
    adapter.save(SCOPE, Turn(user="a walnut"))


class _Untouchable(dict):  # type: ignore[type-arg]
    def __iter__(self) -> None:  # type: ignore[override]
        raise AssertionError("another scope was read")

    values = items = keys = __iter__  # type: ignore[assignment]


def test_settings_give_the_common_options() -> None:
    settings = load_settings(
        adapter="in_memory", top_k=1, min_score=0.0, kinds={MemoryKind.MESSAGE}, extract="none"
    )
    adapter = InMemoryAdapter.from_settings(settings, None)
    adapter.save(SCOPE, Turn(user="a heron", assistant="a walnut"))
    assert len(adapter.recall(SCOPE, "heron").fragments or ()) == 1
