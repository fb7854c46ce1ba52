"""Effect sizes of paired differences: reference values, slow twins, and intervals that keep their promise."""

import math

import numpy as np
import pytest
from cases import each_case, few_fast
from hypothesis import given
from hypothesis import strategies as st
from reference.golden import shared_golden
from scipy import stats

from humeval_power.comparisons.scores.effect_sizes import (
    TestSettings,
    cohens_d,
    hedges_g,
    hodges_lehmann,
    mean_difference,
    median_difference,
    score_differences,
    share_better,
    unbiasing_factor,
    wilcoxon_r,
)
from humeval_power.comparisons.scores.tests import sign_test, wilcoxon_test
from humeval_power.errors import InputError
from humeval_power.kernels.metrics.corpus import pair_mean


@pytest.fixture(scope="module")
def golden(shared):
    return shared_golden(shared, "14_nlpstattest")["set_A"]


@pytest.fixture(scope="module")
def set_a(golden):
    return score_differences(golden["v"], golden["u"])


def walsh(values, k=0):
    """All pair means with i <= j (k = 0) or i < j (k = 1)."""
    first, second = np.triu_indices(len(values), k=k)
    return np.sort((values[first] + values[second]) / 2)


def test_set_a_has_the_reference_effect_sizes(golden, set_a):
    assert cohens_d(set_a).value == pytest.approx(golden["cohen_d"], rel=1e-9)
    assert hedges_g(set_a).value == pytest.approx(golden["hedges_g_exact_gamma"], rel=1e-9)
    published = hedges_g(set_a, as_published=True).value
    assert published == pytest.approx(golden["hedges_g_paper_4n_minus_9"], rel=1e-9)
    assert wilcoxon_r(set_a).value == pytest.approx(golden["wilcoxon_r_nonzero_n"], rel=1e-9)
    assert hodges_lehmann(set_a).value == pytest.approx(golden["HL_i_le_j"], rel=1e-12)
    assert hodges_lehmann(set_a, distinct=True).value == pytest.approx(golden["HL_i_lt_j"], rel=1e-12)


def test_wilcoxon_r_is_scipys_z_with_ties(set_a):
    found = stats.wilcoxon(set_a[set_a != 0], method="approx", alternative="greater")
    assert wilcoxon_r(set_a).value * math.sqrt(18) == pytest.approx(found.zstatistic, rel=1e-9)


def test_hodges_lehmann_with_and_without_a_value_paired_with_itself():
    # Pair means of 1, 2, 10: 1, 1.5, 2, 5.5, 6, 10; without the values themselves 1.5, 5.5, 6.
    values = np.array([1.0, 2.0, 10.0])
    assert hodges_lehmann(values).value == 3.75
    assert hodges_lehmann(values, distinct=True).value == 5.5


@given(
    values=st.lists(st.integers(-30, 30).map(lambda tenth: tenth / 10), min_size=1, max_size=25),
    share=st.floats(0, 1),
)
def test_a_pair_mean_of_any_rank_is_that_of_the_sorted_list(values, share):
    ordered = np.sort(np.array(values))
    listed = walsh(ordered)
    rank = 1 + int(share * (len(listed) - 1))
    assert pair_mean(ordered, rank) == pytest.approx(listed[rank - 1], abs=1e-12)


@pytest.mark.parametrize("n", [6, 25, 199, 230])
def test_the_hodges_lehmann_interval_holds_what_wilcoxon_does_not_reject(n):
    d = np.random.default_rng(n).standard_normal(n)
    found = hodges_lehmann(d)
    width = found.high - found.low
    for end, outwards in ((found.low, -1), (found.high, 1)):
        inside, outside = end - outwards * 1e-6 * width, end + outwards * 1e-6 * width
        assert wilcoxon_test(d, TestSettings(null=inside)).p_value > 0.05
        assert wilcoxon_test(d, TestSettings(null=outside)).p_value <= 0.05


@pytest.mark.parametrize("n", [6, 7, 40, 101])
def test_the_median_interval_holds_what_the_sign_test_does_not_reject(n):
    d = np.random.default_rng(n).standard_normal(n)
    found = median_difference(d)
    assert sign_test(d, TestSettings(null=found.low - 1e-9)).p_value <= 0.05
    assert sign_test(d, TestSettings(null=found.low + 1e-9)).p_value > 0.05
    assert sign_test(d, TestSettings(null=found.high - 1e-9)).p_value > 0.05


def test_too_few_items_have_no_interval_of_the_median_nor_of_the_pseudomedian():
    d = np.array([1.0, 2.0, 3.0])  # the smallest two-sided p-value is 1/4
    assert (median_difference(d).low, median_difference(d).high) == (-math.inf, math.inf)
    assert (hodges_lehmann(d).low, hodges_lehmann(d).high) == (-math.inf, math.inf)


@pytest.mark.parametrize("shift", [0.0, 0.5, -2.0, 6.0])
def test_the_interval_of_d_holds_the_noncentralities_that_t_does_not_reject(shift):
    d = np.random.default_rng(3).standard_normal(24) + shift
    found = cohens_d(d)
    t = found.value * math.sqrt(24)
    assert stats.nct.sf(t, 23, found.low * math.sqrt(24)) == pytest.approx(0.025, rel=1e-6)
    assert stats.nct.cdf(t, 23, found.high * math.sqrt(24)) == pytest.approx(0.025, rel=1e-6)


def test_hedges_factor_removes_the_bias_of_d():
    # E[d] = delta / J with J the factor (Hedges 1981): checked on 200,000 samples of 6, error 5 SE.
    rng = np.random.default_rng(1)
    samples = rng.standard_normal((200_000, 6)) + 0.5
    d = samples.mean(axis=1) / samples.std(axis=1, ddof=1)
    assert (d * unbiasing_factor(5)).mean() == pytest.approx(0.5, abs=5 * d.std() / math.sqrt(len(d)))
    assert unbiasing_factor(400) == pytest.approx(1 - 3 / (4 * 400 - 1), rel=1e-5)
    with pytest.raises(InputError, match="at least 3"):
        hedges_g(np.array([1.0, 2.0]))


def test_the_interval_of_wilcoxon_r_is_that_of_all_pairs():
    d = np.array([0.3, -0.1, 0.4, 0.2, -0.5, 0.6, 0.1, -0.1])
    n = len(d)
    above = [
        np.mean([(x + y > 0) + 0.5 * (x + y == 0) for j, y in enumerate(d) if j != i])
        for i, x in enumerate(d)
    ]
    error = 2 * np.std(above, ddof=1) / math.sqrt(n)
    ranks = stats.rankdata(np.abs(d))
    tied = sum(size**3 - size for size in np.unique(ranks, return_counts=True)[1])
    spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24 - tied / 48)
    half = stats.t.isf(0.025, n - 1) * error * n * (n - 1) / 2 / (spread * math.sqrt(n))
    found = wilcoxon_r(d)
    top = ranks.sum() / 2 / (spread * math.sqrt(n))  # of n differences that are all above zero
    reach = half / top / (1 - (found.value / top) ** 2)
    for end, side in ((found.low, -1), (found.high, 1)):
        assert np.arctanh(end / top) == pytest.approx(
            np.arctanh(found.value / top) + side * reach, rel=1e-9
        )


@each_case("n", (8, 25))
def test_intervals_of_wilcoxon_r_hold_it_in_small_samples(n):
    # without atanh in 0.85 of them
    drawn = np.random.default_rng(7).normal(1.0 if n > 10 else 0.5, 1.0, (2_500, n))
    found = [wilcoxon_r(each) for each in drawn]
    truth = np.mean([one.value for one in found])
    assert np.mean([one.low <= truth <= one.high for one in found]) > 0.88


def test_ends_of_the_interval_of_wilcoxon_r_stay_where_r_can_be():
    few = wilcoxon_r(np.array([0.1, 0.5, -0.2, 0.4, 0.6, 0.7, 0.9]))
    all_above = wilcoxon_r(np.arange(1.0, 8.0))
    assert few.value < few.high < all_above.value


def test_differences_of_one_sign_still_have_an_interval_of_r():
    found = wilcoxon_r(np.arange(1.0, 21.0))
    assert found.low < found.value - 0.1
    assert found.high == found.value
    assert wilcoxon_r(-np.arange(1.0, 21.0)).high == pytest.approx(-found.low)


@few_fast(
    ("effect", "truth"),
    [
        (mean_difference, 0.3),
        (cohens_d, 0.3),
        (median_difference, 0.3),
        (hodges_lehmann, 0.3),
        # r estimates sqrt(3) (P(d_i + d_j > 0) - 1/2)
        (wilcoxon_r, math.sqrt(3) * (stats.norm.cdf(0.3 * math.sqrt(2)) - 0.5)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
    fast=1,
)
def test_intervals_cover_the_truth_as_often_as_they_say(effect, truth):
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(1000):
        found = effect(rng.standard_normal(80) + 0.3)
        covered += found.low <= truth <= found.high
    # discrete intervals are a little wide; 1,000 studies at a true 95 % lie above 928 with 0.998
    assert 928 <= covered <= 985


@each_case("n", [50, 80, 200])
@each_case("truth", [0.54, 0.62, 0.79, 0.93])
def test_the_interval_of_the_share_covers_the_truth_without_ties(n, truth):
    covered = 0.0
    for up in range(n + 1):  # all that can happen
        found = share_better(np.repeat([1.0, -1.0], [up, n - up]))
        covered += stats.binom.pmf(up, n, truth) * (found.low <= truth <= found.high)
    assert 0.93 < covered < 0.975  # an approximate interval of 95 %


def test_the_interval_of_the_share_is_narrower_with_ties_as_the_variance_says():
    few, many = (share_better(np.repeat([1.0, -1.0, 0.0], [20, 10, ties])) for ties in (0, 70))
    # Bonett and Price: (21 - 11) / 102 +- 1.959964 sqrt((32 / 102 - (10 / 102)^2) / 102), halved
    half = 1.959964 * math.sqrt((32 / 102 - (10 / 102) ** 2) / 102) / 2
    assert many.low == pytest.approx(0.5 + 5 / 102 - half, abs=1e-6)
    assert many.high - many.low < few.high - few.low
