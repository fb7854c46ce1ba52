"""Intervals of the parameters, the bootstrap and the calibrated test, the analysis of differences."""

import math

import numpy as np
import pytest
from scipy import stats
from seven import seven

from humeval_power.designs import crossed, k_per_item
from humeval_power.errors import InputError
from humeval_power.estimation.fitting import fit
from humeval_power.rules import DecisionRule
from humeval_power.simulation.study import simulate
from humeval_power.studies.fit.intervals import parameter_intervals
from humeval_power.studies.fit.wald import NullStatistics, difference_test, effect_test, simulated_p
from humeval_power.studies.power.replication import simulated_test

TRUTH = seven(0.5, 0.1, 0.1, 0.08, 0.1, 0.1, 0.15)
ROWS = k_per_item(10, 40, ratings_per_item=4)


@pytest.fixture(scope="module")
def study():
    return simulate(TRUTH, ROWS, seed=3)


@pytest.fixture(scope="module")
def fitted(study):
    return fit(study)


def test_a_profile_interval_ends_where_the_criterion_has_risen_by_the_chi_square():
    study = simulate(TRUTH, crossed(6, 20), seed=3)
    fitted = fit(study)
    low, high = parameter_intervals(fitted, study, method="profile")["sd_residual"]
    # far from the boundary the residual's profile is that of a chi-square with n - (m + n ...) df
    df = fitted.uncertainty.residual_df
    exact = fitted.parameters.sd_residual * np.sqrt(df / stats.chi2.ppf([0.975, 0.025], df))
    assert (low, high) == pytest.approx(tuple(exact), rel=0.02)


def test_profile_intervals_hold_the_estimate_and_reach_zero_where_zero_is_possible():
    tiny = simulate(seven(0.5, 0.1, 0.1, 0.0, 0.1, 0.1, 0.2), crossed(4, 10), seed=8)
    fitted = fit(tiny)
    ranges = parameter_intervals(fitted, tiny, method="profile")
    low, high = ranges["sd_worker_slope"]
    assert low == 0.0
    assert high > fitted.parameters.sd_worker_slope
    low, high = ranges["sd_item_intercept"]
    assert low <= fitted.parameters.sd_item_intercept <= high


@pytest.mark.slow
def test_bootstrap_intervals_agree_with_profile_ones_where_theory_holds(study):
    fitted = fit(study)
    profile = parameter_intervals(fitted, study, method="profile")
    bootstrap = parameter_intervals(fitted, study, method="bootstrap", n_simulations=600)
    for name in ("sd_item_intercept", "sd_residual"):
        assert bootstrap[name] == pytest.approx(profile[name], rel=0.1)


def test_asymptotic_intervals_say_nothing_near_the_boundary():
    flat = seven(0.5, 0.1, 0.1, 0.0, 0.1, 0.1, 0.2)
    studies = (simulate(flat, crossed(4, 10), seed=seed) for seed in range(50))
    tiny = next(one for one in studies if "sd_worker_slope" in fit(one).boundary)
    fitted = fit(tiny)
    low, _ = parameter_intervals(fitted, tiny)["sd_worker_slope"]
    assert math.isnan(low)


def test_intervals_of_what_is_not_identified_are_refused():
    one_each = simulate(TRUTH, k_per_item(8, 30, ratings_per_item=1), seed=1)
    with pytest.raises(InputError, match="does not identify"):
        parameter_intervals(fit(one_each), one_each, method="profile")


def test_simulated_p_is_never_zero_and_counts_ties():
    null = NullStatistics.of(np.array([-3.0, -1.0, 0.5, 2.0, np.nan]))
    one = np.array([1.0])
    assert simulated_p(np.array([2.0]), one, null, "two-sided")[0] == pytest.approx(3 / 5)
    assert simulated_p(np.array([9.0]), one, null, "two-sided")[0] == pytest.approx(1 / 5)
    assert simulated_p(np.array([0.5]), one, null, "greater")[0] == pytest.approx(3 / 5)


@pytest.mark.slow
def test_the_bootstrap_agrees_with_kenward_roger_in_a_comfortable_study(study):
    fitted = fit(study)
    wald = effect_test(fitted)
    for kind, assumed in (("bootstrap", None), ("calibrated", TRUTH)):
        rule = DecisionRule(df=kind)
        found = simulated_test(fitted, ROWS, rule, assumed=assumed, n_simulations=2000, seed=1)
        # binomial band of the simulated p, and a little for the two ways
        assert found.p_value == pytest.approx(wald.p_value, abs=0.02)
        assert found.interval == pytest.approx(wald.interval, abs=0.02)


def test_the_calibrated_rule_needs_its_assumption_and_a_simulated_one_needs_studies(fitted):
    with pytest.raises(InputError, match="assumed=FILE"):
        simulated_test(fitted, ROWS, DecisionRule(df="calibrated"), n_simulations=10, seed=1)
    with pytest.raises(InputError, match="needs simulated studies"):
        effect_test(fitted, DecisionRule(df="bootstrap"))


def test_differences_of_a_complete_table_have_the_one_sample_strata():
    ratings = simulate(TRUTH, crossed(6, 15), seed=2)
    found = difference_test(ratings, DecisionRule(analysis="differences"))
    d = (ratings.rating[ratings.system == 1] - ratings.rating[ratings.system == 0]).reshape(6, 15)
    assert found.estimate == pytest.approx(d.mean(), rel=1e-12)
    worker = 15 * d.mean(axis=1).var(ddof=1)
    item = 6 * d.mean(axis=0).var(ddof=1)
    left = d - d.mean(axis=1, keepdims=True) - d.mean(axis=0, keepdims=True) + d.mean()
    residual = (left**2).sum() / (5 * 14)
    assert min(worker, item) > residual  # nothing is pooled, so the variance is the classical one
    assert found.standard_error == pytest.approx(math.sqrt((worker + item - residual) / 90), rel=1e-7)
    df = (worker + item - residual) ** 2 / (worker**2 / 5 + item**2 / 14 + residual**2 / 70)
    assert found.df == pytest.approx(df, rel=1e-5)
