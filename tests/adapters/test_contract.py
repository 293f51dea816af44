"""The shipped contract suite finds what is wrong with an adapter, and asks for no more than is declared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from afterturn import Fact, RecallResult, Record, SaveReceipt, Scope, Snapshot, Turn
from afterturn.adapters.base import Adapter, Capabilities
from afterturn.adapters.in_memory import InMemoryAdapter
from afterturn.adapters.record_adapter import Memories
from afterturn.ids import new_turn_id
from afterturn.testing import AdapterContract
from afterturn.testing.contract import HOSTILE_VALUES


class Confusing(InMemoryAdapter):
    """Keeps scopes under a key that does not tell all of them apart."""

    def __init__(self, confuse: Callable[[Scope], Scope]) -> None:
        super().__init__()
        self._confuse = confuse

    def write(self, scope: Scope, records: Sequence[Record]) -> SaveReceipt:
        return super().write(self._confuse(scope), records)

    def _load(self, scope: Scope) -> Memories:
        return super()._load(self._confuse(scope))


class ForgettingAll(InMemoryAdapter):
    def write(self, scope: Scope, records: Sequence[Record]) -> SaveReceipt:
        return SaveReceipt(ok=True)


class ForgettingTurnIds(InMemoryAdapter):
    def save(self, scope: Scope, turn: Turn, *, turn_id: str | None = None) -> list[SaveReceipt]:
        return super().save(scope, turn, turn_id=new_turn_id())


class KeepingOneTurn(InMemoryAdapter):
    def write(self, scope: Scope, records: Sequence[Record]) -> SaveReceipt:
        self._scopes.clear()
        return super().write(scope, records)


class WithoutReceipts(InMemoryAdapter):
    def save(self, scope: Scope, turn: Turn, *, turn_id: str | None = None) -> list[SaveReceipt]:
        super().save(scope, turn, turn_id=turn_id)
        return []


class WithFailedReceipts(InMemoryAdapter):
    def write(self, scope: Scope, records: Sequence[Record]) -> SaveReceipt:
        return replace(super().write(scope, records), ok=False)


class Chatty(InMemoryAdapter):
    def recall(self, scope: Scope, query: str, *, now: datetime | None = None) -> RecallResult:
        found = super().recall(scope, query, now=now)
        return replace(found, system_prompt=found.system_prompt or "Nothing is remembered.")


class KeepingEmptySides(InMemoryAdapter):
    def write(self, scope: Scope, records: Sequence[Record]) -> SaveReceipt:
        return super().write(scope, [*records, replace(records[0], id=f"{records[0].id}-empty", text="")])


class WithoutTimeZone(InMemoryAdapter):
    def inspect(self, scope: Scope) -> Snapshot:
        shown = super().inspect(scope)
        return replace(shown, taken_at=shown.taken_at.replace(tzinfo=None))


class WithNumbersAsIds(InMemoryAdapter):
    def list_facts(self, scope: Scope, **options: Any) -> list[Fact]:
        number: Any = 7
        return [replace(fact, id=number) for fact in super().list_facts(scope, **options)]


class ListingEveryScope(InMemoryAdapter):
    def _everything(self) -> Iterable[Scope]:
        return [Scope(*key) for key in self._scopes]

    def list_facts(self, scope: Scope, **options: Any) -> list[Fact]:
        return [fact for one in self._everything() for fact in super(ListingEveryScope, self).list_facts(one)]

    def inspect(self, scope: Scope) -> Snapshot:
        return Snapshot(super().inspect(scope).taken_at, self.list_facts(scope))


class Plain:
    """Recalls and saves, and nothing else."""

    id = "plain"
    capabilities = Capabilities()

    def __init__(self) -> None:
        self._inner = InMemoryAdapter()

    def recall(self, scope: Scope, query: str, *, now: datetime | None = None) -> RecallResult:
        return self._inner.recall(scope, query, now=now)

    def save(self, scope: Scope, turn: Turn, *, turn_id: str | None = None) -> list[SaveReceipt]:
        return self._inner.save(scope, turn, turn_id=turn_id)

    def close(self) -> None:
        """Nothing is open."""


class Boasting(Plain):
    capabilities = Capabilities(inspect=True)


class Late(Plain):
    """Remembers what was saved only once `catch_up` is called."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: list[tuple[Scope, Turn, str | None]] = []

    def save(self, scope: Scope, turn: Turn, *, turn_id: str | None = None) -> list[SaveReceipt]:
        self._waiting.append((scope, turn, turn_id))
        return [SaveReceipt(ok=True)]

    def catch_up(self) -> None:
        for scope, turn, turn_id in self._waiting:
            self._inner.save(scope, turn, turn_id=turn_id)
        self._waiting.clear()


class LateAndForgettingTurnIds(Late):
    def catch_up(self) -> None:
        self._waiting = [(scope, turn, new_turn_id()) for scope, turn, _ in self._waiting]
        super().catch_up()


class TestPlain(AdapterContract):
    @pytest.fixture
    def adapter(self) -> Plain:
        return Plain()


def without(*fields: str) -> Callable[[], Adapter]:
    changes: dict[str, Any] = {field: "" if field != "thread_id" else "t" for field in fields}
    return lambda: Confusing(lambda scope: replace(scope, **changes))


def changed(change: Callable[[str], str]) -> Callable[[], Adapter]:
    return lambda: Confusing(lambda scope: replace(scope, thread_id=change(scope.thread_id) or "t"))


def joined(order: str, separator: str, unset: str = "") -> Callable[[], Adapter]:
    """Keys of the fields joined in an order such as `tenant user thread`, without escaping."""

    def key(scope: Scope) -> Scope:
        values = [getattr(scope, f"{name}_id") for name in order.split()]
        return Scope(separator.join(unset if value is None else value for value in values))

    return lambda: Confusing(key)


ISOLATED = "test_scopes_are_isolated"
SEPARATED = "test_a_value_that_holds_a_separator_is_no_other_scope"
UNSET = "test_an_unset_field_is_no_value_that_may_stand_for_it"
HOSTILE = "test_scopes_with_hostile_values_never_see_each_other"


@pytest.mark.parametrize(
    ("make", "test", "values"),
    [
        (ForgettingAll, "test_a_saved_turn_surfaces_in_a_later_recall", ()),
        (KeepingOneTurn, "test_every_saved_turn_can_be_recalled", ()),
        (WithoutReceipts, "test_a_save_gives_receipts_of_which_one_is_ok", ()),
        (WithFailedReceipts, "test_a_save_gives_receipts_of_which_one_is_ok", ()),
        (Chatty, "test_a_scope_with_nothing_saved_gives_an_empty_prompt_and_no_fragments", ()),
        (ForgettingTurnIds, "test_saving_again_under_the_same_turn_id_leaves_one_copy", ()),
        (KeepingEmptySides, "test_an_empty_side_makes_no_memory", ("user",)),
        (KeepingEmptySides, "test_an_empty_side_makes_no_memory", ("assistant",)),
        (without("thread_id", "user_id"), ISOLATED, (("t1", "u1", "x1"), ("t2", "u2", "x1"))),
        (without("user_id"), ISOLATED, (("t1", "u1", "x1"), ("t1", "u2", "x1"))),
        (without("tenant_id"), ISOLATED, (("t1", "u1", "x1"), ("t1", "u1", "x2"))),
        (without("thread_id"), ISOLATED, (("t1", "u1", "x1"), ("t2", "u1", "x1"))),
        (without("tenant_id"), ISOLATED, (("t1", "u1", "x1"), ("t1", "u1", None))),
        (changed(str.lower), HOSTILE, ("thread_id",)),
        (changed(str.strip), HOSTILE, ("thread_id",)),
        (changed(lambda value: value.replace("\\", "")), HOSTILE, ("thread_id",)),
        (changed(lambda value: value[:499]), HOSTILE, ("thread_id",)),
        (without("user_id"), HOSTILE, ("user_id",)),
        (without("tenant_id"), HOSTILE, ("tenant_id",)),
        (joined("tenant user thread", ":"), SEPARATED, (":",)),
        (joined("thread user tenant", "__"), SEPARATED, ("__",)),
        (joined("user thread", "/"), SEPARATED, ("/",)),
        (joined("user thread tenant", "-"), SEPARATED, ("-",)),
        (joined("tenant user thread", "\x1f", "_"), UNSET, ("user_id",)),
        (joined("tenant user thread", "\x1f", "demo-user"), UNSET, ("tenant_id",)),
        (WithoutTimeZone, "test_inspect_gives_a_time_and_data", ()),
        (ListingEveryScope, "test_inspect_of_another_scope_shows_nothing_of_this_one", ()),
        (ListingEveryScope, "test_list_facts_of_another_scope_shows_nothing_of_this_one", ()),
        (WithNumbersAsIds, "test_list_facts_gives_rows_with_id_and_text", ()),
        (Boasting, "test_it_has_the_methods_that_it_declares", ()),
    ],
)
def test_an_adapter_with_a_fault_fails(
    make: Callable[[], Adapter], test: str, values: tuple[object, ...]
) -> None:
    run = getattr(AdapterContract(), test)
    with pytest.raises(AssertionError):
        run(make(), *values)
    run(InMemoryAdapter(), *values)


class PatientContract(AdapterContract):
    """Gives a late adapter its time."""

    __test__ = False

    def settle(self, adapter: Adapter) -> None:
        assert isinstance(adapter, Late)
        adapter.catch_up()


def test_copies_that_come_late_are_found_once_they_have_settled() -> None:
    run = PatientContract().test_saving_again_under_the_same_turn_id_leaves_one_copy
    run(Late())
    with pytest.raises(AssertionError):
        run(LateAndForgettingTurnIds())


def test_what_is_not_declared_is_skipped() -> None:
    for test in ("test_inspect_gives_a_time_and_data", "test_list_facts_gives_rows_with_id_and_text"):
        with pytest.raises(pytest.skip.Exception, match="plain declares no"):
            getattr(AdapterContract(), test)(Plain())


def test_no_hostile_value_is_listed_twice() -> None:
    assert len(set(HOSTILE_VALUES)) == len(HOSTILE_VALUES)
