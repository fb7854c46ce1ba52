"""Scores of systems on items in several runs: generations, prompts or seeds."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.columns import bare
from humeval_power.checking.suspects import ClusterSuspect
from humeval_power.clusters import Clusters
from humeval_power.errors import InputError
from humeval_power.runs_parameters import GENERATIONS, PROMPTS, RunsKind

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RunTable:
    """One score for each item, system and run that there is; all arrays have the shape (n_scores,).

    `item`, `system` and `run` are codes into the names. `run_column` is what the table calls the runs, `numbered`
    whether their labels are numbers. `clusters` are those of the items, None where nobody named any;
    `suspects` are columns that look like such.
    """

    item: Codes
    system: Codes
    run: Codes
    score: Floats
    item_names: tuple[str, ...]
    system_names: tuple[str, ...]
    run_names: tuple[str, ...]
    run_column: str = "run"
    metric: str = "score"
    clusters: Clusters | None = None
    suspects: tuple[ClusterSuspect, ...] = ()
    source: str = ""
    sha256: str = ""
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not np.isfinite(self.score).all():
            raise InputError("Every score of a run must be a finite number.")
        if self.n_systems < 2 or self.n_items < 2:
            raise InputError(
                f"At least 2 systems and 2 items are needed; got {self.n_systems} and {self.n_items:,}."
            )
        if self.clusters is not None and self.clusters.n_items != self.n_items:
            raise InputError(
                f"There are {self.n_items:,} items, and clusters of {self.clusters.n_items:,} items."
            )

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.item_names)

    @property
    def n_systems(self) -> int:
        """Number of systems."""
        return len(self.system_names)

    @property
    def n_labels(self) -> int:
        """Number of different labels of runs."""
        return len(self.run_names)

    @property
    def numbered(self) -> bool:
        """Whether all labels of runs are whole numbers."""
        return all(name.lstrip("+-").isdecimal() for name in self.run_names)

    @property
    def counts(self) -> Codes:
        """Scores of each item under each system, shape (n_items, n_systems)."""
        cells = self.item * self.n_systems + self.system
        return np.bincount(cells, minlength=self.n_items * self.n_systems).reshape(-1, self.n_systems)

    @property
    def is_binary(self) -> bool:
        """Whether all scores are 0 or 1."""
        return bool(np.isin(self.score, (0.0, 1.0)).all())

    def cell_sums(self, values: Floats) -> Floats:
        """Sums of values (n_scores,) for each item and system, shape (n_items, n_systems)."""
        cells = self.item * self.n_systems + self.system
        sums = np.bincount(cells, weights=values, minlength=self.n_items * self.n_systems)
        return np.asarray(sums.reshape(-1, self.n_systems), dtype=np.float64)

    def pair(self, first: str, second: str) -> RunTable:
        """The scores of two systems, the first of which becomes A (code 0); labels of runs keep their codes."""
        unknown = [name for name in (first, second) if name not in self.system_names]
        if unknown or first == second:
            known = ", ".join(self.system_names)
            raise InputError(f"Two different systems are compared; there are {known}.")
        codes = [self.system_names.index(name) for name in (first, second)]
        kept = np.isin(self.system, codes)
        return replace(
            self,
            item=self.item[kept],
            system=np.where(self.system[kept] == codes[1], 1, 0).astype(np.int64),
            run=self.run[kept],
            score=self.score[kept],
            system_names=(first, second),
        )


# Are runs nested in items (generations), or the same for all items (prompts, seeds)? What a table says of
# it.

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
        p_values = [p for p in (self.p_level, self.p_slope) if not math.isnan(p)]
        return bool(p_values) and min(p_values) * len(p_values) <= STRONG_EVIDENCE


def read_kind(table: RunTable) -> RunsReading:
    """What the labels, the column's name and the scores of a table say of its runs."""
    cells = (table.item * table.n_systems + table.system) * table.n_labels + table.run
    different = np.unique(cells)
    of_item = np.bincount(different // (table.n_systems * table.n_labels), minlength=table.n_items)
    complete = np.flatnonzero(of_item == table.n_systems * table.n_labels)
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
    from scipy import special

    n, m = values.shape
    rows, columns, mean = values.mean(axis=1), values.mean(axis=0), values.mean()
    rest = float(np.sum((values - rows[:, None] - columns[None, :] + mean) ** 2)) / ((n - 1) * (m - 1))
    between = n * float(np.sum((columns - mean) ** 2)) / (m - 1)
    if rest <= 1e-12 * max(between, 1e-300):
        return math.nan if between <= 0 else 0.0
    return float(special.fdtrc(m - 1, (n - 1) * (m - 1), between / rest))
