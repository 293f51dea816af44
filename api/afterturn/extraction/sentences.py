"""Cutting what a person typed into clauses that state something. Pure, and linear in the text's length."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

CLAUSE_LIMIT: Final = 300
"""Longer clauses are no plain statements, and are left out."""

QUOTED: Final = "\ufffc"
"""Stands for what was somebody else's words; a clause with it is left out."""

_STRAIGHT: Final = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u201c": '"', "\u201d": '"'})
_SLOPPY: Final = {
    "name's": "name is",
    "im": "I'm",
    "ive": "I've",
    "dont": "don't",
    "cant": "can't",
    "didnt": "didn't",
    "wasnt": "wasn't",
}
_CODE: Final = re.compile(r"```[^`]*(?:```|\Z)|`[^`\n]*`")
_DOUBLE_QUOTED: Final = re.compile(r'"[^"\n]*(?:"|\n|\Z)')
# an apostrophe opens a quotation only before a word and not after one, and closes it the other way round
_SINGLE_QUOTED: Final = re.compile(r"(?<![\w'])'(?=\w)[^'\n]*(?:(?<=\w)'(?=\w)[^'\n]*)*'(?!\w)")
_FIRST_PERSON: Final = re.compile(r"\b(?:i|my|me|i'm|i've)\b", re.IGNORECASE)
_EMOTICON: Final = re.compile(r"\s(?:[:;=xX8]'?-?[)(DPp3oO]+|lol|haha|hehe)$")
_BULLET: Final = re.compile(r"^\s*(?:[-*\u2022+]|\d{1,2}[.)])\s+")
_END: Final = re.compile(r"(?<=[.!?])[)\"']?\s+|(?<=\u2026)\s*|;\s+|\s[-\u2013\u2014]{1,2}\s|\u2014")
_ABBREVIATED: Final = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|st|mt|prof|jr|sr|vs|approx|e\.g|i\.e|a\.m|p\.m)|(?:^|[\s.])(?-i:[A-HJ-Z]))\.$",
    re.IGNORECASE,
)
_PROFILE: Final = re.compile(
    r"\b(?:me|myself|facts?|profile|remember|background|context|notes?|fyi)\b", re.IGNORECASE
)
_OWN_CLAUSE: Final = re.compile(r"(?:i|i'm|i've|i'll|i'd|my)\s", re.IGNORECASE)
_COORDINATION: Final = re.compile(
    r"(?:,\s|\s)(?:and|but|so|plus)\s(?:also\s)?(?=(?:i|i'm|i've|i'll|i'd)\s)"
    r"|(?<!\bhi)(?<!\bhey)(?<!hello)(?<!there)(?<!morning)(?<!evening)"  # greetings
    r",\s(?:(?:and|but|so)\s)?(?=(?:i'm|i've)\s|my\s(?:[\w'-]+\s){1,3}(?:is|are|was|has|have|lives|works|loves)\s)",
    re.IGNORECASE,
)
_ASIDE: Final = re.compile(
    r",\s(?:(?:so|and|but)\s)?(?:by the way|btw|nice to meet|pleased to meet|thanks|thank|please|actually|though|"
    r"can|could|do|does|is|are|should|would|will|what|what's|which|how|where|when|who|any|"
    r"give|suggest|recommend|tell|help|find|it|it's|they|they're|let's|'cause|because|since|as)\b.*$",
    re.IGNORECASE,
)
_ASKED: Final = re.compile(
    r",?\s(?:so|and|but)\s(?:can|could|do|does|should|would|will|what|which|how|where|when|who)\b.*$"
    r"|,\s(?:can|could|do|does|is|are|should|would|will|what|what's|which|how|where|when|who|any)\b.*$",
    re.IGNORECASE,
)
_TAG: Final = re.compile(r"\b(?:i|right|correct|no|yes|huh|eh)$", re.IGNORECASE)


def statements(text: str) -> Iterator[str]:
    """The clauses of a text that may state something: straight apostrophes, single spaces, no full stop.

    Left out are quotations, code, questions and what follows a line that ends in a colon (it is material to work
    on), unless that line announces facts ("About me:").
    """
    for line in _unquoted(text).split("\n"):
        spaced = " ".join(_SLOPPY.get(word, word) for word in _BULLET.sub("", line, count=1).split())
        if spaced.startswith(">"):
            continue
        for sentence in _sentences(spaced):
            yield from _clauses(sentence)
        if spaced.endswith(":") and not _PROFILE.search(spaced):
            return


def _unquoted(text: str) -> str:
    straight = _CODE.sub(QUOTED, text.translate(_STRAIGHT))
    return _SINGLE_QUOTED.sub(_hidden, _DOUBLE_QUOTED.sub(_hidden, straight))


def _hidden(quotation: re.Match[str]) -> str:
    """What somebody said in the first person is hidden; a title in quotation marks is no speech."""
    said = quotation[0]
    if not _FIRST_PERSON.search(said):
        return said
    return QUOTED + ("\n" if said.endswith("\n") else "")


def _sentences(line: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(line):
        before = line[max(0, end.start() - 12) : end.start()]
        if _OWN_CLAUSE.match(line, end.end()) or not _ABBREVIATED.search(before):
            yield line[start : end.start()]
            start = end.end()
    yield line[start:]


def _clauses(sentence: str) -> Iterator[str]:
    if QUOTED in sentence or len(sentence) > 4 * CLAUSE_LIMIT:
        return
    declared = _declared(sentence)
    if declared is None:
        return
    for clause in _COORDINATION.split(declared):
        trimmed = _trimmed(_ASIDE.sub("", clause))
        if trimmed and len(trimmed) <= CLAUSE_LIMIT:
            yield trimmed


def _declared(sentence: str) -> str | None:
    """What a sentence states: itself, the part before the question that it ends in, or None for a mere question."""
    if not sentence.endswith("?"):
        return sentence
    asked = _ASKED.search(sentence)
    if asked is None or _TAG.search(_trimmed(sentence)):
        return None
    return sentence[: asked.start()]


def _trimmed(clause: str) -> str:
    """Without the punctuation and pictures around it."""
    plain = _EMOTICON.sub("", clause)
    kept = '%+#"' + (")" if "(" in plain else "")
    end = len(plain)
    while end and not (plain[end - 1].isalnum() or plain[end - 1] in kept):
        end -= 1
    return plain[:end].lstrip(" ,.:;-")
