"""Tables of metric scores: two files, two columns, a wide table of systems, or one score a row."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from humeval_power.checking.cluster_columns import cluster_suspects
from humeval_power.checking.columns import close_to, find_columns, listing, named_column, shortened
from humeval_power.checking.roles import ROLES
from humeval_power.errors import InputError, Problem
from humeval_power.inference.compare.score_table import ScoreTable
from humeval_power.interfaces.formats.compare.item_columns import item_clusters, item_suspects
from humeval_power.interfaces.formats.compare.score_files import joined_files, one_table
from humeval_power.interfaces.formats.item_clusters import OPTION
from humeval_power.interfaces.formats.tables import SourceTable, read_score_source, with_metric
from humeval_power.magnitudes import LARGEST, TOO_LARGE, is_computable
from humeval_power.ratings import MISSING_CODES
from humeval_power.reporting.numbers import counted

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
_LEFT_OUT = (
    "Column {name!r} looks like clusters of items, and is no score unless --systems or --score names it."
)
_AVERAGED = (
    "The score of an item is the mean over its runs, up to {n:,}; humeval-power runs test takes them into "
    "account."
)
_RUN = "run"
LISTED = 5  # problems shown of each kind; the rest is counted
_SYSTEM = replace(ROLES["system"], required=False)
_ITEM = replace(ROLES["item"], names=(*ROLES["item"].names, "id", "index"), required=False)
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

    Raises
    ------
    InputError
        A file that cannot be read, columns that are not there, or no column of scores.
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
        raise InputError([Problem(rule, remedy, place=table.source)])
    if system is not None and item is None:
        rule = "a table with a column of the system needs one of the item, to pair the scores."
        raise InputError([Problem(rule, "Name it with --item.", place=table.source)])
    return ScoreSource(table, item, system, scores, cluster, has_header, left_out)


def _check_header(table: SourceTable) -> None:
    """Refuse a file whose first line is data: it would be taken for names, and a score be lost in silence."""
    found = [str(name) for name in table.frame.columns if _is_data(str(name), table.frame[name])]
    if found:
        rule = f"the first line looks like data and not like the names of columns: {listing(found)}"
        remedy = "Write names above the columns, such as system, item, score."
        raise InputError([Problem(rule, remedy, place=table.source)])


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
    """The scores of one metric, one row for each item.

    Parameters
    ----------
    score : the metric of a long table; needed where it has several.
    systems : those to keep, in this order; all, as they come, if empty.
    drop_missing : leave items out that lack a score of a system that is kept.
    where : a column and its value: only these rows are read.

    Raises
    ------
    InputError
        All problems at once: cells that are no numbers, scores that are missing or doubled.
    """
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
    if problems:
        raise InputError(problems)
    n_dropped = len(complete) - int(complete.sum())
    if n_dropped:
        notices.append(f"{n_dropped:,} of {len(wide):,} items lack a score and are left out.")
    digest = source.table.sha256
    found = item_clusters(source, frame, wide.index, complete)
    suspects = item_suspects(source, frame) if found is None else ()
    return ScoreTable(values, names, metric, source.table.source, digest, tuple(notices), found, suspects)


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
        raise InputError([Problem(rule, close_to(score, source.scores), place=source.table.source)])
    if score is None and len(source.scores) > 1:
        rule = f"there are several columns of scores: {listing(source.scores)}."
        raise InputError([Problem(rule, "Choose with --score.", place=source.table.source)])
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
                "Keep one, or average them first; of repeated runs: humeval-power runs test.",
                place=source.table.source,
                row=int(str(number)),
            )
            for number, row in doubled.head(LISTED).iterrows()
        ]
        raise InputError(_counted(problems, len(doubled)))
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


def _systems(source: ScoreSource, known: list[str], asked: tuple[str, ...]) -> tuple[str, ...]:
    unknown = [
        Problem(f"there is no system {name!r}.", close_to(name, known), place=source.table.source)
        for name in asked
        if name not in known
    ]
    if unknown:
        raise InputError(unknown)
    if len(asked or known) < 2:
        rule = f"two systems are needed; there is only {listing(asked or known)}"
        raise InputError([Problem(rule, "", place=source.table.source)])
    return asked or tuple(known)


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
    problems = _counted(bad[:LISTED], len(bad))
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
    said = [f"systems {listing(out, limit=12)}"] if out else []
    said += [f"{counted(n_out, 'item')}"] if n_out else []
    share = len(items) * len(systems) / holes.size
    how = " and ".join(
        one for one in ("--systems" if out else "", "--drop-missing" if n_out else "") if one
    )
    return f"most scores, {100 * share:.0f} %, are kept without {' and '.join(said)}: {how}."


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


def _counted(problems: list[Problem], total: int) -> list[Problem]:
    rest = total - len(problems)
    return problems if rest <= 0 else [*problems, Problem(f"and {rest:,} more like this.", "")]
