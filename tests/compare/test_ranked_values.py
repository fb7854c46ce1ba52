"""Tests that rank or compare decimals see the decimals: ties are those of the typed numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import median
from typing import Any

import numpy as np
import pytest
from cases import each_case
from hypothesis import given
from hypothesis import strategies as st
from reference import exact_ranks
from scipy import stats

from humeval_power.clusters import Clusters
from humeval_power.comparisons.scores.answers import ClusterSums, TestSettings, score_differences
from humeval_power.comparisons.scores.bootstrap import (
    JointBootstrap,
    bca_levels,
    sign_flip_mean,
    sign_flip_median,
)
from humeval_power.comparisons.scores.comparison import effect_sizes
from humeval_power.comparisons.scores.effect_sizes import wilcoxon_r
from humeval_power.comparisons.scores.scenario import ResampledScores
from humeval_power.comparisons.scores.tests import run_test, sign_test, wilcoxon_test
from humeval_power.designs import Assignment
from humeval_power.inference.common_tests import mann_whitney_on_ratings
from humeval_power.inference.exact_comparison import at_least, common_decimals, exact_difference, rounded

DIRECTIONS = ("two-sided", "greater", "less")
TYPED = ["0.3", "0.4", "0.3", "1.4", "0.3", "1.1", "-0.1", "0.6"]
tenths = st.integers(-20, 20).map(
    lambda whole: f"{'-' if whole < 0 else ''}{abs(whole) // 10}.{abs(whole) % 10}"
)


def numbers(typed: list[str]) -> np.ndarray:
    return np.array([float(text) for text in typed])


def test_wilcoxon_with_a_null_other_than_zero_has_the_ties_of_the_typed_decimals() -> None:
    found = wilcoxon_test(numbers(TYPED), TestSettings(null=0.1))
    assert exact_ranks.signed_rank_p(exact_ranks.moved(TYPED, "0.1"), "two-sided") == Fraction(10, 256)
    assert found.p_value == 10 / 256
    assert found.statistic == 33.5


@pytest.mark.slow
@pytest.mark.parametrize("alternative", DIRECTIONS)
@given(st.lists(tenths, min_size=2, max_size=8), tenths)
def test_paired_tests_are_those_of_all_assignments_of_signs_in_fractions(
    alternative: str, typed: list[str], null: str
) -> None:
    exact, settings = (
        exact_ranks.moved(typed, null),
        TestSettings(null=float(null), alternative=alternative),
    )  # type: ignore[arg-type]
    found = wilcoxon_test(numbers(typed), settings)
    assert found.p_value == pytest.approx(float(exact_ranks.signed_rank_p(exact, alternative)), rel=1e-12)
    up, down = sum(value > 0 for value in exact), sum(value < 0 for value in exact)
    binomial = stats.binomtest(up, up + down, alternative=alternative).pvalue if up + down else 1.0
    assert sign_test(numbers(typed), settings).p_value == pytest.approx(binomial, rel=1e-12)
    if any(exact):
        flips = (
            float(exact_ranks.sign_flip_p(exact, sum, alternative)) if alternative == "two-sided" else None
        )
        if flips is not None:
            assert sign_flip_mean(numbers(typed), settings).p_value == pytest.approx(flips, rel=1e-12)
            flips = float(exact_ranks.sign_flip_p(exact, median, alternative))
            assert sign_flip_median(numbers(typed), settings).p_value == pytest.approx(flips, rel=1e-12)


@given(st.lists(tenths, min_size=1, max_size=9), st.lists(tenths, min_size=1, max_size=9), tenths)
def test_a_rank_sum_of_shifted_ratings_has_the_ties_of_the_typed_decimals(
    a: list[str], b: list[str], shift: str
) -> None:
    exact_a, exact_b = exact_ranks.moved(a, "0"), exact_ranks.moved(b, shift)
    u, ties = exact_ranks.mann_whitney(exact_a, exact_b)
    n = len(a) + len(b)
    variance = len(a) * len(b) / 12 * (n + 1 - ties / (n * (n - 1)))
    if variance <= 0:
        return
    ratings = np.concatenate([numbers(a), numbers(b) - float(shift)])[None]
    system = np.repeat([0, 1], [len(a), len(b)])
    found = mann_whitney_on_ratings(ratings, Assignment(np.arange(n), np.arange(n), system))
    z = (abs(float(u) - len(a) * len(b) / 2) - 0.5) / math.sqrt(variance)
    assert found.p_value[0] == pytest.approx(min(1.0, 2 * stats.norm.sf(z)), rel=1e-9)
    assert found.direction[0] == np.sign(float(u) - len(a) * len(b) / 2)


def test_wilcoxon_r_is_that_of_the_test_at_the_null() -> None:
    shown = {one.name: one for one in effect_sizes(numbers(TYPED), TestSettings(null=0.1))}["wilcoxon_r"]
    moved = [float(value) for value in exact_ranks.moved(TYPED, "0.1")]
    z = stats.wilcoxon(np.round(moved, 6), method="approx", correction=False).zstatistic
    assert abs(shown.value) == pytest.approx(abs(z) / math.sqrt(8), rel=1e-9)
    assert shown.value != wilcoxon_r(numbers(TYPED)).value
    assert shown.label == "Wilcoxon r, null 0.1"


def test_a_share_of_better_items_at_a_null_counts_typed_ties_half() -> None:
    found = run_test(
        "sign", numbers(["0.3", "0.2", "0.1"]) + 0.0, TestSettings(null=0.1), question="better"
    )
    assert found.estimate == pytest.approx(0.5 + 2 / 6)
    same = run_test("wilcoxon", score_differences([0.1, 0.2], [0.4, 0.5]), TestSettings(null=0.3))
    assert same.p_value == 1.0


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=6), st.integers(0, 9))
def test_differences_of_decimals_are_the_nearest_numbers_to_the_exact_ones(
    whole: list[int], decimals: int
) -> None:
    unit = 10**decimals
    values = np.array([float(Fraction(value, unit)) for value in whole])
    exact = [float(Fraction(value - whole[0], unit)) for value in whole]
    assert exact_difference(values, values[0]).tolist() == exact


def test_small_decimals_beside_large_ones_are_not_lost() -> None:
    # twelve digits of 100,000 would end at the seventh decimal
    assert exact_difference([100000.00000001], [100000.0]).tolist() == [1e-8]


def test_numbers_that_are_no_decimals_are_rounded_to_twelve_digits_of_the_largest() -> None:
    third = np.array([1 / 3, 100 / 3])
    assert common_decimals(third) is None
    assert exact_difference(third, third * (1 + 1e-15)).tolist() == [0.0, 0.0]
    assert rounded([1e-320, 0.0]).tolist() == [1e-320, 0.0]
    assert np.isfinite(exact_difference([1.7e308, 1.0], [0.0, 0.0])).all()


def test_a_statistic_that_misses_the_observed_one_by_rounding_is_as_large() -> None:
    assert at_least(np.array([0.1 + 0.2, 0.3, 0.29]), 0.3).tolist() == [True, True, False]
    assert at_least(np.array([0.3]), 0.1 + 0.2).tolist() == [True]
    assert at_least(np.array([np.inf, -np.inf]), 1.0).tolist() == [True, False]


def test_joint_p_values_count_equal_statistics_whatever_their_rounding() -> None:
    observed, off = np.array([0.3, 0.6]), np.array([0.1 + 0.2, 0.2 + 0.4])
    for drawn in (observed, off, 2 * observed - off):
        joint = JointBootstrap(observed, np.ones(2), observed, np.tile(drawn, (9, 1)), "greater")
        assert joint.p_values().tolist() == [1.0, 1.0]
        assert joint.max_t().tolist() == [1.0, 1.0]
        assert joint.romano_wolf().tolist() == [1.0, 1.0]


def test_resamples_that_equal_the_mean_but_for_rounding_count_half() -> None:
    differences = np.array([0.1, 0.2, 0.3, 0.7, 0.9])
    mean = differences.mean()
    equal = bca_levels(differences, np.full(100, mean), 0.95)
    assert bca_levels(differences, np.full(100, np.nextafter(mean, 0)), 0.95).tolist() == equal.tolist()


def test_differences_moved_to_an_effect_keep_their_ties() -> None:
    pool = numbers(["0.1", "-0.1", "0.2", "-0.2", "0.3"])
    moved = ResampledScores(5, pool, 0.3, "wilcoxon").draw(200, seed=1)
    typed = ResampledScores(5, np.round(pool - 0.05 + 0.3, 6), None, "wilcoxon")
    assert typed.true_effect == pytest.approx(0.3, abs=0.2)
    again = ResampledScores(5, np.round(pool - moved_by(pool) + 0.3, 9), None, "wilcoxon").draw(200, seed=1)
    assert moved.p_value.tolist() == again.p_value.tolist()


def moved_by(pool: np.ndarray) -> float:
    """The pseudomedian, by listing the pairs."""
    first, second = np.triu_indices(len(pool))
    return float(np.median((pool[first] + pool[second]) / 2))


@each_case("name", ["permutation", "bootstrap", "wilcoxon", "sign", "bootstrap-median"])
@each_case("unit", [3, 7, 11])
def test_p_does_not_depend_on_the_unit_of_the_scores(name: Any, unit: int) -> None:
    """Means of three ratings, and F1, are no short decimals: their sums tie as those of whole numbers do."""
    rng = np.random.default_rng(unit)
    settings = TestSettings(n_resamples=500, alternative="greater")
    for _ in range(15):
        a, b = rng.integers(0, unit + 1, (2, 9)).astype(float)
        if (a == b).all():
            continue
        whole = run_test(name, exact_difference(b, a), settings)
        parts = run_test(name, exact_difference(b / unit, a / unit), settings)
        assert parts.p_value == pytest.approx(whole.p_value, abs=1e-12)
        if whole.resamples is not None and parts.resamples is not None:
            assert parts.resamples.not_above == pytest.approx(whole.resamples.not_above, abs=1e-12)


def test_clusters_that_cancel_in_thirds_do_not_vary() -> None:
    differences = exact_difference(np.tile([1.0, 2.0, 2.0], 8) / 3, np.tile([0.0, 1.0, 1.0], 8) / 3)
    clusters = Clusters.of(np.repeat(np.arange(8), 3).tolist())
    assert (ClusterSums.of((differences - differences.mean())[:, None], clusters).sums == 0).all()
