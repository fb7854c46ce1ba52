"""The cluster of each item: from a column of a table that has been read, or from a file with one name a line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from humeval_power.checking.columns import named_column, shortened
from humeval_power.clusters import Clusters
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.file_bytes import decoded, read_bytes, unzipped
from humeval_power.interfaces.formats.tables import SourceTable, source_name

OPTION = "--cluster"
SHOWN = 5


def clusters_of(
    table: SourceTable, column: str, items: Sequence[str], *, item_column: str | None
) -> Clusters:
    """The cluster of each of `items`, in their order.

    Parameters
    ----------
    table : one row or several for each item; rows of other items are passed over.
    column : the column of the clusters.
    items : names of the items as the table has them; without `item_column` one name for each row.
    item_column : the column with them; None where every row is an item.

    Raises
    ------
    InputError
        A column that is not there, blank cells, items in two clusters, items without a row, all of them; or
        a single cluster.
    """
    name = named_column(column, table.frame.columns, option=OPTION, source=table.source)
    cells = [str(cell).strip() for cell in table.frame[name].fillna("")]
    keys = list(items) if item_column is None else [str(key).strip() for key in table.frame[item_column]]
    wanted, found = set(items), dict[str, str]()
    problems: list[Problem] = []
    for row, key, cell in zip(table.frame.index, keys, cells, strict=True):
        if key not in wanted:
            continue
        if not cell:
            rule, remedy = f"item {shortened(key)!r} has no cluster.", "Fill the cell in."
            problems.append(Problem(rule, remedy, table.source, int(row), name))
        elif found.setdefault(key, cell) != cell:
            rule = f"item {shortened(key)!r} is in cluster {shortened(found[key])!r} already."
            remedy = "An item belongs to one cluster; give items of their own names of their own."
            problems.append(Problem(rule, remedy, table.source, int(row), name, cell, has_value=True))
    blank = {key for key, cell in zip(keys, cells, strict=True) if not cell}
    absent = [key for key in dict.fromkeys(items) if key not in found and key not in blank]
    if absent:
        rule = f"{len(absent):,} items have no row, such as {shortened(absent[0])!r}."
        problems.append(Problem(rule, "Every item needs its cluster.", table.source, column=name))
    _refuse(problems, table.source)
    return Clusters.of([found[key] for key in items], name=name)


def read_cluster_lines(path: str | Path, n_items: int) -> Clusters:
    """Clusters from a file that names one a line, in the order of the items; named as the file is.

    Raises
    ------
    InputError
        Another number of lines than there are items, blank lines, or a single cluster.
    """
    source = source_name(path)
    text = decoded(unzipped(read_bytes(path), source=source), place=source)
    lines = [line.strip() for line in text.replace("\r\n", "\n").removesuffix("\n").split("\n")]
    problems: list[Problem] = []
    if len(lines) != n_items:
        rule = f"there are {len(lines):,} lines, but {n_items:,} items."
        remedy = "Give each item's cluster a line, in the order of the items, without a header."
        problems.append(Problem(rule, remedy, source))
    problems += [
        Problem("the line is blank.", "Every item needs its cluster.", source, row)
        for row, line in enumerate(lines, start=1)
        if not line
    ]
    _refuse(problems, source)
    return Clusters.of(lines, name=Path(path).stem)


def _refuse(problems: list[Problem], source: str) -> None:
    if len(problems) > SHOWN:
        rest = f"and {len(problems) - SHOWN:,} more like this."
        raise InputError([*problems[:SHOWN], Problem(rest, "", source)])
    if problems:
        raise InputError(problems)
