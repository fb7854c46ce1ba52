"""Paired tests of items in clusters: against the definition, against independent items, and where they refuse."""

import itertools

import numpy as np
import pytest
from cases import each_case
from scipy import stats

from humeval_power.clusters import Clusters
from humeval_power.comparisons.scores.bootstrap import joint_bootstrap
from humeval_power.comparisons.scores.comparison import effect_sizes
from humeval_power.comparisons.scores.effect_sizes import ClusterSums, TestSettings, signed_ranks
from humeval_power.comparisons.scores.score_table import all_pairs
from humeval_power.comparisons.scores.tests import DEFAULT_TEST, TESTS, equivalence_test, flips_of, run_test
from humeval_power.errors import InputError

DIRECTIONS = ["two-sided", "greater", "less"]
EXACT = ["t", "permutation", "sign", "wilcoxon", "permutation-median"]


def study(n_clusters: int, *, seed: int = 1, shift: float = 0.3) -> tuple[np.ndarray, Clusters]:
    """Differences with two decimals in clusters of one to six items."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(n_clusters), rng.integers(1, 7, n_clusters))
    values = shift + 0.6 * rng.standard_normal(n_clusters)[codes] + rng.standard_normal(len(codes))
    return np.round(values, 2), Clusters.of(codes.tolist(), name="passage")


def alone(n: int) -> Clusters:
    """Every item a cluster of its own."""
    return Clusters.of(range(n))


def test_every_test_has_a_clustered_version_or_a_remedy():
    refused = [name for name, kind in TESTS.items() if kind.refuses_clusters]
    assert refused == ["mcnemar", "primer"]
    differences, clusters = study(8)
    for name in refused:
        with pytest.raises(InputError, match=r"'bootstrap-t'|'permutation'"):
            run_test(name, np.sign(differences), TestSettings(alternative="greater"), clusters=clusters)
    assert not set(DEFAULT_TEST.values()) & set(refused)


@each_case("alternative", DIRECTIONS)
@each_case("n", [9, 60])
@each_case("name", [*EXACT, "bootstrap-t", "bootstrap"])
def test_one_item_in_each_cluster_gives_the_test_of_independent_items(name, n, alternative):
    differences = study(n, seed=n)[0][:n]
    settings = TestSettings(alternative=alternative, n_resamples=500, null=0.1)
    plain, clustered = (
        run_test(name, differences, settings, clusters=each) for each in (None, alone(len(differences)))
    )
    assert clustered.p_value == pytest.approx(plain.p_value, rel=1e-9)
    assert clustered.estimate == pytest.approx(plain.estimate, rel=1e-12)
    if name in ("t", "bootstrap-t", "bootstrap"):
        assert clustered.interval == pytest.approx(plain.interval, rel=1e-9)


def flipped_p(statistic, values, clusters, alternative):
    """The share of all assignments of signs to clusters that are as extreme: slow, and by the definition."""
    observed, drawn = statistic(values), []
    for signs in itertools.product((1.0, -1.0), repeat=clusters.n_clusters):
        drawn.append(statistic(np.array(signs)[clusters.codes] * values))
    drawn = np.array(drawn)
    if alternative == "two-sided":
        return np.mean(np.abs(drawn) >= abs(observed) - 1e-9)
    sign = 1 if alternative == "greater" else -1
    return np.mean(sign * drawn >= sign * observed - 1e-9)


STATISTICS = {
    "permutation": np.mean,
    "permutation-median": np.median,
    "sign": lambda values: np.sign(values).sum(),
    "wilcoxon": lambda values: signed_ranks(values).sum(),
}


@each_case("alternative", DIRECTIONS)
@each_case("seed", [1, 2, 3])
@each_case("name", list(STATISTICS))
def test_flips_of_whole_clusters_are_those_of_the_definition(name, seed, alternative):
    differences, clusters = study(9, seed=seed)
    found = run_test(name, differences, TestSettings(alternative=alternative), clusters=clusters)
    assert found.exact
    assert found.p_value == pytest.approx(
        flipped_p(STATISTICS[name], differences, clusters, alternative), rel=1e-12
    )


@pytest.mark.parametrize("alternative", DIRECTIONS)
def test_counted_sums_of_many_clusters_agree_with_draws(alternative):
    differences, clusters = study(60, seed=4, shift=0.1)
    sums = clusters.sums(signed_ranks(differences))
    found = flips_of(sums, alternative)
    drawn = np.random.default_rng(1).choice((1.0, -1.0), size=(40_000, len(sums))) @ sums
    sign = {"greater": 1, "less": -1}.get(alternative)
    extreme = np.abs(drawn) >= abs(sums.sum()) if sign is None else sign * drawn >= sign * sums.sum()
    assert found.exact
    # 40,000 draws: five standard errors of a share are at most 0.0125.
    assert found.p_value == pytest.approx(extreme.mean(), abs=0.0125)


def test_too_many_places_take_the_normal_law_of_rosner_glynn_and_lee(monkeypatch):
    sums = study(60, seed=4, shift=0.1)[1].sums(signed_ranks(study(60, seed=4, shift=0.1)[0]))
    exact = flips_of(sums, "two-sided")
    monkeypatch.setattr("humeval_power.comparisons.scores.tests.MOST_STEPS", 10)
    normal = flips_of(sums, "two-sided")
    assert not normal.exact
    z = sums.sum() / np.sqrt((sums**2).sum())
    assert normal.p_value == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-12)
    assert normal.p_value == pytest.approx(exact.p_value, abs=0.01)


def plain_t(values, codes, counts):
    """Mean of a resample of clusters over its CR1 error, cluster by cluster."""
    n_clusters = len(counts)
    drawn = [(values[codes == g], times) for g, times in enumerate(counts) for _ in range(int(times))]
    items = np.concatenate([each for each, _ in drawn])
    mean = items.mean()
    spread = sum(((each - mean).sum()) ** 2 for each, _ in drawn)
    return mean / (np.sqrt(spread * n_clusters / (n_clusters - 1)) / len(items))


def test_resampled_ratios_are_those_of_items_put_together():
    differences, clusters = study(12, seed=5)
    values = differences - differences.mean()
    counts = np.random.default_rng(2).multinomial(12, np.full(12, 1 / 12), size=20).astype(float)
    found = ClusterSums.of(values[:, None], clusters).ratios(counts)[:, 0]
    expected = [plain_t(values, clusters.codes, each) for each in counts]
    assert found == pytest.approx(expected, rel=1e-9)


def test_pairs_resample_whole_clusters_together_and_agree_with_one_pair():
    differences, clusters = study(25, seed=6)
    rng = np.random.default_rng(1)
    base = rng.standard_normal(len(differences)).round(2)
    scores = np.column_stack([base, base + differences, base - differences])
    settings = TestSettings(n_resamples=600)
    joint = joint_bootstrap(scores, all_pairs(3), settings, clusters=clusters)
    one = run_test("bootstrap-t", differences, settings, clusters=clusters)
    assert joint.p_values()[0] == pytest.approx(one.p_value, rel=1e-12)
    low, high = joint.intervals(0.95)
    assert (low[0], high[0]) == pytest.approx(one.interval, rel=1e-9)
    assert (joint.max_t() >= joint.romano_wolf() - 1e-12).all()
    two = joint_bootstrap(scores, all_pairs(3), settings, clusters=clusters, n_jobs=2)
    assert two.drawn.tobytes() == joint.drawn.tobytes()


def test_the_interval_of_equivalence_is_that_of_the_cr2_test():
    differences, clusters = study(15, seed=7, shift=0.0)
    found = equivalence_test(differences, margin=0.5, clusters=clusters)
    settings = TestSettings(null=-0.5, alternative="greater")
    assert found.interval == pytest.approx(
        run_test("t", differences, settings, clusters=clusters).interval, rel=1e-12
    )
    assert found.p_not_below == pytest.approx(
        run_test("t", differences, settings, clusters=clusters).p_value, rel=1e-12
    )
    plain, each = (
        equivalence_test(differences, margin=0.5, clusters=c) for c in (None, alone(len(differences)))
    )
    assert each.p_value == pytest.approx(plain.p_value, rel=1e-9)


def test_effect_sizes_have_the_values_of_independent_items_and_wider_intervals():

    rng = np.random.default_rng(8)
    codes = np.repeat(np.arange(30), 8)
    differences = np.round(0.2 + rng.standard_normal(30)[codes] + 0.5 * rng.standard_normal(240), 2)
    settings = TestSettings(n_resamples=2000)
    plain = {one.name: one for one in effect_sizes(differences, settings)}
    found = effect_sizes(differences, settings, clusters=Clusters.of(codes.tolist()))
    assert {one.name for one in found} == set(plain) - {"hedges_g", "mean_bca"}
    for one in found:
        assert one.value == pytest.approx(plain[one.name].value, rel=1e-9)
        assert one.high - one.low > 1.5 * (plain[one.name].high - plain[one.name].low)
        assert one.low < one.value < one.high


@each_case("name", ["mean", "mean_bca", "cohens_d", "wilcoxon_r", "hodges_lehmann", "median"])
def test_one_item_in_each_cluster_gives_the_intervals_of_independent_items(name):

    differences = np.round(0.2 + np.random.default_rng(9).standard_normal(80), 3)
    settings = TestSettings(n_resamples=500)
    plain = {one.name: one for one in effect_sizes(differences, settings)}[name]
    found = {one.name: one for one in effect_sizes(differences, settings, clusters=alone(80))}[name]
    # ranks and order statistics are counted exactly there and by the t of their variance here
    tolerance = {"hodges_lehmann": 0.03, "median": 0.15}.get(name, 1e-9)
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high), abs=tolerance)


def test_few_clusters_cannot_be_significant_by_flips_and_it_is_said():
    differences, clusters = study(5, shift=4.0)
    found = run_test("permutation", differences, TestSettings(), clusters=clusters)
    assert found.p_value == 0.0625
    assert "cannot be significant at 0.05" in found.remarks[0]
    assert (
        run_test("permutation", differences, TestSettings(alternative="greater"), clusters=clusters).remarks
        == ()
    )


@pytest.mark.parametrize("name", ["t", "bootstrap-t"])
def test_clusters_without_a_spread_between_them_are_refused(name):
    differences, clusters = np.tile([0.1, 0.3], 6), Clusters.of(np.repeat(range(6), 2).tolist())
    with pytest.raises(InputError, match="do not vary between the 6 clusters"):
        run_test(name, differences, TestSettings(), clusters=clusters)
    with pytest.raises(InputError, match="no spread"):
        equivalence_test(differences, margin=1.0, clusters=clusters)


def test_a_share_that_is_one_everywhere_has_an_interval_of_its_number_of_clusters():
    differences, clusters = np.full(12, 1.0), Clusters.of(np.repeat(range(6), 2).tolist())
    differences[::2] = 2.0
    found = run_test("sign", differences, TestSettings(), question="better", clusters=clusters)
    assert found.estimate == 1.0
    assert found.interval == pytest.approx((0.025 ** (1 / 6), 1.0), rel=1e-12)
    assert found.p_value == 2 / 2**6


@pytest.mark.parametrize("alternative", DIRECTIONS)
def test_flips_of_whole_clusters_are_scipys_permutations_of_their_sums(alternative):
    differences, clusters = study(10, seed=11)
    sums = clusters.sums(differences)
    expected = stats.permutation_test(
        (sums,), np.sum, permutation_type="samples", alternative=alternative, n_resamples=2**10
    )
    found = run_test("permutation", differences, TestSettings(alternative=alternative), clusters=clusters)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-12)


def test_the_errors_of_resamples_are_those_of_statsmodels_clustered_regression():
    from statsmodels.api import OLS

    differences, clusters = study(12, seed=12)
    fit = OLS(differences, np.ones(len(differences))).fit(
        cov_type="cluster", cov_kwds={"groups": clusters.codes, "use_correction": False}
    )
    n = clusters.n_clusters
    sums = ClusterSums.of((differences - differences.mean())[:, None], clusters)
    # statsmodels without its correction is CR0; CR1 has G / (G - 1)
    assert sums.errors(np.ones((1, n)))[1][0, 0] == pytest.approx(
        float(fit.bse[0]) * np.sqrt(n / (n - 1)), rel=1e-9
    )
