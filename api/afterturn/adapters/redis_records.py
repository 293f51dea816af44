"""Reading a scope's records from Redis, whoever wrote them, and sweeping what is gone."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from afterturn.adapters.records import record_from_json
from afterturn.keys import record_key
from afterturn.ranking.score import is_live

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import redis

    from afterturn.keys import ScopeKeys
    from afterturn.model import Record

logger = logging.getLogger("afterturn")

CHUNK: Final = 1_000
"""Most records asked for in one command."""
WARNING_LIMIT: Final = 100
"""Most warnings of malformed records from one reader, so that a broken store can't flood the log."""
_VECTOR_TYPE: Final = np.dtype("<f4")


def pack_vector(record: Record) -> bytes:
    """`<model name>\\0<little-endian float32>`, or nothing for a record without a vector."""
    if record.embedding is None:
        return b""
    name = (record.embedding_model or "").encode()
    return name + b"\0" + np.asarray(record.embedding, dtype=_VECTOR_TYPE).tobytes()


def with_vector(record: Record, packed: bytes | None) -> Record:
    """The record with its packed vector, if it has one."""
    if not packed:
        return record
    name, _, numbers = packed.partition(b"\0")
    vector = np.frombuffer(numbers, dtype=_VECTOR_TYPE)
    return replace(record, embedding=vector, embedding_model=name.decode() or None)


class RecordReader:
    """Reads records; remembers which malformed ones it has warned of."""

    def __init__(self, client: redis.Redis, prefix: str) -> None:
        self._client = client
        self._prefix = prefix
        self._warned: set[str] = set()

    def read(self, keys: ScopeKeys, ids: Collection[bytes], vectors: Mapping[bytes, bytes]) -> list[Record]:
        """The live records of `ids`.

        A member whose key is gone, and a record that has expired by the clock, are swept from the scope; one
        that is not JSON is skipped, named in a warning, and left in place.
        """
        now = time.time_ns() // 1_000_000
        records: list[Record] = []
        dead: list[bytes] = []
        ordered = sorted(ids)
        for start in range(0, len(ordered), CHUNK):
            chunk = ordered[start : start + CHUNK]
            for record_id, stored in zip(chunk, self._fetch(chunk), strict=True):
                record = self._parse(record_id.decode(), stored) if stored is not None else None
                if record is not None and is_live(record, now):
                    records.append(with_vector(record, vectors.get(record_id)))
                elif stored is None or record is not None:
                    dead.append(record_id)
        self._sweep(keys, dead)
        return records

    def _fetch(self, ids: list[bytes]) -> list[bytes | None]:
        found = self._client.mget([record_key(self._prefix, record_id.decode()) for record_id in ids])
        return [stored.encode() if isinstance(stored, str) else stored for stored in found]

    def _parse(self, record_id: str, stored: bytes) -> Record | None:
        try:
            return record_from_json(stored)
        except ValueError:
            self._warn(record_id)
            return None

    def _warn(self, record_id: str) -> None:
        if record_id in self._warned or len(self._warned) >= WARNING_LIMIT:
            return
        self._warned.add(record_id)
        logger.warning("afterturn.malformed_record: %s is not the JSON of a record; skipped", record_id)

    def _sweep(self, keys: ScopeKeys, dead: list[bytes]) -> None:
        if not dead:
            return
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.srem(keys.index, *dead)
            pipeline.hdel(keys.vectors, *dead)
            pipeline.execute()
