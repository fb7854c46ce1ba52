"""The tests people use: vectorised here, one study at a time by scipy.stats there."""

import warnings

import numpy as np
import pytest
from cases import each_case
from numpy.typing import NDArray
from scipy import stats

from humeval_power.designs import (
    Assignment,
    Design,
    both_nested,
    counterbalanced,
    crossed,
    from_table,
    items_nested,
    k_per_item,
    workers_nested,
)
from humeval_power.inference.common_tests import COMMON_TESTS, TwoSided, mean_differences, signed_rank_p

Floats = NDArray[np.float64]

RAGGED = from_table(
    worker=[0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 4, 4, 0],
    item=[0, 0, 1, 1, 2, 2, 3, 3, 0, 4, 5, 2, 2, 3],
    system=[0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 1],
)
DESIGNS = {
    "crossed": crossed(4, 7),
    "repeated": crossed(3, 5, n_repeats=2),
    "many items": crossed(3, 61),
    "k per item": k_per_item(6, 15, ratings_per_item=2),
    "split": k_per_item(6, 15, ratings_per_item=2, paired=False),
    "counterbalanced": counterbalanced(5, 9),
    "ragged": RAGGED,
}


def draw(design: Design, points: int | None, n: int = 6) -> Floats:
    """Ratings of several studies with a shift; `points` gives them ties."""
    rng = np.random.default_rng(len(design.assignment.worker) + (points or 0))
    rating = rng.random((n, design.n_ratings)) + 0.1 * design.assignment.system
    return rating if points is None else np.round(np.clip(rating, 0, 1) * (points - 1)) / (points - 1)


def paired_means(
    rating: Floats, group: NDArray[np.int64], system: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Means of the groups that have both systems, by the definition."""
    both = [g for g in np.unique(group) if set(system[group == g]) == {0, 1}]
    a, b = (np.array([rating[(group == g) & (system == s)].mean() for g in both]) for s in (0, 1))
    return a, b


def by_scipy(name: str, rating: Floats, rows: Assignment) -> float:
    """The p-value that scipy gives for one study."""
    a, b = rating[rows.system == 0], rating[rows.system == 1]
    if name == "ratings-t":
        return float(stats.ttest_ind(b, a).pvalue)
    if name == "mann-whitney":
        return float(stats.mannwhitneyu(b, a, method="asymptotic").pvalue)
    group = rows.worker if name == "worker-means-t" else rows.item
    a, b = paired_means(rating, group, rows.system)
    if name != "wilcoxon":
        return float(stats.ttest_rel(b, a).pvalue)
    difference = np.round(b - a, 12)  # as documented: means that differ by rounding alone are equal
    plain = np.all(difference != 0) and len(set(np.abs(difference))) == len(difference)
    method = "exact" if plain and len(difference) <= 50 else "asymptotic"
    return float(stats.wilcoxon(difference, method=method).pvalue)


@pytest.mark.filterwarnings("ignore:Precision loss")  # scipy's, where one system's ratings are alike
@each_case("points", [None, 3, 7])
@each_case("design", DESIGNS)
@each_case("name", COMMON_TESTS)
def test_p_values_are_those_of_scipy_with_and_without_ties(
    name: str, design: str, points: int | None
) -> None:
    rows = DESIGNS[design].assignment
    responses = draw(DESIGNS[design], points)
    found = COMMON_TESTS[name].run(responses, rows).p_value
    expected = [by_scipy(name, rating, rows) for rating in responses]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_items", [14, 50, 51])
def test_wilcoxon_is_what_scipy_chooses_by_itself_where_no_means_are_equal(n_items: int) -> None:
    design = crossed(2, n_items)
    responses = draw(design, None)
    found = COMMON_TESTS["wilcoxon"].run(responses, design.assignment).p_value
    for rating, p_value in zip(responses, found, strict=True):
        a, b = paired_means(rating, design.assignment.item, design.assignment.system)
        assert p_value == pytest.approx(stats.wilcoxon(b, a).pvalue, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5, 20])
def test_the_exact_signed_rank_distribution_counts_all_signs(n: int) -> None:
    if n <= 5:  # by listing the 2^n assignments of signs
        signs = np.array(np.meshgrid(*[[0, 1]] * n)).reshape(n, -1)
        sums = np.arange(1, n + 1) @ signs
        expected = [2 * min(np.mean(sums <= w), np.mean(sums >= w)) for w in range(n * (n + 1) // 2 + 1)]
        np.testing.assert_allclose(signed_rank_p(n), np.minimum(expected, 1))
    assert signed_rank_p(n)[0] == pytest.approx(min(1.0, 2.0 ** (1 - n)), rel=1e-12)


@each_case("name", COMMON_TESTS)
def test_swapping_the_systems_keeps_the_p_value_and_turns_the_direction(name: str) -> None:
    rows = DESIGNS["crossed"].assignment
    responses = draw(DESIGNS["crossed"], 5)
    found = COMMON_TESTS[name].run(responses, rows)
    swapped = COMMON_TESTS[name].run(responses, Assignment(rows.worker, rows.item, 1 - rows.system))
    np.testing.assert_allclose(found.p_value, swapped.p_value, rtol=1e-12)
    np.testing.assert_array_equal(found.direction, -swapped.direction)


@each_case("name", COMMON_TESTS)
def test_a_large_difference_points_to_the_better_system(name: str) -> None:
    design = DESIGNS["crossed"]
    responses = draw(design, None) + 5.0 * design.assignment.system
    found = COMMON_TESTS[name].run(responses, design.assignment)
    assert (found.direction == 1).all()
    assert (found.p_value < 0.05).all()


@each_case("name", COMMON_TESTS)
def test_ratings_that_are_all_alike_have_no_p_value(name: str) -> None:
    # 0.3 is no binary fraction: means of three of them differ by rounding, which must not count
    design = crossed(3, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = COMMON_TESTS[name].run(np.full((2, design.n_ratings), 0.3), design.assignment)
    assert isinstance(found, TwoSided)
    assert np.isnan(found.p_value).all()


def test_means_leave_out_who_has_seen_one_system_only() -> None:
    rows = RAGGED.assignment
    rating = np.arange(14.0)[None]
    # items 4 and 5 have one system; item 0: (1 + 8) / 2 - 0, by hand
    differences = mean_differences(rating, rows.item, rows.system)
    assert differences.shape == (1, 4)
    assert differences[0, 0] == pytest.approx(4.5)


@pytest.mark.parametrize(
    ("design", "undefined"),
    [
        (crossed(4, 6), set()),
        (workers_nested(4, 6), {"worker-means-t"}),
        (items_nested(4, 6), {"item-means-t", "wilcoxon"}),
        (both_nested(4, 6), {"worker-means-t", "item-means-t", "wilcoxon"}),
    ],
    ids=lambda value: value.kind if isinstance(value, Design) else "",
)
def test_a_test_of_means_needs_means_of_both_systems(design: Design, undefined: set[str]) -> None:
    found = {name for name, test in COMMON_TESTS.items() if not test.is_defined(design.assignment)}
    assert found == undefined
