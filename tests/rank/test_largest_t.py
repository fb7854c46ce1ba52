"""The law of the largest |t| of all pairs: against drawn studies, Tukey's distribution and a single t."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from humeval_power.clusters import Clusters
from humeval_power.inference.compare.score_table import ScoreTable
from humeval_power.inference.rank.by_scores import rank_scores
from humeval_power.inference.rank.largest_t import LargestT


def pairs(K: int) -> np.ndarray:
    return np.stack(np.triu_indices(K, 1), axis=1)


@pytest.mark.parametrize("K", [3, 6])
def test_with_known_equal_variances_it_is_tukeys(K: int) -> None:
    law = LargestT(np.eye(K), pairs(K), seed=1)
    for alpha in (0.05, 0.2):
        expected = stats.studentized_range.isf(alpha, K, np.inf) / math.sqrt(2)
        found = law.critical_values(np.array([np.inf]), alpha)[0]
        # 20,000 draws: the level of what is found lies in this band with probability 0.998
        low, high = stats.binom.interval(0.998, law.n_draws, alpha)
        level = stats.studentized_range.sf(found * math.sqrt(2), K, np.inf)
        assert low / law.n_draws <= level <= high / law.n_draws, (found, expected)


def test_one_pair_is_a_t_test_exactly() -> None:
    law = LargestT(np.diag([1.0, 2.0]), pairs(2), seed=1)
    t, df = np.array([2.1]), np.array([7.5])
    assert law.p_values(t, df) == pytest.approx(2 * stats.t.sf(2.1, 7.5), rel=1e-12)
    assert law.critical_values(df, 0.05) == pytest.approx(stats.t.isf(0.025, 7.5), rel=1e-9)


@pytest.mark.parametrize(("K", "n"), [(4, 6), (5, 4), (3, 25)])
def test_it_is_the_law_of_paired_t_tests_of_drawn_studies(K: int, n: int) -> None:
    # Few items and more systems than degrees of freedom included: (5, 4).
    rng = np.random.default_rng(2)
    root = rng.standard_normal((K, K))
    covariance = root @ root.T
    drawn = rng.standard_normal((20_000, n, K)) @ root.T
    first, second = pairs(K).T
    differences = drawn[..., first] - drawn[..., second]
    t = differences.mean(axis=1) / (differences.std(axis=1, ddof=1) / math.sqrt(n))
    expected = np.quantile(np.abs(t).max(axis=1), [0.5, 0.9, 0.95])
    law = LargestT(covariance, pairs(K), seed=1)
    for share, value in zip((0.5, 0.9, 0.95), expected, strict=True):
        p = law.p_values(np.full(len(first), value), np.full(len(first), n - 1.0))[0]
        # both are drawn: two standard errors of each, and one more
        assert p == pytest.approx(1 - share, abs=5 * math.sqrt(share * (1 - share) / 20_000))


def test_larger_t_has_smaller_p_and_more_df_help() -> None:
    law = LargestT(np.eye(4), pairs(4), seed=1)
    p = law.p_values(np.linspace(0, 6, 6), np.full(6, 8.0))
    assert (np.diff(p) <= 0).all()
    critical = law.critical_values(np.array([3.0, 10.0, 100.0, np.inf]), 0.05)
    assert (np.diff(critical) < 0).all()


def scores_in_clusters(rng: np.random.Generator, sizes: np.ndarray, K: int) -> ScoreTable:
    codes = np.repeat(np.arange(len(sizes)), sizes)
    shared = rng.standard_normal((len(sizes), K))[codes]
    scores = rng.standard_normal((len(codes), 1)) + 0.6 * shared + rng.standard_normal((len(codes), K))
    names = tuple(f"s{k}" for k in range(K))
    return ScoreTable(scores, names, clusters=Clusters.of(codes.tolist()))


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[8] * 5, [6] * 20, [2, 2, 3, 4, 5, 8, 12, 20, 2, 3, 3, 6], [4] * 100])
def test_ranks_of_systems_as_good_are_wrong_as_often_as_alpha_says(sizes: list[int]) -> None:
    # A system whose interval of ranks is not 1 to K has been told apart from one that is as good.
    rng = np.random.default_rng(5)
    n_studies = 150
    wrong = 0
    for _ in range(n_studies):
        board = rank_scores(scores_in_clusters(rng, np.array(sizes), 4), seed=1).board
        wrong += any((place.rank_low, place.rank_high) != (1, 4) for place in board.places)
    # 0.05, and some cautiousness of Bell-McCaffrey df that are rounded down
    assert stats.binom.ppf(0.001, n_studies, 0.015) <= wrong <= stats.binom.ppf(0.999, n_studies, 0.055)
