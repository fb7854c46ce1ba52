"""Matrices of any design of several systems, at given variances: against dense matrices of all ratings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reference import dense_model
from reference.dense_many_systems import design_matrices, own_design_matrices
from test_joint_fit import random_table

from humeval_power.estimation.joint.any_design import AnyDesign, Patterns

OWN = (
    (0.3, 0.1, 0.8, 0.02, 0.5, 0.2, 0.0, 1.5),
    (0.0, 0.4, 0.0, 0.1, 0.0, 0.0, 0.3, 0.0),
    (0.0,) * 8,
    (2.0, 30.0, 0.0, 1.0, 4.0, 0.5, 9.0, 0.1),
)
FOUR = ((0.3, 0.1, 0.5, 0.2), (0.2, 0.0, 0.0, 0.4), (0.0, 0.5, 0.3, 0.0), (0.0,) * 4, (20.0, 3.0, 0.1, 8.0))
CASES = [
    *((3, "own", gamma) for gamma in OWN),
    *((3, "common", gamma) for gamma in FOUR),
    *((2, "two", gamma) for gamma in FOUR),
]


@pytest.mark.parametrize(("n_systems", "variances", "gamma"), CASES)
@pytest.mark.parametrize(("m", "n", "kept"), [(5, 9, 0.5), (5, 9, 2.0), (12, 7, 0.7), (40, 43, 0.1)])
def test_every_quantity_equals_the_one_from_dense_matrices(n_systems, variances, gamma, m, n, kept):
    rows = random_table(3, m=m, n=n, K=n_systems, kept=kept)
    gamma, y = np.array(gamma), rows.rating - rows.rating.mean()
    design = AnyDesign.of_rows(rows.worker, rows.item, rows.system, n_systems)
    by_worker = np.roll(gamma, 0 if design.worker_is_outer else len(gamma) // 2)
    patterns = (
        Patterns.of_two() if variances == "two" else Patterns.of_all(n_systems, own=variances == "own")
    )
    # any fall is small enough: the search ends where it starts
    found = design.fit(y[None], patterns, by_worker, tolerance=math.inf, max_steps=1)
    assert found.status[0, 0] == 0
    outer, inner = (rows.worker, rows.item) if design.worker_is_outer else (rows.item, rows.worker)
    if variances == "two":
        X, zs = np.eye(2)[rows.system], dense_model.design_matrices(outer, inner, rows.system)[1]
    else:
        matrices = own_design_matrices if variances == "own" else design_matrices
        X, zs = matrices(outer, inner, rows.system, n_systems)
    fitted = type(found.fitted)(*(part[0, 0] for part in found.fitted))
    beta, phi, rss = dense_model.fixed_effects(gamma, y, X, zs)
    quadratic, square = dense_model.working_products(gamma, y, X, zs)
    info = fitted.information(len(y))
    assert np.array_equal(fitted.gamma, gamma)
    for fast, slow in [
        (found.beta[0, 0], beta),
        (fitted.phi, phi),
        (fitted.rss, rss),
        (fitted.quadratic, quadratic),
        (fitted.square, square),
        *zip(info, dense_model.information(gamma, X, zs), strict=True),
    ]:
        # rounding, relative to the largest entry of each array
        assert np.abs(fast - slow).max() <= 1e-9 * max(1.0, np.abs(slow).max())


def test_a_variance_that_is_one_with_the_residual_does_not_keep_a_fit_from_settling():
    """With a rating of each output an item's own part of a system is its residual: the criterion is flat there, and
    highest-likelihood means are those of least squares with workers and items alone or with nothing."""
    m, n, K = 9, 12, 4
    item, system = np.indices((n, K)).reshape(2, -1)
    worker = (item + 2 * system) % m
    y = np.random.default_rng(3).random((40, n * K))
    design = AnyDesign.of_rows(worker, item, system, K)
    found = design.fit(y, Patterns.of_all(K, own=False), np.full(4, 0.5), tolerance=1e-8, max_steps=100)
    assert (found.status == 0).all()
    alone = (found.fitted.gamma[:, 0, :3] == 0).all(axis=1)  # nothing but what no rating can part
    assert alone.any()
    means = np.stack([y[alone][:, system == k].mean(axis=1) for k in range(K)], axis=1)
    assert np.allclose(found.beta[alone, 0] + y[alone].mean(axis=1, keepdims=True), means, atol=1e-12)
