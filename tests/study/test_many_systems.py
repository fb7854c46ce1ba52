"""Comparisons of several systems: the largest t, joint tests, groups and their letters."""

import itertools
import math
from dataclasses import replace
from functools import partial
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from cases import each_case, few_fast
from reference.golden import shared_golden
from scipy import stats
from test_joint_fit import random_table

from humeval_power.errors import InputError
from humeval_power.ratings import Ratings
from humeval_power.rules import ComparisonFamily, DecisionRule
from humeval_power.scales import RatingScale
from humeval_power.studies.fit import joint_comparison
from humeval_power.studies.fit.joint_comparison import compare_jointly
from humeval_power.studies.fit.many_systems import (
    compare_in_pairs,
    compare_systems,
    group_letters,
    groups_of,
    indistinct_groups,
)
from humeval_power.studies.fit.max_t import MaxT, contrast_factor, contrasts_of, factor_of

joint = partial(ComparisonFamily, model="joint")


def all_pairs_correlation(K):
    L = np.array([np.eye(K)[b] - np.eye(K)[a] for a, b in combinations(range(K), 2)])
    return L @ L.T / 2


def equal_correlation(n, rho=0.5):
    return np.full((n, n), rho) + (1 - rho) * np.eye(n)


def ratings_of(rows, names):
    return Ratings(
        rows.worker,
        rows.item,
        rows.system,
        rows.rating,
        tuple(f"w{code}" for code in range(rows.worker.max() + 1)),
        tuple(f"i{code}" for code in range(rows.item.max() + 1)),
        tuple(names),
        RatingScale(0, 1),
    )


@pytest.fixture(scope="module")
def four():
    """An incomplete table of four systems."""
    return ratings_of(random_table(11, m=6, n=15, K=4, kept=0.7), "pqrs")


@pytest.mark.parametrize("K", [3, 5, 10])
@few_fast("df", [3.7, 20.0, math.inf], fast=1)
def test_the_largest_t_of_all_pairs_follows_tukeys_distribution(K, df):
    largest = MaxT(factor_of(all_pairs_correlation(K)), df)
    t = np.array([1.0, 2.5, 3.5])
    # 32,768 Sobol points: about 1 in 1,000, checked against SciPy's studentized range
    assert largest.p_value(t) == pytest.approx(stats.studentized_range.sf(t * 2**0.5, K, df), rel=3e-3)
    critical = stats.studentized_range.isf(0.05, K, df) / 2**0.5
    assert largest.critical_value(0.05) == pytest.approx(critical, rel=5e-4)


@pytest.mark.slow
def test_critical_values_are_those_of_mvtnorm(shared):
    for row in shared_golden(shared, "07_multiple_systems")["critical_values"]:
        n = row["K"] - 1
        if row["type"].startswith("bonf"):
            continue
        correlation = equal_correlation(n) if row["type"] == "dunnett" else all_pairs_correlation(row["K"])
        # mvtnorm's own randomised integration is right to about 1e-3 at 2 df
        assert MaxT(factor_of(correlation), row["df"]).critical_value(0.05) == pytest.approx(
            row["crit"], rel=1e-3
        )


@each_case("K", [2, 3, 7])
def test_rows_of_a_factor_have_the_correlations_of_differences_as_products(K):
    rng = np.random.default_rng(K)
    root = rng.normal(size=(K, K))
    pairs = list(combinations(range(K), 2))
    contrasts = contrasts_of(pairs, K)
    for covariance in (root @ root.T, np.diag(np.eye(K)[0])):  # of the second all but one are known
        kept = [pair for pair in pairs if 0 in pair or covariance[1, 1] > 0]
        rows = contrasts[[pairs.index(pair) for pair in kept]]
        dense = rows @ covariance @ rows.T
        scale = np.sqrt(np.diag(dense))
        factor = contrast_factor(covariance, rows)
        assert factor.shape[1] <= K - 1
        assert factor @ factor.T == pytest.approx(dense / np.outer(scale, scale), abs=1e-10)


def test_dunnetts_p_values_are_those_of_scipy():
    rng = np.random.default_rng(8)
    samples = [rng.normal(loc, 1, 8) for loc in (0, 0.5, 1.2, 1.6)]
    said = stats.dunnett(*samples[1:], control=samples[0], rng=np.random.default_rng(0))
    found = MaxT(factor_of(equal_correlation(3)), 28).p_value(said.statistic)
    assert found == pytest.approx(said.pvalue, abs=2e-3)  # SciPy integrates by random points


def test_an_unequal_correlation_gives_what_many_draws_give():
    correlation = np.array([[1, 0.8, -0.3], [0.8, 1, 0.1], [-0.3, 0.1, 1]])
    rng = np.random.default_rng(1)
    n = 400_000
    z = rng.standard_normal((n, 3)) @ np.linalg.cholesky(correlation).T
    t = z / np.sqrt(rng.chisquare(7, n) / 7)[:, None]
    for two_sided, values in ((True, [0.5, 2.0, 3.0]), (False, [-1.0, 0.0, 2.0])):
        largest = (np.abs(t) if two_sided else t).max(axis=1)
        found = MaxT(factor_of(correlation), 7.0, two_sided=two_sided).p_value(np.array(values))
        # four standard errors
        assert found == pytest.approx([(largest >= value).mean() for value in values], abs=0.003)


def test_one_comparison_needs_no_correction_and_none_is_ever_lowered():
    assert MaxT(factor_of(np.eye(1)), 5).p_value(np.array([2.0])) == pytest.approx(2 * stats.t.sf(2, 5))
    far = np.array([30.0, 60.0])
    found = MaxT(factor_of(all_pairs_correlation(6)), 8).p_value(far)
    single = 2 * stats.t.sf(far, 8)
    assert (found >= single).all()
    assert (found <= 15 * single * (1 + 1e-12)).all()


def test_the_same_seed_gives_the_same_p_values():
    t = np.array([2.2])
    first = MaxT(factor_of(all_pairs_correlation(5)), 9, seed=3).p_value(t)
    assert first == MaxT(factor_of(all_pairs_correlation(5)), 9, seed=3).p_value(t)
    assert first != MaxT(factor_of(all_pairs_correlation(5)), 9, seed=4).p_value(t)


def test_no_degrees_of_freedom_is_an_error():
    with pytest.raises(InputError, match="must be positive"):
        MaxT(factor_of(np.eye(2)), 0.0)


def test_max_t_takes_the_smallest_df_and_lies_between_no_correction_and_bonferroni(four):
    rule = DecisionRule()
    found = compare_jointly(four, rule=rule, family=joint(correction="max-t", variances="common"))
    assert found.common_df == min(one.test.df for one in found.results)
    for one in found.results:
        t = abs(one.test.estimate) / one.test.standard_error
        bound = 6 * 2 * stats.t.sf(t, found.common_df)
        assert one.test.p_value <= one.corrected_p <= min(bound, 1) + 1e-12
        low, high = one.simultaneous_interval
        assert low < one.test.interval[0] < one.test.interval[1] < high
        # the simultaneous interval and the adjusted p-value are the same decision
        assert (low > 0 or high < 0) == (one.corrected_p <= 0.05)


def test_joint_comparisons_against_a_baseline_leave_out_the_other_pairs(four):
    found = compare_jointly(four, rule=DecisionRule(), family=joint(comparisons="baseline", baseline="r"))
    assert [(one.first, one.second) for one in found.results] == [("r", "p"), ("r", "q"), ("r", "s")]
    everything = compare_jointly(four, rule=DecisionRule())
    pair = next(one for one in everything.results if (one.first, one.second) == ("p", "r"))
    assert found.results[0].test.estimate == pytest.approx(-pair.test.estimate)
    assert found.groups == ()
    assert sum(map(len, everything.groups)) >= 4


def test_the_means_come_with_intervals_of_their_own_t(four):
    found = compare_jointly(four, rule=DecisionRule())
    for one in found.means:
        reach = stats.t.isf(0.025, one.df) * one.standard_error
        assert one.interval == pytest.approx((one.mean - reach, one.mean + reach))


def test_a_joint_fit_of_a_complete_table_has_the_pairwise_estimates_and_more_df():
    ratings = ratings_of(random_table(5, m=5, n=10, K=3, kept=1.1), "abc")
    joint = compare_jointly(ratings, rule=DecisionRule())
    pairs = compare_in_pairs(ratings, rule=DecisionRule())
    for one, other in zip(joint.results, pairs.results, strict=True):
        assert one.test.estimate == pytest.approx(other.test.estimate, rel=1e-10)
    assert np.mean([one.test.df for one in joint.results]) > np.mean([one.test.df for one in pairs.results])
    assert [one.mean for one in joint.means] == pytest.approx([one.mean for one in pairs.means])
    assert pairs.means[0].interval is None


@pytest.mark.parametrize("df", ["satterthwaite", "min", "normal"])
def test_the_joint_model_takes_the_rules_df(four, df):
    found = compare_jointly(four, rule=DecisionRule(df=df))
    expected = {"min": 5.0, "normal": math.inf}.get(df)
    if expected is not None:
        assert {one.test.df for one in found.results} == {expected}
    else:
        assert len({one.test.df for one in found.results}) > 1


def test_rules_that_a_joint_fit_cannot_follow_are_refused(four):
    for rule, words in (
        (DecisionRule(estimator="ml", df="satterthwaite"), "by REML"),
        (DecisionRule(analysis="differences"), "no analysis of differences"),
        (DecisionRule(df="bootstrap"), "no simulated reference"),
    ):
        with pytest.raises(InputError, match=words):
            compare_jointly(four, rule=rule)


def test_fits_in_pairs_have_no_correlation_for_max_t(four):
    with pytest.raises(InputError, match="model='joint'"):
        ComparisonFamily(correction="max-t")
    with pytest.raises(InputError, match="'pairwise'; got a family of 'joint'"):
        compare_systems(four, rule=DecisionRule(), family=joint())
    with pytest.raises(InputError, match="'joint'; got a family of 'pairwise'"):
        compare_jointly(four, rule=DecisionRule(), family=ComparisonFamily())


def test_an_unknown_baseline_and_a_single_system_are_refused():
    with pytest.raises(InputError, match="no system 'x'"):
        ComparisonFamily(comparisons="baseline", baseline="x").pairs(("a", "b"))
    with pytest.raises(InputError, match="At least two systems"):
        ComparisonFamily().pairs(("a",))
    with pytest.raises(InputError, match="baseline=NAME"):
        ComparisonFamily(comparisons="baseline").pairs(("a", "b"))
    with pytest.raises(InputError, match=r"one of holm.*not for all pairs"):
        ComparisonFamily(correction="tukey", baseline="a")


def test_systems_that_share_a_letter_are_not_told_apart():
    groups = (("z",), ("y", "x"), ("x", "w"))
    assert group_letters(groups) == {"z": "a", "y": "b", "x": "bc", "w": "c"}


@each_case("seed", range(20))
def test_systems_share_a_letter_exactly_if_they_are_not_told_apart(seed):
    rng = np.random.default_rng(seed)
    names = tuple("abcdefgh"[: 3 + seed % 6])
    means = dict(zip(names, rng.normal(size=len(names)), strict=True))
    pairs = list(combinations(names, 2))
    shown = dict(zip(pairs, rng.random(len(pairs)) < 0.4, strict=True))
    results = [SimpleNamespace(first=a, second=b, significant=told) for (a, b), told in shown.items()]
    groups = indistinct_groups(results, means)
    for pair, told in shown.items():
        assert told != any(set(pair) <= set(group) for group in groups)
    # none is part of another, and the best systems come first
    assert not any(set(one) < set(other) for one in groups for other in groups)
    places = [
        [sorted(names, key=lambda name: -means[name]).index(name) for name in group] for group in groups
    ]
    assert places == sorted(places)
    assert all(group == sorted(group) for group in places)


@pytest.mark.slow
def test_with_own_variances_each_comparison_has_its_own_df_under_max_t(four):
    found = compare_jointly(four, rule=DecisionRule(), family=joint(correction="max-t", variances="own"))
    assert found.common_df is None
    assert len({round(one.test.df, 6) for one in found.results}) == 6
    for one in found.results:
        t = abs(one.test.estimate) / one.test.standard_error
        bound = 6 * 2 * stats.t.sf(t, one.test.df)
        assert one.test.p_value <= one.corrected_p <= min(bound, 1) + 1e-12
        low, high = one.simultaneous_interval
        assert low < one.test.interval[0] < one.test.interval[1] < high
        assert (low > 0 or high < 0) == (one.corrected_p <= 0.05)


def test_critical_values_between_others_are_those_of_a_search(monkeypatch):
    df = np.array([3.0, 4.0, 7.5, 20.0, math.inf])
    largest = MaxT(factor_of(all_pairs_correlation(3)), 3.0)
    searched = joint_comparison._critical_values(largest, df, 0.05)
    assert searched == pytest.approx([MaxT(largest.factor, d).critical_value(0.05) for d in df])
    monkeypatch.setattr(joint_comparison, "_NODES", 4)
    assert joint_comparison._critical_values(largest, df, 0.05) == pytest.approx(searched, rel=5e-3)


def one_apart(seed, K=3):
    """Equal systems, the first of which divides workers and items four times as much as the others."""
    times = np.ones(K)
    times[0] = 4.0
    rows = random_table(seed, m=5, n=12, K=K, kept=1.1, sds=(0.1, 0.0, 0.1, 0.0, 0.15))
    rng = np.random.default_rng([*seed, 1])
    rows.rating += 0.06 * (rng.normal(size=(5, K)) * times)[rows.worker, rows.system] - 0.05 * rows.system
    rows.rating += 0.06 * (rng.normal(size=(12, K)) * times)[rows.item, rows.system]
    return ratings_of(rows, "abcd"[:K])


def test_the_check_tells_what_the_other_variances_decide():
    ratings = one_apart([7, 3])
    own, common = (
        compare_jointly(ratings, rule=DecisionRule(alpha=0.2), family=joint(variances=kind), check=True)
        for kind in ("own", "common")
    )
    assert own.check.variances == "common"
    assert common.check.variances == "own"
    for one, other in ((own, common), (common, own)):
        expected = {r.second: (r.test.p_value, r.corrected_p) for r in other.results if r.first == "a"}
        found = {r.second: (r.test.p_value, r.corrected_p) for r in one.check.results if r.first == "a"}
        assert found == expected
        apart = [
            (a.first, a.second)
            for a, b in zip(one.results, other.results, strict=True)
            if a.significant != b.significant
        ]
        assert list(one.check.parted) == apart
    gain = common.joint.criterion - own.joint.criterion
    assert own.check.statistic == common.check.statistic == pytest.approx(gain)
    assert own.check.df == 4
    assert own.check.p_value == pytest.approx(stats.chi2.sf(gain, 4))
    assert compare_jointly(ratings, rule=DecisionRule()).check is None


def test_a_check_that_cannot_be_made_says_why():
    rows = random_table(1, m=2, n=2, K=3, kept=1.1)
    few = ratings_of(rows, "abc")
    kept = np.arange(len(rows.rating)) < 11
    few = replace(
        few, worker=few.worker[kept], item=few.item[kept], system=few.system[kept], rating=few.rating[kept]
    )
    found = compare_jointly(few, rule=DecisionRule(), family=joint(variances="common"), check=True)
    assert "too few" in found.check.reason
    assert found.check.parted == ()


@pytest.mark.slow
def test_own_variances_keep_the_level_where_one_system_is_apart():
    rejections, studies = 0, 60
    for seed in range(studies):
        ratings = one_apart([5, seed])
        found = compare_jointly(
            ratings, rule=DecisionRule(), family=joint(variances="own", correction="max-t")
        )
        rejections += any(one.significant for one in found.results)
    # at a true 5 % at most the upper limit of the 99.8 % band
    assert rejections <= stats.binom.isf(0.001, studies, 0.05)


@pytest.mark.long
@pytest.mark.slow
def test_max_t_keeps_its_familywise_level_in_small_joint_studies():
    # 100 complete studies of 5 workers, 12 items, 4 equal systems; slopes of both kinds
    rejections, studies = 0, 100
    for seed in range(studies):
        rows = random_table([99, seed], m=5, n=12, K=4, kept=1.1, sds=(0.1, 0.06, 0.1, 0.06, 0.15))
        rows.rating -= 0.05 * rows.system
        found = compare_jointly(
            ratings_of(rows, "abcd"),
            rule=DecisionRule(),
            family=joint(correction="max-t", variances="common"),
        )
        rejections += any(one.significant for one in found.results)
    # at a true 5 % at most the upper limit of the 99.8 % band; the smallest df only makes it safer
    assert rejections <= stats.binom.isf(0.001, studies, 0.05)
    assert rejections > 0


def test_groups_of_many_systems_are_found_at_once_and_not_counted_without_end() -> None:
    """Neighbours within five places are alike among 60: 55 groups. Sets of pairs that share nothing have 2^20."""
    order = [f"s{k:02}" for k in range(60)]
    chain = [(order[i], order[j]) for i in range(60) for j in range(i + 6, 60)]
    assert groups_of(order, chain) == tuple(tuple(order[k : k + 6]) for k in range(55))
    rivals = [(order[k], order[k + 1]) for k in range(0, 40, 2)]
    assert groups_of(order, rivals, most=26) == ()


@each_case("seed", range(20))
def test_groups_are_the_largest_sets_without_a_pair_apart(seed: int) -> None:
    rng = np.random.default_rng(seed)
    order = list("abcdefg")
    apart = [pair for pair in itertools.combinations(order, 2) if rng.random() < 0.4]
    alike = [
        set(some)
        for size in range(1, 8)
        for some in itertools.combinations(order, size)
        if not any(set(pair) <= set(some) for pair in apart)
    ]
    largest = [one for one in alike if not any(one < other for other in alike)]
    found = groups_of(order, apart)
    assert sorted(map(sorted, largest)) == sorted(map(list, found))
    assert list(found) == sorted(found)
