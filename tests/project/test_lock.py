"""The lock that CI and the images install by."""

from __future__ import annotations

import re

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.support.project import ROOT, pyproject

TEXT = (ROOT / "locks" / "constraints.txt").read_text(encoding="utf-8")
LINES = [line for line in TEXT.splitlines() if line and not line.lstrip().startswith("#")]
LOCKED = {canonicalize_name(name): Version(version) for name, version in (line.split("==") for line in LINES)}


def wanted() -> list[Requirement]:
    """What pyproject.toml asks for, with and without extras, less the project itself."""
    project = pyproject()["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    requirements = [Requirement(line) for lines in lists for line in lines]
    return [requirement for requirement in requirements if requirement.name != "afterturn"]


def test_every_line_pins_one_version_and_nothing_else() -> None:
    for line in LINES:
        assert re.fullmatch(r"[a-z0-9][a-z0-9.-]*==[0-9][a-z0-9.]*", line), line


def test_no_address_and_no_path_is_in_it() -> None:
    assert not re.search(r"://|file:/|index-url|find-links|@ |\n\s*#.* /", TEXT)


def test_it_meets_everything_that_the_project_asks_for() -> None:
    for requirement in wanted():
        version = LOCKED[canonicalize_name(requirement.name)]
        assert version in requirement.specifier, f"{requirement} is locked at {version}: run `make lock`"


def test_torch_is_the_release_whose_cpu_build_is_taken() -> None:
    assert LOCKED[canonicalize_name("torch")] == Version("2.13.0")


def test_nothing_that_only_one_platform_has_is_forced() -> None:
    assert [name for name in LOCKED if re.match(r"nvidia-|cuda|triton|pywin32|colorama", name)] == []
