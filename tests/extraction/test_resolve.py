"""Which extractor the settings mean."""

from __future__ import annotations

import pytest

from afterturn.errors import SettingsError
from afterturn.extraction.openai import ChatExtractor
from afterturn.extraction.resolve import build_extractor
from afterturn.extraction.rules import extract_by_rules
from afterturn.settings import load_settings


def test_without_a_model_the_rules_extract() -> None:
    assert build_extractor(load_settings()) is extract_by_rules


def test_rules_are_taken_where_asked_for_even_beside_a_model() -> None:
    settings = load_settings(extract="rules", extraction_url="http://model/v1", extraction_model="m")
    assert build_extractor(settings) is extract_by_rules


def test_none_extracts_nothing() -> None:
    assert build_extractor(load_settings(extract="none")) is None


def test_a_model_extracts_where_its_address_and_name_are_set() -> None:
    settings = load_settings(extraction_url="http://model/v1", extraction_model="m", extraction_api_key="k")
    extractor = build_extractor(settings)
    assert isinstance(extractor, ChatExtractor)
    assert extractor.model_name == "m"


def test_an_address_without_a_models_name_is_refused() -> None:
    with pytest.raises(SettingsError, match="extraction_model"):
        build_extractor(load_settings(extraction_url="http://model/v1"))


def test_ones_own_function_is_imported() -> None:
    settings = load_settings(extract="afterturn.extraction.rules:extract_by_rules")
    assert build_extractor(settings) is extract_by_rules


@pytest.mark.parametrize(
    "path",
    [
        "nonsense",
        "no.such.module:function",
        "afterturn.model:no_such_function",
        "afterturn.model:SCOPE_VALUE_LIMIT",
        ":function",
        "afterturn.model:",
        ".model:Scope",
    ],
)
def test_what_names_no_function_is_refused_with_the_settings_name(path: str) -> None:
    with pytest.raises(SettingsError, match="AFTERTURN_EXTRACT"):
        build_extractor(load_settings(extract=path))
