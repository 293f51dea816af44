"""The commands that need more than the client: `worker`, `up`, `flower`."""

from __future__ import annotations

from pathlib import Path

import click

from afterturn.queues import Queue

LOG_LEVELS = ("debug", "info", "warning", "error", "critical")


@click.command()
@click.option(
    "--queue", required=True, type=click.Choice([queue.value for queue in Queue]), help="Whose tasks to run."
)
@click.option(
    "--concurrency", type=click.IntRange(min=1), help="Children or threads; default: what fits the queue."
)
@click.option("--name", help="Node name, as Flower shows it; default: the queue and the process id.")
@click.option(
    "--loglevel", type=click.Choice(LOG_LEVELS, case_sensitive=False), default="info", show_default=True
)
def worker(queue: str, concurrency: int | None, name: str | None, loglevel: str) -> None:
    """Run a worker for one queue."""
    from afterturn_worker.main import run_worker

    run_worker(Queue(queue), concurrency, name, loglevel)


@click.command()
@click.option(
    "--address", default="127.0.0.1", show_default=True, help="Others than loopback need FLOWER_BASIC_AUTH."
)
@click.option("--port", type=click.IntRange(1, 65_535), default=5555, show_default=True)
@click.option(
    "--read-only/--no-read-only",
    default=True,
    show_default=True,
    help="Show, but don't let anyone revoke tasks or stop workers (Flower 2.1 or later).",
)
def flower(address: str, port: int, read_only: bool) -> None:
    """Run Flower, the page that shows workers, queues and tasks.

    It asks for a password when FLOWER_BASIC_AUTH=user:password is set.
    """
    from afterturn.settings import load_settings
    from afterturn_worker.flower import run_flower

    run_flower(load_settings(), address, port, read_only=read_only)


@click.command()
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(".afterturn"),
    show_default=True,
    help="Where the memory is kept between runs.",
)
@click.option(
    "--log-dir", type=click.Path(file_okay=False, path_type=Path), help="Default: logs in the data folder."
)
@click.option("--flower/--no-flower", default=True, show_default=True, help="Run Flower too.")
@click.option("--flower-port", type=click.IntRange(1, 65_535), help="Default: a free one.")
def up(data_dir: Path, log_dir: Path | None, flower: bool, flower_port: int | None) -> None:
    """Run everything for development: store, workers, Flower. Ctrl-C stops it.

    The store is an embedded Valkey unless AFTERTURN_REDIS_URL (or REDIS_URL) names one.
    """
    from afterturn.settings import load_settings
    from afterturn_worker.stack import StackOptions
    from afterturn_worker.up import run_up

    settings = load_settings()
    given = settings.redis_url if "redis_url" in settings.model_fields_set else None
    run_up(StackOptions(data_dir, log_dir, given, flower, flower_port))
