"""The JSON values of a file, one a line or one an element of a single array, without holding the whole file."""

from __future__ import annotations

import codecs
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import BinaryIO

CHUNK: Final = 1 << 16
"""Bytes read at once from a file that is one array."""
ELEMENT_LIMIT: Final = 1 << 27
"""Longest element of an array, in characters; past it the file is taken to be broken."""
BOM: Final = codecs.BOM_UTF8
WHITESPACE: Final = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Item:
    """One JSON value and where it stands, such as `line 3` or `item 3`."""

    place: str
    value: Any


@dataclass(frozen=True, slots=True)
class BadItem:
    """What could not be read, and why, without a word of its text."""

    place: str
    reason: str


Found: TypeAlias = Item | BadItem


def read_items(file: BinaryIO) -> Iterator[Found]:
    """The values of a JSON Lines file, or the elements of a file that is one JSON array."""
    first, number = file.readline().removeprefix(BOM), 1
    while first and not first.strip():
        first, number = file.readline(), number + 1
    if first.lstrip().startswith(b"["):
        yield from _elements(file, first)
    else:
        yield from _lines([first], number)
        yield from _lines(file, number + 1)


def _lines(lines: Iterable[bytes], start: int) -> Iterator[Found]:
    for number, line in enumerate(lines, start):
        if line.strip():
            yield _line(f"line {number}", line)


def _line(place: str, line: bytes) -> Found:
    try:
        return Item(place, json.loads(line.decode()))
    except UnicodeDecodeError:
        return BadItem(place, "is not UTF-8")
    except json.JSONDecodeError as error:
        return BadItem(place, f"is not JSON (from column {error.colno})")
    except (ValueError, RecursionError) as error:
        # a number of thousands of digits, or nesting thousands deep
        return BadItem(place, f"is not JSON that can be read ({type(error).__name__})")


class _Window:
    """The part of a text that has been read and not yet used."""

    def __init__(self, file: BinaryIO, start: bytes) -> None:
        self._file = file
        self._decode = codecs.getincrementaldecoder("utf-8")()
        self._next = start
        self._size = CHUNK
        self.ended = False
        self.text = ""

    def more(self) -> bool:
        """Read on, each time more, so that a long element isn't parsed too often; False at the end."""
        chunk, self._next = self._next or self._file.read(self._size), b""
        self._size = min(self._size * 2, ELEMENT_LIMIT)
        self.ended = not chunk
        self.text += self._decode.decode(chunk, final=self.ended)
        return not self.ended

    def skip(self, characters: str) -> str:
        """Drop leading `characters`; the next one, or nothing at the end."""
        self.text = self.text.lstrip(characters)
        while not self.text and self.more():
            self.text = self.text.lstrip(characters)
        return self.text[:1]

    def drop(self, length: int) -> None:
        """Drop what has been used."""
        self.text = self.text[length:]
        self._size = CHUNK


def _elements(file: BinaryIO, start: bytes) -> Iterator[Found]:
    window = _Window(file, start)
    number = 1
    try:
        window.skip(WHITESPACE)
        window.drop(1)  # the bracket
        while window.skip(WHITESPACE) != "]":
            yield Item(f"item {number}", _element(window))
            _drop_comma(window)
            number += 1
    except UnicodeDecodeError:
        yield BadItem(f"item {number}", "is not UTF-8; nothing after it was read")
    except (ValueError, RecursionError) as error:
        yield BadItem(f"item {number}", f"is not JSON ({type(error).__name__}); nothing after it was read")


def _drop_comma(window: _Window) -> None:
    following = window.skip(WHITESPACE)
    if following == ",":
        window.drop(1)
    elif following != "]":
        raise ValueError("neither a comma nor the closing bracket follows an element")


def _element(window: _Window) -> Any:
    decoder = json.JSONDecoder()
    while True:
        try:
            value, end = decoder.raw_decode(window.text)
        except json.JSONDecodeError:
            # broken, or not read to its end: only more text can tell
            if len(window.text) > ELEMENT_LIMIT or not window.more():
                raise
            continue
        if end == len(window.text) and window.more():
            continue  # a number may go on
        window.drop(end)
        return value
