"""How reliably a study orders systems, and knows their levels, as raters, items, documents and ratings grow."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from humeval_power.parameters import Parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetSizes:
    """Raters, items, ratings of an item under each system, and documents; math.inf for facets without end.

    ratings_per_item : by different raters; None: every rater rates every item. n_documents : None without them.
    """

    n_raters: float
    n_items: float
    ratings_per_item: float | None = None
    n_documents: float | None = None

    @property
    def per_item(self) -> float:
        """Ratings of an item under each system."""
        return self.n_raters if self.ratings_per_item is None else self.ratings_per_item


def relative_error(parameters: Parameters, size: FacetSizes) -> float:
    """Variance with which a system's mean errs among systems: half of that of a difference (Brennan 2001).

    Levels of raters and items are the same for all systems and drop out.
    """
    of = parameters
    documents = 0.0 if size.n_documents is None else of.sd_document_slope**2 / size.n_documents
    ratings = size.n_items * size.per_item
    difference = (
        of.sd_worker_slope**2 / size.n_raters
        + of.sd_item_slope**2 / size.n_items
        + documents
        + 2 * of.sd_residual**2 / ratings
    )
    return difference / 2


def absolute_error(parameters: Parameters, size: FacetSizes) -> float:
    """Variance of a system's mean as a level, with other raters, items and documents."""
    of = parameters
    documents = (
        0.0
        if size.n_documents is None
        else (of.sd_document_intercept**2 + of.sd_document_slope**2 / 4) / size.n_documents
    )
    return (
        (of.sd_worker_intercept**2 + of.sd_worker_slope**2 / 4) / size.n_raters
        + (of.sd_item_intercept**2 + of.sd_item_slope**2 / 4) / size.n_items
        + documents
        + (of.sd_worker_item**2 + of.sd_residual**2) / (size.n_items * size.per_item)
    )


@dataclass(frozen=True, slots=True)
class Generalisability:
    """What a study of this size can tell of systems whose true means have the variance `between`.

    ranking : E rho^2, of their order; levels : Phi, of their levels. pair_right : the probability that two systems
    are put in the right order, tau : the expected Kendall correlation with the true order, tau_again : that of two
    independent studies of this size; all three of systems whose true means are normal.
    """

    size: FacetSizes
    between: float
    relative: float
    absolute: float

    @property
    def ranking(self) -> float:
        return _share(self.between, self.relative)

    @property
    def levels(self) -> float:
        return _share(self.between, self.absolute)

    def right_for(self, difference: float) -> float:
        """The probability that two given systems, that differ by this, are put in the right order."""
        return 0.5 + 0.5 * math.erf(difference / math.sqrt(4 * self.relative)) if self.relative > 0 else 1.0

    @property
    def pair_right(self) -> float:
        return 0.5 + math.asin(math.sqrt(self.ranking)) / math.pi

    @property
    def tau(self) -> float:
        return 2 / math.pi * math.asin(math.sqrt(self.ranking))

    @property
    def tau_again(self) -> float:
        return 2 / math.pi * math.asin(self.ranking)


def _share(between: float, error: float) -> float:
    return between / (between + error) if between + error > 0 else math.nan


def generalisability(parameters: Parameters, between: float, size: FacetSizes) -> Generalisability:
    """The coefficients of one size; `between` is the variance of the systems' true means, on [0, 1] squared."""
    return Generalisability(
        size, between, relative_error(parameters, size), absolute_error(parameters, size)
    )


def variance_of_two(difference: float) -> float:
    """The variance between two given systems: half of the square of their difference."""
    return difference**2 / 2


def largest(found: Sequence[Generalisability]) -> Generalisability:
    """That of the size of most items and workers."""
    return max(found, key=lambda one: (one.size.n_items, one.size.n_raters))


def ceilings(parameters: Parameters, between: float, size: FacetSizes) -> Iterator[Generalisability]:
    """With raters without end, then with items (and documents) without end; each item has as many ratings as
    now, or one by every rater."""
    for change in (
        {"n_raters": math.inf},
        {"n_items": math.inf, "n_documents": None if size.n_documents is None else math.inf},
    ):
        yield generalisability(parameters, between, replace(size, **change))
