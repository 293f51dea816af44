"""The `afterturn` command. Each subcommand is a file, or an entry point of the group `afterturn.commands`."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

import click

from afterturn._version import __version__
from afterturn.errors import AfterturnError, ValidationError

ENTRY_POINT_GROUP: Final = "afterturn.commands"

OWN_COMMANDS: Final = {
    name: EntryPoint(name, f"afterturn.cli.{module}:command", ENTRY_POINT_GROUP)
    for name, module in (("import", "importing"), ("recall", "recalling"), ("status", "status"))
}


class _WrongSettings(click.ClickException):
    exit_code = 2


class LazyGroup(click.Group):
    """Imports a subcommand when it is asked for, and shows our errors as one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all subcommands, installed ones included."""
        return sorted({*super().list_commands(ctx), *OWN_COMMANDS, *_installed()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The subcommand of that name; one whose package can't be imported becomes one that says so."""
        entry = OWN_COMMANDS.get(cmd_name) or _installed().get(cmd_name)
        if entry is None:
            return super().get_command(ctx, cmd_name)
        try:
            loaded = entry.load()
        except ImportError as error:
            return _unavailable(cmd_name, error)
        if not isinstance(loaded, click.Command):
            raise click.ClickException(
                f"the entry point {entry.value} of {cmd_name!r} is not a click command"
            )
        return loaded

    def invoke(self, ctx: click.Context) -> Any:
        """Run the subcommand; our errors end it with their message and code 1, wrong settings with 2."""
        try:
            return super().invoke(ctx)
        except ValidationError as error:
            raise _WrongSettings(str(error)) from error
        except AfterturnError as error:
            raise click.ClickException(str(error)) from error


def _installed() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=ENTRY_POINT_GROUP)}


def _unavailable(name: str, error: ImportError) -> click.Command:
    reason = str(error)

    def tell(**_: object) -> None:
        raise click.ClickException(f"{name} can't run: {reason}")

    return click.Command(
        name,
        callback=tell,
        params=[click.Argument(["ignored"], nargs=-1, type=click.UNPROCESSED)],
        context_settings={"ignore_unknown_options": True},
        short_help=f"(can't run: {reason})",
    )


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="afterturn")
def main() -> None:
    """Memory for chat back ends, made after the turn.

    Settings come from AFTERTURN_* variables.
    """
