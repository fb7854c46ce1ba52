"""The options of commands that read a table of human values and a judge's scores."""

from __future__ import annotations

import click

from humeval_power.interfaces.cli.numbers import RealNumber

worker_option = click.option("--worker", metavar="COLUMN", help="Column of who rated. [found by its name]")
average_workers_option = click.option(
    "--average-workers", is_flag=True, help="Average the ratings of an output, whoever gave them."
)
confidence_option = click.option(
    "--confidence",
    type=RealNumber(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Of the intervals.",
)


def typed_systems(systems: str | None) -> list[str] | None:
    """The names of `--systems A,B`."""
    return None if systems is None else [name.strip() for name in systems.split(",")]
