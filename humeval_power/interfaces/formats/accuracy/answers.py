"""Right and wrong answers of systems to the same items, from two files of predictions or from one table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from humeval_power.checking.cluster_columns import ClusterSuspect, cluster_suspects
from humeval_power.checking.columns import named_column
from humeval_power.clusters import Clusters
from humeval_power.errors import InputError, Problem
from humeval_power.inference.accuracy.answers import Answers
from humeval_power.interfaces.formats.accuracy.answer_tables import SystemAnswers, answers_of_table
from humeval_power.interfaces.formats.item_clusters import OPTION, clusters_of, read_cluster_lines
from humeval_power.interfaces.formats.lines import Predictions, read_predictions, right_answers
from humeval_power.interfaces.formats.tables import SourceTable, read_score_source, read_table, source_name

TWO_SYSTEMS = ("A", "B")


def read_answers(
    path_a: str | Path,
    path_b: str | Path | None = None,
    *,
    gold: str | Path | None = None,
    column: str | None = None,
    systems: Sequence[str] = (),
    cluster: str | None = None,
) -> Answers:
    """Read which items each system got right.

    Parameters
    ----------
    path_a, path_b : predictions of A and of B, one a line or a table each; or one table of all systems, with a
        column for each of them, or with a row for each item and system; or logs of a harness.
    gold : a file with the right answers, or their column in one table; without it the predictions themselves say
        right or wrong (1 or 0), or the table has a column such as 'gold'.
    column : of the predictions (or of right and wrong), where a table has several.
    systems : of one table, those to compare, A first; found by their looks if none is named.
    cluster : a column with the clusters of the items, or a file with a cluster's name a line.

    Raises
    ------
    InputError
        Files that cannot be read or do not belong together, one column in two roles, cells that are neither right
        nor wrong; all problems of a file at once.
    """
    if path_b is None:
        return answers_from(
            read_table(path_a), gold=gold, column=column, systems=systems, cluster=cluster, path=path_a
        )
    if gold is None and (logged := read_score_source(path_a, path_b)) is not None:
        return answers_from(logged, column=column, systems=systems, cluster=cluster)
    if systems:
        rule = f"--systems names columns of one table; of two files the systems are {' and '.join(TWO_SYSTEMS)}."
        raise InputError([Problem(rule, "Leave it out.")])
    _refuse_same_file(path_a, path_b)
    a, b = (read_predictions(path, column=column) for path in (path_a, path_b))
    truth = None if gold is None else read_predictions(gold, role="label")
    if not a.values:
        raise InputError(f"{a.source} has no predictions.")
    if gold is not None and truth is not None:
        _refuse_same_column({path_a: a, path_b: b}, gold, truth)
    return _answers(SystemAnswers(TWO_SYSTEMS, (a, b), truth), cluster)


def answers_from(
    table: SourceTable,
    *,
    gold: str | Path | None = None,
    column: str | None = None,
    systems: Sequence[str] = (),
    cluster: str | None = None,
    path: str | Path | None = None,
) -> Answers:
    """The same from one table that has been read; `path` is where it was, which `gold` may name too."""
    taken = None if gold is None else str(gold)
    truth: Predictions | None = None
    if taken is not None and taken not in map(str, table.frame.columns):
        if path is not None and _same_file(taken, path):
            taken = ""
        else:
            truth, taken = read_predictions(taken, role="label"), None
    found = answers_of_table(
        table, gold=truth, gold_column=taken, column=column, systems=systems, cluster=cluster
    )
    return _answers(found, cluster)


def _answers(found: SystemAnswers, cluster: str | None) -> Answers:
    right = right_answers(found.predictions, found.gold)
    files = [*([] if found.gold is None else [found.gold]), *found.predictions]
    blank = sum(not text for each in found.predictions for text in each.values)
    remarks = [f"{blank:,} predictions are blank: they count as wrong."] if blank else []
    reference = found.gold if found.gold is not None else found.predictions[-1]
    return Answers(
        np.array(right, dtype=np.bool_).T,
        systems=found.systems,
        clusters=None if cluster is None else _clusters(files, reference, cluster),
        suspects=() if cluster is not None else _suspects(files, found.taken),
        notices=(*found.notices, *remarks),
    )


def _clusters(files: Sequence[Predictions], reference: Predictions, cluster: str) -> Clusters:
    """From the column of any of the tables, which must agree, or from a file with a name a line."""
    tables = list({id(each.table): each for each in files if each.table is not None}.values())
    having = [each for each in tables if each.table is not None and cluster in each.table.frame.columns]
    if not having and (not tables or Path(cluster).is_file()):
        return read_cluster_lines(cluster, len(reference.values))
    if not having:
        assert tables[0].table is not None
        named_column(cluster, tables[0].table.frame.columns, option=OPTION, source=tables[0].table.source)
    found = []
    for each in having:
        assert each.table is not None
        # Without ids the items are the rows, which the files have in the same order.
        items = reference.items or tuple(map(str, range(len(each.table.frame))))
        found.append(clusters_of(each.table, cluster, items, item_column=each.item_column))
    differing = [
        each.source
        for each, of in zip(having, found, strict=True)
        if not np.array_equal(of.codes, found[0].codes)
    ]
    if differing:
        rule = f"its clusters of the items are not those of {having[0].source}."
        problems = [
            Problem(rule, "Keep the right column alone.", place, column=cluster) for place in differing
        ]
        raise InputError(problems)
    return found[0]


def _suspects(files: Sequence[Predictions], taken: frozenset[str]) -> tuple[ClusterSuspect, ...]:
    found: dict[str | None, ClusterSuspect] = {}
    for each in files:
        if each.table is None:
            continue
        known = {*taken, *([] if each.value_column is None else [each.value_column])}
        for one in cluster_suspects(each.table.frame, item=each.item_column, taken=known):
            found.setdefault(one.column, one)
    return tuple(found.values())


def _same_file(one: str | Path, other: str | Path) -> bool:
    return Path(one).exists() and Path(other).exists() and Path(one).samefile(other)


def _refuse_same_file(path_a: str | Path, path_b: str | Path) -> None:
    if _same_file(path_a, path_b):
        rule = "A and B are the same file, so that they cannot differ."
        remedy = (
            "A table with a column for each system is given once: accuracy test TABLE --systems A,B --gold GOLD, "
            "GOLD being its column of right answers."
        )
        raise InputError([Problem(rule, remedy, source_name(path_a))])


def _refuse_same_column(files: dict[str | Path, Predictions], gold: str | Path, truth: Predictions) -> None:
    problems = [
        Problem(
            "the predictions are the same column as the right answers, so that all would be right.",
            "Say which column holds the predictions: --column NAME.",
            each.source,
            column=each.value_column,
        )
        for path, each in files.items()
        if _same_file(path, gold) and each.value_column == truth.value_column
    ]
    if problems:
        raise InputError(problems)
