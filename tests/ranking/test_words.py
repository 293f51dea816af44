"""What counts as a word, in any script."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterturn.ranking.words import query_tokens, text_tokens


@settings(deadline=None)
@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_text_gives_the_tokens_of_a_split_at_non_word_characters(text: str) -> None:
    expected = {token for token in re.split(r"\W+", text.lower(), flags=re.ASCII) if token}
    assert query_tokens(text) == text_tokens(text) == expected


@settings(deadline=None)
@given(st.text())
def test_whatever_a_query_asks_its_own_text_answers(text: str) -> None:
    assert query_tokens(text) <= text_tokens(text)


@settings(deadline=None)
@given(st.text())
def test_every_token_holds_a_letter_a_digit_or_an_underscore(text: str) -> None:
    assert all(re.search(r"\w", token) for token in text_tokens(text))


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8")))
def test_case_makes_no_difference(text: str) -> None:
    assert query_tokens(text.upper().lower()) == query_tokens(text.upper())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Привет, Мир!", {"привет", "мир"}),
        ("Καλημέρα κόσμε", {"καλημέρα", "κόσμε"}),
        ("صباح الخير", {"صباح", "الخير"}),
        ("안녕하세요 여러분", {"안녕하세요", "여러분"}),
        ("Straße ÉCOLE", {"strasse", "école"}),
        ("don't stop_now 42", {"don", "t", "stop_now", "42"}),
        ("", set()),
        ("… — !", set()),
        ("\u0301", set()),
    ],
)
def test_words_of_scripts_with_spaces_are_tokens(text: str, words: set[str]) -> None:
    assert query_tokens(text) == words


@pytest.mark.parametrize("word", ["हिन्दी", "முருகன்", "বাংলা", "ಕನ್ನಡ", "සිංහල", "עִבְרִית", "Việt"])
def test_combining_marks_stay_inside_their_word(word: str) -> None:
    assert len(query_tokens(f"{word} x")) == 2


def test_composed_and_decomposed_letters_are_the_same() -> None:
    assert query_tokens("caf\u00e9") == query_tokens("cafe\u0301")


def test_what_is_invisible_makes_no_difference() -> None:
    assert query_tokens("का\u200dम") == query_tokens("काम")
    assert query_tokens("\u2764\ufe0fhello") == query_tokens("hello")
    assert query_tokens("1\ufe0f\u20e3 step") == query_tokens("1 step")
    assert query_tokens("\u845b\U000e0100\u57ce") == query_tokens("\u845b\u57ce")


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("我昨天搬到了里斯本", "里斯本"),
        ("私の猫はタマです", "猫"),
        ("私の猫はタマです", "ﾀﾏ"),
        ("ฉันชอบแมวมาก", "แมว"),
        ("ខ្ញុំស្រលាញ់ឆ្មា", "ឆ្មា"),
        ("ကျွန်တော် ကြောင်ချစ်တယ်", "ကြောင်"),
        ("Python入門を読んだ", "python"),
    ],
)
def test_a_query_matches_inside_a_run_without_spaces(text: str, asked: str) -> None:
    assert query_tokens(asked)
    assert query_tokens(asked) <= text_tokens(text)


def test_a_query_of_two_characters_asks_for_the_pair_not_for_each() -> None:
    assert query_tokens("東京") == {"東京"}
    assert not query_tokens("東京") & text_tokens("東の京")


def test_punctuation_inside_a_run_separates() -> None:
    assert query_tokens("東京・大阪。") == {"東京", "大阪"}
