"""Tables of human values and a judge's scores: one row for each rating or each output."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.cells import codes_in, read_cells, read_ids, renumbered
from humeval_power.checking.columns import Column, ColumnRoles, find_columns
from humeval_power.checking.rows import Rejected
from humeval_power.checking.suspects import cluster_suspects
from humeval_power.comparisons.judge.table import JudgedTable
from humeval_power.errors import InputError, Problem
from humeval_power.files.tables import NumberColumn, SourceTable, clusters_of, read_decided, read_numbers_of

_HUMAN = NumberColumn(("human", "rating", "human rating", "score"), may_be_blank=True)
_JUDGE = NumberColumn(("judge", "metric", "prediction", "judge score"))
_ITEM = Column(("item", "segment", "example", "id"), is_id=True)
_SYSTEM = Column(("system",), required=False, is_id=True)  # a model may be the judge's
_WORKER = Column(
    ("worker", "annotator", "assessor", "coder", "evaluator", "participant", "rater", "reviewer"),
    option="--worker",
    required=False,
    is_id=True,
)
_SHOWN = 5


def read_judged(
    path: str | Path,
    *,
    worker: str | None = None,
    cluster: str | None = None,
    average_workers: bool = False,
    rejected_rows: Rejected | None = None,
) -> JudgedTable:
    """Read a table of human values and a judge's scores, as `judge.estimate_table` takes it.

    Parameters
    ----------
    path : of a table with a row for each rating or each output: item, judge, human (blank where no human
        rated it) and, where there are several, system; worker, where it is known who rated.
    worker, cluster : the columns of workers and of clusters of items; a column of workers is also found by its
        name.
    average_workers : take no account of who rated, and average the ratings of an output.
    rejected_rows : what to do with rows of rejected or unfinished work, 'drop' or 'keep'.

    Raises
    ------
    InputError
        What `judged_table` raises, or rejected rows that nobody decided on.
    """
    table = read_decided(path, rejected_rows)
    return judged_table(table, worker=worker, cluster=cluster, average_workers=average_workers)


def judged_table(
    table: SourceTable,
    *,
    worker: str | None = None,
    cluster: str | None = None,
    average_workers: bool = False,
) -> JudgedTable:
    """The same from a table that has been read.

    Raises
    ------
    InputError
        A column that is missing, cells that are no numbers, blank ids, or clusters that are none.
    """
    found = find_columns(
        table.frame.columns,
        [_HUMAN, _JUDGE, _ITEM, _SYSTEM, _WORKER],
        source=table.source,
        named={"worker": worker},
        taken=() if cluster is None else (cluster,),
    )
    of = found.of
    numbers = read_numbers_of(table, [_HUMAN, _JUDGE])
    item, item_names = _ids(table, of["item"])
    system, system_names = (
        _ids(table, of["system"]) if "system" in of else (np.zeros(len(item), dtype=np.int64), ("",))
    )
    rated = np.isfinite(numbers["human"])
    workers: tuple[NDArray[np.int64] | None, tuple[str, ...]] = None, ()
    if "worker" in of and not average_workers:
        workers = _workers(table, of["worker"], rated)
    clusters = None
    if cluster is not None:
        clusters = clusters_of(table, cluster, item_names, item_column=of["item"])
    taken = [*of.values(), *([] if cluster is None else [cluster])]
    suspects = () if cluster is not None else cluster_suspects(table.frame, item=of["item"], taken=taken)
    return JudgedTable(
        item=item,
        system=system,
        human=numbers["human"],
        judge=numbers["judge"],
        item_names=item_names,
        system_names=system_names,
        worker=workers[0],
        worker_names=workers[1],
        clusters=clusters,
        suspects=suspects,
        notices=(*table.notices, *_told(found, average_workers=average_workers, n_workers=len(workers[1]))),
    )


def _told(found: ColumnRoles, *, average_workers: bool, n_workers: int) -> tuple[str, ...]:
    """What was assumed of the workers."""
    if "worker" not in found.of:
        return ()
    if average_workers:
        return (
            "The ratings of an output are averaged, whoever gave them: workers count as interchangeable.",
        )
    if n_workers < 2:
        return (
            "One worker gave all ratings: nothing says how workers differ, and claims hold for this one.",
        )
    return ()


def _ids(table: SourceTable, name: str) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    ids = read_ids(read_cells(table.frame[name]))
    blank = np.flatnonzero(ids.code < 0)
    if len(blank):
        rows = table.frame.index.to_numpy()[blank[:_SHOWN]]
        raise InputError(
            [Problem("the cell is blank.", "Fill it in.", table.source, int(row), name) for row in rows]
        )
    return ids.code, ids.names


def _workers(
    table: SourceTable, name: str, rated: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Codes of those who gave a rating; rows without one may lack them, and have -1."""
    ids = read_ids(read_cells(table.frame[name]))
    blank = np.flatnonzero((ids.code < 0) & rated)
    if len(blank):
        rows = table.frame.index.to_numpy()[blank[:_SHOWN]]
        rule, remedy = (
            "there is a human value, but no worker.",
            "Fill the worker in, or use --average-workers.",
        )
        raise InputError([Problem(rule, remedy, table.source, int(row), name) for row in rows])
    codes = np.where(rated, ids.code, -1)
    present = codes_in(codes)
    names = tuple(ids.names[code] for code in present if code >= 0)
    renamed = np.full(len(codes), -1, dtype=np.int64)
    renamed[rated] = renumbered(codes[rated])[1]
    return renamed, names
