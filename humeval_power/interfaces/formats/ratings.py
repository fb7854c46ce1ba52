"""Ratings from a file of any format that is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from humeval_power.interfaces.formats.rating_tables import read_rating_table
from humeval_power.interfaces.formats.tables import SourceTable
from humeval_power.ratings import Ratings, ratings_from_table
from humeval_power.scales import RatingScale


def read_ratings(path: str | Path, *, scale: RatingScale | str | None = None, **columns: Any) -> Ratings:
    """Read and check a table of ratings, one a row: CSV, TSV, JSON lines, Excel or Parquet, plain or gzipped.

    Parameters
    ----------
    path : of the file; '-' is standard input.
    scale : the scale the ratings were given on, as a record or as text such as "1:5"; None takes it from the
        data, and says so.
    columns : what `ratings_from_table` takes: the names of columns, the pair of `systems`, the `criterion`,
        `lower_is_better`, `rejected_rows`, and the columns `document`, `covariates` and `order_column`.

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
    return ratings_of(read_rating_table(path), scale=scale, **columns)


def ratings_of(found: SourceTable, *, scale: RatingScale | str | None = None, **columns: Any) -> Ratings:
    """The same from a table that has been read."""
    return ratings_from_table(
        found.frame,
        scale=RatingScale.parse(scale) if isinstance(scale, str) else scale,
        source=found.source,
        notices=found.notices,
        layout=found.layout,
        exports=found.exports,
        **columns,
    )
