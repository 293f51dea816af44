"""The JSON values of a file, one a line or one an element of a single array, without holding the whole file."""

from __future__ import annotations

import codecs
import json
import re
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
WHITESPACE: Final = re.compile(r"[ \t\r\n]*")


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
    # no more than a chunk: an array without line breaks is one line
    first, number = file.readline(CHUNK).removeprefix(BOM), 1
    while first and not first.strip():
        first, number = file.readline(CHUNK), number + 1
    if first.lstrip().startswith(b"["):
        yield from _elements(file, first)
    else:
        rest = b"" if first.endswith(b"\n") else file.readline()
        yield from _lines([first + rest], number)
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
    """The part of a text that has been read; used up to `position`."""

    def __init__(self, file: BinaryIO, start: bytes) -> None:
        self._file = file
        self._decode = codecs.getincrementaldecoder("utf-8")()
        self._next = start
        self._size = CHUNK
        self._ended = False
        self.undecodable = False
        self.text = ""
        self.position = 0

    @property
    def unused(self) -> int:
        """Number of characters that have been read and not used."""
        return len(self.text) - self.position

    def more(self) -> bool:
        """Read on, each time more, so that a long element isn't parsed too often; False at the end."""
        if not self._ended:
            chunk, self._next = self._next or self._file.read(self._size), b""
            self._size = min(self._size * 2, ELEMENT_LIMIT)
            self._ended = not chunk
            self.text, self.position = self.text[self.position :] + self._decoded(chunk), 0
        return not self._ended

    def _decoded(self, chunk: bytes) -> str:
        """The chunk's text; up to the first byte that isn't UTF-8, which ends the file."""
        try:
            return self._decode.decode(chunk, final=self._ended)
        except UnicodeDecodeError as error:
            self._ended = self.undecodable = True
            return error.object[: error.start].decode()

    def next_character(self) -> str:
        """Pass over white space; the character that follows, still unused, or nothing at the end."""
        while True:
            self.position = _space_end(self.text, self.position)
            if self.unused or not self.more():
                return self.text[self.position : self.position + 1]

    def use_to(self, position: int) -> None:
        """What stands before `position` has been used."""
        self.position = position
        self._size = CHUNK


def _space_end(text: str, position: int) -> int:
    found = WHITESPACE.match(text, position)
    return found.end() if found else position


def _elements(file: BinaryIO, start: bytes) -> Iterator[Found]:
    window = _Window(file, start)
    number = 1
    try:
        window.next_character()
        window.use_to(window.position + 1)  # the bracket
        while window.next_character() != "]":
            yield Item(f"item {number}", _element(window))
            _pass_comma(window)
            number += 1
    except (ValueError, RecursionError) as error:
        reason = "UTF-8" if window.undecodable else f"JSON ({type(error).__name__})"
        yield BadItem(f"item {number}", f"is not {reason}; nothing after it was read")


def _pass_comma(window: _Window) -> None:
    following = window.next_character()
    if following == ",":
        window.use_to(window.position + 1)
    elif following != "]":
        raise ValueError("neither a comma nor the closing bracket follows an element")


def _element(window: _Window) -> Any:
    decoder = json.JSONDecoder()
    while True:
        try:
            value, end = decoder.raw_decode(window.text, window.position)
        except json.JSONDecodeError:
            # broken, or not read to its end: only more text can tell
            if window.unused > ELEMENT_LIMIT or not window.more():
                raise
            continue
        length = end - window.position
        if length == window.unused and window.more():
            continue  # a number may go on
        window.use_to(window.position + length)
        return value
