"""Bootstrap tests: SciPy's interval, slow twins, and the primer exactly as it is defined."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cases import each_case
from reference import plain_resampling
from reference.golden import shared_golden
from scipy import stats

from humeval_power.comparisons.scores.answers import TestSettings, lattice_of, score_differences
from humeval_power.comparisons.scores.bootstrap import (
    bca_interval,
    bca_levels,
    bootstrap_mean,
    bootstrap_median,
    bootstrap_t,
    resampled_means,
)
from humeval_power.comparisons.scores.comparison import primer_table
from humeval_power.comparisons.scores.primer import exact_primer_p, primer_p, primer_test
from humeval_power.errors import InputError
from humeval_power.inference.item_bootstrap import RESAMPLE_BLOCK, drawn_p, in_blocks, monte_carlo_interval
from humeval_power.kernels.metrics.corpus import drawn_counts, drawn_signs, resample_medians

BASELINE = [0, 1, 1, 0, 0, 1, 0, 1, 0, 1]  # the primer's Example 1
EXPERIMENT = [1, 1, 0, 1, 1, 0, 1, 1, 0, 0]


@pytest.fixture(scope="module")
def golden(shared):
    return shared_golden(shared, "13_bootstrap_primer")


def skewed(n=25, seed=1):
    return np.random.default_rng(seed).exponential(size=n) - 0.5


def counts_of(n_items, n_resamples, seed=1):
    return in_blocks(lambda rng, size: drawn_counts(rng, n_items, size), n_resamples, seed=seed)


def test_every_resample_draws_as_many_items_as_there_are_and_all_alike():
    counts = drawn_counts(np.random.default_rng(1), 20, 5000)
    assert (counts.sum(axis=1) == 20).all()
    assert counts.mean(axis=0) == pytest.approx(1, abs=5 / math.sqrt(5000))  # 5 standard errors
    assert counts.var() == pytest.approx(1 - 1 / 20, rel=0.05)


def test_signs_are_fair_and_independent():
    signs = drawn_signs(np.random.default_rng(1), 13, 40_000)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert np.abs(signs.mean(axis=0)).max() < 5 / 200
    assert np.abs(np.corrcoef(signs.T) - np.eye(13)).max() < 5 / 200


def test_resamples_do_not_depend_on_how_many_there_are_or_on_the_cores():
    d = skewed()
    long = resampled_means(d, n_resamples=1000, seed=3)
    assert (long[:300] == resampled_means(d, n_resamples=300, seed=3)).all()
    one, two = (
        in_blocks(lambda rng, size: drawn_counts(rng, 7, size), 3 * RESAMPLE_BLOCK, seed=2, n_jobs=jobs)
        for jobs in (1, 2)
    )
    assert (one == two).all()


@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_medians_of_resamples_are_those_of_the_items_listed(n):
    ordered = np.sort(np.round(np.random.default_rng(n).standard_normal(n), 1))
    counts = drawn_counts(np.random.default_rng(n), n, 50)
    expected = [np.median(ordered[rows]) for rows in plain_resampling.resamples(counts)]
    assert resample_medians(counts, ordered) == pytest.approx(np.array(expected))


def test_bca_is_scipys_on_the_same_resamples():
    d = skewed()
    means = resampled_means(d, n_resamples=5000, seed=7)
    given = stats.bootstrap((d,), np.mean, n_resamples=9, method="percentile", rng=np.random.default_rng(1))
    given.bootstrap_distribution = means
    expected = stats.bootstrap(
        (d,), np.mean, n_resamples=0, method="BCa", bootstrap_result=given
    ).confidence_interval
    found = bca_interval(d, n_resamples=5000, seed=7)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-9)


def test_bca_of_symmetric_resamples_is_the_percentile_interval():
    d = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    levels = bca_levels(d, np.array([-1.0, 1.0] * 50), 0.9)
    assert levels == pytest.approx(np.array([0.05, 0.95]))
    flat = bca_interval(np.full(5, 0.3), n_resamples=10, seed=1)
    assert (flat.low, flat.high) == (0.3, 0.3)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_bootstrap_t_is_that_of_the_items_listed(alternative):
    d, settings = skewed(12), TestSettings(n_resamples=400, seed=5, alternative=alternative, null=0.2)
    observed = plain_resampling.t_of(d, 0.2)
    drawn = [
        plain_resampling.t_of(d[rows], d.mean())
        for rows in plain_resampling.resamples(counts_of(12, 400, 5))
    ]
    above, below = sum(t >= observed for t in drawn), sum(t <= observed for t in drawn)
    expected = {"greater": drawn_p(above, 400), "less": drawn_p(below, 400)}
    expected["two-sided"] = min(1, 2 * drawn_p(min(above, below), 400))
    found = bootstrap_t(d, settings)
    assert found.p_value == pytest.approx(expected[alternative], rel=1e-12)
    error = d.std(ddof=1) / math.sqrt(12)
    tail = (1 - settings.confidence) / 2
    low, high = np.quantile(drawn, tail, method="lower"), np.quantile(drawn, 1 - tail, method="higher")
    assert found.interval == pytest.approx((d.mean() - high * error, d.mean() - low * error), rel=1e-9)


def test_the_centred_tests_are_those_of_the_items_listed():
    d = np.round(skewed(15), 1)
    settings = TestSettings(n_resamples=300, seed=2, null=0.1)
    rows = plain_resampling.resamples(counts_of(15, 300, 2))
    for test, statistic, values in (
        (bootstrap_mean, np.mean, d),
        (bootstrap_median, np.median, np.sort(d)),
    ):
        drawn = np.array([statistic(values[row]) for row in rows])
        beyond = (np.abs(drawn - statistic(d)) >= abs(statistic(d) - 0.1) - 1e-12).sum()
        assert test(d, settings).p_value == pytest.approx(drawn_p(beyond, 300), rel=1e-12)


def test_a_bootstrap_t_of_few_items_bears_resamples_without_spread():
    found = bootstrap_t(np.array([0.0, 0.0, 1.0]), TestSettings(n_resamples=500))
    assert 0 < found.p_value <= 1


def test_drawn_p_values_are_never_0_and_their_interval_is_clopper_and_pearsons():
    assert drawn_p(0, 999) == 0.001
    expected = stats.binomtest(7, 500).proportion_ci(method="exact")
    assert monte_carlo_interval(7, 500) == pytest.approx((expected.low, expected.high), rel=1e-9)
    assert monte_carlo_interval(0, 500)[0] == 0
    assert monte_carlo_interval(500, 500)[1] == 1


def test_example_1_of_the_primer_is_exact():
    d = score_differences(BASELINE, EXPERIMENT)
    # 105433083 / 250000000 by enumeration of the 10^10 resamples' counts; printed 0.4316 from 10,000
    assert exact_primer_p(d) == pytest.approx(105433083 / 250000000, rel=1e-12)
    found = primer_test(d, TestSettings(alternative="greater"))
    assert found.exact
    assert "no probability that the difference is due to chance" in found.remarks[0]
    assert abs(0.4316 - found.p_value) < 2.1 * math.sqrt(found.p_value * (1 - found.p_value) / 10_000)


def test_the_primers_examples_and_tables_have_the_reference_values(golden):
    assert primer_p(10, 4, 3) == pytest.approx(golden["example1"]["p"], rel=1e-12)
    assert primer_p(500, 10, 7) == pytest.approx(golden["example2"]["p"], rel=1e-12)
    cells = {
        (cell.n_items, round(100 * cell.effect, 3), round(100 * cell.hurt)): cell for cell in primer_table()
    }
    compared = 0
    for table in golden["tables"]:
        for percent, helped, hurt, p_value in table["rows"]:
            cell = cells[table["n"], table["effect_pct"], percent]
            assert (cell.n_helped, cell.n_hurt) == (helped, hurt)
            assert cell.p_value == pytest.approx(p_value, rel=1e-9)
            compared += 1
    assert compared >= 160


def test_what_the_primer_says_of_its_pictures_is_true():
    # "approximately 0.13" with 2 % and none hurt of 100; 7 helped and 2 hurt "begins to exceed" 0.05
    assert primer_p(100, 2, 0) == pytest.approx(0.98**100, rel=1e-12)
    assert primer_p(100, 7, 2) > 0.05 > primer_p(100, 6, 1)


@each_case(
    "values", [[1, 1, -1, 0], [1, 0, 0, -1, 1], [0.5, -0.25, 1.0], [0.3, 0.1, -0.2, 0.4], [2, -3, 5, -1]]
)
def test_the_convolution_is_all_resamples(values):
    assert exact_primer_p(np.array(values, dtype=float)) == pytest.approx(
        plain_resampling.primer_p(values), rel=1e-12
    )


def test_the_drawn_primer_counts_sums_of_zero_as_not_helped():
    d = np.array([1 / 3, -1 / 3, 1e-7 * math.pi, -1e-7 * math.pi])  # on no lattice of a few decimals
    assert lattice_of(d) is None
    found = primer_test(d, TestSettings(n_resamples=20_000, alternative="greater"))
    exact = plain_resampling.primer_p(d.tolist())
    low, high = stats.binom.interval(0.998, 20_000, exact)
    assert low <= found.p_value * 20_000 <= high
    assert not found.exact


def test_the_primer_agrees_with_drawing_where_it_is_exact():
    d = np.array([0.5, 0.25, -0.25, 0.75, -0.5, 0.0, 0.25])
    means = resampled_means(d, n_resamples=20_000, seed=4)
    low, high = stats.binom.interval(0.998, 20_000, exact_primer_p(d))
    assert low <= (means <= 1e-12).sum() <= high


def test_the_primer_has_one_direction_and_possible_counts():
    for alternative in ("less", "two-sided"):
        with pytest.raises(InputError, match="one-sided"):
            primer_test(skewed(), TestSettings(alternative=alternative))
    with pytest.raises(InputError, match="counts"):
        primer_p(10, 8, 3)
    assert primer_p(10, 0, 0) == 1.0
    with pytest.raises(InputError) as refused:
        primer_table([0], effects=[2.0], hurt=[-0.1])
    assert len(refused.value.problems) == 3
