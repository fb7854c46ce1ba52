"""What the model of categories says of ratings that were analysed as numbers: a check, never a choice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from humeval_power.errors import HumevalPowerError
from humeval_power.inference.study.wald import EffectTest
from humeval_power.latent import Family
from humeval_power.rules import DEFAULT_RULE, DecisionRule

if TYPE_CHECKING:
    from humeval_power.inference.study.spread import SpreadTest
    from humeval_power.ratings import Ratings


@dataclass(frozen=True, slots=True)
class FamilyCheck:
    """The test of the other family, `None` with the reason where it has none, and that of equal spread."""

    rule: DecisionRule
    test: EffectTest | None
    spread: SpreadTest | None
    reason: str = ""


def has_few_points(ratings: Ratings) -> bool:
    """Whether ratings could be analysed as categories."""
    from humeval_power.estimation.latent.categories import MOST_CATEGORIES, distinct_values

    return 2 <= distinct_values(ratings) <= MOST_CATEGORIES


def check_family(ratings: Ratings, rule: DecisionRule) -> FamilyCheck:
    """Test the ratings of two systems as categories, by the nearest rule that there is."""
    from humeval_power.estimation.latent.categories import categories_of, distinct_values
    from humeval_power.estimation.latent.fit import fit_latent
    from humeval_power.inference.study.latent_test import latent_test
    from humeval_power.inference.study.spread import spread_test

    family: Family = "binary" if distinct_values(ratings) == 2 else "ordinal"
    df = DEFAULT_RULE.df if rule.is_simulated else rule.df
    other = replace(rule, family=family, analysis="ratings", df=df)
    try:
        fitted = fit_latent(ratings, family=other.family, link=other.link, estimator=other.estimator)
        test = latent_test(fitted, other)
        spread = spread_test(ratings, categories_of(ratings, other.family))
    except HumevalPowerError as error:
        return FamilyCheck(other, None, None, str(error))
    return FamilyCheck(other, test, spread)
