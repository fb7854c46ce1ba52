"""The sign-flip (paired permutation) test of the mean or the median of differences.

Under the null hypothesis that a difference is symmetric around `null`, its sign is a fair coin. All
assignments of signs are listed where there are few, and drawn where there are many.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from humeval_power.inference.clustered import Direction
from humeval_power.inference.compare.result import Floats, PairedTest, TestSettings
from humeval_power.inference.ranked_values import at_least
from humeval_power.inference.resampled import drawn_p, in_blocks, monte_carlo_interval
from humeval_power.kernels.metrics.resampling import drawn_signs

LISTED_UP_TO = 20  # differences other than zero: 2^20 sums are listed in a moment
LISTED_MEDIANS_UP_TO = 14


def sign_flip_mean(differences: Floats, settings: TestSettings) -> PairedTest:
    """Sign-flip test of the mean: exact where at most 20 differences are not zero, else drawn."""
    moved = settings.moved(differences)
    active = moved[moved != 0]
    observed = float(active.sum())
    if len(active) <= LISTED_UP_TO:
        drawn = flipped_sums(active)
        return flip_result("mean", differences, settings, observed=observed, drawn=drawn)
    drawn = in_blocks(
        lambda rng, size: drawn_signs(rng, len(active), size) @ active,
        settings.n_resamples,
        seed=settings.seed,
    )
    return flip_result("mean", differences, settings, observed=observed, drawn=drawn, is_drawn=True)


def sign_flip_median(differences: Floats, settings: TestSettings) -> PairedTest:
    """Sign-flip test of the median: exact for at most 14 items, else drawn."""
    moved = settings.moved(differences)
    n = len(moved)
    observed = float(np.median(moved))
    if n <= LISTED_MEDIANS_UP_TO:
        drawn = np.median(listed_signs(n) * moved, axis=1)
        return flip_result("median", differences, settings, observed=observed, drawn=drawn)
    drawn = in_blocks(
        lambda rng, size: np.median(drawn_signs(rng, n, size) * moved, axis=1),
        settings.n_resamples,
        seed=settings.seed,
    )
    return flip_result("median", differences, settings, observed=observed, drawn=drawn, is_drawn=True)


def listed_signs(n: int) -> Floats:
    """All assignments of signs, shape (2^n, n)."""
    return np.asarray(1.0 - 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1))


def flipped_sums(values: Floats) -> Floats:
    """The sums under all assignments of signs, shape (2^n,)."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def extreme(drawn: Floats, observed: float, alternative: Direction, *, scale: float = 0.0) -> int:
    """How many are at least as extreme as what was observed; `scale` as in `at_least`."""
    scale = float(np.abs(drawn).max(initial=scale))
    if alternative == "two-sided":
        return int(at_least(np.abs(drawn), abs(observed), scale=scale).sum())
    sign = 1.0 if alternative == "greater" else -1.0
    return int(at_least(sign * drawn, sign * observed, scale=scale).sum())


_STATISTICS: dict[str, Callable[[Floats], float]] = {
    "mean": lambda values: float(np.mean(values)),
    "median": lambda values: float(np.median(values)),
}


def flip_result(
    of: str,
    differences: Floats,
    settings: TestSettings,
    *,
    observed: float,
    drawn: Floats,
    is_drawn: bool = False,
    flipped: str = "",
    remarks: tuple[str, ...] = (),
) -> PairedTest:
    """The test from the values under assignments of signs; `flipped` names whose signs, if not the items'."""
    count, total = extreme(drawn, observed, settings.alternative), len(drawn)
    estimate = _STATISTICS[of](differences)
    return PairedTest(
        name="permutation" if of == "mean" else "permutation-median",
        label=f"Sign-flip permutation test of the {of}",
        estimand=of,
        estimate=estimate,
        interval=(float("nan"), float("nan")),
        confidence=settings.confidence,
        statistic_name=of,
        statistic=estimate - settings.null,
        p_value=drawn_p(count, total) if is_drawn else count / total,
        lead=observed,
        n=len(differences),
        method=f"{total:,} random assignments of signs{flipped}"
        if is_drawn
        else f"all assignments of signs{flipped}",
        exact=not is_drawn,
        p_interval=monte_carlo_interval(count, total) if is_drawn else None,
        remarks=remarks,
    )
