"""Studies with looks: the short cut against refitted ratings, stored error rates, information, calibration."""

from dataclasses import replace

import numpy as np
import pytest
from cases import each_case, few_fast
from reference.golden import shared_golden
from scipy import stats
from seven import seven

from humeval_power.costs import CostModel
from humeval_power.designs import Design, crossed, from_table, k_per_item
from humeval_power.errors import InputError
from humeval_power.latent import Latent
from humeval_power.parameters import Parameters, preset
from humeval_power.rules import DecisionRule
from humeval_power.studies.looks.boundaries import boundaries, success
from humeval_power.studies.looks.calibration import calibrate, level_factor, level_ratios
from humeval_power.studies.looks.how_many import (
    compare_growth,
    compare_numbers_of_looks,
    new_workers_advice,
)
from humeval_power.studies.looks.judgement_plan import operating_characteristics
from humeval_power.studies.looks.rating_looks import plan_looks
from humeval_power.studies.looks.replicates import (
    Looks,
    RatingLooks,
    SequentialStudy,
    equal_looks,
    nested_designs,
    stagewise_p,
    stop,
)
from humeval_power.studies.looks.stagewise import LookEstimate, median_unbiased, stagewise_inference
from humeval_power.studies.looks.stopping_rule import (
    ConditionalPowerFutility,
    PValueFutility,
    StoppingRule,
    efficacy_of,
)
from humeval_power.studies.power.formula import effect_precision
from humeval_power.studies.power.scenario import RatingStudy

DIFFERENCES = DecisionRule(analysis="differences")
POCOCK = StoppingRule(efficacy_of("pocock"))
SPENDING = StoppingRule(efficacy_of("lan-demets-pocock"))
ARRAYS = ("estimate", "standard_error", "df", "p_value", "independent_p", "status")
POCOCK_LEVEL = 0.0220515911839381


def half_coded(name: str) -> Parameters:
    """A published setting whose SDs are read as those of differences."""
    values = preset(name)
    return replace(values, coding=(-0.5, 0.5))


STORED_SETTINGS = {
    "high_h1": preset("high"),
    "low_h1": preset("low"),
    "high_h05": half_coded("high"),
    "no_worker_slope": replace(preset("high"), sd_worker_slope=0.0),
    # Their SDs are not stored; these are the ratios to the residual that their information shares imply.
    "uber_like": seven(0.6, 0.0, 0.0, 0.025, 0.0, 0.24, 0.165),
}


def stored_study(row: dict) -> RatingLooks:
    kind = {"items_added": "items", "workers_added": "workers", "blocks": "blocks"}[row["scenario"]]
    counts = row["n"] if kind == "items" else row["m"]
    looks = Looks(kind, tuple(count / counts[-1] for count in counts))
    design = crossed(row["m"][-1], row["n"][-1])
    return RatingLooks(STORED_SETTINGS[row["params"]], design, looks, DIFFERENCES)


# Nested designs


@pytest.mark.parametrize("kind", ["items", "workers", "ratings"])
def test_every_look_has_the_rows_of_the_look_before_it(kind) -> None:
    design = k_per_item(6, 30, ratings_per_item=3)
    nested = nested_designs(design, Looks(kind, (0.4, 0.7, 1.0)))
    for before, after in zip(nested.rows, nested.rows[1:], strict=False):
        assert np.isin(before, after).all()
    assert len(nested.rows[-1]) == design.n_ratings
    assert [one.n_ratings for one in nested.designs] == [len(rows) for rows in nested.rows]


def test_looks_by_items_and_workers_of_a_complete_study_are_complete() -> None:
    by_items = nested_designs(crossed(4, 30), equal_looks("items", 3)).designs
    assert [(one.kind, one.n_workers, one.n_items) for one in by_items] == [
        ("crossed", 4, 10),
        ("crossed", 4, 20),
        ("crossed", 4, 30),
    ]
    by_workers = nested_designs(crossed(9, 30), equal_looks("workers", 3)).designs
    assert [one.n_workers for one in by_workers] == [3, 6, 9]
    assert all(one.is_crossed for one in by_workers)


def test_looks_by_ratings_keep_loads_and_ratings_per_item_even() -> None:
    nested = nested_designs(crossed(6, 30), equal_looks("ratings", 3))
    for share, design in zip((1 / 3, 2 / 3, 1.0), nested.designs, strict=True):
        assert design.n_items == 30
        assert design.n_ratings == pytest.approx(360 * share, abs=2)
        loads = design.worker_loads
        assert loads.max() - loads.min() <= 2  # one pair, under both systems
        per_item = np.bincount(design.assignment.item)
        assert per_item.max() - per_item.min() <= 2


def test_blocks_share_neither_workers_nor_items() -> None:
    nested = nested_designs(crossed(6, 30), equal_looks("blocks", 3))
    assert nested.final.n_ratings == 3 * 2 * 2 * 10
    rows = nested.final.assignment
    assert np.array_equal(rows.worker // 2, rows.item // 10)


# Information


def test_information_of_nested_looks_is_that_of_the_covariance_of_gls_estimates() -> None:
    # The obvious way: dense GLS weights of each look, Cov(D_j, D_l) = w_j' V w_l on the final table.
    parameters = preset("high").recoded()
    design = k_per_item(5, 12, ratings_per_item=2, seed=3)
    nested = nested_designs(design, Looks("workers", (0.6, 1.0)))
    rows = nested.final.assignment
    x = rows.system - 0.5
    same_worker = rows.worker[:, None] == rows.worker
    same_item = rows.item[:, None] == rows.item
    v = (
        parameters.sd_residual**2 * np.eye(len(x))
        + same_worker * (parameters.sd_worker_intercept**2 + parameters.sd_worker_slope**2 * np.outer(x, x))
        + same_item * (parameters.sd_item_intercept**2 + parameters.sd_item_slope**2 * np.outer(x, x))
    )
    weights = []
    for there in nested.rows:
        design_matrix = np.stack([np.ones(len(there)), x[there]], axis=1)
        inverse = np.linalg.inv(v[np.ix_(there, there)])
        whole = np.zeros(len(x))
        whole[there] = np.linalg.solve(
            design_matrix.T @ inverse @ design_matrix, design_matrix.T @ inverse
        )[1]
        weights.append(whole)
    covariance = np.array([[a @ v @ b for b in weights] for a in weights])
    variances = [effect_precision(parameters, one).variance for one in nested.designs]
    assert np.diag(covariance) == pytest.approx(variances, rel=1e-9)
    assert covariance[0, 1] == pytest.approx(variances[1], rel=1e-9)  # independent increments


def test_an_unbalanced_second_look_has_the_stored_information(shared) -> None:
    stored = shared_golden(shared, "06b_sequential_lmm")["unbalanced_ols_vs_gls"]
    parameters = seven(0.5, 0.0, 0.0, stored["tw"], 0.0, stored["ti"], stored["sigma"])
    # look 1: 3 workers on items 1 to 20; look 2 adds 6 workers on items 21 to 40
    blocks = [(range(3), range(20)), (range(3, 9), range(20, 40))]
    rows = np.array(
        [(w, i, x) for workers, items in blocks for w in workers for i in items for x in (0, 1)]
    )
    nested = nested_designs(from_table(*rows.T), Looks("workers", (1 / 3, 1.0)))
    found = [effect_precision(parameters, one).variance for one in nested.designs]
    assert found == pytest.approx([stored["gls_var1"], stored["gls_var2"]], rel=1e-9)
    # Least squares has no independent increments here, generalised least squares does.
    assert stored["gls_cov12"] == pytest.approx(stored["gls_var2"], rel=1e-9)
    assert abs(stored["ols_cov12"] / stored["ols_var2"] - 1) > 0.1


def test_planned_information_is_that_of_the_stored_scenarios(shared) -> None:
    for row in shared_golden(shared, "06b_sequential_lmm")["rows"]:
        study = stored_study(row)
        variances = [effect_precision(study.parameters, one).variance for one in study.nested.designs]
        assert variances == pytest.approx(row["var"], rel=1e-9)


# The short cut against ratings that are refitted


@few_fast("kind", ["items", "workers"], fast=1)
@pytest.mark.parametrize("analysis", ["ratings", "differences"])
def test_mean_squares_of_a_growing_table_have_the_law_of_refitted_ratings(kind, analysis) -> None:
    parameters = seven(0.5, 0.0, 0.1, 0.2, 0.15, 0.25, 0.3, sd_worker_item=0.2)
    design = crossed(4, 9, n_repeats=2 if analysis == "ratings" else 1)
    study = RatingLooks(parameters, design, Looks(kind, (0.5, 0.75, 1.0)), DecisionRule(analysis=analysis))
    assert study.by_mean_squares
    n_fast, n_slow = 8_192, 1_000
    fast = study.draw_looks(n_fast, seed=1)
    responses = RatingStudy(parameters, design).replication.responses(n_slow, seed=5)
    slow = study.from_responses(responses)
    for name in ("estimate", "standard_error", "df", "p_value", "independent_p"):
        one, other = getattr(fast, name), getattr(slow, name)
        for look in range(3):
            # Kolmogorov-Smirnov at 1e-4: 60 comparisons in all.
            assert stats.ks_2samp(one[:, look], other[:, look]).pvalue > 1e-4, (name, look)
        # Between looks: 4.5 standard errors of a correlation.
        found, expected = np.corrcoef(one.T), np.corrcoef(other.T)
        assert found == pytest.approx(expected, abs=4.5 / np.sqrt(n_slow)), name


def test_a_single_look_is_the_plain_study() -> None:
    parameters = preset("high").with_difference(0.2)
    study = RatingLooks(parameters, crossed(5, 40), Looks("items", (1.0,)))
    plain = RatingStudy(parameters, crossed(5, 40)).draw(20_000, seed=3)
    looks = study.draw_looks(20_000, seed=4)
    assert stats.ks_2samp(plain.p_value, looks.p_value[:, 0]).pvalue > 1e-3


@pytest.mark.slow
def test_looks_at_given_ratings_are_the_fits_of_their_parts() -> None:
    study = RatingLooks(preset("low"), crossed(4, 12), equal_looks("ratings", 2))
    final = RatingStudy(preset("low"), crossed(4, 12))
    responses = final.replication.responses(3, seed=8)
    looks = study.from_responses(responses)
    whole = final.decide(final.replication.fit(responses))
    assert looks.p_value[:, 1] == pytest.approx(whole.p_value, rel=1e-9)
    first = RatingStudy(preset("low"), study.nested.designs[0])
    part = first.decide(first.replication.fit(responses[:, study.nested.rows[0]]))
    assert looks.p_value[:, 0] == pytest.approx(part.p_value, rel=1e-9)


@pytest.mark.parametrize("kind", ["items", "ratings"])
def test_replicates_belong_to_the_seed_and_not_to_the_portions(kind) -> None:
    study = RatingLooks(preset("low"), crossed(3, 9), equal_looks(kind, 3))
    whole = study.draw_looks(30, seed=5)
    for name in ARRAYS:
        np.testing.assert_array_equal(
            getattr(whole, name)[12:], getattr(study.draw_looks(18, seed=5, first=12, n_jobs=2), name)
        )


# Error rates


def band(share: float, n_found: int, n_stored: int, *, probability: float = 4.0) -> float:
    """Four standard errors of the difference of two simulated shares."""
    return probability * float(np.sqrt(max(share * (1 - share), 1e-4) * (1 / n_found + 1 / n_stored)))


@few_fast("number", range(14), fast=2)
def test_error_rates_are_those_stored_for_the_crossed_model(shared, number) -> None:
    rows = shared_golden(shared, "06b_sequential_lmm")["rows"]
    if number >= len(rows):
        pytest.skip(f"there are {len(rows)} stored scenarios")
    row = rows[number]
    study = stored_study(row)
    n = 20_480 if study.by_mean_squares else 256
    looks = study.draw_looks(n, seed=21)
    z = np.abs(looks.estimate / looks.standard_error)
    spending = 2 * stats.norm.sf(row["ldP_bounds"])
    found = {
        "fwer_wald_uncorrected_196": (z > 1.96).any(axis=1).mean(),
        "fwer_wald_pocock_z": (looks.normal_p <= POCOCK_LEVEL).any(axis=1).mean(),
        "fwer_KR_pocock_p0221": (looks.p_value <= POCOCK_LEVEL).any(axis=1).mean(),
        "fwer_KR_ldP_infotime": (looks.p_value <= spending).any(axis=1).mean(),
        "fwer_iid_pocock": (looks.independent_p <= POCOCK_LEVEL).any(axis=1).mean(),
        "fixed_final_KR": (looks.p_value[:, -1] <= 0.05).mean(),
    }
    for name, rate in found.items():
        assert rate == pytest.approx(row[name], abs=band(row[name], n, 20_000)), name
    assert np.corrcoef(looks.estimate.T)[0, 1] == pytest.approx(row["corr_theory"][0], abs=5 / np.sqrt(n))
    bounds = boundaries(SPENDING, row["info_fraction"])
    # The stored bounds are quantiles of simulated paths: at thirds they are .0033 from rpact's.
    assert bounds.efficacy == pytest.approx(row["ldP_bounds"], abs=0.006)


@pytest.mark.slow
def test_calibrated_levels_are_those_stored(shared) -> None:
    for row in shared_golden(shared, "06c_calibrated_boundaries")["rows"]:
        study = RatingLooks(
            STORED_SETTINGS[row["params"]], crossed(row["m"], 99), equal_looks("items", 3), DIFFERENCES
        )
        looks = study.draw_looks(20_480, seed=33)
        smallest = looks.p_value.min(axis=1)
        rates = {
            "fwer_pocock_p0221": (smallest <= POCOCK_LEVEL).mean(),
            "fwer_uncorrected_p05": (smallest <= 0.05).mean(),
            "fixed_final": (looks.p_value[:, -1] <= 0.05).mean(),
        }
        for name, rate in rates.items():
            assert rate == pytest.approx(row[name], abs=band(row[name], 20_480, 20_000)), (row, name)
        # A quantile's standard error is that of the share, over the density there.
        bounds = boundaries(POCOCK, (1 / 3, 2 / 3, 1.0))
        level = level_factor(level_ratios(looks, bounds), bounds.rule.alpha) * POCOCK_LEVEL
        density = 0.02 / (np.quantile(smallest, 0.06) - np.quantile(smallest, 0.04))
        allowed = band(0.05, 20_480, 20_000) / density
        assert level == pytest.approx(row["calibrated_p_star"], abs=allowed), row


@pytest.mark.slow
def test_naive_tools_fail_where_workers_are_few_and_the_plan_says_by_how_much() -> None:
    study = RatingLooks(preset("high"), crossed(3, 99), equal_looks("items", 3))
    plan = plan_looks(study, POCOCK, n_simulations=20_000, seed=2)
    errors = {each.procedure: each for each in plan.errors}
    assert plan.calibration is not None
    assert "calibrated" in plan.method
    # An independent simulation in another program (20,000 draws) gave .16 for z with Pocock's constant, .66
    # for independent ratings and .069 for Kenward-Roger: 4 standard errors of both are .015 at most.
    assert errors["z instead of t, boundaries for shares of ratings"].rate == pytest.approx(0.16, abs=0.015)
    independent = "all ratings taken as independent, boundaries for shares of ratings"
    assert errors[independent].rate > 0.6
    assert errors["boundaries for shares of ratings"].rate == pytest.approx(0.069, abs=0.01)
    assert errors["these boundaries"].rate <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / 20_000)
    assert plan.count_time_error < 0.05  # with known variances the same boundaries would be timid


@pytest.mark.slow
@pytest.mark.parametrize("name", ["high", "low"])
@pytest.mark.parametrize("n_workers", [3, 5, 10, 20])
@pytest.mark.parametrize("kind", ["items", "workers"])
def test_the_whole_procedure_keeps_to_alpha(name, n_workers, kind) -> None:
    """Looks by workers have the given number at the first look."""
    total = n_workers if kind == "items" else 3 * n_workers
    study = RatingLooks(preset(name), crossed(total, 60), equal_looks(kind, 3))
    plan = plan_looks(study, SPENDING, n_simulations=40_000, seed=6)
    # Without calibration (10 workers and more) the t law is an approximation: .055 is what it may cost.
    # Up to 4 standard errors of two simulations.
    limit = (0.05 if plan.calibration else 0.055) + 4 * np.sqrt(2 * 0.05 * 0.95 / 40_000)
    assert plan.errors[0].rate <= limit
    assert plan.errors[0].rate > 0.01


@pytest.mark.slow
@pytest.mark.parametrize(("n_workers", "name"), [(3, "high"), (5, "low"), (10, "high")])
def test_looks_by_ratings_keep_to_alpha(n_workers, name) -> None:
    study = RatingLooks(preset(name), crossed(n_workers, 30), Looks("ratings", (0.67, 1.0)))
    plan = plan_looks(study, SPENDING, n_simulations=2_000, seed=6)
    limit = 0.055 if plan.calibration is None else 0.05
    assert plan.errors[0].rate <= limit + 4 * np.sqrt(2 * 0.05 * 0.95 / 2_000)


def test_calibration_takes_the_worst_of_the_worker_sds() -> None:
    study = RatingLooks(preset("low"), crossed(3, 60), equal_looks("items", 3))
    bounds = boundaries(SPENDING, (0.6, 0.85, 1.0))
    found = calibrate(study, bounds, n_simulations=10_000, seed=3, worker_sds=(0.0, 0.08, 0.2))
    assert found.worst == min(found.by_worker_sd)
    assert found.used == min(found.worst, 1.0)
    assert found.worker_sds == (0.0, 0.08, 0.2)
    scaled = bounds.scaled(found.used)
    looks = study.with_worker_slope(found.worst_worker_sd).draw_looks(10_000, seed=3)
    # The same random numbers: the share is alpha to one study.
    assert (looks.p_value <= scaled.nominal).any(axis=1).mean() == pytest.approx(0.05, abs=2e-4)


# Stopping


def test_stopping_follows_the_boundaries_look_by_look() -> None:
    study = RatingLooks(preset("low").with_difference(0.08), crossed(6, 30), equal_looks("items", 3))
    bounds = boundaries(StoppingRule(efficacy_of("pocock"), PValueFutility(0.5)), (0.6, 0.85, 1.0))
    looks = study.draw_looks(500, seed=9)
    stopped = stop(looks, bounds)
    for row in range(500):  # the obvious way
        for k in range(3):
            p = looks.p_value[row, k]
            significant, futile = p <= bounds.nominal[k], k < 2 and p > 0.5
            if significant or futile or k == 2:
                assert (stopped.look[row], stopped.significant[row], stopped.futile[row]) == (
                    k,
                    significant,
                    futile and not significant,
                )
                break


def test_stagewise_p_values_agree_with_the_decisions_and_with_the_single_study() -> None:
    study = RatingLooks(preset("low").with_difference(0.08), crossed(8, 30), equal_looks("items", 3))
    bounds = boundaries(SPENDING, (0.5, 0.8, 1.0))
    looks = study.draw_looks(2048, seed=9)
    stopped = stop(looks, bounds)
    p_value = stagewise_p(stopped, bounds)
    assert np.array_equal(p_value <= 0.05, stopped.significant)
    for row in range(6):
        k = int(stopped.look[row])
        z = looks.score[row, : k + 1]
        # z-values with unit standard errors: what the vectorised version assumes
        shares = np.sqrt(bounds.shares[: k + 1])
        alone = [LookEstimate(float(one / s), float(1 / s)) for one, s in zip(z, shares, strict=True)]
        assert p_value[row] == pytest.approx(stagewise_inference(alone, bounds).p_value, abs=1e-7)


def test_the_corrected_estimate_is_that_of_the_single_study() -> None:
    bounds = boundaries(SPENDING, (0.4, 0.7, 1.0))
    shares = np.sqrt(bounds.shares)
    for k, z in ((0, 2.5), (1, 2.6), (2, -0.4), (2, 2.9)):
        error = 0.1 / shares
        looks = [LookEstimate(0.0, float(e)) for e in error[:k]]
        looks.append(LookEstimate(float(z * error[k]), float(error[k])))
        found = median_unbiased(
            np.array([k]), np.array([z]), error[[k]], np.array([z * error[k]]), bounds=bounds
        )
        # The table's steps are an eighth of a standard error in z.
        expected = stagewise_inference(looks, bounds).estimate
        assert found[0] == pytest.approx(expected, abs=2e-3 * error[k])


def test_a_sequential_study_is_a_scenario_with_one_p_value_a_study() -> None:
    source = RatingLooks(preset("low").with_difference(0.1), crossed(6, 40), equal_looks("items", 3))
    study = SequentialStudy(source, boundaries(SPENDING, (0.6, 0.85, 1.0)))
    drawn = study.draw(100, seed=1)
    assert drawn.usable.all()
    assert study.with_effect(0.0).true_effect == 0.0
    np.testing.assert_array_equal(drawn.p_value[40:], study.draw(60, seed=1, first=40).p_value)


# Operating characteristics


def test_operating_characteristics_approach_those_of_recursive_integration() -> None:
    # 60 workers and 300 items: the t law is nearly normal.
    study = RatingLooks(preset("low"), crossed(60, 300), equal_looks("items", 3))
    variances = [effect_precision(study.parameters, one).variance for one in study.nested.designs]
    rule = StoppingRule(efficacy_of("obrien-fleming"), PValueFutility(0.5))
    bounds = boundaries(rule, [variances[-1] / one for one in variances])
    drift = 2.5
    effect = drift * variances[-1] ** 0.5
    n = 20_000
    point = operating_characteristics(
        study, bounds, effects=[effect], n_simulations=n, seed=7, costs=(1.0, 2.0, 3.0)
    )[0]
    exits = bounds.exits(drift)
    # 4 standard errors, and .01 for the t law.
    allowed = 4 * 0.5 / np.sqrt(n) + 0.01
    assert point.success_by_look == pytest.approx(exits.above + exits.below, abs=allowed)
    assert point.futility_rate == pytest.approx(exits.inside[:2].sum(), abs=allowed)
    assert sum(point.stopping) == pytest.approx(1.0)
    assert point.expected_cost == pytest.approx(np.dot(point.stopping, (1, 2, 3)))
    assert point.expected_size == pytest.approx(np.dot(point.stopping, study.sizes))
    assert point.power < point.fixed_power


def test_early_stops_exaggerate_and_the_correction_removes_most_of_it() -> None:
    study = RatingLooks(preset("low"), crossed(30, 90), equal_looks("blocks", 3))
    bounds = boundaries(POCOCK, (1 / 3, 2 / 3, 1.0))
    error = effect_precision(study.parameters, study.nested.final).standard_error
    point = operating_characteristics(study, bounds, effects=[2.5 * error], n_simulations=512, seed=3)[0]
    assert point.type_m > 1.05
    assert point.bias > 0
    assert abs(point.corrected_bias) < point.bias
    # Median-unbiased: above the effect in half of the studies; 4 standard errors of 512.
    assert point.corrected_above == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(512))


def test_a_shifted_null_is_the_study_with_the_effect() -> None:
    study = RatingLooks(preset("high"), crossed(6, 30), equal_looks("items", 2))
    null = study.draw_looks(64, seed=3)
    with_effect = study.with_effect(0.2).draw_looks(64, seed=3)
    assert null.shifted(0.2).p_value == pytest.approx(with_effect.p_value, rel=1e-9)


# Planning


def test_a_plan_shows_information_cost_and_the_method() -> None:
    study = RatingLooks(preset("high").with_difference(0.2), crossed(10, 99), equal_looks("items", 3))
    plan = plan_looks(study, SPENDING, cost=CostModel(price_per_rating="0.10"), n_simulations=4000, seed=2)
    assert plan.calibration is None
    assert plan.information_shares == pytest.approx((0.7564775, 0.9255154, 1.0), abs=1e-6)
    assert [row.size_share for row in plan.rows] == pytest.approx([1 / 3, 2 / 3, 1.0])
    assert plan.costs == pytest.approx((66.0, 132.0, 198.0))
    points = plan.at([0.0, 0.2])
    assert points[0].rejection_rate == plan.errors[0].rate
    assert points[1].expected_cost < 198.0


def test_conditional_power_under_the_design_uses_the_planned_effect() -> None:
    rule = StoppingRule(efficacy_of("pocock"), ConditionalPowerFutility(0.2))
    study = RatingLooks(preset("low").with_difference(0.1), crossed(8, 60), equal_looks("items", 3))
    plan = plan_looks(study, rule, n_simulations=2000)
    assert plan.bounds.futility[-1] == -np.inf
    with pytest.raises(InputError, match="planned effect"):
        plan_looks(study.with_effect(0.0), rule, n_simulations=2000)


@each_case("n_looks", [1, 2, 3, 4])
def test_no_power_is_above_one(n_looks):
    """Integration is exact to 1e-8 only, which a record must not show as a chance above 1."""
    for drift in (8.0, 9.0, 10.0, 12.0, 20.0):
        bounds = boundaries(SPENDING, [(k + 1) / n_looks for k in range(n_looks)], drift=drift)
        assert 1 - 1e-7 <= success(bounds, drift) <= 1


@each_case(
    ("response", "parameters", "says"),
    [
        ("gaussian", preset("low"), "these parameters give none"),
        (
            "likert",
            Parameters.of_latent(Latent.of_shares((0.2, 0.3, 0.5))),
            "leave out the response 'likert'",
        ),
    ],
)
def test_looks_at_categories_want_them_once(response, parameters, says):
    design, looks = crossed(5, 24), equal_looks("items", 2)
    rule = DecisionRule(family="ordinal")
    with pytest.raises(InputError, match=says):
        RatingLooks(parameters, design, looks, rule=rule, response=response, points=None)


def test_the_number_of_looks_is_recommended_among_those_that_keep_the_power() -> None:
    study = RatingLooks(preset("low").with_difference(0.09), crossed(10, 100), equal_looks("items", 3))
    choices = compare_numbers_of_looks(study, SPENDING)
    assert [choice.n_looks for choice in choices] == [1, 2, 3, 4, 5]
    assert choices[0].expected == (1.0, 1.0, 1.0)
    assert sum(choice.recommended for choice in choices) == 1
    powers = [choice.power for choice in choices]
    assert powers == sorted(powers, reverse=True)
    chosen = next(choice for choice in choices if choice.recommended)
    assert powers[0] - chosen.power <= 0.05
    with pytest.raises(InputError, match="planned effect"):
        compare_numbers_of_looks(study.with_effect(0.0), SPENDING)


def test_new_workers_are_recommended_where_looks_reuse_them() -> None:
    study = RatingLooks(preset("high").with_difference(0.2), crossed(9, 90), equal_looks("items", 3))
    growth = {each.kind: each for each in compare_growth(study)}
    assert growth["blocks"].information_shares == pytest.approx((1 / 3, 2 / 3, 1.0), abs=1e-9)
    assert growth["items"].information_shares[0] > growth["workers"].information_shares[0]
    assert growth["workers"].standard_error == pytest.approx(growth["items"].standard_error, rel=1e-9)
    plan = plan_looks(study, SPENDING, n_simulations=2000)
    advice = new_workers_advice(study, plan.rows)
    assert advice is not None
    assert "same 9 workers" in advice
    assert new_workers_advice(replace(study, looks=equal_looks("blocks", 3)), plan.rows) is None


# Refusals


@each_case(
    ("make", "says"),
    [
        (lambda: Looks("days", (1.0,)), "items, workers"),
        (lambda: Looks("items", (0.5, 0.4, 1.0)), "increase"),
        (lambda: Looks("items", (0.5, 0.9)), "last share must be 1"),
        (lambda: Looks("items", ()), "1 to 20 looks"),
        (lambda: equal_looks("items", 0), "between 1 and 20"),
        (lambda: nested_designs(crossed(3, 10), Looks("workers", (0.34, 1.0))), "Look 1 cannot"),
        (lambda: nested_designs(crossed(3, 4), Looks("items", (0.5, 0.55, 1.0))), "adds no ratings"),
        (
            lambda: RatingLooks(
                preset("low"), crossed(4, 10), Looks("items", (1.0,)), DecisionRule(df="bootstrap")
            ),
            "boundaries are what",
        ),
        (
            lambda: RatingLooks(
                preset("low"),
                crossed(4, 10),
                Looks("items", (1.0,)),
                DecisionRule(alternative="equivalent", margin=0.1),
            ),
            "no boundaries",
        ),
        (
            lambda: plan_looks(
                RatingLooks(preset("low"), crossed(4, 10), equal_looks("items", 2)),
                StoppingRule(alternative="greater"),
            ),
            "greater",
        ),
        (
            lambda: SequentialStudy(
                RatingLooks(preset("low"), crossed(4, 10), equal_looks("items", 2)),
                boundaries(POCOCK, (0.3, 0.6, 1.0)),
            ),
            "3 looks",
        ),
    ],
)
def test_impossible_looks_are_refused_with_the_reason(make, says) -> None:
    with pytest.raises(InputError, match=says):
        make()


def test_a_design_of_rows_has_looks_too() -> None:
    nested: tuple[Design, ...] = nested_designs(
        k_per_item(8, 24, ratings_per_item=1), equal_looks("ratings", 2)
    ).designs
    assert nested[0].n_ratings == 24
