"""Memory in this process: for development and tests. It ends with the process."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Self, Unpack

from afterturn.adapters.base import Capabilities
from afterturn.adapters.record_adapter import Memories, RecordAdapter, RecordOptions
from afterturn.model import SaveReceipt
from afterturn.ranking.score import is_live

if TYPE_CHECKING:
    from collections.abc import Sequence

    from afterturn.embedders import Embedder
    from afterturn.model import Record, Scope
    from afterturn.settings import Settings

_Key = tuple[str, str | None, str | None]


class InMemoryAdapter(RecordAdapter):
    """Keeps records in a dict a scope. Safe to share between threads; takes only the common options."""

    id = "in_memory"
    capabilities = Capabilities(records=True, shared=False, inspect=True, list_facts=True)

    def __init__(self, **options: Unpack[RecordOptions]) -> None:
        super().__init__(**options)
        self._lock = threading.Lock()
        self._scopes: dict[_Key, dict[str, Record]] = {}

    @classmethod
    def from_settings(cls, settings: Settings, embedder: Embedder | None) -> Self:
        """An adapter with the settings' common options; it extracts facts by itself, as no worker does."""
        from afterturn.extraction.resolve import build_extractor

        return cls(
            top_k=settings.top_k,
            min_score=settings.min_score,
            kinds=settings.kinds,
            embedder=embedder,
            extract=build_extractor(settings),
        )

    def write(self, scope: Scope, records: Sequence[Record]) -> SaveReceipt:
        """Store records; see `RecordAdapter.write`."""
        began = time.perf_counter()
        with self._lock:
            kept = self._scopes.setdefault(_key(scope), {})
            added = [record.id for record in records if record.id not in kept]
            kept.update((record.id, record) for record in records)
        latency = (time.perf_counter() - began) * 1000
        return SaveReceipt(ok=True, latency_ms=latency, raw={"added_ids": added})

    def _load(self, scope: Scope) -> Memories:
        now = time.time_ns() // 1_000_000
        with self._lock:
            kept = self._scopes.get(_key(scope), {})
            for record_id in [record.id for record in kept.values() if not is_live(record, now)]:
                del kept[record_id]
            return Memories(list(kept.values()))

    def close(self) -> None:
        """Nothing is open."""


def _key(scope: Scope) -> _Key:
    return (scope.thread_id, scope.user_id, scope.tenant_id)
