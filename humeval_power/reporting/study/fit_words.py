"""A fit in words and tables: what `fit` and `analyze` say of the effect, of the parameters and of what to mind."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from humeval_power.estimation.fit import Fit
from humeval_power.inference.study.intervals import Intervals
from humeval_power.inference.study.wald import EffectTest
from humeval_power.planning.power import PowerEstimate
from humeval_power.ratings import Ratings
from humeval_power.reporting.document import Table
from humeval_power.reporting.numbers import interval_words, p_words
from humeval_power.scales import RatingScale

_INTERACTION_MATTERS = 3.84  # 95 % point of the chi-square with one df


def counts_words(ratings: Ratings, fitted: Fit) -> str:
    """How much was rated, and which system is A and which B."""
    a, b = ratings.system_names
    return (
        f"{ratings.source}: {fitted.n_ratings:,} ratings, {fitted.n_workers:,} workers, "
        f"{fitted.n_items:,} items; A is {a!r}, B is {b!r}"
    )


def effect_table(ratings: Ratings, tested: EffectTest) -> Table:
    """The effect with its standard error and interval, on [0, 1] and on the scale of the ratings."""
    raw, scale = ratings.scale.effect_to_raw, ratings.scale
    low, high = tested.interval
    raw_low, raw_high = sorted((raw(low), raw(high)))
    rows = (
        (
            "on [0, 1], 1 is best",
            f"{tested.estimate:.4f}",
            _number(tested.standard_error, ".4f"),
            "none" if tested.reason else interval_words(low, high),
        ),
        (
            f"on the scale {scale.low:g} to {scale.high:g}",
            f"{raw(tested.estimate):.4g}",
            _number(tested.standard_error * scale.width, ".4g"),
            "none" if tested.reason else f"{raw_low:.4g} to {raw_high:.4g}",
        ),
    )
    return Table(("Effect B - A", "estimate", "SE", f"{100 * tested.rule.confidence:g} % interval"), rows)


def _number(value: float, form: str) -> str:
    return format(value, form) if math.isfinite(value) else "none"


def words_of_test(tested: EffectTest) -> str:
    """The test's statistic, df and p-value, or why there is none; and the rule."""
    return f"{_test(tested)}  ({tested.rule})"


def _test(tested: EffectTest) -> str:
    if tested.reason:
        return f"no test, no p-value and no interval: {tested.reason}"
    df = "" if math.isnan(tested.df) else f" df = {tested.df:.1f},"
    margin = tested.rule.margin
    if margin is None:
        t = tested.estimate / tested.standard_error
        return f"t = {t:.3f},{df} {p_words(tested.p_value)}"
    bounds = (f"{-margin:g} or less", f"{margin:g} or more")
    said = [
        f"{p_words(p_value)} against a difference of {bound}"
        for p_value, bound in zip(tested.p_values, bounds, strict=False)
    ]
    return f"{df.strip()} {', '.join(said)}".strip()


def parameters_table(ratings: Ratings, fitted: Fit, ranges: Intervals) -> Table:
    """The parameters on [0, 1] with their intervals, and on the scale of the ratings."""
    values: dict[str, Any] = fitted.parameters.as_dict()
    rows = []
    for name in values:
        if name == "coding":
            continue
        low, high = ranges.get(name, (math.nan, math.nan))
        mark = "at zero" if name in fitted.boundary else ""
        mark = "not identified" if name in fitted.not_identified else mark
        shown = "-" if math.isnan(low + high) else interval_words(low, high)
        shown = "above" if name == "effect" else shown
        rows.append((name, f"{values[name]:.4f}", shown, _raw(ratings.scale, name, values[name]), mark))
    return Table(("Parameter", "on [0, 1]", "95 % interval", "raw", ""), tuple(rows))


def _raw(scale: RatingScale, name: str, value: float) -> str:
    """A parameter on the scale of the ratings."""
    if name == "baseline":
        return f"{float(scale.from_unit(np.array(value))):.4g}"
    return f"{scale.effect_to_raw(value) if name == 'effect' else value * scale.width:.4g}"


def fit_remarks(
    fitted: Fit, tested: EffectTest, size: PowerEstimate | None, interaction: float = 0.0
) -> tuple[str, ...]:
    """What a reader of the fit has to mind. `size` is the simulated size of the test, `interaction` by how much
    a variance of worker x item would lower the criterion."""
    remarks = []
    if not fitted.converged:
        remarks.append(f"The fit did not converge: {fitted.message}. Do not use these numbers.")
    if fitted.n_optima > 1:
        remarks.append(
            f"The likelihood of this table has {fitted.n_optima} peaks; the fit is the highest that was found. "
            "That is a sign of too few ratings: the SDs say little."
        )
    if fitted.not_identified:
        remarks.append(
            f"This table cannot tell {', '.join(fitted.not_identified)} apart. It does determine "
            f"{'; '.join(fitted.identified_combinations)}. The effect and its standard error are not "
            "affected; do not plan another number of ratings per item from these SDs."
        )
    if fitted.boundary:
        remarks.append(
            f"Estimated as exactly zero: {', '.join(fitted.boundary)}. That is common in small tables "
            "and does not mean that there is no such variation."
        )
    two = sorted((fitted.df_satterthwaite, fitted.df_kenward_roger))
    if two[1] > 2 * two[0]:
        remarks.append(
            f"Satterthwaite would use {fitted.df_satterthwaite:.1f} df, Kenward-Roger "
            f"{fitted.df_kenward_roger:.1f}. With a variance at zero the former is far too bold."
        )
    if interaction > _INTERACTION_MATTERS:
        remarks.append(
            "Workers and items share something under both systems that the model leaves out (adding it "
            f"lowers the criterion by {interaction:.1f}). It makes the test slightly too bold: add "
            "--worker-item, or --analysis differences, which it cannot touch."
        )
    if size is not None:
        low, high = size.rejection_interval
        null = "no effect" if tested.rule.margin is None else "a difference at the margin"
        remarks.append(
            f"With {fitted.n_workers} workers the test is not exact: simulated with these parameters and "
            f"{null} it rejects {100 * size.rejection_rate:.1f} % of the time (95 % Monte Carlo "
            f"interval {100 * low:.1f} to {100 * high:.1f}), at alpha {tested.rule.alpha:g}. "
            + ("--df min is never too bold, and has little power." if low > tested.rule.alpha else "")
        )
    return tuple(remarks)
