"""From the files of `compare scores` and how they are to be read to tables of scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from humeval_power.interfaces.cli.cluster_options import cluster_option
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import Function, collected, fields_of

if TYPE_CHECKING:
    from humeval_power.inference.compare.score_table import ScoreTable
    from humeval_power.interfaces.formats.compare.reading import UnitBy


@dataclass(frozen=True, slots=True)
class Reading:
    """How the files are read, as the user said it."""

    files: tuple[str, ...]
    item: str | None
    system: str | None
    score: tuple[str, ...]
    systems: tuple[str, ...]
    dataset: str | None
    drop_missing: bool
    unit_size: int
    unit_by: UnitBy
    shuffle_seed: int | None
    cluster: str | None


def _names(_ctx: click.Context, _option: click.Parameter, text: str | None) -> tuple[str, ...]:
    names = tuple(name.strip() for name in (text or "").split(",") if name.strip())
    if text is not None and len(names) < 2:
        raise click.BadParameter(f"name two systems or more, A first: A,B; got {text!r}.")
    return names


_OPTIONS = (
    click.argument("files", nargs=-1, required=True, metavar="FILE [FILE]"),
    click.option("--item", metavar="COLUMN", help="Column of the item. [found by name]"),
    click.option("--system", metavar="COLUMN", help="Column of the system. [found by name]"),
    click.option("--score", metavar="COLUMN", multiple=True, help="Metric of a long table; repeatable."),
    click.option(
        "--systems",
        metavar="A,B",
        callback=_names,
        help="The systems to compare; the effect is B - A. More than two: all pairs. [all]",
    ),
    click.option("--dataset", metavar="COLUMN", help="Column of the data set: count where B is better."),
    click.option("--drop-missing", is_flag=True, help="Leave out items without a score of each system."),
    click.option(
        "--unit-size", type=WholeNumber(min=1), default=1, show_default=True, help="Items in a unit."
    ),
    click.option(
        "--unit-by",
        type=click.Choice(("mean", "median")),
        default="mean",
        show_default=True,
        help="Score of a unit.",
    ),
    click.option("--shuffle-seed", type=WholeNumber(min=0), help="Shuffle items into units. [adjacent]"),
    cluster_option,
)


def reading_options(command: Function) -> Function:
    """Add the files and how to read them; the command gets them as `reading: Reading`."""
    return collected(command, _OPTIONS, name="reading", collect=fields_of(Reading))


def read_tables(reading: Reading) -> dict[str, ScoreTable]:
    """The tables by the names of their metrics or data sets; a single one where there are none."""
    from humeval_power.interfaces.formats.compare.reading import read_scores

    return read_scores(
        *reading.files,
        item=reading.item,
        system=reading.system,
        scores=reading.score,
        systems=reading.systems,
        dataset=reading.dataset,
        drop_missing=reading.drop_missing,
        unit_size=reading.unit_size,
        unit_by=reading.unit_by,
        shuffle_seed=reading.shuffle_seed,
        cluster=reading.cluster,
    )
