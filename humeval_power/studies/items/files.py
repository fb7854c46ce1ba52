"""Files of pools of items: outputs with a metric's scores, and which items were chosen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from humeval_power.checking.outputs import ScoredOutputs, pool_of_table, scored_of_table
from humeval_power.errors import InputError, Problem
from humeval_power.files.file_bytes import read_text
from humeval_power.files.tables import read_table
from humeval_power.item_pool import ItemPool


def read_scored(
    path: str | Path, *, score: str | None = None, systems: Sequence[str] | None = None
) -> ScoredOutputs:
    """Read the outputs of a pool of items, and a metric's scores of them.

    Parameters
    ----------
    path : a table (CSV, TSV, Excel, JSON Lines, Parquet): a row for each output (item, system, and text or score or
        both); or a row for each item, with a column of texts for each system, and scores in columns such as chrf_A.
    score : the metric: the column of its scores, or what its columns begin or end with; None without one.
    systems : those that count, in their order; None takes all.

    Raises
    ------
    InputError
        A file that cannot be read, columns that are missing, cells that are no numbers, items that stand twice.
    """
    table = read_table(path)
    return scored_of_table(table.frame, source=table.source, score=score, systems=systems)


def read_pool(path: str | Path) -> ItemPool:
    """Read a pool of items, with those that were chosen: the file that `choose` gives.

    Raises
    ------
    InputError
        A file that is none, or that breaks the rules of a draw: all problems at once.
    """
    table = read_table(path)
    return pool_of_table(table.frame, source=table.source)


def read_names(path: str | Path) -> tuple[str, ...]:
    """Read the names of items that were picked, one a line.

    Raises
    ------
    InputError
        A file that cannot be read, or that names none.
    """
    names = tuple(line.strip() for line in read_text(path).splitlines() if line.strip())
    if not names:
        raise InputError([Problem("names no item.", "Write the name of an item on each line.", str(path))])
    return names
