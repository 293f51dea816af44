"""Names of every key in Redis, and why two scopes can never share one.

The record and index keys are the contract's (reference layout). Everything else that belongs to one scope lies in
the index key's own cluster slot, so that one script can change all of it.
"""

from __future__ import annotations

import re
from binascii import crc_hqx
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from afterturn.model import Scope

REFERENCE_PREFIX: Final = "tanstack-ai:memory"
"""The reference implementation's default prefix; ours is the setting `prefix`."""

_SPECIAL: Final = re.compile(r"[\\:_]")
_CLUSTER_SLOTS: Final = 16_384


def escape_scope_value(value: str | None) -> str:
    r"""A scope value as a key segment: `\`, `:` and `_` get a backslash before them; unset is `_`."""
    return "_" if value is None else _SPECIAL.sub(r"\\\g<0>", value)


def record_key(prefix: str, record_id: str) -> str:
    """Key of one JSON record."""
    return f"{prefix}:record:{record_id}"


def index_key(prefix: str, scope: Scope) -> str:
    """Key of the set of a scope's record ids."""
    segments = (scope.tenant_id, scope.user_id, scope.thread_id)
    return f"{prefix}:index:{':'.join(map(escape_scope_value, segments))}"


@dataclass(frozen=True, slots=True)
class ScopeKeys:
    """The keys that belong to one scope, all in the index key's cluster slot.

    Attributes:
        index: set of record ids (contract).
        vectors: hash of record id to `<model name>\\0<float32 bytes>`.
        fence: the scope's generation; raised by each forget.
        pending: hash of turn id to `<generation> <payload>`: accepted, not yet recallable from the index.
        unextracted: the same for turns whose raw messages are written and whose facts are to come.
        answers: hash of turn id to the extractor's answer (JSON), kept so that a retry never asks twice.
        dead: hash of turn id to payload: turns given up.
    """

    index: str
    vectors: str
    fence: str
    pending: str
    unextracted: str
    answers: str
    dead: str

    @classmethod
    def of(cls, prefix: str, scope: Scope) -> ScopeKeys:
        """The keys of `scope` under `prefix`."""
        index = index_key(prefix, scope)
        tag = slot_tag(index)
        base = f"{{{tag}}}" if tag == index else f"{{{tag}}}:{index}"
        return cls(
            index=index,
            vectors=f"{base}:vectors",
            fence=f"{base}:fence",
            pending=f"{base}:pending",
            unextracted=f"{base}:unextracted",
            answers=f"{base}:answers",
            dead=f"{base}:dead",
        )


@dataclass(frozen=True, slots=True)
class JournalKeys:
    """The journal's own keys, all in one cluster slot.

    Attributes:
        turn_prefix: the hash of turn `id` is `<turn_prefix><id>`.
        due_prefix: the sorted set of a stage is `<due_prefix><stage>`; scores are the milliseconds from which a
            turn may be taken.
        dead: sorted set of the dead letters' turn ids by time.
        sweep_lease: held by the worker that sweeps.
    """

    turn_prefix: str
    due_prefix: str
    dead: str
    sweep_lease: str

    @classmethod
    def of(cls, prefix: str) -> JournalKeys:
        """The journal under `prefix`."""
        name = f"{prefix}:journal"
        base = f"{{{slot_tag(name)}}}:{name}" if slot_tag(name) != name else f"{{{name}}}"
        return cls(
            turn_prefix=f"{base}:turn:",
            due_prefix=f"{base}:due:",
            dead=f"{base}:dead",
            sweep_lease=f"{base}:sweep-lease",
        )

    def turn(self, turn_id: str) -> str:
        """Key of a turn's status."""
        return self.turn_prefix + turn_id

    def due(self, stage: str) -> str:
        """Key of a stage's waiting turns."""
        return self.due_prefix + stage


def slot_tag(key: str) -> str:
    """A hash tag that puts other keys into the cluster slot of `key`.

    Redis hashes the text between the first `{` and the next `}` where that is not empty, else the whole key
    (Redis Cluster specification, hash tags). A key with a `}` but no such text can't be wrapped in braces, so a
    number that hashes to the same slot stands in for it.
    """
    start = key.find("{")
    end = key.find("}", start + 1) if start >= 0 else -1
    if end > start + 1:
        return key[start + 1 : end]
    return key if "}" not in key else _number_in_slot(cluster_slot(key))


def cluster_slot(key: str) -> int:
    """The Redis Cluster slot of a key, 0 to 16,383."""
    from redis.crc import key_slot

    return int(key_slot(key.encode(), _CLUSTER_SLOTS))


def _number_in_slot(slot: int) -> str:
    return _smallest_numbers()[slot]


@lru_cache(maxsize=1)
def _smallest_numbers() -> dict[int, str]:
    """The smallest number in each slot; made at once, since a search for one slot takes as long."""
    found: dict[int, str] = {}
    number = 0
    while len(found) < _CLUSTER_SLOTS:
        # the CRC of the Redis Cluster specification (XMODEM); a number has no hash tag
        found.setdefault(crc_hqx(b"%d" % number, 0) % _CLUSTER_SLOTS, str(number))
        number += 1
    return found
