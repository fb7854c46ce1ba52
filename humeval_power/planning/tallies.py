"""What is counted of simulated replicates: counts of separate blocks add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from humeval_power.scenarios.contract import Replicates, Scenario, Shiftable


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts over replicates; tallies of separate portions add up."""

    n: int = 0
    n_failed: int = 0
    n_right: int = 0  # significant, with the sign of the true effect (of 0: positive), or undirected
    n_wrong: int = 0  # significant, with the other sign
    sum_size: float = 0.0  # of |estimate| over the significant ones
    sum_estimate: float = 0.0
    sum_square: float = 0.0
    n_boundary: int = 0  # at least one component estimated as zero
    n_zero: tuple[int, ...] = ()  # by component

    def __add__(self, other: Tally) -> Tally:
        zero = self.n_zero or (0,) * len(other.n_zero)
        return Tally(
            self.n + other.n,
            self.n_failed + other.n_failed,
            self.n_right + other.n_right,
            self.n_wrong + other.n_wrong,
            self.sum_size + other.sum_size,
            self.sum_estimate + other.sum_estimate,
            self.sum_square + other.sum_square,
            self.n_boundary + other.n_boundary,
            tuple(a + b for a, b in zip(zero, other.n_zero, strict=True)),
        )


def tally(replicates: Replicates, *, alpha: float, true_effect: float) -> Tally:
    """Count significant replicates; failed ones are counted as failed, never as significant."""
    usable = replicates.usable
    estimate = replicates.estimate[usable]
    significant = replicates.p_value[usable] <= alpha
    claim = estimate if replicates.claim is None else replicates.claim[usable]
    right = claim > 0 if true_effect >= 0 else claim < 0
    if not replicates.directed:
        right = np.ones_like(significant)
    zero = replicates.boundary[usable]
    return Tally(
        n=len(replicates),
        n_failed=int((~usable).sum()),
        n_right=int((significant & right).sum()),
        n_wrong=int((significant & ~right).sum()),
        sum_size=float(np.abs(estimate[significant]).sum()),
        sum_estimate=float(estimate.sum()),
        sum_square=float((estimate**2).sum()),
        n_boundary=int(zero.any(axis=1).sum()),
        n_zero=tuple(int(count) for count in zero.sum(axis=0)),
    )


@dataclass(frozen=True, slots=True)
class Counted:
    """What one block of replicates says of each of the scenarios that share it."""

    tallies: tuple[Tally, ...]
    boundary_names: tuple[str, ...]
    directed: bool


def count_block(
    scenarios: tuple[Scenario, ...], seed: int, first: int, n: int, *, n_jobs: int = 1
) -> Counted:
    """Replicates first to first + n - 1 of the first scenario, counted for each of those that share them."""
    lead = scenarios[0]
    drawn = lead.draw(n, seed=seed, first=first, n_jobs=n_jobs)
    tallies = [tally(drawn, alpha=lead.alpha, true_effect=lead.true_effect)]
    for scenario in scenarios[1:]:
        moved = cast(Shiftable, lead).shifted(drawn, scenario.true_effect - lead.true_effect)
        tallies.append(tally(moved, alpha=scenario.alpha, true_effect=scenario.true_effect))
    return Counted(tuple(tallies), drawn.boundary_names, drawn.directed)
