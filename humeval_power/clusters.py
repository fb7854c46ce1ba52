"""Clusters of items: passages, documents or templates whose items are more alike than others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import InputError

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """The cluster of each item: `codes` (n_items,) count from 0 in the order of `labels`.

    `name` is that of the column, such as 'passage'.
    """

    codes: Codes
    labels: tuple[str, ...]
    name: str = "cluster"

    def __post_init__(self) -> None:
        if (len(self.codes) and self.codes.min() < 0) or not np.array_equal(
            np.bincount(self.codes) > 0, np.ones(len(self.labels), dtype=np.bool_)
        ):
            raise InputError(f"The clusters of {self.name!r} need codes from 0 without gaps.")
        if len(self.labels) < 2:
            raise InputError(
                f"All items are in one cluster of {self.name!r}; at least 2 are needed, and 20 or more are better. "
                "From one passage nothing can be said about others."
            )

    @classmethod
    def of(cls, names: Sequence[object], *, name: str = "cluster") -> Clusters:
        """Clusters from the name of each item's cluster, in the order in which they come.

        Raises
        ------
        InputError
            Fewer than two clusters.
        """
        places: dict[str, int] = {}
        codes = [places.setdefault(str(each), len(places)) for each in names]
        return cls(np.array(codes, dtype=np.int64), tuple(places), name)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.codes)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.labels)

    @property
    def sizes(self) -> Codes:
        """Items in each cluster, shape (n_clusters,)."""
        return np.bincount(self.codes, minlength=self.n_clusters)

    @property
    def one_each(self) -> bool:
        """Whether every item is a cluster of its own, so that clusters change nothing."""
        return self.n_clusters == self.n_items

    def sums(self, values: Floats) -> Floats:
        """Sums within clusters of values (n_items,) or (n_items, k); clusters first in the result."""
        if values.ndim == 1:
            return np.bincount(self.codes, weights=values, minlength=self.n_clusters).astype(np.float64)
        return np.stack([self.sums(column) for column in values.T], axis=1)

    def members(self) -> list[Codes]:
        """The positions of the items of each cluster."""
        order = np.argsort(self.codes, kind="stable")
        return np.split(order, np.cumsum(self.sizes)[:-1])

    def only(self, kept: NDArray[np.bool_] | Codes) -> Clusters:
        """The clusters of some items; those that lose all their items go."""
        codes, first = np.unique(self.codes[kept], return_inverse=True)
        return Clusters(first.astype(np.int64), tuple(self.labels[code] for code in codes), self.name)
