"""Sparse factors of large tables: the same numbers as the kernels' dense block, in every shape of table."""

from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest
from cases import few_fast
from scipy.sparse import block_array, csr_array, eye_array

from humeval_power.estimation.crossed import problem as problem_module
from humeval_power.estimation.crossed.examination import design_information, examine, room_for
from humeval_power.estimation.crossed.fits import fit_one
from humeval_power.estimation.crossed.problem import CrossedProblem
from humeval_power.estimation.fitting import fit
from humeval_power.kernels.crossed import likelihood, second_order
from humeval_power.kernels.large import elimination, fronts
from humeval_power.kernels.large import information as large_information
from humeval_power.kernels.large.design import large_design
from humeval_power.studies.analyze.diagnostics import LevelEffects, predicted_effects

SDS = (0.2, 0.15, 0.2, 0.1)
GAMMAS = {
    "all there": (0.3, 0.3, 0.3, 0.3, 0.3, 0.3),
    "no worker intercept": (0.0, 0.2, 0.1, 0.4, 0.3, 0.2),
    "no slope": (0.3, 0.0, 0.1, 0.0, 0.2, 0.0),
    "items alone": (0.0, 0.0, 0.4, 0.2, 0.0, 0.0),
    "none": (0.0,) * 6,
    "far apart": (300.0, 1e-7, 2.0, 1e-7, 0.2, 1.0),
}


def _workers(shape, n_workers, n_items, k, rng):
    """Workers of each item, (n_items, k)."""
    if shape == "random":
        return np.array([rng.choice(n_workers, k, replace=False) for _ in range(n_items)])
    if shape == "blocks":  # connected parts of k workers
        return np.array([k * (i % (n_workers // k)) + np.arange(k) for i in range(n_items)])
    near = np.array([np.sort(rng.choice(20, k, replace=False)) for _ in range(n_items)])
    return (np.arange(n_items)[:, None] * n_workers // n_items + near) % n_workers


def _table(shape, n_workers, n_items, k, *, paired=True, seed=0):
    rng = np.random.default_rng(seed)
    worker = np.repeat(_workers(shape, n_workers, n_items, k, rng).ravel(), 2)
    item, system = np.repeat(np.arange(n_items), 2 * k), np.tile([0, 1], n_items * k)
    if not paired:
        kept = rng.random(len(worker)) < 0.8
        worker, item, system = worker[kept], item[kept], system[kept]
        worker, item = (np.unique(codes, return_inverse=True)[1] for codes in (worker, item))
    x = system - 0.5
    effects = [
        rng.normal(0, sd, codes.max() + 1)[codes]
        for sd, codes in zip(SDS, (worker,) * 2 + (item,) * 2, strict=True)
    ]
    rating = 0.5 + 0.05 * x + effects[0] + effects[2] + (effects[1] + effects[3]) * x
    return worker, item, system, rating + rng.normal(0, 0.3, len(x))


SHAPES = {
    "random": {"shape": "random", "n_workers": 150, "n_items": 200, "k": 3},
    "dense": {"shape": "random", "n_workers": 110, "n_items": 160, "k": 40},
    "parts": {"shape": "blocks", "n_workers": 99, "n_items": 150, "k": 3},
    "chain": {"shape": "chain", "n_workers": 100, "n_items": 100, "k": 4},
    "unpaired": {"shape": "random", "n_workers": 75, "n_items": 90, "k": 3, "paired": False},
    "unpaired, dense": {"shape": "random", "n_workers": 60, "n_items": 80, "k": 30, "paired": False},
    "unpaired chain": {"shape": "chain", "n_workers": 80, "n_items": 120, "k": 3, "paired": False},
    "unpaired parts": {"shape": "blocks", "n_workers": 60, "n_items": 90, "k": 3, "paired": False},
    "workers are more": {"shape": "random", "n_workers": 150, "n_items": 30, "k": 40, "paired": False},
}


def _problem(name, *, more=False):
    worker, item, system, rating = _table(**SHAPES[name])
    if not more:
        return CrossedProblem.of_design(worker, item, system), rating
    covariates = np.random.default_rng(1).normal(size=(len(rating), 1))
    return CrossedProblem.of_design(worker, item, system, document=item // 5, covariates=covariates), rating


@pytest.mark.parametrize("more", [False, True], ids=["plain", "documents and a covariate"])
@few_fast("name", SHAPES, fast=2)
def test_same_as_the_kernels(name, more):
    problem, rating = _problem(name, more=more)
    response = likelihood.Response(*(part[0] for part in problem.products(rating[None] - rating.mean())))
    large = large_design(problem.design)
    q = problem.n_components
    for variances in GAMMAS.values():
        gamma = problem.to_kernel(np.array(variances[:q]))
        seen = []
        for look, design in (
            (second_order.examine, problem.gram),
            (large_information.examine, large),
        ):
            room = room_for(q, problem.x.shape[1])
            prof, factor, trace = look(design, response, gamma, True, room.norm, room.xgx, room.xggx)
            seen.append([prof.criterion, prof.beta, prof.phi, prof.rss, prof.inner_hx, prof.outer_hx])
            seen[-1] += [
                prof.inner_py,
                prof.outer_py,
                factor.log_det,
                trace,
                room.norm,
                room.xgx,
                room.xggx,
            ]
        for ours, theirs in zip(*seen, strict=True):
            assert np.abs(ours - theirs).max() <= 1e-10 * max(np.abs(theirs).max(), 1e-300)


@few_fast("name", ["random", "parts", "chain", "unpaired"], fast=1)
def test_fit_and_what_follows_it_are_the_kernels(name, monkeypatch):
    worker, item, system, rating = _table(**SHAPES[name])
    found = {}
    for columns in (0, 10**9):
        monkeypatch.setattr(problem_module, "_MANY_COLUMNS", columns)
        problem = CrossedProblem.of_design(worker, item, system)
        assert problem.is_large == (columns == 0)
        ends = fit_one(problem, rating)
        seen = examine(problem, rating, ends.gamma[0], restricted=True)
        info, phi = design_information(problem, ends.gamma[0])
        found[columns] = [*ends[:10], seen.criterion, seen.rss, seen.phi, *seen.information, *info, phi]
        assert ends.status[0] == 0
    for ours, theirs in zip(found[0], found[10**9], strict=True):
        assert np.allclose(ours, theirs, rtol=1e-8, atol=1e-12)


def test_a_table_of_many_workers_is_large_and_builds_nothing_dense():
    worker, item, system, rating = _table("random", 300, 400, 3)
    problem = CrossedProblem.of_design(worker, item, system)
    found = fit_one(problem, rating)
    assert problem.is_large
    assert "gram" not in vars(problem)
    assert found.status[0] == 0
    assert np.allclose(np.sqrt(found.gamma[0] * found.sigma2[0]), SDS, atol=0.05)


def _half(n, n_groups, k, rng):
    touched = np.array([rng.choice(n, k, replace=False) for _ in range(n_groups)])
    entries = (rng.random(n_groups * k) + 0.1, (touched.ravel(), np.repeat(np.arange(n_groups), k)))
    return csr_array(csr_array(entries, shape=(n, n_groups)).T)


def _full(half):
    return csr_array(half.T @ half + eye_array(half.shape[1]))


def _fronts(half):
    return elimination.fronts_of(half, csr_array(eye_array(half.shape[1])))


@pytest.mark.parametrize(("n", "n_groups", "k"), [(20, 30, 3), (300, 200, 2), (400, 500, 2), (260, 900, 3)])
def test_fronts_factorise_solve_and_invert(n, n_groups, k):
    rng = np.random.default_rng(n)
    half = _half(n, n_groups, k, rng)
    matrix, own = _full(half), _fronts(half)
    place = own.place
    assert np.array_equal(np.sort(place), np.arange(n))
    assert ((own.parent == -1) | (own.parent > np.arange(len(own.parent)))).all()
    row, column = matrix.nonzero()
    high, low = place[row], place[column]
    kept = high >= low
    places = np.array([_where(own, a, b) for a, b in zip(high[kept], low[kept], strict=True)])
    buffer = np.zeros(own.entries)
    buffer[places] = matrix.toarray()[row[kept], column[kept]]
    tasks = fronts.spans_of(own)
    factor = fronts.factorised(own, buffer, tasks)
    dense = matrix.toarray()
    assert factor.ok
    assert factor.log_det == pytest.approx(np.linalg.slogdet(dense)[1], abs=1e-10)
    inverse = np.linalg.inv(dense)
    assert np.allclose(fronts.inverse(factor, tasks)[places], inverse[row[kept], column[kept]], atol=1e-12)
    right = rng.random((n, 3))
    solved = np.empty_like(right)
    solved[place] = right
    fronts.forward(factor, solved, tasks)
    fronts.backward(factor, solved, tasks)
    assert np.allclose(solved[place], inverse @ right, atol=1e-12)


def _where(own, high, low):
    """Where an entry is in the buffer, found by looking."""
    front = own.front_of[low]
    columns = [
        *range(own.first[front], own.first[front + 1]),
        *own.rows[own.begin[front] : own.begin[front + 1]],
    ]
    return own.offset[front] + columns.index(high) * len(columns) + columns.index(low)


def test_a_matrix_that_is_not_positive_definite_is_said_to_be():
    for n in (5, 200):
        own = _fronts(csr_array(np.ones((1, n))))
        factor = fronts.factorised(own, np.ones(own.entries), fronts.spans_of(own))
        assert not factor.ok


def test_threads_change_nothing():
    rng = np.random.default_rng(3)
    parts = [_half(n, 900, 3, rng) for n in (150, 130)]
    half = csr_array(block_array([[parts[0], None], [None, parts[1]]]))
    matrix, own = _full(half), _fronts(half)
    tasks = fronts.spans_of(own)
    assert len(tasks) == 2
    entries = matrix.tocoo()
    row, column = (own.place[place] for place in (entries.row, entries.col))
    buffer = np.zeros(own.entries)
    for high, low, value in zip(row, column, entries.data, strict=True):
        if high >= low:
            buffer[_where(own, high, low)] = value
    one, two = (fronts.factorised(own, buffer.copy(), tasks, threads) for threads in (1, 2))
    assert np.array_equal(one.buffer, two.buffer)
    assert one.log_det == two.log_det
    assert np.array_equal(fronts.inverse(one, tasks, 1), fronts.inverse(two, tasks, 2))


def test_predicted_effects_and_their_errors_are_the_kernels(monkeypatch):
    names = ("worker", "item", "system", "rating")
    ratings = SimpleNamespace(**dict(zip(names, _table(**SHAPES["unpaired chain"]), strict=True)))
    found = []
    for columns in (0, 10**9):
        monkeypatch.setattr(problem_module, "_MANY_COLUMNS", columns)
        seen = predicted_effects(fit(ratings), ratings)
        levels = [getattr(kind, part) for kind in (seen.workers, seen.items) for part in _EFFECTS]
        found.append([*levels, seen.fitted, seen.effect])
    for ours, theirs in zip(*found, strict=True):
        assert np.allclose(ours, theirs, rtol=1e-7, atol=1e-10)


_EFFECTS = tuple(part.name for part in fields(LevelEffects))
