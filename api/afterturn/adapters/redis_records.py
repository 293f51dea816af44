"""Reading a scope's records from Redis, whoever wrote them, and sweeping what is gone."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import redis

from afterturn.adapters.records import message_records, record_from_json
from afterturn.journal.entry import decode_entry
from afterturn.keys import record_key
from afterturn.model import to_millis
from afterturn.ranking.score import is_live

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from numpy.typing import NDArray
    from redis.commands.core import Script

    from afterturn.keys import ScopeKeys
    from afterturn.model import Record, Scope

logger = logging.getLogger("afterturn")

CHUNK: Final = 1_000
"""Most records asked for in one command."""
WARNING_LIMIT: Final = 100
"""Most warnings of one reader, so that a broken store can't flood the log."""
_VECTOR_TYPE: Final = np.dtype("<f4")


def load_adapter_script(client: redis.Redis, name: str) -> Script:
    """The script `redis_<name>.lua`, which its own head describes."""
    path = Path(__file__).parent / f"redis_{name}.lua"
    return client.register_script(path.read_text(encoding="utf-8"))


def pack_vector(record: Record) -> bytes:
    """`<model name>\\0<little-endian float32>`, or nothing for a record without a vector."""
    if record.embedding is None:
        return b""
    name = (record.embedding_model or "").encode()
    return name + b"\0" + np.asarray(record.embedding, dtype=_VECTOR_TYPE).tobytes()


def unpack_vector(packed: bytes) -> tuple[NDArray[Any], str | None]:
    """The inverse of `pack_vector`, for a record with a vector.

    Raises:
        ValueError: not a packed vector.
    """
    name, _, numbers = packed.partition(b"\0")
    return np.frombuffer(numbers, dtype=_VECTOR_TYPE), name.decode() or None


class RecordReader:
    """Reads records and pending turns; remembers which malformed ones it has warned of."""

    def __init__(self, client: redis.Redis, prefix: str) -> None:
        self._client = client
        self._prefix = prefix
        self._sweep_script = load_adapter_script(client, "sweep")
        self._warned: set[str] = set()
        self._sweep_refused = False

    def read(
        self, scope: Scope, keys: ScopeKeys, ids: Collection[bytes], vectors: Mapping[bytes, bytes]
    ) -> list[Record]:
        """The live records of `ids`.

        An id whose key is gone, and a record that has expired by the clock, are swept from the scope. What is not
        the JSON of a record, or of another scope's, is skipped, named in a warning, and left in place.
        """
        now = time.time_ns() // 1_000_000
        records: list[Record] = []
        dead = dict.fromkeys(vectors.keys() - ids, b"")
        for record_id, stored in self._fetch(sorted(ids)):
            if stored is None:
                dead[record_id] = b""
                continue
            record = self._parse(scope, record_id, stored, vectors.get(record_id))
            if record is None:
                continue
            if is_live(record, now):
                records.append(record)
            else:
                dead[record_id] = stored
        self._sweep(keys, dead)
        return records

    def _fetch(self, ids: list[bytes]) -> Iterator[tuple[bytes, bytes | None]]:
        for start in range(0, len(ids), CHUNK):
            chunk = ids[start : start + CHUNK]
            found: Any = self._client.mget([self._record_key(record_id) for record_id in chunk])
            yield from zip(chunk, found, strict=True)

    def _record_key(self, record_id: bytes) -> bytes:
        return record_key(self._prefix, "").encode() + record_id

    def _parse(self, scope: Scope, record_id: bytes, stored: bytes, packed: bytes | None) -> Record | None:
        try:
            vector = unpack_vector(packed) if packed else None
        except ValueError:
            self._warn(record_id, "has a malformed vector, and is found by its words only")
            vector = None
        try:
            return record_from_json(stored, scope=scope, vector=vector)
        except ValueError as error:
            self._warn(record_id, f"{error}; skipped")
            return None

    def pending(
        self, scope: Scope, pending: Mapping[bytes, bytes], fence: int, ids: Collection[bytes]
    ) -> list[Record]:
        """Messages of turns that no worker has written yet, and that no forget has made void."""
        return [
            record
            for turn_id, stored in pending.items()
            for record in self._messages(scope, turn_id, stored, fence)
            if record.id.encode() not in ids
        ]

    def _messages(self, scope: Scope, turn_id: bytes, stored: bytes, fence: int) -> list[Record]:
        try:
            entry = decode_entry(scope, turn_id.decode(), stored.decode())
            if entry.generation < fence or entry.turn.at is None:
                return []
            return message_records(entry.turn_id, scope, entry.turn, to_millis(entry.turn.at))
        except (ValueError, TypeError, AttributeError):
            self._warn(turn_id, "is not a pending turn; skipped")
            return []

    def _warn(self, item_id: bytes, what: str) -> None:
        name = item_id.decode(errors="backslashreplace")
        if name in self._warned or len(self._warned) >= WARNING_LIMIT:
            return
        self._warned.add(name)
        logger.warning(
            "afterturn.malformed_record: %s %s", name, what, extra={"action": "malformed_record", "id": name}
        )

    def _sweep(self, keys: ScopeKeys, dead: Mapping[bytes, bytes]) -> None:
        items = list(dead.items())
        try:
            for start in range(0, len(items), CHUNK):
                chunk = items[start : start + CHUNK]
                record_keys = [self._record_key(record_id) for record_id, _ in chunk]
                self._sweep_script(keys=[keys.index, keys.vectors, *record_keys], args=sum(chunk, ()))
        except redis.ResponseError as error:
            # a replica, or a user without write access, can still answer: somebody else will sweep
            self._warn_of_refusal(error)

    def _warn_of_refusal(self, error: redis.ResponseError) -> None:
        if self._sweep_refused:
            return
        self._sweep_refused = True
        name = type(error).__name__
        logger.warning(
            "afterturn.sweep_refused: Redis let no expired record be removed (%s); recall goes on without",
            name,
            extra={"action": "sweep_refused"},
        )
