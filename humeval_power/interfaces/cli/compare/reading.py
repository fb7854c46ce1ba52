"""From the files of `compare` and its options to tables of scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from humeval_power.checking.columns import named_column
from humeval_power.errors import InputError
from humeval_power.interfaces.cli.output import note

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


def read_tables(reading: Reading) -> tuple[list[str], list[ScoreTable]]:
    """The tables by the names of their metrics or data sets; a single one where there are none."""
    from humeval_power.interfaces.formats.compare.score_tables import open_scores

    source = open_scores(reading.files, item=reading.item, system=reading.system)
    if reading.dataset is not None and len(reading.score) > 1:
        raise InputError("Count over data sets or over metrics: --dataset with one --score.")
    if reading.dataset is not None:
        names, tables = _by_dataset(source, reading)
    else:
        names = list(reading.score) or ["score"]
        tables = [_one(source, reading, score) for score in reading.score or (None,)]
    for notice in dict.fromkeys(notice for table in tables for notice in table.notices):
        note(f"{source.table.source}: {notice}")
    if len(tables) > 1 and len(tables[0].systems) != 2:
        raise InputError("Several metrics or data sets are counted for two systems: --systems A,B.")
    return names, tables


def _by_dataset(source: ScoreSource, reading: Reading) -> tuple[list[str], list[ScoreTable]]:
    columns = source.table.frame.columns
    column = named_column(str(reading.dataset), columns, option="--dataset", source=source.table.source)
    names = list(dict.fromkeys(source.table.frame[column].astype(str)))
    source = replace(source, scores=tuple(name for name in source.scores if name != column))
    score = reading.score[0] if reading.score else None
    return names, [_one(source, reading, score, where=(column, name)) for name in names]


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
