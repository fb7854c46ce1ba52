"""Predicted effects against dense matrices and against lme4's ranef."""

import json
import shutil
import subprocess
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from cases import each_case
from places import TESTS
from reference import dense_model
from seven import seven

from humeval_power.designs import crossed, k_per_item
from humeval_power.errors import InputError
from humeval_power.estimation.crossed.problem import COMPONENTS
from humeval_power.estimation.fitting import fit
from humeval_power.simulation.study import draw_ratings, replicate_generator
from humeval_power.studies.analyze.diagnostics import predicted_effects

SCRIPT, GOLDEN = TESTS / "oracles" / "ranef_oracle.R", TESTS / "golden" / "ranef.json"
DESIGNS = TESTS / "golden" / "random_designs.json"
RANDOM = {record["name"]: record for record in json.loads(DESIGNS.read_text())["comparisons"]}
RANEF = {record["name"]: record for record in json.loads(GOLDEN.read_text())["designs"]}
EFFECTS = ("worker_intercept", "worker_slope", "item_intercept", "item_slope")


def study(design, seed=1):
    rows = design.assignment
    parameters = seven(0.5, 0.1, 0.1, 0.15, 0.1, 0.2, 0.2)
    rating = draw_ratings(parameters, design, replicate_generator(seed, 0))
    return SimpleNamespace(worker=rows.worker, item=rows.item, system=rows.system, rating=rating)


def thinned(ratings, seed):
    """A third of the rows at random, with every level kept."""
    kept = np.random.default_rng(seed).random(len(ratings.rating)) < 0.33
    for codes in (ratings.worker, ratings.item):
        kept[np.unique(codes, return_index=True)[1]] = True
    return SimpleNamespace(**{name: values[kept] for name, values in vars(ratings).items()})


STUDIES = {
    "complete": lambda: study(crossed(4, 7)),
    "sparse": lambda: study(k_per_item(7, 20, ratings_per_item=3)),
    "split": lambda: study(k_per_item(8, 20, ratings_per_item=3, paired=False)),
    "uneven": lambda: thinned(study(crossed(6, 15)), 2),
    "more workers than items": lambda: thinned(study(crossed(15, 5)), 3),
}


def flat(predictions):
    """The four effects, one after the other, and their errors."""
    sides = (predictions.workers, predictions.items)
    values = [value for side in sides for value in (side.intercept, side.slope)]
    errors = [value for side in sides for value in (side.intercept_error, side.slope_error)]
    return values, errors


@each_case("zero", [False, True], ids=["inside", "one at zero"])
@each_case("name", STUDIES)
def test_predictions_are_those_of_dense_matrices(name, zero):
    ratings = STUDIES[name]()
    result = fit(ratings)
    deviations = [0.08, 0.0 if zero else 0.12, 0.15, 0.1]
    changed = replace(result.parameters, sd_residual=0.2, **dict(zip(COMPONENTS, deviations, strict=True)))
    predictions = predicted_effects(replace(result, parameters=changed), ratings)

    X, zs = dense_model.design_matrices(ratings.worker, ratings.item, ratings.system)
    gamma, sigma2 = (np.array(deviations) / 0.2) ** 2, 0.2**2
    H = dense_model.h_matrix(zs, gamma)
    Hi = np.linalg.inv(H)
    phi = np.linalg.inv(X.T @ Hi @ X)
    beta = phi @ X.T @ Hi @ ratings.rating
    left = Hi @ (ratings.rating - X @ beta)
    values, errors = flat(predictions)
    fitted = X @ beta
    for g, z, value, error in zip(gamma, zs, values, errors, strict=True):
        np.testing.assert_allclose(value, g * z.T @ left, atol=1e-11)
        covariance = sigma2 * (g * np.eye(z.shape[1]) - g**2 * z.T @ Hi @ z)
        np.testing.assert_allclose(error, np.sqrt(np.abs(np.diag(covariance))), atol=1e-9)
        fitted = fitted + z @ (g * z.T @ left)
    np.testing.assert_allclose(predictions.fitted, fitted, atol=1e-11)
    np.testing.assert_allclose(predictions.residual, ratings.rating - fitted, atol=1e-11)
    np.testing.assert_allclose([predictions.baseline, predictions.effect], beta, atol=1e-11)
    for place, side in ((1, predictions.workers), (3, predictions.items)):
        # b1 + u - (true b1 + U) = l'y - ...: its variance from the weights of the ratings themselves
        z, g = zs[place], gamma[place]
        weights = phi[1] @ X.T @ Hi + g * z.T @ (Hi - Hi @ X @ phi @ X.T @ Hi)
        variance = sigma2 * (
            np.einsum("ln,nm,lm->l", weights, H, weights) - 2 * g * np.einsum("ln,nl->l", weights, z) + g
        )
        np.testing.assert_allclose(side.difference_error, np.sqrt(variance), atol=1e-9)
        np.testing.assert_allclose(side.difference, beta[1] + side.slope, atol=1e-12)


@pytest.mark.parametrize("name", RANEF)
def test_predictions_are_those_of_lme4_at_its_own_variances(name):
    expected, record = RANEF[name], RANDOM[name]
    arrays = {key: np.array(record[key], dtype=np.int64) for key in ("worker", "item", "system")}
    ratings = SimpleNamespace(**arrays, rating=np.array(record["rating"], dtype=float))
    result = fit(ratings)
    deviations = {key: expected[key] for key in (*COMPONENTS, "sd_residual")}
    predictions = predicted_effects(
        replace(result, parameters=replace(result.parameters, **deviations)), ratings
    )
    # the golden file holds ten digits after the point
    for key, value, error in zip(EFFECTS, *flat(predictions), strict=True):
        np.testing.assert_allclose(value, expected[key]["value"], atol=1e-8)
        np.testing.assert_allclose(error, expected[key]["error"], atol=1e-8)
    np.testing.assert_allclose(predictions.residual, expected["residual"], atol=1e-8)
    assert predictions.effect == pytest.approx(expected["effect"], abs=1e-8)
    assert predictions.baseline == pytest.approx(expected["baseline"], abs=1e-8)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.r
def test_running_lme4_again_gives_the_stored_predictions(tmp_path):
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("Rscript is not installed")
    for package in ("lme4", "jsonlite"):
        call = [program, "-e", f"stopifnot(requireNamespace('{package}', quietly = TRUE))"]
        if subprocess.run(call, capture_output=True, check=False).returncode != 0:
            pytest.skip(f"the R package {package} is not installed")
    taken = tmp_path / "out.json"
    subprocess.run([program, str(SCRIPT), str(DESIGNS), str(taken)], check=True, capture_output=True)
    for found in json.loads(taken.read_text())["designs"]:
        for key in EFFECTS:
            # lme4's optimiser may stop elsewhere in the sixth digit on another machine
            np.testing.assert_allclose(found[key]["value"], RANEF[found["name"]][key]["value"], atol=1e-4)


def test_the_effect_of_a_fit_comes_back_from_its_variances():
    ratings = STUDIES["uneven"]()
    result = fit(ratings)
    predictions = predicted_effects(result, ratings)
    assert predictions.effect == pytest.approx(result.parameters.effect, abs=1e-10)
    assert predictions.baseline == pytest.approx(result.parameters.baseline, abs=1e-10)


def test_what_workers_and_items_share_is_counted_as_error_with_its_covariance():
    ratings = STUDIES["sparse"]()
    result = fit(ratings)
    changed = replace(result.parameters, sd_worker_item=0.15)
    predictions = predicted_effects(replace(result, parameters=changed), ratings)
    X, zs = dense_model.design_matrices(ratings.worker, ratings.item, ratings.system)
    pair = np.unique(ratings.worker * 1000 + ratings.item, return_inverse=True)[1]
    both = (pair[:, None] == np.arange(pair.max() + 1)).astype(float)
    variances = np.array([getattr(changed, name) for name in COMPONENTS]) ** 2
    V = sum(v * z @ z.T for v, z in zip([*variances, 0.15**2], [*zs, both], strict=True))
    Vi = np.linalg.inv(V + changed.sd_residual**2 * np.eye(len(X)))
    beta = np.linalg.solve(X.T @ Vi @ X, X.T @ Vi @ ratings.rating)
    left = Vi @ (ratings.rating - X @ beta)
    for v, z, value in zip(variances, zs, flat(predictions)[0], strict=True):
        np.testing.assert_allclose(value, v * z.T @ left, atol=1e-10)


def test_a_fit_of_other_ratings_is_refused():
    with pytest.raises(InputError, match="fit them first"):
        predicted_effects(fit(STUDIES["sparse"]()), STUDIES["complete"]())
