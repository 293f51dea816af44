"""`afterturn status`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from afterturn.model import TurnStatus


@click.command("status")
@click.argument("turn_id")
@click.option("--wait", type=click.FloatRange(min=0), help="Wait up to so many seconds until it is finished.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(turn_id: str, wait: float | None, as_json: bool) -> None:
    """Show where a turn is: state, times, attempts, last error."""
    from afterturn.memory import Memory
    from afterturn.settings import load_settings

    with Memory(load_settings(embedder="none", save_timeout=5.0)) as memory:
        status = memory.status(turn_id) if wait is None else memory.wait(turn_id, wait)
    if as_json:
        click.echo(json.dumps(as_dict(status), indent=2))
        return
    click.echo(f"{status.turn_id}  {status.state}")
    for state, moment in status.times.items():
        click.echo(f"  {moment.isoformat(timespec='milliseconds')}  {state}")
    if status.attempts:
        click.echo(f"  attempts of the current step: {status.attempts}")
    if status.error:
        click.echo(f"  last error: {status.error}")


def as_dict(status: TurnStatus) -> dict[str, Any]:
    """A status as JSON values."""
    return {
        "turn_id": status.turn_id,
        "state": status.state,
        "attempts": status.attempts,
        "times": {state: moment.isoformat() for state, moment in status.times.items()},
        "error": status.error,
    }
