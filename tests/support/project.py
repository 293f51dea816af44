"""The project's own files, for tests of packaging, set-up and documents."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SOURCE_ROOTS = ("api", "tasks", "worker")


def pyproject() -> dict[str, Any]:
    """The parsed pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def packages() -> set[str]:
    """Names of the packages in the source roots, as the folders tell."""
    return {init.parent.name for root in SOURCE_ROOTS for init in (ROOT / root).glob("*/__init__.py")}


def tool(name: str) -> str:
    """The path of a command installed beside this interpreter."""
    return str(Path(sys.executable).with_name(name))


def run(*command: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, in the project's folder unless told otherwise."""
    return subprocess.run(command, text=True, capture_output=True, check=False, **{"cwd": ROOT, **options})
