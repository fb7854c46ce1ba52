"""Labels of the same items from one table with a column for the true ones and one for each system."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from humeval_power.checking.columns import find_columns, named_column
from humeval_power.checking.suspects import ClusterSuspect, cluster_suspects
from humeval_power.clusters import Clusters
from humeval_power.errors import Problem, refusal, refuse
from humeval_power.files.lines import ITEM, SHOWN
from humeval_power.files.tables import SourceTable, clusters_of, read_table, texts_of


@dataclass(frozen=True, slots=True, eq=False)
class LabelTable:
    """True labels and the predictions of two systems, in the order of the table; `clusters` of the items where they
    were named, `suspects` columns that look like clusters where none was."""

    gold: tuple[str, ...]
    system_a: tuple[str, ...]
    system_b: tuple[str, ...]
    clusters: Clusters | None = None
    suspects: tuple[ClusterSuspect, ...] = ()

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """The three, as `contingency.test` takes them."""
        return self.gold, self.system_a, self.system_b


def read_label_table(
    path: str | Path, *, gold: str, system_a: str, system_b: str, cluster: str | None = None
) -> LabelTable:
    """Read labels from a table with a row for each item.

    Parameters
    ----------
    gold, system_a, system_b : the columns of the true labels and of the predictions.
    cluster : the column of the clusters of the items.

    Raises
    ------
    InputError
        Columns that are not there or in two roles, items twice, blank labels with their rows, or a single cluster.
    """
    table = read_table(path)
    options = {"--gold": gold, "--system-a": system_a, "--system-b": system_b}
    for option, name in options.items():
        named_column(name, table.frame.columns, option=option, source=table.source)
    if len(set(options.values())) < len(options):
        rule = f"true labels, A and B are three columns; got {gold}, {system_a} and {system_b}."
        raise refusal(rule, "Name each by its own.", table.source)
    item = find_columns(table.frame.columns, [ITEM], source=table.source).of.get("item")
    problems = _repeated(table, item)
    for name in options.values():
        table.ids(name, "label", problems, may_look_alike=True)
    refuse(problems)
    columns = [tuple(texts_of(table, name) or ()) for name in options.values()]
    items = tuple(map(str, range(len(table.frame))))
    clusters = None if cluster is None else clusters_of(table, cluster, items, item_column=None)
    suspects = (
        cluster_suspects(table.frame, item=item, taken=tuple(options.values())) if cluster is None else ()
    )
    return LabelTable(columns[0], columns[1], columns[2], clusters, suspects)


def _repeated(table: SourceTable, item: str | None) -> list[Problem]:
    if item is None:
        return []
    keys = table.frame[item].astype(str).str.strip()
    doubled = keys[keys.duplicated()].head(SHOWN)
    rule, remedy = "this item is there already.", "Keep one row for each."
    return [
        Problem(rule, remedy, table.source, int(row), item, key, has_value=True)
        for row, key in zip(doubled.index, doubled, strict=True)
    ]
