"""The async face of `Memory`: the same methods, each in a thread, so that the event loop goes on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

from afterturn.memory import Memory

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Unpack

    from afterturn.adapters.base import Adapter
    from afterturn.embedders import Embedder
    from afterturn.events import EventHook
    from afterturn.model import Accepted, Fact, RecallResult, Scope, Snapshot, Turn, TurnStatus
    from afterturn.settings import Settings, SettingsOptions


class AsyncMemory:
    """`Memory` for asyncio; takes the same arguments, raises the same errors."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        adapter: Adapter | str | None = None,
        embedder: Embedder | None = None,
        on_event: EventHook | None = None,
        **options: Unpack[SettingsOptions],
    ) -> None:
        self._memory = Memory(settings, adapter=adapter, embedder=embedder, on_event=on_event, **options)

    @classmethod
    def from_env(
        cls,
        *,
        adapter: Adapter | str | None = None,
        embedder: Embedder | None = None,
        on_event: EventHook | None = None,
        **options: Unpack[SettingsOptions],
    ) -> Self:
        """See `Memory.from_env`."""
        return cls(adapter=adapter, embedder=embedder, on_event=on_event, **options)

    async def save(self, scope: Scope, turn: Turn, *, idempotency_key: str | None = None) -> Accepted:
        """See `Memory.save`."""
        return await asyncio.to_thread(self._memory.save, scope, turn, idempotency_key=idempotency_key)

    async def recall(self, scope: Scope, query: str, *, now: datetime | None = None) -> RecallResult:
        """See `Memory.recall`."""
        return await asyncio.to_thread(self._memory.recall, scope, query, now=now)

    async def status(self, turn_id: str) -> TurnStatus:
        """See `Memory.status`."""
        return await asyncio.to_thread(self._memory.status, turn_id)

    async def wait(self, turn_id: str, timeout: float = 30.0) -> TurnStatus:  # noqa: ASYNC109 - Memory's signature
        """See `Memory.wait`."""
        return await asyncio.to_thread(self._memory.wait, turn_id, timeout)

    async def inspect(self, scope: Scope) -> Snapshot:
        """See `Memory.inspect`."""
        return await asyncio.to_thread(self._memory.inspect, scope)

    async def list_facts(self, scope: Scope) -> list[Fact]:
        """See `Memory.list_facts`."""
        return await asyncio.to_thread(self._memory.list_facts, scope)

    async def warm_up(self, timeout: float = 60.0) -> None:  # noqa: ASYNC109 - Memory's signature
        """See `Memory.warm_up`."""
        await asyncio.to_thread(self._memory.warm_up, timeout)

    async def close(self, timeout: float = 5.0) -> bool:  # noqa: ASYNC109 - Memory's signature
        """See `Memory.close`."""
        return await asyncio.to_thread(self._memory.close, timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()
