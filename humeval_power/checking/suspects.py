"""Columns of a table of ratings that look like documents, sessions, an order of showing, or time: what a model of
workers and items alone leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from humeval_power.checking.columns import bare

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
    "id",
    "length",
    "n",
    "row",
    "rowid",
    "seconds",
    "unnamed0",
    "weight",
    "words",
    "",
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
    return tuple(found for name in free if (found := _look(str(name), table[name], codes)) is not None)


def documents_in_names(item_names: Sequence[str]) -> list[str] | None:
    """The part of each item's name before its last separator, where that groups the items: 'd1' of 'd1-s3';
    None where it does not."""
    found = [_PREFIX.match(str(name)) for name in item_names]
    if not all(found):
        return None
    prefixes = [match.group(1) for match in found if match is not None]
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
    differing, pairs = _within_pairs(code, codes)
    return pairs > 0 and differing <= (1 - _USUALLY) * pairs and not _constant_within(codes.worker, code)


def _within_pairs(code: np.ndarray, codes: _Codes) -> tuple[int, int]:
    """Of the workers' items with both systems, in how many the column has more than one value; and of how many."""
    counts = _within_sittings(code, codes)
    both = counts[counts["system"] == 2]
    return int((both["code"] > 1).sum()), len(both)


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
