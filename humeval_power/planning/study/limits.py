"""What no number of items, of workers or of both can exceed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from humeval_power.errors import DesignError
from humeval_power.inference.study.formula import EffectPrecision, power_at
from humeval_power.parameters import Parameters
from humeval_power.planning.study.analytic import detectable
from humeval_power.rules import DEFAULT_RULE, DecisionRule

Growing = Literal["items", "workers", "items and workers"]


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Power, and the smallest detectable effect at `target`, when one factor grows without bound; for a
    rule with a margin `detectable_effect` is the smallest margin that can be shown."""

    grows: Growing
    power: float
    detectable_effect: float
    target: float

    @property
    def reachable(self) -> bool:
        """Whether the target can be reached at all by more of this factor."""
        return self.power >= self.target

    @property
    def is_clear(self) -> bool:
        """Whether the target lies clearly below it: not so near that it takes sizes of which half do as well."""
        return self.power - self.target >= little(self.target)


def little(target: float) -> float:
    """A gain of power that no size is raised for: a fortieth of the risk to miss the effect, .005 at .8."""
    return (1 - target) / 40


def ceiling_with_items(
    parameters: Parameters,
    *,
    n_workers: int,
    n_documents: int = 0,
    target: float = 0.8,
    rule: DecisionRule = DEFAULT_RULE,
) -> Ceiling:
    """These workers, endless items: what remains is a one-sample t test on the workers' differences. If all
    the items come out of `n_documents` documents, the documents' differences remain beside it."""
    _check_count("workers", n_workers)
    coded = parameters.recoded()
    of_workers = coded.sd_worker_slope**2 / n_workers
    if not n_documents:
        precision = EffectPrecision(of_workers, n_workers - 1.0, n_workers - 1, n_workers)
        return _ceiling("items", parameters, precision, target, rule)
    _check_count("documents", n_documents)
    of_documents = coded.sd_document_slope**2 / n_documents
    variance = of_workers + of_documents
    spread = of_workers**2 / (n_workers - 1) + of_documents**2 / (n_documents - 1)
    smallest = min(n_workers, n_documents) - 1
    df = variance**2 / spread if spread else float(smallest)
    precision = EffectPrecision(variance, df, smallest, n_workers)
    return _ceiling("items", parameters, precision, target, rule)


def ceiling_with_workers(
    parameters: Parameters,
    *,
    n_items: int,
    ratings_per_item: float | None = None,
    n_documents: int = 0,
    target: float = 0.8,
    rule: DecisionRule = DEFAULT_RULE,
) -> Ceiling:
    """These items, and documents if they come out of some, and endless workers. Without `ratings_per_item`
    every worker rates every item; with it each rating comes from a worker of its own, whose difference then
    counts as noise."""
    _check_count("items", n_items)
    coded = parameters.recoded()
    variance = coded.sd_item_slope**2 / n_items
    if ratings_per_item is not None:
        noise = 2 * coded.sd_residual**2 + coded.sd_worker_slope**2
        variance += noise / (n_items * ratings_per_item)
    groups = n_items
    if n_documents:
        _check_count("documents", n_documents)
        variance += coded.sd_document_slope**2 / n_documents
        groups = n_documents
    precision = EffectPrecision(variance, groups - 1.0, groups - 1, groups)
    return _ceiling("workers", parameters, precision, target, rule)


def ceiling_with_both(
    parameters: Parameters, *, n_documents: int, target: float = 0.8, rule: DecisionRule = DEFAULT_RULE
) -> Ceiling:
    """These documents, endless items of them and endless workers: a one-sample t test on the documents'
    differences."""
    _check_count("documents", n_documents)
    slope = parameters.recoded().sd_document_slope
    precision = EffectPrecision(slope**2 / n_documents, n_documents - 1.0, n_documents - 1, n_documents)
    return _ceiling("items and workers", parameters, precision, target, rule)


def _check_count(noun: str, count: int) -> None:
    if count < 2:
        raise DesignError(f"The number of {noun} must be at least 2 for a test to exist; got {count}.")


def _ceiling(
    grows: Growing,
    parameters: Parameters,
    precision: EffectPrecision,
    target: float,
    rule: DecisionRule,
) -> Ceiling:
    effect = parameters.difference
    if precision.variance == 0:  # nothing but noise that averages away stands in the way
        return _without_variance(grows, effect, target, rule)
    power = power_at(effect, precision, rule=rule).power
    smallest = detectable(precision, effect=effect, power=target, rule=rule)
    return Ceiling(grows, power, smallest, target)


def _without_variance(grows: Growing, effect: float, target: float, rule: DecisionRule) -> Ceiling:
    """The true difference itself becomes known."""
    if rule.margin is None:
        return Ceiling(grows, 1.0 if effect else math.nan, 0.0, target)
    smallest = abs(effect) if rule.alternative == "equivalent" else max(-effect, 0.0)
    return Ceiling(grows, float(rule.can_show(effect)), smallest, target)
