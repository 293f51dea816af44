"""Finding what is worth remembering in a turn: by a language model, by rules, or by the user's own function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from afterturn.model import ExtractedFact, Scope, Turn

Extractor: TypeAlias = Callable[[Turn, Scope], Sequence[ExtractedFact] | None]
"""Called with a turn (`turn.at` is always set) and its scope; None and an empty list both mean: nothing extra.

Raises `ExtractorUnavailable` for what may pass and `ExtractorRejected` for what will not; it never returns an
empty list for a failure.
"""
