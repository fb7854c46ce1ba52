"""Leaving workers out of large tables: searches that begin near their end, and fewer of them."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from reference import dense_model
from reference.structured_tables import SHAPES
from reference.structured_tables import ratings as structured_ratings
from seven import seven

from humeval_power.designs import k_per_item
from humeval_power.estimation.crossed.examination import at_variances_of, without_each_worker
from humeval_power.estimation.crossed.problem import COMPONENTS, few_fits
from humeval_power.estimation.fitting import fit
from humeval_power.ratings import ratings_from_table
from humeval_power.rules import DEFAULT_RULE
from humeval_power.simulation.study import SimulatedRatings, simulate
from humeval_power.studies.analyze import diagnostics
from humeval_power.studies.analyze.diagnostics import MOST_REFITS, leave_one_worker_out, most_left_out
from humeval_power.studies.analyze.result_diagnostics import influence_rows
from humeval_power.studies.fit.wald import effect_test


def test_a_search_that_begins_at_the_whole_study_ends_where_any_other_does():
    drawn = simulate(
        seven(0.5, 0.1, 0.1, 0.1, 0.0, 0.1, 0.15), k_per_item(40, 700, ratings_per_item=3), seed=2
    )
    kept = drawn.worker > 0
    rest = SimulatedRatings(
        drawn.worker[kept] - 1, drawn.item[kept], drawn.system[kept], drawn.rating[kept]
    )
    with few_fits():
        near, far = fit(rest, near=fit(drawn)), fit(rest)
    assert near.criterion == pytest.approx(far.criterion, rel=1e-10)
    assert near.parameters.effect == pytest.approx(far.parameters.effect, rel=1e-7)
    assert near.standard_error == pytest.approx(far.standard_error, rel=1e-6)


@pytest.mark.parametrize(("n_ratings", "expected"), [(12_000, MOST_REFITS), (250_000, 10), (10**7, 3)])
def test_fewer_workers_are_left_out_where_a_refit_takes_long(monkeypatch, n_ratings, expected):
    monkeypatch.setattr(diagnostics, "is_by_one_step", lambda *_, **__: False)
    for n_workers in (1000, 2):
        table = SimpleNamespace(n_ratings=n_ratings, n_workers=n_workers)
        assert most_left_out(table, DEFAULT_RULE, None) == min(expected, n_workers)


@pytest.mark.parametrize(
    ("workers", "items", "k"), [(12, 30, 3), (30, 12, 9), (8, 8, 8)], ids=["items", "workers", "complete"]
)
def test_deletion_in_one_step_is_least_squares_of_the_rows_that_remain(workers, items, k):
    drawn = simulate(
        seven(0.5, 0.1, 0.1, 0.1, 0.0, 0.1, 0.15), k_per_item(workers, items, ratings_per_item=k), seed=3
    )
    frame = pd.DataFrame({name: getattr(drawn, name) for name in ("worker", "item", "system", "rating")})
    ratings = ratings_from_table(frame.assign(system=frame["system"].map(str)))
    whole = fit(ratings)
    gamma = (
        np.array([getattr(whole.parameters, name) for name in COMPONENTS]) ** 2
        / whole.parameters.sd_residual**2
    )
    for code, found in enumerate(without_each_worker(whole, ratings, range(workers))):
        rest = ratings.of_rows(ratings.worker != code)
        X, zs = dense_model.design_matrices(rest.worker, rest.item, rest.system)
        inverse = np.linalg.inv(dense_model.h_matrix(zs, gamma))
        phi = np.linalg.inv(X.T @ inverse @ X)
        beta = phi @ X.T @ inverse @ rest.rating
        error = whole.parameters.sd_residual * np.sqrt(phi[1, 1])
        assert found.parameters.baseline == pytest.approx(beta[0], abs=1e-9)
        assert found.parameters.effect == pytest.approx(beta[1], abs=1e-9)
        assert found.standard_error == pytest.approx(error, rel=1e-9)
        assert (found.n_ratings, found.n_workers) == (rest.n_ratings, rest.n_workers)
        assert found.n_items == rest.n_items


@pytest.mark.parametrize(
    "shape", [SHAPES["nested unbalanced"], SHAPES["more documents than items"]], ids=str
)
def test_documents_and_covariates_are_deleted_in_one_step_too(shape):
    ratings = structured_ratings(shape, covariates=("length", "position"))
    whole = fit(ratings)
    for code, found in enumerate(without_each_worker(whole, ratings, range(ratings.n_workers))):
        expected = at_variances_of(whole, ratings.of_rows(ratings.worker != code))
        assert found.parameters.effect == pytest.approx(expected.parameters.effect, abs=1e-9)
        assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-8)


def many_workers(workers=80, items=120, seed=5):
    truth = seven(0.5, 0.03, 0.1, 0.1, 0.1, 0.05, 0.15)
    drawn = simulate(truth, k_per_item(workers, items, ratings_per_item=3), seed=seed)
    frame = pd.DataFrame({name: getattr(drawn, name) for name in ("worker", "item", "system", "rating")})
    return ratings_from_table(frame.astype({"worker": str, "item": str, "system": str}))


def test_many_workers_are_all_left_out_and_the_two_largest_shifts_are_refits():
    ratings = many_workers()
    whole = fit(ratings)
    assert most_left_out(ratings, DEFAULT_RULE, whole) == ratings.n_workers > MOST_REFITS
    found = leave_one_worker_out(ratings, fitted=whole)
    assert (len(found.left_out), found.n_not_tried, found.n_approximate) == (80, 0, 78)
    by_one_step = [
        one.parameters.effect - whole.parameters.effect
        for one in without_each_worker(whole, ratings, range(80))
    ]
    largest = set(np.argsort(np.abs(by_one_step))[-2:])
    assert {place for place, one in enumerate(found.left_out) if not one.approximate} == largest
    for place in largest:
        refitted = effect_test(fit(ratings.of_rows(ratings.worker != place)))
        assert found.left_out[place].estimate == pytest.approx(refitted.estimate, abs=1e-9)
    sentence = influence_rows(found)[1]
    assert "approximate, each at the variances of the whole study, but for the 2 largest shifts" in sentence


@pytest.mark.slow
@pytest.mark.parametrize("seed", [5, 6])
def test_one_step_says_of_every_worker_what_a_refit_says(seed):
    # The variances that a refit finds anew move with one worker of n by a relative 1 / n or so, the error by half
    # of that, and the estimate, whose weights alone depend on them, by far less than the error.
    ratings = many_workers(100, 200, seed)
    whole = fit(ratings)
    for code, one in enumerate(leave_one_worker_out(ratings, fitted=whole).left_out):
        refitted = effect_test(fit(ratings.of_rows(ratings.worker != code), near=whole))
        assert one.estimate == pytest.approx(refitted.estimate, abs=0.02 * refitted.standard_error)
        assert one.test.standard_error == pytest.approx(refitted.standard_error, rel=0.05)
        assert one.p_value == pytest.approx(refitted.p_value, abs=0.02)


def test_a_worker_without_whom_a_system_has_no_ratings_is_named_with_the_reason():
    ratings = many_workers()
    alone = ratings.of_rows((ratings.system == 0) | (ratings.worker == 7))
    found = leave_one_worker_out(alone)
    assert found.left_out[7].test is None
    assert found.left_out[7].reason
    assert all(one.test is not None for place, one in enumerate(found.left_out) if place != 7)
