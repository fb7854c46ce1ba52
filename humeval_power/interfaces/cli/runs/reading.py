"""From a table with runs and how it is to be read to scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from humeval_power.interfaces.cli.cluster_options import cluster_option
from humeval_power.interfaces.cli.options import Function, collected, fields_of

if TYPE_CHECKING:
    from humeval_power.inference.runs.run_table import RunTable


@dataclass(frozen=True, slots=True)
class Reading:
    """How the table is read, as the user said it."""

    file: str
    run: str | None
    item: str | None
    system: str | None
    score: str | None
    systems: tuple[str, ...]
    cluster: str | None
    drop_missing: bool


def system_names(_ctx: click.Context, _option: click.Parameter, text: str | None) -> tuple[str, ...]:
    """A click callback for two systems or more, A first."""
    names = tuple(name.strip() for name in (text or "").split(",") if name.strip())
    if text is not None and (len(names) < 2 or len(set(names)) < len(names)):
        raise click.BadParameter(f"name two systems or more, A first: A,B; got {text!r}.")
    return names


_OPTIONS = (
    click.argument("file", metavar="TABLE"),
    click.option("--run", metavar="COLUMN", help="Column of the run: generation, prompt, seed. [found]"),
    click.option("--item", metavar="COLUMN", help="Column of the item. [found by name]"),
    click.option("--system", metavar="COLUMN", help="Column of the system. [found by name]"),
    click.option("--score", metavar="COLUMN", help="Column of the score. [found by name]"),
    click.option(
        "--systems",
        metavar="A,B",
        callback=system_names,
        help="The systems to compare; the effect is B - A. More than two: all pairs. [all]",
    ),
    cluster_option,
    click.option("--drop-missing", is_flag=True, help="Leave out items without a score of each system."),
)


def reading_options(command: Function) -> Function:
    """Add the table and how to read it; the command gets them as `reading: Reading`."""
    return collected(command, _OPTIONS, name="reading", collect=fields_of(Reading))


def read_table(reading: Reading) -> RunTable:
    """The scores that the table holds."""
    from humeval_power.interfaces.formats.runs import read_runs

    return read_runs(
        reading.file,
        item=reading.item,
        system=reading.system,
        run=reading.run,
        score=reading.score,
        systems=reading.systems,
        cluster=reading.cluster,
        drop_missing=reading.drop_missing,
    )
