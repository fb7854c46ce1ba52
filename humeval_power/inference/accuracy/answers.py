"""Which items each of several systems got right, and what is known of the items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.cluster_columns import ClusterSuspect
from humeval_power.clusters import Clusters
from humeval_power.errors import InputError
from humeval_power.inference.accuracy.counts import PairedCounts, paired_counts

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """Right and wrong answers of systems to the same items: `right` is (n_items, n_systems).

    `clusters` are those of the items, None where they count as independent; `suspects` are columns that look like
    clusters; `notices` what was noticed in reading.

    Raises
    ------
    InputError
        No items, fewer than two systems, names that do not belong to them, or clusters of other items.

    Examples
    --------
    >>> Answers(np.array([[True, True], [False, True]]), systems=("old", "new")).pair(0, 1).difference
    0.5
    """

    right: Flags
    systems: tuple[str, ...] = ("A", "B")
    clusters: Clusters | None = None
    suspects: tuple[ClusterSuspect, ...] = ()
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "right", np.asarray(self.right, dtype=np.bool_))
        if self.right.ndim != 2 or self.right.shape[1] < 2:
            raise InputError(
                "Right answers are a table with a row for each item and a column for each system."
            )
        n_items, n_systems = self.right.shape
        if not n_items:
            raise InputError("There are no items.")
        if len(set(self.systems)) != n_systems:
            raise InputError(f"{n_systems} systems need different names; got {', '.join(self.systems)}.")
        if self.clusters is not None and self.clusters.n_items != n_items:
            raise InputError(f"There are {n_items:,} items, and clusters of {self.clusters.n_items:,}.")

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.right)

    def pair(self, first: int, second: int) -> PairedCounts:
        """Items by which of two systems got them right; the first is A, the second is B."""
        return paired_counts(self.right[:, second], self.right[:, first])

    def gains(self, first: int, second: int) -> NDArray[np.float64]:
        """1 where only the second system is right, -1 where only the first is, shape (n_items,)."""
        return self.right[:, second].astype(np.float64) - self.right[:, first]
