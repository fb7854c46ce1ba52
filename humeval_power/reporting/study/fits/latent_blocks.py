"""What a fit of ratings in categories says: its effect on every scale, thresholds, deviations and shares."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from humeval_power.checking.columns import shortened
from humeval_power.inference.study.wald import EffectTest
from humeval_power.latent import LATENT_DEVIATIONS
from humeval_power.reporting.document import Block, Paragraph, Picture, Section, Table
from humeval_power.reporting.numbers import counted, interval_words, percent

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure

    from humeval_power.estimation.latent.fit import LatentFit
    from humeval_power.inference.study.intervals import Intervals
    from humeval_power.inference.study.latent_effects import LatentEffects
    from humeval_power.ratings import Ratings

_BETTER = (
    "The chance of a better rating is for one worker who rates both outputs for one item; ties count half. "
    "Interval ends are those of the latent interval on each scale, with thresholds and SDs as estimated."
)
_AVERAGED = (
    " In SDs of a rating is the latent effect over the spread of one rating, workers and items included."
)
_RARE = 5  # ratings in a category below which its threshold is hardly known
_CEILING = 0.5  # share of ratings at an end of the scale beyond which it hides differences

Row = tuple[str, str, str, str]


def latent_effect_rows(fitted: LatentFit, tested: EffectTest) -> Iterator[Row]:
    """The effect in words beyond those of ratings: estimate, standard error, interval."""
    from humeval_power.inference.study.latent_effects import effects_at, effects_of

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


def estimand_words(fitted: LatentFit) -> str:
    """What the rows of the effect mean."""
    return _BETTER + (_AVERAGED if fitted.latent.link == "probit" else "")


def latent_blocks(ratings: Ratings, fitted: LatentFit, ranges: Intervals) -> tuple[Block, ...]:
    """Thresholds and deviations on the latent scale, and what they mean on [0, 1]."""
    latent, (a, b) = fitted.latent, ratings.system_names
    rows = [
        _row(f"threshold {lower} | {upper}", f"threshold_{k + 1}", value, fitted, ranges)
        for k, (value, lower, upper) in enumerate(
            zip(latent.thresholds, _points(ratings, fitted)[:-1], _points(ratings, fitted)[1:], strict=True)
        )
    ]
    rows += [
        _row(name, name, getattr(latent, name), fitted, ranges)
        for name in LATENT_DEVIATIONS
        if name in fitted.standard_errors
    ]
    rows.append(("sd_residual", f"{latent.sd_residual:.4f}", "", "", "fixed"))
    rows += [
        (
            shortened(one.label, width=32),
            f"{one.estimate:.4f}",
            f"{one.standard_error:.4f}",
            "",
            "covariate",
        )
        for one in fitted.covariates
    ]
    return (
        Table(("latent scale", "estimate", "SE", "95 % interval", ""), tuple(rows)),
        Paragraph(
            f"P(rating <= category) = F(threshold - x effect - W0 - I0 - (W1 + I1) x), F "
            f"{'standard normal' if latent.link == 'probit' else 'logistic'}, x = -1/2 for {a} and +1/2 for {b}."
        ),
        _observed(ratings, fitted),
    )


def _row(
    label: str, name: str, value: float, fitted: LatentFit, ranges: Intervals
) -> tuple[str, str, str, str, str]:
    low, high = ranges.get(name, (math.nan, math.nan))
    error = fitted.standard_errors.get(name, math.nan)
    mark = "at zero" if name in fitted.boundary else ""
    return (
        label,
        f"{value:.4f}",
        f"{error:.4f}" if math.isfinite(error) else "-",
        "-" if math.isnan(low + high) else interval_words(low, high),
        "not identified" if name in fitted.not_identified else mark,
    )


def _observed(ratings: Ratings, fitted: LatentFit) -> Table:
    """The seven parameters that mean the same on [0, 1]."""
    scale, values = ratings.scale, fitted.parameters
    rows = [
        (
            "baseline",
            f"{values.baseline:.4f}",
            f"{float(scale.from_unit(np.array(values.baseline))):.4g}",
        ),
        ("effect", f"{values.effect:.4f}", f"{scale.effect_to_raw(values.effect):.4g}"),
    ]
    known = values.as_dict()
    rows += [
        (name, f"{float(getattr(values, name)):.4f}", f"{float(getattr(values, name)) * scale.width:.4g}")
        for name in known
        if name.startswith("sd_")
    ]
    return Table(("as ratings, to plan from", "on [0, 1]", "raw"), tuple(rows))


def _points(ratings: Ratings, fitted: LatentFit) -> list[str]:
    """The categories as rated, worst first."""
    return [f"{value:.6g}" for value in ratings.scale.from_unit(np.array(fitted.latent.scores))]


def categories_section(ratings: Ratings, fitted: LatentFit) -> Section:
    """How often each category was used, beside what the fit expects."""
    expected = fitted.latent.shares(0), fitted.latent.shares(1)
    rows = tuple(
        (point, *(percent(shares[k]) for shares in (*pairs_of(fitted.shares, expected),)))
        for k, point in enumerate(_points(ratings, fitted))
    )

    def draw() -> Figure:
        from humeval_power.reporting.study.fits.categories_figure import categories_figure

        return categories_figure(fitted, ratings.system_names, _points(ratings, fitted))

    words = "The share of each rating by system, as observed and as the fit expects it."
    a, b = ratings.system_names
    header = ("rating", f"{a} observed", f"{a} fitted", f"{b} observed", f"{b} fitted")
    return Section("Categories", (Table(header, rows), Picture("categories", draw, words=words)))


def pairs_of(
    observed: tuple[tuple[float, ...], tuple[float, ...]],
    expected: tuple[tuple[float, ...], tuple[float, ...]],
) -> tuple[tuple[float, ...], ...]:
    """A observed, A fitted, B observed, B fitted."""
    return observed[0], expected[0], observed[1], expected[1]


def latent_notes(ratings: Ratings, fitted: LatentFit, tested: EffectTest) -> Iterator[str]:
    """What to know before the numbers are used."""
    if not fitted.converged:
        yield f"The fit did not converge: {fitted.message}. Do not use these numbers."
    if fitted.unused:
        yield (
            f"Nobody used {_joined(fitted.unused)} on this scale: the model has {len(fitted.latent.scores)} "
            "categories, and a rating that nobody gave has no threshold of its own."
        )
    counts = np.array(fitted.shares).T @ np.bincount(ratings.system, minlength=2)
    rare = [point for point, count in zip(_points(ratings, fitted), counts, strict=True) if count < _RARE]
    if rare:
        yield (
            f"Fewer than {_RARE} ratings are {', '.join(rare)}: their thresholds are hardly known. The effect "
            "suffers little."
        )
    yield from _ends(ratings, fitted)
    if fitted.one_box:
        yield (
            f"{counted(fitted.one_box, 'worker')} of {fitted.n_workers} gave every item the same rating. They tell "
            "nothing of a difference, and make workers look more unlike than they are: see whether they "
            "read the items."
        )
    if fitted.not_identified:
        yield (
            f"This table cannot tell {', '.join(fitted.not_identified)} apart from the noise of a rating: no "
            "item or worker repeats. The latent effect and SDs are then known up to a common factor; the "
            "difference on [0, 1], the chance and the p-value do not depend on it. Do not plan another "
            "number of ratings per item from these SDs."
        )
    if fitted.boundary:
        yield (
            f"Estimated as exactly zero: {', '.join(fitted.boundary)}. That is common in small tables "
            "and does not mean that there is no such variation."
        )
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


def _ends(ratings: Ratings, fitted: LatentFit) -> Iterator[str]:
    points = _points(ratings, fitted)
    for name, shares in zip(ratings.system_names, fitted.shares, strict=True):
        for place, side in ((-1, "best"), (0, "worst")):
            if shares[place] >= _CEILING and len(points) > 2:
                yield (
                    f"{percent(shares[place])} of the ratings of {name!r} are {points[place]}, "
                    f"the {side} rating used: such a scale hides differences at this end."
                )


def _joined(points: tuple[float, ...]) -> str:
    words = [f"{point:.6g}" for point in points]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
