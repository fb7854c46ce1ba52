"""The categories that ratings fall into, and the tables to which no model of categories can be fitted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.errors import FitError, InputError
from humeval_power.latent import Family
from humeval_power.ratings import Ratings

Codes = NDArray[np.int64]

MOST_CATEGORIES = 11  # 0 to 10; ratings of more different values are measured, not sorted into boxes
_DIGITS = 9  # of a rating on [0, 1]: what a scale's points are told apart by


@dataclass(frozen=True, slots=True, eq=False)
class Categories:
    """Ratings as categories: those that were used, worst first.

    `code`, shape (n_ratings,), counts from 0 into `scores`, the categories' values on [0, 1], ascending.
    `unused` are the points of the scale, as rated, that nobody used: they have no threshold of their own.
    `one_box` counts the workers who gave every item the same rating.
    """

    code: Codes
    scores: tuple[float, ...]
    unused: tuple[float, ...]
    one_box: int

    @property
    def n_categories(self) -> int:
        """Number of categories that were used."""
        return len(self.scores)


def distinct_values(ratings: Ratings) -> int:
    """How many different ratings there are."""
    return len(np.unique(ratings.rating.round(_DIGITS)))


def categories_of(ratings: Ratings, family: Family) -> Categories:
    """Sort the ratings of two systems into categories.

    Raises
    ------
    InputError
        More than two different ratings for the binary family, or more than 11 for the ordinal one.
    FitError
        One rating for all, or systems that share no range: their difference has no estimate.
    """
    unit = ratings.rating.round(_DIGITS)
    scores, code = np.unique(unit, return_inverse=True)
    _refuse_other_kinds(ratings, scores, family)
    categories = Categories(
        code=code.astype(np.int64),
        scores=tuple(map(float, scores)),
        unused=_unused(ratings, scores),
        one_box=_one_box(ratings.worker, code),
    )
    _refuse_separation(ratings, categories)
    return categories


def _refuse_other_kinds(ratings: Ratings, scores: NDArray[np.float64], family: Family) -> None:
    if len(scores) == 1:
        only = float(ratings.scale.from_unit(scores)[0])
        raise FitError(
            f"Every rating is {only:g}: there is nothing to compare. Check that the right column was read, "
            "and whether the scale leaves room to tell outputs apart."
        )
    if family == "binary" and len(scores) > 2:
        raise InputError(
            f"The family 'binary' is for ratings of two values; {ratings.source} has {len(scores)} different "
            f"ones ({_listed(ratings, scores)}). Take the family 'ordinal', or first decide which ratings count "
            "as yes."
        )
    if len(scores) > MOST_CATEGORIES:
        raise InputError(
            f"The family '{family}' is for ratings on a few points; {ratings.source} has {len(scores)} different "
            f"values, and at most {MOST_CATEGORIES} are taken. Ratings as fine as these are measured: take the "
            "family 'gaussian'."
        )


def _listed(ratings: Ratings, scores: NDArray[np.float64]) -> str:
    raw = np.sort(ratings.scale.from_unit(scores))
    shown = [f"{value:g}" for value in raw[:6]]
    return ", ".join([*shown, "..."] if len(raw) > len(shown) else shown)


def _unused(ratings: Ratings, scores: NDArray[np.float64]) -> tuple[float, ...]:
    scale = ratings.scale
    if scale.points is None or scale.points > MOST_CATEGORIES:
        return ()
    points = np.linspace(0.0, 1.0, scale.points).round(_DIGITS)
    unused = points[~np.isin(points, scores)]
    return tuple(sorted(map(float, scale.from_unit(unused).round(_DIGITS))))


def _one_box(worker: Codes, code: Codes) -> int:
    """Workers of two ratings or more, all in one category."""
    n = int(worker.max()) + 1
    lowest, highest = np.full(n, np.iinfo(np.int64).max), np.full(n, -1)
    np.minimum.at(lowest, worker, code)
    np.maximum.at(highest, worker, code)
    return int(((lowest == highest) & (np.bincount(worker, minlength=n) > 1)).sum())


def _refuse_separation(ratings: Ratings, categories: Categories) -> None:
    """Refuse systems of which one is never below the other: the likelihood grows for ever with the effect
    (Albert and Anderson 1984)."""
    of_a, of_b = categories.code[ratings.system == 0], categories.code[ratings.system == 1]
    if of_b.min() < of_a.max() and of_a.min() < of_b.max():
        return
    b_is_above = bool(of_b.min() >= of_a.max())
    a, b = ratings.system_names
    above, below = (b, a) if b_is_above else (a, b)
    raise FitError(
        f"No rating of {above!r} lies below any of {below!r}: the two are separated completely, and the "
        f"difference has no finite estimate on the latent scale. {_sign_test(ratings, categories, above)} "
        f"The family "
        "'gaussian' gives a difference with an interval."
    )


def _sign_test(ratings: Ratings, categories: Categories, above: str) -> str:
    """The exact sign test over the items that both systems have, in a sentence."""
    n = int(ratings.item.max()) + 1
    scores = np.asarray(categories.scores)[categories.code]
    mean = []
    for system in (0, 1):
        of = ratings.system == system
        count = np.bincount(ratings.item[of], minlength=n)
        total = np.bincount(ratings.item[of], scores[of], minlength=n)
        mean.append(np.where(count > 0, total / np.maximum(count, 1), np.nan))
    difference = mean[1] - mean[0]
    higher, lower = int((difference > 0).sum()), int((difference < 0).sum())
    if higher + lower == 0:
        return "No item was rated under both systems, so that not even a sign test is left."
    p_value = min(1.0, 2 * special.bdtr(min(higher, lower), higher + lower, 0.5))
    ties = int((difference == 0).sum())
    tied = f", {ties} tied" if ties else ""
    return (
        f"What can be said is that {above!r} is rated higher on {max(higher, lower)} of {higher + lower} items "
        f"({min(higher, lower)} lower{tied}): exact sign test on items, p = {p_value:.3g}, for these workers."
    )
