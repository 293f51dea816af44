"""The contents page: what `from afterturn import …` gives."""

from __future__ import annotations

import inspect

import afterturn
from afterturn import errors, model

VERBS = {"Memory", "AsyncMemory", "load_settings", "Settings", "__version__"}
WORDS = {
    "Accepted",
    "ExtractedFact",
    "Fact",
    "Fragment",
    "Hit",
    "MemoryKind",
    "RecallResult",
    "Record",
    "Role",
    "SaveReceipt",
    "Scope",
    "Snapshot",
    "Turn",
    "TurnState",
    "TurnStatus",
}
ERRORS = {name for name, value in vars(errors).items() if inspect.isclass(value)}


def test_the_public_names_are_these() -> None:
    assert set(afterturn.__all__) == VERBS | WORDS | ERRORS


def test_every_public_name_can_be_had_and_is_shown_by_dir() -> None:
    for name in afterturn.__all__:
        assert getattr(afterturn, name) is not None
    assert set(dir(afterturn)) >= set(afterturn.__all__)


def test_nothing_public_is_missing_from_all() -> None:
    public = {
        name
        for name, value in vars(afterturn).items()
        if not name.startswith("_")
        and not inspect.ismodule(value)
        and getattr(value, "__module__", "").startswith("afterturn")
    }
    assert public <= set(afterturn.__all__)


def test_every_class_of_the_model_is_public() -> None:
    """All but the parts of a hit's score, which are read from a hit and made by nobody else."""
    defined = {
        name
        for name, value in vars(model).items()
        if inspect.isclass(value) and value.__module__ == model.__name__ and not name.startswith("_")
    }
    assert defined - {"ScoreParts"} <= set(afterturn.__all__)


def test_the_names_are_sorted_and_listed_once() -> None:
    assert afterturn.__all__ == sorted(set(afterturn.__all__))


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(afterturn, "Memoir")


def test_every_public_name_explains_itself() -> None:
    for name in afterturn.__all__:
        value = getattr(afterturn, name)
        if callable(value):
            assert (value.__doc__ or "").strip(), name
