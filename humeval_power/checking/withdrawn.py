"""A table without the participants who took their consent back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import pandas as pd

from humeval_power.checking.columns import find_columns, listing
from humeval_power.checking.roles import ROLES
from humeval_power.errors import InputError, Problem


@dataclass(frozen=True, slots=True)
class TableSize:
    """How many rows a table has, and workers."""

    n_rows: int
    n_workers: int


def without_workers(
    table: pd.DataFrame, withdrawn: Collection[str], *, worker: str | None = None, source: str = "table"
) -> tuple[pd.DataFrame, TableSize, TableSize]:
    """The rows of all others, how much goes, and how much is left.

    worker : the column of the workers; None finds it by name.

    Raises
    ------
    InputError
        No such column, names that the table does not have, or nobody left.
    """
    columns = [str(name).strip() for name in table.columns]
    named = {"worker": worker}
    column = find_columns(columns, [ROLES["worker"]], named=named, source=source).of["worker"]
    names = table.iloc[:, columns.index(column)].astype(str).str.strip()
    absent = [name for name in dict.fromkeys(withdrawn) if not (names == name).any()]
    if absent:
        rule = f"has no rows of {len(absent):,} who withdrew: {listing(absent, limit=3)}."
        remedy = "Name them as the table does; its names may be pseudonyms."
        raise InputError([Problem(rule, remedy, place=source, column=column)])
    gone = names.isin(list(withdrawn)).to_numpy()
    if gone.all():
        raise InputError([Problem("all workers withdrew: no row is left.", "", place=source)])
    sizes = (TableSize(int(rows.sum()), int(names[rows].nunique())) for rows in (gone, ~gone))
    went, left = sizes
    return table[~gone], went, left
