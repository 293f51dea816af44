"""The journal as a client uses it: accept a turn, and tell where it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from afterturn.connections import store_errors
from afterturn.errors import UnknownTurn
from afterturn.journal.entry import encode_payload
from afterturn.journal.scripts import load_script
from afterturn.journal.stages import STEPS
from afterturn.journal.status import read_status
from afterturn.keys import JournalKeys, ScopeKeys
from afterturn.model import TurnState

if TYPE_CHECKING:
    import redis

    from afterturn.journal.stages import Stage
    from afterturn.model import Scope, Turn, TurnStatus


class Journal:
    """Accepts turns and reads their status.

    Args:
        client: a Redis client with `decode_responses=True`.
        prefix: the store's key prefix.
    """

    def __init__(self, client: redis.Redis, prefix: str) -> None:
        self._client = client
        self._prefix = prefix
        self._keys = JournalKeys.of(prefix)
        self._accept = load_script(client, "accept")

    def accept(self, turn_id: str, scope: Scope, turn: Turn, stage: Stage) -> TurnState:
        """Write the turn, once, in one round trip.

        Returns:
            QUEUED, or the state that a turn of this id already had.

        Raises:
            StoreUnavailable: Redis did not answer in time; the turn may or may not be in the journal.
        """
        scope_keys = ScopeKeys.of(self._prefix, scope)
        state = STEPS[stage].waiting
        scope_json = json.dumps(scope.to_dict(), ensure_ascii=False, separators=(",", ":"))
        with store_errors("accept a turn"):
            known = self._accept(
                keys=[self._keys.due(stage), self._keys.turn(turn_id), scope_keys.pending, scope_keys.fence],
                args=[turn_id, encode_payload(turn), scope_json, stage.value, state.value],
            )
        return TurnState(known)

    def status(self, turn_id: str) -> TurnStatus:
        """Where the turn is.

        Raises:
            UnknownTurn: never accepted, or its status has expired.
            StoreUnavailable: Redis did not answer in time.
        """
        with store_errors("read a turn's status"):
            fields = self._client.hgetall(self._keys.turn(turn_id))
        if not fields:
            raise UnknownTurn(f"no turn {turn_id} is known: it was never accepted, or its status has expired")
        return read_status(turn_id, {str(name): str(value) for name, value in fields.items()})

    def connect(self) -> None:
        """Open a connection and send the script now rather than with the first turn.

        Raises:
            StoreUnavailable: Redis did not answer in time.
        """
        with store_errors("connect"):
            self._client.script_load(self._accept.script)

    def close(self) -> None:
        """Close the client."""
        self._client.close()
