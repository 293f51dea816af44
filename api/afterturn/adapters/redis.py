"""Memory in Redis or Valkey: the contract's keys, vectors beside them, pending turns read along."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self, Unpack, overload

from afterturn.adapters.base import Capabilities
from afterturn.adapters.record_adapter import Memories, RecordAdapter, RecordOptions
from afterturn.adapters.records import record_to_json
from afterturn.adapters.redis_records import RecordReader, load_adapter_script, pack_vector
from afterturn.connections import connect_for_handler, connect_for_worker, store_errors
from afterturn.errors import Forgotten, SettingsError
from afterturn.keys import ScopeKeys, record_key
from afterturn.model import Record, SaveReceipt

if TYPE_CHECKING:
    from collections.abc import Sequence

    import redis

    from afterturn.embedders import Embedder
    from afterturn.journal.entry import JournalEntry
    from afterturn.model import Scope
    from afterturn.settings import Settings

DEFAULT_PREFIX = "afterturn:memory"
DEFAULT_TIMEOUT = 5.0
"""Seconds that an adapter with its own client waits for one answer."""


class RedisOptions(RecordOptions, total=False):
    """The options besides `client` and `url` as keyword arguments; `RedisAdapter` says what they mean."""

    prefix: str
    socket_timeout: float
    store_embeddings_in_records: bool
    read_pending: bool


class RedisAdapter(RecordAdapter):
    """Keeps each record as JSON under its own key, and a set of ids a scope. Takes the common options, too.

    Args:
        client: a `redis.Redis` that decodes nothing; stays open when the adapter is closed.
        url: address to connect to instead.
        prefix: first part of every key.
        socket_timeout: seconds for one answer, with `url`.
        store_embeddings_in_records: put the vector into the JSON, too, for readers of the reference layout.
        read_pending: recall also finds accepted turns that no worker has written yet.

    Raises:
        SettingsError: not exactly one of `client` and `url`, a client that decodes, or an address that is none.
    """

    id = "redis"
    capabilities = Capabilities(records=True, inspect=True, list_facts=True)

    @overload
    def __init__(self, *, client: redis.Redis, **options: Unpack[RedisOptions]) -> None: ...

    @overload
    def __init__(self, *, url: str, **options: Unpack[RedisOptions]) -> None: ...

    def __init__(
        self,
        *,
        client: redis.Redis | None = None,
        url: str | None = None,
        prefix: str = DEFAULT_PREFIX,
        socket_timeout: float = DEFAULT_TIMEOUT,
        store_embeddings_in_records: bool = False,
        read_pending: bool = True,
        **options: Unpack[RecordOptions],
    ) -> None:
        super().__init__(**options)
        self._client = _client(client, url, socket_timeout)
        self._owned = self._client if client is None else None
        self._prefix = prefix
        self._in_records = store_embeddings_in_records
        self._read_pending = read_pending
        self._reader = RecordReader(self._client, prefix)
        self._commit = load_adapter_script(self._client, "commit")

    @classmethod
    def from_settings(cls, settings: Settings, embedder: Embedder | None) -> Self:
        """For a request handler: it fails after `recall_timeout` seconds."""
        return cls(
            url=settings.redis_url,
            prefix=settings.prefix,
            socket_timeout=settings.recall_timeout,
            top_k=settings.top_k,
            min_score=settings.min_score,
            kinds=settings.kinds,
            embedder=embedder,
        )

    @classmethod
    def for_worker(cls, settings: Settings) -> Self:
        """For a worker, which has time: it rides out a dropped connection."""
        adapter = cls(client=connect_for_worker(settings.redis_url), prefix=settings.prefix)
        adapter._owned = adapter._client
        return adapter

    def write(self, scope: Scope, records: Sequence[Record]) -> SaveReceipt:
        """Store records; see `RecordAdapter.write`."""
        return self._store(scope, records, turn_id="", generation=0, last=False)

    def commit(self, entry: JournalEntry, records: Sequence[Record], *, last: bool) -> SaveReceipt:
        """A worker's write: records, index and the turn's place in the journal change together.

        Args:
            last: nothing more follows for this turn, so the journal's text of it goes.

        Raises:
            Forgotten: the scope was forgotten after the turn was accepted; nothing is written.
            StoreUnavailable: Redis did not answer; doing it again completes or changes nothing.
        """
        return self._store(
            entry.scope, records, turn_id=entry.turn_id, generation=entry.generation, last=last
        )

    def _store(
        self, scope: Scope, records: Sequence[Record], *, turn_id: str, generation: int, last: bool
    ) -> SaveReceipt:
        began = time.perf_counter()
        keys = ScopeKeys.of(self._prefix, scope)
        journal_keys = [keys.fence, keys.pending, keys.unextracted, keys.answers]
        record_keys = [record_key(self._prefix, record.id) for record in records]
        written = [part for record in records for part in self._arguments(record)]
        with store_errors("write records"):
            added = self._commit(
                keys=[keys.index, keys.vectors, *journal_keys, *record_keys],
                args=[turn_id, generation, int(last), *written],
            )
        if added is None:
            raise Forgotten
        latency = (time.perf_counter() - began) * 1000
        return SaveReceipt(
            ok=True, latency_ms=latency, raw={"added_ids": [record_id.decode() for record_id in added]}
        )

    def _arguments(self, record: Record) -> tuple[str | bytes | int, ...]:
        # one later: a record that expires now is still live; above 0: Redis refuses times before its epoch
        expiry = "" if record.expires_at is None else max(1, record.expires_at + 1)
        stored = record_to_json(record, with_embedding=self._in_records)
        return record.id, pack_vector(record), stored, expiry

    def _load(self, scope: Scope) -> Memories:
        keys = ScopeKeys.of(self._prefix, scope)
        with store_errors("read a scope"), self._client.pipeline(transaction=True) as pipeline:
            pipeline.smembers(keys.index)
            pipeline.hgetall(keys.vectors)
            pipeline.get(keys.fence)
            if self._read_pending:
                pipeline.hgetall(keys.pending)
            ids, vectors, fence, *pending = pipeline.execute()
            records = self._reader.read(scope, keys, ids, vectors)
        waiting = self._reader.pending(scope, pending[0], int(fence or 0), ids) if pending else []
        return Memories(records, waiting)

    def close(self) -> None:
        """Close the client, if the adapter opened it."""
        if self._owned is not None:
            self._owned.close()


def _client(client: redis.Redis | None, url: str | None, timeout: float) -> redis.Redis:
    if client is not None and url is None:
        return _checked_client(client)
    if url is None or client is not None:
        raise SettingsError("give RedisAdapter exactly one of client and url")
    try:
        return connect_for_handler(url, timeout)
    except ValueError:
        # without the address: it may hold a password
        raise SettingsError(
            "url is no address of Redis: write redis://host:6379/0, rediss://… or unix://…"
        ) from None


def _checked_client(client: redis.Redis) -> redis.Redis:
    if client.connection_pool.connection_kwargs.get("decode_responses"):
        raise SettingsError("RedisAdapter needs a client without decode_responses: it reads vectors as bytes")
    return client
