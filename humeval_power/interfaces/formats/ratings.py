"""Ratings from a file of any format that is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from humeval_power.checking.cells import as_texts
from humeval_power.checking.exports.reshape import long_table
from humeval_power.checking.rows import ROW_INDEX
from humeval_power.checking.wide import columns_side_by_side
from humeval_power.interfaces.formats.exports.sheets import mapping_of, side_by_side_words
from humeval_power.interfaces.formats.rating_tables import read_rating_table
from humeval_power.interfaces.formats.tables import SourceTable
from humeval_power.ratings import Ratings, ratings_from_table

if TYPE_CHECKING:
    import pandas as pd


def read_ratings(path: str | Path | pd.DataFrame, **columns: Any) -> Ratings:
    """Read and check a table of ratings, one a row: CSV, TSV, JSON lines, Excel or Parquet, plain or gzipped.

    Parameters
    ----------
    path : of the file; '-' is standard input; or a table in memory. A table with a column for each worker or for
        each system is known by its columns, and so is an export of a platform in a file.
    columns : what `ratings_from_table` takes: the `scale`, the names of columns, the pair of `systems`, the
        `criterion`, `lower_is_better`, `rejected_rows`, and the columns `document`, `covariates` and
        `order_column`.

    Returns
    -------
    Ratings
        Integer codes of workers, items and systems, the ratings on [0, 1], and what was noticed in reading.

    Raises
    ------
    InputError
        A file that cannot be read, or every problem of its table at once, each with row, value, rule and
        remedy.
    """
    if not isinstance(path, str | Path):
        beside = columns_side_by_side(path)
        if beside is None:
            return ratings_from_table(path, **columns)
        frame = as_texts(path.set_axis(range(2, len(path) + 2)))  # rows as a spreadsheet counts them
        frame.index.name = ROW_INDEX
        mapping = mapping_of(frame)
        assert mapping is not None  # it names these columns
        long = long_table(frame, mapping, source="table").frame
        return ratings_from_table(long, notices=(f"{side_by_side_words(*beside)}.",), **columns)
    return ratings_of(read_rating_table(path), **columns)


def ratings_of(found: SourceTable, **columns: Any) -> Ratings:
    """The same from a table that has been read."""
    return ratings_from_table(
        found.frame,
        source=found.source,
        notices=found.notices,
        layout=found.layout,
        exports=found.exports,
        **columns,
    )
