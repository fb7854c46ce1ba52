"""Simulated studies as they look at every look, and where a rule stops them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.errors import InputError
from humeval_power.inference.looks.boundaries import Boundaries
from humeval_power.inference.looks.boundary_values import going_on
from humeval_power.inference.study.wald import wald_p
from humeval_power.kernels.sequential import START, advance
from humeval_power.rules import Alternative
from humeval_power.scenarios.blocks import BLOCK, parts_in_blocks
from humeval_power.scenarios.contract import Replicates

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class LookReplicates:
    """What each simulated study would find at each look, shape (n, K) throughout.

    `p_value` is that of the look alone. `independent_p` is what a test finds that takes all ratings as
    independent. `status` is 0 for a fit that can be used. What a test does not give is NaN.
    """

    estimate: Floats
    standard_error: Floats
    df: Floats
    p_value: Floats
    independent_p: Floats
    status: NDArray[np.int64]
    alternative: Alternative = "two-sided"

    def __len__(self) -> int:
        return len(self.estimate)

    @property
    def usable(self) -> Flags:
        """Which replicates count: those without a failed fit at any look, shape (n,)."""
        return np.asarray(((self.status == 0) & np.isfinite(self.p_value)).all(axis=1))

    @property
    def normal_p(self) -> Floats:
        """p of estimate / standard error as if that were a z: the |t| > 1.96 of much practice."""
        return wald_p(self.estimate, self.standard_error, np.full_like(self.df, np.inf), self.alternative)

    @property
    def score(self) -> Floats:
        """The z with the p-value of the look and the sign of its estimate."""
        if self.alternative == "greater":
            return np.asarray(-special.ndtri(self.p_value))
        return np.asarray(np.copysign(-special.ndtri(self.p_value / 2), self.estimate))

    def part(self, rows: slice) -> LookReplicates:
        """Some of the replicates."""
        arrays: dict[str, Any] = {name: getattr(self, name)[rows] for name in _ARRAYS}
        return replace(self, **arrays)

    def shifted(self, by: float) -> LookReplicates:
        """The replicates of Gaussian studies with a true effect larger by `by`: only estimates move."""
        estimate = self.estimate + by
        p_value = wald_p(estimate, self.standard_error, self.df, self.alternative)
        unknown = np.full_like(estimate, np.nan)
        return replace(self, estimate=estimate, p_value=p_value, independent_p=unknown)

    @classmethod
    def joined(cls, parts: list[LookReplicates]) -> LookReplicates:
        """One record from consecutive parts."""
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS
        }
        return replace(parts[0], **arrays)


_ARRAYS = tuple(field.name for field in fields(LookReplicates) if field.name != "alternative")


class LookSource(Protocol):
    """Something that can be looked at while it grows. Replicate i of a seed does not depend on how many are
    drawn, nor in which portions, nor on `n_jobs`."""

    @property
    def true_effect(self) -> float:
        """The effect that the simulated studies really have."""
        ...

    @property
    def n_looks(self) -> int:
        """Number of looks."""
        ...

    @property
    def sizes(self) -> tuple[int, ...]:
        """Ratings (judgements, items) that have been collected at each look."""
        ...

    @property
    def drawn_together(self) -> int:
        """Replicates that come from one child of a seed, or are fitted at once: asking for fewer saves nothing."""
        ...

    def draw_looks(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> LookReplicates:
        """Simulate `n` studies and test each at every look."""
        ...

    def with_effect(self, effect: float) -> LookSource:
        """The same with another true effect."""
        ...


def look_blocks(
    draw_block: Callable[[np.random.Generator, int], LookReplicates],
    n: int,
    *,
    seed: int,
    first: int = 0,
    n_jobs: int = 1,
    size: int = BLOCK,
) -> LookReplicates:
    """Replicates `first` to `first + n - 1`, as `parts_in_blocks` draws them."""
    parts = parts_in_blocks(draw_block, n, seed=seed, first=first, n_jobs=n_jobs, size=size)
    return LookReplicates.joined(parts)


@dataclass(frozen=True, slots=True, eq=False)
class Stopped:
    """Where each study stopped, shape (n,): the look (from 0), whether it was significant or futile, its
    estimate and the p-value of that look alone; `usable` as in LookReplicates."""

    look: NDArray[np.int64]
    significant: Flags
    futile: Flags
    estimate: Floats
    p_value: Floats
    usable: Flags


def stop(looks: LookReplicates, bounds: Boundaries) -> Stopped:
    """Apply boundaries to the p-values of the looks.

    Raises
    ------
    InputError
        Boundaries for another number of looks or another alternative.
    """
    n_looks = looks.estimate.shape[1]
    if bounds.n_looks != n_looks or bounds.rule.alternative != looks.alternative:
        raise InputError(
            f"Boundaries for {bounds.n_looks} looks, {bounds.rule.alternative}, do not fit studies with "
            f"{n_looks} looks, {looks.alternative}."
        )
    with np.errstate(invalid="ignore"):
        success = looks.p_value <= bounds.nominal
        futile = (looks.p_value > bounds.futility_p) & ~success
    ends = success | futile
    ends[:, -1] = True
    look = ends.argmax(axis=1)
    rows = np.arange(len(looks))
    return Stopped(
        look=look,
        significant=success[rows, look],
        futile=futile[rows, look],
        estimate=looks.estimate[rows, look],
        p_value=looks.p_value[rows, look],
        usable=looks.usable,
    )


def stagewise_p(stopped: Stopped, bounds: Boundaries) -> Floats:
    """p-values in the stage-wise ordering, shape (n,): at most alpha exactly for significant studies.

    They are those of z-values with the same p at the look; calibrated boundaries multiply them by alpha over
    what the boundaries spend under normality. A study that stopped for futility claims nothing: 1.
    """
    sides = 2.0 if bounds.two_sided else 1.0
    result = np.ones(len(stopped.look))
    earlier = np.concatenate([[0.0], np.cumsum(bounds.exits(0.0, with_futility=bounds.rule.binding).above)])
    state = START
    for k, at in enumerate(bounds.shares):
        here = np.flatnonzero((stopped.look == k) & ~stopped.futile)
        bound = -special.ndtri(stopped.p_value[here] / sides)
        step = at - state.information
        reach = bound[:, None] * np.sqrt(at) - state.nodes * np.sqrt(state.information)
        # summed row by row: a matrix product's last digit depends on how many rows there are
        tail = (special.ndtr(-reach / np.sqrt(step)) * state.mass).sum(axis=1)
        result[here] = sides * (earlier[k] + tail)
        if k + 1 < bounds.n_looks:
            futility = bounds.futility[k] if bounds.rule.binding else -np.inf
            intervals = going_on(bounds.efficacy[k], futility, two_sided=bounds.two_sided)
            state = advance(state, intervals, information=at, following=bounds.shares[k + 1])
    return np.asarray(np.minimum(result * bounds.rule.alpha / bounds.spent[-1], 1.0))


@dataclass(frozen=True, eq=False)
class SequentialStudy:
    """A study that is looked at as it grows, with the boundaries at which it stops: a scenario whose
    replicates are the studies as they ended, with stage-wise p-values and the naive estimate."""

    source: LookSource
    bounds: Boundaries

    def __post_init__(self) -> None:
        if self.source.n_looks != self.bounds.n_looks:
            raise InputError(
                f"Boundaries for {self.bounds.n_looks} looks do not fit a study with {self.source.n_looks}."
            )

    @property
    def true_effect(self) -> float:
        """The effect of the studies."""
        return self.source.true_effect

    @property
    def alpha(self) -> float:
        """The chance of a false positive over all looks."""
        return self.bounds.rule.alpha

    def with_effect(self, effect: float) -> SequentialStudy:
        """The same with another true effect."""
        return replace(self, source=self.source.with_effect(effect))

    def draw(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> Replicates:
        """Simulate and stop studies `first` to `first + n - 1`."""
        looks = self.source.draw_looks(n, seed=seed, first=first, n_jobs=n_jobs)
        stopped = stop(looks, self.bounds)
        rows = np.arange(n)
        return Replicates(
            estimate=stopped.estimate,
            standard_error=looks.standard_error[rows, stopped.look],
            df=looks.df[rows, stopped.look],
            p_value=np.where(stopped.usable, stagewise_p(stopped, self.bounds), np.nan),
            status=np.where(stopped.usable, 0, 1),
            boundary=np.zeros((n, 0), dtype=np.bool_),
        )
