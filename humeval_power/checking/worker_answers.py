"""All answers of the workers of a table, repeats and checks too, as statistics of their work take them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd

from humeval_power.checking.cells import Location, Mask, cell_problems, read_cells, read_ids, read_numbers
from humeval_power.checking.collected import KIND, KINDS, read_kinds
from humeval_power.checking.rows import ROW_INDEX
from humeval_power.checking.submissions import marked_rows, refused_rows
from humeval_power.errors import InputError, Problem
from humeval_power.scales import RatingScale

_KNOWN = {"seconds": "a number of seconds of at least 0", "passed": "1 or 0"}


def worker_answers(
    table: pd.DataFrame,
    columns: Mapping[str, str],
    *,
    scale: RatingScale,
    criterion: str | None = None,
    missing: Collection[str] = (),
    without_rejected: bool = False,
    source: str = "table",
) -> pd.DataFrame:
    """One row for each answer with a worker: worker, item, system, rating, and what is known of kind, code, seconds
    and passed (None or NaN where a cell is blank). Ratings are on [0, 1].

    Parameters
    ----------
    columns : those of worker, item, system, rating and, in a table with one, criterion.
    criterion : the one whose ratings count; attention checks count for every criterion. With it the answers have
        a column of criteria.
    missing : the cells of the rating that mean that there is none.
    without_rejected : leave out rejected or unfinished work.

    Raises
    ------
    InputError
        Seconds that are no times, checks that are neither passed nor failed.
    """
    table = table.set_axis([str(name).strip() for name in table.columns], axis=1)
    kinds = read_kinds(table, but=columns.values())
    texts = {role: _ids(table[columns[role]]) for role in ("worker", "item", "system")}
    given = read_numbers(read_cells(table[columns["rating"]]), missing=missing)
    found: dict[str, object] = dict(texts)
    found["rating"] = np.where(given.missing, np.nan, scale.to_unit(given.value))
    is_check = np.zeros(len(table), dtype=np.bool_)
    if kinds is not None:
        text = np.array([one.strip() for one in kinds.cells.texts], dtype=object)[kinds.cells.code]
        found[KIND] = np.where(text == "", KINDS[0], text)
        is_check = text == "check"
    problems: list[Problem] = []
    for name in _KNOWN:
        if name in table.columns and name not in columns.values():
            found[name], wrong = _numbers(table, name, is_check, source)
            problems += wrong
    if problems:
        raise InputError(problems)
    if "code" in table.columns and "code" not in columns.values():
        found["code"] = _ids(table["code"])
    kept = texts["worker"] != ""
    if without_rejected:
        kept &= ~marked_rows(refused_rows(table, but=columns.values()), len(table))
    if "criterion" in columns and criterion is not None:
        kept &= is_check | (_ids(table[columns["criterion"]]) == criterion)
    answers: pd.DataFrame = pd.DataFrame(found)
    if criterion is not None:
        answers["criterion"] = np.where(is_check, "", criterion)
    left: pd.DataFrame = answers.loc[kept].reset_index(drop=True)
    return left


def joined_answers(by_criterion: Collection[pd.DataFrame]) -> pd.DataFrame:
    """Answers on several criteria as one table, with each attention check once."""
    first, *others = by_criterion
    return pd.concat([first, *(one[~_checks(one)] for one in others)], ignore_index=True)


def _checks(answers: pd.DataFrame) -> pd.Series:
    if KIND not in answers.columns:
        return pd.Series(False, index=answers.index)
    return answers[KIND] == "check"


def _ids(column: pd.Series) -> np.ndarray:
    ids = read_ids(read_cells(column))
    return np.array([*ids.names, ""], dtype=object)[ids.code]


def _numbers(
    table: pd.DataFrame, name: str, is_check: Mask, source: str
) -> tuple[np.ndarray, list[Problem]]:
    """A column of numbers, NaN where blank, and what is wrong with it."""
    cells = read_cells(table[name])
    read = read_numbers(cells, missing=("",))
    usable = np.isin(read.value, (0, 1)) if name == "passed" else read.value >= 0
    concerned = is_check if name == "passed" else np.ones(len(table), dtype=np.bool_)
    rows = np.arange(len(table), dtype=np.int64) + 2
    if table.index.name == ROW_INDEX:
        rows = table.index.to_numpy(dtype=np.int64)
    wrong = cell_problems(
        concerned & ~read.missing & ~usable,
        cells,
        at=Location(source, name, rows),
        rule=f"must be {_KNOWN[name]}.",
        remedy="Mend the cell, or leave it blank where it is not known.",
    )
    return np.where(read.missing, np.nan, read.value), wrong
