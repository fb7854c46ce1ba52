"""What a collection of comparisons says of itself: effects, sizes, kinds, tests, bold type, tau."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median, stdev

import numpy as np

from humeval_power.inference.ranked_values import rounded
from humeval_power.planning.survey.comparison import Comparison

SIZES = ("items", "workers", "ratings_per_item")
BANDS = (50, 100, 200)  # items


@dataclass(frozen=True, slots=True)
class Effects:
    """The scaled effects that are told: their number, mean, standard deviation (None for one) and range."""

    n: int
    mean: float
    sd: float | None
    low: float
    middle: float
    high: float


@dataclass(frozen=True, slots=True)
class Sizes:
    """A size that is told by `n` comparisons: its range, and the commonest one, the smallest of equals."""

    n: int
    low: int
    middle: float
    high: int
    commonest: int
    n_commonest: int


@dataclass(frozen=True, slots=True)
class Share:
    """Comparisons for which something holds, of those that tell."""

    count: int
    known: int


@dataclass(frozen=True, slots=True)
class KendallTau:
    """Rank correlation of effect and size over `n` comparisons, with the p-value of no correlation."""

    tau: float
    p_value: float
    n: int


@dataclass(frozen=True, slots=True)
class Description:
    """A collection in numbers; None, or nothing, where nobody tells.

    `sizes` by the names of SIZES; `up_to`, comparisons with at most so many items, by the limits of BANDS;
    `kinds`, the commonest first.
    """

    papers: int | None
    effects: Effects | None
    sizes: Mapping[str, Sizes]
    up_to: Mapping[int, Share]
    kinds: Mapping[str, int]
    tested: Share | None
    bold: Share | None


def describe(comparisons: Sequence[Comparison]) -> Description:
    """The collection in numbers."""
    items = [each.items for each in comparisons if each.items is not None]
    papers = {each.paper for each in comparisons if each.paper is not None}
    kinds = Counter(each.kind for each in comparisons if each.kind is not None)
    return Description(
        papers=len(papers) or None,
        effects=_effects([each.scaled_effect for each in comparisons if each.scaled_effect is not None]),
        sizes={name: found for name in SIZES if (found := _sizes(comparisons, name)) is not None},
        up_to={most: Share(sum(n <= most for n in items), len(items)) for most in BANDS if items},
        kinds=dict(kinds.most_common()),
        tested=_share([each.tested for each in comparisons]),
        bold=_share([each.bold for each in comparisons]),
    )


def _effects(values: Sequence[float]) -> Effects | None:
    if not values:
        return None
    sd = stdev(values) if len(values) > 1 else None
    return Effects(len(values), mean(values), sd, min(values), median(values), max(values))


def _sizes(comparisons: Sequence[Comparison], name: str) -> Sizes | None:
    values = [size for each in comparisons if (size := getattr(each, name)) is not None]
    if not values:
        return None
    counts = Counter(values)
    commonest = min(counts, key=lambda size: (-counts[size], size))
    return Sizes(len(values), min(values), median(values), max(values), commonest, counts[commonest])


def _share(told: Sequence[bool | None]) -> Share | None:
    known = [each for each in told if each is not None]
    return Share(sum(known), len(known)) if known else None


def kendall(comparisons: Sequence[Comparison], *, absolute: bool) -> KendallTau | None:
    """Tau-b of scaled effect and items, by scipy; None below 3 comparisons, or where one of them does not vary."""
    pairs = [
        (abs(each.scaled_effect) if absolute else each.scaled_effect, each.items)
        for each in comparisons
        if each.scaled_effect is not None and each.items is not None
    ]
    if len(pairs) < 3:
        return None
    from scipy import stats

    effect, items = np.array(pairs, dtype=float).T
    effect = rounded(effect)
    if np.ptp(effect) == 0 or np.ptp(items) == 0:
        return None
    found = stats.kendalltau(effect, items)
    return KendallTau(float(found.statistic), float(found.pvalue), len(pairs))
