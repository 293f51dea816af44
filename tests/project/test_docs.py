"""Documents say what is so."""

from __future__ import annotations

import ast
import importlib
import re
from importlib.metadata import EntryPoint

import click
import pytest
from pydantic import SecretStr

from afterturn.settings import ENV_PREFIX, PAGE_VARIABLES, Settings, load_settings
from tests.support.project import ROOT, pyproject, run, tool
from tools.settings_table import page

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
NAMES = [str(file.relative_to(ROOT)) for file in PAGES]
TEXTS = dict(zip(NAMES, (file.read_text(encoding="utf-8") for file in PAGES), strict=True))


def settings_rows() -> dict[str, list[str]]:
    """The table of docs/settings.md: setting → its other cells."""
    rows = [
        re.split(r"(?<!\\)\|", line)[1:-1]
        for line in TEXTS["docs/settings.md"].splitlines()
        if line.startswith("| `")
    ]
    return {name.strip().strip("`"): [cell.strip() for cell in cells] for name, *cells in rows}


ROWS = settings_rows()


def test_the_settings_page_is_what_the_code_would_write() -> None:
    assert TEXTS["docs/settings.md"] == page(), "run `make docs`"


def test_the_table_has_every_setting_and_no_other() -> None:
    assert set(ROWS) == set(Settings.model_fields)


@pytest.mark.parametrize("name", Settings.model_fields)
def test_a_row_gives_the_variables_in_the_order_in_which_they_count(name: str) -> None:
    own = f"{ENV_PREFIX}{name.upper()}"
    assert re.findall(r"`(\w+)`", ROWS[name][0]) == [own, *filter(None, [PAGE_VARIABLES.get(name)])]


@pytest.mark.parametrize("name", Settings.model_fields)
def test_a_row_gives_the_default_that_counts_when_nothing_is_set(name: str) -> None:
    default = getattr(load_settings(), name)
    default = default.get_secret_value() if isinstance(default, SecretStr) else default
    shown = ROWS[name][1]
    if shown == "unset":
        assert not default
    else:
        assert type(default)(shown.strip("`")) == default


@pytest.mark.parametrize("name", Settings.model_fields)
def test_a_row_says_what_the_setting_does(name: str) -> None:
    assert ROWS[name][2]
    assert ROWS[name][2] == (Settings.model_fields[name].description or "").replace("|", "\\|")


@pytest.mark.parametrize("document", NAMES)
def test_a_link_to_a_file_leads_somewhere(document: str) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", TEXTS[document]):
        if not re.match(r"[a-z]+:", target):
            assert ((ROOT / document).parent / target).exists(), target


@pytest.mark.parametrize("document", NAMES)
def test_a_variable_that_a_document_names_exists(document: str) -> None:
    known = {ENV_PREFIX + name.upper() for name in Settings.model_fields}
    assert set(re.findall(r"AFTERTURN_[A-Z0-9_]*[A-Z0-9]", TEXTS[document])) <= known


@pytest.mark.parametrize("document", NAMES)
def test_a_make_target_that_a_document_names_exists(document: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    named = re.findall(r"(?:^|`)make ((?:[A-Z_]+=\S+ )*)([a-z]+)", TEXTS[document], re.MULTILINE)
    assert {target for _, target in named} <= targets


def known_commands() -> set[str]:
    """Every `afterturn` command: the client's own, and those that the other packages bring."""
    project = pyproject()["project"]
    main = EntryPoint("afterturn", project["scripts"]["afterturn"], "console_scripts").load()
    own = set(main.list_commands(click.Context(main))) if isinstance(main, click.Group) else set()
    return own | set(project["entry-points"]["afterturn.commands"])


@pytest.mark.parametrize("document", NAMES)
def test_a_command_that_a_document_names_exists(document: str) -> None:
    named = re.findall(r"(?:^|`)afterturn ([a-z]+)", TEXTS[document], re.MULTILINE)
    assert set(named) <= known_commands()


@pytest.mark.parametrize("document", NAMES)
def test_python_in_a_document_parses_and_imports_what_exists(document: str) -> None:
    for block in re.findall(r"```python\n(.*?)```", TEXTS[document], re.DOTALL):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and node.module:
                module = importlib.import_module(node.module)
                assert all(hasattr(module, alias.name) for alias in node.names), ast.unparse(node)


def test_the_changelog_begins_with_what_is_not_yet_released() -> None:
    headings = re.findall(r"^## (.+)$", TEXTS["CHANGELOG.md"], re.MULTILINE)
    assert headings[0] == "[Unreleased]"


def test_make_help_lists_every_target_that_is_meant_to_be_called() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)[0].split()
    shown = run("make", "help").stdout
    assert re.findall(r"^  make (\w+)", shown, re.MULTILINE) == phony


def test_the_settings_check_of_make_lint_passes() -> None:
    checked = run(tool("python"), "tools/settings_table.py", "--check")
    assert checked.returncode == 0, checked.stderr
