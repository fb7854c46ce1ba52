"""A table of pairs of submissions: on how many items of the validation set exactly one of them is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from humeval_power.checking.columns import Column, find_columns
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.columns import NumberColumn, read_numbers_of, texts_of
from humeval_power.interfaces.formats.tables import read_table
from humeval_power.planning.accuracy.leaderboard import Submission
from humeval_power.planning.accuracy.pairs import ValidationPairs

_FIRST = Column(("first", "system_a", "a", "i"))
_SECOND = Column(("second", "system_b", "b", "j"))
_DIFFERING = NumberColumn(
    ("differing", "disagree", "disagreements", "disagreement", "dev_disagree", "validation_disagree"),
    low=0,
    whole=True,
)
_ROUNDED = 0.001  # an accuracy may be rounded to a tenth of a point, at both systems


@dataclass(frozen=True, slots=True)
class _Wrong:
    """What is wrong in a cell; nothing while there is no rule."""

    column: str
    value: str
    rule: str = ""
    remedy: str = ""


def read_pairs(
    path: str | Path, submissions: Sequence[Submission], *, n_validation: int
) -> ValidationPairs:
    """The pairs of a leaderboard's submissions from a table with the columns first, second and differing.

    Parameters
    ----------
    path : a table; a row for each pair. The submissions are called by their key, or by their name.
    submissions : as `read_leaderboard` reads them.
    n_validation : items in the validation set.

    Raises
    ------
    InputError
        All problems of the table: columns, cells that are no counts, submissions that are not in the leaderboard,
        pairs that contradict each other or the accuracies on the validation set.
    """
    table = read_table(path)
    found = find_columns(table.frame.columns, [_FIRST, _SECOND, _DIFFERING], source=table.source).of
    counts = read_numbers_of(table, [_DIFFERING])["differing"]
    first, second = (texts_of(table, found[name]) or [] for name in ("first", "second"))
    known = {each.called: each for each in submissions}
    problems = list(_twice(submissions, table.source))
    differing: dict[frozenset[str], int] = {}
    for row, a, b, value in zip(table.frame.index, first, second, counts, strict=True):
        count, pair = int(value), frozenset((a, b))
        wrong = _Wrong(found["differing"], f"{count}")
        if a not in known or b not in known:
            name, column = (b, "second") if a in known else (a, "first")
            wrong = _Wrong(found[column], name, "is no submission of the leaderboard.", "Correct the name.")
        elif a == b:
            wrong = _Wrong(found["second"], b, "is paired with itself.", "Delete the row.")
        elif count > n_validation:
            rule = f"more items than the {n_validation:,} of the validation set."
            wrong = replace(wrong, rule=rule, remedy="Correct the count, or --n-validation.")
        elif differing.setdefault(pair, count) != count:
            rule = f"the pair has {differing[pair]:,} in another row."
            wrong = replace(wrong, rule=rule, remedy="Keep one of both.")
        elif _too_few(known[a], known[b], count, n_validation):
            gap = abs(known[a].validation - known[b].validation) * n_validation
            rule = f"fewer items than the accuracies on the validation set are apart, {gap:,.0f}."
            wrong = replace(
                wrong, rule=rule, remedy="Correct the count, the accuracies, or --n-validation."
            )
        if wrong.rule:
            problems.append(
                Problem(
                    wrong.rule,
                    wrong.remedy,
                    table.source,
                    int(row),
                    wrong.column,
                    wrong.value,
                    has_value=True,
                )
            )
    if problems:
        raise InputError(problems)
    return ValidationPairs(n_validation, differing, table.source)


def _too_few(a: Submission, b: Submission, count: int, n_items: int) -> bool:
    """Whether fewer items differ than the accuracies are apart; an accuracy that is not known says nothing."""
    return abs(a.validation - b.validation) * n_items > count + 1 + _ROUNDED * n_items


def _twice(submissions: Sequence[Submission], source: str) -> Iterator[Problem]:
    counted = Counter(each.called for each in submissions)
    for name, times in counted.items():
        if times > 1:
            yield Problem(
                f"{times} submissions of the leaderboard are called {name}, so that its pairs are not clear.",
                "Give the leaderboard a column 'key' that differs between them, and name the pairs by it.",
                place=source,
            )
