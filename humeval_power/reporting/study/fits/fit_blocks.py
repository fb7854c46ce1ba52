"""What a fit of two systems says: its effect, its parameters and what to know of them, as parts of a document."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from humeval_power.estimation.fit import Fit
from humeval_power.estimation.latent.fit import LatentFit
from humeval_power.inference.study.wald import EffectTest
from humeval_power.parameters import PARAMETER_NAMES
from humeval_power.reporting.answer_words import (
    estimated_words,
    interval_in_points,
    on_scale,
    points_words,
)
from humeval_power.reporting.document import Block, Facts, Paragraph, Picture, Section, Table
from humeval_power.reporting.estimate_rows import EstimateRow, EstimateRows
from humeval_power.reporting.numbers import interval_words, p_words
from humeval_power.reporting.probe_words import probe_sentences
from humeval_power.reporting.study.fits.latent_blocks import (
    categories_section,
    estimand_words,
    latent_blocks,
    latent_effect_rows,
    latent_notes,
)
from humeval_power.scales import RatingScale

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure

    from humeval_power.estimation.crossed.interaction_score import InteractionTest
    from humeval_power.inference.study.intervals import Intervals
    from humeval_power.planning.power import PowerEstimate
    from humeval_power.ratings import Ratings

AnyFit = Fit | LatentFit
_ALL_BUT_ONE = 0.9999  # a correlation beyond this lies at the boundary
INTERACTION_LEFT_OUT = (
    "Whether workers and items share something that the model leaves out was not tested, to save time: a table of "
    "this size is tested with its details."
)
_SMALLEST_ASKED = 1e-4  # below, no calibration has the studies to tell
_INTERACTION_MATTERS = 0.025  # p-value below which the term of worker and item is told


def effect_words(ratings: Ratings, tested: EffectTest) -> str:
    """The answer: which system is rated higher, by how much and how surely, or why there is no test."""
    a, b = ratings.system_names
    if tested.reason:
        return f"Nothing is known of {b} - {a}: no test, no p-value and no interval: {tested.reason}."
    scale, rule, (low, high) = ratings.scale, tested.rule, tested.interval
    first, second = (b, a) if tested.estimate >= 0 else (a, b)
    word = "higher" if scale.higher_is_better else "better"
    said = (
        f"{first} is rated {estimated_words(tested.estimate, scale)} {word} than {second} {on_scale(scale)}"
    )
    level = f"{100 * rule.confidence:g} % interval"
    reach = interval_in_points((low, high) if first == b else (-high, -low), scale)
    if rule.margin is not None:
        shown, margin = "" if tested.significant else "not ", points_words(rule.margin, scale)
        claimed = f"{b} is {shown}shown to be less than {margin} worse than {a}"
        if rule.alternative == "equivalent":
            claimed = f"{a} and {b} are {shown}shown to differ by less than {margin}"
        return f"{said} ({level} {reach}); {claimed} ({p_words(tested.p_value)})."
    if low <= 0 <= high:
        return f"{said}, but the {level}, {reach}, includes no difference ({p_words(tested.p_value)})."
    return f"{said} ({level} {reach}, {p_words(tested.p_value)})."


def effect_section(
    ratings: Ratings, fitted: AnyFit, tested: EffectTest, *, interest: float | None = None
) -> Section:
    """The effect on all its scales, the test, and the picture of it, with the difference that would matter."""
    rule = Facts((("Test", tested_words(tested)), ("Rule", str(tested.rule))))
    table = _effect_table(ratings, fitted, tested)
    means = [Paragraph(estimand_words(fitted))] if isinstance(fitted, LatentFit) else []
    a, b = ratings.system_names
    return Section(f"Effect {b} - {a}", (table, *means, rule, *_pictures(ratings, tested, interest)))


def _effect_table(ratings: Ratings, fitted: AnyFit, tested: EffectTest) -> Table:
    scale = ratings.scale
    low, high = tested.interval
    raw = sorted((scale.effect_to_raw(low), scale.effect_to_raw(high)))
    rows = [
        (
            "on [0, 1], 1 is best",
            f"{tested.estimate:.4f}",
            _number(tested.standard_error, ".4f"),
            "none" if tested.reason else interval_words(low, high),
        ),
        (
            f"on the scale {scale.low:g} to {scale.high:g}",
            f"{scale.effect_to_raw(tested.estimate):.4g}",
            _number(tested.standard_error * scale.width, ".4g"),
            "none" if tested.reason else f"{raw[0]:.4g} to {raw[1]:.4g}",
        ),
    ]
    if isinstance(fitted, LatentFit):
        rows += latent_effect_rows(fitted, tested)
    return Table(("", "estimate", "SE", f"{100 * tested.rule.confidence:g} % interval"), tuple(rows))


def _pictures(ratings: Ratings, tested: EffectTest, interest: float | None) -> Iterator[Picture]:
    if tested.reason:
        return

    def draw() -> Figure:
        from humeval_power.reporting.study.fits.effect_figure import effect_figure

        return effect_figure(tested, ratings.system_names, ratings.scale, interest=interest)

    margin = "no difference" if tested.rule.margin is None else "the margin"
    words = f"The difference between the systems with its interval, against {margin}."
    yield Picture("effect", draw, words=words)


def _number(value: float, form: str) -> str:
    return format(value, form) if math.isfinite(value) else "none"


def tested_words(tested: EffectTest) -> str:
    """The statistic, its df and its p-values, or why there is no test."""
    if tested.reason:
        return f"no test, no p-value and no interval: {tested.reason}"
    df = [] if math.isnan(tested.df) else [f"df = {tested.df:.1f}"]
    t = [f"t = {tested.t:.3f}"] if tested.rule.margin is None else []
    return ", ".join([*t, *df, _p_of(tested)])


def _p_of(tested: EffectTest) -> str:
    margin = tested.rule.margin
    if margin is None:
        return p_words(tested.p_value)
    bounds = (f"{-margin:g} or less", f"{margin:g} or more")
    return ", ".join(
        f"{p_words(p_value)} against a difference of {bound}"
        for p_value, bound in zip(tested.p_values, bounds, strict=False)
    )


def fitted_values(fitted: AnyFit) -> dict[str, float]:
    """What was estimated, by name: of categories on the latent scale, which its standard errors are of."""
    if isinstance(fitted, LatentFit):
        latent = fitted.latent
        thresholds = {f"threshold_{k + 1}": value for k, value in enumerate(latent.thresholds)}
        rest = [name for name in fitted.standard_errors if name not in thresholds]
        return thresholds | {name: float(getattr(latent, name)) for name in rest}
    known = fitted.parameters.as_dict()
    return {name: float(getattr(fitted.parameters, name)) for name in known if name != "coding"}


def parameter_blocks(ratings: Ratings, fitted: AnyFit, ranges: Intervals) -> tuple[Block, ...]:
    """The parameters with their intervals; of categories those on the latent scale, and what they mean."""
    if isinstance(fitted, LatentFit):
        return latent_blocks(ratings, fitted, ranges)
    table = parameters_table(ratings, fitted, ranges)
    sds = [
        EstimateRow(name, float(getattr(fitted.parameters, name)), *ranges[name])
        for name in PARAMETER_NAMES
        if name.startswith("sd_") and all(map(math.isfinite, ranges.get(name, (math.nan,))))
    ]
    if not sds:
        return (table,)
    drawing = EstimateRows(
        tuple(sds), nouns="SDs", x_label="Standard deviation on [0, 1]", is_ordered=False
    ).drawing(
        "variation",
        title="What varies how much?",
        words="Each standard deviation with its 95 % interval.",
        width=4.6,
        has_numbers=False,
    )
    return (table, drawing)


def further_sections(ratings: Ratings, fitted: AnyFit) -> tuple[Section, ...]:
    """What only a fit of categories has to show."""
    return (categories_section(ratings, fitted),) if isinstance(fitted, LatentFit) else ()


def parameters_table(ratings: Ratings, fitted: Fit, ranges: Intervals) -> Table:
    """The parameters on [0, 1] with their intervals, and in points of the scale."""
    known = fitted.parameters.as_dict()
    rows = []
    for name in [*PARAMETER_NAMES, *(name for name in known if name not in (*PARAMETER_NAMES, "coding"))]:
        value = float(getattr(fitted.parameters, name))
        low, high = ranges.get(name, (math.nan, math.nan))
        shown = "-" if math.isnan(low + high) else interval_words(low, high)
        mark = "at zero" if name in fitted.boundary else ""
        mark = "not identified" if name in fitted.not_identified else mark
        interval = "" if name == "effect" else shown  # that of the test, above
        rows.append((name, f"{value:.4f}", interval, _raw(ratings.scale, name, value), mark))
    return Table(("", "on [0, 1]", "95 % interval", "raw", ""), tuple(rows))


def _raw(scale: RatingScale, name: str, value: float) -> str:
    """A parameter on the scale of the ratings."""
    if name.startswith("correlation_"):
        return ""
    if name == "baseline":
        return f"{float(scale.from_unit(np.array(value))):.4g}"
    return f"{scale.effect_to_raw(value) if name == 'effect' else value * scale.width:.4g}"


def fit_notes(
    ratings: Ratings,
    fitted: AnyFit,
    tested: EffectTest,
    size: PowerEstimate | None = None,
    interaction: InteractionTest | None = None,
) -> Iterator[str]:
    """What to know before the numbers are used; `size` is the simulated one of the test, `interaction` the
    test of the term of worker and item."""
    if isinstance(fitted, LatentFit):
        yield from latent_notes(ratings, fitted, tested)
    else:
        yield from _linear_notes(fitted, interaction)
    if size is not None:
        yield _size_words(fitted, tested, size)


def _linear_notes(fitted: Fit, interaction: InteractionTest | None) -> Iterator[str]:
    if not fitted.converged:
        yield f"The fit did not converge: {fitted.message}. Do not use these numbers."
    if (probed := fitted.monte_carlo) is not None:
        yield probe_sentences(probed.probes, probed.seed, probed.largest, probed.effect)
    if fitted.n_optima > 1:
        yield (
            f"The likelihood of this table has {fitted.n_optima} peaks; the fit is the highest that was found. "
            "That is a sign of too few ratings: the SDs say little."
        )
    if fitted.not_identified:
        yield (
            f"This table cannot tell {', '.join(fitted.not_identified)} apart. It does determine "
            f"{'; '.join(fitted.identified_combinations)}. The effect and its standard error are not "
            "affected; do not plan another number of ratings per item from these SDs."
        )
    if edge := [one.factor for one in fitted.correlations if abs(one.value) > _ALL_BUT_ONE]:
        yield (
            f"The correlation of {' and '.join(f'{factor}s' for factor in edge)} is estimated as -1 or 1: their "
            "intercepts or slopes vary too little, or they are too few, to tell it."
        )
    if fitted.boundary:
        yield (
            f"Estimated as exactly zero: {', '.join(fitted.boundary)}. That is common in small tables "
            "and does not mean that there is no such variation."
        )
    two = sorted((fitted.df_satterthwaite, fitted.df_kenward_roger))
    if two[1] > 2 * two[0]:
        yield (
            f"Satterthwaite would use {fitted.df_satterthwaite:.1f} df, Kenward-Roger "
            f"{fitted.df_kenward_roger:.1f}. With a variance at zero the former is far too bold."
        )
    if interaction is not None and interaction.p_value < _INTERACTION_MATTERS:
        yield (
            "Workers and items share something under both systems that the model leaves out (one-sided score "
            f"test of that term: z = {interaction.z:.2f}{_probed(interaction)}, {p_words(interaction.p_value)}). "
            "Which way that moves the standard error depends on the table: fit the term of worker and item too and "
            "compare, or analyse differences, which it cannot touch."
        )


def _probed(interaction: InteractionTest) -> str:
    error = interaction.monte_carlo_error
    return f" with a Monte Carlo error of {error:.1g} by fixed random probes" if error else ""


def _size_words(fitted: AnyFit, tested: EffectTest, size: PowerEstimate) -> str:
    low, high = size.rejection_interval
    null = "no effect" if tested.rule.margin is None else "a difference at the margin"
    bold = " The df 'min' are never too bold, and have little power." if low > tested.rule.alpha else ""
    asked = ""
    if tested.rule.margin is None and _SMALLEST_ASKED <= tested.p_value <= tested.rule.alpha:
        asked = (
            f" How often chance alone gives such a p-value: humeval-power calibrate --p {tested.p_value:.2g} "
            f"--workers {fitted.n_workers} --items {fitted.n_items}."
        )
    return (
        f"With {fitted.n_workers} workers the test is not exact: simulated with these parameters and "
        f"{null} it rejects {100 * size.rejection_rate:.1f} % of the time (95 % Monte Carlo "
        f"interval {100 * low:.1f} to {100 * high:.1f}), at alpha {tested.rule.alpha:g}.{bold}{asked}"
    )
