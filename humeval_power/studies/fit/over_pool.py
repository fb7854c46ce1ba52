"""What a study says about a pool of items, or about items like these, from ratings of the chosen ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from humeval_power.checking.columns import listing
from humeval_power.choices import DEFAULT_ESTIMAND, Estimand
from humeval_power.errors import Problem, refusal, refuse
from humeval_power.inference.chosen_items import PoolEstimate, estimate_pool
from humeval_power.inference.corrections import correct
from humeval_power.inference.item_sampling import uneven_strata
from humeval_power.item_pool import ItemPool
from humeval_power.ratings import Ratings
from humeval_power.rules import DecisionRule
from humeval_power.saying.document import Block, Facts, Points, Section
from humeval_power.saying.numbers import counted, decimals, interval_words, level_of
from humeval_power.saying.result import Record
from humeval_power.studies.fit.many_systems import SystemsAnalysis, of_common_workers
from humeval_power.studies.fit.wald import EffectTest, finished_test

_SHOWN = 8  # names of items in a message


@dataclass(frozen=True, slots=True, eq=False)
class OverPool:
    """What comparisons of chosen items say about their pool: the estimates in the order of the comparisons, and the
    tests of each for the pool and for items like these; of picked items both are about these alone."""

    pool: ItemPool
    estimand: Estimand
    estimates: tuple[PoolEstimate, ...]
    tests: tuple[tuple[EffectTest, EffectTest], ...]
    n_rated: int

    @property
    def scope(self) -> Literal["pool", "population", "these"]:
        """What the result is about."""
        return "these" if self.pool.by_hand else self.estimand

    @property
    def sentence(self) -> str:
        """What the result is about, to stand after every decision."""
        return about_sentence(self.pool, self.estimand, self.n_rated)

    def section(self, names: Sequence[str]) -> Iterator[Section]:
        """What was drawn and taken into account, and both estimands; `names` are those of the comparisons."""
        yield Section("What the result is about", tuple(self._blocks(names)))

    def _blocks(self, names: Sequence[str]) -> Iterator[Block]:
        pool, first = self.pool, self.estimates[0]
        facts = [
            ("Items of the pool", f"{pool.n_items:,}"),
            ("Rated", f"{self.n_rated:,} of {pool.n_chosen:,} chosen"),
        ]
        if self.scope != "these":
            same = int(pool.identical.sum())
            facts.append(("Drawn", _drawn(pool, first)))
            facts.append(("With identical outputs", f"{same:,}{', whose difference is 0' if same else ''}"))
        for name, estimate, (of_pool, of_population) in zip(names, self.estimates, self.tests, strict=True):
            about = "These items" if self.scope == "these" else "This pool"
            facts.append((f"{name}, {about.lower()}" if len(names) > 1 else about, _test_words(of_pool)))
            if self.scope != "these":
                like = "Items like these"
                facts.append(
                    (f"{name}, {like.lower()}" if len(names) > 1 else like, _test_words(of_population))
                )
            if math.isfinite(estimate.slope) and len(names) == 1 and pool.n_strata == 1:
                facts.append(("Difference for one SD of the metric", f"{estimate.slope:.4f}"))
        yield Facts(tuple(facts))
        if self.n_rated < pool.n_chosen and self.scope != "these":
            yield Points(
                (
                    f"{counted(pool.n_chosen - self.n_rated, 'chosen item')} without ratings: those that have "
                    "some stand for all of their stratum. That is right if what was lost has nothing to do "
                    "with the difference.",
                )
            )

    def content(self, names: Sequence[str]) -> Record:
        """The same as plain values."""
        pool, comparisons = self.pool, []
        for name, estimate, tests in zip(names, self.estimates, self.tests, strict=True):
            of_pool, like = (list(one.interval) for one in tests)
            ends = {"pool_interval": of_pool, "population_interval": like}
            comparisons.append({"name": name, **asdict(estimate), **ends})
        return {
            "source": pool.source,
            "estimand": self.scope,
            "sentence": self.sentence,
            "items": pool.n_items,
            "identical": int(pool.identical.sum()),
            "chosen": pool.n_chosen,
            "rated": self.n_rated,
            "strata": pool.n_strata,
            "comparisons": comparisons,
        }


def about_sentence(pool: ItemPool, estimand: Estimand, n_rated: int) -> str:
    """What a result by so many rated items of a pool is about."""
    rated = f"{n_rated:,}"
    if pool.by_hand:
        return f"This is about these {rated} items only: they were picked and not drawn, and others may differ."
    like = "items like the" if estimand == "population" else "the"
    of = f"{pool.n_items:,}{'' if estimand == 'population' else ' items'} of {pool.source}"
    return f"This is about {like} {of}, of which {rated} were drawn and rated."


def _drawn(pool: ItemPool, estimate: PoolEstimate) -> str:
    metric = ", with the metric as a covariate" if math.isfinite(estimate.slope) else ""
    if pool.unequal:
        return f"with unequal probabilities; worth {estimate.effective_items:.1f} items"
    if pool.n_strata > 1:
        return f"from {pool.n_strata} strata{metric}"
    return f"each item as likely as any other{metric}"


def _test_words(test: EffectTest) -> str:
    if test.reason:
        return test.reason
    return (
        f"{decimals(test.estimate, 4)}, SE {test.standard_error:.4f}, df {test.df:.1f}, "
        f"{level_of(test.rule.confidence)} interval {interval_words(*test.interval)}"
    )


def of_pool(ratings: Ratings, pool: ItemPool, rule: DecisionRule) -> Ratings:
    """The ratings that say something about the pool: those of its chosen items; identical outputs are left
    out. Raises InputError: ratings of items that the pool does not have or that were not chosen, systems that
    it has no scores of, or an analysis that has no strata: all at once."""
    problems = []
    if rule.is_latent:
        problems.append(
            Problem(
                f"ratings as the family '{rule.family}' have no estimate over a pool: their effect is on a "
                "latent scale, where no mean of strata is the difference over the items.",
                "Take --family gaussian, which compares mean ratings.",
            )
        )
    if rule.df not in ("kenward-roger", "satterthwaite") or rule.estimator != "reml":
        problems.append(
            Problem(
                f"a pool of items is analysed by REML with Kenward and Roger's df, not by {rule.estimator} and "
                f"'{rule.df}'.",
                "Leave out --estimator and --df.",
            )
        )
    if ratings.document is not None:
        problems.append(
            Problem(
                "documents are not offered with a pool: items of one document are alike, and the pool's variance "
                "takes them as drawn one by one.",
                "Leave out the column of documents, or the pool.",
            )
        )
    if ratings.covariates:
        problems.append(
            Problem(
                "covariates are not offered with a pool: what they are over its other items is not known.",
                "Leave out their columns, or the pool.",
            )
        )
    real = ~pool.identical
    uneven = [] if pool.by_hand else uneven_strata(pool.stratum[real], pool.chosen[real]).tolist()
    if uneven:
        strata = (
            f"{'stratum' if len(uneven) == 1 else 'strata'} {listing([str(one + 1) for one in uneven])}"
        )
        problems.append(
            Problem(
                f"more or fewer items are drawn from {strata} than in proportion, as by Neyman's allocation: the "
                "model gives items of all strata one variance, and where those of one of two differ three times as "
                "much and three times as many are drawn, the variance of their mean comes out 2.3 times too large.",
                "Draw from strata in proportion, as more items does.",
                pool.source,
            )
        )
    unknown = [name for name in ratings.item_names if name not in pool.places]
    if unknown:
        rule_words = (
            f"{counted(len(unknown), 'rated item')} not in {pool.source}: {listing(unknown, limit=_SHOWN)}."
        )
        problems.append(
            Problem(
                rule_words, "Give the file that the items of this study were drawn into.", ratings.source
            )
        )
    known = {name: pool.places[name] for name in ratings.item_names if name in pool.places}
    identical, chosen = pool.identical, pool.chosen
    strange = [name for name, place in known.items() if not chosen[place] and not identical[place]]
    if strange:
        beside = f"{counted(len(strange), 'rated item')} beside those that {pool.source} has as chosen: "
        remedy = "Items chosen otherwise tell nothing of the pool: leave their ratings out."
        problems.append(Problem(f"{beside}{listing(strange, limit=_SHOWN)}.", remedy, ratings.source))
    elsewhere = [name for name in ratings.system_names if name not in pool.systems]
    if elsewhere and pool.systems and identical.any():  # known of the outputs of its own systems alone
        problems.append(
            Problem(
                f"{pool.source} has no scores of {listing(elsewhere, limit=_SHOWN)}: it leaves out outputs that "
                f"are the same under {listing(list(pool.systems), limit=_SHOWN)}.",
                "Call systems as there, and compare these alone.",
                ratings.source,
            )
        )
    refuse(problems)
    kept = np.array([not identical[known[name]] for name in ratings.item_names])[ratings.item]
    return ratings if kept.all() else ratings.of_rows(kept)


class PoolTests(NamedTuple):
    """Of one comparison the estimate, and the tests for the pool and for items like these."""

    estimate: PoolEstimate
    pool: EffectTest
    population: EffectTest

    def of(self, estimand: Estimand | None) -> EffectTest:
        """The test of what the result is about."""
        return self.population if (estimand or DEFAULT_ESTIMAND) == "population" else self.pool


def compare_over_pool(ratings: Ratings, pool: ItemPool, rule: DecisionRule) -> PoolTests:
    """The comparison of two systems.

    ratings : as `of_pool` gives them.

    Raises InputError: strata without two rated items; FitError: ratings that determine nothing.
    """
    a, b = ratings.system_names
    estimate = estimate_pool(
        pool,
        (a, b),
        ratings.worker,
        ratings.item,
        ratings.system,
        ratings.rating,
        ratings.item_names,
        by_differences=rule.analysis == "differences",
    )
    error = math.sqrt(max(estimate.pool_variance, 0.0))
    like = math.sqrt(estimate.population_variance)
    return PoolTests(
        estimate,
        finished_test(estimate.estimate, error, estimate.pool_df, rule),
        finished_test(estimate.estimate, like, estimate.population_df, rule),
    )


def analyse_over_pool(
    ratings: Ratings,
    analysis: SystemsAnalysis,
    pool: ItemPool,
    estimand: Estimand | None,
    *,
    common_workers: bool = False,
) -> tuple[SystemsAnalysis, OverPool]:
    """The comparisons with the tests of the pool, or of items like these, in the place of their own.

    ratings : as `of_pool` gives them, of which the analysis is.
    common_workers : each comparison takes those alone who rated both of its systems.

    Raises InputError: items like these asked of items that were picked; strata without two rated items.
    """
    if pool.by_hand and estimand is not None:
        only = "the items were picked and not drawn, so that results are about them only."
        raise refusal(only, "Leave out --estimand.", pool.source)
    wanted = estimand or DEFAULT_ESTIMAND
    estimates, tests, results = [], [], []
    for one in analysis.results:
        pair = ratings.pair(one.first, one.second)
        tested = compare_over_pool(of_common_workers(pair) if common_workers else pair, pool, one.test.rule)
        estimates.append(tested.estimate)
        tests.append((tested.pool, tested.population))
        own = tested.of(wanted)
        results.append(replace(one, test=own, corrected_p=own.p_value))
    if len(results) > 1:
        corrected = correct([one.test.p_value for one in results], analysis.family.correction)
        results = [replace(one, corrected_p=float(p)) for one, p in zip(results, corrected, strict=True)]
    over = OverPool(pool, wanted, tuple(estimates), tuple(tests), ratings.n_items)
    return replace(analysis, results=tuple(results)), over
