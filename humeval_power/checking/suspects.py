"""Columns of a table of ratings that look like documents, sessions, an order of showing, or time: what a model of
workers and items alone leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from humeval_power.checking.cells import Location, Mask, cell_problems, read_cells, read_ids, read_numbers
from humeval_power.checking.columns import ROLES, bare, find_columns, listing, shortened
from humeval_power.checking.rows import KIND, KINDS, ROW_INDEX, marked_rows, read_kinds, refused_rows
from humeval_power.errors import Problem, refusal, refuse
from humeval_power.safe_text import shell_word
from humeval_power.scales import RatingScale

SuspectKind = Literal["documents", "sessions", "order", "position", "time"]

DOCUMENT_NAMES = {
    *("document", "doc", "docid", "documentid", "article", "articleid", "book", "chapter", "context"),
    *("contextid", "conversation", "dialog", "dialogue", "dialogueid", "passage", "passageid", "paragraph"),
    *("prompt", "promptid", "source", "sourceid", "story", "storyid", "text", "textid", "thread", "video"),
    "topic",
}
_SESSIONS = {
    *("session", "sessionid", "batch", "batchid", "block", "day", "hit", "hitid", "assignmentid", "round"),
    "wave",
}
_POSITIONS = {
    *("index", "nr", "number", "order", "position", "rank", "sequence", "step", "trial", "trialindex"),
    "trialnumber",
}
COUNT_NAMES = {
    *_POSITIONS,
    *("id", "length", "n", "row", "rowid", "seconds", "unnamed0", "weight", "words", ""),
}
_TIMES = {
    *("created", "createdat", "date", "datetime", "ended", "endtime", "started", "starttime", "submitted"),
    *("submissiontime", "submittime", "time", "timestamp", "accepttime"),
}
_FIRST = {"a", "b", "afirst", "bfirst", "ab", "ba"}
_LEAST_DOCUMENTS = 5  # fewer values without such a name are categories
_MOST_COLUMNS, _MOST_ROWS = 60, 100_000
_USUALLY = 0.9  # of pairs or rows, for a rule that real tables keep with a few exceptions
_PREFIX = re.compile(r"^(.+?)[-_:/.#|]+[^-_:/.#|]+$")


@dataclass(frozen=True, slots=True)
class Suspect:
    """A column that looks like something the model leaves out, and why; `option` names it. `column` is None
    where documents are in the names of the items."""

    kind: SuspectKind
    column: str | None
    why: str

    @property
    def option(self) -> str:
        """What takes it into the model."""
        if self.kind in ("documents", "sessions"):
            return "--document"
        return "--order-column" if self.kind == "order" else "--covariate"


@dataclass(frozen=True, slots=True)
class _Codes:
    """Codes of the rows of a table, each of shape (n,)."""

    worker: np.ndarray
    item: np.ndarray
    system: np.ndarray
    system_names: tuple[str, ...]


def suspected_columns(
    table: pd.DataFrame, of_role: Mapping[str, str], *, taken: Sequence[str] = ()
) -> tuple[Suspect, ...]:
    """What the columns of a table look like that are neither a role's nor `taken`; of_role: the columns of
    'worker', 'item' and 'system'. Columns with blank cells are passed over, and only the first rows of a very
    long table are looked at."""
    table = table.head(_MOST_ROWS)
    worker, item = (pd.factorize(_texts(table[of_role[role]]))[0] for role in ("worker", "item"))
    system, names = pd.factorize(_texts(table[of_role["system"]]), sort=True)
    codes = _Codes(worker, item, system, tuple(map(str, names)))
    known = {*of_role.values(), *taken}
    free = [name for name in table.columns if name not in known][:_MOST_COLUMNS]
    return tuple(suspect for name in free if (suspect := _look(str(name), table[name], codes)) is not None)


def documents_in_names(item_names: Sequence[str]) -> list[str] | None:
    """The part of each item's name before its last separator, where that groups the items: 'd1' of 'd1-s3';
    None where it does not."""
    matches = [_PREFIX.match(str(name)) for name in item_names]
    if not all(matches):
        return None
    prefixes = [match.group(1) for match in matches if match is not None]
    n = len(set(prefixes))
    return prefixes if 2 <= n <= len(prefixes) / 1.5 else None


def _texts(column: pd.Series) -> pd.Series:
    return column.astype("string").str.strip()


def _look(name: str, column: pd.Series, codes: _Codes) -> Suspect | None:
    texts = _texts(column)
    if texts.isna().any() or (texts == "").any():
        return None
    code, values = pd.factorize(texts)
    if len(values) < 2:
        return None
    return next(_readings(name, texts, code, list(map(str, values)), codes), None)


def _readings(
    name: str, texts: pd.Series, code: np.ndarray, values: Sequence[str], codes: _Codes
) -> Iterator[Suspect]:
    """What a column may be, the surest first."""
    n_items, word = int(codes.item.max()) + 1, bare(name)
    if _is_place(values, code, codes):
        said = "1 and 2 are the two" if len(values) == 2 else f"1 to {len(values)} are the"
        yield Suspect("order", name, f"{said} outputs of an item that a worker saw")
    if len(values) == 2 and _is_first(values, code, codes):
        yield Suspect("order", name, "it names one of two for each worker and item: the output shown first")
    of_items = _constant_within(codes.item, code)
    if (
        of_items
        and len(values) <= n_items / 1.5
        and (word in DOCUMENT_NAMES or len(values) >= _LEAST_DOCUMENTS)
    ):
        yield Suspect("documents", name, f"each of {n_items:,} items has one of its {len(values):,} values")
    if word in _SESSIONS and len(values) < len(code) / 2 and not of_items and not _same(code, codes.worker):
        yield Suspect("sessions", name, f"its name, and {len(values):,} values that repeat")
    number = pd.to_numeric(texts, errors="coerce")
    if word in _POSITIONS and number.notna().all() and _differs_within_worker(code, codes):
        yield Suspect("position", name, "a number that differs from rating to rating of a worker")
    if word in _TIMES and not of_items:
        yield Suspect("time", name, "its name")


def _is_place(values: Sequence[str], code: np.ndarray, codes: _Codes) -> bool:
    numbers = pd.to_numeric(pd.Series(list(values)), errors="coerce")
    if len(values) > len(codes.system_names) or sorted(numbers.fillna(0)) != list(
        range(1, len(values) + 1)
    ):
        return False
    counts = _within_sittings(code, codes)
    several = counts[counts["system"] > 1]
    differing = int((several["code"] == several["system"]).sum())
    return len(several) > 0 and differing >= _USUALLY * len(several)


def _is_first(values: Sequence[str], code: np.ndarray, codes: _Codes) -> bool:
    words = {bare(value) for value in values}
    named = words == {bare(system) for system in codes.system_names}
    if not (named or words <= _FIRST):
        return False
    counts = _within_sittings(code, codes)
    both = counts[counts["system"] == 2]
    differing, pairs = int((both["code"] > 1).sum()), len(both)
    return pairs > 0 and differing <= (1 - _USUALLY) * pairs and not _constant_within(codes.worker, code)


def _within_sittings(code: np.ndarray, codes: _Codes) -> pd.DataFrame:
    """Different values of the column, `code`, and different systems, `system`, of every item of a worker."""
    sitting = codes.worker * np.int64(int(codes.item.max()) + 1) + codes.item
    frame = pd.DataFrame({"sitting": sitting, "code": code, "system": codes.system})
    return frame.groupby("sitting").nunique()


def _constant_within(level: np.ndarray, code: np.ndarray) -> bool:
    return len(np.unique(level * np.int64(int(code.max()) + 1) + code)) == int(level.max()) + 1


def _same(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two columns group the rows alike."""
    return _constant_within(first, second) and _constant_within(second, first)


def _differs_within_worker(code: np.ndarray, codes: _Codes) -> bool:
    """Whether a worker's ratings mostly have values of their own, or one for each item."""
    pairs = len(np.unique(codes.worker * np.int64(int(code.max()) + 1) + code))
    seen = len(np.unique(codes.worker * np.int64(int(codes.item.max()) + 1) + codes.item))
    return pairs >= _USUALLY * seen


# Columns of a table of scores that look like clusters of its items, which a test that is not told of
# counts as independent.

_OTHER_NAMES = {
    *(
        "cluster",
        "clusterid",
        "template",
        "templateid",
        "family",
        "group",
        "groupid",
        "problem",
        "problemid",
    ),
    *("subject", "scenario", "scenarioid", "repo", "repository", "document_id", "paper", "page", "url"),
    "title",
}
_NO_CLUSTERS = {
    *("split", "fold", "language", "lang", "metric", "filter", "version", "label", "gold", "answer"),
    *("target", "prediction"),
}
_LEAST_SIZE = 1.5  # items a cluster, on average, where the name says nothing
_LEAST = 5  # clusters where the name says nothing: fewer values are categories
_MOST_COLUMNS, _MOST_ROWS = 60, 100_000


@dataclass(frozen=True, slots=True)
class ClusterSuspect:
    """A column in which several items share a value; `column` is None where the items' names say it."""

    column: str | None
    n_clusters: int
    n_items: int
    largest: int

    def sentence(self) -> str:
        """What is said of it, and what takes it into account."""
        if self.column is None:
            return (
                f"The names of the {self.n_items:,} items fall into {self.n_clusters:,} groups by their first "
                "part: if these are passages or documents, items of one are alike. Put the part into a column, "
                "and name it with --cluster."
            )
        return (
            f"Column {shortened(self.column)!r} puts the {self.n_items:,} items into {self.n_clusters:,} groups of "
            f"up to {self.largest:,}: items of one may be alike, and are counted here as independent. If they are, "
            f"--cluster {shell_word(self.column)} takes that into account."
        )


def cluster_suspects(
    frame: pd.DataFrame, *, item: str | None, taken: Collection[str] = ()
) -> tuple[ClusterSuspect, ...]:
    """The columns that look like clusters, the largest number of clusters first.

    frame : a table of scores, one row or several for each item.
    item : the column of the items; None where every row is one.
    taken : columns that are known to be something else, such as systems, scores, runs.

    A cluster's value is the same in all rows of an item, and several items share it. A name such as 'passage'
    is enough; of another name there must be five clusters and repeated words or codes, not measured numbers.
    """
    head = frame.head(_MOST_ROWS)
    items = np.arange(len(head)) if item is None else pd.factorize(_texts(head[item]))[0]
    known = {*taken, *([] if item is None else [item])}
    free = [name for name in head.columns if name not in known][:_MOST_COLUMNS]
    results = [
        one for name in free if (one := _look_of_cluster_columns(str(name), head[name], items)) is not None
    ]
    if not results and item is not None:
        results = _in_names(list(dict.fromkeys(_texts(head[item]))))
    return tuple(sorted(results, key=lambda one: -one.n_clusters))


def _look_of_cluster_columns(name: str, column: pd.Series, items: np.ndarray) -> ClusterSuspect | None:
    word = bare(name)
    if word in _NO_CLUSTERS:
        return None
    texts = _texts(column)
    if texts.isna().any() or (texts == "").any():
        return None
    codes, values = pd.factorize(texts)
    of_item = np.full(int(items.max()) + 1, -1)
    of_item[items] = codes
    if (of_item[items] != codes).any():
        return None  # it varies within items
    sizes = np.bincount(of_item)
    n_clusters, n_items = len(values), len(of_item)
    if n_clusters < 2 or n_clusters == n_items:
        return None
    is_named = word in DOCUMENT_NAMES or word in _OTHER_NAMES
    is_measured = pd.to_numeric(texts, errors="coerce").notna().all()
    if not is_named and (is_measured or n_clusters < _LEAST or n_items < _LEAST_SIZE * n_clusters):
        return None
    return ClusterSuspect(name, n_clusters, n_items, int(sizes.max()))


def _in_names(items: list[str]) -> list[ClusterSuspect]:
    prefixes = documents_in_names(items)
    if prefixes is None or len(set(prefixes)) < _LEAST:
        return []
    sizes = np.bincount(pd.factorize(pd.Series(prefixes))[0])
    return [ClusterSuspect(None, len(sizes), len(items), int(sizes.max()))]


# A table without the participants who took their consent back.


@dataclass(frozen=True, slots=True)
class TableSize:
    """How many rows a table has, and workers."""

    n_rows: int
    n_workers: int


def without_workers(
    table: pd.DataFrame, withdrawn: Collection[str], *, worker: str | None = None, source: str = "table"
) -> tuple[pd.DataFrame, TableSize, TableSize]:
    """The rows of all others, how much goes, and how much is left.

    worker : the column of the workers; None finds it by name.
    Raises InputError: no such column, names that the table does not have, or nobody left.
    """
    columns = [str(name).strip() for name in table.columns]
    named = {"worker": worker}
    column = find_columns(columns, [ROLES["worker"]], named=named, source=source).of["worker"]
    names = table.iloc[:, columns.index(column)].astype(str).str.strip()
    absent = [name for name in dict.fromkeys(withdrawn) if not (names == name).any()]
    if absent:
        rule = f"has no rows of {len(absent):,} who withdrew: {listing(absent, limit=3)}."
        remedy = "Name them as the table does; its names may be pseudonyms."
        raise refusal(rule, remedy, place=source, column=column)
    gone = names.isin(list(withdrawn)).to_numpy()
    if gone.all():
        raise refusal("all workers withdrew: no row is left.", place=source)
    sizes = (TableSize(int(rows.sum()), int(names[rows].nunique())) for rows in (gone, ~gone))
    went, left = sizes
    return table[~gone], went, left


# All answers of the workers of a table, repeats and checks too, as statistics of their work take them.

_KNOWN = {"seconds": "a number of seconds of at least 0", "passed": "1 or 0"}


def worker_answers(
    table: pd.DataFrame,
    columns: Mapping[str, str],
    *,
    scale: RatingScale,
    criterion: str | None = None,
    missing: Collection[str] = (),
    without_rejected: bool = False,
    source: str = "table",
) -> pd.DataFrame:
    """One row for each answer with a worker: worker, item, system, rating, and what is known of kind, code, seconds
    and passed (None or NaN where a cell is blank). Ratings are on [0, 1].

    columns : those of worker, item, system, rating and, in a table with one, criterion.
    criterion : the one whose ratings count; attention checks count for every criterion. With it the answers have
        a column of criteria.
    missing : the cells of the rating that mean that there is none.
    without_rejected : leave out rejected or unfinished work.
    Raises InputError: seconds that are no times, checks that are neither passed nor failed.
    """
    table = table.set_axis([str(name).strip() for name in table.columns], axis=1)
    kinds = read_kinds(table, but=columns.values())
    texts = {role: _ids(table[columns[role]]) for role in ("worker", "item", "system")}
    given = read_numbers(read_cells(table[columns["rating"]]), missing=missing)
    result: dict[str, object] = dict(texts)
    result["rating"] = np.where(given.missing, np.nan, scale.to_unit(given.value))
    is_check = np.zeros(len(table), dtype=np.bool_)
    if kinds is not None:
        text = kinds.cells.stripped
        result[KIND] = np.where(text == "", KINDS[0], text)
        is_check = text == "check"
    problems: list[Problem] = []
    for name in _KNOWN:
        if name in table.columns and name not in columns.values():
            result[name], wrong = _numbers(table, name, is_check, source)
            problems += wrong
    refuse(problems)
    if "code" in table.columns and "code" not in columns.values():
        result["code"] = _ids(table["code"])
    kept = texts["worker"] != ""
    if without_rejected:
        kept &= ~marked_rows(refused_rows(table, but=columns.values()), len(table))
    if "criterion" in columns and criterion is not None:
        kept &= is_check | (_ids(table[columns["criterion"]]) == criterion)
    answers: pd.DataFrame = pd.DataFrame(result)
    if criterion is not None:
        answers["criterion"] = np.where(is_check, "", criterion)
    left: pd.DataFrame = answers.loc[kept].reset_index(drop=True)
    return left


def joined_answers(by_criterion: Collection[pd.DataFrame]) -> pd.DataFrame:
    """Answers on several criteria as one table, with each attention check once."""
    first, *others = by_criterion
    return pd.concat([first, *(one[~_checks(one)] for one in others)], ignore_index=True)


def _checks(answers: pd.DataFrame) -> pd.Series:
    if KIND not in answers.columns:
        return pd.Series(False, index=answers.index)
    return answers[KIND] == "check"


def _ids(column: pd.Series) -> np.ndarray:
    ids = read_ids(read_cells(column))
    return np.array([*ids.names, ""], dtype=object)[ids.code]


def _numbers(
    table: pd.DataFrame, name: str, is_check: Mask, source: str
) -> tuple[np.ndarray, list[Problem]]:
    """A column of numbers, NaN where blank, and what is wrong with it."""
    cells = read_cells(table[name])
    read = read_numbers(cells, missing=("",))
    usable = np.isin(read.value, (0, 1)) if name == "passed" else read.value >= 0
    concerned = is_check if name == "passed" else np.ones(len(table), dtype=np.bool_)
    rows = np.arange(len(table), dtype=np.int64) + 2
    if table.index.name == ROW_INDEX:
        rows = table.index.to_numpy(dtype=np.int64)
    wrong = cell_problems(
        concerned & ~read.missing & ~usable,
        cells,
        at=Location(source, name, rows),
        rule=f"must be {_KNOWN[name]}.",
        remedy="Mend the cell, or leave it blank where it is not known.",
    )
    return np.where(read.missing, np.nan, read.value), wrong
