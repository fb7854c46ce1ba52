"""Ranks of systems: intervals from the tests, chances by simulation, and both held against what they promise."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from cases import each_case, few_fast
from reference.slow_ranks import slow_chances
from scipy import stats
from test_joint_fit import random_table
from test_many_systems import ratings_of

from humeval_power.rules import ComparisonFamily, DecisionRule
from humeval_power.studies.fit.joint_comparison import compare_jointly
from humeval_power.studies.fit.many_systems import compare_in_pairs
from humeval_power.studies.fit.ranks import (
    Differences,
    draw_means,
    joint_differences,
    pair_differences,
    rank_intervals,
    ranks_of,
    simulate_ranks,
)

RULE = DecisionRule()


def analysed(ratings, model, *, rule=RULE, **more):
    """The comparisons by fits in pairs, or by one fit with these variances."""
    if model == "pairwise":
        return compare_in_pairs(ratings, rule=rule, family=ComparisonFamily(**more))
    return compare_jointly(
        ratings, rule=rule, family=ComparisonFamily(model="joint", variances=model, **more)
    )


@pytest.fixture(scope="module")
def four():
    """An incomplete table of four systems."""
    return ratings_of(random_table(11, m=6, n=15, K=4, kept=0.7), "pqrs")


def study(rng, means, *, workers=8, items=20, sd=(0.3, 0.15, 0.3, 0.2, 0.5)):
    """A complete table of systems with these means."""
    K = len(means)
    worker, item, system = np.indices((workers, items, K)).reshape(3, -1)
    value = np.asarray(means)[system] + sd[0] * rng.standard_normal(workers)[worker]
    value += sd[1] * rng.standard_normal((workers, K))[worker, system]
    value += (
        sd[2] * rng.standard_normal(items)[item] + sd[3] * rng.standard_normal((items, K))[item, system]
    )
    table = random_table(1, m=workers, n=items, K=K, kept=1.0)
    made = ratings_of(table, [f"s{code}" for code in range(K)])
    return replace(
        made,
        worker=worker,
        item=item,
        system=system,
        rating=value + sd[4] * rng.standard_normal(len(value)),
    )


@few_fast("df", ["kenward-roger", "satterthwaite", "min", "normal"], fast=1)
@pytest.mark.parametrize("model", ["pairwise", "common", "own"])
def test_with_two_systems_the_chance_of_being_best_is_that_of_the_t_distribution(model, df):
    ratings = ratings_of(random_table(3, m=5, n=12, K=2, kept=0.8), "pq")
    rule = replace(RULE, df=df)
    analysis = analysed(ratings, model, rule=rule)
    test = analysis.results[0].test
    found = simulate_ranks(analysis)
    expected = stats.t.cdf(test.estimate / test.standard_error, test.df)
    assert found.systems[1].best == pytest.approx(expected, abs=0.01)
    assert found.systems[0].best == pytest.approx(1 - found.systems[1].best, abs=1e-12)
    assert found.systems[0].expected == pytest.approx(1 + found.systems[1].best, abs=1e-9)


@few_fast("n_draws", [400, 3000])
@few_fast("model", ["pairwise", "common", "own"], fast=1)
def test_chances_agree_with_draws_one_by_one(four, model, n_draws):
    analysis = analysed(four, model)
    known = pair_differences(analysis) if analysis.joint is None else joint_differences(analysis, RULE)
    together = None if known.together is None else known.together @ known.together.T
    slow = slow_chances(known.centre, known.variance, known.df, together, n_draws=n_draws, seed=5)
    fast = ranks_of("pqrs", draw_means(known, seed=1), alpha=0.05, seed=1)
    told = np.array([one.chances for one in fast.systems])
    assert told == pytest.approx(slow, abs=4 * math.sqrt(0.25 / n_draws))
    assert told.sum(axis=0) == pytest.approx(np.ones(4))
    assert told.sum(axis=1) == pytest.approx(np.ones(4))
    assert [one.expected for one in fast.systems] == pytest.approx(told @ np.arange(1, 5))


def test_one_scale_for_all_gives_the_multivariate_t():
    centre = np.array([0.0, 0.4, 1.1])
    variance = 0.6 * (1 - np.eye(3))
    drawn = draw_means(Differences(centre, variance, np.full((3, 3), 4.0)), seed=2)
    differences = np.column_stack([drawn[:, 1] - drawn[:, 0], drawn[:, 2] - drawn[:, 0]])
    exact = stats.multivariate_t([0.4, 1.1], [[0.6, 0.3], [0.3, 0.6]], df=4)
    for point in ([0, 0], [0.5, 0.5], [0, 2], [1, 1.5]):
        below = (differences <= point).all(axis=1).mean()
        assert below == pytest.approx(exact.cdf(np.array(point), random_state=1), abs=0.01)


def test_the_covariance_of_two_differences_follows_from_the_variances_of_pairs():
    root = np.random.default_rng(4).standard_normal((5, 5))
    true = root @ root.T
    variance = np.add.outer(np.diag(true), np.diag(true)) - 2 * true
    drawn = draw_means(Differences(np.zeros(5), variance, np.full((5, 5), math.inf)), seed=3)
    contrasts = np.array([np.eye(5)[j] - np.eye(5)[i] for i, j in combinations(range(5), 2)])
    found = np.cov(drawn @ contrasts.T, rowvar=False)
    assert found == pytest.approx(contrasts @ true @ contrasts.T, abs=0.05 * variance.max())


def test_variances_that_no_covariance_has_become_no_smaller():
    variance = np.array(
        [[0, 1.0, 9.0], [1.0, 0, 1.0], [9.0, 1.0, 0]]
    )  # SDs 1 and 1, but 3 between the ends
    drawn = draw_means(Differences(np.zeros(3), variance, np.full((3, 3), math.inf)), seed=3)
    for i, j in combinations(range(3), 2):
        assert np.var(drawn[:, i] - drawn[:, j]) >= 0.97 * variance[i, j]


def test_the_same_seed_gives_the_same_ranks_and_another_others(four):
    analysis = compare_jointly(four, rule=RULE)
    assert simulate_ranks(analysis, seed=7) == simulate_ranks(analysis, seed=7)
    assert simulate_ranks(analysis, seed=7) != simulate_ranks(analysis, seed=8)


def test_simulated_ranges_hold_the_wanted_share():
    drawn = np.random.default_rng(1).standard_normal((20_000, 6)) + np.arange(6) * 0.7
    found = ranks_of("abcdef", drawn, alpha=0.1, seed=None)
    for one in found.systems:
        inside = sum(one.chances[one.low - 1 : one.high])
        assert inside >= 0.9 - 1e-12
        assert sum(one.chances[: one.low - 1]) < 0.05
        assert sum(one.chances[one.high :]) <= 0.05 + 1e-12


@each_case("correction", ["holm", "bonferroni", "none"])
@each_case("model", ["pairwise", "own"])
def test_rank_intervals_count_the_systems_that_the_shown_tests_put_before_and_behind(model, correction):
    ratings = study(np.random.default_rng(8), [0.0, 0.35, 0.3, 0.9])
    analysis = analysed(ratings, model, correction=correction)
    found = rank_intervals(analysis)
    for name in ratings.system_names:
        above = below = 0
        for one in analysis.results:
            if name not in (one.first, one.second) or not one.significant:
                continue
            gain = one.test.estimate if one.first == name else -one.test.estimate
            above, below = above + (gain > 0), below + (gain < 0)
        assert found[name] == (1 + above, 4 - below)
    assert any(low < high for low, high in found.values())
    assert any(low > 1 for low, high in found.values())


def test_without_an_order_there_are_no_rank_intervals(four):
    against = analysed(four, "own", comparisons="baseline", baseline="q")
    assert rank_intervals(against) == {}
    assert simulate_ranks(against).systems  # a joint fit knows the other differences too
    margin = replace(RULE, alternative="equivalent", margin=0.1)
    assert rank_intervals(compare_jointly(four, rule=margin)) == {}


def test_it_is_said_why_there_are_no_ranks(four):
    in_pairs = simulate_ranks(analysed(four, "pairwise", comparisons="baseline", baseline="q"))
    assert in_pairs.systems == ()
    assert "compare all pairs" in in_pairs.reason


@pytest.mark.slow
@pytest.mark.parametrize("means", [(0.0, 0.0, 0.4), (0, 0, 0, 0, 0.5, 0.5, 0.5, 1.0), (0.0,) * 8])
def test_rank_intervals_cover_all_ranks_at_once_with_ties_too(means):
    rng = np.random.default_rng(len(means))
    n, missed = 400, 0
    for _ in range(n):
        found = rank_intervals(analysed(study(rng, means), "common"))
        missed += any(
            low > 1 + sum(other > mean for other in means)
            or high < len(means) - sum(other < mean for other in means)
            for (low, high), mean in zip(found.values(), means, strict=True)
        )
    assert missed / n <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / n)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("model", ["pairwise", "common", "own"])
@pytest.mark.parametrize("K", [3, 8])
def test_of_systems_with_a_chance_of_one_half_every_second_is_best(K, model):
    """True means are spread widely: then draws under flat priors are calibrated."""
    rng = np.random.default_rng(K)
    told, best = [], []
    for _ in range(150 if K == 3 else 60):
        means = rng.normal(0, 1.0, K)
        ratings = study(rng, means)
        analysis = analysed(ratings, model)
        told += [one.best for one in simulate_ranks(analysis).systems]
        best += (means == means.max()).tolist()
    told, best = np.array(told), np.array(best)
    for low, high in ((0.0, 0.1), (0.1, 0.5), (0.5, 0.9), (0.9, 1.01)):
        bin_ = (told >= low) & (told < high)
        spread = math.sqrt((told[bin_] * (1 - told[bin_])).sum()) / bin_.sum()
        assert abs(told[bin_].mean() - best[bin_].mean()) <= 3 * spread + 0.01, (low, high)
