"""No two scopes share a key, whatever their values hold."""

from __future__ import annotations

from dataclasses import astuple
from itertools import count

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from afterturn import Scope
from afterturn.keys import JournalKeys, ScopeKeys, cluster_slot, index_key, record_key, slot_tag
from afterturn.testing.contract import HOSTILE_VALUES

# few characters, and those that mean something, so that near misses are common
special = st.text(st.sampled_from(list(":_\\{}*a")), max_size=6)
values = special | st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(HOSTILE_VALUES)
prefixes = st.sampled_from(["afterturn:memory", "{app}", "a{b}c", "}{", "a}b", "{}", "{}x{y}", "x{"])


@st.composite
def scopes(draw: st.DrawFn) -> Scope:
    return Scope(
        draw(values.filter(bool)),
        user_id=draw(st.none() | values),
        tenant_id=draw(st.none() | values),
        namespace=draw(st.none() | values),
    )


def owner(scope: Scope) -> tuple[str, str | None, str | None]:
    return (scope.thread_id, scope.user_id, scope.tenant_id)


@settings(max_examples=500, deadline=None)
@given(scopes(), scopes(), prefixes)
@example(Scope("t", tenant_id="_"), Scope("t"), "p")
@example(Scope("t", user_id="_"), Scope("t"), "p")
@example(Scope("a", user_id="b:c"), Scope("b:a", user_id="c"), "p")
@example(Scope("a", user_id="\\"), Scope("a", user_id="\\\\"), "p")
@example(Scope("b", user_id="a\\", tenant_id="x"), Scope("b", user_id="a", tenant_id="x\\"), "p")
def test_two_different_scopes_share_no_key(one: Scope, other: Scope, prefix: str) -> None:
    assume(owner(one) != owner(other))
    mine, theirs = astuple(ScopeKeys.of(prefix, one)), astuple(ScopeKeys.of(prefix, other))
    assert not set(mine) & set(theirs)


@settings(deadline=None)
@given(scopes(), scopes(), prefixes)
def test_the_same_owner_has_the_same_keys_whatever_the_namespace(
    one: Scope, other: Scope, prefix: str
) -> None:
    twin = Scope(one.thread_id, one.user_id, one.tenant_id, other.namespace)
    assert ScopeKeys.of(prefix, one) == ScopeKeys.of(prefix, twin)


@settings(deadline=None)
@given(scopes(), prefixes)
def test_a_scopes_own_keys_are_all_different(scope: Scope, prefix: str) -> None:
    keys = astuple(ScopeKeys.of(prefix, scope))
    assert len(set(keys)) == len(keys)


@settings(max_examples=500, deadline=None)
@given(scopes(), prefixes)
@example(Scope("a}b"), "p")
@example(Scope("{}"), "p")
@example(Scope("}{"), "p")
@example(Scope("{a}"), "p")
def test_companions_lie_in_the_cluster_slot_of_the_index_key(scope: Scope, prefix: str) -> None:
    keys = ScopeKeys.of(prefix, scope)
    assert {cluster_slot(key) for key in astuple(keys)} == {cluster_slot(keys.index)}


@settings(deadline=None)
@given(scopes(), prefixes, special)
def test_a_scopes_keys_are_no_record_or_journal_key(scope: Scope, prefix: str, record_id: str) -> None:
    keys = set(astuple(ScopeKeys.of(prefix, scope)))
    journal = JournalKeys.of(prefix)
    assert record_key(prefix, record_id) not in keys
    assert not keys & {journal.dead, journal.sweep_lease, journal.turn(record_id), journal.due(record_id)}


@pytest.mark.parametrize(
    ("scope", "key"),
    [
        (Scope("t1", user_id="u1", tenant_id="x1"), "p:index:x1:u1:t1"),
        (Scope("t1"), "p:index:_:_:t1"),
        (Scope("t_1", user_id="a:b", tenant_id="c\\d"), "p:index:c\\\\d:a\\:b:t\\_1"),
        (Scope("t1", user_id="_", tenant_id=""), "p:index:_:\\_:t1"),
    ],
)
def test_the_index_key_is_the_contracts(scope: Scope, key: str) -> None:
    assert index_key("p", scope) == key


def test_the_record_key_is_the_contracts() -> None:
    assert record_key("tanstack-ai:memory", "7") == "tanstack-ai:memory:record:7"


@pytest.mark.parametrize("slot", [0, 1, 8191, 16_383])
def test_a_slot_that_no_braces_can_name_is_named_by_its_smallest_number(slot: int) -> None:
    key = next(key for key in (f"{number}}}" for number in count()) if cluster_slot(key) == slot)
    tag = slot_tag(key)
    assert cluster_slot(tag) == slot
    assert not any(cluster_slot(str(smaller)) == slot for smaller in range(int(tag)))
