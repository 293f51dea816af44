"""tools/venv.sh: the first thing that `make demo` and `make test` run on a stranger's machine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.project import ROOT, run

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = str(ROOT / "tools" / "venv.sh")
MACHINE = "/usr/bin:/bin"
"""Where the shell's own tools are; every test puts its interpreters before it."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A folder at the head of the search path, where every name that the script tries is broken at first."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("python3", "python3.11", "python3.12", "python3.13"):
        program(folder / name, "exit 127")
    return folder


def program(file: Path, body: str) -> None:
    """Write an executable shell script."""
    file.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    file.chmod(0o755)


def older_python(file: Path) -> None:
    """An interpreter that says that it is Python 3.9, and is the real one otherwise."""
    shim = 'import sys; sys.version_info = (3, 9, 2, "final", 0)'
    program(file, f"""shift; exec "{sys.executable}" -c '{shim}\n'"$1" """)


def bare_python(file: Path) -> None:
    """An interpreter as Debian ships it: no ensurepip."""
    hidden = file.parent / "hidden"
    hidden.mkdir(exist_ok=True)
    (hidden / "ensurepip.py").write_text("raise ImportError", encoding="utf-8")
    program(file, f'PYTHONPATH="{hidden}" exec "{sys.executable}" "$@"')


def whole_python(file: Path) -> None:
    """This interpreter."""
    program(file, f'exec "{sys.executable}" "$@"')


def make_environment(path: Path, *more: str) -> tuple[int, str]:
    """Exit code and all output of the script, asked for an environment beside `path`."""
    result = run(SCRIPT, str(path.parent / "venv"), *more, env={"PATH": f"{path}:{MACHINE}"})
    return result.returncode, result.stdout + result.stderr


def test_without_a_recent_python_it_says_which_were_found_and_what_is_needed(path: Path) -> None:
    older_python(path / "python3")
    code, output = make_environment(path)
    assert code == 1
    assert "needs Python 3.11 or later" in output
    assert "is Python 3.9.2" in output


def test_without_any_python_it_says_so(path: Path) -> None:
    code, output = make_environment(path)
    assert code == 1
    assert "Found on the path: none" in output


def test_without_ensurepip_it_names_the_one_package_to_install(path: Path) -> None:
    bare_python(path / "python3")
    code, output = make_environment(path)
    assert code == 1
    assert "apt-get install python3-venv" in output
    assert not (path.parent / "venv").exists()


@pytest.mark.parametrize("first", [older_python, bare_python])
def test_an_unfit_python3_is_passed_over_for_a_later_name(path: Path, first: object) -> None:
    assert callable(first)
    first(path / "python3")
    whole_python(path / "python3.11")
    code, output = make_environment(path)
    assert code == 0, output
    assert (path.parent / "venv" / "bin" / "pip").exists()


def test_the_named_interpreter_is_the_only_one_tried(path: Path) -> None:
    whole_python(path / "python3")
    older_python(path / "chosen")
    code, output = make_environment(path, "chosen")
    assert code == 1
    assert "is Python 3.9.2" in output


def test_a_folder_that_is_no_environment_is_left_alone(path: Path) -> None:
    whole_python(path / "python3")
    precious = path.parent / "venv" / "precious.txt"
    precious.parent.mkdir()
    precious.touch()
    code, output = make_environment(path)
    assert code == 1
    assert "is no virtual environment" in output
    assert precious.exists()


def test_a_whole_environment_is_kept_and_a_broken_one_made_anew(path: Path) -> None:
    whole_python(path / "python3")
    assert make_environment(path)[0] == 0
    python = path.parent / "venv" / "bin" / "python"
    kept = path.parent / "venv" / "kept"
    kept.touch()
    assert make_environment(path) == (0, "")
    assert kept.exists()

    python.unlink()
    assert make_environment(path)[0] == 0
    assert python.exists()
    assert not kept.exists()
