"""One table with the answers of all systems: a column for each of them, or a row for each item and system.

Tables of results that people keep: claims of improvement, leaderboards, counts of a comparison.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

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
from humeval_power.comparisons.accuracy.agreement import OverlapRegression, ValidationPairs
from humeval_power.comparisons.accuracy.claims import Claim, Submission, SystemPair, moment
from humeval_power.comparisons.accuracy.counts import Answers, PairedCounts
from humeval_power.errors import InputError, Problem, refusal, refuse
from humeval_power.files.file_bytes import read_object
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
    Floats,
    NumberColumn,
    SourceTable,
    clusters_of,
    read_cluster_lines,
    read_numbers_of,
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
        remedy = "Name it: --column NAME; and the right answers, a column or a file, with --gold."
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


_SIZE = NumberColumn(("n", "size", "n_items", "items", "test_size"), low=1, whole=True)
BASELINE = NumberColumn(
    ("baseline", "baseline_accuracy", "previous_best", "sota"), low=0, may_be_percent=True
)
IMPROVEMENT = NumberColumn(("improvement", "difference", "delta", "effect"), may_be_percent=True)
ACCURACY = NumberColumn(
    ("accuracy", "test", "test_accuracy", "model_accuracy", "em", "test_em"), low=0, may_be_percent=True
)
_VALIDATION = NumberColumn(
    ("validation", "dev", "dev_accuracy", "validation_accuracy", "dev_em"),
    required=False,
    low=0,
    may_be_blank=True,
    may_be_percent=True,
)
_NAME = Column(("name", "system", "model", "paper", "claim", "submission"))
_SUBMISSION = replace(_NAME, names=(*_NAME.names, "description"))
_KEY = Column(("key", "index", "id", "number"), required=False)
_TASK = Column(("task", "dataset", "benchmark"), required=False)
_FLAGS = (  # a row where one of them says no is no claim
    Column(("claimed", "claimed_improvement", "Claimed Improvement (Bolded or in text)"), required=False),
    Column(("sota_comparison", "compares_with_sota"), required=False),
)
_YES, _NO = ("y", "yes", "true", "1"), ("n", "no", "false", "0")
_DATE = Column(("date", "day", "time"))
ROUNDED = 0.0005  # of an accuracy: half of the last digit that tables in per cent have
COUNTS = (
    NumberColumn(("only_b", "b"), low=0, whole=True),
    NumberColumn(("only_a", "c"), low=0, whole=True),
    NumberColumn(("n", "size", "n_items", "items", "test_size"), low=0, whole=True),
    NumberColumn(("both", "both_right"), low=0, whole=True, required=False, may_be_blank=True),
)


def read_claims(path: str | Path, *, sizes: str | Path | None = None) -> tuple[list[Claim], bool, int]:
    """Claims from a table.

    Parameters
    ----------
    path : a table with the columns task, n, baseline and improvement (or accuracy), and perhaps name; where a
        column claimed or sota_comparison says no, the row is no claim of an improvement on the best so far.
    sizes : a table with the columns task and n; then `path` needs no n.

    Returns
    -------
    tuple
        The claims; whether the table was in per cent (an accuracy above 1); how many rows are no claims.

    Raises
    ------
    InputError
        Missing or ambiguous columns; cells that are no numbers, or neither yes nor no; tasks without a size; no
        claim that is left.
    """
    whole = read_table(path)
    table = _claimed(whole)
    wanted = [*([_SIZE] if sizes is None else []), BASELINE, _gain(table)]
    optional = [replace(_TASK, required=sizes is not None), replace(_NAME, required=False)]
    columns = find_columns(table.frame.columns, [*optional, *wanted], source=table.source).of
    values = read_numbers_of(table, wanted)
    unit = unit_of(table, values, BASELINE)
    baseline = values["baseline"]
    effects = values["improvement"] if "improvement" in values else values["accuracy"] - baseline
    check_accuracies(table, baseline / unit, effects / unit, column=columns["baseline"])
    tasks = texts_of(table, columns.get("task")) or ["all"] * len(table.frame)
    labels = texts_of(table, columns.get("name")) or tasks
    n_items = values["n"] if sizes is None else _sizes_of(table, columns["task"], tasks, read_table(sizes))
    rows = zip(tasks, n_items, baseline / unit, effects / unit, labels, strict=True)
    read = [
        Claim(task, int(size), float(base), float(effect), label)
        for task, size, base, effect, label in rows
    ]
    return read, unit != 1, len(whole.frame) - len(read)


def _gain(table: SourceTable) -> NumberColumn:
    """What says how much better a system is: the improvement, or its accuracy where the table has that alone."""
    names = [str(name) for name in table.frame.columns]
    return (
        ACCURACY
        if any(map(ACCURACY.fits, names)) and not any(map(IMPROVEMENT.fits, names))
        else IMPROVEMENT
    )


def _claimed(table: SourceTable) -> SourceTable:
    """The rows that claim an improvement on the best so far: all, where no column says which."""
    columns = find_columns(table.frame.columns, _FLAGS, source=table.source).of
    kept, problems = np.ones(len(table.frame), dtype=bool), []
    for column in columns.values():
        for place, (row, cell) in enumerate(
            zip(table.frame.index, texts_of(table, column) or [], strict=True)
        ):
            kept[place] &= cell.lower() in _YES
            if cell.lower() not in (*_YES, *_NO):
                rule, remedy = "is neither yes nor no.", "Write Y or N, or rename the column."
                problems.append(table.problem(rule, remedy, row, column, cell))
    refuse(problems)
    if columns and not kept.any():
        rule = f"no row has yes under {' and '.join(columns.values())}: there is no claim to judge."
        raise refusal(rule, "Correct the column, or leave it out.", place=table.source)
    return table._replace(frame=table.frame[kept])


def _sizes_of(claims: SourceTable, column: str, tasks: Sequence[str], table: SourceTable) -> list[int]:
    """The items of each claim's task, by the table of sizes."""
    columns = find_columns(
        table.frame.columns, [replace(_TASK, required=True), _SIZE], source=table.source
    ).of
    known: dict[str, int] = {}
    problems = []
    sized = zip(
        table.frame.index,
        texts_of(table, columns["task"]) or [],
        read_numbers_of(table, [_SIZE])["n"],
        strict=True,
    )
    for row, task, size in sized:
        if known.setdefault(task, int(size)) != int(size):
            rule, remedy = f"has {known[task]:,} items in another row.", "Keep one of both."
            problems.append(table.problem(rule, remedy, row, columns["task"], task))
    for row, task in zip(claims.frame.index, tasks, strict=True):
        if task not in known:
            rule, remedy = f"is not in {table.source}.", "Add the task and its items there."
            problems.append(claims.problem(rule, remedy, row, column, task))
    refuse(problems)
    return [known[task] for task in tasks]


def read_leaderboard(path: str | Path) -> tuple[list[Submission], bool]:
    """Submissions from a table with the columns system, date, accuracy and perhaps validation and key (what a
    table of pairs calls them), and whether it was in per cent."""
    table = read_table(path)
    wanted = [ACCURACY, _VALIDATION]
    columns = find_columns(table.frame.columns, [_SUBMISSION, _DATE, _KEY, *wanted], source=table.source).of
    values = read_numbers_of(table, wanted)
    unit = unit_of(table, values, ACCURACY, _VALIDATION)
    scores = values["accuracy"] / unit
    validation = values.get("validation", np.full(len(scores), math.nan)) / unit
    names, dates = texts_of(table, columns["name"]) or [], texts_of(table, columns["date"]) or []
    column = columns["date"]
    problems = []
    for row, date in zip(table.frame.index, dates, strict=True):
        try:
            moment(date)
        except InputError as error:
            problems += [
                replace(each, place=table.source, row=int(row), column=column) for each in error.problems
            ]
    refuse(problems)
    keys = texts_of(table, columns.get("key")) or [""] * len(names)
    rows = zip(names, dates, scores, validation, keys, strict=True)
    return [
        Submission(name, day, float(score), float(dev), key) for name, day, score, dev, key in rows
    ], unit != 1


def read_counts(path: str | Path) -> list[tuple[str, PairedCounts]]:
    """Comparisons from a table with the columns b (B alone right), c (A alone right), n, and perhaps both
    and a name."""
    return counts_of(read_table(path))


def has_counts(table: SourceTable) -> bool:
    """Whether a table has the columns b, c and n, so that its rows are comparisons and not items."""
    return all(any(column.fits(str(name)) for name in table.frame.columns) for column in COUNTS[:3])


def counts_of(table: SourceTable) -> list[tuple[str, PairedCounts]]:
    """The same from a table that has been read."""
    name = replace(_NAME, required=False)
    columns = find_columns(table.frame.columns, [name, *COUNTS], source=table.source).of
    values = read_numbers_of(table, COUNTS)
    names = texts_of(table, columns.get("name")) or [f"row {row}" for row in table.frame.index]
    both = values.get("both", np.full(len(names), math.nan))
    counted, problems = [], []
    rows = zip(table.frame.index, names, values["only_b"], values["only_a"], values["n"], both, strict=True)
    for row, label, b, c, n, agreed in rows:
        try:
            counts = PairedCounts(int(b), int(c), int(n), None if math.isnan(agreed) else int(agreed))
            counted.append((label, counts))
        except InputError as error:
            problems += [Problem(each.rule, each.remedy, table.source, int(row)) for each in error.problems]
    refuse(problems)
    return counted


def check_accuracies(table: SourceTable, baseline: Floats, gain: Floats, *, column: str) -> None:
    """Raise InputError, naming the rows, where a baseline and an improvement make no accuracy: they may stand in
    two units."""
    problems = [
        table.problem(
            f"and an improvement of {by:+.4g} make an accuracy of {before + by:.4g}.",
            "Correct the row, or write all columns in one unit: shares from 0 to 1, or per cent.",
            *(row, column, float(before)),
        )
        for row, before, by in zip(table.frame.index, baseline, gain, strict=True)
        if not -ROUNDED <= before + by <= 1 + ROUNDED
    ]
    refuse(problems)


def unit_of(table: SourceTable, values: Mapping[str, Floats], *columns: NumberColumn) -> float:
    """100 for a table in per cent, which has an accuracy above 1 in the first of the columns; else 1."""
    first = values[columns[0].name]
    unit = 100.0 if (first > 1).any() else 1.0
    shares = (first > 0) & (first <= 1)
    if unit != 1 and shares.any():
        column = find_columns(table.frame.columns, [columns[0]], source=table.source).of[columns[0].name]
        rule = "is a share, and other rows are in per cent."
        remedy = "Write all accuracies in one unit: shares from 0 to 1, or per cent."
        cells = zip(table.frame.index[shares], first[shares], strict=True)
        raise InputError([table.problem(rule, remedy, row, column, float(value)) for row, value in cells])
    read_numbers_of(table, [replace(each, high=unit) for each in columns])
    return unit


# Tables of pairs of systems, and the record of a regression that was fitted to them.

_AGREEMENT = NumberColumn(
    ("agreement", "overlap", "agree", "observed_agreement"), low=0, may_be_percent=True
)
_HINT = "Write it by: humeval-power compare accuracy overlap TABLE -o overlap.json."


def read_system_pairs(path: str | Path) -> tuple[list[SystemPair], bool]:
    """Pairs from a table with the columns baseline, improvement (or accuracy) and agreement, and whether it was in
    per cent (a number above 1).

    Raises
    ------
    InputError
        Missing or ambiguous columns, cells that are no numbers, pairs that cannot be; all of them.
    """
    table = read_table(path)
    wanted = [BASELINE, _gain(table), _AGREEMENT]
    columns = find_columns(table.frame.columns, wanted, source=table.source).of
    values = read_numbers_of(table, wanted)
    unit = unit_of(table, values, BASELINE, _AGREEMENT)
    baseline, agreement = values["baseline"] / unit, values["agreement"] / unit
    gain = values["improvement"] / unit if "improvement" in values else values["accuracy"] / unit - baseline
    check_accuracies(table, baseline, gain, column=columns["baseline"])
    pairs, problems = [], []
    for row, before, by, alike in zip(table.frame.index, baseline, gain, agreement, strict=True):
        pairs.append(SystemPair(float(min(before, before + by)), float(abs(by)), float(alike)))
        least, most = abs(2 * before + by - 1) - 2 * ROUNDED, 1 - abs(by) + 1e-9
        if not least <= alike <= most:
            rule = f"the accuracies are {abs(by):.4g} apart, so that at most {1 - abs(by):.4g} can agree."
            if alike < least:
                rule = f"with accuracies of {before:.4g} and {before + by:.4g} at least {least:.4g} agree."
            problems.append(table.problem(rule, "Correct the row.", row, columns["agreement"], alike))
    refuse(problems)
    return pairs, unit != 1


def read_overlap(path: str | Path) -> OverlapRegression:
    """The regression in a record that `compare accuracy overlap` wrote.

    Raises
    ------
    InputError
        A file that is no such record, or whose numbers are none.
    """
    place, record = str(path), read_object(path, hint=_HINT)
    kept = record.get("overlap")
    if not str(record.get("schema", "")).startswith("humeval_power/accuracy_overlap/") or not isinstance(
        kept, dict
    ):
        raise refusal("is no record of a regression of agreement.", _HINT, place=place)
    seen = kept.get("seen")
    ends = seen if isinstance(seen, list) and len(seen) == 2 else [None, None]
    fields = ("constant", "per_accuracy", "per_difference")
    named: dict[str, Any] = {
        **{name: kept.get(name) for name in fields},
        "seen from": ends[0],
        "seen to": ends[1],
    }
    problems = [
        Problem(
            "must be a finite number.",
            _HINT,
            place,
            None,
            f"overlap.{name}",
            value,
            has_value=True,
            noun="field",
        )
        for name, value in named.items()
        if not (isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value))
    ]
    refuse(problems)
    constant, per_accuracy, per_difference, low, high = (float(value) for value in named.values())
    return OverlapRegression(Path(path).stem, constant, per_accuracy, per_difference, (low, high))


# A table of pairs of submissions: on how many items of the validation set exactly one of them is right.

_FIRST = Column(("first", "system_a", "a", "i"))
_SECOND = Column(("second", "system_b", "b", "j"))
_DIFFERING = NumberColumn(
    ("differing", "disagree", "disagreements", "disagreement", "dev_disagree", "validation_disagree"),
    low=0,
    whole=True,
)
_ROUNDED = 0.001  # an accuracy may be rounded to a tenth of a point, at both systems


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
    columns = find_columns(table.frame.columns, [_FIRST, _SECOND, _DIFFERING], source=table.source).of
    counts = read_numbers_of(table, [_DIFFERING])["differing"]
    first, second = (texts_of(table, columns[name]) or [] for name in ("first", "second"))
    known = {each.called: each for each in submissions}
    problems = [
        Problem(
            f"{times} submissions of the leaderboard are called {name}, so that its pairs are not clear.",
            "Give the leaderboard a column 'key' that differs between them, and name the pairs by it.",
            place=table.source,
        )
        for name, times in Counter(each.called for each in submissions).items()
        if times > 1
    ]
    differing: dict[frozenset[str], int] = {}
    for row, a, b, value in zip(table.frame.index, first, second, counts, strict=True):
        count, pair = int(value), frozenset((a, b))
        column, shown, rule, remedy = columns["differing"], f"{count}", "", ""
        if a not in known or b not in known:
            shown, role = (b, "second") if a in known else (a, "first")
            column, rule, remedy = (
                columns[role],
                "is no submission of the leaderboard.",
                "Correct the name.",
            )
        elif a == b:
            column, shown, rule, remedy = columns["second"], b, "is paired with itself.", "Delete the row."
        elif count > n_validation:
            rule = f"more items than the {n_validation:,} of the validation set."
            remedy = "Correct the count, or --n-validation."
        elif differing.setdefault(pair, count) != count:
            rule, remedy = f"the pair has {differing[pair]:,} in another row.", "Keep one of both."
        else:  # an accuracy that is not known says nothing
            gap = abs(known[a].validation - known[b].validation) * n_validation
            if gap > count + 1 + _ROUNDED * n_validation:
                rule = f"fewer items than the accuracies on the validation set are apart, {gap:,.0f}."
                remedy = "Correct the count, the accuracies, or --n-validation."
        if rule:
            problems.append(table.problem(rule, remedy, row, column, shown))
    refuse(problems)
    return ValidationPairs(n_validation, differing, table.source)
