"""What a fit of two systems says: its effect, its parameters and what to know of them, as parts of a document."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from humeval_power.checking.columns import shortened
from humeval_power.estimation.fit import Fit
from humeval_power.estimation.latent.fit import LatentFit
from humeval_power.inference.student_t import detectable_ratio
from humeval_power.latent import LATENT_DEVIATIONS
from humeval_power.parameters import PARAMETER_NAMES
from humeval_power.saying.answer_words import (
    estimated_words,
    interval_in_points,
    on_scale,
    points_words,
    probe_sentences,
)
from humeval_power.saying.chart import EstimateRow, EstimateRows
from humeval_power.saying.document import Block, Facts, Paragraph, Section, Table, table
from humeval_power.saying.numbers import counted, in_words, interval_words, level_of, p_words, percent
from humeval_power.saying.rule_words import apart_words, sds_in_words, zero_words
from humeval_power.scales import RatingScale
from humeval_power.studies.fit.figures import categories_chart, effect_chart
from humeval_power.studies.fit.wald import EffectTest

if TYPE_CHECKING:
    from humeval_power.estimation.crossed.interaction_score import InteractionTest
    from humeval_power.ratings import Ratings
    from humeval_power.studies.fit.intervals import Intervals
    from humeval_power.studies.fit.wald import LatentEffects
    from humeval_power.studies.power.estimate import PowerEstimate


# What a fit of ratings in categories says: its effect on every scale, thresholds, deviations and shares.

_BETTER = (
    "The chance of a better rating is for one worker who rates both outputs for one item; ties count half. "
    "Interval ends are those of the latent interval on each scale, with thresholds and SDs as estimated."
)
_AVERAGED = (
    " In SDs of a rating is the latent effect over the spread of one rating, workers and items included."
)
_RARE = 5  # ratings in a category below which its threshold is hardly known
_CEILING = 0.5  # share of ratings at an end of the scale beyond which it hides differences


def latent_effect_rows(fitted: LatentFit, tested: EffectTest) -> Iterator[tuple[str, ...]]:
    """The effect in words beyond those of ratings: estimate, standard error, interval."""
    from humeval_power.studies.fit.wald import effects_at, effects_of

    middle = effects_of(fitted.latent)
    ends = None if tested.latent is None else [effects_at(fitted.latent, e) for e in tested.latent.interval]
    yield "chance of a better rating", f"{middle.better:.4f}", "", _reach(ends, "better")
    if middle.averaged is not None:
        logit = fitted.latent.link == "logit"
        name = "in log odds, averaged" if logit else "in SDs of a rating"
        yield name, f"{middle.averaged:.4f}", "", _reach(ends, "averaged")
    error = "none" if tested.latent is None else f"{tested.latent.standard_error:.4f}"
    yield f"latent ({fitted.latent.link})", f"{middle.latent:.4f}", error, _reach(ends, "latent")


def _reach(ends: list[LatentEffects] | None, name: str) -> str:
    if ends is None:
        return "none"
    low, high = (getattr(end, name) for end in ends)
    return interval_words(low, high)


def latent_blocks(ratings: Ratings, fitted: LatentFit, ranges: Intervals) -> tuple[Block, ...]:
    """Thresholds and deviations on the latent scale, and what they mean on [0, 1]."""
    latent, (a, b), points = fitted.latent, ratings.system_names, _points(ratings, fitted)

    def row(label: str, name: str, value: float) -> tuple[str, ...]:
        interval, mark = _known(name, fitted, ranges)
        error = fitted.standard_errors.get(name, math.nan)
        return label, f"{value:.4f}", f"{error:.4f}" if math.isfinite(error) else "-", interval, mark

    rows = [
        row(f"threshold {points[k]} | {points[k + 1]}", f"threshold_{k + 1}", value)
        for k, value in enumerate(latent.thresholds)
    ]
    rows += [
        row(name, name, getattr(latent, name))
        for name in LATENT_DEVIATIONS
        if name in fitted.standard_errors
    ]
    rows.append(("sd_residual", f"{latent.sd_residual:.4f}", "", "", "fixed"))
    for one in fitted.covariates:
        estimate, error = f"{one.estimate:.4f}", f"{one.standard_error:.4f}"
        rows.append((shortened(one.label, width=32), estimate, error, "", "covariate"))
    known = fitted.parameters.as_dict()
    same = ["baseline", "effect", *(name for name in known if name.startswith("sd_"))]
    observed = {name: float(getattr(fitted.parameters, name)) for name in same}
    return (
        Table(("latent scale", "estimate", "SE", "95 % interval", ""), tuple(rows)),
        Paragraph(
            f"P(rating <= category) = F(threshold - x effect - W0 - I0 - (W1 + I1) x), F "
            f"{'standard normal' if latent.link == 'probit' else 'logistic'}, x = -1/2 for {a} and +1/2 for {b}."
        ),
        table(
            same,
            {
                "as ratings, to plan from": _label,
                "on [0, 1]": lambda name: f"{observed[name]:.4f}",
                "raw": lambda name: _raw(ratings.scale, name, observed[name]),
            },
        ),
    )


def _known(name: str, fitted: AnyFit, ranges: Intervals) -> tuple[str, str]:
    """The interval of a parameter, and whether it lies at the boundary or is not identified."""
    low, high = ranges.get(name, (math.nan, math.nan))
    mark = "at zero" if name in fitted.boundary else ""
    interval = "-" if math.isnan(low + high) else interval_words(low, high)
    return interval, "not identified" if name in fitted.not_identified else mark


def _points(ratings: Ratings, fitted: LatentFit) -> list[str]:
    """The categories as rated, worst first."""
    return [f"{value:.6g}" for value in ratings.scale.from_unit(np.array(fitted.latent.scores))]


def further_sections(ratings: Ratings, fitted: AnyFit) -> Iterator[Section]:
    """What only a fit of categories has to show: how often each was used, beside what the fit expects."""
    if not isinstance(fitted, LatentFit):
        return
    columns = [shares for place in (0, 1) for shares in (fitted.shares[place], fitted.latent.shares(place))]
    rows = tuple(
        (point, *(percent(shares[k]) for shares in columns))
        for k, point in enumerate(_points(ratings, fitted))
    )
    words = "The share of each rating by system, as observed and as the fit expects it."
    chart = categories_chart(fitted, ratings.system_names, _points(ratings, fitted), words)
    a, b = ratings.system_names
    header = ("rating", f"{a} observed", f"{a} fitted", f"{b} observed", f"{b} fitted")
    yield Section("Categories", (Table(header, rows), chart))


def latent_notes(ratings: Ratings, fitted: LatentFit, tested: EffectTest) -> Iterator[str]:
    """What to know before the numbers are used."""
    if fitted.unused:
        unused = in_words([f"{point:.6g}" for point in fitted.unused])
        yield (
            f"Nobody used {unused} on this scale: the model has {len(fitted.latent.scores)} "
            "categories, and a rating that nobody gave has no threshold of its own."
        )
    counts = np.array(fitted.shares).T @ np.bincount(ratings.system, minlength=2)
    rare = [point for point, count in zip(_points(ratings, fitted), counts, strict=True) if count < _RARE]
    if rare:
        yield (
            f"Fewer than {_RARE} ratings are {', '.join(rare)}: their thresholds are hardly known. The effect "
            "suffers little."
        )
    points = _points(ratings, fitted)
    for name, shares in zip(ratings.system_names, fitted.shares, strict=True):
        for place, side in ((-1, "best"), (0, "worst")):
            if shares[place] >= _CEILING and len(points) > 2:
                yield (
                    f"{percent(shares[place])} of the ratings of {name!r} are {points[place]}, "
                    f"the {side} rating used: such a scale hides differences at this end."
                )
    if fitted.one_box:
        yield (
            f"{counted(fitted.one_box, 'worker')} of {fitted.n_workers} gave every item the same rating. They tell "
            "nothing of a difference, and make workers look more unlike than they are: see whether they "
            "read the items."
        )
    if fitted.not_identified:
        unknown = sds_in_words(fitted.not_identified, ratings.system_names)
        yield (
            f"These ratings cannot tell {unknown} from the noise of a rating: no item or worker repeats. The "
            "latent effect and SDs are then known up to a common factor; the difference on [0, 1], the chance and "
            "the p-value do not depend on it. Do not plan another number of ratings per item from these SDs."
        )
    if fitted.boundary:
        yield zero_words(fitted.boundary, ratings.system_names)
    if tested.rule.df == "normal" and fitted.n_workers < _MANY:
        yield (
            f"With {fitted.n_workers} workers the normal distribution is far too bold for this test; Kenward and "
            "Roger's df of the linearised model are not."
        )
    yield (
        "The df are those of the model linearised at its estimates (Kenward and Roger 1997). That the estimates "
        "move the linearisation is left out: the test is approximate, and it is calibrated by simulation."
    )


_MANY = 20
_MEANING = (
    "An intercept is how much workers, or items, differ in level: how high they rate, or are rated; a slope how "
    "much they differ in {difference}; the residual is the noise of single ratings. All are standard deviations "
    "(SD)."
)


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
    level = f"{level_of(rule.confidence)} interval"
    reach = interval_in_points((low, high) if first == b else (-high, -low), scale)
    if rule.margin is not None:
        shown, margin = "" if tested.significant else "not ", points_words(rule.margin, scale)
        claimed = f"{b} is {shown}shown to be less than {margin} worse than {a}"
        if rule.alternative == "equivalent":
            claimed = f"{a} and {b} are {shown}shown to differ by less than {margin}"
        return f"{said} ({level} {reach}); {claimed} ({p_words(tested.p_value)})."
    if low <= 0 <= high:
        none = f"no difference is shown: the {level}, {reach}, contains 0 ({p_words(tested.p_value)})."
        return f"{said}; {none}{_detectable_words(tested, scale)}"
    return f"{said} ({level} {reach}, {p_words(tested.p_value)})."


def _detectable_words(tested: EffectTest, scale: RatingScale) -> str:
    """How large a difference these ratings would mostly show, by the standard error and df that they have."""
    if tested.latent is not None or not tested.standard_error > 0:
        return ""
    effect = tested.standard_error * detectable_ratio(tested.df, tested.rule.tail, 0.8)
    if not effect < 1:  # none that the scale has
        return ""
    return (
        f" If the true difference were {estimated_words(effect, scale)}, 80 of 100 such studies would find it; "
        "'humeval-power plan' says which study would find a smaller one."
    )


def effect_section(
    ratings: Ratings, fitted: AnyFit, tested: EffectTest, *, interest: float | None = None
) -> Section:
    """The effect on all its scales, the test, and the picture of it, with the difference that would matter."""
    scale, (low, high), (a, b) = ratings.scale, tested.interval, ratings.system_names
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
        *(latent_effect_rows(fitted, tested) if isinstance(fitted, LatentFit) else ()),
    ]
    header = ("", "estimate", "SE", f"{level_of(tested.rule.confidence)} interval")
    blocks: list[Block] = [Table(header, tuple(rows))]
    if isinstance(fitted, LatentFit):
        blocks.append(Paragraph(_BETTER + (_AVERAGED if fitted.latent.link == "probit" else "")))
    blocks.append(Facts((("Test", tested_words(tested)), ("Rule", str(tested.rule)))))
    if not tested.reason:
        margin = "no difference" if tested.rule.margin is None else "the margin"
        words = f"The difference between the systems with its interval, against {margin}."
        blocks.append(effect_chart(tested, ratings.system_names, scale, interest=interest, words=words))
    return Section(f"Effect {b} - {a}", tuple(blocks))


def _number(value: float, form: str) -> str:
    return format(value, form) if math.isfinite(value) else "none"


def tested_words(tested: EffectTest) -> str:
    """The statistic, its df and its p-values, or why there is no test."""
    if tested.reason:
        return f"no test, no p-value and no interval: {tested.reason}"
    df = [f"df = {tested.df:.1f}"] if math.isfinite(tested.df) else []
    margin = tested.rule.margin
    if margin is None:
        t = f"{'z' if math.isinf(tested.df) else 't'} = {tested.t:.3f}"
        return ", ".join([t, *df, p_words(tested.p_value)])
    bounds = (f"{-margin:g} or less", f"{margin:g} or more")
    against = zip(tested.p_values, bounds, strict=False)
    return ", ".join([*df, *(f"{p_words(p)} against a difference of {bound}" for p, bound in against)])


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
    a, b = ratings.system_names
    parameters = (
        parameters_table(ratings, fitted, ranges),
        Paragraph(_MEANING.format(difference=f"{b} - {a}")),
    )
    sds = [
        EstimateRow(name, float(getattr(fitted.parameters, name)), *ranges[name])
        for name in PARAMETER_NAMES
        if name.startswith("sd_") and all(map(math.isfinite, ranges.get(name, (math.nan,))))
    ]
    if not sds:
        return parameters
    drawing = EstimateRows(
        tuple(sds), nouns="SDs", x_label="Standard deviation on [0, 1]", null=None, is_ordered=False
    ).chart(
        "variation",
        title="What varies how much?",
        words="Each standard deviation with its 95 % interval.",
    )
    return (*parameters, drawing)


def parameters_table(ratings: Ratings, fitted: Fit, ranges: Intervals) -> Table:
    """The parameters on [0, 1] with their intervals, and in points of the scale."""
    known = fitted.parameters.as_dict()
    rows = []
    for name in [*PARAMETER_NAMES, *(name for name in known if name not in (*PARAMETER_NAMES, "coding"))]:
        value = float(getattr(fitted.parameters, name))
        shown, mark = _known(name, fitted, ranges)
        interval = "" if name == "effect" else shown  # that of the test, above
        rows.append((_label(name), f"{value:.4f}", interval, _raw(ratings.scale, name, value), mark))
    return Table(("", "on [0, 1]", "95 % interval", "raw", ""), tuple(rows))


def _label(name: str) -> str:
    return "mean of both systems" if name == "baseline" else name  # a system may be called so


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
    if not fitted.converged:
        yield f"The fit did not converge: {fitted.message}. Do not use these numbers."
    if isinstance(fitted, LatentFit):
        yield from latent_notes(ratings, fitted, tested)
    else:
        yield from _linear_notes(fitted, ratings, interaction)
    if size is None:
        return
    (low, high), alpha = size.rejection_interval, tested.rule.alpha
    null = "no effect" if tested.rule.margin is None else "a difference at the margin"
    bold = " The df 'min' are never too bold, and have little power." if low > alpha else ""
    sentence = ""
    if tested.rule.margin is None and _SMALLEST_ASKED <= tested.p_value <= alpha:
        sentence = (
            f" How often chance alone gives such a p-value: humeval-power more calibrate --p {tested.p_value:.2g} "
            f"--workers {fitted.n_workers} --items {fitted.n_items}."
        )
    yield (
        f"With {fitted.n_workers} workers the test is not exact: simulated with these parameters and "
        f"{null} it rejects {100 * size.rejection_rate:.1f} % of the time (95 % Monte Carlo "
        f"interval {100 * low:.1f} to {100 * high:.1f}), at alpha {alpha:g}.{bold}{sentence}"
    )


def _linear_notes(fitted: Fit, ratings: Ratings, interaction: InteractionTest | None) -> Iterator[str]:
    if (probed := fitted.monte_carlo) is not None:
        yield probe_sentences(probed.probes, probed.seed, probed.largest, probed.effect)
    if fitted.n_optima > 1:
        yield (
            f"The likelihood of this table has {fitted.n_optima} peaks; the fit is the highest that was found. "
            "That is a sign of too few ratings: the SDs say little."
        )
    if fitted.not_identified:
        yield apart_words(fitted.not_identified, ratings.system_names, fitted.identified_combinations)
    if edge := [one.factor for one in fitted.correlations if abs(one.value) > _ALL_BUT_ONE]:
        yield (
            f"The correlation of {' and '.join(f'{factor}s' for factor in edge)} is estimated as -1 or 1: their "
            "intercepts or slopes vary too little, or they are too few, to tell it."
        )
    if fitted.boundary:
        yield zero_words(fitted.boundary, ratings.system_names)
    two = sorted((fitted.df_satterthwaite, fitted.df_kenward_roger))
    if two[1] > 2 * two[0]:
        yield (
            f"Satterthwaite would use {fitted.df_satterthwaite:.1f} df, Kenward-Roger "
            f"{fitted.df_kenward_roger:.1f}. With a variance at zero the former is far too bold."
        )
    if interaction is not None and interaction.p_value < _INTERACTION_MATTERS:
        error = interaction.monte_carlo_error
        by_probes = f" with a Monte Carlo error of {error:.1g} by fixed random probes" if error else ""
        yield (
            "Workers and items share something under both systems that the model leaves out (one-sided score "
            f"test of that term: z = {interaction.z:.2f}{by_probes}, {p_words(interaction.p_value)}). "
            "Which way that moves the standard error depends on the table: fit the term of worker and item too and "
            "compare, or analyse differences, which it cannot touch."
        )
