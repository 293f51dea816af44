"""What an adapter is, what it may declare, and how a name becomes one.

An adapter turns a scope and a query into remembered text, and a scope and a turn into memory. The contract
(names, meaning of empty values, isolation) is tested by `afterturn.testing.AdapterContract`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from afterturn.errors import SettingsError

if TYPE_CHECKING:
    from datetime import datetime

    from afterturn.embedders import Embedder
    from afterturn.model import Fact, RecallResult, SaveReceipt, Scope, Snapshot, Turn
    from afterturn.settings import Settings

ENTRY_POINT_GROUP = "afterturn.adapters"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an adapter can do beyond recall and save; asked for when a pipeline is built.

    Attributes:
        records: keeps records that workers embed and write (queue `embed`); otherwise the adapter's own `save`
            is the write (queue `deliver`).
        extracts: its server extracts facts by itself.
        shared: what one process saves, another can recall; a worker refuses an adapter that is not.
        inspect, list_facts: has these methods.
    """

    records: bool = False
    extracts: bool = False
    shared: bool = True
    inspect: bool = False
    list_facts: bool = False


@runtime_checkable
class Adapter(Protocol):
    """Recalls and saves memory. Errors are raised, typed (`afterturn.errors`)."""

    @property
    def id(self) -> str:
        """Short, stable name, such as `redis`."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What this adapter can do."""
        ...

    def recall(self, scope: Scope, query: str, *, now: datetime | None = None) -> RecallResult:
        """What is remembered in `scope` that helps with `query`; `now` (default: the clock) dates recency."""
        ...

    def save(self, scope: Scope, turn: Turn, *, turn_id: str | None = None) -> list[SaveReceipt]:
        """Remember `turn`, now; with the same `turn_id` again, change nothing."""
        ...

    def close(self) -> None:
        """Close what the adapter opened itself."""
        ...


@runtime_checkable
class InspectingAdapter(Adapter, Protocol):
    """An adapter whose memory can be looked at."""

    def inspect(self, scope: Scope) -> Snapshot:
        """Everything remembered in `scope`."""
        ...

    def list_facts(self, scope: Scope) -> list[Fact]:
        """Everything remembered in `scope`, as rows."""
        ...


def build_adapter(settings: Settings, embedder: Embedder | None) -> Adapter:
    """The adapter that `settings.adapter` names, for a request handler.

    A registered class is asked through its `from_settings(settings, embedder)`.

    Raises:
        SettingsError: no adapter has that name, or its package cannot be imported.
    """
    adapter: Adapter = _adapter_class(settings).from_settings(settings, embedder)
    return adapter


def build_worker_adapter(settings: Settings) -> Adapter:
    """The same for a worker, which embeds by itself and has more time.

    A registered class is asked through its `for_worker(settings)` where it has one, else as `build_adapter` does.
    """
    adapter_class = _adapter_class(settings)
    adapter: Adapter = (
        adapter_class.for_worker(settings)
        if hasattr(adapter_class, "for_worker")
        else adapter_class.from_settings(settings, None)
    )
    return adapter


def _adapter_class(settings: Settings) -> Any:
    found = {entry.name: entry for entry in entry_points(group=ENTRY_POINT_GROUP)}
    if settings.adapter not in found:
        known = ", ".join(sorted(found))
        raise SettingsError(f"adapter {settings.adapter!r} is not registered; known adapters: {known}")
    try:
        return found[settings.adapter].load()
    except ImportError as error:
        raise SettingsError(f"adapter {settings.adapter!r} cannot be imported: {error}") from error
