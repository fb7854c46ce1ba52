"""Fits by conjugate gradients and fixed probes against dense matrices and the dense engine."""

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
from cases import each_case, few_fast
from numpy.typing import NDArray
from scipy.linalg import hadamard

from humeval_power.errors import InputError
from humeval_power.estimation.crossed import problem as problem_module
from humeval_power.estimation.crossed.examination import design_information, examine, gram_information
from humeval_power.estimation.crossed.fits import BatchFit, fit_one
from humeval_power.estimation.crossed.problem import CrossedProblem
from humeval_power.estimation.fitting import fit
from humeval_power.estimation.large import iterative, probed_search
from humeval_power.estimation.large import probed_search as large_system
from humeval_power.estimation.large.probed_search import LargeSystem, grouped
from humeval_power.kernels.large.iterative import WIDTH
from humeval_power.studies.analyze.diagnostics import predicted_effects
from humeval_power.studies.fit.intervals import parameter_intervals

Floats = NDArray[np.float64]
SD = (0.12, 0.06, 0.10, 0.07, 0.2)


def table(
    m: int, n: int, k: int, *, seed: int = 1, paired: bool = True, sd: tuple[float, ...] = SD
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Floats]:
    """Worker, item, system and rating of n items, each by k of m workers under both systems, or each output by
    workers of its own."""
    random = np.random.default_rng(seed)
    who = np.stack([random.permutation(m)[: k if paired else 2 * k] for _ in range(n)])
    worker = np.repeat(who.ravel(), 2) if paired else who.ravel()
    item = np.repeat(np.arange(n), 2 * k)
    system = np.tile([0, 1], n * k)
    worker = np.unique(worker, return_inverse=True)[1]
    x = system - 0.5
    of_worker, of_item = random.normal(size=(2, m)), random.normal(size=(2, n))
    rating = 0.5 + 0.05 * x + sd[4] * random.normal(size=len(x))
    rating += of_worker[0, worker] * sd[0] + of_worker[1, worker] * sd[1] * x
    rating += of_item[0, item] * sd[2] + of_item[1, item] * sd[3] * x
    return worker, item, system, rating


def plain(seed: int = 1, **more: bool) -> tuple[CrossedProblem, Floats]:
    *codes, rating = table(12, 19, 3, seed=seed, **more)
    return CrossedProblem.of_design(*codes), rating


def with_documents() -> tuple[CrossedProblem, Floats]:
    *codes, rating = table(10, 18, 3, seed=3)
    random = np.random.default_rng(4)
    document = codes[1] // 3
    rating = rating + 0.1 * random.normal(size=6)[document]
    position = random.normal(size=(len(rating), 2))
    return CrossedProblem.of_design(*codes, document=document, covariates=position), rating


def differences() -> tuple[CrossedProblem, Floats]:
    *codes, rating = table(12, 20, 3, seed=5)
    return CrossedProblem.of_differences(*codes), rating


def interaction() -> tuple[CrossedProblem, Floats]:
    *codes, rating = table(12, 20, 3, seed=6)
    return CrossedProblem.of_design(*codes).with_interaction(codes[0], codes[1], 0.3), rating


def singular() -> tuple[CrossedProblem, Floats]:
    """No worker differs from another in what the systems do, and no item."""
    *codes, rating = table(12, 20, 3, seed=8, sd=(0.12, 0.0, 0.1, 0.0, 0.2))
    return CrossedProblem.of_design(*codes), rating


CASES: dict[str, Callable[[], tuple[CrossedProblem, Floats]]] = {
    "paired": plain,
    "unpaired": lambda: plain(2, paired=False),
    "documents and covariates": with_documents,
    "differences": differences,
    "worker-item": interaction,
    "singular": singular,
}


def columns_of(problem: CrossedProblem) -> tuple[Floats, list[int]]:
    """Z in the order of `LargeSystem`, and the type of each column."""
    n = len(problem.x)
    parts, types, first = [], [], 0
    for place in (*problem.outer, problem.inner):
        codes, columns = problem.factors[place]
        q = columns.shape[1]
        z = np.zeros((n, (codes.max() + 1) * q))
        for column in range(q):
            z[np.arange(n), codes * q + column] = columns[:, column]
        parts.append(z)
        types += [first + each % q for each in range(z.shape[1])]
        first += q
    return np.hstack(parts), types


@each_case("case", CASES)
@each_case("zero", [False, True], ids=["inside", "at zero"])
def test_a_solve_is_the_product_with_the_dense_inverse(case: str, zero: bool) -> None:
    problem, _ = CASES[case]()
    system = LargeSystem(problem.design)
    gamma = np.geomspace(0.002, 5.0, system.n_types)
    if zero:
        gamma[1::2] = 0.0
    z, types = columns_of(problem)
    inverse = np.linalg.inv(np.eye(len(z)) + (z * gamma[types]) @ z.T)
    columns = np.random.default_rng(1).normal(size=(len(z), WIDTH))
    system.at(gamma)
    found = np.ascontiguousarray(z.T @ columns)
    assert system.solve(found, np.zeros((system.order, WIDTH)), 1e-12)
    assert np.abs(found - z.T @ inverse @ columns).max() < 1e-9
    vectors = np.random.default_rng(2).normal(size=(z.shape[1], WIDTH))
    assert np.abs(system.gram_times(vectors) - z.T @ z @ vectors).max() < 1e-10


@each_case("case", CASES)
def test_information_at_variances_of_zero_is_exact(case: str) -> None:
    problem, _ = CASES[case]()
    system = LargeSystem(problem.design)
    found, phi = system.plain_information(problem.x.T @ problem.x)
    expected, expected_phi = gram_information(problem.gram, np.zeros(system.n_types))
    for one, other in zip((*found, phi), (*expected, expected_phi), strict=True):
        assert np.allclose(one, other, rtol=1e-9, atol=1e-9 * np.abs(other).max())


def of_all_signs(
    monkeypatch: pytest.MonkeyPatch, problem: CrossedProblem, rating: Floats, **more: bool
) -> BatchFit:
    """The fit with the rows of a Hadamard matrix as probes: their mean is the exact trace."""
    n_columns = LargeSystem(problem.design).n_columns
    rows = hadamard(1 << (n_columns - 1).bit_length())[:, :n_columns].T.astype(np.int8)

    def draw(self: probed_search.Search, _: int) -> None:
        self.signs = [each.astype(np.int8) for each in grouped(rows.astype(np.float64))]
        self.probe_starts = [np.zeros((self.system.order, WIDTH)) for _ in self.signs]

    monkeypatch.setattr(probed_search.Search, "draw_probes", draw)
    monkeypatch.setattr(iterative, "_LARGEST_ERROR", np.inf)
    monkeypatch.setattr(iterative, "_NORM_GROUPS", 200)
    monkeypatch.setattr(probed_search, "_PROMISE", 1e-11)
    return iterative.fit_iterative(problem, rating, **more)


@pytest.mark.parametrize("restricted", [True, False], ids=["REML", "ML"])
@few_fast("case", CASES, fast=2)
def test_with_exact_traces_the_search_ends_where_the_dense_one_does(
    case: str, restricted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, rating = CASES[case]()
    found = of_all_signs(monkeypatch, problem, rating, restricted=restricted)
    expected = fit_one(problem, rating, restricted=restricted)
    assert found.status[0] == expected.status[0] == 0
    assert np.allclose(found.gamma, expected.gamma, rtol=1e-4, atol=1e-5, equal_nan=True)
    for name in ("estimate", "baseline", "standard_error", "sigma2"):
        assert np.allclose(getattr(found, name), getattr(expected, name), rtol=1e-5, equal_nan=True), name
    # the norms have probes of their own
    assert np.allclose(
        found.standard_error_adjusted, expected.standard_error_adjusted, rtol=0.02, equal_nan=True
    )
    assert np.allclose(found.df_kenward_roger, expected.df_kenward_roger, rtol=0.1, equal_nan=True)
    assert np.allclose(found.df_satterthwaite, expected.df_satterthwaite, rtol=0.2, equal_nan=True)
    assert np.isnan(found.criterion).all()


def test_variances_of_a_larger_table_are_within_their_monte_carlo_error() -> None:
    *codes, rating = table(150, 300, 3, seed=2)
    problem = CrossedProblem.of_design(*codes)
    expected = fit_one(problem, rating)
    seen = examine(problem, rating, expected.gamma[0], restricted=True)
    assert seen.criterion == pytest.approx(float(expected.criterion[0]))
    found = iterative.fit_iterative(problem, rating)
    said = found.monte_carlo
    assert said is not None
    assert 0 < said.largest <= 0.01
    assert abs(found.estimate[0] - expected.estimate[0]) < 5 * said.effect * expected.standard_error[0]
    ratio = found.standard_error[0] / expected.standard_error[0] - 1.0
    assert abs(ratio) < 5 * said.standard_error
    assert found.df_kenward_roger[0] == pytest.approx(expected.df_kenward_roger[0], rel=0.05)


def test_results_are_the_same_bytes_for_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    *codes, rating = table(60, 100, 3)
    problem = CrossedProblem.of_design(*codes)
    first = iterative.fit_iterative(problem, rating, probes=24)
    for cores in (1, 5):
        monkeypatch.setattr(
            large_system.os, "sched_getaffinity", lambda _, n=cores: range(n), raising=False
        )
        again = iterative.fit_iterative(problem, rating, probes=24)
        assert all(
            np.array_equal(a, b, equal_nan=True) for a, b in zip(first[:11], again[:11], strict=True)
        )
        assert again.monte_carlo == first.monte_carlo


def test_another_seed_gives_other_probes_and_more_probes_less_error() -> None:
    *codes, rating = table(60, 100, 3)
    problem = CrossedProblem.of_design(*codes)
    fits = [
        iterative.fit_iterative(problem, rating, probes=n, seed=s) for n, s in ((64, 1), (64, 2), (384, 1))
    ]
    assert fits[0].gamma[0, 0] != fits[1].gamma[0, 0]
    few, _, many = (fit.monte_carlo for fit in fits)
    assert few is not None
    assert many is not None
    assert many.probes == 384
    assert many.largest < few.largest


def test_variances_that_a_table_does_not_tell_apart_do_not_disturb_the_rest() -> None:
    """Each output rated once: an item's slope and the residual are one."""
    m, n = 20, 60
    random = np.random.default_rng(7)
    worker = np.concatenate([np.arange(2 * n) % m])
    item, system = np.repeat(np.arange(n), 2), np.tile([0, 1], n)
    rating = 0.5 + 0.1 * random.normal(size=m)[worker] + 0.1 * random.normal(size=n)[item]
    rating = rating + 0.2 * random.normal(size=2 * n)
    problem = CrossedProblem.of_design(worker, item, system)
    found, expected = iterative.fit_iterative(problem, rating), fit_one(problem, rating)
    assert found.status[0] == 0
    assert found.estimate[0] == pytest.approx(expected.estimate[0], rel=1e-2)
    assert found.standard_error[0] == pytest.approx(expected.standard_error[0], rel=0.02)
    assert found.df_kenward_roger[0] == pytest.approx(expected.df_kenward_roger[0], rel=0.15)


@pytest.mark.long
@pytest.mark.slow
def test_the_printed_error_is_honest() -> None:
    """Over 100 seeds the SDs spread about those of exact traces as the printed errors say."""
    *codes, rating = table(150, 300, 3, seed=2)
    problem = CrossedProblem.of_design(*codes)
    exact = fit_one(problem, rating)
    gammas, printed = [], []
    for seed in range(100):
        fit = iterative.fit_iterative(problem, rating, probes=64, seed=seed)
        assert fit.monte_carlo is not None
        gammas.append(np.sqrt(fit.gamma[0] * fit.sigma2[0]))
        printed.append([fit.monte_carlo.deviations[name] for name in problem.components])
    own = np.std(gammas, axis=0) / np.mean(printed, axis=0)  # standard errors of the SDs, if honest
    truth = np.sqrt(exact.gamma[0] * exact.sigma2[0])
    z = (np.array(gammas) - truth) / (own * np.array(printed))
    assert (np.abs(z) < 2).mean() > 0.9
    assert (np.abs(z.mean(axis=0)) < 0.35).all()


def test_what_follows_a_fit_is_the_same_by_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fit of a table, its predictions and the information of its design, by dense blocks and by solves."""
    *codes, rating = table(60, 100, 3, seed=4)
    ratings = SimpleNamespace(worker=codes[0], item=codes[1], system=codes[2], rating=rating)
    gamma = np.array([0.3, 0.1, 0.2, 0.1])
    exact = fit(ratings)
    predicted = predicted_effects(exact, ratings)
    known, phi = design_information(CrossedProblem.of_ratings(ratings), gamma)
    monkeypatch.setattr(problem_module, "_MOST_WORK", 0.0)
    monkeypatch.setattr(problem_module, "_MOST_SPARSE_WORK", 0.0)
    problem = CrossedProblem.of_ratings(ratings)
    assert problem.is_iterative
    found = fit(ratings)
    assert found.monte_carlo is not None
    assert np.isnan(found.criterion)
    assert set(found.monte_carlo.deviations) == {name for name in exact.standard_errors if name[:2] == "sd"}
    for name, error in exact.standard_errors.items():
        value = getattr(exact.parameters, name)
        assert getattr(found.parameters, name) == pytest.approx(value, abs=0.03 * error), name
        assert found.standard_errors[name] == pytest.approx(error, rel=0.05)
    again = predicted_effects(exact, ratings)
    assert np.abs(again.fitted - predicted.fitted).max() < 1e-9
    for one, other in ((again.workers, predicted.workers), (again.items, predicted.items)):
        for name in ("intercept", "slope", "difference"):
            assert np.abs(getattr(one, name) - getattr(other, name)).max() < 1e-9
            error = f"{name}_error"
            assert np.allclose(getattr(one, error), getattr(other, error), rtol=0.1)
    info, found_phi = design_information(problem, gamma)
    assert np.allclose(found_phi, phi, rtol=1e-8)
    assert np.allclose(info.gg, known.gg, rtol=0.05, atol=0.01 * np.abs(known.gg).max())
    with pytest.raises(InputError, match="without evaluating its likelihood"):
        parameter_intervals(found, ratings, method="profile")


def test_the_shape_alone_chooses_the_engine() -> None:
    """Workers in separate parts or with few neighbours stay with exact factors, as many who are mixed do not."""
    item = np.repeat(np.arange(4000), 4)
    system = np.tile([0, 1], 8000)
    apart = np.repeat(np.stack([np.arange(4000), np.arange(4000) ^ 1], axis=1).ravel(), 2)
    mixed = np.repeat(np.random.default_rng(1).permuted(np.repeat(np.arange(4000), 2)), 2)
    assert not CrossedProblem.of_design(apart, item, system).is_iterative
    assert not CrossedProblem.of_design(mixed, item, system).is_iterative
    worker = np.repeat(np.random.default_rng(1).permuted(np.repeat(np.arange(4000), 8)), 2)
    item, system = np.repeat(np.arange(8000), 8), np.tile([0, 1], 32_000)
    assert CrossedProblem.of_design(worker, item, system).is_iterative
