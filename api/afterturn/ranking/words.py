"""Word tokens of any script.

ASCII text gives the tokens of the reference implementation (runs of letters, digits and `_`, lower-cased). In
scripts that are written without spaces a run is no word, so it gives its overlapping pairs of characters: a pair
of the query matches wherever it stands inside a run.
"""

from __future__ import annotations

import re
from typing import Final

# letters and digits with the marks that belong to them: `\w` alone would split a word at an Indic vowel sign
_MARKS: Final = "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a03\u0a3c-\u0a51\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d4d\u0dca-\u0ddf\u200c\u200d"
_WORD: Final = re.compile(rf"\w[\w{_MARKS}]*")
_SPACELESS: Final = re.compile(
    "["
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Myanmar
    "\u1780-\u17ff"  # Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # Japanese kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "]+"
)


def tokens(text: str) -> set[str]:
    """The distinct lower-cased tokens of a text."""
    lowered = text.lower()
    if lowered.isascii():
        return set(_WORD.findall(lowered))
    found: set[str] = set()
    rest = _SPACELESS.sub(lambda run: _add_pairs(found, run.group()), lowered)
    return found.union(_WORD.findall(rest))


def _add_pairs(found: set[str], run: str) -> str:
    found.update(run[i : i + 2] for i in range(len(run) - 1))
    if len(run) == 1:
        found.add(run)
    return " "
