"""A mean with several judges and any kind of label: golden values, identities, other programs, coverage, edges."""

import numpy as np
import pytest
from scipy import stats

from humeval_power.comparisons.judge.assisted import (
    assisted_mean,
    expected_variance,
    label_mean,
    labels_for_width,
    post_stratified,
    regression,
    wilson_at,
    wilson_regression,
)
from humeval_power.comparisons.judge.plan import PredictionPower

Y = np.array([3, 4, 2, 5, 4, 1, 3, 2, 4, 5, 3, 1.0])
A = np.array([60, 72, 41, 90, 70, 35, 55, 50, 80, 85, 58, 20.0])
A_MORE = np.array([66, 44, 71, 30, 62, 90, 52, 48, 77, 39.0])
B = np.array([3, 4, 3, 5, 3, 1, 2, 2, 5, 4, 4, 2.0])
B_MORE = np.array([3, 2, 4, 1, 4, 5, 3, 2, 4, 2.0])


@pytest.mark.parametrize(
    ("judges", "extra", "estimate", "error", "weights"),
    [
        ([A], [A_MORE], 3.0321297, 0.2817541, [0.0637630]),
        ([B], [B_MORE], 3.0154374, 0.3340513, [0.8962264]),
        ([A, B], [A_MORE, B_MORE], 3.0290899, 0.2849817, [0.0596213, 0.0840273]),
    ],
)
def test_regression_has_the_golden_values(
    judges: list, extra: list, estimate: float, error: float, weights: list
) -> None:
    found = regression(Y, np.column_stack(judges), np.column_stack(extra))
    assert found.estimate == pytest.approx(estimate, abs=1e-6)
    assert found.standard_error == pytest.approx(error, abs=1e-6)
    assert found.weights == pytest.approx(weights, abs=1e-6)
    assert found.df == 11 - len(judges)
    if len(judges) == 2:
        assert found.interval == pytest.approx((2.384417, 3.673763), abs=1e-6)


def table(tp: int, fn: int, fp: int, tn: int, yes: int, total: int) -> tuple[np.ndarray, ...]:
    """Labels, the judge's answers, and its answers to the other items."""
    human = np.repeat([1.0, 1, 0, 0], [tp, fn, fp, tn])
    judge = np.repeat([1.0, 0, 1, 0], [tp, fn, fp, tn])
    more = yes - tp - fp
    return human, judge, np.repeat([1.0, 0], [more, total - len(human) - more])


@pytest.mark.parametrize(
    ("counts", "estimate", "error", "ends"),
    [
        ((25, 5, 14, 56, 430, 1100), 0.3005082, 0.0382403, (0.230933, 0.380670)),
        ((3, 0, 2, 25, 150, 1030), 0.0873786, 0.0402504, (0.036293, 0.195766)),
    ],
)
def test_post_stratification_has_the_golden_values(
    counts: tuple, estimate: float, error: float, ends: tuple
) -> None:
    human, judge, extra = table(*counts)
    found = assisted_mean(human, judge[:, None], extra[:, None])
    assert found.method == "post-stratified"
    assert found.estimate == pytest.approx(estimate, abs=1e-6)
    assert found.standard_error == pytest.approx(error, abs=1e-6)
    assert found.interval == pytest.approx(ends, abs=1e-6)
    by_regression = regression(human, judge[:, None], extra[:, None])
    assert by_regression.estimate == pytest.approx(found.estimate, rel=1e-12)


def drawn(rng: np.random.Generator, n: int, extra: int, n_judges: int) -> tuple[np.ndarray, ...]:
    """Labels and judges, each of correlation .7 with the labels and .6 with one another."""
    cov = np.full((n_judges + 1, n_judges + 1), 0.6) + 0.4 * np.eye(n_judges + 1)
    cov[0, 1:] = cov[1:, 0] = 0.7
    both = rng.multivariate_normal(np.zeros(n_judges + 1), cov, n + extra, method="cholesky")
    return both[:n, 0], both[:n, 1:], both[n:, 1:]


@pytest.mark.parametrize("n_judges", [1, 2, 5])
def test_regression_is_that_of_statsmodels_with_the_centring_added(n_judges: int) -> None:
    import statsmodels.api as sm

    y, judges, extra = drawn(np.random.default_rng(n_judges), 40, 200, n_judges)
    every = np.concatenate([judges, extra])
    fitted = sm.OLS(y, sm.add_constant(judges - every.mean(axis=0))).fit()
    weights = fitted.params[1:]
    centring = weights @ np.atleast_2d(np.cov(every.T)) @ weights / len(every)
    found = regression(y, judges, extra)
    assert found.estimate == pytest.approx(fitted.params[0], rel=1e-10)
    assert found.standard_error == pytest.approx(np.sqrt(fitted.bse[0] ** 2 + centring), rel=1e-10)
    reach = stats.t(fitted.df_resid).ppf(0.975) * found.standard_error
    assert found.interval == pytest.approx((found.estimate - reach, found.estimate + reach), rel=1e-10)
    assert found.pool_error == pytest.approx(fitted.bse[0] * np.sqrt(200 / 240), rel=1e-10)
    yes = (y > 0.4).astype(float)
    binary = sm.OLS(yes, sm.add_constant(judges - every.mean(axis=0))).fit()
    weights = binary.params[1:]
    centring = weights @ np.atleast_2d(np.cov(every.T)) @ weights / len(every)
    found = wilson_regression(yes, judges, extra, regression(yes, judges, extra), confidence=0.95)
    assert found.standard_error == pytest.approx(np.sqrt(binary.HC3_se[0] ** 2 + centring), rel=1e-10)


def test_one_judge_is_ppi_at_its_best_weight() -> None:
    y, judge, extra = drawn(np.random.default_rng(3), 50, 300, 1)
    slope = np.cov(y, judge[:, 0])[0, 1] / np.var(judge, ddof=1)
    weight = slope * 300 / 350
    expected = y.mean() - weight * (judge.mean() - extra.mean())
    assert regression(y, judge, extra).estimate == pytest.approx(expected, rel=1e-12)


def test_regression_on_a_judge_of_yes_and_no_is_post_stratification() -> None:
    rng = np.random.default_rng(31)
    judge = rng.random(500) < 0.4
    labels = (rng.random(60) < np.where(judge[:60], 0.8, 0.15)).astype(float)
    by_answer = post_stratified(labels, judge[:60], judge[60:], confidence=0.95)
    numbers = judge.astype(float)[:, None]
    by_slope = regression(labels, numbers[:60], numbers[60:])
    assert by_slope.estimate == pytest.approx(by_answer.estimate, abs=1e-12)


def test_wilson_at_whole_labels_is_wilsons() -> None:
    from statsmodels.stats.proportion import proportion_confint

    expected = proportion_confint(7, 40, method="wilson")
    assert wilson_at(7 / 40, 40, 1e12, 0.95) == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
def test_a_formula_says_what_judges_cost() -> None:
    # without the price of weights it is that of PPI++; n 20, J 5 as simulated studies have it: .143 for .121
    many = expected_variance(1.0, 0.49, 10**6, 10**7, 1)
    assert many == pytest.approx(PredictionPower(10**6, 10**7, 0.7, 1, 1).variance, rel=1e-5)
    rng = np.random.default_rng(6)
    runs = [regression(*drawn(rng, 20, 1000, 5)).estimate for _ in range(3000)]
    cov = np.full((5, 5), 0.6) + 0.4 * np.eye(5)
    explained = float(np.full(5, 0.7) @ np.linalg.solve(cov, np.full(5, 0.7)))
    assert np.std(runs) == pytest.approx(np.sqrt(expected_variance(1.0, explained, 20, 1000, 5)), rel=0.06)


def test_the_labels_for_a_width_are_the_fewest() -> None:
    found = labels_for_width(0.1, 1.0, 0.5, 5000, 2, confidence=0.95)
    assert found is not None
    reach = [
        stats.t(n - 3).ppf(0.975) * np.sqrt(expected_variance(1.0, 0.5, n, 5000 - n, 2))
        for n in (found - 1, found)
    ]
    assert reach[1] <= 0.1 < reach[0]
    assert labels_for_width(1e-6, 1.0, 0.5, 5000, 2, confidence=0.95) is None


@pytest.mark.parametrize(
    ("labels", "judges", "extra", "words"),
    [
        (np.ones(40), np.arange(40.0)[:, None] % 7, np.arange(90.0)[:, None] % 7, "All labels are alike"),
        (np.arange(40) % 2.0, np.ones((40, 1)), np.ones((90, 1)), "same of all labelled items"),
        (np.arange(9) % 2.0, np.arange(9.0)[:, None], np.arange(90.0)[:, None], "too few to weigh a judge"),
        (np.arange(40) % 2.0, np.arange(40.0)[:, None], np.empty((0, 1)), "no items without a label"),
    ],
)
def test_where_no_judge_can_be_used_the_labels_stand(
    labels: np.ndarray, judges: np.ndarray, extra: np.ndarray, words: str
) -> None:
    found = assisted_mean(labels, judges, extra)
    assert words in found.reason
    assert found.estimate == labels.mean()
    assert 0 <= found.interval[0] <= labels.mean() <= found.interval[1] <= 1
    assert found.interval[0] < found.interval[1]


def test_a_judge_that_says_what_people_say_leaves_an_interval() -> None:
    human, judge, extra = table(20, 0, 0, 40, 300, 1000)
    found = assisted_mean(human, judge[:, None], extra[:, None])
    assert found.estimate == pytest.approx(0.3)
    assert 0.2 < found.interval[0] < 0.3 < found.interval[1] < 0.4


def test_equal_judges_count_once() -> None:
    y, judge, extra = drawn(np.random.default_rng(8), 60, 200, 1)
    twice = assisted_mean(y, np.hstack([judge, 2 * judge + 1]), np.hstack([extra, 2 * extra + 1]))
    assert twice.used == (0,)
    assert twice.estimate == pytest.approx(assisted_mean(y, judge, extra).estimate, rel=1e-12)


def test_systems_that_never_differ_have_the_exact_bound() -> None:
    found = assisted_mean(
        np.zeros(40), np.arange(40.0)[:, None], np.arange(90.0)[:, None], is_difference=True
    )
    assert "differs between the systems" in found.reason
    assert found.interval[1] == pytest.approx(stats.beta.ppf(0.975, 1, 40), rel=1e-9)
    assert label_mean(np.zeros(40)).interval[0] == -found.interval[1]


def test_differences_of_ratings_that_are_all_nothing_have_no_bound() -> None:
    """A share of items that differ bounds a mean of -1, 0 and 1, and none of points of a longer scale."""
    found = label_mean(np.zeros(40), of_classes=False)
    assert (found.estimate, found.p_value) == (0.0, 1.0)
    assert np.isnan(found.interval).all()


@pytest.mark.parametrize("n_yes", [1, 29])
def test_an_answer_of_one_label_is_not_used(n_yes: int) -> None:
    labels = np.arange(30) % 2.0
    judge = (np.arange(30) < n_yes) * 1.0
    found = assisted_mean(labels, judge[:, None], (np.arange(90) % 2.0)[:, None])
    assert found.method == "labels"
    assert "One label alone decides" in found.reason


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_judges"), [(15, 3), (20, 5), (30, 5), (100, 5), (10, 1)])
def test_regression_covers_as_often_as_it_says(n: int, n_judges: int) -> None:
    rng, runs, hits = np.random.default_rng(n), 2000, 0
    for _ in range(runs):
        low, high = regression(*drawn(rng, n, 1000, n_judges)).interval
        hits += low <= 0 <= high
    assert stats.binom.interval(0.999, runs, 0.95)[0] <= hits <= stats.binom.interval(0.999, runs, 0.96)[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "n", "least"),
    [(0.3, 20, 0.95), (0.1, 30, 0.94), (0.05, 50, 0.935), (0.9, 30, 0.95), (0.3, 100, 0.94)],
)
def test_post_stratification_covers_where_students_interval_does_not(
    rate: float, n: int, least: float
) -> None:
    rng, runs, hits = np.random.default_rng(n), 2000, 0
    for _ in range(runs):
        truth = rng.random(n + 1000) < rate
        judge = np.where(truth, rng.random(n + 1000) < 0.85, rng.random(n + 1000) > 0.8)
        human = truth[:n].astype(float)
        found = assisted_mean(human, judge[:n, None].astype(float), judge[n:, None].astype(float))
        hits += found.interval[0] <= rate <= found.interval[1]
    assert hits >= runs * (least - 0.012)


def test_the_share_of_a_class_that_is_never_judged_so_is_not_taken_for_empty() -> None:
    human, judge, extra = table(5, 0, 0, 40, 100, 1000)
    found = post_stratified(human, judge == 1, extra == 1, confidence=0.95)
    assert found.interval[0] < found.estimate < found.interval[1]
