"""Cleaning of text: what it mends, and that it leaves everything else alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.text import clean_text, clean_tree

broken = st.text(st.characters(exclude_categories=[]))


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("\ud83d\ude00", "\U0001f600"),
        ("\ud83d", "\ufffd"),
        ("a\ude00", "a\ufffd"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("a\ud83d\ud83d\ude00b", "a\ufffd\U0001f600b"),
        ("\0a\0\0b\0", "ab"),
        ("\ud83d\0\ude00", "\ufffd\ufffd"),
        ("", ""),
    ],
)
def test_pairs_are_joined_lone_surrogates_replaced_and_nul_dropped(text: str, cleaned: str) -> None:
    assert clean_text(text) == cleaned


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_sound_text_is_left_as_it_is(text: str) -> None:
    assert clean_text(text) == text


@given(broken)
def test_cleaned_text_is_sound_and_cleaning_it_again_changes_nothing(text: str) -> None:
    cleaned = clean_text(text)
    assert cleaned.encode().decode() == cleaned
    assert clean_text(cleaned) == cleaned


def test_nul_stays_where_it_tells_two_names_apart() -> None:
    assert clean_text("a\0", keep_nul=True) == "a\0"


def test_strings_at_any_depth_are_cleaned_and_other_values_kept() -> None:
    tree: dict[str, Any] = {"\0k": ["\0v", ({"n": "\ud83d"},)], "i": 1, "f": 0.5, "b": True, "none": None}
    cleaned = {"k": ["v", [{"n": "\ufffd"}]], "i": 1, "f": 0.5, "b": True, "none": None}
    assert clean_tree(tree) == cleaned
