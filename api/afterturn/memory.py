"""What an application holds: one object that saves turns and recalls them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Protocol, Self

from afterturn.adapters.base import InspectingAdapter, build_adapter
from afterturn.errors import SettingsError, ValidationError, WaitTimeout
from afterturn.ids import keyed_turn_id, new_turn_id
from afterturn.journal.stages import Stage
from afterturn.model import SCOPE_VALUE_LIMIT, Scope, Turn
from afterturn.turns import prepare_turn

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Unpack

    from afterturn.adapters.base import Adapter
    from afterturn.embedders import Embedder
    from afterturn.events import EventHook
    from afterturn.model import Accepted, Fact, RecallResult, Snapshot, TurnStatus
    from afterturn.settings import Settings, SettingsOptions


IN_PROCESS = "in_memory"
"""The adapter whose memory lives in this process."""


class Pipeline(Protocol):
    """How a turn gets from `save` to the adapter."""

    def accept(self, turn_id: str, scope: Scope, turn: Turn) -> Accepted:
        """Take the turn; never raises for what lies outside the program."""
        ...

    def status(self, turn_id: str) -> TurnStatus:
        """Where the turn is."""
        ...

    def warm_up(self) -> None:
        """Connect now."""
        ...

    def close(self, timeout: float) -> bool:
        """Flush; False if something was left."""
        ...


class Memory:
    """Saves turns in the background and recalls them in the handler. Safe to share between threads.

    Args:
        settings: a finished object; else `options`, `AFTERTURN_*` variables and defaults make one.
        adapter: an adapter, or the name of a registered one.
        embedder: embeds queries here (and, with an in-process adapter, turns); default: what the settings say.
        on_event: called with each `afterturn.events` event; its failures are contained.
        **options: any setting of `docs/settings.md`.

    Raises:
        SettingsError: a setting is malformed; names it.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        adapter: Adapter | str | None = None,
        embedder: Embedder | None = None,
        on_event: EventHook | None = None,
        **options: Unpack[SettingsOptions],
    ) -> None:
        self.settings = _settings(settings, adapter, options)
        self._hook = on_event
        self._embedder = embedder or _embedder(self.settings)
        if adapter is None or isinstance(adapter, str):
            self._adapter = build_adapter(self.settings, self._embedder)
            self._owns_adapter = True
        else:
            self._adapter = adapter
            self._owns_adapter = False
        self._pipeline = _pipeline(self.settings, self._adapter)

    @classmethod
    def from_env(
        cls,
        *,
        adapter: Adapter | str | None = None,
        embedder: Embedder | None = None,
        on_event: EventHook | None = None,
        **options: Unpack[SettingsOptions],
    ) -> Self:
        """A memory as the `AFTERTURN_*` variables describe it; `options` win over them."""
        return cls(adapter=adapter, embedder=embedder, on_event=on_event, **options)

    def save(self, scope: Scope, turn: Turn, *, idempotency_key: str | None = None) -> Accepted:
        """Accept a finished turn; workers remember it soon after.

        Takes well under a millisecond, at most `save_timeout` seconds. What lies outside the program (a store
        that is away) never raises: the result's state is REFUSED and its error says why.

        Args:
            scope: whose memory.
            turn: what was said.
            idempotency_key: the caller's own id of the turn, unique within the scope; saving under the same key
                again changes nothing, until `status_ttl` after the turn was finished.

        Raises:
            ValidationError: an argument has the wrong type.
        """
        _check_type("scope", scope, Scope)
        _check_type("turn", turn, Turn)
        turn_id = _turn_id(scope, idempotency_key)
        prepared = prepare_turn(turn_id, turn, self.settings.text_limit, self._hook)
        return self._pipeline.accept(turn_id, scope, prepared)

    def recall(self, scope: Scope, query: str, *, now: datetime | None = None) -> RecallResult:
        """What is remembered in `scope` that helps with `query`, best first.

        Turns just saved are among it, marked pending, until workers have embedded them.

        Args:
            scope: whose memory.
            query: what the user asks now.
            now: the time that recency is measured from (timezone-aware); default: the clock.

        Raises:
            StoreUnavailable: the store did not answer within `recall_timeout`.
            ValidationError: an argument has the wrong type, or `now` is naive.
        """
        _check_type("scope", scope, Scope)
        return self._adapter.recall(scope, query, now=now)

    def status(self, turn_id: str) -> TurnStatus:
        """Where a turn is.

        Raises:
            UnknownTurn: never accepted, or finished longer ago than `status_ttl`.
            StoreUnavailable: the journal did not answer in time.
        """
        return self._pipeline.status(turn_id)

    def wait(self, turn_id: str, timeout: float = 30.0) -> TurnStatus:
        """Wait until nothing more will happen to a turn; for scripts and tests.

        Raises:
            WaitTimeout: it was not finished within `timeout` seconds.
            UnknownTurn: see `status`.
        """
        deadline = time.monotonic() + timeout
        pause = 0.005
        while not (status := self.status(turn_id)).state.finished:
            if time.monotonic() + pause > deadline:
                raise WaitTimeout(f"turn {turn_id} is still {status.state} after {timeout} s")
            time.sleep(pause)
            pause = min(pause * 1.5, 0.25)
        return status

    def inspect(self, scope: Scope) -> Snapshot:
        """Everything remembered in `scope`.

        Raises:
            SettingsError: the adapter cannot be inspected.
        """
        return self._inspecting("inspect").inspect(scope)

    def list_facts(self, scope: Scope) -> list[Fact]:
        """Everything remembered in `scope`, as rows.

        Raises:
            SettingsError: the adapter cannot list facts.
        """
        return self._inspecting("list_facts").list_facts(scope)

    def _inspecting(self, method: str) -> InspectingAdapter:
        if not getattr(self._adapter.capabilities, method) or not isinstance(
            self._adapter, InspectingAdapter
        ):
            raise SettingsError(f"adapter {self._adapter.id!r} has no {method}")
        return self._adapter

    def warm_up(self, timeout: float = 60.0) -> None:
        """Connect and load what the first calls would otherwise wait for; at most `timeout` seconds a part.

        Raises:
            StoreUnavailable, BrokerUnavailable: one of them cannot be reached.
            EmbedderUnavailable: the query embedder was not ready in time.
        """
        self._pipeline.warm_up()
        warm = getattr(self._embedder, "warm_up", None)
        if warm is not None:
            warm(timeout)

    def close(self, timeout: float = 5.0) -> bool:
        """Publish what waits and close connections.

        Returns:
            False if something was left after `timeout` seconds: the workers' sweeper finds it (in-process
            adapters lose it).
        """
        emptied = self._pipeline.close(timeout)
        if self._owns_adapter:
            self._adapter.close()
        return emptied

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


def _settings(settings: Settings | None, adapter: Adapter | str | None, options: SettingsOptions) -> Settings:
    from afterturn.settings import load_settings

    named = adapter if isinstance(adapter, str) else None
    if settings is None:
        return load_settings(adapter=named, **options)
    if options or named:
        given = ", ".join([*options, *(["adapter"] if named else [])])
        raise SettingsError(f"both a settings object and {given} were given: put them into the settings")
    return settings


def _embedder(settings: Settings) -> Embedder | None:
    from afterturn.embedders.resolve import build_inline_embedder, build_query_embedder

    # an in-process adapter embeds turns, too, and those are waited for
    return (build_inline_embedder if settings.adapter == IN_PROCESS else build_query_embedder)(settings)


def _pipeline(settings: Settings, adapter: Adapter) -> Pipeline:
    if not adapter.capabilities.shared:
        from afterturn.inline import InlinePipeline

        return InlinePipeline(adapter)
    from afterturn.queued import QueuedPipeline

    return QueuedPipeline(settings, Stage.EMBED if adapter.capabilities.records else Stage.DELIVER)


def _turn_id(scope: Scope, idempotency_key: object) -> str:
    if idempotency_key is None:
        return new_turn_id()
    if not isinstance(idempotency_key, str):
        raise ValidationError(f"idempotency_key must be a string, not {type(idempotency_key).__name__}")
    if not 0 < len(idempotency_key) <= SCOPE_VALUE_LIMIT:
        raise ValidationError(
            f"idempotency_key has {len(idempotency_key)} characters; it needs 1 to {SCOPE_VALUE_LIMIT}"
        )
    return keyed_turn_id(scope, idempotency_key)


def _check_type(name: str, value: Any, expected: type) -> None:
    if not isinstance(value, expected):
        raise ValidationError(f"{name} must be a {expected.__name__}, not {type(value).__name__}")
