"""Ratings of several criteria from one table: rows of each in a long table, a column for each in a wide one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from humeval_power.checking.cells import read_cells, read_ids, read_numbers
from humeval_power.checking.columns import close_to, find_columns, listing
from humeval_power.checking.roles import ROLES, Role
from humeval_power.checking.scale import infer_scale
from humeval_power.checking.wide import columns_of_criteria
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.rating_tables import read_rating_table
from humeval_power.interfaces.formats.ratings import ratings_of
from humeval_power.interfaces.formats.tables import SourceTable
from humeval_power.ratings import MISSING_CODES, Ratings
from humeval_power.safe_text import shell_word
from humeval_power.scales import RatingScale

Wanted = Sequence[str] | Literal["all"]
_ROLES: tuple[Role, ...] = ("worker", "item", "system", "rating")


def read_criteria(path: str | Path, criteria: Wanted = "all", **columns: Any) -> dict[str, Ratings]:
    """Read and check the ratings of several criteria of one table, as `analyze_criteria` takes them.

    Parameters
    ----------
    path : of the file; '-' is standard input.
    criteria : their names, in the order in which they are to come; 'all' takes every one. They are those of
        the column of criteria, or else the names of columns that hold the ratings of one criterion each; of
        these 'all' takes the columns of numbers that are nothing else, if one scale holds them all.
    columns : what `read_ratings` takes, except `criterion`.

    Returns
    -------
    dict
        The ratings of each criterion by its name.

    Raises
    ------
    InputError
        As `read_ratings`; a name that the table does not have, or columns of which it cannot be told whether
        they are criteria.
    """
    return criteria_of_table(read_rating_table(path), criteria, **columns)


def criteria_of_table(found: SourceTable, criteria: Wanted = "all", **columns: Any) -> dict[str, Ratings]:
    """The same from a table that has been read."""
    problems: list[Problem] = []
    ratings: dict[str, Ratings] = {}
    places = _places(found, criteria, columns)
    assumed = criteria == "all" and all("rating" in place for place in places.values())
    told = (f"Each of the columns {listing(list(places))} is read as ratings of one criterion.",)
    for name, place in places.items():
        try:
            one = ratings_of(found, **{**columns, **place})
        except InputError as error:
            problems += [problem for problem in error.problems if problem not in problems]
        else:
            notices = (*told, *one.notices) if assumed else one.notices
            ratings[name] = replace(one, criterion=name, notices=notices)
    if problems:
        raise InputError(problems)
    return ratings


def read_each_criterion(path: str | Path, **columns: Any) -> list[Ratings]:
    """The ratings of each criterion in turn where a table has a column of several; else all of its ratings. Any
    number of systems will do.

    Parameters
    ----------
    path : of the file; '-' is standard input.
    columns : what `read_ratings` takes; a `criterion` is the only one that is read.

    Raises
    ------
    InputError
        As `read_ratings`.
    """
    return each_criterion(read_rating_table(path), **columns)


def each_criterion(found: SourceTable, **columns: Any) -> list[Ratings]:
    """The same from a table that has been read."""
    chosen = columns.get("criterion")
    names = () if chosen is not None else criteria_names(found, columns)
    wanted = names if len(names) > 1 else (chosen,)
    return [ratings_of(found, **{"require_pair": False, **columns, "criterion": name}) for name in wanted]


def criteria_names(found: SourceTable, columns: Mapping[str, Any]) -> tuple[str, ...]:
    """The criteria in the column of criteria of a table; none where it has no such column."""
    frame, column = _criterion_column(found, columns, taken=_taken(columns))
    return () if column is None else read_ids(read_cells(frame[column])).names


def _places(found: SourceTable, criteria: Wanted, columns: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """What tells the ratings of each criterion apart: its name in a long table, its column in a wide one."""
    names = () if criteria == "all" else tuple(dict.fromkeys(criteria))
    taken = (*_taken(columns), *names)
    frame, column = _criterion_column(found, columns, taken=taken)
    if column is None:
        if columns.get("rating") is not None:
            raise InputError([_no_column(found.source)])
        wide = names or _all_columns(found, frame, columns)
        _check_names(wide, [str(name) for name in frame.columns], found.source, what="column or criterion")
        return {name: {"rating": name} for name in wide}
    known = read_ids(read_cells(frame[column])).names
    _check_names(names, known, found.source, what="criterion")
    return {name: {"criterion": name} for name in names or known}


def _criterion_column(
    found: SourceTable, columns: Mapping[str, Any], *, taken: Collection[str]
) -> tuple[pd.DataFrame, str | None]:
    """The table with its names stripped, and its column of criteria; columns that are missing for the other
    roles are told of when the ratings are read."""
    frame = found.frame.set_axis([str(name).strip() for name in found.frame.columns], axis=1)
    wanted = [replace(ROLES[role], required=False) for role in (*_ROLES, "criterion")]
    named = {str(role): name for role, name in _named(columns).items()}
    known = find_columns(list(frame.columns), wanted, named=named, source=found.source, taken=taken)
    return frame, known.of.get("criterion")


def _all_columns(found: SourceTable, frame: pd.DataFrame, columns: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns of a wide table, if it is plain that they are its criteria."""
    missing = columns.get("missing", MISSING_CODES)
    wide = columns_of_criteria(
        frame, named=_named(columns), source=found.source, missing=missing, taken=_taken(columns)
    )
    if len(wide) < 2:
        raise InputError([_no_column(found.source)])
    scales = {name: _scale_words(frame[name], columns.get("scale"), missing) for name in wide}
    if len(set(scales.values())) > 1:
        told = listing([f"{name} ({words})" for name, words in scales.items()])
        raise InputError(
            [
                Problem(
                    f"which columns are criteria cannot be told, for their numbers do not share a scale: {told}.",
                    f"Name those that are: --criteria {shell_word(','.join(wide))}",
                    place=found.source,
                )
            ]
        )
    return wide


def _no_column(source: str) -> Problem:
    remedy = (
        "Name it with --criterion-column COLUMN, or name a column of ratings for each criterion, without --rating: "
        "--criteria A,B,..."
    )
    return Problem("there is no column of criteria.", remedy, place=source)


def _scale_words(column: pd.Series, scale: RatingScale | str | None, missing: Collection[str]) -> str:
    """On which scale the numbers of a column lie: that which was declared, if they do, or the common one."""
    values = read_numbers(read_cells(column), missing=missing)
    given = values.value[~values.missing]
    if scale is not None:
        declared = RatingScale.parse(scale) if isinstance(scale, str) else scale
        if declared.low <= given.min() and given.max() <= declared.high:
            return f"{declared.low:g} to {declared.high:g}"
        return f"{given.min():g} to {given.max():g}"
    inferred = infer_scale(given, higher_is_better=True)
    return f"{inferred.low:g} to {inferred.high:g}"


def _check_names(names: Sequence[str], known: Sequence[str], source: str, *, what: str) -> None:
    unknown = [
        Problem(f"there is no {what} {name!r}.", close_to(name, known), place=source)
        for name in names
        if name not in known
    ]
    if unknown:
        raise InputError(unknown)


def _named(columns: Mapping[str, Any]) -> dict[Role, str | None]:
    return {**{role: columns.get(role) for role in _ROLES}, "criterion": columns.get("criterion_column")}


def _taken(columns: Mapping[str, Any]) -> tuple[str, ...]:
    """Columns that are neither a role's nor a criterion."""
    more = (columns.get("document"), *columns.get("covariates", ()), columns.get("order_column"))
    return tuple(name for name in more if name is not None)
