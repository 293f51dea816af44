"""`import afterturn` happens in every web process at every start. benchmarks/import_time.py has the time."""

from __future__ import annotations

import json
import sys

import pytest

from tests.support.project import run

HEAVY = {
    "celery",
    "click",
    "fastapi",
    "flower",
    "httpx",
    "kombu",
    "numpy",
    "pydantic",
    "pydantic_settings",
    "redis",
    "rich",
    "sentence_transformers",
    "torch",
    "transformers",
}


def modules_after(code: str) -> set[str]:
    """Top-level names of all modules that a fresh interpreter has loaded after `code`."""
    result = run(
        sys.executable, "-c", f"{code}\nimport json, sys; print(json.dumps(sorted(sys.modules)))", cwd="/"
    )
    assert result.returncode == 0, result.stderr
    return {name.partition(".")[0] for name in json.loads(result.stdout)}


def test_importing_the_package_loads_nothing_heavy() -> None:
    loaded = modules_after("import afterturn")
    assert "afterturn" in loaded
    assert loaded & HEAVY == set()


def test_making_a_scope_and_a_turn_loads_nothing_heavy() -> None:
    code = "from afterturn import Scope, Turn\nScope(thread_id='t'), Turn(user='hello', assistant='')"
    assert modules_after(code) & HEAVY == set()


@pytest.mark.parametrize("package", ["afterturn_tasks", "afterturn_worker"])
def test_the_client_loads_no_worker_code(package: str) -> None:
    assert package not in modules_after("from afterturn import AsyncMemory, Memory, load_settings")


def test_the_client_class_loads_no_model() -> None:
    loaded = modules_after("from afterturn import AsyncMemory, Memory, load_settings")
    assert loaded & {"torch", "transformers", "sentence_transformers", "flower", "fastapi"} == set()
