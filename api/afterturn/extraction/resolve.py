"""Which extractor the settings mean."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from afterturn.errors import SettingsError

if TYPE_CHECKING:
    from afterturn.extraction import Extractor
    from afterturn.settings import Settings

HELP = "extract (AFTERTURN_EXTRACT)"


def build_extractor(settings: Settings) -> Extractor | None:
    """The extractor that `settings.extract` names; None for `none`.

    Raises:
        SettingsError: no such function, or a model is missing its name.
    """
    choice = settings.extract
    if choice == "none":
        return None
    if choice == "auto" and settings.extraction_url:
        return _model(settings)
    if choice in {"auto", "rules"}:
        from afterturn.extraction.rules import extract_by_rules

        return extract_by_rules
    return _imported(choice)


def _model(settings: Settings) -> Extractor:
    from afterturn.extraction.openai import ChatExtractor

    if not settings.extraction_url or not settings.extraction_model:
        raise SettingsError("extraction_url is set, but extraction_model (AFTERTURN_EXTRACTION_MODEL) is not")
    key = settings.extraction_api_key
    return ChatExtractor(
        settings.extraction_url,
        settings.extraction_model,
        api_key=key.get_secret_value() if key else None,
        timeout=settings.extraction_timeout,
    )


def _imported(path: str) -> Extractor:
    module_name, colon, name = path.partition(":")
    if not (colon and module_name and name) or module_name.startswith("."):
        raise SettingsError(f"{HELP} is {path!r}: expected auto, rules, none or package.module:function")
    try:
        function = getattr(import_module(module_name), name)
    except (ImportError, AttributeError) as error:
        raise SettingsError(f"{HELP} is {path!r}, which cannot be imported: {error}") from error
    if not callable(function):
        raise SettingsError(f"{HELP} is {path!r}, which is not callable")
    extractor: Extractor = function
    return extractor
