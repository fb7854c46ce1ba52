"""Tables of scores from files: one, or one of each metric or data set, in units of several items where asked."""

from __future__ import annotations

import hashlib
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from humeval_power.checking.cells import MISSING_CODES
from humeval_power.checking.columns import (
    ITEM_NUMBERS,
    ROLES,
    absent_names,
    close_to,
    find_columns,
    listing,
    named_column,
    shortened,
)
from humeval_power.checking.rows import ROW_INDEX
from humeval_power.checking.suspects import ClusterSuspect, cluster_suspects
from humeval_power.clusters import Clusters
from humeval_power.comparisons.scores.score_table import ScoreTable
from humeval_power.errors import InputError, Problem, first_few, refusal, refuse
from humeval_power.files.file_bytes import decoded, encoding_notices, is_text, read_bytes, unzipped
from humeval_power.files.tables import (
    OPTION,
    SourceTable,
    clusters_of,
    read_cluster_lines,
    read_score_source,
    source_name,
    table_of,
    with_metric,
)
from humeval_power.magnitudes import LARGEST, TOO_LARGE, is_computable
from humeval_power.saying.numbers import counted

# Score files without a header: one or two columns of numbers, a line for each item.

_SEPARATORS = re.compile(r"\s*[,;]\s*|\s+")
LISTED = 5  # problems shown of each file


def read_headerless(content: bytes, *, source: str) -> SourceTable | None:
    """The columns as text, named A and B where there are two and by their number otherwise; None for a file
    whose first line is not of numbers alone.
    """
    if not is_text(content):
        return None
    lines = decoded(content, place=source).split("\n")
    start = next((line for line in lines if line.strip()), "")
    if not start or any(_number(cell) is None for cell in _cells(start)):
        return None
    rows = {number: _cells(line) for number, line in enumerate(lines, start=1) if line.strip()}
    width = len(next(iter(rows.values())))
    problems = [
        Problem(
            f"the line has {len(cells)} numbers, but the first has {width}.",
            "Write one line for each item.",
            place=source,
            row=number,
        )
        for number, cells in rows.items()
        if len(cells) != width
    ]
    if problems:
        raise InputError(problems[:LISTED])
    columns = ["A", "B"] if width == 2 else [f"column {place}" for place in range(1, width + 1)]
    frame = pd.DataFrame(
        list(rows.values()), index=pd.Index(list(rows), name=ROW_INDEX), columns=columns, dtype=str
    )
    notices = (
        *encoding_notices(content),
        f"The file has no header; its columns are called {', '.join(columns)}.",
    )
    return SourceTable(frame, source, hashlib.sha256(content).hexdigest(), notices)


def _cells(line: str) -> list[str]:
    text = line.strip()
    return [cell.strip() for cell in _SEPARATORS.split(text)] if text else []


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


# The files of a comparison by scores: one table, with a header or without, or two of one number a line.


def one_table(path: str) -> tuple[SourceTable, bool]:
    """The table of a file, and whether its columns have names."""
    content, name = read_bytes(path), source_name(path)
    headerless = read_headerless(unzipped(content, source=name), source=name)
    return headerless or table_of(content, source=name), headerless is None


def joined_files(paths: Sequence[str], names: Sequence[str] = ("A", "B")) -> SourceTable:
    """Two files with one number a line, as columns of these names."""
    parts = []
    for path in paths:
        name = source_name(path)
        table = read_headerless(unzipped(read_bytes(path), source=name), source=name)
        if table is None or len(table.frame.columns) != 1:
            rule = f"{path}: of two files, each must hold one number a line and no header."
            raise refusal(rule, "Or put both systems into one table.")
        parts.append(table)
    lengths = [len(part.frame) for part in parts]
    if lengths[0] != lengths[1]:
        rule = f"the files have {lengths[0]:,} and {lengths[1]:,} scores; they are paired by line."
        raise refusal(rule, place=f"{parts[0].source}, {parts[1].source}")
    a, b = names
    frame = parts[0].frame.set_axis([a], axis=1)
    frame[b] = parts[1].frame.iloc[:, 0].to_numpy()
    notice = f"{a} is {parts[0].source}, {b} is {parts[1].source}; the effect is {b} - {a}."
    digest = hashlib.sha256("".join(part.sha256 for part in parts).encode()).hexdigest()
    return SourceTable(frame, f"{parts[0].source}, {parts[1].source}", digest, (notice,))


# The clusters of the items of a table of scores, and columns that look like them.


def item_clusters(
    source: ScoreSource, frame: pd.DataFrame, items: pd.Index, complete: np.ndarray
) -> Clusters | None:
    """The clusters of the items that are complete, in their order; in a wide table each row is an item."""
    if source.cluster is None:
        return None
    if not source.has_header:
        return read_cluster_lines(source.cluster, len(items)).only(complete)
    kept = [str(item) for item in items[complete]]
    if source.system is None:
        frame = frame.loc[items[complete]]
    item_column = source.item if source.system is not None else None
    return clusters_of(source.table._replace(frame=frame), source.cluster, kept, item_column=item_column)


def item_suspects(source: ScoreSource, frame: pd.DataFrame) -> tuple[ClusterSuspect, ...]:
    """Columns that look like clusters, where nobody named one."""
    if not source.has_header:
        return ()
    taken = [*source.scores, *([source.system] if source.system is not None else [])]
    return cluster_suspects(frame, item=source.item, taken=taken)


# Tables of metric scores: two files, two columns, a wide table of systems, or one score a row.

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
_LEFT_OUT = (
    "Column {name!r} looks like clusters of items, and is no score unless --systems or --score names it."
)
_AVERAGED = (
    "The score of an item is the mean over its runs, up to {n:,}; humeval-power compare runs test takes them into "
    "account."
)
_RUN = "run"
_SYSTEM = replace(ROLES["system"], required=False)
_ITEM = replace(ROLES["item"], names=(*ROLES["item"].names, *ITEM_NUMBERS), required=False)
_MISSING = {code.casefold() for code in MISSING_CODES}


@dataclass(frozen=True, slots=True, eq=False)
class ScoreSource:
    """A table as read: `system` is the column of a long table, None for a wide one, whose columns in
    `scores` are systems; in a long one they are metrics. `cluster` is the column of the items' clusters, or
    with `has_header` False a file with one cluster's name a line."""

    table: SourceTable
    item: str | None
    system: str | None
    scores: tuple[str, ...]
    cluster: str | None = None
    has_header: bool = True
    left_out: tuple[str, ...] = ()


def open_scores(
    paths: Sequence[str],
    *,
    item: str | None = None,
    system: str | None = None,
    cluster: str | None = None,
    wanted: Sequence[str] = (),
    names: Mapping[str, str] | None = None,
) -> ScoreSource:
    """Read a table of scores, or two files with one score a line, A first; or logs of a harness.

    Long tables are known by a column of the system. Columns of text are left out of wide ones, and so is that
    of the clusters; what looks like one is no system and no metric, unless it is among the names `wanted`. The
    systems of logs and of files of one column are called by `names`, by their paths, where these say so.
    """
    names = names or {}
    logged = read_score_source(*paths, names=names)
    if logged is None and len(paths) == 2:
        called = tuple(names.get(path, letter) for path, letter in zip(paths, "AB", strict=True))
        return ScoreSource(joined_files(paths, called), None, None, called, cluster, has_header=False)
    table, has_header = (logged, True) if logged is not None else one_table(paths[0])
    columns = [str(name) for name in table.frame.columns]
    _check_header(table)
    of = find_columns(
        columns, [_SYSTEM, _ITEM], named={"item": item, "system": system}, source=table.source
    ).of
    item, system = of.get("item"), of.get("system")
    if cluster is not None and has_header:
        cluster = named_column(cluster, columns, option=OPTION, source=table.source)
    left_out: tuple[str, ...] = ()
    if has_header:
        taken = [*wanted, *table.scores, *filter(None, [system, cluster])]
        suspects = cluster_suspects(table.frame, item=item, taken=taken)
        left_out = tuple(
            each.column for each in suspects if each.column and _is_numeric(table.frame[each.column])
        )
    known = (item, system, cluster, *left_out, *([_RUN] if system is not None else []))
    free = [name for name in columns if name not in known]
    scores = table.scores or tuple(name for name in free if _is_numeric(table.frame[name]))
    if not scores or (system is None and len(scores) < 2):
        rule = "there is no column of scores." if system else "there are not two columns of scores."
        remedy = (
            f"A column of scores holds numbers alone; the columns are {listing(columns)}. Predicted labels are "
            "compared by accuracy, beside the right ones, and battles by rank battles."
        )
        raise refusal(rule, remedy, place=table.source)
    if system is not None and item is None and table.frame[system].is_unique:
        rule = "a row for each system is a leaderboard of means, which does not say what is chance in them."
        few = ", ".join(shortened(str(name)) for name in table.frame[system].head(3))
        remedy = (
            "Bring the scores of each item that these are means of: a row an item and a column a system (item, "
            f"{few}), or a row for each item and system (item, system, score)."
        )
        raise refusal(rule, remedy, place=table.source)
    if system is not None and item is None:
        rule = "a table with a column of the system needs one of the item, to pair the scores."
        raise refusal(rule, "Name it with --item.", place=table.source)
    return ScoreSource(table, item, system, scores, cluster, has_header, left_out)


def _check_header(table: SourceTable) -> None:
    """Refuse a file whose first line is data: it would be taken for names, and a score be lost in silence."""
    names = [str(name) for name in table.frame.columns if _is_data(str(name), table.frame[name])]
    if names:
        rule = f"the first line looks like data and not like the names of columns: {listing(names)}"
        remedy = "Write names above the columns, such as system, item, score."
        raise refusal(rule, remedy, place=table.source)


def _is_data(name: str, cells: pd.Series) -> bool:
    """Whether the name of a column is one of its cells, or a score; whole numbers can be names of systems."""
    number = _parsed(name)
    if number is not None:
        return not number.is_integer()
    return bool((cells.astype(str) == name).any())


def score_table(
    source: ScoreSource,
    *,
    score: str | None = None,
    systems: tuple[str, ...] = (),
    drop_missing: bool = False,
    where: tuple[str, str] | None = None,
) -> ScoreTable:
    """The scores of one metric, one row for each item. score : the metric of a long table; needed where it has
    several. systems : those to keep, in this order; all, as they come, if empty. drop_missing : leave items out
    that lack a score of a system that is kept. where : a column and its value: only these rows are read."""
    metric = "score" if source.system is None else _metric(source, score)
    source = replace(source, table=with_metric(source.table, metric, item=source.item))
    frame, notices = source.table.frame, list(source.table.notices)
    notices += [_LEFT_OUT.format(name=shortened(name)) for name in source.left_out]
    if where is not None:
        frame = frame[frame[where[0]].astype(str) == where[1]]
    if source.system is None:
        wide = frame[list(source.scores)]
        wide = wide.set_axis([str(name) for name in wide.columns], axis=1)
        rows: list[int | None] = [int(row) for row in frame.index]
    else:
        wide, rows, said = _pivoted(source, frame, metric)
        notices += said
    names = _systems(source, [str(name) for name in wide.columns], systems)
    values, problems, complete = _numbers(wide[list(names)], rows, source, drop_missing)
    refuse(problems)
    n_dropped = len(complete) - int(complete.sum())
    if n_dropped:
        notices.append(f"Left out for lack of a score: {n_dropped:,} of {len(wide):,} items.")
    digest = source.table.sha256
    clusters = item_clusters(source, frame, wide.index, complete)
    suspects = item_suspects(source, frame) if clusters is None else ()
    return ScoreTable(
        values, names, metric, source.table.source, digest, tuple(notices), clusters, suspects
    )


def _is_numeric(column: pd.Series) -> bool:
    """Whether most cells are numbers: one that is not will be told, not hidden."""
    if _plain(column) is not None:
        return True
    present = [cell for cell in column.tolist() if not _is_missing(cell)]
    return bool(present) and 2 * sum(_is_number(cell) for cell in present) > len(present)


def _plain(column: pd.Series) -> Floats | None:
    """The numbers of a column that holds nothing else, and none that cannot be computed with."""
    try:
        values = column.to_numpy(dtype=object).astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    return values if len(values) and (np.abs(values) <= LARGEST).all() else None


def _is_missing(cell: object) -> bool:
    return (
        cell is None
        or (isinstance(cell, float) and math.isnan(cell))
        or (isinstance(cell, str) and cell.strip().casefold() in _MISSING)
    )


def _parsed(cell: object) -> float | None:
    try:
        value = float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return value if is_computable(value) else None


def _is_number(cell: object) -> bool:
    try:
        return math.isfinite(float(cell))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False


def _metric(source: ScoreSource, score: str | None) -> str:
    if score is not None and score not in source.scores:
        rule = f"there is no column of scores {score!r}."
        raise refusal(rule, close_to(score, source.scores), place=source.table.source)
    if score is None and len(source.scores) > 1:
        rule = f"there are several columns of scores: {listing(source.scores)}."
        raise refusal(rule, "Choose with --score.", place=source.table.source)
    return score or source.scores[0]


def _pivoted(
    source: ScoreSource, frame: pd.DataFrame, metric: str
) -> tuple[pd.DataFrame, list[int | None], list[str]]:
    """One row for each item and one column for each system, both in the order in which they come; and what is to be
    said of runs, over which the scores of an item are averaged."""
    keys = frame[[str(source.item), str(source.system)]].astype(str)
    doubled = keys[keys.duplicated()]
    has_runs = bool(len(doubled)) and _RUN in frame and source.cluster != _RUN
    has_runs = has_runs and not keys.assign(run=frame.get(_RUN)).duplicated().any()
    if len(doubled) and not has_runs:
        problems = [
            Problem(
                f"item {row.iloc[0]!r} has a second score for system {row.iloc[1]!r}.",
                "Keep one, or average them first; of repeated runs: humeval-power compare runs test; of ratings by "
                "several workers: humeval-power analyze.",
                place=source.table.source,
                row=int(str(number)),
            )
            for number, row in doubled.head(LISTED).iterrows()
        ]
        refuse(first_few(problems, most=LISTED, total=len(doubled)))
    items, systems = (list(dict.fromkeys(keys[name])) for name in keys.columns)
    wide = pd.DataFrame(index=pd.Index(items), columns=pd.Index(systems), dtype=object)
    places = {item: place for place, item in enumerate(items)}
    columns = {system: place for place, system in enumerate(systems)}
    cells = np.full((len(items), len(systems)), None, dtype=object)
    several: dict[tuple[int, int], list[object]] = defaultdict(list)
    for item, system, cell in zip(*(keys[name] for name in keys.columns), frame[metric], strict=True):
        several[places[item], columns[system]].append(cell)
    for place, those in several.items():
        cells[place] = those[0] if len(those) == 1 else _mean(those)
    wide.iloc[:, :] = cells
    most = max(map(len, several.values()), default=1)
    return wide, [None] * len(items), [_AVERAGED.format(n=most)] if has_runs else []


def _mean(cells: Sequence[object]) -> object:
    """Of the scores of several runs; the first cell that is none, where there is such."""
    values = [(cell, _parsed(cell)) for cell in cells if not _is_missing(cell)]
    wrong = [cell for cell, value in values if value is None]
    if wrong or not values:
        return wrong[0] if wrong else None
    return math.fsum(value for _, value in values if value is not None) / len(values)


def _systems(source: ScoreSource, known: list[str], names: tuple[str, ...]) -> tuple[str, ...]:
    refuse(absent_names(names, known, "system", place=source.table.source))
    if len(names or known) < 2:
        rule = f"two systems are needed; there is only {listing(names or known)}"
        raise refusal(rule, place=source.table.source)
    return names or tuple(known)


def _numbers(
    wide: pd.DataFrame, rows: Sequence[int | None], source: ScoreSource, drop_missing: bool
) -> tuple[Floats, list[Problem], Flags]:
    values = np.full(wide.shape, np.nan)
    bad: list[Problem] = []
    for column, name in enumerate(wide.columns):
        plain = _plain(wide[name])
        if plain is not None:
            values[:, column] = plain
            continue
        for place, cell in enumerate(wide[name].tolist()):
            value = None if _is_missing(cell) else _parsed(cell)
            if value is not None:
                values[place, column] = value
            elif not (drop_missing and _is_missing(cell)):
                bad.append(_bad_cell(cell, str(name), wide.index[place], rows[place], source))
    problems = first_few(bad, most=LISTED)
    holes = ~np.isfinite(values)
    if problems and len(wide.columns) > 2:
        problems.append(Problem(_keeping_most(holes, [str(name) for name in wide.columns]), ""))
    complete = ~holes.any(axis=1)
    return values[complete], problems, complete


def _keeping_most(holes: Flags, names: Sequence[str]) -> str:
    """Which systems and how many items to leave out of a table with holes, so that most scores are kept: again and
    again the one, of what is left, with the largest share of holes."""
    items, systems = np.arange(len(holes)), np.arange(len(names))
    while (left := holes[np.ix_(items, systems)]).any():
        of_items, of_systems = left.mean(axis=1), left.mean(axis=0)
        if of_systems.max() >= of_items.max():
            systems = np.delete(systems, int(of_systems.argmax()))
        else:
            items = items[of_items < of_items.max()]
    out = [name for place, name in enumerate(names) if place not in systems]
    n_out = len(holes) - len(items)
    without = [f"system{'s' if len(out) > 1 else ''} {listing(out, limit=12)}"] if out else []
    without += [counted(n_out, "item")] if n_out else []
    share = len(items) * len(systems) / holes.size
    how = " and ".join(
        one for one in ("--systems" if out else "", "--drop-missing" if n_out else "") if one
    )
    return f"most scores, {100 * share:.0f} %, are kept without {' and '.join(without)}: {how}."


def _bad_cell(cell: object, column: str, item: object, row: int | None, source: ScoreSource) -> Problem:
    is_missing = _is_missing(cell)
    rule = TOO_LARGE if _is_number(cell) else "is no finite number."
    return Problem(
        "the score is missing." if is_missing else rule,
        "Leave the item out for all systems: --drop-missing." if is_missing else "Correct the cell.",
        place=source.table.source if row is not None else f"{source.table.source}, item {item}",
        row=row,
        column=column,
        value=cell,
        has_value=not is_missing,
    )


UnitBy = Literal["mean", "median"]


def read_scores(
    *paths: str | Path,
    item: str | None = None,
    system: str | None = None,
    scores: Sequence[str] = (),
    systems: Sequence[str] = (),
    dataset: str | None = None,
    drop_missing: bool = False,
    unit_size: int = 1,
    unit_by: UnitBy = "mean",
    shuffle_seed: int | None = None,
    cluster: str | None = None,
    names: Mapping[str, str] | None = None,
) -> dict[str, ScoreTable]:
    """Read a metric's scores of the same items, as `compare.scores` takes them.

    Parameters
    ----------
    paths : one table, with a column for each system or the columns item, system and score; or two files of one
        number a line, A first.
    item, system : columns of a long table; found by their names if None.
    scores : metrics of a long table; the only one if none is named.
    systems : those to compare, A first; all if none is named.
    dataset : a column of data sets, each of which becomes a table.
    drop_missing : leave out items without a score of each system.
    unit_size, unit_by : how many items make a unit, and whether their mean or their median is its score.
    shuffle_seed : shuffle items into units; None for adjacent ones.
    cluster : the column of the items' clusters, such as passage or document; of files without names of columns a
        file with one cluster's name a line.
    names : what the systems of logs, or of files of one column, are called, by their paths.

    Returns
    -------
    dict
        The tables by the names of their metrics or data sets.

    Raises
    ------
    InputError
        Files that cannot be read, or options that do not go together.
    """
    if len(paths) > 2:
        raise InputError(f"Name one table, or two files of one column; got {len(paths)} files.")
    if cluster is not None and unit_size > 1:
        raise InputError(
            "Units and clusters are two ways to treat items that are alike: leave --unit-size or --cluster out."
        )
    source = open_scores(
        [str(path) for path in paths],
        item=item,
        system=system,
        cluster=cluster,
        wanted=[*systems, *scores],
        names=names,
    )
    if dataset is not None and len(scores) > 1:
        raise InputError("Count over data sets or over metrics: --dataset with one --score.")

    def one(source: ScoreSource, score: str | None, where: tuple[str, str] | None = None) -> ScoreTable:
        table = score_table(
            source, score=score, systems=tuple(systems), drop_missing=drop_missing, where=where
        )
        return table if unit_size == 1 else _in_units(table, unit_size, unit_by, shuffle_seed)

    if dataset is not None:
        columns = source.table.frame.columns
        column = named_column(dataset, columns, option="--dataset", source=source.table.source)
        source = replace(source, scores=tuple(name for name in source.scores if name != column))
        score = scores[0] if scores else None
        if score is not None or len(source.scores) == 1:
            source = replace(source, table=with_metric(source.table, score or source.scores[0]))
        sets = dict.fromkeys(source.table.frame[column].astype(str))
        tables = {name: one(source, score, (column, name)) for name in sets}
    else:
        tables = {score or "score": one(source, score) for score in scores or (None,)}
    if len(tables) > 1 and any(len(table.systems) != 2 for table in tables.values()):
        raise InputError("Several metrics or data sets are counted for two systems: --systems A,B.")
    return tables


def _in_units(table: ScoreTable, size: int, by: UnitBy, shuffle_seed: int | None) -> ScoreTable:
    from humeval_power.comparisons.scores.effect_sizes import evaluation_units, unit_scores

    units = evaluation_units(table.n_items, size=size, shuffle_seed=shuffle_seed)
    left = table.n_items - units.size
    chosen = "adjacent" if shuffle_seed is None else f"shuffled (seed {shuffle_seed})"
    notice = f"{counted(len(units), 'unit')}, each the {by} of {size:,} {chosen} items"
    notice += f"; {counted(left, 'item')} left over." if left else "."
    return table.in_units(unit_scores(table.scores, units, by=by), notice)
