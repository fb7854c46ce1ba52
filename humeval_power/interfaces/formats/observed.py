"""Tables of finished comparisons: an observed difference and a p-value in each row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from humeval_power.errors import InputError
from humeval_power.interfaces.formats.columns import Floats, NumberColumn, read_numbers_of
from humeval_power.interfaces.formats.tables import read_table


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
    told = list(table.notices)
    if untested := int((~tested).sum()):
        told.append(f"comparisons without a p-value are left out: {untested:,}.")
    notices = tuple(f"{table.source}: {notice}" for notice in told)
    return ObservedDifferences(difference, p, groups, notices)
