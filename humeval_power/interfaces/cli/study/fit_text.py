"""A fit in words and numbers for the terminal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from humeval_power.estimation.fit import Fit
from humeval_power.inference.study.intervals import Intervals
from humeval_power.inference.study.wald import EffectTest
from humeval_power.interfaces.cli.output import wrapped
from humeval_power.interfaces.cli.text import text_table
from humeval_power.planning.power import PowerEstimate
from humeval_power.ratings import Ratings
from humeval_power.reporting.numbers import NO_P, p_equals
from humeval_power.scales import RatingScale

_INTERACTION_MATTERS = 3.84  # 95 % point of the chi-square with one df


def fit_text(
    ratings: Ratings,
    fitted: Fit,
    tested: EffectTest,
    ranges: Intervals,
    size: PowerEstimate | None,
    interaction: float = 0.0,
) -> str:
    """The fit for people, at most 80 characters wide; `size` is the simulated size of the test."""
    a, b = ratings.system_names
    head = (
        f"{ratings.source}: {fitted.n_ratings:,} ratings, {fitted.n_workers:,} workers, "
        f"{fitted.n_items:,} items; A is {a!r}, B is {b!r}"
    )
    parts = [wrapped(head), _effect_text(ratings, tested), _parameters_text(ratings, fitted, ranges)]
    remarks = _remarks(fitted, tested, size, interaction)
    if remarks:
        parts.append("Notes\n" + "\n".join(wrapped(remark, bullet="  - ") for remark in remarks))
    return "\n\n".join(parts)


def _effect_text(ratings: Ratings, tested: EffectTest) -> str:
    raw = ratings.scale.effect_to_raw
    low, high = tested.interval
    raw_low, raw_high = sorted((raw(low), raw(high)))
    level = 100 * tested.rule.confidence
    rows = [
        [
            "on [0, 1], 1 is best",
            f"{tested.estimate:.4f}",
            _number(tested.standard_error, ".4f"),
            "none" if tested.reason else f"{low:.4f} to {high:.4f}",
        ],
        [
            f"on the scale {ratings.scale.low:g} to {ratings.scale.high:g}",
            f"{raw(tested.estimate):.4g}",
            _number(tested.standard_error * ratings.scale.width, ".4g"),
            "none" if tested.reason else f"{raw_low:.4g} to {raw_high:.4g}",
        ],
    ]
    table = text_table(["Effect B - A", "estimate", "SE", f"{level:g} % interval"], rows)
    return f"{table}\n{wrapped(f'{_test_text(tested)}  ({tested.rule})', bullet='  ')}"


def _number(value: float, form: str) -> str:
    return format(value, form) if math.isfinite(value) else "none"


def _test_text(tested: EffectTest) -> str:
    if tested.reason:
        return f"no test, no p-value and no interval: {tested.reason}"
    df = "" if math.isnan(tested.df) else f" df = {tested.df:.1f},"
    margin = tested.rule.margin
    if margin is None:
        t = tested.estimate / tested.standard_error
        return f"t = {t:.3f},{df} {p_equals(p_text(tested.p_value))}"
    bounds = (f"{-margin:g} or less", f"{margin:g} or more")
    said = [
        f"{p_equals(p_text(p_value))} against a difference of {bound}"
        for p_value, bound in zip(tested.p_values, bounds, strict=False)
    ]
    return f"{df.strip()} {', '.join(said)}".strip()


def p_text(p_value: float) -> str:
    """A p-value with three decimals, or two digits if small; never as a bare zero, nor as a number where
    it is missing."""
    if math.isnan(p_value):
        return NO_P
    if p_value >= 0.01:
        return f"{p_value:.3f}"
    return f"{p_value:.2g}" if p_value >= 1e-15 else "< 1e-15"


def _parameters_text(ratings: Ratings, fitted: Fit, ranges: Intervals) -> str:
    values: dict[str, Any] = fitted.parameters.as_dict()
    rows = []
    for name in values:
        if name == "coding":
            continue
        low, high = ranges.get(name, (math.nan, math.nan))
        mark = "at zero" if name in fitted.boundary else ""
        mark = "not identified" if name in fitted.not_identified else mark
        shown = "-" if math.isnan(low + high) else f"{low:.4f} to {high:.4f}"
        shown = "above" if name == "effect" else shown
        rows.append([name, f"{values[name]:.4f}", shown, _raw(ratings.scale, name, values[name]), mark])
    return text_table(["Parameter", "on [0, 1]", "95 % interval", "raw", ""], rows)


def _raw(scale: RatingScale, name: str, value: float) -> str:
    """A parameter on the scale of the ratings."""
    if name == "baseline":
        return f"{float(scale.from_unit(np.array(value))):.4g}"
    return f"{scale.effect_to_raw(value) if name == 'effect' else value * scale.width:.4g}"


def _remarks(fitted: Fit, tested: EffectTest, size: PowerEstimate | None, interaction: float) -> list[str]:
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
    return remarks
