"""Tables of scores from files: one, or one of each metric or data set, in units of several items where asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from humeval_power.checking.columns import named_column
from humeval_power.errors import InputError
from humeval_power.inference.compare.score_table import ScoreTable
from humeval_power.interfaces.formats.compare.score_tables import ScoreSource, open_scores, score_table
from humeval_power.interfaces.formats.tables import with_metric

UnitBy = Literal["mean", "median"]


def read_scores(
    *paths: str | Path,
    item: str | None = None,
    system: str | None = None,
    scores: Sequence[str] = (),
    systems: Sequence[str] = (),
    dataset: str | None = None,
    drop_missing: bool = False,
    unit_size: int = 1,
    unit_by: UnitBy = "mean",
    shuffle_seed: int | None = None,
    cluster: str | None = None,
    names: Mapping[str, str] | None = None,
) -> dict[str, ScoreTable]:
    """Read a metric's scores of the same items, as `compare.scores` takes them.

    Parameters
    ----------
    paths : one table, with a column for each system or the columns item, system and score; or two files of one
        number a line, A first.
    item, system : columns of a long table; found by their names if None.
    scores : metrics of a long table; the only one if none is named.
    systems : those to compare, A first; all if none is named.
    dataset : a column of data sets, each of which becomes a table.
    drop_missing : leave out items without a score of each system.
    unit_size, unit_by : how many items make a unit, and whether their mean or their median is its score.
    shuffle_seed : shuffle items into units; None for adjacent ones.
    cluster : the column of the items' clusters, such as passage or document; of files without names of columns a
        file with one cluster's name a line.
    names : what the systems of logs, or of files of one column, are called, by their paths.

    Returns
    -------
    dict
        The tables by the names of their metrics or data sets.

    Raises
    ------
    InputError
        Files that cannot be read, or options that do not go together.
    """
    if len(paths) > 2:
        raise InputError(f"Name one table, or two files of one column; got {len(paths)} files.")
    if cluster is not None and unit_size > 1:
        raise InputError(
            "Units and clusters are two ways to treat items that are alike: leave --unit-size or --cluster out."
        )
    source = open_scores(
        [str(path) for path in paths],
        item=item,
        system=system,
        cluster=cluster,
        wanted=[*systems, *scores],
        names=names,
    )
    if dataset is not None and len(scores) > 1:
        raise InputError("Count over data sets or over metrics: --dataset with one --score.")

    def one(source: ScoreSource, score: str | None, where: tuple[str, str] | None = None) -> ScoreTable:
        table = score_table(
            source, score=score, systems=tuple(systems), drop_missing=drop_missing, where=where
        )
        return table if unit_size == 1 else _in_units(table, unit_size, unit_by, shuffle_seed)

    if dataset is not None:
        columns = source.table.frame.columns
        column = named_column(dataset, columns, option="--dataset", source=source.table.source)
        source = replace(source, scores=tuple(name for name in source.scores if name != column))
        score = scores[0] if scores else None
        if score is not None or len(source.scores) == 1:
            source = replace(source, table=with_metric(source.table, score or source.scores[0]))
        sets = dict.fromkeys(source.table.frame[column].astype(str))
        tables = {name: one(source, score, (column, name)) for name in sets}
    else:
        tables = {score or "score": one(source, score) for score in scores or (None,)}
    if len(tables) > 1 and any(len(table.systems) != 2 for table in tables.values()):
        raise InputError("Several metrics or data sets are counted for two systems: --systems A,B.")
    return tables


def _in_units(table: ScoreTable, size: int, by: UnitBy, shuffle_seed: int | None) -> ScoreTable:
    from humeval_power.inference.compare.units import evaluation_units, unit_scores

    units = evaluation_units(table.n_items, size=size, shuffle_seed=shuffle_seed)
    left = table.n_items - units.size
    chosen = "adjacent" if shuffle_seed is None else f"shuffled (seed {shuffle_seed})"
    notice = f"{len(units):,} units, each the {by} of {size:,} {chosen} items"
    notice += f"; {left:,} items left over are in none." if left else "."
    return table.in_units(unit_scores(table.scores, units, by=by), notice)
