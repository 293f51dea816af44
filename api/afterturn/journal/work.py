"""The journal as workers use it: take turns, move them on, let go of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from afterturn.connections import as_text, store_errors
from afterturn.journal.entry import decode_entry
from afterturn.journal.scripts import load_script
from afterturn.journal.stages import STEPS, Stage
from afterturn.journal.status import write_receipts
from afterturn.keys import JournalKeys, ScopeKeys
from afterturn.model import Scope, TurnState

if TYPE_CHECKING:
    from collections.abc import Sequence

    import redis

    from afterturn.journal.entry import JournalEntry
    from afterturn.model import SaveReceipt

SUSPECT_ATTEMPTS: Final = 2
"""Starts without an outcome from which on a turn is worked on alone."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A turn that this task holds until its lease ends.

    Attributes:
        attempts: starts of this stage without a known outcome, this one included.
        retries: failures of this stage that may pass.
        accepted: milliseconds since the epoch.
        generation: the scope's fence when the turn was accepted.
    """

    turn_id: str
    stage: Stage
    attempts: int
    retries: int
    accepted: int
    scope: Scope
    generation: int
    token: str


class WorkJournal:
    """Claims and moves turns.

    Args:
        client: a Redis client with `decode_responses=True`.
        prefix: the store's key prefix.
        status_ttl: seconds that the status of an ended turn is kept.
    """

    def __init__(self, client: redis.Redis, prefix: str, *, status_ttl: float) -> None:
        self._client = client
        self._prefix = prefix
        self._keys = JournalKeys.of(prefix)
        self._status_ttl_ms = int(status_ttl * 1000)
        self._scripts = {
            name: load_script(client, name)
            for name in ("claim", "advance", "finish", "postpone", "bury", "settle", "keep_answer")
        }

    def claim(
        self, stages: Sequence[Stage], *, own: str | None, limit: int, lease: float, token: str, task_id: str
    ) -> list[Claim]:
        """Take up to `limit` waiting turns, `own` first if it waits, for `lease` seconds.

        Raises:
            StoreUnavailable: Redis did not answer; a claim that was made all the same ends with its lease.
        """
        names = [part for stage in stages for part in (stage.value, STEPS[stage].running.value)]
        with store_errors("claim turns"):
            rows = self._scripts["claim"](
                keys=[self._keys.due(stage) for stage in stages],
                args=[
                    self._keys.turn_prefix,
                    own or "",
                    limit,
                    int(lease * 1000),
                    token,
                    task_id,
                    SUSPECT_ATTEMPTS,
                    *names,
                ],
            )
        return [
            Claim(
                turn_id=turn_id,
                stage=Stage(stage),
                attempts=attempts,
                retries=retries,
                accepted=accepted,
                scope=Scope.from_dict(json.loads(scope)),
                generation=generation,
                token=token,
            )
            for turn_id, stage, attempts, retries, accepted, scope, generation in rows
        ]

    def entries(self, claims: Sequence[Claim]) -> list[JournalEntry | None]:
        """The claimed turns themselves, in one round trip; None where the journal has none any more."""
        with store_errors("read turns"), self._client.pipeline(transaction=False) as pipeline:
            for claim in claims:
                keys = self._scope_keys(claim.scope)
                pipeline.hget(keys.pending, claim.turn_id)
                pipeline.hget(keys.unextracted, claim.turn_id)
            found = pipeline.execute()
        return [
            decode_entry(claim.scope, claim.turn_id, stored) if (stored := pending or unextracted) else None
            for claim, pending, unextracted in zip(claims, found[::2], found[1::2], strict=True)
        ]

    def fence(self, scope: Scope) -> int:
        """The scope's generation; an entry of an older one must not be written."""
        with store_errors("read a fence"):
            return int(self._client.get(self._scope_keys(scope).fence) or 0)

    def advance(self, claim: Claim, to: Stage, receipts: Sequence[SaveReceipt] = ()) -> bool:
        """Hand the turn to its next stage; False if the lease had ended and another task holds it."""
        keys = [self._keys.due(claim.stage), self._keys.turn(claim.turn_id), self._keys.due(to)]
        args = [claim.turn_id, claim.token, to.value, STEPS[to].waiting.value, write_receipts(receipts)]
        with store_errors("move a turn on"):
            return bool(self._scripts["advance"](keys=keys, args=args))

    def finish(self, claim: Claim, receipts: Sequence[SaveReceipt] = ()) -> bool:
        """Everything is written; False if the lease had ended and another task holds the turn."""
        return self._finish(claim, TurnState.STORED, receipts)

    def forget(self, claim: Claim) -> bool:
        """The scope was forgotten: nothing was or will be written."""
        return self._finish(claim, TurnState.FORGOTTEN, ())

    def _finish(self, claim: Claim, state: TurnState, receipts: Sequence[SaveReceipt]) -> bool:
        scope = self._scope_keys(claim.scope)
        keys = [self._keys.due(claim.stage), self._keys.turn(claim.turn_id)]
        args = [claim.turn_id, claim.token, state.value, write_receipts(receipts), self._status_ttl_ms]
        with store_errors("end a turn"):
            return bool(
                self._scripts["finish"](
                    keys=[*keys, scope.pending, scope.unextracted, scope.answers], args=args
                )
            )

    def postpone(self, claim: Claim, *, wait: float, error: str, passing: bool) -> bool:
        """Let go of the turn for `wait` seconds; a failure that may pass is not held against the turn."""
        with store_errors("postpone a turn"):
            moved = self._scripts["postpone"](
                keys=[self._keys.due(claim.stage), self._keys.turn(claim.turn_id)],
                args=[
                    claim.turn_id,
                    claim.token,
                    int(wait * 1000),
                    error,
                    STEPS[claim.stage].waiting.value,
                    int(passing),
                ],
            )
        return bool(moved)

    def bury(self, claim: Claim, error: str) -> bool:
        """Make the turn a dead letter; False if the lease had ended and another task holds it."""
        keys = self._scope_keys(claim.scope)
        with store_errors("bury a turn"):
            moved = self._scripts["bury"](
                keys=[
                    self._keys.due(claim.stage),
                    self._keys.turn(claim.turn_id),
                    self._keys.dead,
                    keys.pending,
                    keys.unextracted,
                    keys.dead,
                    keys.answers,
                ],
                args=[claim.turn_id, claim.token, error],
            )
        return bool(moved)

    def settle(self, scope: Scope, turn_id: str) -> None:
        """Note that the turn's raw messages are written; doing it twice changes nothing."""
        keys = self._scope_keys(scope)
        with store_errors("settle a turn"):
            self._scripts["settle"](keys=[keys.pending, keys.unextracted], args=[turn_id])

    def keep_answer(self, entry: JournalEntry, answer: str) -> str:
        """Keep an extractor's answer (JSON), so that a retry never asks twice; the answer that counts."""
        keys = self._scope_keys(entry.scope)
        with store_errors("keep an extractor's answer"):
            kept = self._scripts["keep_answer"](
                keys=[keys.unextracted, keys.pending, keys.answers], args=[entry.turn_id, answer]
            )
        return str(kept)

    def answer(self, entry: JournalEntry) -> str | None:
        """The extractor's kept answer (JSON), or None."""
        with store_errors("read an extractor's answer"):
            kept = self._client.hget(self._scope_keys(entry.scope).answers, entry.turn_id)
        return as_text(kept)

    def describe(self, turn_id: str) -> tuple[str | None, str | None]:
        """A turn's state and the id of the task that had it last; None where nothing is known."""
        with store_errors("read a turn's status"):
            state, task_id = self._client.hmget(self._keys.turn(turn_id), "state", "task")
        return as_text(state), as_text(task_id)

    def overdue(self, stage: Stage, grace: float, limit: int) -> list[str]:
        """Turns of a stage that could have been taken for more than `grace` seconds, and were not; oldest first."""
        with store_errors("look for overdue turns"):
            seconds, microseconds = self._client.time()
            latest = seconds * 1000 + microseconds // 1000 - int(grace * 1000)
            found = self._client.zrangebyscore(self._keys.due(stage), "-inf", latest, start=0, num=limit)
        return [str(turn_id) for turn_id in found]

    def take_sweep_lease(self, holder: str, seconds: float) -> bool:
        """Whether this process may sweep now; nobody else may for `seconds`."""
        with store_errors("take the sweep lease"):
            return bool(self._client.set(self._keys.sweep_lease, holder, nx=True, px=int(seconds * 1000)))

    def _scope_keys(self, scope: Scope) -> ScopeKeys:
        return ScopeKeys.of(self._prefix, scope)
