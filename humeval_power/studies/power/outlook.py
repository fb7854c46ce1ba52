"""What stands around the power of a study by formula: growth, its price, its variance, its estimates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from humeval_power.choices import DEFAULT_SEED
from humeval_power.costs import CostModel
from humeval_power.designs import different_workers
from humeval_power.errors import DesignError
from humeval_power.parameters import Parameters
from humeval_power.rules import DecisionRule
from humeval_power.studies.power.analytic import (
    Ceiling,
    ceiling_with_both,
    ceiling_with_items,
    ceiling_with_workers,
)
from humeval_power.studies.power.estimate import estimate_power
from humeval_power.studies.power.formula import (
    T_LAW_WORKERS,
    AnalyticPower,
    EffectPrecision,
    chance_of_significance,
    estimate_density,
    part_of_variance,
    power_at,
)
from humeval_power.studies.power.growth import (
    TARGET,
    CostCurve,
    Growth,
    StudyLike,
    counts_of,
    growth_of_items,
    growth_of_workers,
    spending_of,
)
from humeval_power.studies.power.required import RegularPrecision, powers
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.study_counts import StudyCounts

if TYPE_CHECKING:
    from humeval_power.studies.power.strategies import AnyStudy

# What the variance of the estimated difference consists of: workers, items, documents, noise.

Part = Literal["workers", "items", "documents", "residual", "pairs of worker and item"]


def variance_parts(parameters: Parameters, counts: StudyCounts) -> Mapping[Part, float]:
    """The variance on [0, 1] that each adds in a regular study of two systems; they add up to that of the estimate.

    What workers, items and documents add is how far they differ about the difference of the systems. Where the same
    worker rates both outputs of an item, what is peculiar to the two of them cancels.
    """
    coded = parameters.recoded()
    ratings = counts.n_items * counts.ratings_per_item
    part: dict[Part, float] = {
        "workers": part_of_variance(coded, "worker", counts.n_workers),
        "items": part_of_variance(coded, "item", counts.n_items),
    }
    if counts.n_documents:
        part["documents"] = part_of_variance(coded, "document", counts.n_documents)
    part["residual"] = 2 * coded.sd_residual**2 / ratings
    if not counts.paired and coded.sd_worker_item:
        part["pairs of worker and item"] = 2 * coded.sd_worker_item**2 / ratings
    return part


_POINTS = 61  # of a density
_REACH = 3.6  # standard errors that it is drawn to
_EFFECTS = 41  # true differences
_CURVE = 16  # points of the winner's curse
_LARGEST_RATIO = 4.2  # true effect over its standard error where power is all but certain
Floats = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Estimates:
    """The law of the estimated difference: density at `at` under the null, and under the effect; of which
    `null_found` and `effect_found` are those of estimates that are significant (or show the claim)."""

    null: float
    at: Floats
    under_null: Floats
    null_found: Floats
    under_effect: Floats
    effect_found: Floats


@dataclass(frozen=True, slots=True)
class EffectCurve:
    """Power over the true difference."""

    effects: Floats
    powers: Floats


@dataclass(frozen=True, slots=True)
class Curse:
    """How far significant estimates exaggerate (`type_m`), and how often their sign is wrong (`type_s`), in studies
    of the same df and of every power."""

    power: Floats
    type_m: Floats
    type_s: Floats


@dataclass(frozen=True)
class Outlook:
    """What is found by formula around a study's power, each part when it is looked at. Prices are of the study as
    planned. Growth, `parts` and `spending` are None for designs that `counts` do not describe; growth and spending
    too where there is nothing to find, as are `effects` and `curse`, which are not known of a rule with a margin
    either."""

    study: RatingStudy
    analytic: AnalyticPower
    costs: CostModel | None = None
    budget: Decimal | None = None

    @cached_property
    def counts(self) -> StudyCounts | None:
        return counts_of(self.study.design)

    @cached_property
    def estimates(self) -> Estimates:
        return estimates_of(self.analytic.effect, self.analytic.precision, self.study.rule)

    @property
    def _finds_an_effect(self) -> bool:
        return self.study.rule.margin is None and bool(self.analytic.effect)

    @cached_property
    def effects(self) -> EffectCurve | None:
        analytic = self.analytic
        return (
            effect_curve(analytic.effect, analytic.precision, self.study.rule)
            if self._finds_an_effect
            else None
        )

    @cached_property
    def curse(self) -> Curse | None:
        return curse_of(self.analytic.precision, self.study.rule) if self._finds_an_effect else None

    @property
    def parts(self) -> Mapping[Part, float] | None:
        return None if self.counts is None else variance_parts(self.study.parameters, self.counts)

    @cached_property
    def like(self) -> StudyLike | None:
        """Studies of other sizes; None where there is nothing to find."""
        study = self.study
        if (
            self.counts is None
            or study.rule.tail >= TARGET
            or not study.rule.can_show(self.analytic.effect)
        ):
            return None
        return StudyLike(study.parameters.recoded(), self.counts, self.analytic.precision, study.rule)

    @cached_property
    def workers(self) -> Growth | None:
        return None if self.like is None else growth_of_workers(self.like)

    @cached_property
    def items(self) -> Growth | None:
        return None if self.like is None else growth_of_items(self.like)

    @cached_property
    def spending(self) -> CostCurve | None:
        if self.like is None or self.workers is None or self.items is None:
            return None
        return spending_of(self.like, self.workers, self.items, costs=self.costs, budget=self.budget)


def estimates_of(effect: float, precision: EffectPrecision, rule: DecisionRule) -> Estimates:
    """The law of a study's estimates under the null and under the effect, drawn wide enough for both."""
    null, reach = rule.null_effect, _REACH * precision.standard_error
    at = np.linspace(min(null, effect) - reach, max(null, effect) + reach, _POINTS)
    chance = chance_of_significance(at, precision, rule)
    under_null, under_effect = (estimate_density(at, true, precision) for true in (null, effect))
    columns = (at, under_null, under_null * chance, under_effect, under_effect * chance)
    return Estimates(null, *(tuple(column.tolist()) for column in columns))


def effect_curve(effect: float, precision: EffectPrecision, rule: DecisionRule) -> EffectCurve:
    """Power from no effect to twice this one."""
    effects = np.linspace(0, 2 * effect, _EFFECTS)
    one_sided = rule.alternative != "two-sided"
    curve = powers(
        effects if one_sided else np.abs(effects),
        RegularPrecision(np.array(precision.variance), np.array(precision.df)),
        smallest=float(precision.smallest),
        rule=rule,
    )
    return EffectCurve(tuple(effects.tolist()), tuple(curve.tolist()))


def curse_of(precision: EffectPrecision, rule: DecisionRule) -> Curse:
    """Exaggeration over power, from studies that find next to nothing to those that find all."""
    ratios = np.linspace(_LARGEST_RATIO / _CURVE, _LARGEST_RATIO, _CURVE)
    power = [power_at(float(ratio) * precision.standard_error, precision, rule=rule) for ratio in ratios]
    return Curse(
        tuple(each.power for each in power),
        tuple(each.type_m for each in power),
        tuple(each.type_s for each in power),
    )


# How often a planned study would find what is not there, if its documents were left out of the analysis.

_NO_HARM = 0.005  # more false positives than this are worth a word
N_SIMULATED = 10_000  # studies drawn by their mean squares, which takes a few milliseconds


@dataclass(frozen=True, slots=True)
class WithoutDocuments:
    """The rate of false positives of an analysis that leaves the documents out; of the rule's claim where it
    has a margin and the true difference lies there. `n_simulations` is 0 where the rate is by formula."""

    rate: float
    alpha: float
    n_simulations: int

    def __str__(self) -> str:
        how = f"{self.n_simulations:,} simulated studies" if self.n_simulations else "by formula"
        if self.rate <= self.alpha + _NO_HARM:
            return f"left out of the analysis they would raise no false positives ({how})"
        return (
            f"left out of the analysis they would raise false positives from {100 * self.alpha:g} % to "
            f"{100 * self.rate:.2g} % ({how})"
        )


def without_documents(study: AnyStudy, *, seed: int = DEFAULT_SEED) -> WithoutDocuments | None:
    """By simulation where studies are drawn by their mean squares, else by formula; None for a study without
    documents, one of several systems, and where neither describes it."""
    if not isinstance(study, RatingStudy) or study.design.n_documents == 0 or study.rule.is_simulated:
        return None
    from humeval_power.studies.power.formula import false_positives_without_documents

    null = replace(study, ignore_documents=True).with_effect(study.rule.null_effect)
    if null.replication.by_mean_squares and null.rule.estimator == "reml":
        estimate = estimate_power(null, n_simulations=N_SIMULATED, seed=seed)
        return WithoutDocuments(estimate.rejection_rate, study.alpha, N_SIMULATED)
    if not study.has_formula:
        return None
    rate = false_positives_without_documents(study.parameters, study.design, rule=study.rule)
    return WithoutDocuments(rate, study.alpha, 0)


# What holds a design back, and what would help: more workers, items, documents or ratings per item.


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """What one more of each would add to the power, and the limits with endless items or workers.

    `more_items` is the gain from a tenth more items. A gain is None where it cannot be had: another
    rating per item needs another worker. `more_documents` is the gain from one more document with as many
    items as the others, None without documents, as is the limit with endless items and workers alike.
    """

    power: float
    more_workers: float
    more_items: float
    more_ratings: float | None
    with_endless_items: Ceiling
    with_endless_workers: Ceiling
    more_documents: float | None = None
    with_endless_both: Ceiling | None = None

    @property
    def factor(self) -> str:
        """The factor that blocks: the one whose growth alone could not reach the target, or else the
        one whose next step helps most."""
        if self.with_endless_both is not None and not self.with_endless_both.reachable:
            return "documents"
        if not self.with_endless_items.reachable:
            return "workers"
        if not self.with_endless_workers.reachable:
            return "items"
        gains = {
            "workers": self.more_workers,
            "items": self.more_items,
            "documents": self.more_documents or 0.0,
            "ratings per item": self.more_ratings or 0.0,
        }
        return max(gains, key=lambda name: gains[name])


def find_bottleneck(
    counts: StudyCounts, *, power_of: Callable[[StudyCounts], float], ceilings: Sequence[Ceiling]
) -> Bottleneck:
    """Look one step around a design, by formula. ceilings : with endless items, with endless workers, and where
    there are documents with both."""
    power = power_of(counts)

    def gain(other: StudyCounts) -> float:
        try:
            return power_of(other) - power
        except DesignError:  # a worker more than there is work for
            return 0.0

    k = counts.ratings_per_item
    worker = replace(
        counts, n_workers=counts.n_workers + 1, ratings_per_item=k + 1 if counts.is_complete else k
    )
    items = replace(counts, n_items=counts.n_items + max(1, counts.n_items // 10))
    fits = (k + 1) * different_workers(counts.paired, counts.n_systems) <= counts.n_workers
    with_items, with_workers, *with_both = ceilings
    return Bottleneck(
        power=power,
        more_workers=gain(worker),
        more_items=gain(items),
        more_ratings=gain(replace(counts, ratings_per_item=k + 1)) if fits else None,
        with_endless_items=with_items,
        with_endless_workers=with_workers,
        more_documents=gain(one_document_more(counts)) if counts.n_documents else None,
        with_endless_both=with_both[0] if with_both else None,
    )


def pair_ceilings(
    parameters: Parameters, counts: StudyCounts, *, target: float, rule: DecisionRule
) -> tuple[Ceiling, ...]:
    """What endless items, endless workers, and where there are documents both, make of a study of two systems."""
    documents = counts.n_documents
    k = None if counts.is_complete else counts.ratings_per_item
    how: dict[str, Any] = {"n_documents": documents, "target": target, "rule": rule}
    return (
        ceiling_with_items(parameters, n_workers=counts.n_workers, **how),
        ceiling_with_workers(parameters, n_items=counts.n_items, ratings_per_item=k, **how),
        *((ceiling_with_both(parameters, **how),) if documents else ()),
    )


def one_document_more(counts: StudyCounts) -> StudyCounts:
    """The same with a further document of as many items."""
    each = counts.n_items // counts.n_documents
    return replace(counts, n_items=counts.n_items + each, n_documents=counts.n_documents + 1)


def bottleneck_words(bottleneck: Bottleneck, counts: StudyCounts) -> str:
    """The blocking factor in two sentences."""
    items, workers = bottleneck.with_endless_items, bottleneck.with_endless_workers
    tenth = max(1, counts.n_items // 10)
    both = bottleneck.with_endless_both
    of = f" and {counts.n_documents} documents" if counts.n_documents else ""
    if both is not None and not both.reachable:
        first = (
            f"Documents are what is missing: with {counts.n_documents} of them no number of items and workers "
            f"takes the power above {both.power:.2f}."
        )
    elif not items.reachable and items.power < bottleneck.power - 0.05:
        first = (
            f"Workers are what is missing: {counts.n_workers} of them are too few for this effect, and too "
            "few for the formula to say how much items could do."
        )
    elif not items.reachable:
        first = (
            f"Workers are what is missing: with {counts.n_workers} of them{of} no number of items takes the "
            f"power above {items.power:.2f}."
        )
    elif not workers.reachable:
        first = (
            f"Items are what is missing: with {counts.n_items} of them no number of workers takes the "
            f"power above {workers.power:.2f}."
        )
    else:
        first = f"The next step that helps most is more {bottleneck.factor}."
    parts = [
        f"the next worker is worth {bottleneck.more_workers:+z.3f}",
        f"{tenth} more items {bottleneck.more_items:+z.3f}",
    ]
    if bottleneck.more_documents is not None:
        parts.append(f"the next document with its items {bottleneck.more_documents:+z.3f}")
    if bottleneck.more_ratings is not None:
        parts.append(f"another rating per item {bottleneck.more_ratings:+z.3f}")
    rough = " The formula is rough with so few workers." if counts.n_workers < T_LAW_WORKERS else ""
    return f"{first} By formula {', '.join(parts)}.{rough}"
