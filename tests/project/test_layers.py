"""Imports run one way: worker over tasks over the client."""

from __future__ import annotations

from tests.support.project import packages, pyproject, run, tool


def test_the_import_contracts_hold() -> None:
    checked = run(tool("lint-imports"), "--no-cache")
    assert checked.returncode == 0, checked.stdout
    assert "0 broken" in checked.stdout


def test_the_contracts_look_at_every_package() -> None:
    assert set(pyproject()["tool"]["importlinter"]["root_packages"]) == packages()
