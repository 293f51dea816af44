"""The embed step: batches, failures of one turn among many, and crashes between its writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from steps_bench import Bench

from afterturn import (
    EmbedderRejected,
    EmbedderUnavailable,
    ExtractedFact,
    Scope,
    StepFailed,
    Turn,
    TurnState,
)
from afterturn.journal.stages import Stage
from afterturn.keys import ScopeKeys
from tests.support.fakes import MARKER, CountingEmbedder
from tests.support.waiting import wait_until
