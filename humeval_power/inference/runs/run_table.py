"""Scores of systems on items in several runs: generations, prompts or seeds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.cluster_columns import ClusterSuspect
from humeval_power.clusters import Clusters
from humeval_power.errors import InputError

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
