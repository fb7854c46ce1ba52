"""A latent effect on the scales that people read: ratings, and the chance of a better one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.errors import HumevalPowerError, InputError, ParametersError
from humeval_power.estimation.latent.fit import LatentFit
from humeval_power.inference.student_t import critical_value
from humeval_power.kernels.latent.moments import normal_expectation, shares_given
from humeval_power.latent import LARGEST_EFFECT, Family, Latent
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.studies.fit.wald import (
    EffectTest,
    LatentTest,
    effect_test,
    one_sided_p,
    reference_of,
    wald_p,
    why_no_test,
    why_unusable,
    without_test,
)

if TYPE_CHECKING:
    from humeval_power.estimation.crossed.problem import RatingTable
    from humeval_power.estimation.latent.categories import Categories
    from humeval_power.ratings import Ratings

Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class LatentEffects:
    """One difference B - A in the words of each scale, over the workers and items that the study stands for.

    `expected` is the difference of expected ratings on [0, 1]. `better` is the chance that B's rating beats A's,
    half of the ties included, where the same worker rates both outputs for the same item. `averaged` is the
    latent difference in units of one rating's spread, workers and items included: the coefficient of a model
    without random effects (probit; for logit with two categories the difference of log odds, else none).
    """

    latent: float
    expected: float
    better: float
    averaged: float | None


def effects_of(latent: Latent) -> LatentEffects:
    """The effect of latent parameters on every scale."""
    return LatentEffects(
        latent=latent.effect,
        expected=latent.difference,
        better=chance_of_better(latent),
        averaged=population_averaged(latent),
    )


def effects_at(latent: Latent, effect: float) -> LatentEffects:
    """Every scale at another latent effect, thresholds and deviations as they are: each rises with the effect,
    so the ends of its interval are those of the latent one. Beyond the largest effect nothing changes any
    more: all ratings of a system are in one category."""
    return effects_of(replace(latent, effect=max(-LARGEST_EFFECT, min(LARGEST_EFFECT, effect))))


def expected_at(latent: Latent, effect: float) -> float:
    """Difference of expected ratings on [0, 1] at another latent effect."""
    return replace(latent, effect=max(-LARGEST_EFFECT, min(LARGEST_EFFECT, effect))).difference


def slope_to_expected(latent: Latent) -> float:
    """Expected difference on [0, 1] for each unit of the latent effect, on average from 0 to the effect: what
    turns the latent standard error into one on [0, 1] with the same t."""
    effect = latent.effect if abs(latent.effect) > _NEAR_ZERO else _NEAR_ZERO
    return expected_at(latent, effect) / effect


def latent_margin(latent: Latent, margin: float) -> float:
    """The latent effect at which the expected ratings differ by `margin` on [0, 1]; infinite where no effect
    makes them differ so much."""
    try:
        return latent.with_difference(margin).effect
    except ParametersError:
        return math.inf


def chance_of_better(latent: Latent) -> float:
    """P(B's rating > A's) + P(equal) / 2 for one worker and one item (and document) that both share.

    Given the worker and the item the two ratings are independent; what they share and what parts them are two
    independent normal variables, over which the chance is averaged by quadrature.
    """
    logit = latent.link == "logit"
    factors = ("worker", "item", "document")
    same, across = (latent.shared(factors, same_system=each) for each in (True, False))
    nodes, weights = normal_expectation()
    common = math.sqrt(max(0.0, (same + across) / 2)) * nodes
    apart = math.sqrt(max(0.0, (same - across) / 2)) * nodes
    centre, half = np.meshgrid(common, apart, indexing="ij")
    thresholds = np.array(latent.thresholds)
    of_a = shares_given(centre - half - latent.effect / 2, thresholds, logit=logit)
    of_b = shares_given(centre + half + latent.effect / 2, thresholds, logit=logit)
    below = np.cumsum(of_a, axis=-1) - of_a / 2
    return float(weights @ (of_b * below).sum(axis=-1) @ weights)


def population_averaged(latent: Latent) -> float | None:
    """The effect of a model without random effects."""
    if latent.link == "probit":
        return latent.effect / math.sqrt(1.0 + latent.variance)
    if latent.family == "ordinal":
        return None
    a, b = (latent.shares(system) for system in (0, 1))
    return math.log(b[1] / b[0]) - math.log(a[1] / a[0])


_NEAR_ZERO = 1e-4  # a latent effect below which the expected difference is proportional to it


# Between the latent scale of fitted studies and differences of expected ratings on [0, 1], many fits at
# once.

Floats = NDArray[np.float64]

_NODES = 31  # of the quadrature with a logit link: 1e-6 of a difference for latent SDs up to 3
_STEPS = 60  # of a bisection


@dataclass(frozen=True, slots=True, eq=False)
class LatentScale:
    """What fits say of the categories, the replicate being the first axis.

    `thresholds` (n, categories - 1), infinite or alike for a category that a study did not use; `variance` (n,)
    of the latent value over workers and items; `scores` (categories,) on [0, 1].
    """

    thresholds: Floats
    variance: Floats
    scores: Floats
    logit: bool

    def difference(self, effect: Floats) -> Floats:
        """Difference B - A of the expected ratings on [0, 1] at a latent effect, shape (n,)."""
        half = np.asarray(effect)[:, None] / 2
        steps = np.diff(self.scores)
        return np.asarray(
            (self._below(self.thresholds + half) - self._below(self.thresholds - half)) @ steps
        )

    def per_unit(self, effect: Floats) -> Floats:
        """Difference on [0, 1] for each unit of the latent effect, on average from 0 to the effect: what turns
        a latent standard error into one on [0, 1] with the same t."""
        there = np.where(np.abs(effect) > _NEAR_ZERO, effect, _NEAR_ZERO)
        return self.difference(there) / there

    def effect_of(self, difference: float) -> Floats:
        """The latent effect (n,) at which the expected ratings differ by so much; infinite where none does."""
        n = len(self.variance)
        if difference == 0:
            return np.zeros(n)
        low, high = np.zeros(n), np.full(n, LARGEST_EFFECT)
        out_of_reach = self.difference(high) < abs(difference)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            short = self.difference(middle) < abs(difference)
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        size = np.where(out_of_reach, np.inf, (low + high) / 2)
        return np.asarray(np.where(np.isnan(self.variance), np.nan, np.copysign(size, difference)))

    def _below(self, places: Floats) -> Floats:
        """Probability that latent value and noise lie below the places (n, places)."""
        if not self.logit:
            return np.asarray(special.ndtr(places / np.sqrt(1.0 + self.variance)[:, None]))
        nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        spread = np.sqrt(self.variance)[:, None, None] * nodes
        return np.asarray(special.expit(places[:, :, None] - spread) @ (weights / weights.sum()))

    @classmethod
    def joined(cls, parts: list[LatentScale]) -> LatentScale:
        """One record from consecutive parts."""
        return cls(
            np.concatenate([part.thresholds for part in parts]),
            np.concatenate([part.variance for part in parts]),
            parts[0].scores,
            parts[0].logit,
        )


# The test of a model of categories: made on the latent scale, told on [0, 1].


def latent_test(fit: LatentFit, rule: DecisionRule) -> EffectTest:
    """Apply a decision rule to a fit of categories.

    t, df and p are those of the latent effect: its standard error and df are Kenward and Roger's for the
    model linearised at the estimates; 'satterthwaite' takes the same df without their correction of the
    standard error. Estimate and interval on [0, 1] are the latent ones transformed, thresholds and deviations
    as they were estimated; a margin on [0, 1] is moved to the latent scale. So interval and decision agree.
    Raises InputError: a rule that simulates, or a margin that no difference of these categories reaches.
    """
    if fit.estimator != rule.estimator:
        raise ValueError(f"The fit is by {fit.estimator}, the rule asks for {rule.estimator}.")
    if rule.is_simulated:
        raise InputError(_SIMULATED.format(df=rule.df))
    error, df = reference_of(fit, rule, fit.smallest - 1)
    reason = why_no_test(fit.converged, fit.message)
    return wald_of_categories(fit.latent, float(error), float(df), rule, reason=reason)


_SIMULATED = (
    "The df '{df}' simulate studies of the linear model, which ratings in categories are not: take the df "
    "'kenward-roger', which are those of the linearised model."
)


def wald_of_categories(
    latent: Latent, error: float, df: float, rule: DecisionRule, *, reason: str
) -> EffectTest:
    """The test from latent parameters, and the standard error and df of their effect."""
    per_unit = slope_to_expected(latent)
    estimate, effect = latent.difference, latent.effect
    reason = reason or why_unusable(error, df, rule)
    if reason:
        return without_test(estimate, error * per_unit, df, rule, reason=reason)
    margin: float | None = None
    if rule.margin is not None:
        margin = latent_margin(latent, rule.margin)
        if math.isinf(margin):
            widest = latent.scores[-1] - latent.scores[0]
            raise InputError(
                f"A margin of {rule.margin:g} on [0, 1] excludes nothing: the categories that were used lie "
                f"{widest:g} apart at most, so that no difference is as large. State a margin that a difference "
                "can cross."
            )
    values = np.array(effect), np.array(error), np.array(df)
    reach = critical_value(df, rule.tail) * error
    ends = effect - reach, effect + reach
    p_value = float(wald_p(*values, rule.alternative, margin=margin))
    return EffectTest(
        estimate=estimate,
        standard_error=error * per_unit,
        df=df,
        p_value=p_value,
        interval=(expected_at(latent, ends[0]), expected_at(latent, ends[1])),
        significant=p_value <= rule.alpha,
        rule=rule,
        p_values=()
        if margin is None
        else tuple(map(float, one_sided_p(*values, rule=rule, margin=margin))),
        latent=LatentTest(effect, error, ends, margin),
    )


# What the model of categories says of ratings that were analysed as numbers: a check, never a choice.


@dataclass(frozen=True, slots=True)
class FamilyCheck:
    """The test of the other family, `None` with the reason where it has none, and that of equal spread."""

    rule: DecisionRule
    test: EffectTest | None
    spread: SpreadTest | None
    reason: str = ""


def has_few_points(ratings: Ratings) -> bool:
    """Whether ratings could be analysed as categories."""
    from humeval_power.estimation.latent.categories import MOST_CATEGORIES, distinct_values

    return 2 <= distinct_values(ratings) <= MOST_CATEGORIES


def check_family(ratings: Ratings, rule: DecisionRule) -> FamilyCheck:
    """Test the ratings of two systems as categories, by the nearest rule that there is."""
    from humeval_power.estimation.latent.categories import categories_of, distinct_values
    from humeval_power.estimation.latent.fit import fit_latent

    family: Family = "binary" if distinct_values(ratings) == 2 else "ordinal"
    df = DEFAULT_RULE.df if rule.is_simulated else rule.df
    other = replace(rule, family=family, analysis="ratings", df=df)
    try:
        fitted = fit_latent(ratings, family=other.family, link=other.link, estimator=other.estimator)
        test = latent_test(fitted, other)
        spread = spread_test(ratings, categories_of(ratings, other.family))
    except HumevalPowerError as error:
        return FamilyCheck(other, None, None, str(error))
    return FamilyCheck(other, test, spread)


# Whether one system's ratings are spread more widely than the other's on the latent scale: a score test.

_LEVEL = 0.01  # at which a difference of spread is worth a warning
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class SpreadTest:
    """Approximate test of one spread for both systems. `ratio` is B's latent SD over A's, by one step from
    equality."""

    ratio: float
    p_value: float

    @property
    def differs(self) -> bool:
        """Whether to warn: at level 0.01, for it is looked at in every table."""
        return self.p_value <= _LEVEL


def spread_test(ratings: Ratings, categories: Categories) -> SpreadTest | None:
    """Score test of a scale effect in the population-averaged cumulative probit model.

    Each rating's efficient score for the log ratio of spreads (its score less what thresholds and shift explain)
    is compared between the systems by the linear mixed model of crossed workers and items, which takes up that
    ratings of one worker or item go together. None with two categories, where spread and shift are one, and where
    the scores cannot be fitted.
    """
    from humeval_power.estimation.fitting import fit

    n_categories = categories.n_categories
    if n_categories < 3:
        return None
    counts = np.zeros((2, n_categories))
    np.add.at(counts, (ratings.system, categories.code), 1.0)
    if (counts.sum(axis=0) == 0).any():
        return None
    score, information = _efficient_scores(counts)
    value = np.where(ratings.system == 1, 1.0, -1.0) * score[ratings.system, categories.code]
    step = float((counts * score).sum()) / information if information > _TINY else math.nan
    rows = {"worker": ratings.worker, "item": ratings.item, "system": ratings.system}
    try:
        tested = effect_test(fit(cast("RatingTable", SimpleNamespace(**rows, rating=value))))
    except HumevalPowerError:
        return None
    if tested.reason or not math.isfinite(step):
        return None
    return SpreadTest(ratio=math.exp(max(-5.0, min(5.0, step))), p_value=tested.p_value)


def _efficient_scores(counts: Floats) -> tuple[Floats, float]:
    """Efficient score of the log ratio of spreads for each system and category (2, C), and its information.

    counts : (2, C), ratings of each system in each category.
    """
    thresholds, shift = _marginal_fit(counts)
    x = np.array([-0.5, 0.5])
    cut = thresholds - shift * x[:, None]
    density, below = np.exp(-(cut**2) / 2) / math.sqrt(2 * math.pi), special.ndtr(cut)
    edge = np.zeros((2, 1))
    share = np.diff(np.hstack([edge, below, edge + 1.0]), axis=1)
    share = np.maximum(share, _TINY)
    n_thresholds = len(thresholds)
    by_threshold = np.zeros((n_thresholds, 2, n_thresholds + 1))
    for k in range(n_thresholds):
        by_threshold[k, :, k] = density[:, k] / share[:, k]
        by_threshold[k, :, k + 1] = -density[:, k] / share[:, k + 1]
    by_shift = (by_threshold * -x[:, None]).sum(axis=0)
    by_spread = (by_threshold * (-x[:, None] * cut).T[:, :, None]).sum(axis=0)
    nuisance = np.concatenate([by_threshold, by_shift[None]])
    expected = counts.sum(axis=1, keepdims=True) * share
    products = np.einsum("asc,bsc,sc->ab", nuisance, nuisance, expected)
    cross = np.einsum("asc,sc,sc->a", nuisance, by_spread, expected)
    weights = np.linalg.lstsq(products, cross, rcond=1e-10)[0]
    score = by_spread - np.einsum("a,asc->sc", weights, nuisance)
    return score, float((score**2 * expected).sum())


def _marginal_fit(counts: Floats) -> tuple[Floats, float]:
    """Thresholds and shift of the cumulative probit model without random effects, by maximum likelihood."""
    from scipy import optimize

    share = counts.sum(axis=0) / counts.sum()
    start = special.ndtri(np.cumsum(share)[:-1])
    x = np.array([-0.5, 0.5])

    def parts(values: Floats) -> tuple[Floats, float]:
        steps = np.concatenate([values[:1], np.exp(values[1:-1])])
        return np.cumsum(steps), float(values[-1])

    def minus_log(values: Floats) -> float:
        thresholds, shift = parts(values)
        below = special.ndtr(thresholds - shift * x[:, None])
        edge = np.zeros((2, 1))
        probability = np.diff(np.hstack([edge, below, edge + 1.0]), axis=1)
        return -float((counts * np.log(np.maximum(probability, _TINY))).sum())

    first = np.concatenate([start[:1], np.log(np.maximum(np.diff(start), 1e-6)), [0.0]])
    optimum = optimize.minimize(minus_log, first, method="BFGS", options={"gtol": 1e-6})
    return parts(np.asarray(optimum.x))
