"""Memory for chat back ends, made after the turn.

`Memory.save` hands a finished turn to background workers; `Memory.recall` gives what helps with the next one.
This page lists the public names. What needs Redis, Celery or numpy is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from afterturn._version import __version__
from afterturn.errors import (
    AfterturnError,
    BrokerUnavailable,
    EmbedderRejected,
    EmbedderUnavailable,
    ExtractorRejected,
    ExtractorUnavailable,
    Forgotten,
    MissingExtra,
    PermanentError,
    QueryError,
    ScopeError,
    SettingsError,
    StackFailed,
    StepFailed,
    StoreUnavailable,
    TransientError,
    TurnError,
    UnknownTurn,
    ValidationError,
    WaitTimeout,
)
from afterturn.model import (
    Accepted,
    ExtractedFact,
    Fact,
    Fragment,
    Hit,
    MemoryKind,
    RecallResult,
    Record,
    Role,
    SaveReceipt,
    Scope,
    Snapshot,
    Turn,
    TurnState,
    TurnStatus,
)

if TYPE_CHECKING:
    from afterturn.aio import AsyncMemory
    from afterturn.memory import Memory
    from afterturn.settings import Settings, load_settings

__all__ = [
    "Accepted",
    "AfterturnError",
    "AsyncMemory",
    "BrokerUnavailable",
    "EmbedderRejected",
    "EmbedderUnavailable",
    "ExtractedFact",
    "ExtractorRejected",
    "ExtractorUnavailable",
    "Fact",
    "Forgotten",
    "Fragment",
    "Hit",
    "Memory",
    "MemoryKind",
    "MissingExtra",
    "PermanentError",
    "QueryError",
    "RecallResult",
    "Record",
    "Role",
    "SaveReceipt",
    "Scope",
    "ScopeError",
    "Settings",
    "SettingsError",
    "Snapshot",
    "StackFailed",
    "StepFailed",
    "StoreUnavailable",
    "TransientError",
    "Turn",
    "TurnError",
    "TurnState",
    "TurnStatus",
    "UnknownTurn",
    "ValidationError",
    "WaitTimeout",
    "__version__",
    "load_settings",
]

_LATER = {
    "AsyncMemory": "afterturn.aio",
    "Memory": "afterturn.memory",
    "Settings": "afterturn.settings",
    "load_settings": "afterturn.settings",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'afterturn' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return __all__
