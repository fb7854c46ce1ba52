"""Documents and covariates in the Gaussian model: the kernels against full matrices, and what follows."""

import numpy as np
import pytest
from cases import each_case, few_fast
from reference import dense_model
from reference.kernel_view import view
from reference.structured_tables import SHAPES, design_matrices, ratings, table

from humeval_power.errors import InputError
from humeval_power.estimation.crossed import problem as choice
from humeval_power.estimation.crossed.fits import fit_one
from humeval_power.estimation.crossed.problem import CrossedProblem
from humeval_power.estimation.fitting import fit
from humeval_power.kernels.crossed import dense, reml
from humeval_power.ratings import ratings_from_table
from humeval_power.studies.analyze.diagnostics import predicted_effects

COVARIATES = ("length", "position", "group")
GAMMAS = {
    "inside": np.array([0.4, 0.2, 0.6, 0.3, 0.5, 0.7]),
    "at zero": np.array([0.4, 0.0, 0.0, 0.3, 0.0, 0.7]),
    "large": np.array([30.0, 2.0, 0.1, 8.0, 20.0, 0.01]),
}


@few_fast("name", SHAPES, fast=4)
@each_case("gamma", GAMMAS.values())
@each_case("restricted", [True, False])
def test_the_kernel_is_the_dense_model(name, gamma, restricted):
    rated = ratings(SHAPES[name], covariates=COVARIATES)
    problem = CrossedProblem.of_ratings(rated)
    y = rated.rating - rated.rating.mean()
    seen = view(problem.gram, problem.products(y[None]), problem.to_kernel(gamma), restricted=restricted)
    X, zs = design_matrices(rated)
    assert seen.profile.criterion == pytest.approx(
        dense_model.criterion(gamma, y, X, zs, restricted), rel=1e-10
    )
    np.testing.assert_allclose(
        problem.from_kernel(seen.slope),
        dense_model.gradient(gamma, y, X, zs, restricted),
        rtol=1e-7,
        atol=1e-7,
    )
    beta = dense_model.fixed_effects(gamma, y, X, zs)[0]
    np.testing.assert_allclose(seen.profile.beta, beta, rtol=1e-8, atol=1e-10)
    for contrast in (problem.contrast, np.eye(len(beta))[-1]):
        ours = np.array(seen.precision(contrast))
        theirs = np.array(dense_model.precision(gamma, y, X, zs, contrast, restricted))
        # Satterthwaite's df have a meaning at the optimum alone: the observed information may be negative here.
        compared = [0, 1, 3] if restricted else [0]
        np.testing.assert_allclose(ours[compared], theirs[compared], rtol=1e-6)


@few_fast("name", SHAPES, fast=2)
def test_the_dense_engine_finds_what_the_kernels_find(name, monkeypatch):
    rated = ratings(SHAPES[name], covariates=COVARIATES)
    problem = CrossedProblem.of_ratings(rated)
    fits = []
    for by_dense in (False, True):
        monkeypatch.setattr(choice, "by_dense_matrices", lambda _gram, chosen=by_dense: chosen)
        fits.append(fit_one(problem, rated.rating))
    assert fits[0].status[0] == fits[1].status[0] == reml.CONVERGED
    assert fits[0].criterion[0] == pytest.approx(fits[1].criterion[0], abs=1e-7)
    assert fits[0].estimate[0] == pytest.approx(fits[1].estimate[0], abs=1e-6)
    gamma = GAMMAS["inside"]
    info, phi = dense.design_information(problem.gram, problem.to_kernel(gamma))
    X, zs = design_matrices(rated)
    order = [*problem.from_kernel(np.arange(6.0)).astype(int), 6]
    gg, xgx, xggx = dense_model.information(gamma, X, zs)
    np.testing.assert_allclose(info.gg[np.ix_(order, order)], gg, rtol=1e-8, atol=1e-9 * gg.max())
    np.testing.assert_allclose(info.xgx[order], xgx, rtol=1e-8, atol=1e-9 * xgx.max())
    np.testing.assert_allclose(info.xggx[np.ix_(order, order)], xggx, rtol=1e-8, atol=1e-9 * xggx.max())
    assert phi == pytest.approx(dense_model.fixed_effects(gamma, rated.rating, X, zs)[1], rel=1e-8)


@few_fast("name", SHAPES, fast=3)
@few_fast("estimator", ["reml", "ml"], fast=1)
def test_no_other_point_has_a_lower_criterion(name, estimator):
    rated = ratings(SHAPES[name], covariates=COVARIATES)
    fitted = fit(rated, estimator=estimator)
    X, zs = design_matrices(rated)
    names = CrossedProblem.of_ratings(rated).components
    best = np.array([getattr(fitted.parameters, name) for name in names]) / fitted.parameters.sd_residual
    here = dense_model.criterion(best**2, rated.rating, X, zs, estimator == "reml")
    assert fitted.criterion == pytest.approx(here, abs=1e-7)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 1e-1):
        for _ in range(4):
            other = np.maximum(best**2 + size * rng.normal(size=6), 0.0)
            assert dense_model.criterion(other, rated.rating, X, zs, estimator == "reml") >= here - 1e-7


def test_only_the_restricted_fit_has_effects_of_every_category_and_their_sum_is_zero():
    rated = ratings(SHAPES["nested unbalanced"], covariates=COVARIATES)
    fitted = fit(rated)
    labels = [one.label for one in fitted.covariates]
    assert labels[2:] == ["group: crowd", "group: expert", "group: lay"]
    assert sum(one.estimate for one in fitted.covariates[2:]) == pytest.approx(0.0, abs=1e-12)
    assert {one.covariate for one in fitted.covariates} == set(COVARIATES)
    X, zs = design_matrices(rated)
    names = CrossedProblem.of_ratings(rated).components
    gamma = np.array([getattr(fitted.parameters, name) for name in names]) ** 2
    gamma = gamma / fitted.parameters.sd_residual**2
    for one, contrast in zip(fitted.covariates[:2], np.eye(X.shape[1])[2:4], strict=True):
        theirs = dense_model.precision(gamma, rated.rating, X, zs, contrast)
        ours = (one.standard_error, one.standard_error_adjusted, one.df_satterthwaite, one.df_kenward_roger)
        assert ours == pytest.approx(theirs, rel=1e-5)


def test_a_covariate_that_is_orthogonal_to_all_else_changes_nothing_but_the_residual_df():
    """In a complete table a column that is balanced within every worker, item and system has no part in what
    they tell of the difference."""
    frame = table(SHAPES["nested complete"])
    worker = frame["worker"].str[1:].astype(int).to_numpy()
    item = frame["item"].str[1:].astype(int).to_numpy()
    system = (frame["system"] == "B").to_numpy()
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(5, 18, 2))
    for axes in (
        (0,),
        (1,),
        (2,),
        (0, 1),
        (0, 2),
        (1, 2),
        (0, 1, 2),
    ):  # what is left varies in none of them
        noise = noise - noise.mean(axis=axes[0], keepdims=True) if len(axes) == 1 else noise
    frame["pure"] = noise[worker, item, system.astype(int)]
    read = {"systems": ("A", "B"), "document": "text"}
    with_it = fit(ratings_from_table(frame, covariates=("pure",), **read))
    without = fit(ratings_from_table(frame, **read))
    assert with_it.parameters.effect == pytest.approx(without.parameters.effect, abs=1e-9)
    assert with_it.standard_error == pytest.approx(without.standard_error, rel=2e-2)
    assert with_it.parameters.sd_document_slope == pytest.approx(
        without.parameters.sd_document_slope, abs=5e-3
    )


def test_documents_of_one_item_each_are_not_told_from_items():
    frame = table(SHAPES["nested unbalanced"])
    frame["text"] = "d" + frame["item"]
    fitted = fit(ratings_from_table(frame, systems=("A", "B"), document="text"))
    alone = fit(ratings_from_table(frame, systems=("A", "B")))
    both = {"sd_item_intercept", "sd_item_slope", "sd_document_intercept", "sd_document_slope"}
    assert set(fitted.not_identified) == both
    assert any("sd_item_slope^2 + sd_document_slope^2" in said for said in fitted.identified_combinations)
    assert fitted.parameters.effect == pytest.approx(alone.parameters.effect, abs=1e-6)
    assert fitted.standard_error == pytest.approx(alone.standard_error, rel=1e-4)


def test_a_document_of_all_rows_is_refused_and_so_are_covariates_that_say_the_same():
    rated = ratings(SHAPES["nested complete"], covariates=("length",))
    one = rated.of_rows(rated.document == 0)
    with pytest.raises(InputError, match="At least 2 documents"):
        fit(one)


@few_fast("name", ["nested unbalanced", "crossed unbalanced", "more workers than items"], fast=1)
def test_predictions_and_residuals_add_up_to_the_ratings(name):
    rated = ratings(SHAPES[name], covariates=COVARIATES)
    fitted = fit(rated)
    found = predicted_effects(fitted, rated)
    X, zs = design_matrices(rated)
    names = CrossedProblem.of_ratings(rated).components
    gamma = np.array([getattr(fitted.parameters, name) for name in names]) ** 2
    gamma = gamma / fitted.parameters.sd_residual**2
    beta = dense_model.fixed_effects(gamma, rated.rating, X, zs)[0]
    Hi = np.linalg.inv(dense_model.h_matrix(zs, gamma))
    random = [g * z.T @ Hi @ (rated.rating - X @ beta) for g, z in zip(gamma, zs, strict=True)]
    assert found.workers.slope == pytest.approx(random[1], abs=1e-8)
    assert found.items.intercept == pytest.approx(random[2], abs=1e-8)
    assert found.documents is not None
    assert found.documents.slope == pytest.approx(random[5], abs=1e-8)
    expected = X @ beta + sum(z @ u for z, u in zip(zs, random, strict=True))
    assert found.fitted == pytest.approx(expected, abs=1e-8)


def test_differences_have_documents_and_covariates_too():
    """In a complete table the analysis of differences is that of the ratings where intercepts cancel."""
    rated = ratings(SHAPES["nested complete"])
    problem = CrossedProblem.of_differences(rated.worker, rated.item, rated.system, document=rated.document)
    assert len(problem.factors) == 3
    found = fit_one(problem, rated.rating)
    whole = fit(rated)
    assert found.estimate[0] == pytest.approx(whole.parameters.effect, abs=1e-9)
    assert np.isnan(found.gamma[0, 4])
    assert found.gamma[0, 5] >= 0
