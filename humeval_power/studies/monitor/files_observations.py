"""Tables of independent judgements that are still coming in: scores, preferences, right and wrong answers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.cells import Location, cell_problems, read_cells, read_ids, variant_problems
from humeval_power.checking.columns import ROLES, Column, Role, find_columns, listing
from humeval_power.checking.rows import Rejected, decided_rows, read_kinds
from humeval_power.comparisons.accuracy.files_results import COUNTS, counts_of
from humeval_power.comparisons.preference.files import judgements_of
from humeval_power.errors import InputError, Problem, refusal, refuse
from humeval_power.files.tables import NumberColumn, SourceTable, read_numbers_of, read_rating_table
from humeval_power.saying.numbers import counted
from humeval_power.studies.looks.judgement_plan import JudgementPlan
from humeval_power.studies.monitor.state import Observations

Floats = NDArray[np.float64]
Names = dict[str, str | None]

_RIGHT = {
    **dict.fromkeys(("1", "1.0", "right", "correct", "true", "yes"), 1.0),
    **dict.fromkeys(("0", "0.0", "wrong", "incorrect", "false", "no"), 0.0),
}
_ANSWER = replace(
    ROLES["rating"], names=(*ROLES["rating"].names, "correct", "right", "accuracy", "answer"), option=""
)


def read_observations(
    path: str | Path,
    plan: JudgementPlan,
    *,
    named: Names | None = None,
    systems: tuple[str, str] | None = None,
    rejected_rows: Rejected | None = None,
) -> Observations:
    """The judgements in a file, by the plan's kind; `notices` say what was assumed or left out in reading them.

    Scores: one a row, with the columns system and rating (score). Preferences: a column of them (B, A or tie),
    or wins, ties and losses. Accuracy: one item a row with a column of right and wrong for each system; or one
    answer a row with item, system and rating; or the counts b, c and n. Columns of the worker and of the item
    are read where they are.

    Parameters
    ----------
    named : columns that are called otherwise, by worker, item, system and rating.
    systems : A and B as the table calls them, if not as the plan does.
    rejected_rows : what to do with rows of rejected or unfinished work.

    Raises
    ------
    InputError
        A file that cannot be read, columns that are missing, cells that are not understood; all problems at once.
    """
    result = read_rating_table(path)
    frame, remarks = decided_rows(result.frame, rejected_rows, source=result.source)
    table, apart = _of_the_study(result._replace(frame=frame))
    names: Names = named or {}
    pair = systems or plan.systems
    if plan.kind == "preference":
        seen, said = _preferences(table, pair, names)
    elif plan.kind == "scores":
        seen, said = _scores(table, pair, names)
    else:
        seen, said = _answers(table, pair, names)
    notices = (*result.notices, *remarks, *apart, *said)
    return replace(seen, source=result.source, notices=notices)


def _of_the_study(table: SourceTable) -> tuple[SourceTable, tuple[str, ...]]:
    """The table without repeats and attention checks, where its rows say which they are."""
    kinds = read_kinds(table.frame)
    if kinds is None or not kinds.apart.any():
        return table, ()
    said = f"{counted(int(kinds.apart.sum()), 'row')} left out: {kinds.words(kinds.apart)}."
    return table._replace(frame=table.frame[~kinds.apart]), (said,)


def _preferences(
    table: SourceTable, systems: tuple[str, str], named: Names
) -> tuple[Observations, tuple[str, ...]]:
    comparisons = judgements_of(table, systems=systems)
    if len(comparisons) != 1:
        raise _several(len(comparisons), table)
    judged = comparisons[0]
    if judged.preference is None:
        return Observations(_counted(judged.wins, judged.losses, judged.ties)), ()
    if len(judged.preference) < len(table.frame):
        others = len(table.frame) - len(judged.preference)
        rule = f"{counted(others, 'row')} of other systems than {' and '.join(systems)}."
        raise refusal(rule, "Leave them out.", table.source)
    return _of(judged.preference, _people(table, named)), judged.notices


def _several(n: int, table: SourceTable) -> InputError:
    return refusal(f"has {n} comparisons; a look is taken at one.", "Keep one row of counts.", table.source)


def _counted(for_b: int, for_a: int, neither: int) -> Floats:
    return np.repeat([1.0, -1.0, 0.0], [for_b, for_a, neither])


def _scores(
    table: SourceTable, systems: tuple[str, str], named: Names
) -> tuple[Observations, tuple[str, ...]]:
    of = find_columns(
        table.frame.columns, [ROLES["system"], ROLES["rating"]], named=named, source=table.source
    ).of
    _refuse_criteria(table, taken=of.values())
    table, said = _rows_of(table, of["system"], systems)
    column = NumberColumn((of["rating"],), may_be_blank=True)
    value = read_numbers_of(table, [column])[column.name]
    kept = np.isfinite(value)
    if not kept.all():
        said = (*said, f"{counted(int((~kept).sum()), 'row')} without a score left out.")
        table, value = table._replace(frame=table.frame[kept]), value[kept]
    is_b = table.frame[of["system"]].astype(str).str.strip().to_numpy() == systems[1]
    return _of(value, _people(table, named), np.asarray(is_b)), said


def _refuse_criteria(table: SourceTable, *, taken: Collection[str]) -> None:
    """Refuse scores of several criteria: they are several of each output. Raises InputError: a column of
    criteria with more than one."""
    of = find_columns(table.frame.columns, [ROLES["criterion"]], source=table.source, taken=taken).of
    if "criterion" not in of:
        return
    names = sorted(set(table.frame[of["criterion"]].astype(str).str.strip()))
    if len(names) > 1:
        rule = f"has scores of several criteria ({of['criterion']}: {listing(names)}), and a look is taken at one."
        raise refusal(rule, "Keep the rows of the one that was planned.", table.source)


def _rows_of(
    table: SourceTable, system: str, systems: tuple[str, str]
) -> tuple[SourceTable, tuple[str, ...]]:
    """The rows of the two systems. Raises InputError: a system of which there is no row."""
    names = table.frame[system].astype(str).str.strip()
    missing = [name for name in systems if not (names == name).any()]
    if missing:
        rule = f"has no row of {' and '.join(map(repr, missing))}; its systems are {listing(sorted(set(names)))}."
        raise refusal(rule, "Say how the table calls A and B: --systems A,B.", table.source)
    kept = names.isin(systems)
    if kept.all():
        return table, ()
    said = f"{counted(int((~kept).sum()), 'row')} of other systems left out."
    return table._replace(frame=table.frame[kept]), (said,)


def _answers(
    table: SourceTable, systems: tuple[str, str], named: Names
) -> tuple[Observations, tuple[str, ...]]:
    columns = [str(name) for name in table.frame.columns]
    if all(name in columns for name in systems):
        right, problems = zip(*(_right(table, name) for name in systems), strict=True)
        refuse([problem for each in problems for problem in each])
        return _paired(right[0], right[1], _people(table, named))
    if any(ROLES["system"].fits(name) for name in columns) or named.get("system"):
        return _long(table, systems, named)
    if not any(COUNTS[0].fits(name) for name in columns):
        rule = f"there are no answers of {systems[0]} and {systems[1]}: {listing(columns)}."
        remedy = (
            "Give one item a row with a column of right and wrong for each system, by its name; one answer a row "
            "with item, system and rating; or counts b, c and n."
        )
        raise refusal(rule, remedy, table.source)
    counts = counts_of(table)
    if len(counts) != 1:
        raise _several(len(counts), table)
    _, pair = counts[0]
    return Observations(_counted(pair.only_b, pair.only_a, pair.n_items - pair.only_b - pair.only_a)), ()


def _paired(a: Floats, b: Floats, people: _People) -> tuple[Observations, tuple[str, ...]]:
    kept = np.isfinite(a) & np.isfinite(b)
    worker, item = (
        None if names is None else [name for name, keep in zip(names, kept, strict=True) if keep]
        for names in people
    )
    n = int((~kept).sum())
    said = (f"{counted(n, 'item')} without an answer of both systems left out.",) if n else ()
    return _of((b - a)[kept], _People(worker, item)), said


def _long(
    table: SourceTable, systems: tuple[str, str], named: Names
) -> tuple[Observations, tuple[str, ...]]:
    of = find_columns(
        table.frame.columns, [ROLES["item"], ROLES["system"], _ANSWER], named=named, source=table.source
    ).of
    table, said = _rows_of(table, of["system"], systems)
    right, problems = _right(table, of["rating"])
    refuse(problems)
    answers: dict[str, list[float]] = {}
    doubled = []
    is_b = table.frame[of["system"]].astype(str).str.strip().to_numpy() == systems[1]
    items = _names(table, of["item"], "item")
    for row, item, b, value in zip(table.frame.index, items, is_b, right, strict=True):
        pair = answers.setdefault(item, [np.nan, np.nan])
        if np.isfinite(pair[int(b)]):
            rule = f"item {item!r} has a second answer of system {systems[int(b)]!r}."
            doubled.append(Problem(rule, "Keep one.", place=table.source, row=int(row)))
        pair[int(b)] = value
    refuse(doubled)
    values = np.array(list(answers.values())).reshape(-1, 2)
    seen, left_out = _paired(values[:, 0], values[:, 1], _People(None, list(answers)))
    return seen, (*said, *left_out)


def _right(table: SourceTable, column: str) -> tuple[Floats, list[Problem]]:
    """1 for right, 0 for wrong and NaN for a blank cell, with the cells that are neither."""
    cells = read_cells(table.frame[column])
    words = [text.strip().casefold() for text in cells.texts]
    values = np.array([_RIGHT.get(word, np.nan) for word in words])[cells.code]
    blank = np.array([not word for word in words])[cells.code]
    rule, remedy = "is neither right nor wrong.", "Write 1 or 0, or right or wrong."
    at = _at(table, column)
    return values, cell_problems(np.isnan(values) & ~blank, cells, at=at, rule=rule, remedy=remedy)


class _People(NamedTuple):
    """Names of workers and of items, one for each row; None where there is no such column."""

    worker: Sequence[str] | None
    item: Sequence[str] | None


def _of(value: Floats, people: _People, is_b: NDArray[np.bool_] | None = None) -> Observations:
    return Observations(value, is_b, people.worker, people.item)


def _people(table: SourceTable, named: Names) -> _People:
    roles: tuple[Role, Role] = ("worker", "item")
    wanted: list[Column] = [replace(ROLES[role], required=False) for role in roles]
    of = find_columns(table.frame.columns, wanted, named=named, source=table.source).of
    worker, item = (_names(table, of[role], role) if role in of else None for role in roles)
    return _People(worker, item)


def _names(table: SourceTable, column: str, role: Role) -> list[str]:
    cells = read_cells(table.frame[column])
    ids, at = read_ids(cells), _at(table, column)
    blank = ids.code < 0
    remedy = f"Fill in the {role}, or delete the row."
    problems = list(cell_problems(blank, cells, at=at, rule=f"the {role} is blank.", remedy=remedy))
    if role != "rating":
        problems += variant_problems(ids, ~blank, role=role, at=at)
    refuse(problems)
    return [ids.names[code] for code in ids.code]


def _at(table: SourceTable, column: str) -> Location:
    return Location(table.source, column, table.frame.index.to_numpy(dtype=np.int64))
