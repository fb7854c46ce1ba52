"""Complete balanced designs: closed form, maximum likelihood, drawn mean squares, identities."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from cases import each_case, examples, few_fast
from hypothesis import given
from hypothesis import strategies as st
from reference import dense_model
from reference.golden import shared_golden
from seven import seven

from humeval_power.designs import crossed
from humeval_power.estimation.crossed import fits as closed_form
from humeval_power.estimation.crossed.fits import fit_batch, fit_one
from humeval_power.estimation.crossed.problem import EFFECT, CrossedProblem
from humeval_power.estimation.fitting import fit
from humeval_power.kernels.crossed import balanced
from humeval_power.kernels.crossed.balanced_ml import maximum_likelihood
from humeval_power.parameters import STANDARD_DEVIATIONS
from humeval_power.simulation.study import draw_ratings

CLOSED_FORM, LME4 = 1e-9, 1e-6  # the goldens' own precision: an exact formula, a tight optimiser
VARIANCES = ("W0", "W1", "I0", "I1")


def ratings_of(table):
    """Long ratings of an array (workers, items, 2, repeats)."""
    worker, item, system, _ = np.indices(table.shape).reshape(4, -1)
    return SimpleNamespace(worker=worker, item=item, system=system, rating=table.ravel())


def random_table(seed, *, m, n, repeats=1, sds=(0.1, 0.15, 0.1, 0.2, 0.2)):
    """A table from the model, written down here once more."""
    rng = np.random.default_rng(seed)
    W0, W1 = (rng.normal(0, sd, (m, 1, 1, 1)) for sd in sds[:2])
    I0, I1 = (rng.normal(0, sd, (1, n, 1, 1)) for sd in sds[2:4])
    x = np.array([-0.5, 0.5]).reshape(1, 1, 2, 1)
    return 0.5 + W0 + I0 + (0.1 + W1 + I1) * x + rng.normal(0, sds[4], (m, n, 2, repeats))


@st.composite
def complete_tables(draw):
    sds = [draw(st.sampled_from([0.0, 0.05, 0.3])) for _ in range(4)]
    shape = {"m": draw(st.integers(2, 6)), "n": draw(st.integers(2, 7)), "repeats": draw(st.integers(1, 3))}
    return random_table(draw(st.integers(0, 2**32 - 1)), **shape, sds=(*sds, 0.2))


@pytest.fixture(scope="module")
def golden(shared):
    """The data sets of the balanced reference values, each with its ratings."""
    return [
        (
            record,
            ratings_of(np.stack([record["y_sys1"], record["y_sys2"]], axis=-1)[..., None].astype(float)),
        )
        for record in shared_golden(shared, "01_balanced_lmm")["datasets"]
    ]


def variances_of(result):
    names = dict(zip((*VARIANCES, "sigma2"), STANDARD_DEVIATIONS, strict=True))
    return {key: getattr(result.parameters, name) ** 2 for key, name in names.items()}


def test_strata_are_those_of_the_golden_set(golden):
    for record, ratings in golden:
        table = closed_form.complete_array(ratings)
        squares, difference, mean = balanced.mean_squares(table)
        df = balanced.degrees_of_freedom(balanced.Size(*table.shape[1:3]))
        strata = record["strata"]
        assert difference[0] == pytest.approx(strata["dbar"], abs=1e-12)
        assert mean[0] == pytest.approx(strata["ybar"], abs=1e-12)
        for row, key in enumerate("ACBDE"):
            assert df[row] == strata["df"][key]
            assert squares[row, 0] * df[row] == pytest.approx(strata["SS"][key], rel=1e-10)


def test_reml_equals_the_closed_form_golden(golden):
    for record, ratings in golden:
        expected, result = record["closed_form_h0.5"], fit(ratings)
        for key, value in variances_of(result).items():
            assert value == pytest.approx(expected[key], rel=CLOSED_FORM, abs=1e-12)
        assert result.parameters.baseline == pytest.approx(expected["b0"], rel=CLOSED_FORM)
        assert result.parameters.effect == pytest.approx(expected["b1"], rel=CLOSED_FORM)
        assert result.standard_error == pytest.approx(expected["se"], rel=CLOSED_FORM)
        assert result.standard_error_adjusted == pytest.approx(expected["se"], rel=CLOSED_FORM)
        assert result.df_satterthwaite == pytest.approx(expected["df_satt"], rel=CLOSED_FORM)
        assert result.df_kenward_roger == pytest.approx(expected["df_kr"], rel=CLOSED_FORM)
        zero = {
            "A": "sd_worker_intercept",
            "B": "sd_item_intercept",
            "C": "sd_worker_slope",
            "D": "sd_item_slope",
        }
        assert set(result.boundary) == {zero[key] for key in record["pooled"]}


def test_reml_equals_lme4_lmertest_and_pbkrtest(golden):
    for record, ratings in golden:
        expected, result = record["lme4_REML_h0.5"], fit(ratings)
        for key, value in variances_of(result).items():
            assert value == pytest.approx(expected[key], abs=LME4)
        assert result.parameters.effect == pytest.approx(expected["b1"], abs=LME4)
        assert result.standard_error == pytest.approx(expected["se"], rel=LME4)
        assert result.criterion == pytest.approx(-2 * expected["logLik"], abs=LME4)
        # a numerical df: lmerTest differentiates, pbkrtest inverts large matrices
        assert result.df_satterthwaite == pytest.approx(expected["df_lmerTest_satt"], rel=1e-5)
        assert result.df_kenward_roger == pytest.approx(expected["df_pbkrtest_kr"], rel=1e-5)
        assert result.standard_error_adjusted == pytest.approx(expected["se_kr"], rel=1e-5)


def test_the_minus_one_plus_one_golden_is_the_same_fit_recoded(golden):
    for record, ratings in golden:
        expected, result = record["closed_form_h1"], fit(ratings)
        recoded = result.parameters.recoded((-1.0, 1.0))
        assert recoded.effect == pytest.approx(expected["b1"], rel=CLOSED_FORM)
        assert recoded.sd_worker_slope**2 == pytest.approx(expected["W1"], rel=CLOSED_FORM, abs=1e-12)
        assert recoded.sd_item_slope**2 == pytest.approx(expected["I1"], rel=CLOSED_FORM, abs=1e-12)
        assert result.parameters.effect / result.standard_error == pytest.approx(
            expected["t"], rel=CLOSED_FORM
        )


def test_maximum_likelihood_equals_the_golden_and_lme4(golden):
    for record, ratings in golden:
        result = fit(ratings, estimator="ml")
        for source in ("closed_form_ML_h0.5", "lme4_ML_h0.5"):
            expected = record[source]
            for key, value in variances_of(result).items():
                assert value == pytest.approx(expected[key], abs=LME4)
            assert result.standard_error == pytest.approx(expected["se"], rel=5 * LME4)
            # a criterion never above lme4's
            assert result.criterion == pytest.approx(expected["deviance"], abs=LME4)


@pytest.mark.slow
@given(complete_tables())
@examples(60)
def test_the_closed_form_equals_the_general_engine(table):
    ratings = ratings_of(table)
    exact = closed_form.fit_complete(ratings)
    problem = CrossedProblem.of_design(ratings.worker, ratings.item, ratings.system)
    general = fit_one(problem, ratings.rating)
    assert general.criterion[0] == pytest.approx(exact.criterion[0], abs=1e-8)
    assert general.estimate[0] == pytest.approx(exact.estimate[0], abs=1e-10)
    assert general.baseline[0] == pytest.approx(exact.baseline[0], abs=1e-10)
    # the optimiser stops where a step would lower the criterion by 1e-10: SDs are good to its root
    np.testing.assert_allclose(np.sqrt(general.gamma), np.sqrt(exact.gamma), atol=2e-4)
    assert general.standard_error[0] == pytest.approx(exact.standard_error[0], rel=1e-4)


@given(complete_tables())
@examples(60)
def test_the_closed_form_equals_the_dense_model(table):
    ratings = ratings_of(table)
    exact = closed_form.fit_complete(ratings)
    X, zs = dense_model.design_matrices(ratings.worker, ratings.item, ratings.system)
    gamma = exact.gamma[0]
    assert exact.criterion[0] == pytest.approx(
        dense_model.criterion(gamma, ratings.rating, X, zs), rel=1e-10
    )
    beta, _, rss = dense_model.fixed_effects(gamma, ratings.rating, X, zs)
    np.testing.assert_allclose([exact.baseline[0], exact.estimate[0]], beta, rtol=1e-9, atol=1e-12)
    assert exact.sigma2[0] == pytest.approx(rss / (len(X) - 2), rel=1e-9)
    se, adjusted, satterthwaite, kenward_roger = dense_model.precision(gamma, ratings.rating, X, zs, EFFECT)
    assert exact.standard_error[0] == pytest.approx(se, rel=1e-9)
    assert exact.standard_error_adjusted[0] == pytest.approx(adjusted, rel=1e-8)
    assert exact.df_kenward_roger[0] == pytest.approx(kenward_roger, rel=1e-8)
    assert exact.df_satterthwaite[0] == pytest.approx(satterthwaite, rel=1e-7)
    slope = dense_model.gradient(gamma, ratings.rating, X, zs)
    assert np.abs(slope * gamma).max() < 1e-8 * len(X)
    assert (slope[gamma == 0] > -1e-9 * len(X)).all()


@pytest.mark.slow
@given(complete_tables())
@examples(60)
def test_balanced_maximum_likelihood_equals_the_general_engine(table):
    ratings = ratings_of(table)
    size = balanced.Size(table.shape[0], table.shape[1], table.shape[3])
    squares, *_ = balanced.mean_squares(table[None])
    df = balanced.degrees_of_freedom(size)
    start = balanced.pool(squares, df).expected
    expected, steps = maximum_likelihood(np.ascontiguousarray(squares.T), df, np.ascontiguousarray(start.T))
    assert steps[0] >= 0
    gamma = (expected[0, :4] - expected[0, 4]) / balanced.loadings(size) / expected[0, 4]
    X, zs = dense_model.design_matrices(ratings.worker, ratings.item, ratings.system)
    ours = dense_model.criterion(gamma, ratings.rating, X, zs, restricted=False)
    problem = CrossedProblem.of_design(ratings.worker, ratings.item, ratings.system)
    general = fit_one(problem, ratings.rating, restricted=False)
    assert general.criterion[0] == pytest.approx(ours, abs=1e-7)
    error = math.sqrt(balanced.effect_variance(expected[0], size))
    assert general.standard_error[0] == pytest.approx(error, rel=1e-4)
    slope = dense_model.gradient(gamma, ratings.rating, X, zs, restricted=False)
    assert np.abs(slope * gamma).max() < 1e-4
    assert (slope[gamma == 0] > -1e-6).all()


def ml_variances(ratings):
    """The variances of an ML fit relative to its residual's, and the residual's."""
    found = fit(ratings, estimator="ml").parameters
    deviations = np.array([getattr(found, name) for name in STANDARD_DEVIATIONS[:5]])
    return (deviations[:4] / deviations[4]) ** 2, deviations[4] ** 2


# Several inside, and on the bounds of one and of two variances.
ML_TABLES = [
    {"seed": 3, "m": 4, "n": 6, "sds": (0.3, 0.3, 0.3, 0.2, 0.2)},
    {"seed": 6, "m": 4, "n": 6, "repeats": 2, "sds": (0.3, 0.01, 0.3, 0.2, 0.2)},
    {"seed": 0, "m": 4, "n": 6, "sds": (0.3, 0.0, 0.3, 0.2, 0.2)},
    {"seed": 1, "m": 5, "n": 6, "sds": (0.3, 0.3, 0.3, 0.0, 0.2)},
    {"seed": 2, "m": 5, "n": 7, "sds": (0.0, 0.0, 0.3, 0.3, 0.3)},
]


@each_case("table", ML_TABLES)
def test_maximum_likelihood_ends_at_the_optimum_of_the_dense_model(table):
    # Both are good to the rounding of the dense matrices; a search by the criterion stops at its root, about 1e-6.
    ratings = ratings_of(random_table(**table))
    gamma, _ = ml_variances(ratings)
    optimum = dense_model.stationary(gamma, ratings.rating, ratings)
    np.testing.assert_allclose(gamma, optimum, rtol=1e-9, atol=0)


@each_case("table", ML_TABLES)
def test_maximum_likelihood_solves_its_equations_in_closed_form(table):
    """With L the sum of df log E + df MS/E over the strata and the two logs, L does not change to first order where
    all variances are scaled, so that sum df MS/E is the number of ratings; and the slope of each variance above
    zero is zero, that of one at zero positive."""
    values = random_table(**table)
    size = balanced.Size(values.shape[0], values.shape[1], values.shape[3])
    gamma, residual = ml_variances(ratings_of(values))
    squares, df = balanced.mean_squares(values[None])[0][:, 0], balanced.degrees_of_freedom(size)
    expected = balanced.expected_mean_squares(size, np.append(gamma, 1.0) * residual)
    assert (df * squares / expected).sum() == pytest.approx(values.size, rel=1e-12)
    pairs = expected[[0, 1]] + expected[[2, 3]] - expected[4]
    slope = df[:4] * (1 - squares[:4] / expected[:4]) / expected[:4] + np.tile(1 / pairs, 2)
    component = expected[:4] - expected[4]
    assert np.abs(slope * component).max() < 1e-9  # of a criterion that counts in whole numbers
    assert (slope[gamma == 0] > 0).all()


@few_fast("size", [(2, 2, 1), (2, 3, 1), (2, 3, 3), (3, 5, 2), (3, 100, 1), (10, 50, 1)], fast=1)
def test_maximum_likelihood_converges_for_every_replicate(size):
    size = balanced.Size(*size)
    df = balanced.degrees_of_freedom(size)
    squares, _ = balanced.draw_mean_squares(
        np.random.default_rng(0), size=size, expected=np.ones(5), n_replicates=20_000
    )
    start = balanced.pool(squares, df).expected
    _, steps = maximum_likelihood(np.ascontiguousarray(squares.T), df, np.ascontiguousarray(start.T))
    assert (steps < 0).sum() == 0


@st.composite
def mean_squares_and_df(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = balanced.Size(draw(st.integers(2, 12)), draw(st.integers(2, 30)), draw(st.integers(1, 2)))
    return (
        np.exp(rng.normal(0, draw(st.sampled_from([0.1, 1.0, 3.0])), 5)),
        balanced.degrees_of_freedom(size),
        rng,
    )


def reml_objective(expected, squares, df):
    """The strata part of the criterion, for columns of expected mean squares."""
    return (df[:, None] * (np.log(expected) + squares[:, None] / expected)).sum(axis=0)


@given(mean_squares_and_df())
def test_no_feasible_change_of_the_pooled_strata_lowers_the_criterion(case):
    squares, df, rng = case
    strata = balanced.pool(squares[:, None], df)
    best = strata.expected[:, 0]
    assert (best[:4] >= best[4]).all()
    np.testing.assert_array_equal(strata.pooled[:, 0], best[:4] == best[4])
    size = rng.choice([0.001, 0.03, 0.3, 2.0], 400)
    residual = best[4] * np.exp(rng.normal(0, size))
    leaves = np.maximum(best[:4, None] * np.exp(rng.normal(0, size, (4, 400))), residual)
    value = reml_objective(best[:, None], squares, df)[0]
    tried = reml_objective(np.vstack([leaves, residual]), squares, df)
    assert tried.min() >= value - 1e-10 * abs(value)


def test_pooling_is_the_same_for_each_replicate_alone_and_together():
    rng = np.random.default_rng(4)
    squares, df = rng.gamma(2.0, 1.0, (5, 200)), balanced.degrees_of_freedom(balanced.Size(3, 7))
    together = balanced.pool(squares, df)
    alone = [balanced.pool(squares[:, [r]], df).expected for r in range(200)]
    np.testing.assert_array_equal(together.expected, np.concatenate(alone, axis=1))
    assert together.pooled.any(axis=1).all()


def test_drawn_mean_squares_are_independent_scaled_chi_squares():
    size, n_draws = balanced.Size(4, 9, 2), 200_000
    expected = balanced.expected_mean_squares(size, np.array([0.01, 0.05, 0.01, 0.08, 0.07]))
    squares, noise = balanced.draw_mean_squares(
        np.random.default_rng(8), size=size, expected=expected, n_replicates=n_draws
    )
    df = balanced.degrees_of_freedom(size)
    # mean E, variance 2 E^2 / df; five standard errors (of a variance: kurtosis 3 + 12 / df)
    spread = 2 * expected**2 / df
    assert (np.abs(squares.mean(axis=1) - expected) < 5 * np.sqrt(spread / n_draws)).all()
    assert (np.abs(squares.var(axis=1) / spread - 1) < 5 * np.sqrt((2 + 12 / df) / n_draws)).all()
    variance = balanced.effect_variance(expected, size)
    assert abs(noise.mean()) < 5 * np.sqrt(variance / n_draws)
    assert noise.var() == pytest.approx(variance, rel=5 * math.sqrt(2 / n_draws))
    correlations = np.corrcoef(np.vstack([squares, noise]))[np.triu_indices(6, 1)]
    assert np.abs(correlations).max() < 5 / math.sqrt(n_draws)


@pytest.mark.parametrize("interaction", [0.0, 0.15])
def test_drawn_mean_squares_are_those_of_simulated_ratings(interaction):
    size, n_studies = balanced.Size(4, 5, 2), 4000
    parameters = seven(0.5, 0.1, 0.05, 0.1, 0.08, 0.12, 0.2)
    parameters = replace(parameters, sd_worker_item=interaction)
    rng = np.random.default_rng(2)
    design = crossed(size.workers, size.items, n_repeats=size.repeats)
    studies = np.stack([draw_ratings(parameters, design, rng) for _ in range(n_studies)])
    of_ratings = balanced.mean_squares(studies.reshape(n_studies, *size[:2], 2, size.repeats))[0]
    variances = np.array([getattr(parameters, name) for name in STANDARD_DEVIATIONS]) ** 2
    drawn, _ = balanced.draw_mean_squares(
        rng,
        size=size,
        expected=balanced.expected_mean_squares(size, variances),
        n_replicates=50_000,
        interaction=interaction**2,
    )
    for ours, direct in zip(of_ratings, drawn, strict=True):
        error = np.hypot(ours.std() / math.sqrt(n_studies), direct.std() / math.sqrt(50_000))
        assert abs(ours.mean() - direct.mean()) < 4.5 * error
        assert ours.std() == pytest.approx(direct.std(), rel=0.12)


def same_fit(one, other, *, sign=1.0, rel=1e-9):
    assert other.parameters.effect == pytest.approx(sign * one.parameters.effect, rel=rel)
    assert other.parameters.baseline == pytest.approx(one.parameters.baseline, rel=rel)
    for name in STANDARD_DEVIATIONS:
        assert getattr(other.parameters, name) == pytest.approx(
            getattr(one.parameters, name), rel=rel, abs=1e-12
        )
    for name in (
        "criterion",
        "standard_error",
        "standard_error_adjusted",
        "df_satterthwaite",
        "df_kenward_roger",
    ):
        assert getattr(other, name) == pytest.approx(getattr(one, name), rel=rel, nan_ok=True)


@given(complete_tables(), st.sampled_from(["reml", "ml"]))
@examples(30)
def test_swapping_the_systems_turns_the_effect_round_and_nothing_else(table, estimator):
    ratings = ratings_of(table)
    swapped = SimpleNamespace(**{**vars(ratings), "system": 1 - ratings.system})
    rel = 1e-9 if estimator == "reml" else 1e-4
    same_fit(fit(ratings, estimator=estimator), fit(swapped, estimator=estimator), sign=-1.0, rel=rel)


@given(complete_tables(), st.integers(0, 1000))
@examples(30)
def test_the_order_of_rows_workers_and_items_does_not_matter(table, seed):
    rng = np.random.default_rng(seed)
    ratings = ratings_of(table)
    order = rng.permutation(len(ratings.rating))
    shuffled = SimpleNamespace(
        worker=rng.permutation(table.shape[0])[ratings.worker][order],
        item=rng.permutation(table.shape[1])[ratings.item][order],
        system=ratings.system[order],
        rating=ratings.rating[order],
    )
    same_fit(fit(ratings), fit(shuffled))


def test_workers_and_items_play_the_same_part():
    ratings = ratings_of(random_table(3, m=5, n=8))
    turned = SimpleNamespace(**{**vars(ratings), "worker": ratings.item, "item": ratings.worker})
    one, other = fit(ratings), fit(turned)
    assert other.criterion == pytest.approx(one.criterion, rel=1e-12)
    assert other.parameters.sd_item_slope == pytest.approx(one.parameters.sd_worker_slope, rel=1e-12)
    assert other.df_kenward_roger == pytest.approx(one.df_kenward_roger, rel=1e-12)


@given(complete_tables())
@examples(40)
def test_differences_in_closed_form_equal_those_of_the_general_engine(table):
    ratings = ratings_of(table)
    squares, mean = balanced.difference_squares(table[None])
    size = balanced.Size(table.shape[0], table.shape[1], table.shape[3])
    df = balanced.difference_df(size)
    strata = balanced.pool(squares, df)
    problem = CrossedProblem.of_differences(ratings.worker, ratings.item, ratings.system)
    general = fit_batch(problem, ratings.rating[None], start=np.ones(4))
    error = math.sqrt(balanced.effect_variance(strata.expected, size)[0])
    assert general.estimate[0] == pytest.approx(mean[0], abs=1e-10)
    if general.status[0] == 0:
        assert general.standard_error[0] == pytest.approx(error, rel=1e-4)
        assert general.sigma2[0] == pytest.approx(strata.expected[4, 0], rel=1e-3)
        df_kr = balanced.kenward_roger_df(strata.expected, df)[0]
        assert general.df_kenward_roger[0] == pytest.approx(df_kr, rel=1e-3)


def test_what_a_worker_and_an_item_share_does_not_touch_the_differences():
    table = random_table(1, m=5, n=7, repeats=2)
    shared = np.random.default_rng(0).normal(0, 1, (5, 7, 1, 1))
    plain, moved = (balanced.difference_squares(t[None]) for t in (table, table + shared))
    for one, other in zip(plain, moved, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)
