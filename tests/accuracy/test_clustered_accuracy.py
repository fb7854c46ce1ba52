"""Accuracies of systems on items in clusters: against enumeration, theory, SciPy and statsmodels."""

import itertools

import numpy as np
import pytest
from cases import each_case
from scipy import stats
from statsmodels.stats.multitest import multipletests

from humeval_power.clusters import Clusters
from humeval_power.comparisons.accuracy import calls as accuracy
from humeval_power.comparisons.accuracy.counts import Answers, accuracy_interval, all_comparisons
from humeval_power.errors import InputError
from humeval_power.inference.item_bootstrap import drawn_swaps, listed_swaps, swapped_sum_p
from humeval_power.inference.mcnemar import exact_p


def listed_p(gains: np.ndarray, clusters: Clusters) -> float:
    """The obvious twin: every exchange of clusters in turn."""
    sums = [gains[of].sum() for of in clusters.members()]
    observed = abs(sum(sums))
    every = itertools.product((1, -1), repeat=len(sums))
    return float(np.mean([abs(np.dot(signs, sums)) >= observed - 1e-9 for signs in every]))


@each_case("seed", range(40))
def test_exchanging_whole_clusters_agrees_with_listing_every_exchange(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = np.concatenate([[0, 1], rng.integers(0, 10, rng.integers(1, 40))])
    gains = rng.integers(-1, 2, len(names)).astype(float)
    clusters = Clusters.of(list(names))
    assert swapped_sum_p(gains, clusters) == pytest.approx(listed_p(gains, clusters), abs=1e-12)


@pytest.mark.parametrize(("only_b", "only_a", "n"), [(16, 6, 161), (7, 1, 21), (300, 200, 5000), (0, 9, 9)])
def test_with_one_item_a_cluster_it_is_mcnemars_exact_test(only_b: int, only_a: int, n: int) -> None:
    gains = np.repeat([1.0, -1.0, 0.0], [only_b, only_a, n - only_b - only_a])
    found = swapped_sum_p(gains, Clusters.of(range(n)))
    assert found == pytest.approx(float(exact_p(only_b, only_a)), rel=1e-9)


def test_systems_that_are_right_equally_often_have_a_p_value_of_one() -> None:
    assert swapped_sum_p(np.array([1.0, -1.0, 0.0]), Clusters.of("abc")) == 1.0


def test_every_exchange_is_listed_once_up_to_turning_all_of_them() -> None:
    found = {tuple(row) for row in listed_swaps(4)}
    assert len(found) == 8
    assert all(row[0] == 1 and set(row) <= {1, -1} for row in found)
    drawn = drawn_swaps(3, 4000, np.random.default_rng(0))
    assert set(np.unique(drawn)) == {-1, 1}
    assert abs(drawn.mean(axis=0)).max() < 4.5 / 4000**0.5


def answers_in_clusters(sizes: list[int], seed: int = 3, n_systems: int = 2) -> Answers:
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    level = rng.normal(0.3, 0.6, (len(sizes), n_systems))[codes]
    right = level + rng.normal(size=level.shape) > 0
    names = tuple("ABCDEFGH"[:n_systems])
    return Answers(right, systems=names, clusters=Clusters.of(list(codes), name="passage"))


def test_equal_clusters_give_the_t_test_of_their_means() -> None:
    answers = answers_in_clusters([7] * 9)
    found = all_comparisons(answers)[0]
    gains = answers.gains(0, 1).reshape(9, 7).mean(axis=1)
    expected = stats.ttest_1samp(gains, 0.0)
    assert found.tests[0].name == "clustered-t"
    assert found.tests[0].p_value == pytest.approx(expected.pvalue, rel=1e-9)
    low, high = expected.confidence_interval(0.95)
    assert found.interval(0.95) == pytest.approx((max(low, -1), min(high, 1)), rel=1e-9)


def test_the_usual_cluster_robust_error_is_that_of_statsmodels() -> None:
    import statsmodels.api as sm

    answers = answers_in_clusters([1, 2, 3, 9, 14, 20, 4], seed=8)
    mean = all_comparisons(answers)[0].clustered
    assert mean is not None
    assert answers.clusters is not None
    gains = answers.gains(0, 1)
    fitted = sm.OLS(gains, np.ones(len(gains))).fit(
        cov_type="cluster",
        cov_kwds={"groups": answers.clusters.codes, "use_correction": True},
    )
    # statsmodels corrects by (n - 1) / (n - 1) too, which is 1 for a mean.
    assert mean.cr1_error == pytest.approx(float(fitted.bse[0]), rel=1e-9)


def test_one_item_a_cluster_gives_the_error_of_independent_items() -> None:
    answers = answers_in_clusters([1] * 60)
    mean = all_comparisons(answers)[0].clustered
    assert mean is not None
    assert mean.standard_error == pytest.approx(mean.independent_error, rel=1e-12)
    assert mean.df == pytest.approx(59)


def test_every_pair_is_corrected_by_holm() -> None:
    found = all_comparisons(answers_in_clusters([8] * 12, n_systems=4))
    assert [each.name for each in found] == ["B - A", "C - A", "D - A", "C - B", "D - B", "D - C"]
    raw = [each.tests[0].p_value for each in found]
    expected = multipletests(raw, method="holm")[1]
    assert [each.p_adjusted for each in found] == pytest.approx(list(expected), rel=1e-12)


def test_a_difference_that_is_the_same_in_every_cluster_has_no_t_test() -> None:
    right = np.array([[False, True]] * 12)
    answers = Answers(right, clusters=Clusters.of([i // 3 for i in range(12)]))
    result = accuracy.test(answers)
    tests = {each.name: each.p_value for each in result.comparisons[0].tests}
    assert np.isnan(tests["clustered-t"])
    assert tests["cluster-swaps"] == pytest.approx(2 / 2**4)
    assert "the same in every cluster" in " ".join(str(result).split())
    assert result.record()["comparisons"][0]["clusters"]["standard_error"] == 0.0


def test_systems_that_never_differ_have_a_p_value_of_one() -> None:
    right = np.array([[True, True], [False, False]] * 6)
    answers = Answers(right, clusters=Clusters.of([i // 3 for i in range(12)]))
    tests = all_comparisons(answers)[0].tests
    assert [each.p_value for each in tests] == [1.0, 1.0, 1.0]


def test_few_clusters_are_told_before_the_numbers() -> None:
    text = " ".join(str(accuracy.test(answers_in_clusters([6, 6, 6, 60]))).split())
    assert text.index("Read this first") < text.index("B - A")
    assert "degrees of freedom: below 5" in text
    assert "cannot give a p-value below 0.125" in text


def test_record_sentence_table_and_signature_say_the_same() -> None:
    result = accuracy.test(answers_in_clusters([10] * 15), alpha=0.1)
    record, text = result.record(), " ".join(str(result).split())
    found = record["comparisons"][0]
    assert record["cluster"] == found["clusters"]["name"] == "passage"
    assert f"{100 * found['difference']:+.1f} points" in text
    assert f"t({found['clusters']['df']:.1f})" in text
    low, high = found["interval"]
    assert f"{low:+.4f} to {high:+.4f}" in text
    assert f"90 % interval {100 * low:+.1f} to {100 * high:+.1f}" in text
    assert record["signature"].endswith("test:clustered-t|alpha:.1|two|n:150|cluster:passage:15")
    assert record["independence"][0]["state"] == "accounted"
    frame = result.to_frame()
    assert frame["low"].tolist() == [low]
    assert frame["p_cluster_swaps"].tolist() == [found["tests"][1]["p_value"]]


def test_three_systems_get_accuracies_pairs_and_one_paragraph() -> None:
    result = accuracy.test(answers_in_clusters([5] * 30, n_systems=3))
    record, text = result.record(), " ".join(str(result).split())
    assert record["correction"] == "holm"
    assert len(record["comparisons"]) == 3
    assert "p (Holm)" in text
    assert max(map(len, str(result).splitlines())) <= 80
    for each in record["comparisons"]:
        assert f"{each['name']} {each['only_b']} : {each['only_a']} " in text
    assert "with Holm's (1979) correction for 3 pairs" in text
    assert record["signature"].endswith("cluster:passage:30|k:3|corr:holm")
    significant = sum(each["p_adjusted"] <= 0.05 for each in record["comparisons"])
    assert f"{significant or 'none'} of 3 comparisons" in text


def test_an_accuracy_has_wilsons_interval_or_that_of_its_clusters() -> None:
    answers = answers_in_clusters([6] * 10)
    apart = Answers(answers.right)
    expected = stats.binomtest(int(answers.right[:, 0].sum()), 60).proportion_ci(method="wilson")
    assert accuracy_interval(apart, 0) == pytest.approx((expected.low, expected.high))
    shares = answers.right[:, 0].reshape(10, 6).mean(axis=1)
    low, high = stats.ttest_1samp(shares, 0.0).confidence_interval(0.95)
    assert accuracy_interval(answers, 0) == pytest.approx((max(low, 0), min(high, 1)))


def test_an_estimate_plans_with_as_many_independent_items_as_the_clusters_are_worth() -> None:
    result = accuracy.estimate(answers_in_clusters([30] * 10))
    clusters = result.record()["clusters"]
    assert clusters["design_effect"] > 1.5
    assert f"--n {round(clusters['effective_n'])} " in " ".join(str(result).split())


@each_case(
    ("make", "said"),
    [
        (lambda: Answers(np.zeros((0, 2))), "no items"),
        (lambda: Answers(np.zeros((4, 1))), "a column for each system"),
        (lambda: Answers(np.zeros((4, 2)), systems=("A", "A")), "different names"),
        (lambda: Answers(np.zeros((4, 2)), clusters=Clusters.of("abc")), "4 items, and clusters of 3"),
        (lambda: accuracy.estimate(answers_in_clusters([3] * 4, n_systems=3)), "two systems are estimated"),
    ],
)
def test_answers_that_make_no_sense_are_refused(make, said: str) -> None:
    with pytest.raises(InputError, match=said):
        make()


def test_where_nothing_varies_between_clusters_there_is_no_interval() -> None:
    answers = Answers(np.array([[False, True]] * 4), clusters=Clusters.of([0, 1, 2, 2]))
    result = accuracy.test(answers)
    assert np.isnan(result.comparisons[0].interval()).all()
    assert "interval none" in str(result)
