"""Tables of raw ratings: a row for each, with its system; who rated what where the table says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from humeval_power.checking.cells import read_cells, read_ids
from humeval_power.checking.columns import (
    ROLES,
    absent_names,
    find_columns,
    listing,
    named_column,
    shortened,
)
from humeval_power.checking.rows import Rejected
from humeval_power.comparisons.assessment.pairs import Codes, Floats, RatedOutputs
from humeval_power.errors import InputError, Problem, refusal, refuse
from humeval_power.files.tables import NumberColumn, SourceTable, read_decided, read_numbers_of, read_table
from humeval_power.safe_text import shell_word
from humeval_power.saying.numbers import counted


def read_rated(
    path: str | Path,
    *,
    systems: Sequence[str] | None = None,
    by: str | None = None,
    cluster: str | None = None,
    criterion: str | None = None,
    system: str | None = None,
    rating: str | None = None,
    worker: str | None = None,
    item: str | None = None,
    rejected_rows: Rejected | None = None,
) -> RatedOutputs:
    """Ratings of a table; only the system and the rating must have a column.

    Parameters
    ----------
    systems : those to keep, in this order. [all, by name]
    by : column of groups that are compared by themselves; cluster : column of ratings that belong together.
    criterion : the one to keep, of a table with several.
    system, rating, worker, item : columns, where their names do not tell.

    Raises
    ------
    InputError
        Columns that are missing or ambiguous, cells that are no numbers, blank names, several criteria, systems
        that are not there; all of a kind at once.
    """
    table = read_decided(path, rejected_rows)
    named = {"system": system, "rating": rating, "worker": worker, "item": item}
    wanted = [
        ROLES["system"],
        ROLES["rating"],
        *(replace(ROLES[role], required=named[role] is not None) for role in ("worker", "item")),
        ROLES["criterion"],
    ]
    chosen = [column for column in (by, cluster) if column is not None]
    for column, option in ((by, "--by"), (cluster, "--cluster")):
        if column is not None:
            named_column(column, table.frame.columns, option=option, source=table.source)
    columns = find_columns(table.frame.columns, wanted, source=table.source, named=named, taken=chosen)
    of = columns.of
    for column, option in ((by, "--by"), (cluster, "--cluster")):
        if column is not None and column in (of["system"], of["rating"]):
            rule = f"names the column of the {'system' if column == of['system'] else 'rating'}."
            raise refusal(rule, "Name a column of what ratings share.", place=table.source, column=option)
    frame = _one_criterion(table, of.get("criterion"), criterion, by)
    table = table._replace(frame=frame)
    values, problems = _ratings(table, of["rating"])
    blank = np.isnan(values)
    notices = (
        (f"Left out: {counted(int(blank.sum()), 'row')} without a rating.",)
        if blank.any() and not problems
        else ()
    )
    kept = np.ones(len(frame), dtype=bool) if problems else ~blank
    names_there = frame[of["system"]].astype(str).str.strip()
    if systems is not None:
        rated = sorted(set(names_there[kept]) - {""})
        problems += absent_names(systems, rated, "system", place=table.source)
        kept &= names_there.isin(list(systems)).to_numpy()
    rows = table._replace(frame=frame[kept])
    ids = {
        column: rows.ids(column, shortened(column), problems, may_look_alike=True)
        for column in dict.fromkeys((of["system"], *chosen))
    }
    refuse(problems)
    code, names = ids[of["system"]].code, ids[of["system"]].names
    if systems is not None:
        code, names = np.array([list(systems).index(name) for name in names])[code], tuple(systems)
    return RatedOutputs(
        rating=values[kept],
        system=code,
        systems=names,
        group=np.zeros(int(kept.sum()), dtype=np.int64) if by is None else ids[by].code,
        groups=("",) if by is None else ids[by].names,
        worker=_optional(frame[kept], of.get("worker")),
        item=_optional(frame[kept], of.get("item")),
        cluster=None if cluster is None else ids[cluster].code,
        cluster_name=cluster or "",
        source=table.source,
        sha256=table.sha256,
        notices=(*table.notices, *columns.notices, *notices),
    )


def _one_criterion(
    table: SourceTable, column: str | None, wanted: str | None, by: str | None
) -> pd.DataFrame:
    """The rows of one criterion, or all where there are no others or each is a group of its own."""
    if column is None:
        if wanted is not None:
            rule = f"--criterion {wanted}: no column of criteria was found."
            raise refusal(rule, "Call it 'criterion', or leave the option out.", table.source)
        return table.frame
    cells = table.frame[column].astype(str).str.strip()
    names = sorted(set(cells))
    if wanted is not None:
        if wanted not in names:
            rule = f"there is no criterion {wanted!r}."
            raise refusal(rule, f"There are: {listing(names)}.", table.source, column=column)
        return table.frame[cells == wanted]
    if len(names) > 1 and by != column:
        rule = f"there are {len(names)} criteria: {listing(names)}."
        remedy = (
            f"Keep one: --criterion {shell_word(names[0])}; or compare by each: --by {shell_word(column)}"
        )
        raise refusal(rule, remedy, table.source, column=column)
    return table.frame


def _ratings(table: SourceTable, column: str) -> tuple[Floats, list[Problem]]:
    """The ratings, NaN where there is none, and the cells that are no numbers."""
    wanted = NumberColumn((column,), may_be_blank=True)
    try:
        return read_numbers_of(table, [wanted])[wanted.name], []
    except InputError as error:
        return np.zeros(len(table.frame)), list(error.problems)


def _optional(frame: pd.DataFrame, column: str | None) -> Codes | None:
    """Codes of a column, None where there is none or a cell is blank."""
    if column is None:
        return None
    code: Codes = read_ids(read_cells(frame[column])).code
    return None if (code < 0).any() else code


# Tables of finished comparisons: an observed difference and a p-value in each row.


class ObservedDifferences(NamedTuple):
    """Differences and p-values of all comparisons and of each group, and what was noticed in reading."""

    difference: Floats
    p_value: Floats
    groups: dict[str, tuple[Floats, Floats]]
    notices: tuple[str, ...]


def read_observed(path: str, by: str | None = None) -> ObservedDifferences:
    """Differences and p-values of a table, and those of each group in the column `by`, largest first; rows
    without a p-value are left out.

    Raises
    ------
    InputError
        A column that is missing, or every cell that is no difference or p-value, with its row.
    """
    table = read_table(path)
    values = read_numbers_of(
        table,
        [
            NumberColumn(("difference", "diff", "absdiff", "|diff|", "abs difference", "effect", "delta")),
            NumberColumn(("p", "p value", "p-value", "pval"), low=0.0, high=1.0, may_be_blank=True),
        ],
    )
    tested = ~np.isnan(values["p"])
    difference, p = values["difference"][tested], values["p"][tested]
    groups = {}
    if by is not None:
        if by not in table.frame.columns:
            raise InputError(f"{table.source}: there is no column {by!r}, which --by names.")
        names = table.frame[by].astype(str).to_numpy()[tested]
        order = sorted(set(names), key=lambda name: (-int((names == name).sum()), name))
        groups = {name: (difference[names == name], p[names == name]) for name in order}
    remarks = list(table.notices)
    if untested := int((~tested).sum()):
        remarks.append(f"comparisons without a p-value are left out: {untested:,}.")
    notices = tuple(f"{table.source}: {notice}" for notice in remarks)
    return ObservedDifferences(difference, p, groups, notices)
