"""Replicates of an even design are fitted side by side, to the numbers that the kernels find one by one."""

import numpy as np
import pytest
from cases import each_case, examples
from hypothesis import given
from hypothesis import strategies as st
from reference import dense_model

from humeval_power.designs import crossed, k_per_item
from humeval_power.estimation.crossed.fits import fit_batch, fit_even
from humeval_power.estimation.crossed.problem import CrossedProblem
from humeval_power.kernels.crossed import reml
from humeval_power.kernels.crossed.even_designs import (
    evaluate,
    inverse_of,
    newton_directions,
    second_order,
    sums_of,
)
from humeval_power.kernels.crossed.information import Fitted
from humeval_power.parameters import preset
from humeval_power.studies.power.replication import Replication

PARAMETERS = preset("high").recoded().with_difference(0.1)
CLOSE = {"rtol": 1e-8, "atol": 1e-8}


def _rows(name):
    """Worker, item and system of even designs: balanced loads, repeats, separate parts, more workers than items."""
    if name == "two parts":
        worker, item, system = np.indices((4, 6, 2)).reshape(3, -1)
        return np.append(worker, worker + 4), np.append(item, item + 6), np.append(system, system)
    design = {
        "k = 3": lambda: k_per_item(6, 20, ratings_per_item=3),
        "k = 1": lambda: k_per_item(4, 12, ratings_per_item=1),
        "complete": lambda: crossed(4, 9),
        "repeated": lambda: crossed(3, 5),
        "more workers": lambda: k_per_item(20, 8, ratings_per_item=5),
    }[name]()
    rows = design.assignment
    again = 2 if name == "repeated" else 1
    return tuple(np.tile(codes, again) for codes in (rows.worker, rows.item, rows.system))


NAMES = ("k = 3", "k = 1", "complete", "repeated", "two parts", "more workers")


def _responses(rows, n, seed=1, gamma=(0.5, 0.3, 0.4, 0.6), residual=0.2):
    """Ratings (n, rows) from the model; relative variances of 0 among them leave components at the boundary."""
    rng = np.random.default_rng(seed)
    worker, item, system = rows
    x = system - 0.5
    spread = residual * np.sqrt(np.asarray(gamma))
    sizes = (worker.max() + 1, worker.max() + 1, item.max() + 1, item.max() + 1)
    effects = [rng.normal(0, sd, (n, size)) for sd, size in zip(spread, sizes, strict=True)]
    mean = 0.6 + effects[0][:, worker] + effects[2][:, item]
    return (
        mean
        + (0.1 + effects[1][:, worker] + effects[3][:, item]) * x
        + rng.normal(0, residual, (n, len(x)))
    )


NOT_IDENTIFIED = ("sigma2", "gamma")  # where each item has one worker: an item's variance and the residual


def _assert_alike(ours, theirs, *, rtol=1e-9, besides=()):
    np.testing.assert_array_equal(ours.status, theirs.status)
    for name, mine, other in zip(ours._fields, ours, theirs, strict=True):
        if isinstance(mine, np.ndarray) and name not in besides:
            np.testing.assert_allclose(mine, other, rtol=rtol, atol=1e-11, err_msg=name)


@each_case("restricted", [True, False], ids=["reml", "ml"])
@each_case("name", NAMES)
def test_side_by_side_is_one_by_one(name, restricted):
    rows = _rows(name)
    problem = CrossedProblem.of_design(*rows)
    assert problem.even is not None
    responses = np.concatenate([_responses(rows, 20), _responses(rows, 20, seed=2, gamma=(0.2, 0, 0.1, 0))])
    options = {"start": np.array([0.5, 0.3, 0.4, 0.6]), "restricted": restricted}
    ours = fit_batch(problem, responses, side_by_side=True, **options)
    theirs = fit_batch(problem, responses, **options)
    assert (ours.gamma == 0).any()
    _assert_alike(ours, theirs, besides=NOT_IDENTIFIED if name == "k = 1" else ())


@each_case("name", NAMES)
def test_differences_too(name):
    rows = _rows(name)
    problem = CrossedProblem.of_differences(*rows)
    assert problem.even is not None
    responses, start = _responses(rows, 30), np.array([0.5, 0.3, 0.4, 0.6])
    ours = fit_batch(problem, responses, start=start, side_by_side=True)
    besides = NOT_IDENTIFIED if name == "k = 1" else ()
    _assert_alike(ours, fit_batch(problem, responses, start=start), besides=besides)


def test_covariates_take_part_wherever_they_are():
    rows = _rows("k = 3")
    covariates = np.random.default_rng(3).normal(size=(len(rows[0]), 2))
    problem = CrossedProblem.of_design(*rows, covariates=covariates)
    responses, start = _responses(rows, 12) + covariates @ [0.3, -0.2], np.ones(4)
    contrasts = np.eye(4)[2:]
    ours = fit_batch(problem, responses, start=start, contrasts=contrasts, side_by_side=True)
    _assert_alike(ours, fit_batch(problem, responses, start=start, contrasts=contrasts))


@given(
    st.sampled_from(NAMES),
    st.lists(st.sampled_from([0.0, 0.01, 0.5, 3.0, 100.0]), min_size=4, max_size=4),
    st.booleans(),
)
@examples(12)
def test_a_point_is_that_of_the_dense_model(name, gamma, restricted):
    rows = _rows(name)
    problem, gamma = CrossedProblem.of_design(*rows), np.array(gamma)
    responses = _responses(rows, 2)
    responses -= responses.mean(axis=1)[:, None]
    sums = sums_of(problem.even, np.ascontiguousarray(responses.T))
    point = evaluate(
        problem.even, sums, np.repeat(problem.to_kernel(gamma)[:, None], 2, axis=1), restricted
    )
    order = problem.to_kernel(np.arange(4))
    X, zs = dense_model.design_matrices(*rows)
    norm, xgx, xggx = second_order(problem.even, point)
    for lane, y in enumerate(responses):
        beta, phi, rss = dense_model.fixed_effects(gamma, y, X, zs)
        quadratic, square = dense_model.working_products(gamma, y, X, zs)
        slope = dense_model.gradient(gamma, y, X, zs, restricted)
        for ours, theirs in (
            (point.criterion[lane], dense_model.criterion(gamma, y, X, zs, restricted)),
            (point.beta[:, lane], beta),
            (point.phi[..., lane], phi),
            (point.rss[lane], rss),
            (point.slope[:, lane], slope[order]),
            (point.quadratic[..., lane], quadratic[np.ix_(order, order)]),
            (point.square[:, lane], square[order]),
        ):
            np.testing.assert_allclose(ours, theirs, **CLOSE)
        parts = (problem.to_kernel(gamma), phi, np.array(rss), point.trace[:, lane])
        moments = (norm[..., lane], xgx[..., lane], xggx[..., lane])
        info = Fitted(*parts, quadratic, square, *moments).information(len(X))
        for ours, theirs in zip(info, dense_model.information(gamma, X, zs), strict=True):
            with_residual = np.append(order, 4)
            ix = (with_residual,) if ours.ndim == 3 else np.ix_(with_residual, with_residual)
            np.testing.assert_allclose(ours, theirs[ix], **CLOSE)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_a_fit_does_not_depend_on_its_neighbours(count):
    rows = _rows("k = 3")
    problem, responses = CrossedProblem.of_design(*rows), _responses(_rows("k = 3"), 40)
    start = np.array([0.5, 0.3, 0.4, 0.6])
    whole = fit_batch(problem, responses, start=start, side_by_side=True)
    for first in (0, 11, 40 - count):
        part = slice(first, first + count)
        own = fit_batch(problem, responses[part], start=start, side_by_side=True)
        for name, mine, other in zip(whole._fields, own, whole, strict=True):
            if isinstance(mine, np.ndarray):
                np.testing.assert_array_equal(mine, other[part], err_msg=name)


def test_studies_are_the_same_bytes_for_any_portion_and_number_of_threads():
    replication = Replication(PARAMETERS, k_per_item(10, 30, ratings_per_item=3))
    whole = replication.fits(600, seed=4)
    for other in (
        replication.fits(600, seed=4, n_jobs=2),
        type(whole).joined(
            [replication.fits(n, seed=4, first=at) for at, n in ((0, 257), (257, 1), (258, 342))]
        ),
    ):
        for name in ("estimate", "standard_error", "adjusted", "satterthwaite", "kenward_roger", "zero"):
            np.testing.assert_array_equal(getattr(other, name), getattr(whole, name), err_msg=name)


@pytest.mark.parametrize(
    "design",
    [k_per_item(7, 20, ratings_per_item=3), k_per_item(8, 20, ratings_per_item=2, paired=False)],
    ids=["loads differ", "other workers for each system"],
)
def test_a_design_that_is_not_even_is_fitted_one_by_one(design):
    rows = design.assignment
    assert CrossedProblem.of_design(rows.worker, rows.item, rows.system).even is None
    replication = Replication(PARAMETERS, design)
    assert (replication.fits(5, seed=1).status == reml.CONVERGED).all()


def test_documents_are_not_even():
    rows = _rows("k = 3")
    assert CrossedProblem.of_design(*rows, document=rows[1] // 4).even is None


def test_what_does_not_converge_or_runs_away_is_fitted_again():
    rows = _rows("k = 3")
    problem = CrossedProblem.of_design(*rows)
    worker, item, system = rows
    responses = _responses(rows, 6)
    responses[1] = 0.5  # no variance at all
    responses[2] = 0.3 + 0.1 * worker + 0.01 * item**2 + 0.05 * system * worker  # no residual
    responses[4] = responses[2] + 1e-5 * np.random.default_rng(0).normal(size=len(worker))
    start = np.array([0.5, 0.3, 0.4, 0.6])
    alone = fit_even(problem.even, responses - responses.mean(axis=1)[:, None], start, True, 1e-8, 200)
    gamma = alone[3]
    left = (alone[0] != reml.CONVERGED) | (gamma.max(axis=1) > 1e3)
    assert left[[1, 4]].all()
    assert not left[[0, 3, 5]].any()
    ours = fit_batch(problem, responses, start=start, side_by_side=True)
    theirs = fit_batch(problem, responses, start=start)
    _assert_alike(ours, theirs)
    for name in ("estimate", "standard_error", "gamma", "criterion"):  # these are the kernels' own
        np.testing.assert_array_equal(getattr(ours, name)[left], getattr(theirs, name)[left])


def test_steps_from_a_singular_hessian_are_those_of_the_search_one_by_one():
    def alone(hessian, slope, free):
        function = reml.newton_direction.py_func
        spaces = {**function.__globals__, "spd_inverse": reml.spd_inverse.py_func}
        return type(function)(function.__code__, spaces)(hessian, slope, free)

    rng = np.random.default_rng(5)
    factors = rng.normal(size=(6, 4, 4))
    hessian = factors @ factors.transpose(0, 2, 1)
    hessian[1] = np.outer(factors[1, 0], factors[1, 0])  # rank 1
    hessian[2, 2, :] = hessian[2, :, 2] = 0.0
    hessian[3] = -hessian[3]  # never positive: the scaled slope itself
    slope, free = rng.normal(size=(6, 4)), rng.random((6, 4)) < 0.7
    free[4] = False
    with np.errstate(all="ignore"):
        ours = newton_directions(np.moveaxis(hessian, 0, -1), slope.T, free.T)
    for lane in range(6):
        expected = alone(hessian[lane], slope[lane], free[lane])
        np.testing.assert_allclose(ours[:, lane], expected, rtol=1e-6, err_msg=str(lane))


def test_small_inverses_say_which_matrices_are_not_positive():
    matrices = np.stack([np.diag([4.0, 1.0]), np.array([[1.0, 2.0], [2.0, 1.0]])], axis=-1)
    inverse, log_det, ok = inverse_of(matrices)
    assert ok.tolist() == [True, False]
    np.testing.assert_allclose(inverse[..., 0], np.diag([0.25, 1.0]))
    assert log_det[0] == pytest.approx(np.log(4.0))


def test_power_of_an_even_design_is_the_same_as_before_it_was_split(monkeypatch):
    """Decisions, not only numbers: every p-value falls on the same side."""
    replication = Replication(PARAMETERS, k_per_item(10, 40, ratings_per_item=3))
    ours = replication.fits(200, seed=9)
    monkeypatch.setattr(CrossedProblem, "even", None)
    theirs = Replication(PARAMETERS, replication.design).fits(200, seed=9)
    t = [np.abs(fits.estimate) / fits.standard_error for fits in (ours, theirs)]
    np.testing.assert_allclose(*t, rtol=1e-9)
