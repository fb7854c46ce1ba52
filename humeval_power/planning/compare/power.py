"""How many items a comparison of two systems by a metric needs, and how its power grows with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scipy import special

from humeval_power.choices import CURVE_SIMULATIONS
from humeval_power.errors import InputError
from humeval_power.inference.clustered import Direction
from humeval_power.inference.equivalence_power import equivalence_power
from humeval_power.planning.power import DEFAULT_SEED, PowerEstimate, estimate_powers
from humeval_power.roots import root_between
from humeval_power.scenarios.compare.scores import t_power
from humeval_power.scenarios.contract import Scenario

MOST_ITEMS = 100_000_000


@dataclass(frozen=True, slots=True)
class RequiredItems:
    """The fewest items, the real number that the formula gives, and the power with the fewest."""

    n: int
    exact_n: float
    power: float


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Power at one number of items, as simulated; None where nothing was. `formula` is None where it was not
    computed."""

    n: int
    simulated: PowerEstimate | None
    formula: float | None = None

    @property
    def power(self) -> float:
        """As simulated, or else by formula."""
        if self.simulated is not None:
            return self.simulated.power
        return math.nan if self.formula is None else self.formula

    @property
    def interval(self) -> tuple[float, float] | None:
        """Monte Carlo interval of what was simulated."""
        return None if self.simulated is None else self.simulated.interval


def required_items(
    ratio: float, *, power: float = 0.8, alpha: float = 0.05, alternative: Direction = "two-sided"
) -> RequiredItems:
    """Items for a paired t test to find a mean difference of `ratio` SDs with a given power.

    By the noncentral t, as a real number and rounded up (Zhu et al. 2020, section 3.4.1).

    Raises
    ------
    InputError
        No effect, an effect against the direction, a power that is not between alpha and 1, or an effect
        that would take more than a hundred million items.
    """
    if not alpha < power < 1:
        raise InputError(f"The power must lie between alpha ({alpha:g}) and 1; got {power:g}.")
    if ratio == 0 or (alternative == "greater" and ratio < 0) or (alternative == "less" and ratio > 0):
        raise InputError(f"No number of items finds a difference of {ratio:g} SDs in this direction.")

    def missing(n: float) -> float:
        return t_power(ratio, n, alternative=alternative, alpha=alpha).power - power

    return _smallest(
        missing, power, lambda n: t_power(ratio, n, alternative=alternative, alpha=alpha).power
    )


def required_items_equivalence(
    margin_ratio: float, *, ratio: float = 0.0, power: float = 0.8, alpha: float = 0.05
) -> RequiredItems:
    """Items to show equivalence within a margin by two one-sided t tests (Phillips 1990).

    margin_ratio, ratio : margin and true mean difference in SDs of the differences.

    Raises
    ------
    InputError
        A true difference that is not inside the margin, or a power outside (alpha, 1).
    """
    if not alpha < power < 1:
        raise InputError(f"The power must lie between alpha ({alpha:g}) and 1; got {power:g}.")
    if not abs(ratio) < margin_ratio:
        raise InputError("Equivalence can only be shown where the true difference is inside the margin.")

    def reached(n: float) -> float:
        return equivalence_power_of(n, margin_ratio, ratio=ratio, alpha=alpha)

    return _smallest(lambda n: reached(n) - power, power, reached)


def equivalence_power_of(
    n: float, margin_ratio: float, *, ratio: float = 0.0, alpha: float = 0.05
) -> float:
    """Power of two one-sided t tests with n items; margin and true mean difference in SDs."""
    critical = -float(special.stdtrit(n - 1, alpha))
    return float(equivalence_power(ratio, 1 / math.sqrt(n), n - 1, margin=margin_ratio, critical=critical))


def power_curve(
    make: Callable[[int], Scenario],
    sizes: Sequence[int],
    *,
    n_simulations: int = CURVE_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
) -> tuple[CurvePoint, ...]:
    """Simulated power at each number of items, every size with the same seed."""
    found = estimate_powers(
        [[make(n)] for n in sizes], n_simulations=n_simulations, seed=seed, n_jobs=n_jobs
    )
    return tuple(CurvePoint(n, estimate) for n, (estimate,) in zip(sizes, found, strict=True))


def curve_sizes(n_items: int) -> tuple[int, ...]:
    """Numbers of items from a quarter to four times those at hand, which are always among them."""
    around = {max(5, round(n_items * factor)) for factor in (0.25, 0.5, 0.75, 1.5, 2, 3, 4)}
    return tuple(sorted({n_items, *around}))


def _smallest(
    missing: Callable[[float], float], power: float, reached: Callable[[int], float]
) -> RequiredItems:
    """Where the power is reached: first as a real number between 2 and the most items, then as an integer."""
    if missing(2.0) >= 0:
        return RequiredItems(2, 2.0, reached(2))
    high = 4.0
    while missing(high) < 0:
        high *= 2
        if high > MOST_ITEMS:
            raise InputError(
                f"The effect is too small beside the SD: a power of {power:g} would take more than "
                f"{MOST_ITEMS:,} items."
            )
    root = root_between(missing, max(2.0, high / 2), high, xtol=1e-9)
    n = math.ceil(root - 1e-9)
    return RequiredItems(n, root, reached(n))
