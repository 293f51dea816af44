"""Cleaning of text that people typed: it is mended, never refused."""

from __future__ import annotations

import re
from typing import Any, Final

_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def clean_text(text: str, *, keep_nul: bool = False) -> str:
    """Replace lone surrogates with U+FFFD and drop NUL, so that every store and wire can carry the text."""
    if not text.isascii() and _LONE_SURROGATE.search(text):
        # pairs that belong together are one character, however they came apart
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text if keep_nul or "\0" not in text else text.replace("\0", "")


def clean_tree(value: Any) -> Any:
    """`clean_text` on every string inside dicts and lists."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_tree(key): clean_tree(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_tree(item) for item in value]
    return value
