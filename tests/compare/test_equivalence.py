"""Equivalence and non-inferiority: the rule, the test, its power, its size and the smallest margin."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import each_case, few_fast
from hypothesis import given
from hypothesis import strategies as st
from places import TESTS
from scipy import special, stats
from seven import seven

from humeval_power.designs import crossed, k_per_item
from humeval_power.errors import InputError
from humeval_power.estimation.fitting import fit
from humeval_power.inference.student_t import equivalence_power
from humeval_power.ratings import ratings_from_table
from humeval_power.rules import DecisionRule, claim
from humeval_power.scales import RatingScale
from humeval_power.studies.fit.wald import difference_test, effect_test, finished_test, wald_p
from humeval_power.studies.power.analytic import ceiling_with_items, simulated_margin, smallest_margin
from humeval_power.studies.power.calibration import calibrate, size_of_test
from humeval_power.studies.power.estimate import estimate_power
from humeval_power.studies.power.formula import EffectPrecision, analytic_power, effect_precision, power_at
from humeval_power.studies.power.replication import simulated_test
from humeval_power.studies.power.required import powers, regular_precision, required_size
from humeval_power.studies.power.scenario import RatingStudy
from tests.reference.golden import shared_golden

PILOT = TESTS.parent / "data" / "pilot.csv"
TRUTH = seven(0.55, 0.0, 0.08, 0.05, 0.12, 0.1, 0.18)
EQUIVALENT = DecisionRule(alternative="equivalent", margin=0.1)
NON_INFERIOR = DecisionRule(alternative="non-inferior", margin=0.1)


def t_quantile(df: float, alpha: float = 0.05) -> float:
    return float(-special.ndtri(alpha) if df >= 1e9 else -special.stdtrit(df, alpha))


def precision(error: float, df: float) -> EffectPrecision:
    return EffectPrecision(error**2, df, 4, 10)


# The rule


@each_case("alternative", ["non-inferior", "equivalent"])
@each_case("margin", [None, 0.0, -0.1, 1.1, math.nan])
def test_a_margin_that_is_missing_or_impossible_is_refused(alternative: str, margin: float | None) -> None:
    with pytest.raises(InputError, match="needs a margin"):
        DecisionRule(alternative=alternative, margin=margin)


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_a_margin_beside_a_test_for_a_difference_is_refused(alternative: str) -> None:
    with pytest.raises(InputError, match="A margin belongs to the alternatives"):
        DecisionRule(alternative=alternative, margin=0.1)


def test_an_interval_without_confidence_is_refused() -> None:
    with pytest.raises(InputError, match=r"alpha must lie below 0\.5"):
        DecisionRule(alternative="equivalent", margin=0.1, alpha=0.5)


def test_the_rule_says_margin_and_level_of_each_side() -> None:
    assert str(EQUIVALENT).endswith("equivalent within 0.1, alpha 0.05 on each side")
    assert str(NON_INFERIOR).endswith("non-inferior within 0.1, alpha 0.05 one-sided")
    assert claim(EQUIVALENT) == "equivalence within 0.1"
    assert (EQUIVALENT.halfway, NON_INFERIOR.halfway, DecisionRule().halfway) == (0.05, -0.05, None)
    assert EQUIVALENT.confidence == pytest.approx(0.9)
    assert EQUIVALENT.null_effect == NON_INFERIOR.null_effect == -0.1


# The test


ORACLE = json.loads((TESTS / "golden" / "tost.json").read_text())


@pytest.fixture(scope="module")
def pilot():
    return ratings_from_table(
        pd.read_csv(PILOT),
        scale=RatingScale(1, 5, points=5),
        systems=("baseline", "new"),
        source="pilot.csv",
    )


@pytest.fixture(scope="module")
def pilot_fit(pilot):
    return fit(pilot)


@each_case("case", ORACLE["cases"], ids=lambda c: f"{c['df_name']}-{c['margin']}-{c['alpha']}")
def test_two_one_sided_tests_are_those_of_r(case: dict, pilot_fit) -> None:
    rule = DecisionRule(
        df=case["df_name"], alternative="equivalent", margin=case["margin"], alpha=case["alpha"]
    )
    tested = effect_test(pilot_fit, rule)
    # 1e-4: lme4's optimiser stops that far from the optimum's df (see the oracle of fits).
    assert tested.p_values == pytest.approx((case["p_above_lower"], case["p_below_upper"]), rel=1e-4)
    assert tested.p_value == max(tested.p_values)
    assert tested.interval == pytest.approx(case["interval"], abs=1e-5)
    non_inferior = effect_test(pilot_fit, replace(rule, alternative="non-inferior"))
    assert non_inferior.p_value == tested.p_values[0]
    assert non_inferior.interval == tested.interval


@given(
    st.floats(-0.3, 0.3),
    st.floats(0.001, 0.2),
    st.floats(0.5, 500),
    st.floats(0.01, 0.3),
    st.floats(0.001, 0.2),
)
def test_equivalence_is_two_one_sided_tests_and_an_interval_inside_the_margins(
    estimate: float, error: float, df: float, margin: float, alpha: float
) -> None:
    rule = DecisionRule(alternative="equivalent", margin=margin, alpha=alpha)
    tested = finished_test(estimate, error, df, rule)
    above = stats.t.sf((estimate + margin) / error, df)
    below = stats.t.cdf((estimate - margin) / error, df)
    assert tested.p_values == pytest.approx((above, below), rel=1e-7, abs=1e-12)
    assert tested.p_value == max(tested.p_values)
    low, high = tested.interval
    distance = min(low + margin, margin - high)
    if abs(distance) > 1e-9 * max(1.0, error * t_quantile(df, alpha)):  # not on the edge itself
        assert tested.significant == (distance > 0)
        one = finished_test(estimate, error, df, replace(rule, alternative="non-inferior"))
        assert one.significant == (low > -margin)


def test_a_large_p_value_is_no_equivalence_and_a_difference_can_be_inside_the_margin() -> None:
    vague = finished_test(0.0, 0.2, 5.0, EQUIVALENT)
    assert finished_test(0.0, 0.2, 5.0, DecisionRule()).p_value == 1.0
    assert not vague.significant
    sharp = finished_test(0.03, 0.005, 50.0, EQUIVALENT)
    assert sharp.significant
    assert finished_test(0.03, 0.005, 50.0, DecisionRule()).significant


def test_the_differences_alone_are_tested_with_the_same_margin(pilot) -> None:
    rule = replace(EQUIVALENT, analysis="differences", margin=0.2)
    tested = difference_test(pilot, rule)
    plain = difference_test(pilot, replace(rule, alternative="two-sided", margin=None))
    t = (0.2 - abs(plain.estimate)) / plain.standard_error
    assert tested.p_value == pytest.approx(stats.t.sf(t, plain.df), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("alternative", ["equivalent", "non-inferior"])
def test_the_bootstrap_compares_with_studies_at_the_margin(alternative: str, pilot, pilot_fit) -> None:
    rule = DecisionRule(df="bootstrap", alternative=alternative, margin=0.15)
    tested = simulated_test(pilot_fit, pilot.design(), rule, n_simulations=4000, seed=3)
    kenward_roger = effect_test(pilot_fit, replace(rule, df="kenward-roger"))
    # With 9 or more workers both are close to exact: 4 standard errors of a share of 4,000, and 0.005.
    for simulated, wald in zip(tested.p_values, kenward_roger.p_values, strict=True):
        assert simulated == pytest.approx(wald, abs=4 * math.sqrt(wald / 4000) + 0.005)
    assert tested.p_value == max(tested.p_values)
    low, high = tested.interval
    inside = low > -0.15 and (alternative == "non-inferior" or high < 0.15)
    assert tested.significant == inside


# Power by formula


def test_owens_integral_gives_the_published_grid(shared: Path) -> None:
    grid = shared_golden(shared, "08_tost_ni")["grid"]
    assert len(grid) == 45
    for row in grid:
        critical = t_quantile(row["df"])
        rule = DecisionRule(alternative="equivalent", margin=row["delta"])
        found = equivalence_power(
            row["Delta"], row["se"], row["df"], margin=row["delta"], critical=critical
        )
        assert float(found) == pytest.approx(row["power_tost"], abs=2e-8), row
        assert float(found) >= row["frechet_lower"] - 2e-8
        at = power_at(
            row["Delta"], precision(row["se"], row["df"]), rule=replace(rule, alternative="non-inferior")
        )
        assert at.power == pytest.approx(row["power_ni"], abs=1e-6), row


@pytest.mark.parametrize(
    ("effect", "margin", "error", "df", "power"),
    # R 4.2.2, integrate() over u = sqrt(q); Owen (1965), Phillips (1990)
    [
        (0.0, 0.1, 0.04, 5, 0.432689750),
        (0.02, 0.05, 0.02, 2, 0.226705105),
        (0.05, 0.1, 0.03, 50, 0.499175877),
    ],
)
def test_power_of_equivalence_is_that_of_r(
    effect: float, margin: float, error: float, df: float, power: float
) -> None:
    rule = DecisionRule(alternative="equivalent", margin=margin)
    found = power_at(effect, precision(error, df), rule=rule)
    assert found.power == found.rejection_rate == pytest.approx(power, abs=2e-8)
    assert math.isnan(found.type_m)
    assert math.isnan(found.type_s)


def brute_force(effect: float, margin: float, error: float, df: float, critical: float) -> float:
    """The joint density of the estimate and its estimated variance, summed where a study shows
    equivalence: the obvious twin of Owen's integral."""
    q = np.linspace(0, stats.chi2.ppf(1 - 1e-9, df), 4001)
    q = (q[1:] + q[:-1]) / 2
    z = np.linspace(-6, 6, 4001)
    z = (z[1:] + z[:-1]) / 2
    total = 0.0
    for value, density in zip(q, stats.chi2.pdf(q, df), strict=True):
        shown = np.abs(effect + error * z) + critical * error * math.sqrt(value / df) < margin
        total += density * stats.norm.pdf(z[shown]).sum()
    return total * (q[1] - q[0]) * (z[1] - z[0])


@few_fast(
    ("effect", "error", "df"),
    [(0.0, 0.04, 3), (0.03, 0.03, 4.6), (-0.05, 0.02, 9), (0.08, 0.05, 30)],
    fast=1,
)
def test_owens_integral_is_the_double_integral(effect: float, error: float, df: float) -> None:
    critical = t_quantile(df)
    found = equivalence_power(effect, error, df, margin=0.1, critical=critical)
    assert float(found) == pytest.approx(
        brute_force(effect, 0.1, error, df, critical), abs=5e-4
    )  # the grid's step


@pytest.mark.parametrize(
    ("effect", "error", "df"), [(0.0, 0.03, 0.45), (0.05, 0.02, 1.0), (0.02, 0.05, 2.5), (-0.09, 0.01, 12)]
)
def test_owens_integral_is_what_draws_show(effect: float, error: float, df: float) -> None:
    rng = np.random.default_rng(12)
    n = 1_000_000
    estimate = effect + error * rng.standard_normal(n)
    reach = t_quantile(df) * error * np.sqrt(rng.chisquare(df, n) / df)
    shown = float((np.abs(estimate) + reach < 0.1).mean())
    found = float(equivalence_power(effect, error, df, margin=0.1, critical=t_quantile(df)))
    assert shown == pytest.approx(found, abs=4 * math.sqrt(0.25 / n))


def test_power_is_even_in_the_effect_and_grows_with_the_margin() -> None:
    effects = np.linspace(-0.2, 0.2, 41)
    found = equivalence_power(effects, 0.03, 8.0, margin=0.1, critical=t_quantile(8.0))
    assert found == pytest.approx(found[::-1], abs=1e-12)
    assert np.all(np.diff(found[:21]) > 0)
    margins = [
        float(equivalence_power(0.02, 0.03, 8.0, margin=margin, critical=t_quantile(8.0)))
        for margin in (0.03, 0.05, 0.1, 0.2, 0.4)
    ]
    assert margins == sorted(margins)
    assert 0 <= margins[0] < 0.05
    assert margins[-1] == pytest.approx(1, abs=1e-6)


def test_power_at_the_margin_is_at_most_alpha() -> None:
    # A test of size alpha by construction (Berger 1982); nearly alpha where the other margin is far.
    for error in (0.005, 0.02, 0.05, 0.2):
        found = float(equivalence_power(0.1, error, 6.0, margin=0.1, critical=t_quantile(6.0)))
        assert found <= 0.05 + 1e-9
    near = float(equivalence_power(0.1, 0.005, 6.0, margin=0.1, critical=t_quantile(6.0)))
    assert near == pytest.approx(0.05, abs=1e-6)


@each_case("alternative", ["equivalent", "non-inferior"])
@each_case("df", ["kenward-roger", "normal", "min"])
def test_many_designs_at_once_have_the_power_of_each(alternative: str, df: str) -> None:
    rule = DecisionRule(df=df, alternative=alternative, margin=0.08)
    m, n, k = np.array([4, 6, 10, 20]), np.array([30, 60, 40, 100]), np.array([4, 2, 1, 3])
    at_once = regular_precision(TRUTH, workers=m, items=n, ratings_per_item=k)
    found = powers(0.02, at_once, smallest=np.minimum(m, n) - 1.0, rule=rule)
    for place in range(4):
        one = EffectPrecision(
            float(at_once.variance[place]),
            float(at_once.df[place]),
            int(min(m[place], n[place]) - 1),
            int(m[place]),
        )
        assert found[place] == pytest.approx(power_at(0.02, one, rule=rule).power, abs=1e-12)


# Power by simulation


STUDIES = [
    (crossed(5, 30), "kenward-roger", "equivalent", 0.0),
    (crossed(10, 40), "kenward-roger", "equivalent", 0.03),
    (crossed(10, 40), "satterthwaite", "non-inferior", -0.03),
    (crossed(20, 25), "min", "equivalent", -0.02),
    (crossed(12, 60), "normal", "non-inferior", 0.0),
    (crossed(8, 100), "kenward-roger", "equivalent", 0.05),
    (k_per_item(12, 48, ratings_per_item=3), "kenward-roger", "equivalent", 0.0),
    (k_per_item(16, 64, ratings_per_item=4), "kenward-roger", "non-inferior", -0.05),
]


@pytest.mark.slow
@pytest.mark.parametrize(("design", "df", "alternative", "effect"), STUDIES)
def test_simulated_power_is_that_of_the_formula(design, df: str, alternative: str, effect: float) -> None:
    rule = DecisionRule(df=df, alternative=alternative, margin=0.1)
    study = RatingStudy(TRUTH.with_difference(effect), design, rule=rule)
    simulated = estimate_power(study, n_simulations=2000, seed=8)
    found = analytic_power(study.parameters, design, rule=rule).power
    # 3.5 standard errors of a share of 2,000, and 0.015 for the t law with 5 to 20 workers.
    assert simulated.power == pytest.approx(found, abs=3.5 * math.sqrt(0.25 / 2000) + 0.015)
    assert simulated.power == simulated.rejection_rate
    assert math.isnan(simulated.type_m)
    assert math.isnan(simulated.type_s)


def test_non_inferiority_is_superiority_of_a_system_that_is_better_by_the_margin() -> None:
    design = k_per_item(10, 40, ratings_per_item=2)
    greater = RatingStudy(TRUTH.with_difference(0.05), design, rule=DecisionRule(alternative="greater"))
    shifted = RatingStudy(TRUTH.with_difference(-0.05), design, rule=NON_INFERIOR)
    expected, found = greater.draw(400, seed=8), shifted.draw(400, seed=8)
    assert found.p_value == pytest.approx(expected.p_value, abs=1e-9)


def test_studies_moved_to_another_effect_are_those_simulated_there() -> None:
    study = RatingStudy(TRUTH, crossed(6, 20), rule=EQUIVALENT)
    moved = study.shifted(study.draw(300, seed=2), 0.04)
    drawn = study.with_effect(0.04).draw(300, seed=2)
    assert moved.p_value == pytest.approx(drawn.p_value, abs=1e-10)
    assert not moved.directed


@pytest.mark.parametrize("alternative", ["equivalent", "non-inferior"])
def test_the_size_at_the_margin_is_about_alpha(alternative: str) -> None:
    rule = DecisionRule(alternative=alternative, margin=0.2)
    size = size_of_test(TRUTH, crossed(10, 40), rule=rule, n_simulations=8000, seed=5)
    assert size.true_effect == -0.2
    # 8,000 studies at a true 5 %: inside this band with probability 0.998.
    low, high = stats.binom.interval(0.998, 8000, 0.05)
    assert low <= size.rejection_rate * 8000 <= high


def test_the_calibrated_rule_has_its_size_where_the_t_law_does_not() -> None:
    rule = DecisionRule(df="calibrated", alternative="equivalent", margin=0.6)
    size = size_of_test(TRUTH, crossed(3, 20), rule=rule, n_simulations=8000, seed=5)
    # The null has 10,000 studies of its own: both errors, at 3.3 standard errors.
    assert size.rejection_rate == pytest.approx(0.05, abs=3.3 * math.sqrt(0.05 * 0.95 * (1 / 8000 + 1e-4)))


def test_calibrate_judges_tests_with_the_margin_alone() -> None:
    rule = DecisionRule(alternative="equivalent", margin=0.25)
    results = calibrate(TRUTH, crossed(8, 20), rule=rule, n_simulations=12_000, seed=4)
    names = [result.test for result in results]
    assert names == ["kenward-roger", "satterthwaite", "min", "differences", "wald-z", "card2020"]
    own = next(result for result in results if result.is_rule)
    assert own.test == "kenward-roger"
    assert own.verdict == "calibrated"
    assert own.estimate.true_effect == -0.25
    assert own.judged[0] == own.estimate.power
    bold = next(result for result in results if result.test == "card2020")
    assert bold.judged[0] > own.judged[0]


# The smallest margin, and the size needed


@pytest.mark.parametrize(
    ("n_workers", "margin"),
    # smallest margins with power 0.8 at no difference: sd_worker_slope 0.11, endless items
    [(3, 0.293), (5, 0.176), (10, 0.111), (20, 0.0747)],
)
def test_endless_items_leave_a_smallest_margin(n_workers: int, margin: float) -> None:
    parameters = replace(TRUTH, sd_worker_slope=0.11)
    ceiling = ceiling_with_items(parameters, n_workers=n_workers, rule=EQUIVALENT)
    assert ceiling.detectable_effect == pytest.approx(margin, rel=0.005)  # three digits
    one = EffectPrecision(0.11**2 / n_workers, n_workers - 1.0, n_workers - 1, n_workers)
    reached = power_at(0.0, one, rule=replace(EQUIVALENT, margin=ceiling.detectable_effect)).power
    assert reached == pytest.approx(0.8, abs=1e-9)


@each_case("alternative", ["equivalent", "non-inferior"])
@each_case("effect", [0.0, -0.03, 0.02])
def test_the_smallest_margin_has_the_target_power(alternative: str, effect: float) -> None:
    rule = DecisionRule(alternative=alternative, margin=1.0)
    found = effect_precision(TRUTH, crossed(10, 40))
    margin = smallest_margin(found, effect=effect, power=0.9, rule=rule)
    assert power_at(effect, found, rule=replace(rule, margin=margin)).power == pytest.approx(0.9, abs=1e-8)


@pytest.mark.parametrize("alternative", ["equivalent", "non-inferior"])
@pytest.mark.parametrize("effect", [0.0, -0.03])
def test_the_simulated_margin_contains_that_of_the_formula(alternative: str, effect: float) -> None:
    rule = DecisionRule(alternative=alternative, margin=1.0)
    study = RatingStudy(TRUTH.with_difference(effect), crossed(10, 40), rule=rule)
    found = simulated_margin(study, n_simulations=4000, seed=6)
    formula = smallest_margin(effect_precision(TRUTH, study.design), effect=effect, rule=rule)
    low, high = found.interval
    assert low - 0.002 <= formula <= high + 0.002  # the t law with 10 workers
    reached = estimate_power(
        replace(study, rule=replace(rule, margin=found.effect)), n_simulations=4000, seed=6
    )
    assert reached.power == pytest.approx(0.8, abs=1 / 4000)


def test_a_required_size_reaches_the_target_and_one_less_does_not() -> None:
    answer = required_size(TRUTH, "workers", items=40, rule=EQUIVALENT, n_simulations=500, seed=2)
    assert answer.counts is not None
    m = answer.counts.n_workers
    assert analytic_power(TRUTH, crossed(m, 40), rule=EQUIVALENT).power >= 0.8
    assert analytic_power(TRUTH, crossed(m - 1, 40), rule=EQUIVALENT).power < 0.8


@pytest.mark.parametrize(("rule", "effect"), [(EQUIVALENT, 0.1), (EQUIVALENT, -0.2), (NON_INFERIOR, -0.1)])
def test_a_true_difference_beyond_the_margin_needs_no_study(rule: DecisionRule, effect: float) -> None:
    with pytest.raises(InputError, match="Where the true difference is"):
        required_size(TRUTH.with_difference(effect), "workers", items=40, rule=rule)


def test_a_large_true_advantage_is_non_inferior_and_may_be_planned_for() -> None:
    answer = required_size(
        TRUTH.with_difference(0.2), "workers", items=40, rule=NON_INFERIOR, n_simulations=300
    )
    assert answer.counts is not None


def test_without_variance_between_workers_the_difference_becomes_known() -> None:
    parameters = replace(TRUTH, sd_worker_slope=0.0)
    inside = ceiling_with_items(parameters.with_difference(0.05), n_workers=4, rule=EQUIVALENT)
    outside = ceiling_with_items(parameters.with_difference(-0.15), n_workers=4, rule=NON_INFERIOR)
    assert (inside.power, inside.detectable_effect) == (1.0, 0.05)
    assert (outside.power, outside.detectable_effect) == (0.0, 0.15)


def test_vectorised_p_values_keep_failures_apart() -> None:
    p_value = wald_p(
        np.array([0.0, np.nan, 0.02]),
        np.array([0.02, 0.02, 0.02]),
        np.array([10.0, 10.0, np.inf]),
        "equivalent",
        margin=0.1,
    )
    assert p_value[0] == pytest.approx(stats.t.sf(5, 10))
    assert np.isnan(p_value[1])
    assert p_value[2] == pytest.approx(stats.norm.sf(4))
