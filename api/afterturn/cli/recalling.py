"""`afterturn recall`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from afterturn.cli.scopes import scope_options

if TYPE_CHECKING:
    from afterturn.model import Fragment, RecallResult


@click.command("recall")
@click.argument("query")
@scope_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(query: str, thread: str, user: str | None, tenant: str | None, as_json: bool) -> None:
    """Show what is remembered in a scope that helps with QUERY, best first."""
    from afterturn.memory import Memory
    from afterturn.model import Scope

    with Memory.from_env(recall_timeout=10.0) as memory:
        memory.warm_up()
        result = memory.recall(Scope(thread, user, tenant), query)
    if as_json:
        click.echo(json.dumps(as_dict(result), ensure_ascii=False, indent=2))
    else:
        _print(result)


def as_dict(result: RecallResult) -> dict[str, Any]:
    """A recall's result as JSON values."""
    return {
        "system_prompt": result.system_prompt,
        "fragments": None if result.fragments is None else [_row(one) for one in result.fragments],
        "degraded": result.degraded,
    }


def _row(fragment: Fragment) -> dict[str, Any]:
    return {
        "text": fragment.text,
        "source": fragment.source,
        "score": fragment.score,
        "kind": fragment.kind,
        "role": fragment.role,
        "created_at": fragment.created_at and fragment.created_at.isoformat(),
        "pending": fragment.pending,
    }


def _print(result: RecallResult) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if result.degraded:
        console.print(Text(f"degraded: {result.degraded}"))
    if result.fragments is None:
        console.print(Text(result.system_prompt or "nothing remembered"))
        return
    if not result.fragments:
        console.print("nothing remembered")
        return
    table = Table("score", "kind", "when", "text")
    for one in result.fragments:
        kind = one.role or one.kind or ""
        when = f"{one.created_at:%Y-%m-%d %H:%M}" if one.created_at else ""
        score = "" if one.score is None else f"{one.score:.3f}"
        table.add_row(score, "pending" if one.pending else kind, when, Text(one.text))
    console.print(table)
