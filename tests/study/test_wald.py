"""Wald tests: p-values, intervals and decisions follow from a fit and a rule."""

import math
from dataclasses import replace

import numpy as np
import pytest
from cases import each_case
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from seven import seven

from humeval_power.estimation.fit import Fit
from humeval_power.rules import CARD2020, DecisionRule
from humeval_power.studies.fit.wald import (
    NullStatistics,
    critical_value,
    effect_test,
    reference,
    simulated_p,
    wald_p,
)

FITTED = Fit(
    parameters=seven(0.6, 0.12, 0.05, 0.1, 0.05, 0.1, 0.2),
    estimator="reml",
    engine="native",
    criterion=-10.0,
    standard_error=0.05,
    standard_error_adjusted=0.055,
    df_satterthwaite=30.0,
    df_kenward_roger=6.5,
    n_ratings=200,
    n_workers=5,
    n_items=20,
    converged=True,
)
DF = st.one_of(st.floats(1.0, 500), st.just(math.inf))


@given(st.floats(-8, 8), st.floats(0.01, 10), DF)
def test_p_values_are_those_of_scipy(t, error, df):
    law = stats.norm if math.isinf(df) else stats.t(df)
    estimate, errors, dfs = np.array([t * error]), np.array([error]), np.array([df])
    two_sided = wald_p(estimate, errors, dfs, "two-sided")[0]
    greater = wald_p(estimate, errors, dfs, "greater")[0]
    # |t| up to 8: relative accuracy in the tail, not only near 1
    assert two_sided == pytest.approx(2 * law.sf(abs(estimate[0] / error)), rel=1e-9)
    assert greater == pytest.approx(law.sf(estimate[0] / error), rel=1e-9)


def test_arrays_may_mix_finite_and_infinite_df():
    p = wald_p(np.array([2.0, 2.0, -2.0]), np.ones(3), np.array([5.0, np.inf, np.inf]), "two-sided")
    np.testing.assert_allclose(p, [2 * stats.t.sf(2, 5), 2 * stats.norm.sf(2), 2 * stats.norm.sf(2)])


def test_without_a_standard_error_there_is_no_p_value():
    p = wald_p(np.array([0.1, 0.0]), np.array([np.nan, 0.0]), np.array([5.0, 5.0]), "two-sided")
    assert np.isnan(p).all()


@given(DF, st.floats(1e-6, 0.4999))
def test_critical_values_are_quantiles(df, tail):
    law = stats.norm if math.isinf(df) else stats.t(df)
    assert critical_value(df, tail) == pytest.approx(law.isf(tail), rel=1e-8)


@each_case(
    ("word", "error", "df"),
    [
        ("kenward-roger", 0.055, 6.5),
        ("satterthwaite", 0.05, 30.0),
        ("normal", 0.05, math.inf),
        ("min", 0.05, 4.0),
    ],
)
@each_case("alternative", ["two-sided", "greater"])
def test_each_rule_uses_its_own_error_and_df(word, error, df, alternative):
    result = effect_test(FITTED, DecisionRule(df=word, alternative=alternative, alpha=0.04))
    law = stats.norm if math.isinf(df) else stats.t(df)
    sides = 2 if alternative == "two-sided" else 1
    assert (result.standard_error, result.df) == (error, df)
    assert result.p_value == pytest.approx(sides * law.sf(0.12 / error), rel=1e-10)
    reach = law.isf(0.04 / sides) * error
    assert result.interval == pytest.approx((0.12 - reach, 0.12 + reach), rel=1e-9)
    assert result.estimate == 0.12


@given(st.floats(-0.5, 0.5), st.floats(0.001, 0.5), st.sampled_from(["two-sided", "greater"]))
def test_the_interval_agrees_with_the_decision(effect, alpha, alternative):
    fitted = replace(FITTED, parameters=replace(FITTED.parameters, effect=effect))
    result = effect_test(fitted, DecisionRule(alternative=alternative, alpha=alpha))
    low, high = result.interval
    if min(abs(low), abs(high)) < 1e-12:
        return
    outside = low > 0 or (high < 0 and alternative == "two-sided")
    assert result.significant == outside == (result.p_value <= alpha)


def test_the_effect_is_the_difference_in_any_coding():
    recoded = replace(FITTED, parameters=FITTED.parameters.recoded((-1.0, 1.0)))
    assert effect_test(recoded).estimate == pytest.approx(0.12, rel=1e-12)


def test_the_estimator_of_rule_and_fit_must_agree():
    with pytest.raises(ValueError, match="fit is by reml, the rule asks for ml"):
        effect_test(FITTED, CARD2020)


def test_one_sided_1_96_is_the_published_rule():
    fitted = replace(FITTED, estimator="ml")
    for t, decision in ((1.95, False), (1.97, True), (-3.0, False)):
        moved = replace(fitted, parameters=replace(FITTED.parameters, effect=0.05 * t))
        assert effect_test(moved, CARD2020).significant is decision


def test_a_rule_returns_arrays_of_the_shape_given():
    arrays = {name: np.arange(1.0, 4.0) + i for i, name in enumerate(("standard_error", "adjusted"))}
    arrays |= {"satterthwaite": np.full(3, 9.0), "kenward_roger": np.full(3, 4.0)}
    error, df = reference(DecisionRule(df="min"), **arrays, smallest=2)
    np.testing.assert_array_equal(error, arrays["standard_error"])
    np.testing.assert_array_equal(df, [2.0, 2.0, 2.0])
    error, df = reference(DecisionRule(), **arrays, smallest=2)
    np.testing.assert_array_equal(error, arrays["adjusted"])
    np.testing.assert_array_equal(df, arrays["kenward_roger"])


@given(
    st.lists(st.integers(-5, 5).map(float) | st.just(math.nan), min_size=1, max_size=30),
    st.integers(-5, 5).map(float),
    st.sampled_from(["two-sided", "greater"]),
)
def test_simulated_p_values_count_what_is_at_least_as_extreme(null, t, alternative):
    # (1 + b) / (1 + B), Davison and Hinkley (1997); failed studies are left out.
    kept = [value for value in null if not math.isnan(value)]
    extreme = sum(abs(value) >= abs(t) if alternative == "two-sided" else value >= t for value in kept)
    p = simulated_p(np.array([t]), np.array([1.0]), NullStatistics.of(np.array(null)), alternative)
    assert p[0] == pytest.approx((1 + extreme) / (1 + len(kept)))


def test_a_study_without_t_has_no_simulated_p_value():
    null = NullStatistics.of(np.array([0.5, -1.0, 2.0]))
    p = simulated_p(np.array([1.0, np.nan]), np.array([0.0, 1.0]), null, "two-sided")
    assert np.isnan(p).all()
