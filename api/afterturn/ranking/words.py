"""Word tokens of any script.

ASCII text gives the tokens of the reference implementation: runs of letters, digits and `_`, lower-cased. In
scripts that are written without spaces a run is no word, so it is matched by its overlapping pairs of characters,
wherever they stand inside a run.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

_ASCII_WORD: Final = re.compile(r"[0-9a-z_]+")
_FROM_FIRST_LETTER: Final = re.compile(r"\w.*", re.DOTALL)
_SPACELESS: Final = re.compile(
    "(["
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\ua9e0-\ua9fe\uaa60-\uaa7f"  # Myanmar
    "\u1780-\u17ff"  # Khmer
    "\u1950-\u19df\u1a20-\u1aad"  # Tai Le, New Tai Lue, Tai Tham
    "\u1b00-\u1b7f\ua980-\ua9df"  # Balinese, Javanese
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # Japanese kana
    "\u3100-\u312f\u31a0-\u31bf"  # Bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "]+)"
)
_ZERO_WIDTH_SPACE: Final = "\u200b"


def query_tokens(text: str) -> set[str]:
    """The distinct tokens of a query: words, and the pairs of characters of runs without spaces.

    A run of one character is a token by itself.
    """
    return _tokens(text, singles=False)


def text_tokens(text: str) -> set[str]:
    """The distinct tokens that a remembered text answers to: a query's, and each character of a run as well."""
    return _tokens(text, singles=True)


def _tokens(text: str, *, singles: bool) -> set[str]:
    if text.isascii():
        return set(_ASCII_WORD.findall(text.lower()))
    found: set[str] = set()
    for word in _words(unicodedata.normalize("NFKC", text.casefold())):
        # split by a capturing group: words at the even places, runs at the odd ones
        parts = _SPACELESS.split(word)
        found.update(parts[::2])
        for run in parts[1::2]:
            found.update(_run_tokens(run, singles=singles))
    # a mark that has lost its letter says nothing
    return {token for token in found if _FROM_FIRST_LETTER.search(token)}


def _words(text: str) -> list[str]:
    table = {ord(character): _replacement(character) for character in set(text)}
    candidates = text.translate(table).split()
    return [match.group() for match in map(_FROM_FIRST_LETTER.search, candidates) if match]


@lru_cache(maxsize=4096)
def _replacement(character: str) -> str:
    """What stands for a character while words are split: itself, a space, or nothing.

    Combining marks belong to the word before them: `\\w` alone would split a word at an Indic vowel sign. What is
    invisible (joiners, direction marks, variation selectors) makes no difference to a reader and none here.
    """
    category = unicodedata.category(character)
    if character == _ZERO_WIDTH_SPACE:
        return " "
    if category == "Cf" or "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef":
        return ""
    return character if character.isalnum() or character == "_" or category in {"Mn", "Mc"} else " "


def _run_tokens(run: str, *, singles: bool) -> set[str]:
    pairs = {run[start : start + 2] for start in range(len(run) - 1)}
    return pairs | set(run) if singles or len(run) == 1 else pairs
