"""All answers of the workers of a table whose ratings were read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from humeval_power.checking.collected import KIND
from humeval_power.checking.worker_answers import joined_answers, worker_answers
from humeval_power.interfaces.formats.rating_tables import read_rating_table
from humeval_power.interfaces.formats.tables import SourceTable
from humeval_power.ratings import Ratings

if TYPE_CHECKING:
    import pandas as pd


def read_answers(path: str | Path, *ratings: Ratings) -> pd.DataFrame:
    """The answers in a file from which the ratings were read; of several criteria, give the ratings of each.

    Raises
    ------
    InputError
        A file that cannot be read, or what `answers_of` raises.
    """
    return answers_of(read_rating_table(path), ratings)


def answers_of(found: SourceTable, ratings: Sequence[Ratings]) -> pd.DataFrame:
    """The answers of a table, as `exclude_workers` takes them: of all systems, with repeats and attention checks.

    ratings : what was read of the table, for each criterion that is analysed.

    Raises
    ------
    InputError
        Seconds that are no times, or checks that are neither passed nor failed.
    """
    parts = []
    for one in ratings:
        assert one.origin is not None  # they were read from this table
        in_column = "criterion" in one.origin.columns
        parts.append(
            worker_answers(
                found.frame,
                one.origin.columns,
                scale=one.scale,
                criterion=one.criterion if len(ratings) > 1 or in_column else None,
                missing=one.origin.missing,
                without_rejected=any(column != KIND for column, _ in one.origin.left_out),
                source=found.source,
            )
        )
    return joined_answers(parts)
