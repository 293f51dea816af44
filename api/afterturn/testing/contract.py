"""The adapter contract as one class of tests; a subclass gives the adapter."""

# ruff: noqa: S101 - assertions are what this module is for

from __future__ import annotations

import time
from datetime import UTC, datetime
from itertools import permutations
from typing import TYPE_CHECKING, Final, cast
from uuid import uuid4

import pytest

from afterturn.adapters.base import Adapter
from afterturn.errors import ScopeError
from afterturn.ids import new_turn_id
from afterturn.model import Fragment, SaveReceipt, Scope, Turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from afterturn.adapters.base import InspectingAdapter
    from afterturn.model import RecallResult

HOSTILE_VALUES: Final = (
    *":_\\*?[]{} \n\t%/#-",
    *("{}", "}{", "  ", ".."),
    *("a:b", "a\\:b", "a_b", "a*", "a?", "[a-z]", "{a}", "{a}b", "a b", " a", "a ", "a", "A", "null", "None"),
    *("\U0001f9e0", "\U0001f469\u200d\U0001f52c", "\u05d0\u05d1\u05d2", "\u202ea", "\u00e9", "e\u0301"),
    *("x" * 500, "x" * 499 + "y"),
)
"""Values of a scope's fields that have a meaning in keys, patterns or URLs, or look like one another."""

_FIELDS: Final = ("thread_id", "user_id", "tenant_id")
_PAUSE: Final = 0.05


class AdapterContract:
    """What holds for every adapter.

    Scopes are new in each test, so the adapter may stand on a store that has other data. What an adapter does not
    declare in its `capabilities` is skipped.

    For a server that remembers later, set `patience`, and let `settle` wait until it has caught up: what must be
    absent can't be waited for by asking again.

    Attributes:
        patience: seconds within which a saved turn must surface.
    """

    patience: float = 0.0

    def settle(self, adapter: Adapter) -> None:
        """Return once everything saved so far has taken effect; called before anything is counted or found absent."""

    @pytest.fixture
    def adapter(self) -> Adapter:
        """The adapter to test."""
        raise NotImplementedError("override the fixture `adapter` and give the adapter to test")

    def test_it_has_the_methods_that_it_declares(self, adapter: Adapter) -> None:
        assert isinstance(adapter, Adapter)
        assert isinstance(adapter.id, str)
        assert adapter.id
        if adapter.capabilities.inspect:
            assert callable(getattr(adapter, "inspect", None))
        if adapter.capabilities.list_facts:
            assert callable(getattr(adapter, "list_facts", None))

    def test_a_save_gives_receipts_of_which_one_is_ok(self, adapter: Adapter) -> None:
        receipts = adapter.save(_new_scope(), _turn("heron"))
        assert isinstance(receipts, list)
        assert all(isinstance(receipt, SaveReceipt) for receipt in receipts)
        assert all(isinstance(receipt.ok, bool) for receipt in receipts)
        assert any(receipt.ok for receipt in receipts)

    def test_a_saved_turn_surfaces_in_a_later_recall(self, adapter: Adapter) -> None:
        scope = _new_scope()
        adapter.save(scope, _turn("heron"))
        result = self._surfaced(adapter, scope, "heron")
        assert isinstance(result.system_prompt, str)
        for fragment in result.fragments or ():
            assert isinstance(fragment, Fragment)
            assert isinstance(fragment.text, str)
            assert isinstance(fragment.source, str)
            assert fragment.source

    def test_every_saved_turn_can_be_recalled(self, adapter: Adapter) -> None:
        scope = _new_scope()
        for word in ("heron", "walnut", "accordion"):
            adapter.save(scope, _turn(word))
        for word in ("heron", "walnut", "accordion"):
            self._surfaced(adapter, scope, word)

    def test_a_scope_with_nothing_saved_gives_an_empty_prompt_and_no_fragments(
        self, adapter: Adapter
    ) -> None:
        result = adapter.recall(_new_scope(), _query("heron"))
        assert result.system_prompt == ""
        assert not result.fragments

    def test_a_blank_query_is_answered(self, adapter: Adapter) -> None:
        scope = _new_scope()
        adapter.save(scope, _turn("heron"))
        assert isinstance(adapter.recall(scope, "  ").system_prompt, str)

    def test_recency_is_measured_from_the_time_asked_about(self, adapter: Adapter) -> None:
        scope = _new_scope()
        adapter.save(scope, _turn("heron"))
        self._surfaced(adapter, scope, "heron")
        result = adapter.recall(scope, _query("heron"), now=datetime.now(UTC))
        assert "heron" in _everything(result)

    @pytest.mark.parametrize(
        ("mine", "theirs"),
        [
            pytest.param(("t1", "u1", "x1"), ("t2", "u2", "x1"), id="another-thread-and-user"),
            pytest.param(("t1", "u1", "x1"), ("t1", "u2", "x1"), id="same-thread-another-user"),
            pytest.param(("t1", "u1", "x1"), ("t1", "u1", "x2"), id="same-thread-and-user-another-tenant"),
            pytest.param(("t1", "u1", "x1"), ("t2", "u1", "x1"), id="same-user-another-thread"),
            pytest.param(("t1", "u1", "x1"), ("t1", "u1", None), id="a-tenant-and-none"),
            pytest.param(("t1", "u1", None), ("t1", "u1", "x1"), id="no-tenant-and-one"),
            pytest.param(("t1", "u1", "x1"), ("u1", "t1", "x1"), id="thread-and-user-swapped"),
        ],
    )
    def test_scopes_are_isolated(
        self,
        adapter: Adapter,
        mine: tuple[str, str, str | None],
        theirs: tuple[str, str, str | None],
    ) -> None:
        run = uuid4().hex
        here, there = (
            Scope(f"{thread}-{run}", user_id=f"{user}-{run}", tenant_id=tenant and f"{tenant}-{run}")
            for thread, user, tenant in (mine, theirs)
        )
        adapter.save(here, _turn("heron"))
        self._surfaced(adapter, here, "heron")
        self._check_empty(adapter, there, "heron")

    @pytest.mark.parametrize("field", _FIELDS)
    def test_scopes_with_hostile_values_never_see_each_other(self, adapter: Adapter, field: str) -> None:
        """An adapter that can't keep a value apart refuses it with `ScopeError`."""
        run = uuid4().hex
        others = {"thread_id": f"t-{run}", "user_id": f"u-{run}", "tenant_id": f"x-{run}", field: ""}
        kept: list[tuple[Scope, str]] = []
        for number, value in enumerate(HOSTILE_VALUES):
            scope, word = Scope(**{**others, field: value}), f"heron{number}x"
            try:
                adapter.save(scope, _turn(word))
            except ScopeError:
                continue
            kept.append((scope, word))
        self.settle(adapter)
        for scope, word in kept:
            found = _everything(self._surfaced(adapter, scope, word))
            assert [other for _, other in kept if other in found] == [word]

    @pytest.mark.parametrize("separator", [":", "_", "__", "/", "-", "|", ".", "\\:"])
    def test_a_value_that_holds_a_separator_is_no_other_scope(self, adapter: Adapter, separator: str) -> None:
        """Joined in any order, the fields of these scopes would give the same key."""
        for first, second in permutations(_FIELDS, 2):
            run = uuid4().hex
            rest = dict.fromkeys(_FIELDS, run)
            here = Scope(**{**rest, first: f"a{separator}b", second: run})
            there = Scope(**{**rest, first: "a", second: f"b{separator}{run}"})
            self._check_apart(adapter, here, there)

    @pytest.mark.parametrize("field", ["user_id", "tenant_id"])
    def test_an_unset_field_is_no_value_that_may_stand_for_it(self, adapter: Adapter, field: str) -> None:
        for value in ("_", "__", "\\_", "-", "*", "None", "null", "undefined", "default", "demo-user"):
            set_fields = {name: uuid4().hex for name in _FIELDS}
            unset = Scope(**{**set_fields, field: ""})
            self._check_apart(adapter, unset, Scope(**{**set_fields, field: value}))

    def test_saving_again_under_the_same_turn_id_leaves_one_copy(self, adapter: Adapter) -> None:
        scope, turn_id, turn = _new_scope(), new_turn_id(), _turn("heron")
        adapter.save(scope, turn, turn_id=turn_id)
        once = self._settled_texts(adapter, scope)
        adapter.save(scope, turn, turn_id=turn_id)
        assert self._settled_texts(adapter, scope) == once

    def test_the_same_words_in_another_turn_are_another_memory(self, adapter: Adapter) -> None:
        """Records only: a server that extracts may see that it knows this already."""
        if not adapter.capabilities.records:
            pytest.skip(f"{adapter.id} keeps no records of its own")
        scope = _new_scope()
        adapter.save(scope, _turn("heron"))
        adapter.save(scope, _turn("heron"))
        assert len(self._settled_texts(adapter, scope)) == 4

    @pytest.mark.parametrize("side", ["user", "assistant"])
    def test_an_empty_side_makes_no_memory(self, adapter: Adapter, side: str) -> None:
        scope, text = _new_scope(), "A heron stood in the river."
        adapter.save(scope, Turn(user=text) if side == "user" else Turn(assistant=text))
        self._surfaced(adapter, scope, "heron")
        texts = self._settled_texts(adapter, scope)
        assert all(kept.strip() for kept in texts)
        if adapter.capabilities.records:
            assert texts == [text]

    def test_inspect_gives_a_time_and_data(self, adapter: Adapter) -> None:
        inspecting = _declaring(adapter, "inspect")
        scope = _new_scope()
        adapter.save(scope, _turn("heron"))
        self._surfaced(adapter, scope, "heron")
        snapshot = inspecting.inspect(scope)
        assert isinstance(snapshot.taken_at, datetime)
        assert snapshot.taken_at.utcoffset() is not None
        assert "heron" in str(snapshot.data)

    def test_inspect_of_another_scope_shows_nothing_of_this_one(self, adapter: Adapter) -> None:
        inspecting = _declaring(adapter, "inspect")
        scope = _new_scope()
        adapter.save(scope, _turn("heron"))
        self._surfaced(adapter, scope, "heron")
        self.settle(adapter)
        assert "heron" not in str(inspecting.inspect(_new_scope()).data)

    def test_list_facts_gives_rows_with_id_and_text(self, adapter: Adapter) -> None:
        inspecting = _declaring(adapter, "list_facts")
        scope = _new_scope()
        adapter.save(scope, _turn("heron"))
        self._surfaced(adapter, scope, "heron")
        facts = inspecting.list_facts(scope)
        assert any("heron" in fact.text for fact in facts)
        for fact in facts:
            assert isinstance(fact.id, str)
            assert fact.id
            assert isinstance(fact.text, str)
            assert fact.created_at is None or fact.created_at.utcoffset() is not None

    def test_list_facts_of_another_scope_shows_nothing_of_this_one(self, adapter: Adapter) -> None:
        inspecting = _declaring(adapter, "list_facts")
        scope = _new_scope()
        adapter.save(scope, _turn("heron"))
        self._surfaced(adapter, scope, "heron")
        self.settle(adapter)
        assert inspecting.list_facts(_new_scope()) == []

    def _surfaced(self, adapter: Adapter, scope: Scope, word: str) -> RecallResult:
        """The recall that finds `word`."""

        def found() -> RecallResult | None:
            result = adapter.recall(scope, _query(word))
            return result if word in _everything(result) else None

        result = self._within_patience(found)
        assert result is not None, f"a turn about {word!r} did not surface within {self.patience} s"
        return result

    def _within_patience(self, ask: Callable[[], RecallResult | None]) -> RecallResult | None:
        deadline = time.monotonic() + self.patience
        while (answer := ask()) is None and time.monotonic() < deadline:
            time.sleep(_PAUSE)
        return answer

    def _check_apart(self, adapter: Adapter, here: Scope, there: Scope) -> None:
        """What is saved here is not found there; an adapter may refuse either with `ScopeError`."""
        try:
            adapter.save(here, _turn("heron"))
            self._check_empty(adapter, there, "heron")
        except ScopeError:
            return
        self._surfaced(adapter, here, "heron")

    def _check_empty(self, adapter: Adapter, scope: Scope, word: str) -> None:
        self.settle(adapter)
        result = adapter.recall(scope, _query(word))
        assert result.system_prompt == ""
        assert not result.fragments

    def _settled_texts(self, adapter: Adapter, scope: Scope) -> list[str]:
        """Everything remembered, sorted, as far as the adapter can tell it apart."""
        self.settle(adapter)
        fragments = self._surfaced(adapter, scope, "heron").fragments
        if adapter.capabilities.list_facts:
            return sorted(fact.text for fact in _declaring(adapter, "list_facts").list_facts(scope))
        if fragments is None:
            pytest.skip(f"{adapter.id} gives one written answer, in which copies can't be told apart")
        return sorted(fragment.text for fragment in fragments)


def _declaring(adapter: Adapter, method: str) -> InspectingAdapter:
    if not getattr(adapter.capabilities, method):
        pytest.skip(f"{adapter.id} declares no {method}")
    # it may declare one of the two methods, and the protocol has both
    return cast("InspectingAdapter", adapter)


def _new_scope() -> Scope:
    run = uuid4().hex
    return Scope(f"thread-{run}", user_id=f"user-{run}", tenant_id=f"tenant-{run}")


def _turn(word: str) -> Turn:
    return Turn(user=f"I saw a {word} this morning.", assistant=f"A {word}! Where was it?")


def _query(word: str) -> str:
    return f"What do I know about the {word}?"


def _everything(result: RecallResult) -> str:
    return "\n".join([result.system_prompt, *(fragment.text for fragment in result.fragments or ())])
