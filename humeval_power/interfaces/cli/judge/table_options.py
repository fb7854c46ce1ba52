"""The options of commands that read a table of human values and a judge's scores."""

from __future__ import annotations

import click

from humeval_power.interfaces.cli.options import Function


def worker_options(command: Function) -> Function:
    """`--worker` and `--average-workers`."""
    for option in (
        click.option(
            "--average-workers",
            is_flag=True,
            help="Average the ratings of an output, whoever gave them.",
        ),
        click.option("--worker", metavar="COLUMN", help="Column of who rated. [found by its name]"),
    ):
        command = option(command)
    return command


def typed_systems(systems: str | None) -> list[str] | None:
    """The names of `--systems A,B`."""
    return None if systems is None else [name.strip() for name in systems.split(",")]
