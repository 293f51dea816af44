"""The pipeline behind a broker: `save` writes the journal, workers do the rest."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from afterturn.connections import connect_for_handler
from afterturn.errors import AfterturnError
from afterturn.journal.client import Journal
from afterturn.journal.stages import Stage
from afterturn.model import Accepted, TurnState
from afterturn.publish import Publisher

if TYPE_CHECKING:
    from afterturn.model import Scope, Turn, TurnStatus
    from afterturn.settings import Settings

logger = logging.getLogger("afterturn")


class QueuedPipeline:
    """Accepts turns into the journal and wakes the workers.

    Args:
        first_stage: EMBED for record adapters, DELIVER for a vendor's.
    """

    def __init__(self, settings: Settings, first_stage: Stage) -> None:
        client = connect_for_handler(settings.redis_url, settings.save_timeout, decode_responses=True)
        self._journal = Journal(client, settings.prefix)
        self._publisher = Publisher(settings.broker, settings.queue_prefix, settings.publish_timeout)
        self._first_stage = first_stage

    def accept(self, turn_id: str, scope: Scope, turn: Turn) -> Accepted:
        """Write the turn to the journal; a failure is in the result, not raised."""
        try:
            state = self._journal.accept(turn_id, scope, turn, self._first_stage)
        except AfterturnError as error:
            logger.error(
                "afterturn.save_refused: %s", error, extra={"action": "save_refused", "turn_id": turn_id}
            )
            return Accepted(turn_id, TurnState.REFUSED, f"{type(error).__name__}: {error}")
        if not state.finished:
            self._publisher.wake(self._first_stage, turn_id)
        return Accepted(turn_id, state)

    def status(self, turn_id: str) -> TurnStatus:
        """Where the turn is."""
        return self._journal.status(turn_id)

    def warm_up(self) -> None:
        """Connect to the journal and the broker now.

        Raises:
            StoreUnavailable: the journal did not answer within `save_timeout`.
            BrokerUnavailable: the broker cannot be reached.
        """
        self._journal.connect()
        self._publisher.warm_up()

    def close(self, timeout: float) -> bool:
        """Publish what waits; False if something was left to the sweeper."""
        emptied = self._publisher.close(timeout)
        self._journal.close()
        return emptied
