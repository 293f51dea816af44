"""The words of the contract as frozen, validated values: scopes, turns, records, facts, results.

Times are timezone-aware datetimes where people write them and integer milliseconds since the Unix epoch
where they are stored.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from numbers import Real
from typing import TYPE_CHECKING, Any, Final

from afterturn.errors import ScopeError, TurnError, ValidationError
from afterturn.text import clean_text, clean_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

SCOPE_VALUE_LIMIT: Final = 512
"""Longest value of one scope field, in characters."""

METADATA_LIMIT: Final = 16_384
"""Longest metadata of one turn, in characters of its JSON."""

MESSAGE_IMPORTANCE: Final = 0.4
"""Importance of a raw user or assistant message (contract: built-in adapters, save)."""


class MemoryKind(StrEnum):
    """What a record is."""

    MESSAGE = "message"
    SUMMARY = "summary"
    FACT = "fact"
    PREFERENCE = "preference"


class Role(StrEnum):
    """Who said a message."""

    USER = "user"
    ASSISTANT = "assistant"


class TurnState(StrEnum):
    """Where a turn is on its way from the request handler to the store."""

    QUEUED = "queued"
    """In the journal; no worker has it yet."""
    EMBEDDING = "embedding"
    """A worker is embedding and writing the raw turn."""
    DELIVERING = "delivering"
    """A worker is handing the turn to a vendor's server."""
    EXTRACTING = "extracting"
    """The raw turn can be recalled; its facts are still to come."""
    STORED = "stored"
    """Everything is written."""
    DEAD = "dead"
    """A step failed for good; the turn lies in the dead letters with its reason."""
    FORGOTTEN = "forgotten"
    """The scope was forgotten after the turn was accepted, so nothing was written."""
    SPOOLED = "spooled"
    """On local disk, until the journal can be reached."""
    HELD = "held"
    """Waiting for an operator: a budget, or a configuration that differs from the workers'."""
    REFUSED = "refused"
    """Not taken: the receipt's error says why."""

    @property
    def finished(self) -> bool:
        """Whether nothing more will happen to the turn by itself."""
        return self in _FINISHED


_FINISHED: Final = frozenset({TurnState.STORED, TurnState.DEAD, TurnState.FORGOTTEN, TurnState.REFUSED})


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory: matched exactly on thread, user and tenant, unset included.

    An empty optional value counts as unset. Fill tenant and user from the authenticated session, never from
    what a person typed: they are what keeps one user's memory from another's.

    Raises:
        ScopeError: a value is not a string, is over 512 characters, has a lone surrogate, or the thread id is
            empty.
    """

    thread_id: str
    user_id: str | None = None
    tenant_id: str | None = None
    namespace: str | None = None

    def __post_init__(self) -> None:
        for name in ("thread_id", "user_id", "tenant_id", "namespace"):
            _check_scope_value(name, getattr(self, name))
            if getattr(self, name) == "":
                object.__setattr__(self, name, None)
        if self.thread_id is None:
            raise ScopeError("thread_id is empty: give the id of the conversation")

    def to_dict(self) -> dict[str, str]:
        """The set fields under the contract's camelCase names."""
        named = {
            "threadId": self.thread_id,
            "userId": self.user_id,
            "tenantId": self.tenant_id,
            "namespace": self.namespace,
        }
        return {name: value for name, value in named.items() if value is not None}

    @classmethod
    def from_dict(cls, fields: Mapping[str, str]) -> Scope:
        """The inverse of `to_dict`."""
        return cls(
            thread_id=fields["threadId"],
            user_id=fields.get("userId"),
            tenant_id=fields.get("tenantId"),
            namespace=fields.get("namespace"),
        )


def _check_scope_value(name: str, value: object) -> None:
    if value is None and name != "thread_id":
        return
    if not isinstance(value, str):
        raise ScopeError(f"{name} must be a string, not {type(value).__name__}")
    if len(value) > SCOPE_VALUE_LIMIT:
        raise ScopeError(f"{name} has {len(value)} characters; the limit is {SCOPE_VALUE_LIMIT}")
    if clean_text(value, keep_nul=True) != value:
        raise ScopeError(f"{name} has a lone surrogate, which no store can key on; decode the id properly")


@dataclass(frozen=True, slots=True)
class Turn:
    """One finished exchange. Either side may be empty, not both.

    Text is cleaned, never refused: lone surrogates become U+FFFD, NUL is dropped.

    Args:
        user: what the person said.
        assistant: what was answered.
        at: when it was said (timezone-aware); defaults to the time of the save. Becomes `createdAt`.
        metadata: JSON-compatible values kept on the turn's records; at most 16,384 characters of JSON.

    Raises:
        TurnError: both texts are empty, a field has the wrong type, `at` is naive, or the metadata is not JSON
            or too long.
    """

    user: str = ""
    assistant: str = ""
    at: datetime | None = None
    metadata: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        for name in ("user", "assistant"):
            value = getattr(self, name)
            if not isinstance(value, str):
                raise TurnError(f"{name} must be a string, not {type(value).__name__}")
        if not self.user and not self.assistant:
            raise TurnError("user and assistant are both empty: a turn needs at least one text")
        check_aware("at", self.at, TurnError)
        object.__setattr__(self, "user", clean_text(self.user))
        object.__setattr__(self, "assistant", clean_text(self.assistant))
        object.__setattr__(self, "metadata", _checked_metadata(self.metadata, TurnError))

    def sides(self) -> list[tuple[Role, str]]:
        """The texts that are not empty, user first."""
        both = [(Role.USER, self.user), (Role.ASSISTANT, self.assistant)]
        return [(role, text) for role, text in both if text]


def revised_turn(turn: Turn | None = None, **fields: Any) -> Turn:
    """A copy with other field values, past the constructor's checks.

    They were passed when the turn was first made, and cleaning may since have emptied both texts.
    """
    revised = Turn.__new__(Turn)
    defaults = {"user": "", "assistant": "", "at": None, "metadata": None}
    for name, default in defaults.items():
        known = default if turn is None else getattr(turn, name)
        object.__setattr__(revised, name, fields.get(name, known))
    return revised


def check_aware(name: str, value: object, error: type[ValidationError]) -> None:
    """Refuse what is neither None nor a timezone-aware datetime."""
    if value is None:
        return
    if not isinstance(value, datetime):
        raise error(f"{name} must be a datetime, not {type(value).__name__}")
    if value.utcoffset() is None:
        raise error(f"{name} has no time zone: use datetime.now(UTC) or attach a tzinfo")
    try:
        value.astimezone(UTC)
    except OverflowError:
        raise error(f"{name} lies outside the years 1 to 9999 in UTC") from None


def _checked_metadata(metadata: object, error: type[ValidationError]) -> Mapping[str, Any] | None:
    if metadata is None:
        return None
    if not isinstance(metadata, dict):
        raise error(f"metadata must be a dict, not {type(metadata).__name__}")
    try:
        cleaned = clean_tree(metadata)
        length = len(json.dumps(cleaned, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as cause:
        raise error(f"metadata is not JSON ({type(cause).__name__})") from None
    if length > METADATA_LIMIT:
        raise error(f"metadata has {length} characters of JSON; the limit is {METADATA_LIMIT}")
    if not _has_string_keys(cleaned):
        raise error("metadata has a key that is not a string")
    return dict(cleaned)


def _has_string_keys(tree: object) -> bool:
    if isinstance(tree, list):
        return all(map(_has_string_keys, tree))
    if isinstance(tree, dict):
        return all(isinstance(key, str) for key in tree) and all(map(_has_string_keys, tree.values()))
    return True


def _checked_importance(importance: object) -> float | None:
    if importance is None:
        return None
    wanted = "a fact's importance must be a number from 0 to 1"
    # Real, for numpy's numbers too; a bool is one, and means something else
    if not isinstance(importance, Real) or isinstance(importance, bool):
        raise ValidationError(f"{wanted}, not {type(importance).__name__}")
    if not 0 <= float(importance) <= 1:
        raise ValidationError(f"{wanted}, not {importance}")
    return float(importance)


@dataclass(frozen=True, slots=True)
class Record:
    """One remembered text.

    Attributes:
        created_at, updated_at, expires_at: milliseconds since the epoch.
        importance: 0 to 1; None contributes nothing to the score.
        embedding: vector of shape (dimension,), float32 or float64, or None.
        embedding_model: name of the model that made the vector; vectors of other models are never compared.
    """

    id: str
    scope: Scope
    text: str
    kind: MemoryKind
    created_at: int
    role: Role | None = None
    updated_at: int | None = None
    expires_at: int | None = None
    importance: float | None = None
    embedding: NDArray[Any] | None = field(default=None, compare=False, repr=False)
    embedding_model: str | None = None
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    """Something worth remembering that a turn says, as an extractor returns it.

    Raises:
        ValidationError: the text is empty, the kind unknown, the importance no number from 0 to 1, `expires_at`
            naive, or the metadata not JSON or too long.
    """

    text: str
    kind: MemoryKind = MemoryKind.FACT
    importance: float | None = None
    metadata: Mapping[str, Any] | None = None
    expires_at: datetime | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not clean_text(self.text).strip():
            raise ValidationError("a fact needs a text")
        object.__setattr__(self, "text", clean_text(self.text))
        try:
            object.__setattr__(self, "kind", MemoryKind(self.kind))
        except ValueError:
            known = ", ".join(MemoryKind)
            raise ValidationError(f"a fact's kind must be one of {known}") from None
        object.__setattr__(self, "importance", _checked_importance(self.importance))
        object.__setattr__(self, "metadata", _checked_metadata(self.metadata, ValidationError))
        check_aware("expires_at", self.expires_at, ValidationError)


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """The four parts of a score before weighting, each 0 to 1 (semantic: -1 to 1)."""

    semantic: float
    lexical: float
    recency: float
    importance: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A record with its score; what a renderer gets.

    Attributes:
        pending: the turn is accepted but not yet embedded, so it was found by its words.
    """

    record: Record
    score: float
    parts: ScoreParts
    pending: bool = False


@dataclass(frozen=True, slots=True)
class Fragment:
    """One remembered piece as recall returns it.

    Attributes:
        source: the record id, or a vendor's result type or id.
        pending: found in the journal, not yet embedded.
    """

    text: str
    source: str
    score: float | None = None
    kind: MemoryKind | None = None
    role: Role | None = None
    created_at: datetime | None = None
    pending: bool = False


@dataclass(frozen=True, slots=True)
class RecallResult:
    """What recall found.

    Attributes:
        system_prompt: the block to add to the system prompts; empty when there is nothing to inject.
        fragments: the hits, best first; None where the engine writes one answer.
        degraded: why the answer is poorer than it could be (for example, the embedder was late), or None.
    """

    system_prompt: str
    fragments: tuple[Fragment, ...] | None = None
    tools: tuple[Any, ...] = ()
    tool_guidance: str | None = None
    raw: Any = None
    degraded: str | None = None


@dataclass(frozen=True, slots=True)
class SaveReceipt:
    """The outcome of one underlying write of an adapter.

    Attributes:
        raw: the adapter's own answer; record adapters give `{"added_ids": [...]}`.
    """

    ok: bool
    latency_ms: float | None = None
    error: str | None = None
    raw: Any = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """What `Memory.save` returns: the turn's id, and where it is now.

    Attributes:
        error: why the turn was refused; None unless `state` is REFUSED.
    """

    turn_id: str
    state: TurnState
    error: str | None = None


@dataclass(frozen=True, slots=True)
class TurnStatus:
    """Where a turn is.

    Attributes:
        attempts: how often a worker has started the current step.
        times: when each state was entered.
        error: class and message of the last failure, without text of the conversation.
        receipts: the adapter's receipts, one per write.
    """

    turn_id: str
    state: TurnState
    attempts: int = 0
    times: Mapping[TurnState, datetime] = field(default_factory=dict)
    error: str | None = None
    receipts: Sequence[SaveReceipt] = ()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A scope's memory at a moment, for a memory panel."""

    taken_at: datetime
    data: Any


@dataclass(frozen=True, slots=True)
class Fact:
    """One row of `list_facts`."""

    id: str
    text: str
    source: str | None = None
    created_at: datetime | None = None


def to_millis(moment: datetime) -> int:
    """Milliseconds since the epoch, rounded down."""
    return (moment - _EPOCH) // _MILLISECOND


def from_millis(millis: int) -> datetime:
    """The inverse of `to_millis`, in UTC."""
    return _EPOCH + millis * _MILLISECOND


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = datetime(1970, 1, 1, microsecond=1000, tzinfo=UTC) - _EPOCH
