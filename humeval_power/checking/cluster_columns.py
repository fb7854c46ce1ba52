"""Columns of a table of scores that look like clusters of its items, which a test that is not told of counts as
independent."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd

from humeval_power.checking.columns import bare, shortened
from humeval_power.checking.suspects import DOCUMENT_NAMES, documents_in_names
from humeval_power.safe_text import shell_word

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
    *(
        "subject",
        "scenario",
        "scenarioid",
        "repo",
        "repository",
        "document_id",
        "paper",
        "page",
        "url",
        "title",
    ),
}
_NO_CLUSTERS = {
    "split",
    "fold",
    "language",
    "lang",
    "metric",
    "filter",
    "version",
    "label",
    "gold",
    "answer",
    "target",
    "prediction",
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
                "and name it by --cluster."
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
    found = [one for name in free if (one := _look(str(name), head[name], items)) is not None]
    if not found and item is not None:
        found = _in_names(list(dict.fromkeys(_texts(head[item]))))
    return tuple(sorted(found, key=lambda one: -one.n_clusters))


def _texts(column: pd.Series) -> pd.Series:
    return column.astype("string").str.strip()


def _look(name: str, column: pd.Series, items: np.ndarray) -> ClusterSuspect | None:
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
