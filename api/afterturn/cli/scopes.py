"""The options that name a scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., object]")


def scope_options(function: F) -> F:
    """Add `--thread`, `--user` and `--tenant`."""
    for option in (
        click.option("--tenant", help="Tenant id."),
        click.option("--user", help="User id."),
        click.option("--thread", required=True, help="Thread id."),
    ):
        function = option(function)
    return function
