"""A study of workers and items that a judge's scores of further items help.

The judge can foretell an item's own difference between the systems and nothing else: the variance is

    Tw^2 / m + Ti^2 (1 - rho^2 N / (N + n)) / n + 2 s^2 / (n k),

so it leaves the workers' differences and the noise of ratings as they are. Here it is planned as a study
whose items differ by that much less, which gives the degrees of freedom too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from humeval_power.designs import Design
from humeval_power.errors import DesignError, InputError
from humeval_power.inference.study.formula import AnalyticPower, analytic_power
from humeval_power.parameters import Parameters
from humeval_power.planning.judge.efficiency import finite_share
from humeval_power.planning.study.designs_of import build_design
from humeval_power.rules import DEFAULT_RULE, DecisionRule


@dataclass(frozen=True, slots=True)
class JudgedStudy:
    """Power of a study without and with a judge, and the smallest one with it that is as powerful.

    `fewer` is that study's design and `fewer_power` its power; None where no smaller one will do.
    """

    alone: AnalyticPower
    judged: AnalyticPower
    design: Design
    fewer: Design | None
    fewer_power: AnalyticPower | None

    @property
    def efficiency(self) -> float:
        """Variance without over variance with the judge: times the data, as far as it goes."""
        return self.alone.precision.variance / self.judged.precision.variance

    @property
    def ratings_saved(self) -> int:
        """Human ratings that the judge spares for the same power."""
        return 0 if self.fewer is None else self.design.n_ratings - self.fewer.n_ratings


def with_judge(parameters: Parameters, *, correlation: float, n_items: int, extra: int) -> Parameters:
    """Parameters of a study in which a judge that correlates with the items' own differences has scored
    `n_items` items of the study and `extra` others."""
    left = 1 - correlation**2 * finite_share(correlation, n_items, extra)
    return replace(parameters, sd_item_slope=parameters.sd_item_slope * math.sqrt(left))


def judged_study(
    parameters: Parameters,
    *,
    n_workers: int,
    n_items: int,
    correlation: float,
    extra: int,
    ratings_per_item: int | None = None,
    rule: DecisionRule = DEFAULT_RULE,
) -> JudgedStudy:
    """What a judge adds to a study at the parameters' effect, and how many items it spares.

    The smaller study has the same workers and ratings per item and at least two items; the judge scores
    `extra` further items in each case.

    Raises
    ------
    InputError
        An impossible design or correlation, or parameters without an effect.
    """
    if parameters.difference == 0:
        raise InputError("Without an effect there is no power to keep: give the difference to find; got 0.")

    def design(items: int) -> Design:
        return build_design(n_workers, items, ratings_per_item)

    def power(items: int) -> AnalyticPower:
        helped = with_judge(parameters, correlation=correlation, n_items=items, extra=extra)
        return analytic_power(helped, design(items), rule=rule)

    full = design(n_items)
    alone, judged = analytic_power(parameters, full, rule=rule), power(n_items)

    def enough(items: int) -> bool:
        try:
            return power(items).power >= alone.power
        except DesignError:
            return False

    low, high = 2, n_items
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    if high == n_items:
        return JudgedStudy(alone, judged, full, None, None)
    return JudgedStudy(alone, judged, full, design(high), power(high))
