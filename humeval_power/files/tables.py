"""Tables of ratings in the files that people have, read as text so that ids such as 007 survive."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from humeval_power.checking.cells import (
    MISSING_CODES,
    Cells,
    Ids,
    Location,
    as_texts,
    cell_problems,
    read_cells,
    read_ids,
    read_numbers,
    variant_problems,
)
from humeval_power.checking.columns import (
    ROLES,
    Column,
    Role,
    absent_names,
    find_columns,
    listing,
    named_column,
    shortened,
)
from humeval_power.checking.exports.imported import long_table
from humeval_power.checking.origin import Layout, infer_scale
from humeval_power.checking.rows import KIND, ROW_INDEX, ExportFlow, Rejected, decided_rows
from humeval_power.checking.suspects import joined_answers, worker_answers
from humeval_power.checking.wide import columns_of_criteria, columns_side_by_side
from humeval_power.clusters import Clusters
from humeval_power.errors import InputError, Problem, first_few, refusal, refuse
from humeval_power.files.exports.forms import mapping_of, side_by_side_words
from humeval_power.files.exports.platforms import ratings_in
from humeval_power.files.exports.raw import RawExport
from humeval_power.files.file_bytes import (
    EXCEL,
    PARQUET,
    STANDARD_INPUT,
    decoded,
    encoding_notices,
    encoding_of,
    read_bytes,
    unzipped,
)
from humeval_power.files.logs.reading import are_logs, read_logs
from humeval_power.files.text_tables import (
    read_delimited,
    read_excel,
    read_json_array,
    read_json_lines,
    read_parquet,
    separator_of,
)
from humeval_power.magnitudes import MOST_COUNTED
from humeval_power.ratings import Ratings, ratings_from_table
from humeval_power.safe_text import shell_word
from humeval_power.saying.numbers import counted
from humeval_power.scales import RatingScale

_TASK, _BLANK = "task", ("", *MISSING_CODES)
_APART = "Separate the columns by commas, semicolons or tabs."


class SourceTable(NamedTuple):
    """A table as it was found: cells as text where the file has text, rows numbered as in the file.

    `sha256` is the digest of the bytes of the file; `notices` say what was assumed in reading it; `layout` how
    the table lies in the file, None where it is put together of several; `exports` how it came out of a
    platform's export, where it is one; `scores` are the columns of metrics where the file says so; `files` are
    those of tables that were put below each other, each with how many rows it has.
    """

    frame: pd.DataFrame
    source: str
    sha256: str
    notices: tuple[str, ...]
    layout: Layout | None = None
    exports: tuple[ExportFlow, ...] = ()
    scores: tuple[str, ...] = ()
    files: tuple[tuple[str, int], ...] = ()

    def problem(self, rule: str, remedy: str, row: object, column: str, value: object) -> Problem:
        """What is wrong with the value of a cell; `row` is that of the frame's index."""
        return Problem(rule, remedy, self.source, int(str(row)), column, value, has_value=True)

    def at_path(self, path: str | Path) -> SourceTable:
        """The same, which knows where it was read from."""
        return self if self.layout is None else self._replace(layout=replace(self.layout, path=str(path)))

    def at(self, column: str) -> Location:
        """Where the cells of a column stand."""
        return Location(self.source, column, self.frame.index.to_numpy(dtype=np.int64), self.files)

    def ids(self, column: str, role: str, problems: list[Problem], *, may_look_alike: bool = False) -> Ids:
        """The ids of a column. Blank cells join the problems, and so do ids that differ only by case or blanks,
        unless they may."""
        cells, at = read_cells(self.frame[column]), self.at(column)
        ids = read_ids(cells)
        rule, remedy = f"the {role} is blank.", f"Fill in the {role}, or delete the row."
        problems += cell_problems(ids.code < 0, cells, at=at, rule=rule, remedy=remedy)
        if not may_look_alike:
            problems += variant_problems(ids, ids.code >= 0, role=role, at=at)
        return ids


def read_table(path: str | Path, *, arrays: bool = False) -> SourceTable:
    """Read a table from a file, or from standard input where `path` is '-'; or logs of a harness, as
    `read_score_source` does.

    The format is told from the content (Parquet, Excel, gzip) and for text from its first character. A JSON
    array of objects is a table where `arrays` says so; what is no plain value in it is left out.
    Raises InputError: a file that is missing, empty, undecodable or not a table, with the row where there is one;
    or one that is larger than the limits of `file_bytes`.
    """
    logged = read_score_source(path)
    if logged is not None:
        return logged
    return table_of(read_bytes(path), source=source_name(path), arrays=arrays).at_path(path)


def read_score_source(*paths: str | Path, names: Mapping[str, str] | None = None) -> SourceTable | None:
    """The scores in logs of a harness, or in folders of such, as one table; None where a path is no log.

    Its columns are system and item, run and task where there are several, the metrics (`scores`), and what may be
    clusters of items. `names` of systems go before what the logs say, by the paths.
    Raises InputError: what `read_logs` refuses.
    """
    logs = read_logs(*paths, systems=names or {})
    if logs is None:
        return None
    source = ", ".join(source_name(path) for path in paths)
    return SourceTable(logs.frame, source, logs.sha256, logs.said, scores=logs.scores)


def with_metric(table: SourceTable, metric: str, *, item: str | None = None) -> SourceTable:
    """The table without the tasks in which no row has a score of this metric; its notices name them.

    item : the column of the items; one called task may be that.
    """
    frame = table.frame
    if _TASK not in frame or item == _TASK or metric not in frame:
        return table
    is_blank = frame[metric].isna() | frame[metric].astype(str).str.strip().isin(_BLANK)
    of_task = frame[_TASK].astype(str)
    scored = set(of_task[~is_blank])
    without = [name for name in dict.fromkeys(of_task) if name not in scored]
    if not without or not scored:
        return table
    said = f"Tasks without {metric} are left out: {listing(without, limit=6)}."
    return table._replace(frame=frame[of_task.isin(scored)], notices=(*table.notices, said))


def read_decided(path: str | Path, rejected_rows: Rejected | None = None) -> SourceTable:
    """The same without rows of rejected or unfinished work, or with them where the user says so ('keep'); its
    notices tell of them.
    Raises InputError: a file that is no table, or rows that a column such as AssignmentStatus marks and nobody
    decided on."""
    table = read_table(path)
    frame, notices = decided_rows(table.frame, rejected_rows, source=table.source)
    return table._replace(frame=frame, notices=(*table.notices, *notices))


def source_name(path: str | Path) -> str:
    """What messages call a file of ratings."""
    return "standard input" if str(path) == STANDARD_INPUT else Path(path).name


def table_of(content: bytes, *, source: str, arrays: bool = False) -> SourceTable:
    """The same from the bytes of a file that has been read. Raises InputError: what `read_table` raises."""
    digest = hashlib.sha256(content).hexdigest()
    frame, notices, layout, source = _parse(unzipped(content, source=source), source, arrays=arrays)
    if frame.empty:
        raise refusal("the table has a header but no rows.", "Is this the right file?", source)
    if len(frame.columns) == 1:
        rule = f"there is only one column, {frame.columns[0]!r}."
        is_workbook = layout.kind == "excel"
        apart = "Put a table with several columns first." if is_workbook else _APART
        raise refusal(rule, apart, source)
    frame.index.name = ROW_INDEX
    return SourceTable(frame, source, digest, tuple(notices), layout)


def _parse(content: bytes, source: str, *, arrays: bool) -> tuple[pd.DataFrame, list[str], Layout, str]:
    """The table, what was assumed in reading it, how it lies there, and what messages call it."""
    if not content.strip():
        raise refusal("the file is empty.", "Is this the right file?", source)
    if content.startswith(PARQUET):
        return read_parquet(content, source=source), [], Layout("parquet"), source
    if content.startswith(EXCEL):
        frame, notices, sheet = read_excel(content, source=source)
        return frame, notices, Layout("excel"), sheet
    text, notices = decoded(content, place=source), list(encoding_notices(content))
    start = text.lstrip(" \r\n\t")[:1]
    if not start:
        raise refusal("the file is empty.", "Is this the right file?", source)
    if start == "{":
        return read_json_lines(text, source=source), notices, Layout("json lines"), source
    if start == "[" and arrays:
        frame, left_out = read_json_array(text, source=source)
        return frame, [*notices, *left_out], Layout("json lines"), source
    if start == "[":
        name = source if source != "standard input" else "FILE"
        remedy = (
            f"Write one object a line: jq -c '.[]' {name} > ratings.jsonl; or in Python: "
            f"pandas.read_json({name!r}).to_csv('ratings.csv', index=False)."
        )
        raise refusal("a JSON array is not read as a table; JSON Lines is.", remedy, source)
    frame, assumed = read_delimited(text, source=source)
    layout = Layout("delimited", separator_of(text + "\n"), encoding_of(content))
    return frame, [*notices, *assumed], layout, source


# Tables of ratings, or a platform's export of them, wherever a command takes ratings.


def read_rating_table(path: str | Path) -> SourceTable:
    """Read a table as `read_table` does; of an export of a platform one rating a row, where its format says all
    that this takes.
    Raises InputError: what `read_table` raises; a log of models' scores; or an export that does not say enough by
    itself, with the way to a mapping."""
    if are_logs([path]):
        name = shell_word(str(path))
        rule = "is a log of models' scores; this command takes ratings that workers gave."
        remedy = f"Compare its systems: humeval-power compare scores {name}; a table: humeval-power import {name}."
        raise refusal(rule, remedy, source_name(path))
    if Path(path).is_dir():
        return _export(RawExport(path), InputError(f"{str(path)!r} is a directory; name a file."))
    content = read_bytes(path)
    raw = RawExport(path, content)
    try:
        table = table_of(content, source=source_name(path))
    except InputError as error:
        return _export(raw, error)
    raw.take_table(table.frame)
    ready = ratings_in(raw)
    if ready is not None:
        notices = (*table.notices, *ready.notices)
        return table._replace(frame=ready.frame, notices=notices, layout=None, exports=(ready.flow,))
    return table.at_path(path)


def _export(raw: RawExport, otherwise: InputError) -> SourceTable:
    """What is no table, as the export that it may be."""
    ready = ratings_in(raw)
    if ready is None:
        raise otherwise
    return SourceTable(ready.frame, raw.source, raw.sha256, ready.notices, exports=(ready.flow,))


# All answers of the workers of a table whose ratings were read.


def read_answers(path: str | Path, *ratings: Ratings) -> pd.DataFrame:
    """The answers in a file from which the ratings were read; of several criteria, give the ratings of each.
    Raises InputError: a file that cannot be read, or what `answers_of` raises."""
    return answers_of(read_rating_table(path), ratings)


def answers_of(table: SourceTable, ratings: Sequence[Ratings]) -> pd.DataFrame:
    """The answers of a table, as `exclude_workers` takes them: of all systems, with repeats and attention checks.

    ratings : what was read of the table, for each criterion that is analysed.
    Raises InputError: seconds that are no times, or checks that are neither passed nor failed.
    """
    parts = []
    for one in ratings:
        assert one.origin is not None  # they were read from this table
        in_column = "criterion" in one.origin.columns
        parts.append(
            worker_answers(
                table.frame,
                one.origin.columns,
                scale=one.scale,
                criterion=one.criterion if len(ratings) > 1 or in_column else None,
                missing=one.origin.missing,
                without_rejected=any(column != KIND for column, _ in one.origin.left_out),
                source=table.source,
            )
        )
    return joined_answers(parts)


# Ratings from a file of any format that is known.


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


def ratings_of(table: SourceTable, **columns: Any) -> Ratings:
    """The same from a table that has been read."""
    return ratings_from_table(
        table.frame,
        source=table.source,
        notices=table.notices,
        layout=table.layout,
        exports=table.exports,
        **columns,
    )


# Ratings of several criteria from one table: rows of each in a long table, a column for each in a wide
# one.

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


def criteria_of_table(table: SourceTable, criteria: Wanted = "all", **columns: Any) -> dict[str, Ratings]:
    """The same from a table that has been read."""
    problems: list[Problem] = []
    ratings: dict[str, Ratings] = {}
    places = _places(table, criteria, columns)
    assumed = criteria == "all" and all("rating" in place for place in places.values())
    remarks = (f"Each of the columns {listing(list(places))} is read as ratings of one criterion.",)
    for name, place in places.items():
        try:
            one = ratings_of(table, **{**columns, **place})
        except InputError as error:
            problems += [problem for problem in error.problems if problem not in problems]
        else:
            notices = (*remarks, *one.notices) if assumed else one.notices
            ratings[name] = replace(one, criterion=name, notices=notices)
    refuse(problems)
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


def each_criterion(table: SourceTable, **columns: Any) -> list[Ratings]:
    """The same from a table that has been read."""
    chosen = columns.get("criterion")
    names = () if chosen is not None else criteria_names(table, columns)
    wanted = names if len(names) > 1 else (chosen,)
    return [ratings_of(table, **{"require_pair": False, **columns, "criterion": name}) for name in wanted]


def criteria_names(table: SourceTable, columns: Mapping[str, Any]) -> tuple[str, ...]:
    """The criteria in the column of criteria of a table; none where it has no such column."""
    frame, roles = _roles(table, columns, taken=_taken(columns))
    return () if "criterion" not in roles else read_ids(read_cells(frame[roles["criterion"]])).names


def _places(table: SourceTable, criteria: Wanted, columns: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """What tells the ratings of each criterion apart: its name in a long table, its column in a wide one."""
    names = () if criteria == "all" else tuple(dict.fromkeys(criteria))
    taken = (*_taken(columns), *names)
    frame, roles = _roles(table, columns, taken=taken)
    if "criterion" not in roles:
        if columns.get("rating") is not None:
            raise InputError([_no_column(table.source)])
        wide = names or _all_columns(table, frame, roles, columns)
        refuse(absent_names(wide, list(map(str, frame.columns)), "column or criterion", place=table.source))
        return {name: {"rating": name} for name in wide}
    known = read_ids(read_cells(frame[roles["criterion"]])).names
    refuse(absent_names(names, known, "criterion", place=table.source))
    return {name: {"criterion": name} for name in names or known}


def _roles(
    table: SourceTable, columns: Mapping[str, Any], *, taken: Collection[str]
) -> tuple[pd.DataFrame, Mapping[str, str]]:
    """The table with its names stripped, and its columns by role, the one of criteria among them; columns that are
    missing for the other roles are told of when the ratings are read."""
    frame = table.frame.set_axis([str(name).strip() for name in table.frame.columns], axis=1)
    wanted = [replace(ROLES[role], required=False) for role in (*_ROLES, "criterion")]
    named = {str(role): name for role, name in _named(columns).items()}
    known = find_columns(list(frame.columns), wanted, named=named, source=table.source, taken=taken)
    return frame, known.of


def _all_columns(
    table: SourceTable, frame: pd.DataFrame, roles: Mapping[str, str], columns: Mapping[str, Any]
) -> tuple[str, ...]:
    """The columns of a wide table, if it is plain that they are its criteria."""
    missing = columns.get("missing", MISSING_CODES)
    wide = columns_of_criteria(
        frame, named=_named(columns), source=table.source, missing=missing, taken=_taken(columns)
    )
    if len(wide) < 2:
        others = [
            name for name in map(str, frame.columns) if name not in {*roles.values(), *_taken(columns)}
        ]
        alike = [name for name in others if name in wide or _are_nearly_numbers(frame[name], missing)]
        raise InputError([_no_column(table.source, alike)])
    scales = {name: _scale_words(frame[name], columns.get("scale"), missing) for name in wide}
    if len(set(scales.values())) > 1:
        text = listing([f"{name} ({words})" for name, words in scales.items()])
        raise refusal(
            f"which columns are criteria cannot be told, for their numbers do not share a scale: {text}.",
            f"Name those that are: --criteria {shell_word(','.join(wide))}",
            place=table.source,
        )
    return wide


def _are_nearly_numbers(column: pd.Series, missing: Collection[str]) -> bool:
    """Whether nine in ten of the cells with something are numbers."""
    values = read_numbers(read_cells(column), missing=missing)
    n_filled = values.missing.size - values.missing.sum()
    return bool(n_filled and np.isfinite(values.value[~values.missing]).sum() >= 0.9 * n_filled)


def _no_column(source: str, alike: Sequence[str] = ()) -> Problem:
    """With the columns that may be meant, such as those with a cell that is no number."""
    names = shell_word(",".join(alike)) if len(alike) > 1 else "A,B,..."
    remedy = (
        "Name it with --criterion-column COLUMN, or name a column of ratings for each criterion, without --rating: "
        f"--criteria {names}"
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


def _named(columns: Mapping[str, Any]) -> dict[Role, str | None]:
    return {**{role: columns.get(role) for role in _ROLES}, "criterion": columns.get("criterion_column")}


def _taken(columns: Mapping[str, Any]) -> tuple[str, ...]:
    """Columns that are neither a role's nor a criterion."""
    more = (columns.get("document"), *columns.get("covariates", ()), columns.get("order_column"))
    return tuple(name for name in more if name is not None)


# Tables whose columns are numbers: found by name, checked, all problems at once.

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NumberColumn(Column):
    """A column of numbers to look for.

    low, high : limits that values must keep, included.
    whole : whether values are counts.
    may_be_blank : whether cells of it may be empty.
    may_be_percent : whether a number may be followed by a per cent sign.
    blanks : words that say as much as an empty cell, beside the usual ones.
    """

    low: float = -math.inf
    high: float = math.inf
    whole: bool = False
    may_be_blank: bool = False
    may_be_percent: bool = False
    blanks: tuple[str, ...] = ()


def read_numbers_of(table: SourceTable, wanted: Sequence[NumberColumn]) -> dict[str, Floats]:
    """The columns by their first name, each (n_rows,) with NaN for a blank cell; an optional column that
    is absent is left out.
    Raises InputError: every missing or ambiguous column, or every cell that breaks a rule, with its row."""
    columns = find_columns(table.frame.columns, wanted, source=table.source).of
    problems: list[Problem] = []
    values = {
        column.name: _checked(table, columns[column.name], column, problems)
        for column in wanted
        if column.name in columns
    }
    refuse(problems)
    return values


def texts_of(table: SourceTable, column: str | None) -> list[str] | None:
    """The cells of a column as text without blanks around them; None where there is no column."""
    return None if column is None else [str(cell).strip() for cell in table.frame[column]]


def _checked(table: SourceTable, name: str, column: NumberColumn, problems: list[Problem]) -> Floats:
    """The numbers of a column; what is wrong with them joins the problems."""
    cells = read_cells(table.frame[name])
    texts = tuple(text.strip().removesuffix("%") for text in cells.texts)
    numbers = read_numbers(
        Cells(cells.code, texts) if column.may_be_percent else cells,
        missing=(*MISSING_CODES, *column.blanks),
    )
    value, blank = numbers.value, numbers.missing
    at = table.at(name)
    no_number = ~blank & np.isnan(value)
    with np.errstate(invalid="ignore"):
        outside = (value < column.low) | (value > column.high)
        uncountable = ~outside & column.whole & (value > MOST_COUNTED)
        broken = np.isfinite(value) & (value != np.round(value)) & column.whole & ~outside
    example = "a whole number such as 12" if column.whole else "a decimal number such as 0.25"
    limits = f"must lie from {column.low:g} to {column.high:g}."
    if math.isinf(column.high):
        limits = f"must be at least {column.low:g}."
    elif math.isinf(column.low):
        limits = f"must be at most {column.high:g}."
    or_blank = ", or leave the cell blank" if column.may_be_blank else ""
    rules = [
        (no_number, "is not a number.", f"Write {example}{or_blank}."),
        (outside, limits, "Correct the value."),
        (uncountable, f"is too large: at most {MOST_COUNTED:,} can be counted.", "Correct the value."),
        (broken, "must be a whole number.", "Correct the value."),
    ]
    if not column.may_be_blank:
        rules.append(
            (blank, "the cell is blank, or stands for a missing value.", "Fill it in, or delete the row.")
        )
    for bad, rule, remedy in rules:
        problems += cell_problems(bad, cells, at=at, rule=rule, remedy=remedy)
    return np.asarray(value)


# The cluster of each item: from a column of a table that has been read, or from a file with one name a
# line.

OPTION = "--cluster"
SHOWN = 5


def clusters_of(
    table: SourceTable, column: str, items: Sequence[str], *, item_column: str | None
) -> Clusters:
    """The cluster of each of `items`, in their order.

    table : one row or several for each item; rows of other items are passed over.
    column : the column of the clusters.
    items : names of the items as the table has them; without `item_column` one name for each row.
    item_column : the column with them; None where every row is an item.
    Raises InputError: a column that is not there, blank cells, items in two clusters, items without a row, all of
    them; or a single cluster.
    """
    name = named_column(column, table.frame.columns, option=OPTION, source=table.source)
    cells = [str(cell).strip() for cell in table.frame[name].fillna("")]
    keys = list(items) if item_column is None else [str(key).strip() for key in table.frame[item_column]]
    wanted, clusters = set(items), dict[str, str]()
    problems: list[Problem] = []
    for row, key, cell in zip(table.frame.index, keys, cells, strict=True):
        if key not in wanted:
            continue
        if not cell:
            rule, remedy = f"item {shortened(key)!r} has no cluster.", "Fill the cell in."
            problems.append(Problem(rule, remedy, table.source, int(row), name))
        elif clusters.setdefault(key, cell) != cell:
            rule = f"item {shortened(key)!r} is in cluster {shortened(clusters[key])!r} already."
            remedy = "An item belongs to one cluster; give items of their own names of their own."
            problems.append(Problem(rule, remedy, table.source, int(row), name, cell, has_value=True))
    blank = {key for key, cell in zip(keys, cells, strict=True) if not cell}
    absent = [key for key in dict.fromkeys(items) if key not in clusters and key not in blank]
    if absent:
        rule = f"there is no row of {counted(len(absent), 'item')}, such as {shortened(absent[0])!r}."
        problems.append(Problem(rule, "Every item needs its cluster.", table.source, column=name))
    refuse(first_few(problems, most=SHOWN))
    return Clusters.of([clusters[key] for key in items], name=name)


def read_cluster_lines(path: str | Path, n_items: int) -> Clusters:
    """Clusters from a file that names one a line, in the order of the items; named as the file is.
    Raises InputError: another number of lines than there are items, blank lines, or a single cluster."""
    source = source_name(path)
    text = decoded(unzipped(read_bytes(path), source=source), place=source)
    lines = [line.strip() for line in text.replace("\r\n", "\n").removesuffix("\n").split("\n")]
    problems: list[Problem] = []
    if len(lines) != n_items:
        rule = f"has {counted(len(lines), 'line')} for {n_items:,} items."
        remedy = "Give each item's cluster a line, in the order of the items, without a header."
        problems.append(Problem(rule, remedy, source))
    problems += [
        Problem("the line is blank.", "Every item needs its cluster.", source, row)
        for row, line in enumerate(lines, start=1)
        if not line
    ]
    refuse(first_few(problems, most=SHOWN))
    return Clusters.of(lines, name=Path(path).stem)
