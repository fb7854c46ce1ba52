"""One table with the answers of all systems: a column for each of them, or a row for each item and system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from humeval_power.checking.columns import (
    ROLES,
    Column,
    close_to,
    find_columns,
    listing,
    named_column,
    shortened,
)
from humeval_power.checking.suspects import ClusterSuspect, cluster_suspects
from humeval_power.clusters import Clusters
from humeval_power.comparisons.accuracy.counts import Answers
from humeval_power.errors import InputError, Problem, refusal, refuse
from humeval_power.files.lines import (
    ITEM,
    PREDICTION_NAMES,
    RIGHT,
    SHOWN,
    WRONG,
    PredictionLines,
    read_predictions,
    right_answers,
)
from humeval_power.files.tables import (
    OPTION,
    SourceTable,
    clusters_of,
    read_cluster_lines,
    read_score_source,
    read_table,
    source_name,
    texts_of,
    with_metric,
)
from humeval_power.safe_text import shell_word
from humeval_power.saying.numbers import counted

_SYSTEM = replace(ROLES["system"], required=False)
_GOLD = Column(("gold", "label", "labels", "gold_label", "target", "reference"), required=False)
_PREDICTION = Column(PREDICTION_NAMES, option="--column", required=False)
_SCORE = Column(
    (
        "correct",
        "right",
        "is_correct",
        "score",
        "accuracy",
        "acc",
        "em",
        "exact_match",
        "success",
        "passed",
    ),
    option="--column",
    required=False,
)
_WORDS = frozenset({*RIGHT, *WRONG})


@dataclass(frozen=True, slots=True)
class SystemAnswers:
    """Predictions of each system and perhaps the right answers; `taken` are columns that are something known."""

    systems: tuple[str, ...]
    predictions: tuple[PredictionLines, ...]
    gold: PredictionLines | None
    notices: tuple[str, ...] = ()
    taken: frozenset[str] = frozenset()


def answers_of_table(
    table: SourceTable,
    *,
    gold: PredictionLines | None,
    gold_column: str | None,
    column: str | None,
    systems: Sequence[str],
    cluster: str | None,
) -> SystemAnswers:
    """The predictions in one table.

    gold : right answers from elsewhere.
    gold_column : their column; '' is to be found by its name and must be there, None is looked for.
    """
    columns = [str(name) for name in table.frame.columns]
    of = find_columns(columns, [_SYSTEM, ITEM, _GOLD], source=table.source).of
    found_gold = gold_column or of.get("gold")
    if gold_column == "" and found_gold is None:
        rule = "no column of right answers was found."
        raise refusal(rule, f"Name it: --gold COLUMN. {close_to('gold', columns)}", table.source)
    item, system = of.get("item"), of.get("system")
    if item is None and system is not None:
        free = [name for name in columns if name != cluster]
        item = find_columns(free, [replace(ROLES["item"], required=False)], source=table.source).of.get(
            "item"
        )
    if system is not None and item is not None and not set(systems) & set(columns):
        return _long(table, item, system, gold, found_gold, bool(gold_column is not None), column, systems)
    return _wide(table, item, gold, None if gold is not None else found_gold, column, systems, cluster)


def _wide(
    table: SourceTable,
    item: str | None,
    gold: PredictionLines | None,
    gold_column: str | None,
    column: str | None,
    systems: Sequence[str],
    cluster: str | None,
) -> SystemAnswers:
    if column is not None:
        rule = "--column is for a file of one system; this table has a column for each."
        raise refusal(rule, "Name the systems: --systems A,B.", table.source)
    notices: tuple[str, ...] = table.notices
    if systems:
        names = tuple(
            named_column(name, table.frame.columns, option="--systems", source=table.source)
            for name in systems
        )
    else:
        names = _looking_like_systems(table, {item, gold_column, cluster}, gold, gold_column)
        notices = (*notices, f"The systems are the columns {listing(names)}; --systems A,B names others.")
    truth = gold if gold_column is None else _predictions(table, gold_column, item, table.source)
    several = tuple(_predictions(table, name, item, f"{table.source} ({name})") for name in names)
    if item is not None:
        _refuse_repeated(table, item, None)
    taken = frozenset({*names, *([] if gold_column is None else [gold_column])})
    return SystemAnswers(names, several, truth, notices, taken)


def _looking_like_systems(
    table: SourceTable, known: set[str | None], gold: PredictionLines | None, gold_column: str | None
) -> tuple[str, ...]:
    """Columns whose cells are answers, or right and wrong where there are no right answers; two at least."""
    truth = gold.values if gold is not None else texts_of(table, gold_column)
    allowed = None if truth is None else set(truth)
    free = [name for name in map(str, table.frame.columns) if name not in known]
    names = tuple(name for name in free if _are_answers(table.frame[name], allowed))
    if len(names) < 2:
        rule = f"which columns are the systems? The columns are {listing([str(n) for n in table.frame.columns])}."
        remedy = "Name those of A and B: --systems A,B; and the column or file of the right answers: --gold GOLD."
        raise refusal(rule, remedy, table.source)
    return names


def _are_answers(cells: pd.Series, allowed: set[str] | None) -> bool:
    texts = [text for text in cells.fillna("").astype(str).str.strip() if text]
    if allowed is None:
        return bool(texts) and all(text.casefold() in _WORDS for text in texts)
    return 2 * sum(text in allowed for text in texts) > len(texts)


def _long(
    table: SourceTable,
    item: str,
    system: str,
    gold: PredictionLines | None,
    gold_column: str | None,
    is_gold_asked: bool,
    column: str | None,
    systems: Sequence[str],
) -> SystemAnswers:
    is_wanted = gold is not None or is_gold_asked
    value = _value_column(table, column, gold is not None or gold_column is not None, is_wanted)
    table = with_metric(table, value, item=item)
    compares = gold is not None or (gold_column is not None and (is_wanted or _PREDICTION.fits(value)))
    of_row = table.frame[system].astype(str).str.strip()
    known_names = of_row.unique().tolist()
    names = tuple(systems) or tuple(known_names)
    unknown = [name for name in names if name not in known_names]
    if unknown or len(names) < 2:
        known = f"The systems are {listing(known_names)}."
        rule = f"there is no system {unknown[0]!r}." if unknown else "at least two systems are needed."
        raise refusal(rule, known, table.source, column=system)
    parts = {name: table._replace(frame=table.frame[of_row == name]) for name in names}
    for part in parts.values():
        _refuse_repeated(part, item, system)
    several = tuple(
        replace(_predictions(part, value, item, f"{table.source} (system {shortened(name)})"), table=table)
        for name, part in parts.items()
    )
    truth = gold
    if gold is None and compares and gold_column is not None:
        truth = _one_gold(table, item, gold_column)
    taken = frozenset(name for name in (system, value, gold_column) if name is not None)
    return SystemAnswers(names, several, truth, table.notices, taken)


def _value_column(table: SourceTable, column: str | None, has_gold: bool, is_wanted: bool) -> str:
    columns = [str(name) for name in table.frame.columns]
    if column is not None:
        return named_column(column, columns, option="--column", source=table.source)
    if len(table.scores) == 1 and not is_wanted:
        return table.scores[0]
    if table.scores and not is_wanted:
        rule = f"the logs have several metrics: {listing(table.scores)}."
        raise refusal(rule, f"Choose one: --column {shell_word(table.scores[0])}", table.source)
    of = find_columns(columns, [_PREDICTION, _SCORE], source=table.source).of
    first, second = ("prediction", "correct") if is_wanted else ("correct", "prediction")
    result = of.get(first) or of.get(second)
    if result is None or (result == of.get("prediction") and not has_gold):
        rule = f"no column says right or wrong, or what was predicted. The columns are {listing(columns)}."
        remedy = "Name it: --column NAME; and the right answers, a column or a file, by --gold."
        raise refusal(rule, remedy, table.source)
    return result


def _predictions(table: SourceTable, name: str, item: str | None, source: str) -> PredictionLines:
    values = ["" if pd.isna(cell) else str(cell).strip() for cell in table.frame[name]]
    items, rows = texts_of(table, item), tuple(int(row) for row in table.frame.index)
    return PredictionLines(
        source, tuple(values), rows, None if items is None else tuple(items), table, item, name
    )


def _one_gold(table: SourceTable, item: str, name: str) -> PredictionLines:
    """The right answer of each item, which is the same in all its rows."""
    labels = _predictions(table, name, item, table.source)
    first: dict[str, str] = {}
    problems: list[Problem] = []
    for row, key, text in zip(labels.rows, labels.items or (), labels.values, strict=True):
        if first.setdefault(key, text) != text and len(problems) < SHOWN:
            rule = f"item {shortened(key)!r} has another right answer, {shortened(first[key])!r}, already."
            problems.append(Problem(rule, "Keep one.", table.source, row, name, text, has_value=True))
    refuse(problems)
    rows = dict(zip(reversed(labels.items or ()), reversed(labels.rows), strict=True))
    return replace(
        labels, values=tuple(first.values()), items=tuple(first), rows=tuple(rows[key] for key in first)
    )


def _refuse_repeated(table: SourceTable, item: str, system: str | None) -> None:
    keys = table.frame[item].astype(str).str.strip()
    doubled = keys[keys.duplicated()]
    if doubled.empty:
        return
    row, key = int(doubled.index[0]), str(doubled.iloc[0])
    rows = counted(len(doubled), "row")
    if system is None:
        rule, remedy = f"{rows} of an item that is there already.", "Keep one row for each."
    else:
        rule = f"{rows} of an item that the system has answered already."
        remedy = (
            "Keep one row for each; several are generations, seeds or prompts, for `compare runs test`."
        )
    raise InputError([Problem(rule, remedy, table.source, row, item, key, has_value=True)])


# Right and wrong answers of systems to the same items, from two files of predictions or from one table.

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
        raise refusal(rule, "Leave it out.")
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
    truth: PredictionLines | None = None
    if taken is not None and taken not in map(str, table.frame.columns):
        if path is not None and _same_file(taken, path):
            taken = ""
        else:
            truth, taken = read_predictions(taken, role="label"), None
    answers = answers_of_table(
        table, gold=truth, gold_column=taken, column=column, systems=systems, cluster=cluster
    )
    return _answers(answers, cluster)


def _answers(answers: SystemAnswers, cluster: str | None) -> Answers:
    right = right_answers(answers.predictions, answers.gold)
    files = [*([] if answers.gold is None else [answers.gold]), *answers.predictions]
    blank = sum(not text for each in answers.predictions for text in each.values)
    remarks = [f"{blank:,} predictions are blank: they count as wrong."] if blank else []
    reference = answers.gold if answers.gold is not None else answers.predictions[-1]
    return Answers(
        np.array(right, dtype=np.bool_).T,
        systems=answers.systems,
        clusters=None if cluster is None else _clusters(files, reference, cluster),
        suspects=() if cluster is not None else _suspects(files, answers.taken),
        notices=(*answers.notices, *remarks),
    )


def _clusters(files: Sequence[PredictionLines], reference: PredictionLines, cluster: str) -> Clusters:
    """From the column of any of the tables, which must agree, or from a file with a name a line."""
    tables = list({id(each.table): each for each in files if each.table is not None}.values())
    having = [each for each in tables if each.table is not None and cluster in each.table.frame.columns]
    if not having and (not tables or Path(cluster).is_file()):
        return read_cluster_lines(cluster, len(reference.values))
    if not having:
        assert tables[0].table is not None
        named_column(cluster, tables[0].table.frame.columns, option=OPTION, source=tables[0].table.source)
    clusters = []
    for each in having:
        assert each.table is not None
        # Without ids the items are the rows, which the files have in the same order.
        items = reference.items or tuple(map(str, range(len(each.table.frame))))
        clusters.append(clusters_of(each.table, cluster, items, item_column=each.item_column))
    differing = [
        each.source
        for each, of in zip(having, clusters, strict=True)
        if not np.array_equal(of.codes, clusters[0].codes)
    ]
    if differing:
        rule = f"its clusters of the items are not those of {having[0].source}."
        problems = [
            Problem(rule, "Keep the right column alone.", place, column=cluster) for place in differing
        ]
        raise InputError(problems)
    return clusters[0]


def _suspects(files: Sequence[PredictionLines], taken: frozenset[str]) -> tuple[ClusterSuspect, ...]:
    suspect: dict[str | None, ClusterSuspect] = {}
    for each in files:
        if each.table is None:
            continue
        known = {*taken, *([] if each.value_column is None else [each.value_column])}
        for one in cluster_suspects(each.table.frame, item=each.item_column, taken=known):
            suspect.setdefault(one.column, one)
    return tuple(suspect.values())


def _same_file(one: str | Path, other: str | Path) -> bool:
    return Path(one).exists() and Path(other).exists() and Path(one).samefile(other)


def _refuse_same_file(path_a: str | Path, path_b: str | Path) -> None:
    if _same_file(path_a, path_b):
        rule = "A and B are the same file, so that they cannot differ."
        remedy = (
            "A table with a column for each system is given once: compare accuracy test TABLE --systems A,B --gold "
            "GOLD, GOLD being its column of right answers."
        )
        raise refusal(rule, remedy, source_name(path_a))


def _refuse_same_column(
    files: dict[str | Path, PredictionLines], gold: str | Path, truth: PredictionLines
) -> None:
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
    refuse(problems)
