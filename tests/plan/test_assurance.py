"""Power when the variances come from a pilot: goldens, and nested simulation written by hand."""

import numpy as np
import pytest
from reference.golden import shared_golden
from scipy import stats
from seven import seven

from humeval_power.designs import crossed, k_per_item
from humeval_power.errors import InputError
from humeval_power.estimation.fitting import fit
from humeval_power.simulation.study import simulate
from humeval_power.studies.power.assurance import assurance, pilot_advice, safe_parameters
from humeval_power.studies.power.formula import power_at
from humeval_power.studies.power.questions import smallest_true
from humeval_power.studies.power.required import counts_power, counts_precision
from humeval_power.study_counts import StudyCounts
from humeval_power.uncertainty import Stratum, VarianceUncertainty, worker_multiplier

TRUTH = seven(0.5, 0.1, 0.05, 0.11, 0.05, 0.14, 0.26)
MANY = 200_000  # draws; the standard error of a mean power is below 0.001


def of_mean_squares(m, n, squares, df) -> VarianceUncertainty:
    """A complete pilot's mean squares (A, C, B, D, E of the methods notes 1.1) as strata of its components."""
    loads = (2 * n, n / 2, 2 * m, m / 2)
    a, b, c, d = (Stratum(ms / load, f, 1 / load) for ms, f, load in zip(squares, df, loads, strict=False))
    return VarianceUncertainty(strata=(a, b, c, d), residual=squares[4], residual_df=df[4])


def mean_squares_by_hand(ratings, m, n):
    """Mean squares A, C, B, D, E of a complete table, from its definition, and their df."""
    y = np.empty((m, n, 2))
    y[ratings.worker, ratings.item, ratings.system] = ratings.rating
    squares, left = [], 0.0
    for part, weight in ((y.mean(axis=2), 2.0), (y[:, :, 1] - y[:, :, 0], 0.5)):
        by_worker = part.mean(axis=1) - part.mean()
        by_item = part.mean(axis=0) - part.mean()
        squares += [weight * n * (by_worker**2).sum() / (m - 1), weight * m * (by_item**2).sum() / (n - 1)]
        left += weight * ((part - part.mean() - by_worker[:, None] - by_item[None, :]) ** 2).sum()
    a, b, c, d = squares
    df = (m - 1, m - 1, n - 1, n - 1, 2 * (m - 1) * (n - 1))
    return np.array([a, c, b, d, left / df[4]]), np.array(df)


def pooled_by_hand(squares, df):
    """REML: leaves join the residual in increasing order while they do not exceed the pooled mean."""
    total, weight, pooled = squares[4] * df[4], df[4], set()
    for leaf in np.argsort(squares[:4]):
        if squares[leaf] > total / weight:
            break
        total, weight = total + squares[leaf] * df[leaf], weight + df[leaf]
        pooled.add(int(leaf))
    estimate = np.where([k in pooled for k in range(4)], total / weight, squares[:4])
    return np.append(estimate, total / weight), pooled


def nested_simulation(squares, df, size, planned, effect, *, n, seed):
    """Share of significant right-signed studies: each with its own draw of the variances.

    squares : mean squares of the pilot after pooling. The pilot's residual df stay unpooled, as in
    Kenward and Roger's expected information. Each study is its own mean squares C, D and E (with
    nothing pooled in truth: intercepts are irrelevant), REML by hand, and a t test.
    """
    rng = np.random.default_rng(seed)
    (m0, n0), (m, k) = size, planned
    residual = squares[4] * df[4] / rng.chisquare(df[4], n)
    tw2, ti2 = (
        np.maximum(2 * (squares[s] * df[s] / rng.chisquare(df[s], n) - residual) / load, 0)
        for s, load in ((1, n0), (3, m0))
    )
    expected = np.stack([residual + k * tw2 / 2, residual + m * ti2 / 2, residual])
    own_df = np.array([m - 1, k - 1, 2 * (m - 1) * (k - 1)])
    seen = expected * rng.chisquare(own_df[:, None], (3, n)) / own_df[:, None]
    estimate = effect + rng.standard_normal(n) * np.sqrt(
        2 * (expected[0] + expected[1] - residual) / (m * k)
    )
    lowest, highest = np.argsort(seen[:2], axis=0)
    total, weight, column = seen[2] * own_df[2], np.full(n, float(own_df[2])), np.arange(n)
    joining = np.ones(n, dtype=bool)
    for leaf in (lowest, highest):
        joining &= seen[leaf, column] <= total / weight
        total = total + np.where(joining, seen[leaf, column] * own_df[leaf], 0)
        weight = weight + np.where(joining, own_df[leaf], 0)
    noise = total / weight
    c, d = np.maximum(seen[0], noise), np.maximum(seen[1], noise)
    nu = (c + d - noise) ** 2 / (c**2 / own_df[0] + d**2 / own_df[1] + noise**2 / own_df[2])
    t = estimate / np.sqrt(2 * (c + d - noise) / (m * k))
    return float((t > stats.t.ppf(0.975, nu)).mean())


@pytest.mark.slow
def test_the_fiducial_golden(shared):
    golden = shared_golden(shared, "09_pilot")["fiducial_example"]
    pilot, planned = golden["pilot"], golden["planned"]
    squares = (pilot["MS_E"], pilot["MS_C"], pilot["MS_E"], pilot["MS_D"], pilot["MS_E"])
    df = (pilot["df_C"], pilot["df_C"], pilot["df_D"], pilot["df_D"], pilot["df_E"])
    known = of_mean_squares(pilot["m"], pilot["n"], squares, df)
    counts = StudyCounts(planned["m"], planned["n"], planned["m"])
    found = assurance(known, counts, effect=planned["Delta"], n_draws=MANY)
    # the golden is a simulation, too; its draws are not stored, its quantile of Tw is 0.1 % off its closed form
    assert found.expected == pytest.approx(golden["assurance_var_only"], abs=0.003)
    assert found.quantile(0.2) == pytest.approx(golden["power_q20"], abs=0.005)
    assert found.quantile(0.05) == pytest.approx(golden["power_q05"], abs=0.005)
    assert known.upper_worker_slope(0.8) == pytest.approx(golden["tw2_q80_closed"], rel=1e-9)
    slopes = known.draw(np.random.default_rng(2), MANY)[1]
    assert np.quantile(slopes, 0.8) == pytest.approx(golden["tw2_q80"], rel=0.02)


def test_the_power_at_the_estimates_of_the_golden(shared):
    golden = shared_golden(shared, "09_pilot")["fiducial_example"]
    tw2, ti2, s2 = (golden["plug_in"][name] for name in ("tw2", "ti2", "s2"))
    planned = golden["planned"]
    parameters = seven(0.5, planned["Delta"], 0.1, tw2**0.5, 0.1, ti2**0.5, s2**0.5)
    precision = counts_precision(parameters, StudyCounts(planned["m"], planned["n"], planned["m"]))
    # the golden counts significant effects of either sign
    found = power_at(planned["Delta"], precision).rejection_rate
    assert found == pytest.approx(golden["power_plugin"], abs=1e-9)


def test_chi_square_multipliers_are_golden(shared):
    for row in shared_golden(shared, "09_pilot")["chi2_multipliers"]:
        assert worker_multiplier(row["m"], 0.8) == pytest.approx(row["upper80"], rel=1e-9)
        assert worker_multiplier(row["m"], 0.95) == pytest.approx(row["upper95"], rel=1e-9)


def test_the_advice_on_pilots_is_that_of_the_table():
    # the methods notes 9: 3 4.48, 5 2.43, 10 1.67, 20 1.39, 30 1.29
    assert [(line.n_workers, round(line.multiplier, 2)) for line in pilot_advice()] == [
        (3, 4.48),
        (5, 2.43),
        (10, 1.67),
        (20, 1.39),
        (30, 1.29),
    ]


def pilot_table(*, boundary: bool):
    """A simulated complete pilot of six workers and forty items; at the boundary, workers who agree."""
    parameters = seven(0.5, 0.1, 0.05, 0.0 if boundary else 0.11, 0.05, 0.14, 0.26)
    return simulate(parameters, crossed(6, 40), seed=8 if boundary else 1)


@pytest.mark.parametrize("boundary", [False, True])
def test_a_fitted_pilot_knows_its_own_mean_squares(boundary):
    table = pilot_table(boundary=boundary)
    squares, df = mean_squares_by_hand(table, 6, 40)
    estimates, pooled = pooled_by_hand(squares, df)
    assert (1 in pooled) == boundary  # the worker slope
    known = fit(table).uncertainty
    assert known is not None
    expected = of_mean_squares(6, 40, estimates, df)
    for found, wanted in zip(known.strata, expected.strata, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert known.residual == pytest.approx(estimates[4], rel=1e-9)
    assert known.residual_df == pytest.approx(df[4], rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("boundary", [False, True])
def test_assurance_is_the_share_of_significant_studies_in_a_nested_simulation(boundary):
    table = pilot_table(boundary=boundary)
    squares, df = mean_squares_by_hand(table, 6, 40)
    estimates, _ = pooled_by_hand(squares, df)
    known = fit(table).uncertainty
    assert known is not None
    for planned, effect in (((12, 100), 0.1), ((20, 60), 0.12), ((30, 150), 0.06)):
        m, n = planned
        nested = nested_simulation(estimates, df, (6, 40), planned, effect, n=40_000, seed=m)
        found = assurance(known, StudyCounts(m, n, m), effect=effect, n_draws=40_000)
        # 4 standard errors of the difference, and what the t law is off with twelve workers
        assert found.expected == pytest.approx(nested, abs=4 * (0.5 / 200) + 0.005)


def test_a_component_at_the_boundary_costs_power_and_is_not_taken_as_zero():
    table = pilot_table(boundary=True)
    fitted = fit(table)
    known = fitted.uncertainty
    assert known is not None
    assert "sd_worker_slope" in fitted.boundary
    counts = StudyCounts(6, 200, 6)
    found = assurance(known, counts, effect=0.08)
    assert found.expected < counts_power(fitted.parameters.with_difference(0.08), counts)
    assert known.upper_worker_slope(0.8) > 0
    assert safe_parameters(fitted.parameters, known, confidence=0.8).sd_worker_slope > 0


def test_draws_of_an_incomplete_pilot_scatter_as_the_asymptotic_covariance_says():
    table = simulate(TRUTH, k_per_item(40, 200, ratings_per_item=8), seed=5)
    known = fit(table).uncertainty
    assert known is not None
    draws = known.draw(np.random.default_rng(1), MANY)
    assert draws.shape == (5, MANY)
    assert (draws >= 0).all()
    for k, stratum in enumerate(known.strata):
        estimate = stratum.value - stratum.residual_weight * known.residual
        # 15 %: an inverse chi-square with 30 df and more is a little wider, and skewed, around its centre
        spread = (
            2 * stratum.value**2 / stratum.df
            + stratum.residual_weight**2 * 2 * known.residual**2 / known.residual_df
        ) ** 0.5
        if estimate > 4 * spread:
            assert draws[k].std() == pytest.approx(spread, rel=0.15)
            assert np.median(draws[k]) == pytest.approx(estimate, abs=0.3 * spread)


def test_a_table_that_does_not_identify_its_variances_still_gives_finite_draws():
    table = simulate(TRUTH, k_per_item(8, 40, ratings_per_item=1), seed=4)
    fitted = fit(table)
    assert fitted.not_identified
    assert fitted.uncertainty is not None
    assert np.isfinite(fitted.uncertainty.draw(np.random.default_rng(1), 1000)).all()


def test_summaries_are_computed_from_the_draws():
    known = of_mean_squares(5, 30, (0.2, 0.5, 0.2, 0.17, 0.0676), (4, 4, 29, 29, 232))
    found = assurance(known, StudyCounts(20, 100, 20), effect=0.12)
    assert found.powers.shape == (4000,)
    assert found.expected == pytest.approx(found.powers.mean())
    assert found.chance_of(0.8) == pytest.approx(np.mean(found.powers >= 0.8))
    assert found.quantile(1 - found.chance_of(0.8)) == pytest.approx(0.8, abs=0.01)
    again = assurance(known, StudyCounts(20, 100, 20), effect=0.12)
    np.testing.assert_array_equal(found.powers, again.powers)
    assert (assurance(known, StudyCounts(20, 100, 20), effect=0.12, seed=2).powers != found.powers).any()


def test_the_safe_slope_is_the_upper_limit_of_the_mean_square_and_never_below_the_estimate():
    # the methods notes 9: plan with lambda_C,U = multiplier x MS_C
    known = of_mean_squares(5, 30, (0.2, 0.5, 0.2, 0.17, 0.0676), (4, 4, 29, 29, 232))
    parameters = seven(0.5, 0.1, 0.1, (2 * (0.5 - 0.0676) / 30) ** 0.5, 0.1, 0.2, 0.26)
    safe = safe_parameters(parameters, known, confidence=0.8)
    assert safe.sd_worker_slope**2 == pytest.approx(
        2 * (worker_multiplier(5, 0.8) * 0.5 - 0.0676) / 30, rel=1e-9
    )
    assert safe_parameters(parameters, known, confidence=0.01) == parameters
    recoded = parameters.recoded((-1.0, 1.0))
    assert safe_parameters(recoded, known, confidence=0.8).sd_worker_slope == pytest.approx(
        safe.sd_worker_slope, rel=1e-12
    )


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.5, float("nan")])
def test_a_confidence_that_is_no_probability_is_refused(confidence):
    known = of_mean_squares(5, 30, (0.2, 0.5, 0.2, 0.17, 0.0676), (4, 4, 29, 29, 232))
    with pytest.raises(InputError, match="confidence must lie between 0 and 1"):
        known.upper_worker_slope(confidence)


def test_uncertainty_survives_its_document():
    known = of_mean_squares(5, 30, (0.2, 0.5, 0.2, 0.17, 0.0676), (4, 4, 29, 29, 232))
    assert VarianceUncertainty.from_dict(known.as_dict()) == known


@pytest.mark.long
@pytest.mark.slow
def test_plug_in_planning_from_five_workers_keeps_its_promise_in_two_of_five_and_the_safe_rule_in_four(
    shared,
):
    golden = shared_golden(shared, "09_pilot")["calibration"]
    row = next(row for row in golden["rows"] if (row["pilot_m"], row["pilot_n"]) == (5, 30))
    truth = seven(0.5, golden["Delta"], 0.05, golden["tw"], 0.05, golden["ti"], golden["s"])
    n_pilots, kept = 1500, {"plugin": 0, "safe80": 0}
    for seed in range(n_pilots):
        fitted = fit(simulate(truth, crossed(5, 30), seed=seed))
        assert fitted.uncertainty is not None
        estimates = fitted.parameters.with_difference(golden["Delta"])
        for name, assumed in (
            ("plugin", estimates),
            ("safe80", safe_parameters(estimates, fitted.uncertainty, confidence=0.8)),
        ):
            m = smallest_true(
                lambda m, assumed=assumed: counts_power(assumed, StudyCounts(m, 100, m)) >= 0.8, 2, 2000
            )
            # where no number of workers will do the planner does not go ahead: no broken promise
            kept[name] += m is None or counts_power(truth, StudyCounts(m, 100, m)) >= 0.8
    for name, count in kept.items():
        # both this and the golden (4000 pilots) are simulated: 4 standard errors of their difference
        share = row[name]["share_power_ge_80"]
        error = (share * (1 - share) * (1 / n_pilots + 1 / 4000)) ** 0.5
        assert count / n_pilots == pytest.approx(share, abs=4 * error), (name, count / n_pilots)
