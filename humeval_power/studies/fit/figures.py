"""Pictures of ratings and of a fit: the effect, categories, and how ratings are spread."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.columns import shortened
from humeval_power.errors import InputError
from humeval_power.estimation.latent.fit import LatentFit
from humeval_power.saying.chart import Axis, Chart, Panels, Series, Upright
from humeval_power.saying.document import Table
from humeval_power.saying.numbers import interval_words, level_of, percent, significant, with_minus
from humeval_power.scales import RatingScale
from humeval_power.studies.fit.wald import EffectTest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
_NAME = 24  # characters of a system's name within a sentence


def effect_chart(
    tested: EffectTest,
    systems: tuple[str, ...],
    scale: RatingScale | None = None,
    *,
    interest: float | None = None,
    name: str = "effect",
    words: str = "",
) -> Chart:
    """A dot at the difference B - A, a line over its interval; the raw scale is the upper axis.

    Marked is a difference of 0; with a margin, differences within it are shaded (all above minus the
    margin under non-inferiority), else `interest` is marked, the smallest difference that would matter.
    """
    low, high = tested.interval
    margin, marks = tested.rule.margin, [Upright("no difference", 0.0)]
    ends = [tested.estimate, 0.0, *(end for end in (low, high) if math.isfinite(end))]
    if margin is not None:
        ends += [-margin, margin]
    elif interest is not None:
        ends += [-interest, interest]
        marks += [Upright("what would matter", -interest, 7), Upright("", interest, 7)]
    edge = 0.12 * (max(ends) - min(ends) or 1.0)
    left, right = min(ends) - edge, max(ends) + edge
    level = f"{level_of(tested.rule.confidence)} interval"
    series = [
        Series("line", level, (max(low, left), min(high, right)), (0.0, 0.0)),
        Series("points", "estimate", (tested.estimate,), (0.0,)),
    ]
    if margin is not None:
        is_equivalence = tested.rule.alternative == "equivalent"
        within = (-margin, margin if is_equivalence else right)
        label = "within the margin" if is_equivalence else "not worse by the margin"
        series.insert(0, Series("band", label, within, low=(-0.5,) * 2, high=(0.5,) * 2, colour=2))
    above = None
    if scale is not None and (scale.low, scale.high) != (0, 1):
        points = scale.effect_to_raw(1)
        lowest, highest = sorted((points * left, points * right))
        label = f"in points of the scale {scale.low:g} to {scale.high:g}"
        above = Axis(label, lowest, highest, is_reversed=points < 0)
    a, b = (shortened(each, width=_NAME) for each in systems)
    numbers = ("on [0, 1]", f"{tested.estimate:.4f}", interval_words(low, high))
    return Chart(
        name,
        f"Which is better: {a} (left of 0) or {b} (right)?",
        words,
        Axis("Difference on [0, 1]", left, right),
        Axis("", 0, 1, names=("",)),
        tuple(series),
        tuple(marks),
        numbers=Table(("", "estimate", level), (numbers,)),
        top=above,
    )


def categories_chart(
    fitted: LatentFit, systems: tuple[str, ...], points: Sequence[str], words: str
) -> Chart:
    """For each system the shares of its ratings, worst first, above those that the fit expects.

    systems : the names of A and B.
    points : the categories as rated, worst first.
    """
    rows = np.array(
        [shares for system in (0, 1) for shares in (fitted.shares[system], fitted.latent.shares(system))]
    )
    ends = np.hstack([np.zeros((4, 1)), rows.cumsum(axis=1)])
    strengths = np.linspace(0.12, 1.0, len(points)).round(2).tolist()
    series = tuple(
        Series(
            "bars",
            point,
            y=(0.0, 1.0, 2.0, 3.0),
            low=tuple(100 * ends[:, place]),
            high=tuple(100 * ends[:, place + 1]),
            strength=strengths[place],
            texts=(point,) * 4,
        )
        for place, point in enumerate(points)
    )
    names = tuple(f"{name}, {what}" for name in systems for what in ("observed", "fitted"))
    return Chart(
        "categories",
        "How often was each rating given?",
        words,
        Axis("Share of the ratings, worst rating left", 0, 100, "%"),
        Axis("", 0, 4, names=names),
        series,
    )


# How ratings are spread over their scale: a panel for each system.

_MOST_SYSTEMS = 12  # that one picture shows
_MOST_VALUES, _BINS = 21, 20
_MOST_NAMED = 7  # values that are ticks


def ratings_figure(
    by_system: Mapping[str, Floats], scale: RatingScale | None, *, width: float = 4.6
) -> Figure:
    """A row for each system: the share of its ratings at each value, and its mean as a line.

    Ratings of more than 21 different values are counted in 20 bins.

    Parameters
    ----------
    by_system : raw ratings by the name of the system; of more than 12 the first are shown.
    scale : the scale that they were given on; None for [0, 1].

    Raises
    ------
    InputError
        No system.
    """
    return ratings_chart(by_system, scale).drawn(width)


def ratings_chart(
    by_system: Mapping[str, Floats], scale: RatingScale | None, name: str = "ratings", words: str = ""
) -> Panels:
    """What `ratings_figure` draws."""
    shown = dict(list(by_system.items())[:_MOST_SYSTEMS])
    if not shown:
        raise InputError("There are no ratings to draw.")
    edges = _edges(np.concatenate(list(shown.values())), scale)
    lows, highs = tuple(edges[:-1].tolist()), tuple(edges[1:].tolist())
    values = ((edges[:-1] + edges[1:]) / 2).round(9).tolist()
    places = tuple((value, with_minus(f"{value:g}")) for value in values)
    lower = "" if scale is None or scale.higher_is_better else ", lower is better"
    x = Axis(f"Rating{lower}", lows[0], highs[-1], places=places if len(values) <= _MOST_NAMED else None)
    shares = {system: np.histogram(of, edges)[0] / len(of) for system, of in shown.items()}
    y = Axis(
        "Share of the ratings, %", 0, max(float(each.max()) for each in shares.values()), is_of_100=True
    )
    charts, rows = [], []
    for system, of in shown.items():
        mean, share = float(of.mean()), tuple(shares[system].tolist())
        columns = Series("columns", "", y=share, low=lows, high=highs)
        said = f"mean {with_minus(significant(mean))}"
        charts.append(Chart(name, system, words, x, y, (columns,), (Upright("mean", mean, 1),), said))
        rows.append((system, said.removeprefix("mean "), *map(percent, share)))
    note = ""
    if len(by_system) > len(shown):
        note = f"The first {len(shown)} of {len(by_system):,} systems"
    numbers = Table(("", "mean", *(text for _, text in places)), tuple(rows))
    title = "Where do the ratings of each system lie?"
    return Panels(name, title, words, tuple(charts), 1, 42.0, note, numbers)


def _edges(ratings: Floats, scale: RatingScale | None) -> Floats:
    """Bins around each different value where there are few, else equal ones over all ratings."""
    values = np.unique(np.round(ratings, 9))
    if scale is not None and scale.points is not None and scale.points <= _MOST_VALUES:
        values = np.union1d(values, np.linspace(scale.low, scale.high, scale.points).round(9))
    if len(values) > _MOST_VALUES:
        low, high = (0.0, 1.0) if scale is None else (scale.low, scale.high)
        return np.linspace(min(low, float(values[0])), max(high, float(values[-1])), _BINS + 1)
    step = float(np.diff(values).min()) if len(values) > 1 else 1.0
    return np.unique(np.concatenate([values - step / 2, values + step / 2]).round(9))
