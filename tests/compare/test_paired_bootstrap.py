"""Bootstrap tests: SciPy's interval, slow twins, and the primer exactly as it is defined."""

import math

import numpy as np
import pytest
from cases import each_case
from reference import plain_resampling
from reference.golden import shared_golden
from scipy import stats
from statsmodels.stats.multitest import multipletests

from humeval_power.comparisons.scores.all_pairs import clusters, compare_scores, replicability
from humeval_power.comparisons.scores.bootstrap import (
    bca_interval,
    bca_levels,
    bootstrap_mean,
    bootstrap_median,
    bootstrap_t,
    joint_bootstrap,
    resampled_means,
)
from humeval_power.comparisons.scores.comparison import primer_table
from humeval_power.comparisons.scores.effect_sizes import TestSettings, lattice_of, score_differences
from humeval_power.comparisons.scores.primer import exact_primer_p, primer_p, primer_test
from humeval_power.comparisons.scores.score_table import ScoreTable, all_pairs
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


# Joint resamples of all pairs.


def table(n=40, k=4, seed=1, spread=0.3):
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((n, 1)) + rng.standard_normal((n, k)) + spread * np.arange(k)
    return ScoreTable(scores, tuple("ABCDEFGHIJKLMNOP"[:k]))


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_every_pair_is_its_own_bootstrap_t(alternative):
    scores, settings = table(), TestSettings(n_resamples=500, seed=3, alternative=alternative)
    joint = joint_bootstrap(scores.scores, all_pairs(4), settings)
    low, high = joint.intervals(settings.confidence)
    for place, (a, b) in enumerate(all_pairs(4)):
        alone = bootstrap_t(score_differences(scores.scores[:, a], scores.scores[:, b]), settings)
        assert joint.p_values()[place] == pytest.approx(alone.p_value, rel=1e-12)
        assert (low[place], high[place]) == pytest.approx(alone.interval, rel=1e-9)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_romano_wolf_and_max_t_are_those_of_the_definition(alternative):
    settings = TestSettings(n_resamples=300, alternative=alternative)
    joint = joint_bootstrap(table().scores, all_pairs(4), settings)
    turn = {"two-sided": np.abs, "greater": np.asarray, "less": np.negative}[alternative]
    observed, drawn = turn(joint.t), turn(joint.drawn)
    assert joint.romano_wolf() == pytest.approx(plain_resampling.step_down(observed, drawn), rel=1e-12)
    largest = drawn.max(axis=1)
    expected = [(1 + (largest >= t).sum()) / 301 for t in observed]
    assert joint.max_t() == pytest.approx(expected, rel=1e-12)
    assert (joint.romano_wolf() <= joint.max_t() + 1e-12).all()


def test_the_number_of_cores_changes_nothing():
    settings = TestSettings(n_resamples=700)
    one, two = (joint_bootstrap(table().scores, all_pairs(4), settings, n_jobs=jobs) for jobs in (1, 2))
    # matrix products of the same blocks; their sums may differ in the last digit between threads
    np.testing.assert_allclose(one.drawn, two.drawn, rtol=1e-9)


def test_systems_that_agree_everywhere_are_not_apart_and_constant_gaps_are_refused():
    scores = np.column_stack([table().scores, table().scores[:, 0]])
    joint = joint_bootstrap(scores, all_pairs(5), TestSettings(n_resamples=200))
    place = [tuple(pair) for pair in all_pairs(5)].index((0, 4))
    assert joint.p_values()[place] == 1.0
    assert joint.romano_wolf()[place] == 1.0
    with pytest.raises(InputError, match="no spread"):
        joint_bootstrap(np.array([[0.0, 1.0]] * 5), all_pairs(2), TestSettings(n_resamples=10))


@pytest.mark.parametrize(
    ("name", "theirs"), [("holm", "holm"), ("bonferroni", "bonferroni"), ("bh", "fdr_bh")]
)
def test_corrections_are_statsmodels(name, theirs):
    found = compare_scores(table(), question="mean", settings=TestSettings(), correction=name)
    raw = [pair.test.p_value for pair in found.pairs]
    assert [pair.corrected_p for pair in found.pairs] == pytest.approx(multipletests(raw, method=theirs)[1])
    assert len(found.pairs) == 6


def test_the_pairs_are_scipys_tests_and_b_is_the_later_system():
    found = compare_scores(table(), question="pseudomedian", settings=TestSettings(), correction="none")
    scores = table()
    for pair in found.pairs:
        a, b = scores.column(pair.first), scores.column(pair.second)
        assert pair.corrected_p == pytest.approx(stats.wilcoxon(b - a, method="exact").pvalue, rel=1e-9)


def test_a_baseline_is_compared_with_every_other_system_and_makes_no_clusters():
    found = compare_scores(table(), question="mean", settings=TestSettings(), baseline="B")
    assert [(pair.first, pair.second) for pair in found.pairs] == [("B", "A"), ("B", "C"), ("B", "D")]
    assert found.clusters == ()
    with pytest.raises(InputError, match="no system 'Z'"):
        compare_scores(table(), question="mean", settings=TestSettings(), baseline="Z")


def test_resampling_corrections_are_for_means():
    with pytest.raises(InputError, match="holm"):
        compare_scores(table(), question="median", settings=TestSettings(), correction="max-t")


def test_clusters_are_cut_where_all_before_differ_from_all_after():
    apart = {frozenset(pair) for pair in ("AC", "AD", "BC", "BD", "CD")}
    assert clusters("ABCD", apart) == (("A", "B"), ("C",), ("D",))
    assert clusters("ABCD", apart - {frozenset("BC")}) == (("A", "B", "C"), ("D",))
    assert clusters("ABCD", set()) == (("A", "B", "C", "D"),)


def test_replicability_counts_by_bonferroni_are_those_by_hand():
    # Sorted .001, .01, .02, .5. Fewer than u effects: (4 - u + 1) p_(u) = .004, .03, .04, .5.
    found = replicability([0.02, 0.001, 0.5, 0.01])
    assert found.partial_p == pytest.approx((0.004, 0.03, 0.04, 0.5))
    assert found.count == 3
    assert found.holm_p == pytest.approx((0.04, 0.004, 0.5, 0.03))
    assert found.named == (0, 1, 3)
    assert multipletests([0.02, 0.001, 0.5, 0.01], method="holm")[1] == pytest.approx(found.holm_p)


def test_replicability_by_fisher_is_scipys_combination_of_the_largest():
    p = [0.04, 0.06, 0.03, 0.2]
    found = replicability(p, combination="fisher")
    ordered = sorted(p)
    expected = np.maximum.accumulate([stats.combine_pvalues(ordered[u:]).pvalue for u in range(4)])
    assert found.partial_p == pytest.approx(expected, rel=1e-9)
    assert found.count > replicability(p).count == 0
    with pytest.raises(InputError):
        replicability([])
    with pytest.raises(InputError):
        replicability([1.2])


@pytest.mark.slow
@pytest.mark.parametrize("correction", ["romano-wolf", "max-t"])
def test_any_false_pair_is_as_rare_as_promised(correction):
    rng, any_false, n_studies = np.random.default_rng(8), 0, 400
    for study in range(n_studies):
        scores = rng.standard_normal((60, 1)) + rng.exponential(size=(60, 5))
        found = compare_scores(
            ScoreTable(scores, tuple("ABCDE")),
            question="mean",
            settings=TestSettings(n_resamples=512, seed=study),
            correction=correction,
        )
        any_false += any(pair.significant for pair in found.pairs)
    assert any_false <= stats.binom.ppf(0.999, n_studies, 0.05)
    assert any_false >= stats.binom.ppf(0.001, n_studies, 0.03)  # and it uses the level it has
