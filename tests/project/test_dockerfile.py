"""The Dockerfile, as far as it can be checked without an engine."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from fnmatch import fnmatch

import pytest

from tests.support.project import ROOT, pyproject

IMAGES = ("worker-light", "worker-embed", "flower")


@dataclass
class Stage:
    """One stage: what it starts from, and its instructions in order."""

    base: str
    instructions: list[tuple[str, str]] = field(default_factory=list)

    def all(self, name: str) -> list[str]:
        """The arguments of every instruction of that name."""
        return [arguments for instruction, arguments in self.instructions if instruction == name]


def read_stages() -> dict[str, Stage]:
    """The Dockerfile's stages by name."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    lines = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ").splitlines()
    stages: dict[str, Stage] = {}
    for line in filter(None, lines):
        instruction, _, arguments = line.partition(" ")
        if instruction == "FROM":
            base, _, name = arguments.partition(" AS ")
            stages[name] = Stage(base)
        elif stages:
            list(stages.values())[-1].instructions.append((instruction, " ".join(arguments.split())))
    return stages


STAGES = read_stages()


def test_there_is_a_stage_for_each_image() -> None:
    assert set(STAGES) == {"wheel", "base", *IMAGES}


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_stands_on_the_client_and_not_on_the_stage_that_builds(image: str) -> None:
    assert STAGES[image].base == "base"
    assert STAGES["base"].base == STAGES["wheel"].base == "${PYTHON_IMAGE}"


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_runs_as_nobody_in_particular(image: str) -> None:
    assert STAGES[image].all("USER") == ["afterturn"]
    assert not STAGES["base"].all("USER"), "installing comes first, as root"


@pytest.mark.parametrize("image", IMAGES)
def test_the_signal_to_stop_reaches_the_worker(image: str) -> None:
    """The exec form: a shell as first process would keep SIGTERM to itself."""
    assert STAGES[image].all("STOPSIGNAL") == ["SIGTERM"]
    command = json.loads(STAGES[image].all("CMD")[0])
    assert command[0] in pyproject()["project"]["scripts"]


@pytest.mark.parametrize("stage", ["base", "worker-embed", "flower"])
def test_what_is_installed_has_the_locked_version(stage: str) -> None:
    installs = [line for line in STAGES[stage].all("RUN") if "pip install" in line]
    assert len(installs) == 1
    assert "pip install --constraint /constraints.txt " in installs[0]
    assert "source=locks/constraints.txt,target=/constraints.txt" in installs[0]


@pytest.mark.parametrize(("stage", "extra"), [("worker-embed", "worker"), ("flower", "flower")])
def test_an_image_installs_an_extra_that_exists(stage: str, extra: str) -> None:
    assert f".whl)[{extra}]" in STAGES[stage].all("RUN")[0]
    assert extra in pyproject()["project"]["optional-dependencies"]


@pytest.mark.parametrize("stage", ["wheel", "base", "worker-embed", "flower"])
def test_another_index_can_be_given_wherever_something_is_installed(stage: str) -> None:
    assert "PIP_EXTRA_INDEX_URL" in STAGES[stage].all("ARG")


def test_no_image_has_tools_to_build_with() -> None:
    for name in ("base", *IMAGES):
        run = " ".join(STAGES[name].all("RUN"))
        assert not re.search(r"apt-get|build-essential|gcc|hatchling", run), name
        assert not STAGES[name].all("COPY"), "sources stay in the stage that builds"


def test_all_that_is_copied_exists_and_is_sent_to_the_engine() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    sent = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    copied = {source for line in STAGES["wheel"].all("COPY") for source in line.split()[:-1]}
    assert copied | {"locks"} == sent
    assert all((ROOT / source).exists() for source in sent)


def test_the_wheel_stage_has_every_package_that_the_wheel_needs() -> None:
    copied = {source for line in STAGES["wheel"].all("COPY") for source in line.split()[:-1]}
    needed = pyproject()["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert all(any(fnmatch(package, f"{source}/*") for source in copied) for package in needed)
