"""From the files of `compare scores` and how they are to be read to tables of scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from humeval_power.checking.columns import named_column
from humeval_power.errors import InputError
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import Function, collected, fields_of

if TYPE_CHECKING:
    from humeval_power.inference.compare.score_table import ScoreTable
    from humeval_power.interfaces.formats.compare.score_tables import ScoreSource


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
    unit_by: str
    shuffle_seed: int | None


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
)


def reading_options(command: Function) -> Function:
    """Add the files and how to read them; the command gets them as `reading: Reading`."""
    return collected(command, _OPTIONS, name="reading", collect=fields_of(Reading))


def read_tables(reading: Reading) -> dict[str, ScoreTable]:
    """The tables by the names of their metrics or data sets; a single one where there are none."""
    from humeval_power.interfaces.formats.compare.score_tables import open_scores

    if len(reading.files) > 2:
        raise InputError(f"Name one table, or two files of one column; got {len(reading.files)} files.")
    source = open_scores(reading.files, item=reading.item, system=reading.system)
    if reading.dataset is not None and len(reading.score) > 1:
        raise InputError("Count over data sets or over metrics: --dataset with one --score.")
    if reading.dataset is not None:
        tables = _by_dataset(source, reading)
    else:
        tables = {score or "score": _one(source, reading, score) for score in reading.score or (None,)}
    if len(tables) > 1 and any(len(table.systems) != 2 for table in tables.values()):
        raise InputError("Several metrics or data sets are counted for two systems: --systems A,B.")
    return tables


def _by_dataset(source: ScoreSource, reading: Reading) -> dict[str, ScoreTable]:
    columns = source.table.frame.columns
    column = named_column(str(reading.dataset), columns, option="--dataset", source=source.table.source)
    names = list(dict.fromkeys(source.table.frame[column].astype(str)))
    source = replace(source, scores=tuple(name for name in source.scores if name != column))
    score = reading.score[0] if reading.score else None
    return {name: _one(source, reading, score, where=(column, name)) for name in names}


def _one(
    source: ScoreSource, reading: Reading, score: str | None, *, where: tuple[str, str] | None = None
) -> ScoreTable:
    from humeval_power.inference.compare.units import evaluation_units, unit_scores
    from humeval_power.interfaces.formats.compare.score_tables import score_table

    table = score_table(
        source, score=score, systems=reading.systems, drop_missing=reading.drop_missing, where=where
    )
    if reading.unit_size == 1:
        return table
    units = evaluation_units(table.n_items, size=reading.unit_size, shuffle_seed=reading.shuffle_seed)
    left = table.n_items - units.size
    chosen = "adjacent" if reading.shuffle_seed is None else f"shuffled (seed {reading.shuffle_seed})"
    notice = f"{len(units):,} units, each the {reading.unit_by} of {reading.unit_size:,} {chosen} items"
    notice += f"; {left:,} items left over are in none." if left else "."
    by: Any = reading.unit_by
    return table.in_units(unit_scores(table.scores, units, by=by), notice)
