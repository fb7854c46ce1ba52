"""What is computed without scipy.stats and statsmodels is what they compute, at the extremes too."""

import math
from itertools import product

import numpy as np
import pytest
from cases import each_case
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from humeval_power.comparisons.scores.advice import sample_skewness, shapiro_wilk
from humeval_power.comparisons.scores.all_pairs import replicability
from humeval_power.comparisons.scores.effect_sizes import (
    TestSettings,
    median_difference,
    pair_means,
    pseudomedian,
)
from humeval_power.comparisons.scores.power import equivalence_power_of
from humeval_power.comparisons.scores.tests import equivalence_test, sign_test, t_test, wilcoxon_test
from humeval_power.errors import InputError
from humeval_power.inference.clustered import normal_p, student_p
from humeval_power.inference.corrections import correct
from humeval_power.inference.exact_comparison import mid_ranks
from humeval_power.inference.item_bootstrap import (
    binomial_at_most,
    binomial_interval,
    binomial_quantile,
    monte_carlo_interval,
    wilson_interval,
)
from humeval_power.kernels.metrics.corpus import drawn_counts, hodges_lehmann_rows, pair_mean

DIRECTIONS = ("two-sided", "greater", "less")


@pytest.mark.parametrize("alternative", DIRECTIONS)
def test_p_values_of_t_and_z_keep_their_digits_in_the_tails(alternative: str) -> None:
    def expected(law: stats.rv_continuous, x: float) -> float:
        one = {"greater": law.sf(x), "less": law.cdf(x), "two-sided": 2 * law.sf(abs(x))}
        return float(one[alternative])

    for t, df in product((-300.0, -37.0, -2.0, -1e-9, 0.0, 0.3, 5.0, 37.0, 300.0), (1, 2.5, 12, 1e3, 1e6)):
        assert student_p(t, df, alternative) == pytest.approx(expected(stats.t(df), t), rel=1e-14, abs=0)  # type: ignore[arg-type]
    for z in (-37.0, -8.0, -1.0, 0.0, 2.5, 8.0, 37.0):
        assert normal_p(z, alternative) == pytest.approx(expected(stats.norm, z), rel=1e-14, abs=0)  # type: ignore[arg-type]


@each_case("alternative", DIRECTIONS)
@each_case(("n", "shift"), [(2, 0.0), (7, 0.4), (60, 4.0), (3000, -30.0)])
def test_the_t_test_and_its_interval_are_scipys(alternative: str, n: int, shift: float) -> None:
    values = np.random.default_rng(n).normal(shift, 1.0, n)
    settings = TestSettings(null=0.1, alternative=alternative)  # type: ignore[arg-type]
    found, expected = t_test(values, settings), stats.ttest_1samp(values, 0.1, alternative=alternative)
    # The mean and the variance are summed in another order.
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-10)
    interval = stats.ttest_1samp(values, 0.1).confidence_interval(settings.confidence)
    assert found.interval == pytest.approx((interval.low, interval.high), rel=1e-11)


def test_tests_of_equivalence_are_two_of_scipys() -> None:
    values = np.random.default_rng(4).normal(0.02, 0.3, 45)
    found = equivalence_test(values, margin=0.1)
    below = stats.ttest_1samp(values, -0.1, alternative="greater").pvalue
    above = stats.ttest_1samp(values, 0.1, alternative="less").pvalue
    assert (found.p_not_below, found.p_not_above) == pytest.approx((below, above), rel=1e-11)
    half = stats.t.isf(0.05, 44) * values.std(ddof=1) / math.sqrt(45)
    assert found.interval == pytest.approx((values.mean() - half, values.mean() + half), rel=1e-12)
    # Owen's integral takes the critical value of each test: a margin of half an SD, ten and a hundred items.
    for n in (10, 100):
        critical = stats.t.isf(0.05, n - 1)
        share = np.mean(_equivalent(n, 0.5, critical, draws=200_000))
        assert equivalence_power_of(n, 0.5) == pytest.approx(share, abs=4 * math.sqrt(0.25 / 200_000))


def _equivalent(n: int, margin: float, critical: float, *, draws: int) -> np.ndarray:
    rng = np.random.default_rng(n)
    mean, sd = rng.normal(0, 1 / math.sqrt(n), draws), np.sqrt(rng.chisquare(n - 1, draws) / (n - 1))
    return np.abs(mean) + critical * sd / math.sqrt(n) < margin


@pytest.mark.parametrize("alternative", DIRECTIONS)
def test_the_sign_test_is_the_binomial_test(alternative: str) -> None:
    for up, down, ties in (
        (0, 1, 0),
        (1, 1, 2),
        (0, 9, 3),
        (14, 5, 0),
        (40, 40, 1),
        (3, 1500, 0),
        (900, 1100, 7),
    ):
        values = np.repeat([1.0, -1.0, 0.0], [up, down, ties])
        settings = TestSettings(alternative=alternative)  # type: ignore[arg-type]
        expected = stats.binomtest(up, up + down, alternative=alternative).pvalue
        assert sign_test(values, settings).p_value == pytest.approx(expected, rel=1e-12, abs=0)


@each_case("alternative", DIRECTIONS)
@each_case("decimals", [1, 8])
def test_wilcoxons_test_of_many_is_scipys_normal_approximation(alternative: str, decimals: int) -> None:
    values = np.random.default_rng(1).normal(0.1, 1.0, 400).round(decimals)
    active = values[values != 0]
    expected = stats.wilcoxon(active, alternative=alternative, method="approx", correction=False).pvalue
    settings = TestSettings(alternative=alternative)  # type: ignore[arg-type]
    assert wilcoxon_test(values, settings).p_value == pytest.approx(expected, rel=1e-12)


def test_ranks_of_ties_are_scipys() -> None:
    rng = np.random.default_rng(2)
    for shape, decimals in product(((1,), (30,), (4, 1), (20, 50)), (0, 1, 6)):
        values = rng.normal(size=shape).round(decimals)
        assert mid_ranks(values).tolist() == stats.rankdata(values, axis=-1).tolist()
    assert mid_ranks(np.empty(0)).shape == (0,)


def test_quantiles_of_a_binomial_count_are_scipys() -> None:
    for n, share in product((1, 2, 7, 60, 2000, 100_000), (1e-4, 0.05, 0.5, 0.8, 1 - 1e-4)):
        for probability in (1e-9, 0.005, 0.025, 0.21, 0.5, 0.975, 1 - 1e-9):
            assert binomial_quantile(probability, n, share) == stats.binom.ppf(probability, n, share)
        for confidence in (0.4, 0.95):
            assert binomial_interval(confidence, n, share) == stats.binom.interval(confidence, n, share)
    for share in (0.0, 1.0):
        assert binomial_interval(0.95, 10, share) == stats.binom.interval(0.95, 10, share)


def test_tails_of_a_binomial_count_are_scipys_outside_its_range_too() -> None:
    for n, share in product((0, 1, 2, 9, 4000), (0.0, 1e-4, 0.37, 0.5, 1.0)):
        counts = [-2, -1, 0, 1, n // 3, n - 1, n, n + 1, n + 2]
        found = [binomial_at_most(count, n, share) for count in counts]
        assert found == pytest.approx(stats.binom.cdf(counts, n, share), rel=1e-12, abs=0)
    assert binomial_at_most(3, 10) == pytest.approx((1 + 10 + 45 + 120) / 2**10, rel=1e-14)


def test_wilsons_interval_holds_the_share_and_no_more_than_shares() -> None:
    for n in (1, 7, 16, 21, 60, 2000):  # of 21 and 16 the ends round to below 0 and above 1
        for count in range(n + 1):
            low, high = wilson_interval(count, n)
            assert 0 <= low <= count / n <= high <= 1
            expected = proportion_confint(count, n, method="wilson")
            assert (low, high) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_the_median_interval_lies_between_the_values_that_binomial_counts_leave() -> None:
    for n in (1, 5, 6, 40, 101, 3000):
        ordered = np.arange(float(n))
        rank = sum(stats.binom.cdf(k, n, 0.5) <= 0.025 for k in range(n // 2))
        expected = (ordered[rank - 1], ordered[n - rank]) if rank else (-math.inf, math.inf)
        found = median_difference(ordered)
        assert (found.low, found.high) == expected


def test_exact_intervals_of_a_share_are_quantiles_of_beta() -> None:
    for hits, n in ((0, 40), (1, 40), (20, 40), (39, 40), (40, 40), (3, 10_000)):
        low, high = monte_carlo_interval(hits, n, 0.99)
        assert low == pytest.approx(stats.beta.ppf(0.005, hits, n - hits + 1) if hits else 0.0, rel=1e-13)
        expected = stats.beta.isf(0.005, hits + 1, n - hits) if hits < n else 1.0
        assert high == pytest.approx(expected, rel=1e-13)


def test_fishers_combination_is_scipys_down_to_the_smallest_p_values() -> None:
    for p_values in ((0.3,), (0.01, 0.2, 0.9), (1e-200, 1e-150), (1.0, 1.0)):
        found = replicability(p_values, combination="fisher").partial_p[0]
        assert found == pytest.approx(stats.combine_pvalues(p_values).pvalue, rel=1e-12, abs=0)


@each_case("correction", ["holm", "bonferroni", "bh"])
@each_case(
    "p_values",
    [
        [0.03],
        [1.0],
        [0.0],
        [0.04, 0.001, 0.5, 0.01, 0.04],
        [0.02, 0.02, 0.02],
        [0.0, 0.0, 1e-300, 1.0, 1.0, 0.7],
        [0.9, 0.95, 1.0],
    ],
)
def test_corrections_are_statsmodels(correction: str, p_values: list[float]) -> None:
    theirs = {"bh": "fdr_bh"}.get(correction, correction)
    expected = multipletests(p_values, method=theirs)[1]
    assert correct(p_values, correction) == pytest.approx(expected, rel=1e-14, abs=0)  # type: ignore[arg-type]


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "bh"])
def test_a_comparison_without_a_test_is_one_of_the_family_all_the_same(correction: str) -> None:
    p_values = np.array([0.02, math.nan, 0.001, math.nan, 0.04, 1.0])
    theirs = {"bh": "fdr_bh"}.get(correction, correction)
    expected = multipletests(np.nan_to_num(p_values, nan=1.0), method=theirs)[1]
    expected[np.isnan(p_values)] = math.nan
    found = correct(p_values, correction)  # type: ignore[arg-type]
    assert found == pytest.approx(expected, rel=1e-14, abs=0, nan_ok=True)


def test_without_a_correction_p_values_stay_as_they_are() -> None:
    assert correct([0.04, math.nan, 0.01], "none") == pytest.approx(
        [0.04, math.nan, 0.01], abs=0, nan_ok=True
    )


def test_the_largest_t_needs_more_than_p_values() -> None:
    with pytest.raises(InputError, match="take holm"):
        correct([0.04, 0.01], "max-t")


@each_case("n", [3, 4, 5, 6, 11, 12, 60, 1000, 5000])
def test_the_test_of_normality_is_scipys(n: int) -> None:
    rng = np.random.default_rng(n)
    for values in (rng.normal(size=n), rng.exponential(size=n), rng.normal(size=n).round(1) + 1e3):
        found, expected = shapiro_wilk(values), stats.shapiro(values)
        assert found.w == pytest.approx(expected.statistic, rel=1e-13 * n)
        # SciPy takes the normal tail from AS 66, which has nine digits of it.
        assert found.p_value == pytest.approx(expected.pvalue, rel=2e-9, abs=0)


def test_scores_as_a_normal_law_would_have_them_are_normal() -> None:
    assert shapiro_wilk(np.array([1.0, 2.0, 3.0])) == (1.0, 1.0)


def test_skewness_is_scipys() -> None:
    values = np.random.default_rng(3).gamma(0.7, size=200)
    assert sample_skewness(values) == pytest.approx(stats.skew(values), rel=1e-13)
    assert math.isnan(sample_skewness(np.full(4, 0.1)))


@each_case("n", [1, 2, 5, 40, 300])
def test_listed_pair_means_are_those_that_are_counted(n: int) -> None:
    values = np.sort(np.random.default_rng(n).normal(size=n).round(2))
    ranks = sorted({1, (n * (n + 1) // 2 + 1) // 2, n * (n + 1) // 2})
    assert pair_means(values, ranks) == [pair_mean(values, rank) for rank in ranks]
    assert pseudomedian(values) == hodges_lehmann_rows(values[None])[0]


def test_pair_means_of_too_many_items_to_list_are_counted() -> None:
    values = np.arange(1001.0)
    assert pair_means(values, [1, 501_501]) == [0.0, 1000.0]
    assert pseudomedian(values) == 500.0


@pytest.mark.parametrize("n", [1, 3, 1000, 1001])
def test_items_are_drawn_as_often_as_they_are_counted(n: int) -> None:
    counts = drawn_counts(np.random.default_rng(8), n, 5)
    drawn = np.random.default_rng(8).integers(n, size=(5, n))
    assert counts.dtype == np.float64
    assert counts.tolist() == [np.bincount(row, minlength=n).tolist() for row in drawn]
