"""Are runs nested in items (generations), or the same for all items (prompts, seeds)? What a table says of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from humeval_power.checking.columns import bare
from humeval_power.inference.runs.run_table import Floats, RunTable
from humeval_power.runs_parameters import GENERATIONS, PROMPTS, RunsKind

Layout = Literal["own labels", "shared labels", "shared numbers"]

STRONG_EVIDENCE = 0.001  # of a p-value that contradicts how the runs are read
_SHARED = 0.9  # of items with all labels, from which labels count as the same for all


@dataclass(frozen=True, slots=True)
class RunsReading:
    """What a table's runs look like.

    `kind` is None where the table does not say. `layout`: each item has labels of its own, all have the same
    words, or the same numbers. `named` is the kind that the column's name speaks for. `p_level` tests whether
    runs of one label differ from others over all items, `p_slope` whether they favour a system: small values mean
    that a label stands for something shared. NaN where it cannot be tested.
    """

    kind: RunsKind | None
    layout: Layout
    named: RunsKind | None
    column: str
    n_labels: int
    n_items: int
    n_complete: int
    runs: tuple[int, int]
    p_level: float
    p_slope: float

    @property
    def looks_shared(self) -> bool:
        """Whether the scores themselves say that runs of one label share something."""
        found = [p for p in (self.p_level, self.p_slope) if not math.isnan(p)]
        return bool(found) and min(found) * len(found) <= STRONG_EVIDENCE


def read_kind(table: RunTable) -> RunsReading:
    """What the labels, the column's name and the scores of a table say of its runs."""
    complete = _complete_items(table)
    named = named_kind(table.run_column)
    layout: Layout = "own labels"
    if len(complete) >= _SHARED * table.n_items:
        layout = "shared numbers" if table.numbered else "shared labels"
    kind: RunsKind | None
    if layout == "own labels":
        kind = None if named == "crossed" else "nested"
    elif named is not None:
        kind = named
    else:
        kind = "crossed" if layout == "shared labels" else None
    counts = table.counts[table.counts > 0]
    level, slope = _shared_effects(table, complete)
    return RunsReading(
        kind=kind,
        layout=layout,
        named=named,
        column=table.run_column,
        n_labels=table.n_labels,
        n_items=table.n_items,
        n_complete=len(complete),
        runs=(int(counts.min()), int(counts.max())),
        p_level=level,
        p_slope=slope,
    )


def named_kind(column: str) -> RunsKind | None:
    """The kind that a column's name speaks for; None for 'run' and other names that say nothing."""
    word = bare(column)
    for stem in (word, word.removesuffix("id"), word.removesuffix("name"), word.removesuffix("s")):
        if stem in PROMPTS:
            return "crossed"
        if stem in GENERATIONS:
            return "nested"
    return None


def _complete_items(table: RunTable) -> np.ndarray:
    """The items that have every label of runs under every system once."""
    cells = (table.item * table.n_systems + table.system) * table.n_labels + table.run
    different = np.unique(cells)
    of_item = np.bincount(different // (table.n_systems * table.n_labels), minlength=table.n_items)
    return np.flatnonzero(of_item == table.n_systems * table.n_labels)


def _shared_effects(table: RunTable, complete: np.ndarray) -> tuple[float, float]:
    """p-values of runs' levels and of runs' differences between systems, by analysis of variance of the items
    that are complete; the latter is the smallest over the systems' contrasts with the first, times their number."""
    n, k, m = len(complete), table.n_systems, table.n_labels
    if n < 2 or m < 2:
        return math.nan, math.nan
    cube = np.full((table.n_items, k, m), np.nan)
    cube[table.item, table.system, table.run] = table.score
    values = cube[complete]
    slopes = [_runs_differ(values[:, place] - values[:, 0]) for place in range(1, k)]
    known = [p for p in slopes if not math.isnan(p)]
    slope = min(1.0, len(known) * min(known)) if known else math.nan
    return _runs_differ(values.mean(axis=1)), slope


def _runs_differ(values: Floats) -> float:
    """p-value of columns in a two-way table (items, runs) without replicates; NaN where nothing varies."""
    n, m = values.shape
    rows, columns, mean = values.mean(axis=1), values.mean(axis=0), values.mean()
    rest = float(np.sum((values - rows[:, None] - columns[None, :] + mean) ** 2)) / ((n - 1) * (m - 1))
    between = n * float(np.sum((columns - mean) ** 2)) / (m - 1)
    if rest <= 1e-12 * max(between, 1e-300):
        return math.nan if between <= 0 else 0.0
    return float(special.fdtrc(m - 1, (n - 1) * (m - 1), between / rest))
