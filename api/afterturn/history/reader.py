"""From the objects of a file to turns, each with a key that makes importing it twice change nothing."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from afterturn.errors import TurnError, ValidationError
from afterturn.history.items import BadItem, Item, read_items
from afterturn.history.messages import MalformedMessage, pair_messages
from afterturn.model import Scope, Turn, to_millis

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO


@dataclass(frozen=True, slots=True)
class ImportedTurn:
    """A turn of a file.

    Attributes:
        key: its idempotency key: a digest of scope, texts and time, and how often the same stood before it in
            the file.
    """

    place: str
    scope: Scope
    turn: Turn
    key: str


Imported: TypeAlias = ImportedTurn | BadItem


def read_history(file: BinaryIO) -> Iterator[Imported]:
    """Turns of a file, in its order, and what could not be read.

    An object is taken whole or not at all.
    """
    seen: Counter[bytes] = Counter()
    for item in read_items(file):
        if isinstance(item, BadItem):
            yield item
            continue
        try:
            scope, turns = read_object(item.value)
        except (ValidationError, MalformedMessage) as error:
            yield BadItem(item.place, str(error))
            continue
        yield from _keyed(item, scope, turns, seen)


def _keyed(item: Item, scope: Scope, turns: list[Turn], seen: Counter[bytes]) -> Iterator[ImportedTurn]:
    for turn in turns:
        digest = content_digest(scope, turn)
        yield ImportedTurn(item.place, scope, turn, f"import:{digest.hex()}:{seen[digest]}")
        seen[digest] += 1


def content_digest(scope: Scope, turn: Turn) -> bytes:
    """16 bytes that stand for a turn's scope, texts and time."""
    at = None if turn.at is None else to_millis(turn.at)
    content = json.dumps([scope.to_dict(), turn.user, turn.assistant, at], sort_keys=True)
    return hashlib.blake2b(content.encode(), digest_size=16).digest()


def read_object(value: object) -> tuple[Scope, list[Turn]]:
    """Scope and turns of one object of a file.

    Raises:
        ValidationError: a field is missing or wrong.
        MalformedMessage: its messages are.
    """
    if not isinstance(value, dict):
        raise ValidationError(f"must be an object, not {type(value).__name__}")
    for name in ("thread_id", "user_id"):
        if name not in value:
            hint = " (null where the thread has no user)" if name == "user_id" else ""
            raise ValidationError(f"{name} is missing{hint}")
    scope = Scope(value["thread_id"], value["user_id"], value.get("tenant_id"), value.get("namespace"))
    if "messages" not in value:
        return scope, [_exchange(value)]
    if "user" in value or "assistant" in value:
        raise ValidationError("has messages beside user or assistant: give one or the other")
    return scope, _conversation(value)


def _exchange(fields: dict[str, Any]) -> Turn:
    # null is what many exports write for a side without text
    texts = {name: "" if fields.get(name) is None else fields[name] for name in ("user", "assistant")}
    return Turn(**texts, at=read_time(fields.get("at")), metadata=fields.get("metadata"))


def _conversation(fields: dict[str, Any]) -> list[Turn]:
    exchanges = pair_messages(fields["messages"])
    if not exchanges:
        raise ValidationError("messages have no text of user or assistant")
    return [
        Turn(
            user="\n".join(exchange.user),
            assistant="\n".join(exchange.assistant),
            at=read_time(fields.get("at") if exchange.at is None else exchange.at),
            metadata=fields.get("metadata"),
        )
        for exchange in exchanges
    ]


def read_time(value: object) -> datetime | None:
    """A time as a file gives it.

    Raises:
        TurnError: it is not an ISO 8601 string.
    """
    if value is None:
        return None
    if isinstance(value, str):
        with suppress(ValueError):  # told below
            return datetime.fromisoformat(value)
    raise TurnError("at must be an ISO 8601 time with a time zone, such as 2026-11-30T09:00:00Z")
