"""What agreement of some raters says of these raters on other outputs, and of other raters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from humeval_power.comparisons.agreement.agreement import (
    MOST_CATEGORIES,
    Agreement,
    BothClaims,
    Level,
    OnCategories,
    agreement,
    leading_level,
    on_categories,
    shared_ratings,
)
from humeval_power.comparisons.agreement.strata import (
    Correlations,
    TwoWay,
    correlations,
    f_interval,
    floor_of,
    two_way,
)
from humeval_power.inference.item_bootstrap import Measure
from humeval_power.ratings import Ratings

FEWEST_OTHERS = 50  # ratings beside a value that half of them have: below, intervals hold too seldom


@dataclass(frozen=True, slots=True)
class SystemAgreement:
    """Agreement about the outputs of one system, or of all together (system None: no claim about other raters).

    level : of the alpha that leads, of every system the same. n_others : ratings beside a value that half of them
    have, intervals of other raters being by jackknives; None without such a value, they being by draws. strata,
    correlations : of the ratings on [0, 1]. categories : of ratings that take at most 11 values, else None.
    floor : of the alpha that leads, as in `Correlations`. compatible : the F interval of ICC(2,1), where it was
    asked for and the table is complete.
    """

    found: Agreement
    level: Level
    n_values: int
    n_others: int | None
    strata: TwoWay
    correlations: Correlations
    categories: Mapping[OnCategories, BothClaims] | None
    floor: float
    compatible: tuple[float, float] | None

    @property
    def these(self) -> Measure:
        """The leading alpha of these raters."""
        return self.found.alpha_ordinal if self.level == "ordinal" else self.found.alpha_interval

    @property
    def other(self) -> Measure:
        """The same of other raters like these."""
        return self.found.many_ordinal if self.level == "ordinal" else self.found.many_interval

    @property
    def all_agree(self) -> bool:
        """Whether all raters gave all outputs the same rating as the others."""
        return self.found.n_outputs > 0 and self.found.exact.value == 1

    @property
    def least_share_agreed(self) -> float:
        """Where all agree on all outputs: Clopper and Pearson's lower bound for the share of such outputs."""
        return (
            float((1 - self.found.confidence) ** (1 / self.found.n_outputs)) if self.all_agree else math.nan
        )


def system_agreements(
    ratings: Ratings, *, confidence: float, seed: int, compatible: bool
) -> tuple[SystemAgreement, ...]:
    """All systems together where there are several, then each of them."""
    systems = (None, *range(ratings.n_systems)) if ratings.n_systems > 1 else (0,)
    every = agreement(ratings, confidence=confidence, seed=seed, systems=systems)
    level = leading_level(shared_ratings(ratings))

    def of(system: int | None, result: Agreement) -> SystemAgreement:
        shared = shared_ratings(ratings, system=system)
        n_values = len(shared.values)
        strata = two_way(shared.output, shared.worker, shared.score("interval"))
        of_raw = correlations(strata, confidence=confidence, seed=seed)
        floor = of_raw.floor
        if level == "ordinal":
            ranks = two_way(shared.output, shared.worker, shared.score("ordinal"))
            floor = floor_of(ranks, confidence=confidence, seed=seed)
        categories = None
        if n_values <= MOST_CATEGORIES:
            categories = on_categories(shared.output, shared.worker, shared.code, confidence=confidence)
        with_f = compatible and strata.is_complete and not strata.reason and strata.error > 0
        return SystemAgreement(
            found=result,
            level=level,
            n_values=n_values,
            n_others=shared.n_others if shared.is_peaked else None,
            strata=strata,
            correlations=of_raw,
            categories=categories,
            floor=floor,
            compatible=f_interval(strata, confidence) if with_f else None,
        )

    return tuple(map(of, systems, every))
