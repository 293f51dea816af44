"""Writes docs/settings.md from `afterturn.settings.Settings`; with --check, says whether it is current."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from afterturn.settings import ENV_PREFIX, PAGE_VARIABLES, Settings

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

PAGE = Path(__file__).parent.parent / "docs" / "settings.md"

HEAD = """\
# Settings

<!-- Written by tools/settings_table.py: change api/afterturn/settings.py, then run `make docs`. -->

A setting is an argument of `Memory(...)` and of `load_settings(...)`, or an environment variable.
The argument wins over the `AFTERTURN_` variable, that over the second variable where one is listed
(the name that the vendor's own tools use), and that over the default. An empty variable counts as unset.
Workers read the same variables: give them and the application the same values.

Durations are in seconds. A malformed value is refused at construction, by an error that names the setting.

| setting | variables | default | what it does |
| --- | --- | --- | --- |
"""


def page() -> str:
    """The whole text of docs/settings.md."""
    return HEAD + "".join(row(name, field) for name, field in Settings.model_fields.items())


def row(name: str, field: FieldInfo) -> str:
    """One line of the table."""
    variables = [ENV_PREFIX + name.upper(), *filter(None, [PAGE_VARIABLES.get(name)])]
    cells = [
        f"`{name}`",
        ", ".join(f"`{variable}`" for variable in variables),
        default_of(field),
        (field.description or "").replace("|", "\\|"),
    ]
    return f"| {' | '.join(cells)} |\n"


def default_of(field: FieldInfo) -> str:
    """A default as a reader would write it. Those of secrets are the vendors' public ones."""
    value: Any = field.default
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if value is None or value == frozenset():
        return "unset"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"`{value}`"


def main() -> int:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is out of date")
    if not parser.parse_args().check:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page():
        print("docs/settings.md is out of date: run `make docs`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
