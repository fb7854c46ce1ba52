"""Metric scores of several systems on the same items."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humeval_power.clusters import Clusters
from humeval_power.comparisons.scores.effect_sizes import Floats
from humeval_power.errors import InputError, Problem, refusal
from humeval_power.magnitudes import LARGEST, MOST_COUNTED, SMALLEST, TOO_LARGE

if TYPE_CHECKING:
    from humeval_power.checking.suspects import ClusterSuspect

_SCALED = "Write all scores in another unit: multiply or divide them by one number."


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """One score for each item and system, shape (n_items, n_systems), and where they come from.

    `clusters` are those of the items, None where they count as independent; then `suspects` are columns that
    look like clusters.
    """

    scores: Floats
    systems: tuple[str, ...]
    metric: str = "score"
    source: str = ""
    sha256: str = ""
    notices: tuple[str, ...] = ()
    clusters: Clusters | None = None
    suspects: tuple[ClusterSuspect, ...] = ()

    def __post_init__(self) -> None:
        if self.scores.shape[1:] != (len(self.systems),) or len(set(self.systems)) != len(self.systems):
            raise InputError("A score table needs one column of scores for each system, and no name twice.")
        if len(self.systems) < 2 or len(self.scores) < 2:
            raise InputError(
                f"At least 2 systems and 2 items are needed; got {len(self.systems)} and {len(self.scores):,}."
            )
        if not np.isfinite(self.scores).all():
            raise InputError("Every item needs a finite score under every system.")
        self._check_magnitudes()
        if self.clusters is not None and self.clusters.n_items != len(self.scores):
            raise InputError(
                f"There are {len(self.scores):,} items, and clusters of {self.clusters.n_items:,}; every item "
                "needs its cluster."
            )

    def _check_magnitudes(self) -> None:
        """Refuse scores, and differences of them, whose powers are no numbers or 0."""
        place = self.source or None
        large = np.argwhere(np.abs(self.scores) > LARGEST)
        if len(large):
            item, system = large[0]
            raise InputError(
                [
                    Problem(
                        TOO_LARGE,
                        _SCALED,
                        place,
                        column=self.systems[system],
                        value=float(self.scores[item, system]),
                        has_value=True,
                    )
                ]
            )
        sizes = np.abs(self.scores)
        if not ((sizes > 0) & (sizes < SMALLEST * MOST_COUNTED)).any():
            return  # two numbers that are larger are equal, or further apart
        for a, b in all_pairs(len(self.systems)):
            largest = float(np.abs(self.scores[:, a] - self.scores[:, b]).max())
            if 0 < largest < SMALLEST:
                first, second = self.systems[a], self.systems[b]
                rule = (
                    f"no item differs between {first!r} and {second!r} by more than {largest:g}: differences "
                    f"below {SMALLEST:g} cannot be computed with."
                )
                raise refusal(rule, _SCALED, place)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.scores)

    @property
    def is_binary(self) -> bool:
        """Whether all scores are 0 or 1."""
        return bool(((self.scores == 0) | (self.scores == 1)).all())

    def column(self, system: str) -> Floats:
        """The scores of one system, shape (n_items,)."""
        return np.asarray(self.scores[:, self._place(system)])

    def only(self, systems: tuple[str, ...]) -> ScoreTable:
        """The same items under some of the systems, in the order asked for."""
        places = [self._place(system) for system in systems]
        return replace(self, scores=self.scores[:, places], systems=systems)

    def in_units(self, scores: Floats, notice: str) -> ScoreTable:
        """The same systems with one row for each evaluation unit."""
        return replace(self, scores=scores, notices=(*self.notices, notice))

    def _place(self, system: str) -> int:
        if system not in self.systems:
            raise InputError(f"There is no system {system!r}; the systems are {', '.join(self.systems)}.")
        return self.systems.index(system)


Pairs = NDArray[np.int64]


def all_pairs(n_systems: int) -> Pairs:
    """Positions of the systems of each pair, shape (n_pairs, 2)."""
    return np.stack(np.triu_indices(n_systems, k=1), axis=1).astype(np.int64)
