"""Reading a model's answer: tolerant of its form, and never taking nonsense for "nothing to remember"."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, Final

from afterturn.model import ExtractedFact, MemoryKind
from afterturn.text import clean_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FACT_LIMIT: Final = 64
"""Most facts taken from one answer."""
TEXT_LIMIT: Final = 1_000
"""Longest text of one fact, in characters; a longer one is cut."""
DEFAULT_IMPORTANCE: Final = 0.5
"""Importance of a fact whose answer gives none that can be read."""
STARTS_TRIED: Final = 32
"""Most places inside prose where JSON is looked for; each may cost a pass over the answer."""

_FENCE: Final = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
_START: Final = re.compile(r"[{\[]")
_KINDS: Final = {kind.value: kind for kind in (MemoryKind.FACT, MemoryKind.PREFERENCE, MemoryKind.SUMMARY)}
_NOTHING: Final = object()


class UnusableAnswer(Exception):
    """The answer holds no list of facts. The message never quotes it."""


def parse_facts(answer: str, metadata: Mapping[str, Any] | None = None) -> list[ExtractedFact]:
    """The facts of an answer: JSON as asked for, in a code block, or with prose around it; or a bare list.

    Unknown kinds become `fact`, importance is clamped to 0 to 1, empty and repeated texts are dropped, and what
    comes after 64 facts is cut.

    Raises:
        UnusableAnswer: there is no list of facts, or none of its items is one. An empty list is a list.
    """
    seen: dict[str, ExtractedFact] = {}
    for text, item in _usable(_items(answer)):
        fact = ExtractedFact(
            text=text,
            kind=_kind(item.get("kind")),
            importance=_importance(item.get("importance")),
            metadata=metadata,
        )
        seen.setdefault(text.casefold(), fact)
        if len(seen) == FACT_LIMIT:
            break
    return list(seen.values())


def _items(answer: str) -> list[Any]:
    # a reasoning model's thoughts may hold drafts of the answer
    said = answer.rpartition("</think>")[2].strip()
    for whole in (said, *(match[1] for match in _FENCE.finditer(said))):
        found = _listed(_decoded(whole), whole_answer=True)
        if found is not None:
            return found
    for value in _embedded(said):
        found = _listed(value, whole_answer=False)
        if found is not None:
            return found
    raise UnusableAnswer(f"an answer of {len(answer)} characters without a list of facts")


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NOTHING


def _embedded(text: str) -> Iterator[Any]:
    """JSON values inside prose, those not inside one another, in order."""
    decoder, position = json.JSONDecoder(), 0
    for _ in range(STARTS_TRIED):
        start = _START.search(text, position)
        if start is None:
            return
        try:
            value, position = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            position = start.end()
        else:
            yield value


def _listed(value: Any, *, whole_answer: bool) -> list[Any] | None:
    """The list of facts that `value` is or holds, or None.

    In prose, brackets may be anything: there a bare list counts only where it holds facts.
    """
    if isinstance(value, dict):
        facts = value.get("facts", [value] if _text(value) is not None else None)
        return facts if isinstance(facts, list) else None
    if isinstance(value, list) and (
        whole_answer or any(_text(item) for item in value if isinstance(item, dict))
    ):
        return value
    return None


def _usable(items: list[Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Texts and fields of the items that are facts, less those with nothing in them."""
    texts = [_text(item) for item in items]
    if items and all(text is None for text in texts):
        raise UnusableAnswer(f"a list of {len(items)} items, none with a text")
    for text, item in zip(texts, items, strict=True):
        if text:
            yield text, item if isinstance(item, dict) else {}


def _text(item: Any) -> str | None:
    text = item.get("text") if isinstance(item, dict) else item
    return clean_text(text).strip()[:TEXT_LIMIT] if isinstance(text, str) else None


def _kind(value: Any) -> MemoryKind:
    return _KINDS.get(value.strip().lower() if isinstance(value, str) else "", MemoryKind.FACT)


def _importance(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return DEFAULT_IMPORTANCE
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return DEFAULT_IMPORTANCE
    return DEFAULT_IMPORTANCE if math.isnan(number) else min(max(number, 0.0), 1.0)
