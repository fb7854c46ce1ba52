"""Pools of past scores: a column of systems and one of their scores."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pandas as pd

from humeval_power.checking.columns import ROLES, find_columns
from humeval_power.checking.rows import Rejected
from humeval_power.errors import InputError
from humeval_power.files.tables import NumberColumn, SourceTable, read_decided, read_numbers_of
from humeval_power.studies.looks.judgement_plan import ScoreLaws, pair_of_samples

_COLUMNS = (ROLES["system"], ROLES["rating"])


def read_pool(
    path: str | Path,
    *,
    system: str | None = None,
    score: str | None = None,
    rejected_rows: Rejected | None = None,
) -> tuple[list[ScoreLaws], tuple[str, ...]]:
    """Every pair of the systems in a file of scores.

    Parameters
    ----------
    path : a table with a column for the system and one for the score.
    system, score : these columns; found by their names if None.
    rejected_rows : what becomes of rows that a column such as AssignmentStatus marks as rejected: "keep" or "drop".

    Returns
    -------
    list of ScorePair, tuple of str
        The pairs, as `looks.pool` takes them, and what was noticed in reading.

    Raises
    ------
    InputError
        A file that is no table, or without the columns, with fewer than two systems or two scores of one, or rows
        that are marked and that nobody decided on.
    """
    table = read_decided(path, rejected_rows)
    noticed = tuple(f"{table.source}: {notice}" for notice in table.notices)
    return score_pairs(table, system=system, score=score), noticed


def score_pairs(
    table: SourceTable, *, system: str | None = None, score: str | None = None
) -> list[ScoreLaws]:
    """Every pair of the systems in a table of scores. Raises InputError: a file without the columns, with
    fewer than two systems, or with a system of fewer than two scores."""
    of = find_columns(
        table.frame.columns, _COLUMNS, named={"system": system, "rating": score}, source=table.source
    ).of
    column = NumberColumn((of["rating"],), may_be_blank=True)
    scores = pd.Series(read_numbers_of(table, [column])[column.name], index=table.frame.index)
    kept = scores.notna()
    by_system = {
        str(name): part.to_numpy() for name, part in scores[kept].groupby(table.frame[of["system"]][kept])
    }
    if len(by_system) < 2:
        raise InputError(
            f"{table.source} has scores of {len(by_system)} systems; a pool needs at least two."
        )
    return [
        pair_of_samples(by_system[one], by_system[other], name=f"{one} - {other}")
        for one, other in combinations(sorted(by_system), 2)
    ]
