"""F1, MCC and the like: metrics against scikit-learn, tests against every exchange, power by simulation."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from cases import each_case, few_fast
from numba import njit
from places import TESTS
from reference.swaps import listed_contingency_p
from scipy import stats

from humeval_power.comparisons.accuracy.agreement import KnownAgreement
from humeval_power.comparisons.accuracy.paired import PairedAccuracy
from humeval_power.comparisons.contingency.scenario import (
    ContingencyStudy,
    PairedTables,
    binary_recalls,
    contingency_test,
    correlated_errors,
    counted,
    drawn_extremes,
    equal_agreement,
    exact_p_values,
    observed_tables,
)
from humeval_power.errors import InputError
from humeval_power.kernels.metrics import contingency as kernel
from humeval_power.kernels.metrics.contingency import OF_A_CLASS, OF_ALL, metric_value
from humeval_power.studies.power.estimate import estimate_power

METRICS = [*OF_A_CLASS, *OF_ALL]
GOLDEN = json.loads((TESTS / "golden" / "confusion_metrics.json").read_text())


def usual(correlation: float = 0.3) -> PairedTables:
    """A tenth of the items positive, recall and precision .7."""
    recalls = binary_recalls(prevalence=0.1, recall=0.7, precision=0.7)
    return correlated_errors([0.9, 0.1], recalls, correlation=correlation)


def random_counts(rng: np.random.Generator, n: int, k: int = 2) -> np.ndarray:
    """A table of n items over K^3 cells, some of them empty."""
    return rng.multinomial(n, rng.dirichlet(np.full(k**3, 0.6))).reshape(k, k, k)


@each_case("table", GOLDEN["tables"], ids=range(len(GOLDEN["tables"])))
def test_metrics_are_those_of_scikit_learn(table):
    confusion = np.array(table["confusion"], dtype=float)
    for name in OF_ALL:
        assert metric_value(name, confusion, positive=0) == pytest.approx(table[name], abs=1e-12)
    for name in OF_A_CLASS:
        found = [float(metric_value(name, confusion, positive=place)) for place in range(len(confusion))]
        assert found == pytest.approx(table[name], abs=1e-12)


@njit
def _metric(in_0, in_1, right_0, right_1, code):
    """A function that only kernels call has no entry for Python: this is its."""
    return kernel._metric(in_0, in_1, right_0, right_1, code)


@each_case("metric", METRICS)
def test_the_kernel_computes_the_same_metrics(metric):
    rng = np.random.default_rng(4)
    tables = rng.integers(0, 4, size=(200, 2, 2)).astype(float)  # with empty rows and columns
    slow = metric_value(metric, tables, positive=1)
    fast = [_metric(t[0].sum(), t[1].sum(), t[0, 0], t[1, 1], kernel.CODES[metric]) for t in tables]
    np.testing.assert_allclose(fast, slow, atol=1e-12)


@few_fast("metric", METRICS, fast=1)
def test_exact_p_values_count_every_exchange(metric):
    rng = np.random.default_rng(METRICS.index(metric))
    for place in range(8):
        counts = random_counts(rng, 9)
        fast = exact_p_values(counts[None], metric=metric, positive=place % 2)[0]
        assert fast == pytest.approx(listed_contingency_p(counts, metric, place % 2), abs=1e-12)


def grid_p(counts: np.ndarray, metric: str) -> float:
    """P-value over the whole grid of both binomial counts, without the staircase."""
    n0, n1 = (counts[c, c, 1 - c] + counts[c, 1 - c, c] for c in (0, 1))
    x0, x1 = np.meshgrid(np.arange(n0 + 1), np.arange(n1 + 1), indexing="ij")
    chance = stats.binom.pmf(x0, n0, 0.5) * stats.binom.pmf(x1, n1, 0.5)

    def confusion(y0, y1):
        right0, right1 = counts[0, 0, 0] + y0, counts[1, 1, 1] + y1
        rows = [[right0, counts[0].sum() - right0], [counts[1].sum() - right1, right1]]
        return np.moveaxis(np.array(rows, dtype=float), (0, 1), (-2, -1))

    def values(y0, y1):
        return metric_value(metric, confusion(y0, y1), positive=1)

    differences = values(n0 - x0, n1 - x1) - values(x0, x1)
    observed = differences[counts[0, 0, 1], counts[1, 1, 0]]
    return float(chance[np.abs(differences) >= abs(observed) - 1e-12].sum())


@each_case("metric", METRICS)
def test_the_staircase_misses_nothing_of_the_grid(metric):
    rng = np.random.default_rng(50 + METRICS.index(metric))
    for n in (60, 400, 1500):
        counts = random_counts(rng, n)
        fast = exact_p_values(counts[None], metric=metric, positive=1)[0]
        # Nine standard deviations of each count are kept.
        assert fast == pytest.approx(grid_p(counts, metric), abs=1e-10)


def test_the_test_of_accuracy_is_mcnemars_exact_test():
    # Which class an item has does not matter to accuracy: wins of B are binomial(b + c, 1/2).
    rng = np.random.default_rng(9)
    for _ in range(20):
        counts = random_counts(rng, 80)
        only_a = counts[0, 0, 1] + counts[1, 1, 0]
        only_b = counts[0, 1, 0] + counts[1, 0, 1]
        expected = (
            stats.binomtest(int(only_b), int(only_a + only_b), 0.5).pvalue if only_a + only_b else 1.0
        )
        found = contingency_test(counts, metric="accuracy").p_value
        assert found == pytest.approx(expected, abs=1e-12)


@each_case("metric", ["macro-f1", "mcc", "accuracy", "balanced-accuracy", "recall"])
def test_drawn_swaps_of_three_classes_agree_with_every_exchange(metric):
    counts = random_counts(np.random.default_rng(len(metric)), 9, k=3)
    exact = listed_contingency_p(counts, metric, 1)
    found = contingency_test(counts, metric=metric, n_swaps=20_000, seed=2)
    low, high = stats.binom.interval(0.9999, 20_000, exact)
    assert low <= found.n_extreme <= high
    assert found.p_value == (1 + found.n_extreme) / 20_001


def test_an_empty_third_class_changes_no_p_value():
    counts = random_counts(np.random.default_rng(3), 120)
    padded = np.zeros((3, 3, 3), dtype=np.int64)
    padded[:2, :2, :2] = counts
    exact = contingency_test(counts, metric="f1").p_value
    low, high = stats.binom.interval(0.9999, 20_000, exact)
    assert low <= contingency_test(padded, metric="f1", n_swaps=20_000).n_extreme <= high


def test_random_swaps_of_two_classes_are_binomial_draws_with_the_exact_p_value():
    counts = np.stack([random_counts(np.random.default_rng(seed), 100) for seed in range(300)])
    chance = exact_p_values(counts, metric="f1", positive=1)
    drawn = drawn_extremes(counts, np.random.default_rng(1), metric="f1", positive=1, n_swaps=500)
    z = (drawn - 500 * chance) / np.sqrt(np.maximum(500 * chance * (1 - chance), 1e-9))
    inside = chance < 1
    # The mean of squares of 300 standard normal variables is within .5 of 1 at 6 standard errors.
    assert np.mean(z[inside] ** 2) == pytest.approx(1, abs=0.5)
    assert (drawn[~inside] == 500).all()


@each_case("place", range(20))
def test_the_formula_agrees_with_simulation_in_random_settings(place):
    rng = np.random.default_rng(300 + place)
    metric = METRICS[place % len(METRICS)]
    prevalence, recall = rng.uniform(0.1, 0.5), rng.uniform(0.5, 0.9)
    recalls = np.array([rng.uniform(0.8, 0.97), recall])
    base = correlated_errors([1 - prevalence, prevalence], recalls, correlation=rng.uniform(0, 0.6))
    study = ContingencyStudy(int(rng.integers(800, 4000)), base=base, metric=metric)
    study = study.with_effect(rng.uniform(1, 3.3) * study.null_sd)
    computed = study.computed()
    found = estimate_power(study, n_simulations=2048, seed=place)
    error = np.sqrt(computed.power * (1 - computed.power) / 2048)
    assert computed.exact == (metric in ("accuracy", "micro-f1", "recall"))
    # Beside Monte Carlo error: the exact test is discrete, the formula is not.
    rough = 0 if computed.exact else 0.02
    assert found.power == pytest.approx(computed.power, abs=4 * error + rough)
    assert found.type_m == pytest.approx(computed.type_m, rel=0.06)
    assert found.mean_estimate == pytest.approx(study.true_effect, abs=0.01)


@pytest.mark.parametrize("metric", ["accuracy", "micro-f1"])
def test_power_of_accuracy_is_that_of_mcnemars_exact_test(metric):
    study = ContingencyStudy(700, base=usual(), metric=metric).with_effect(0.02)
    other = PairedAccuracy(
        700, difference=study.true_effect, agreement=KnownAgreement(study.tables.agreement), test="exact"
    ).computed()
    found = study.computed()
    assert found.power == pytest.approx(other.power, abs=1e-12)
    assert found.type_m == pytest.approx(other.type_m, abs=1e-12)
    assert found.type_s == pytest.approx(other.type_s, abs=1e-12)


def test_simulated_power_is_that_of_enumerating_every_table():
    # All 6,435 tables of 8 items in 8 cells, each with its p-value over all 256 exchanges.
    n, cells = 8, 8
    base = equal_agreement([0.5, 0.5], [0.5, 0.5], agreement=0.1)
    study = ContingencyStudy(n, base=base, metric="f1", shift=0.9, alpha=0.1)
    bars = itertools.combinations(range(n + cells - 1), cells - 1)
    tables = np.diff(np.array([(-1, *each, n + cells - 1) for each in bars]), axis=1) - 1
    chance = stats.multinomial.pmf(tables, n, study.tables.probability.ravel())
    assert chance.sum() == pytest.approx(1, abs=1e-12)
    counts = tables.reshape(-1, 2, 2, 2)
    p_values = exact_p_values(counts, metric="f1", positive=1)
    a, b = (metric_value("f1", counts.sum(axis=axis).astype(float), positive=1) for axis in (3, 2))
    power = chance[(p_values <= 0.1) & (b > a)].sum()
    assert 0.2 < power < 0.9
    found = estimate_power(study, n_simulations=8192, seed=1)
    assert found.power == pytest.approx(power, abs=4 * np.sqrt(power * (1 - power) / 8192))


@each_case("metric", METRICS)
def test_equal_systems_are_called_different_no_more_often_than_alpha(metric):
    drawn = ContingencyStudy(300, base=usual(), metric=metric).draw(4096, seed=6)
    assert (drawn.p_value <= 0.05).sum() <= stats.binom.ppf(0.999, 4096, 0.05)


def test_random_swaps_keep_the_level_with_three_classes():
    base = correlated_errors([0.5, 0.3, 0.2], [0.9, 0.8, 0.6], correlation=0.4)
    drawn = ContingencyStudy(200, base=base, metric="macro-f1", n_flips=99).draw(1024, seed=7)
    low, high = stats.binom.interval(0.998, 1024, 0.05)
    assert low <= (drawn.p_value <= 0.05).sum() <= high


@each_case("metric", METRICS)
@each_case("share", [-0.6, 0.0, 0.05, 0.9])
def test_an_effect_is_made_without_touching_agreement_or_what_both_have_right(metric, share):
    study = ContingencyStudy(100, base=usual(), metric=metric)
    effect = share * study.reach[1]
    moved = study.with_effect(effect)
    assert moved.true_effect == pytest.approx(effect, abs=1e-12)
    assert moved.tables.agreement == pytest.approx(study.tables.agreement, abs=1e-12)
    for cell in itertools.product((0, 1), repeat=3):
        if cell[1] == cell[2]:
            assert moved.tables.probability[cell] == study.tables.probability[cell]
    assert moved.tables.probability.sum() == pytest.approx(1, abs=1e-12)


def test_effects_are_made_from_the_tables_as_given_whatever_came_before():
    study = ContingencyStudy(
        100, base=observed_tables(random_counts(np.random.default_rng(1), 500), ("0", "1"))
    )
    there = study.with_effect(0.9 * study.reach[1]).with_effect(study.true_effect)
    np.testing.assert_array_equal(there.tables.probability, study.tables.probability)


def test_an_effect_out_of_reach_is_refused_with_the_reach():
    study = ContingencyStudy(100, base=usual())
    with pytest.raises(InputError, match="must lie in"):
        study.with_effect(study.reach[1] + 0.01)


def test_correlated_errors_have_the_correlation_in_every_class():
    tables = correlated_errors([0.7, 0.3], [0.9, 0.6], correlation=0.35).probability
    for c, right in ((0, 0.9), (1, 0.6)):
        table = tables[c] / tables[c].sum()
        assert table[c].sum() == pytest.approx(right)
        assert table[:, c].sum() == pytest.approx(right)
        assert (table[c, c] - right**2) / (right * (1 - right)) == pytest.approx(0.35)


def test_errors_without_correlation_are_independent_given_the_class():
    tables = correlated_errors([0.7, 0.3], [0.9, 0.6], correlation=0.0).probability
    for c in (0, 1):
        of_a, of_b = tables[c].sum(axis=1), tables[c].sum(axis=0)
        np.testing.assert_allclose(tables[c] * tables[c].sum(), np.outer(of_a, of_b), atol=1e-15)


def test_equal_agreement_is_equal_in_every_class():
    tables = equal_agreement([0.5, 0.3, 0.2], [0.9, 0.8, 0.85], agreement=0.88).probability
    shares = [np.trace(tables[c]) / tables[c].sum() for c in range(3)]
    assert shares == pytest.approx([0.88] * 3)
    with pytest.raises(InputError, match=r"must lie in \[0\.8, 1\)"):
        equal_agreement([0.5, 0.5], [0.9, 0.9], agreement=0.7)


def test_recalls_of_two_classes_give_back_the_precision():
    specificity, recall = binary_recalls(prevalence=0.2, recall=0.6, precision=0.75)
    assert 0.2 * recall / (0.2 * recall + 0.8 * (1 - specificity)) == pytest.approx(0.75)
    with pytest.raises(InputError, match="called positive"):
        binary_recalls(prevalence=0.2, recall=0.9, precision=0.1)


def test_labels_are_counted_by_class_and_both_predictions():
    counts, classes = counted(list("aabb"), list("abbb"), list("abca"))
    assert classes == ("a", "b", "c")
    expected = np.zeros((3, 3, 3), dtype=int)
    for cell in ((0, 0, 0), (0, 1, 1), (1, 1, 2), (1, 1, 0)):
        expected[cell] += 1
    np.testing.assert_array_equal(counts, expected)
    with pytest.raises(InputError, match="only one class"):
        counted(["x"], ["x"], ["x"])


def test_slopes_are_those_of_f1_in_closed_form():
    # F1 = 2 t / (items + predicted): by the quotient rule
    study = ContingencyStudy(10, base=usual())
    (tn, fp), (fn, tp) = confusion = study.tables.confusion_a
    below = 2 * tp + fp + fn
    assert tn > 0
    expected = [[0, -2 * tp / below**2], [-2 * tp / below**2, 2 / below - 4 * tp / below**2]]
    np.testing.assert_allclose(study._slopes(confusion), expected, atol=1e-8)


def test_every_problem_of_a_study_is_told_at_once():
    with pytest.raises(InputError) as refused:
        ContingencyStudy(1, base=usual(), metric="bleu", positive=2, shift=1.5, n_flips=3)
    assert len(refused.value.problems) == 5
    with pytest.raises(InputError, match="add up to 1"):
        PairedTables(np.full((2, 2, 2), 0.2), ("0", "1"))


def test_more_flips_than_none_change_only_the_p_values():
    study = ContingencyStudy(400, base=usual())
    exact, drawn = study.draw(64, seed=3), replace(study, n_flips=999).draw(64, seed=3)
    np.testing.assert_array_equal(exact.estimate, drawn.estimate)
    # 4.5 standard errors of a share of 999
    assert np.abs(exact.p_value - drawn.p_value).max() < 4.5 * 0.5 / np.sqrt(999) + 0.001


def test_systems_that_never_differ_are_never_significant():
    never = np.zeros((2, 2, 2))
    never[0, 0, 0], never[1, 1, 1], never[1, 0, 0] = 0.7, 0.2, 0.1
    study = ContingencyStudy(50, base=PairedTables(never, ("0", "1")))
    assert study.reach == (0.0, 0.0)
    assert study.computed().rejection_rate == 0
    assert (study.draw(20, seed=1).p_value == 1).all()


def test_equal_values_of_systems_that_are_not_exchangeable_are_a_null_of_their_own():
    # Recall .40 and .65 at the same F1: the test of exchangeability need not keep its level, and the
    # formula, whose two standard deviations differ, says by how much.
    table = np.array([[[0.7575, 0.0975], [0.01, 0.03]], [[0.03, 0.03], [0.005, 0.035]]])
    study = ContingencyStudy(5000, base=PairedTables(table / table.sum(), ("0", "1")))
    assert study.true_effect == pytest.approx(0, abs=1e-12)
    assert study.standard_error > study.null_sd
    rate = np.mean(study.draw(8192, seed=2).p_value <= 0.05)
    # 4 standard errors of a share of 8,192
    assert rate == pytest.approx(study.computed().rejection_rate, abs=4 * np.sqrt(0.056 * 0.944 / 8192))
