"""A judge's help where the same workers rate many items: the rating model with the judge as a covariate of items.

The judge's score stands in the model as a centred covariate of the item, alone and times the system; its centre
is the mean over all items that the judge scored, so that the effect is the difference between the systems at that
mean. What workers differ in, and the noise of their ratings, stay in the standard error and its degrees of
freedom (Kenward and Roger 1997). How well the centre is known is added: w^2 Var(f) over the number of items
judged, or over clusters. With n of n + N items rated the item part is Ti^2 (1 - rho^2 N / (N + n)) / n, as in
PPI++ with the best weight (Angelopoulos, Duchi and Zrnic 2023).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import DEFAULT_CONFIDENCE
from humeval_power.clusters import Clusters
from humeval_power.comparisons.judge.assisted import SAYS_THE_SAME, usable_judges
from humeval_power.errors import InputError
from humeval_power.estimation.crossed.fits import check_ended_well, fit_one
from humeval_power.estimation.crossed.problem import CrossedProblem, Levels
from humeval_power.inference.clustered import (
    clustered_mean,
    student_interval,
    student_p,
    sum_of_variances,
)

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

LEAST_ITEMS = (
    6  # rated ones, and two more for each judge after the first: its coefficients, and how items differ
)
_FLAT = 1e-9  # spread of a judge's scores, relative to their size, that is none


@dataclass(frozen=True, slots=True)
class RatedItems:
    """Ratings of workers, and a judge's scores of those items and of others.

    worker, item, system, rating : (n_ratings,); codes of items are rows of `scores`, systems are 0 (A) and 1 (B).
    scores : (n_items, 2) or (n_items, 2, J), the judges' of each item under A and B; 1 for 2 where there is
    one system.
    clusters : of all items; None where they count as independent.
    """

    worker: Codes
    item: Codes
    system: Codes
    rating: Floats
    scores: Floats
    clusters: Clusters | None = None

    @property
    def is_difference(self) -> bool:
        """Whether two systems are compared."""
        return bool(self.scores.shape[1] == 2)

    @property
    def judged(self) -> Floats:
        """What the judges say of each item's difference B - A, or of the item, shape (n_items,) or (n_items, J)."""
        return np.asarray(
            self.scores[:, -1] - self.scores[:, 0] if self.is_difference else self.scores[:, 0]
        )


@dataclass(frozen=True, slots=True)
class RatedEstimate:
    """An estimate from the rating model, in units of the ratings.

    `weights` are the judges' coefficients, 0 where they are not in the model; `sd_worker`, `sd_item` and
    `sd_cluster` are the SDs of what workers, items (beyond the judge) and clusters differ in, the last NaN
    without clusters.
    """

    estimate: float
    standard_error: float
    df: float
    p_value: float
    interval: tuple[float, float]
    weights: tuple[float, ...]
    sd_worker: float
    sd_item: float
    sd_residual: float
    sd_cluster: float = math.nan


@dataclass(frozen=True, slots=True)
class RatedMeans:
    """The estimate from workers alone, and with the judge's scores of `n_judged` items, `n_items` of them rated.

    `correlation` is that of the judge with what the items truly differ in, of several judges together the multiple
    one, NaN where items do not differ or no judge is used; `n_clusters` counts those of all items. `used` are
    the places of the judges in the model; `reason` says why there are none: then both are of workers alone.
    """

    human: RatedEstimate
    judged: RatedEstimate
    correlation: float
    n_workers: int
    n_items: int
    n_judged: int
    n_ratings: int
    confidence: float
    n_clusters: int | None = None
    used: tuple[int, ...] = (0,)
    reason: str = ""

    @property
    def efficiency(self) -> float:
        """Variance without the judge over that with it; 1 where none is used."""
        return (self.human.standard_error / self.judged.standard_error) ** 2


def rated_means(rated: RatedItems, *, confidence: float = DEFAULT_CONFIDENCE) -> RatedMeans:
    """Estimate a mean, or a difference between two systems, with the judge and without. InputError: fewer than
    2 workers or 6 rated items, or no further items. FitError: ratings without residual variation, or a fit that
    does not converge."""
    fitted, columns, used = _fits(rated, confidence)
    human = fitted(columns[:, :0])[0]
    judged, explained = fitted(columns) if used else (human, math.nan)
    item_variance = judged.sd_item**2 + (0.0 if math.isnan(judged.sd_cluster) else judged.sd_cluster**2)
    total = math.sqrt(explained**2 + item_variance)
    return RatedMeans(
        human=human,
        judged=judged,
        correlation=explained / total if total > 0 else math.nan,
        n_workers=len(np.unique(rated.worker)),
        n_items=len(np.unique(rated.item)),
        n_judged=len(rated.scores),
        n_ratings=len(rated.rating),
        confidence=confidence,
        n_clusters=None if rated.clusters is None else rated.clusters.n_clusters,
        used=used,
        reason="" if used else SAYS_THE_SAME,
    )


def rated_estimate(rated: RatedItems, *, confidence: float = DEFAULT_CONFIDENCE) -> RatedEstimate:
    """The estimate with the judge alone, as `rated_means` gives it in half the time; it raises the same."""
    fitted, columns, _ = _fits(rated, confidence)
    return fitted(columns)[0]


def _fits(
    rated: RatedItems, confidence: float
) -> tuple[Callable[[Floats], tuple[RatedEstimate, float]], Floats, tuple[int, ...]]:
    """What fits the model with some covariates, which gives the SD that the judges explain too, the covariates,
    and the judges that they are of."""
    if not 0 < confidence < 1:
        raise InputError(f"A confidence must lie between 0 and 1; got {confidence:g}.")
    check_rated(rated)
    items = np.unique(rated.item)
    scale = float(np.std(rated.rating)) or 1.0
    centre = float(np.mean(rated.rating))
    response = (rated.rating - centre) / scale
    judge = rated.judged.reshape(len(rated.scores), -1)
    n_judges = judge.shape[1]
    used = usable_judges(judge[items], np.delete(judge, items, axis=0))
    judge = judge[:, used]
    spread = judge.std(axis=0)
    standard = (judge - judge.mean(axis=0)) / spread
    columns = _judge_columns(rated, standard, used)
    shift = 0.0 if rated.is_difference else centre

    def fitted(covariates: Floats) -> tuple[RatedEstimate, float]:
        problem = _problem(rated, items, covariates)
        fits = fit_one(problem, response, contrasts=np.eye(problem.x.shape[1])[-max(1, len(used)) :])
        check_ended_well(int(fits.status[0]))
        weights = fits.further[0, :, 0] if covariates.shape[1] else np.zeros(len(used))
        of_judges = np.zeros(n_judges)
        of_judges[used] = weights * scale / spread
        # how well the mean of the judges is known, in SDs of the ratings
        said = standard @ weights
        known = clustered_mean(said, rated.clusters)
        error, df = float(fits.standard_error_adjusted[0]), float(fits.df_kenward_roger[0])
        if known.standard_error > 0:
            variance, df = sum_of_variances(error**2, df, known.standard_error**2, known.df)
            error = math.sqrt(variance)
        estimate = shift + scale * float(fits.estimate[0])
        deviations = scale * np.sqrt(fits.gamma[0] * fits.sigma2[0])[1::2]
        one = _estimate(
            estimate,
            scale * error,
            df,
            confidence,
            weights=tuple(map(float, of_judges)),
            deviations=deviations,
            sd_residual=scale * math.sqrt(float(fits.sigma2[0])),
        )
        return one, scale * float(weights[0] if len(used) == 1 else said.std())

    return fitted, columns, tuple(used)


def _judge_columns(rated: RatedItems, centred: Floats, used: list[int]) -> Floats:
    """The covariates of the judges used for each rating: of two systems their means of the item, where these vary,
    and their differences times the system; the last carry the weights."""
    if not rated.is_difference:
        return np.asarray(centred[rated.item])
    times_system = centred[rated.item] * (rated.system - 0.5)[:, None]
    level = rated.scores.mean(axis=1).reshape(len(rated.scores), -1)[:, used]
    level = (level - level.mean(axis=0)) / np.where(level.std(axis=0) > 0, level.std(axis=0), 1.0)
    varies = np.ptp(level[np.unique(rated.item)], axis=0) >= _FLAT
    return np.hstack([level[rated.item][:, varies], times_system])


def _problem(rated: RatedItems, items: Codes, covariates: Floats) -> CrossedProblem:
    worker = np.unique(rated.worker, return_inverse=True)[1]
    item = np.searchsorted(items, rated.item)
    document = None if rated.clusters is None else rated.clusters.only(items).codes[item]
    if rated.is_difference:
        return CrossedProblem.of_design(
            worker,
            item,
            rated.system,
            document=document,
            covariates=covariates if covariates.shape[1] else None,
        )
    ones = np.ones((len(item), 1))
    levels = [Levels(codes, ones) for codes in (worker, item, document) if codes is not None]
    problem = CrossedProblem.of_levels(levels, np.hstack([ones, covariates]))
    return replace(problem, is_difference=True)


def _estimate(
    estimate: float,
    error: float,
    df: float,
    confidence: float,
    *,
    weights: tuple[float, ...],
    deviations: Floats,
    sd_residual: float,
) -> RatedEstimate:
    p_value = student_p(estimate / error, df) if error > 0 else math.nan
    return RatedEstimate(
        estimate=estimate,
        standard_error=error,
        df=df,
        p_value=p_value,
        interval=student_interval(estimate, error, df, confidence),
        weights=weights,
        sd_worker=float(deviations[0]),
        sd_item=float(deviations[1]),
        sd_residual=sd_residual,
        sd_cluster=float(deviations[2]) if len(deviations) > 2 else math.nan,
    )


def check_rated(rated: RatedItems) -> None:
    """Raise InputError where the model cannot be fitted: too few workers or items, or all in one cluster."""
    items = np.unique(rated.item)
    n_workers, extra = len(np.unique(rated.worker)), len(rated.scores) - len(items)
    least = LEAST_ITEMS + 2 * (rated.scores.reshape(*rated.scores.shape[:2], -1).shape[2] - 1)
    if n_workers < 2 or len(items) < least:
        raise InputError(
            f"The rating model with a judge needs at least 2 workers and {least} rated items; there are "
            f"{n_workers} and {len(items)}."
        )
    if extra < 2:
        raise InputError(
            f"At least 2 items are needed that the judge alone has scored; there are {extra}. Without them a judge "
            "adds nothing."
        )
    if not (np.isfinite(rated.rating).all() and np.isfinite(rated.scores).all()):
        raise InputError("Ratings and scores of the judge must be finite numbers.")
    if rated.is_difference and len(np.unique(rated.system)) < 2:
        raise InputError("Ratings of both systems are needed to compare them.")
    if rated.clusters is not None and len(np.unique(rated.clusters.codes[items])) < 2:
        raise InputError(
            "All rated items are in one cluster; at least 2 are needed, and 20 or more are better."
        )
