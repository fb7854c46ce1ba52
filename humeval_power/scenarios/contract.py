"""The contract between what can be simulated and everything that is asked about it."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self, TypeGuard, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from humeval_power.simulation.study import replicate_generator

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Replicates:
    """Simulated studies, one entry each (first axis).

    `status` is 0 for a fit that can be used; another value marks a failure, which is never counted as
    'not significant'. `boundary`, shape (n, k), says which variance components were estimated as zero;
    k may be 0. `directed` is false where a significant study claims no direction, as with equivalence
    and non-inferiority: the sign of its estimate then does not matter. `claim`, shape (n,), has the sign
    that each study claims where that is not its estimate's: a rank test can contradict the means.
    """

    estimate: Floats
    standard_error: Floats
    df: Floats
    p_value: Floats
    status: NDArray[np.int64]
    boundary: Flags
    boundary_names: tuple[str, ...] = ()
    directed: bool = True
    claim: Floats | None = None

    @classmethod
    def of_tests(
        cls,
        estimate: Floats,
        p_value: Floats,
        *,
        standard_error: Floats | None = None,
        df: Floats | None = None,
        status: NDArray[np.int64] | None = None,
        claim: Floats | None = None,
        directed: bool = True,
    ) -> Replicates:
        """Studies tested without a model of variance components; what is not given is NaN, or status 0."""
        n, unknown = len(estimate), np.full(len(estimate), np.nan)
        return cls(
            estimate,
            unknown if standard_error is None else standard_error,
            unknown if df is None else df,
            p_value,
            np.zeros(n, dtype=np.int64) if status is None else status,
            np.zeros((n, 0), dtype=np.bool_),
            directed=directed,
            claim=claim,
        )

    def __len__(self) -> int:
        return len(self.estimate)

    @property
    def usable(self) -> Flags:
        """Which replicates count."""
        return np.asarray((self.status == 0) & np.isfinite(self.p_value))

    def first(self, n: int) -> Replicates:
        """The first `n` replicates."""
        return self.part(slice(0, n))

    def part(self, rows: slice | NDArray[np.int64]) -> Replicates:
        """Some of the replicates."""
        return replace(
            self,
            estimate=self.estimate[rows],
            standard_error=self.standard_error[rows],
            df=self.df[rows],
            p_value=self.p_value[rows],
            status=self.status[rows],
            boundary=self.boundary[rows],
            claim=None if self.claim is None else self.claim[rows],
        )


class Scenario(Protocol):
    """Something whose power can be computed.

    `draw` returns replicates `first` to `first + n - 1` of the endless sequence that belongs to the
    seed: replicate i does not depend on how many are drawn, nor in which portions, nor on `n_jobs`.
    """

    @property
    def true_effect(self) -> float:
        """The effect that the simulated studies really have, in the units of `Replicates.estimate`."""
        ...

    @property
    def alpha(self) -> float:
        """The level at which a study is called significant."""
        ...

    def draw(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> Replicates:
        """Simulate `n` studies and test each."""
        ...

    def with_effect(self, effect: float) -> Scenario:
        """The same studies with another true effect."""
        ...


class Shiftable(Scenario, Protocol):
    """A scenario whose replicates under another effect are its own, moved."""

    def shifted(self, replicates: Replicates, by: float) -> Replicates:
        """The replicates with a true effect larger by `by`."""
        ...


# Power of a test whose estimate is normal and whose null standard deviation is another than its own.


@dataclass(frozen=True, slots=True)
class ComputedPower:
    """Power of a scenario as it follows from its probabilities.

    `power` is the probability of a significant effect with the sign of the true one (positive if that is
    zero), `rejection_rate` with either sign; `type_m` the mean of |estimate| / |true effect| and `type_s`
    the share with the wrong sign, both over significant results and NaN without an effect. `method` says
    in words how they were found, `exact` whether that is exact.
    """

    power: float
    rejection_rate: float
    type_m: float
    type_s: float
    method: str
    exact: bool


class Computable(Scenario, Protocol):
    """A scenario that knows its power."""

    def computed(self) -> ComputedPower:
        """Power, Type M and Type S without simulation."""
        ...


def is_computable(scenario: Scenario) -> TypeGuard[Computable]:
    """Whether the scenario knows its power without simulation; where a formula holds for some scenarios of a
    kind only, they say so by `has_formula`."""
    return hasattr(scenario, "computed") and getattr(scenario, "has_formula", True)


def normal_power(
    difference: float, *, null_sd: float, standard_error: float, alpha: float, method: str
) -> ComputedPower:
    """Power of a test that compares |estimate| with z null_sd, the estimate being normal around the truth.

    Under an alternative the two standard deviations differ: swapping adds the squared mean effect.
    """
    from scipy.special import ndtr, ndtri

    truth, gap = abs(difference), -float(ndtri(alpha / 2)) * null_sd
    if standard_error == 0:
        surely = float(truth > 0 and truth >= gap)
        unknown = math.nan
        type_m, type_s = (1.0, 0.0) if surely else (unknown, unknown)
        return ComputedPower(surely, surely, type_m, type_s, method, exact=False)
    high, low = (truth - gap) / standard_error, (-truth - gap) / standard_error
    right, wrong = float(ndtr(high)), float(ndtr(low))
    density = (math.exp(-high * high / 2) + math.exp(-low * low / 2)) / math.sqrt(2 * math.pi)
    size = truth * (right - wrong) + standard_error * density
    result = right + wrong
    has_errors = truth > 0 and result > 0
    return ComputedPower(
        power=right,
        rejection_rate=result,
        type_m=size / (result * truth) if has_errors else math.nan,
        type_s=wrong / result if has_errors else math.nan,
        method=method,
        exact=False,
    )


# Vectorised drawing that keeps the promise of a scenario: replicate i belongs to the seed alone.


class Partable(Protocol):
    """A record of replicates of which some can be taken."""

    def part(self, rows: slice) -> Self:
        """Some of the replicates."""
        ...


Drawn = TypeVar("Drawn", bound=Partable)
BLOCK = 2048  # replicates drawn together from one child of the seed; part of what a seed means


def draw_in_blocks(
    draw_block: Callable[[np.random.Generator, int], Replicates],
    n: int,
    *,
    seed: int,
    first: int = 0,
    n_jobs: int = 1,
    size: int = BLOCK,
) -> Replicates:
    """Replicates `first` to `first + n - 1`, as `parts_in_blocks` draws them."""
    return joined(parts_in_blocks(draw_block, n, seed=seed, first=first, n_jobs=n_jobs, size=size))


def parts_in_blocks(
    draw_block: Callable[[np.random.Generator, int], Drawn],
    n: int,
    *,
    seed: int,
    first: int = 0,
    n_jobs: int = 1,
    size: int = BLOCK,
) -> list[Drawn]:
    """Replicates `first` to `first + n - 1` in consecutive parts, cut out of whole blocks of `size`.

    Block b is `draw_block(child b of the seed, size)`, so neither the portions in which replicates are
    asked for nor `n_jobs` change any of them. Choose a smaller `size` where a replicate needs much memory
    or time; it is part of what a seed means.
    """
    blocks = range(first // size, -(-(first + n) // size))

    def part(block: int) -> Drawn:
        drawn = draw_block(replicate_generator(seed, block), size)
        return drawn.part(slice(max(first - block * size, 0), min(first + n - block * size, size)))

    if n_jobs == 1 or len(blocks) == 1:
        return [part(block) for block in blocks]
    with ThreadPoolExecutor(n_jobs) as pool:
        return list(pool.map(part, blocks))


def joined(parts: list[Replicates]) -> Replicates:
    """One record from consecutive parts."""
    if len(parts) == 1:
        return parts[0]
    given = [part.claim for part in parts if part.claim is not None]
    claims = given if len(given) == len(parts) else None
    return replace(
        parts[0],
        estimate=np.concatenate([part.estimate for part in parts]),
        standard_error=np.concatenate([part.standard_error for part in parts]),
        df=np.concatenate([part.df for part in parts]),
        p_value=np.concatenate([part.p_value for part in parts]),
        status=np.concatenate([part.status for part in parts]),
        boundary=np.concatenate([part.boundary for part in parts]),
        claim=None if claims is None else np.concatenate(claims),
    )


class BlockScenario:
    """A scenario that draws its studies in blocks.

    Subclasses are frozen records with a level `alpha`. They draw and test `size` studies in `draw_block`, of
    `block_size` where that is another; `effect_field` names the field that holds the true effect.
    """

    __slots__ = ()
    effect_field: ClassVar[str] = "effect"

    @property
    def true_effect(self) -> float:
        """The effect that the simulated studies have."""
        return cast(float, getattr(self, self.effect_field))

    def with_effect(self, effect: float) -> Self:
        """The same studies with another true effect."""
        return cast(Self, replace(cast(Any, self), **{self.effect_field: effect}))

    @property
    def block_size(self) -> int:
        """Studies drawn together from one child of the seed."""
        return BLOCK

    def draw_block(self, rng: np.random.Generator, size: int) -> Replicates:
        """Draw and test `size` studies."""
        raise NotImplementedError

    def draw(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> Replicates:
        """Simulate and test studies `first` to `first + n - 1`."""
        return draw_in_blocks(
            self.draw_block, n, seed=seed, first=first, n_jobs=n_jobs, size=self.block_size
        )
