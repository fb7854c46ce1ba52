"""The latent engine against dense matrices, integration, statsmodels and the values that made the data."""

import numpy as np
import pytest
from cases import each_case, few_fast
from reference.latent_twin import Twin, design_columns, dummies
from scipy import integrate, stats

from humeval_power.estimation.latent.engine import LatentProblem, Start, fit_latent_batch
from humeval_power.estimation.latent.search import LatentPoint, Setting, evaluate, lower_bounds
from humeval_power.kernels.latent.mode import Cuts

SD = (0.6, 0.4, 0.7, 0.5)


def grid(*shape):
    return np.indices(shape).reshape(len(shape), -1)


def draw(rng, codes, *, cuts, link, sd=SD, effect=0.6, document=None):
    """One table of categories."""
    worker, item, system = codes
    x = system - 0.5
    eta = effect * x
    factors = [worker, item] if document is None else [worker, item, document]
    for column, f in zip(factors, range(0, 6, 2), strict=False):
        a, b = (*sd, 0.4, 0.3)[f : f + 2]
        levels = rng.standard_normal((2, column.max() + 1))
        eta = eta + a * levels[0][column] + b * levels[1][column] * x
    noise = rng.standard_normal(len(x)) if link == "probit" else rng.logistic(size=len(x))
    return (eta + noise > np.reshape(cuts, (-1, 1))).sum(axis=0)


def three_an_item():
    """Nine workers, three of them on each of 20 items, under both systems."""
    item, k, system = grid(20, 3, 2)
    return np.array([(item * 2 + k * (1 + item % 3)) % 9, item, system])


def unpaired():
    """Each worker rates an item under one system, items under both."""
    worker, item = grid(6, 14)
    return np.array([worker, item, (worker + item) % 2])


FIVE, TWO = (-1.2, -0.4, 0.4, 1.2), (0.2,)
TABLES = {
    "complete": (grid(5, 12, 2), FIVE, "probit", SD),
    "complete logit": (grid(5, 12, 2), FIVE, "logit", SD),
    "binary": (grid(6, 14, 2), TWO, "logit", SD),
    "three an item": (three_an_item(), FIVE, "probit", SD),
    "more workers than items": (grid(14, 5, 2), FIVE, "probit", SD),
    "unpaired": (unpaired(), (-0.5, 0.5), "logit", SD),
    "singular": (grid(5, 12, 2), FIVE, "probit", (0.4, 0.0, 0.6, 0.0)),
}


def problem_and_twin(name):
    """The engine's problem, its ratings and the twin."""
    rng = np.random.default_rng(sum(map(ord, name)))
    if name == "preferences":
        worker, item = grid(8, 15)
        position = rng.choice([-0.5, 0.5], len(worker))
        eta = (
            0.4
            + 0.2 * position
            + 0.6 * rng.standard_normal(8)[worker]
            + 0.5 * rng.standard_normal(15)[item]
        )
        y = (eta + rng.standard_normal(len(eta)) > [[-0.5], [0.5]]).sum(axis=0)
        x = np.column_stack([np.ones(len(y)), position])
        twin = Twin(y, [dummies(worker), dummies(item)], x, np.array([[-1.0], [1.0]]), "probit")
        return LatentProblem.of_preferences(worker, item, position=position), twin
    if name in ("documents", "covariates"):
        codes = grid(5, 16, 2)
        document = codes[1] // 4 if name == "documents" else None
        covariates = rng.standard_normal((codes.shape[1], 2)) if name == "covariates" else None
        y = draw(rng, codes, cuts=FIVE, link="probit", document=document)
        x = codes[2][:, None] - 0.5
        x = x if covariates is None else np.column_stack([x, covariates])
        problem = LatentProblem.of_design(*codes, document=document, covariates=covariates)
        return problem, Twin(y, design_columns(*codes, document), x, np.eye(4), "probit")
    codes, cuts, link, sd = TABLES[name]
    y = draw(rng, codes, cuts=cuts, link=link, sd=sd)
    x = codes[2][:, None] - 0.5
    return LatentProblem.of_design(*codes), Twin(y, design_columns(*codes), x, np.eye(len(cuts)), link)


EVERY = [*TABLES, "documents", "covariates", "preferences"]


def fitted(name, *, restricted=True):
    problem, twin = problem_and_twin(name)
    fit = fit_latent_batch(
        problem, twin.y[None], n_categories=len(twin.cuts) + 1, link=twin.link, restricted=restricted
    )
    assert fit.status[0] == 0
    return fit, twin


def slope(criterion, sd, a):
    """Numerical derivative of the criterion in the variance of component `a` (one-sided at zero)."""
    variance = np.square(sd)
    step = 1e-4

    def at(value):
        changed = variance.copy()
        changed[a] = value
        return criterion(np.sqrt(changed))

    if variance[a] < 2 * step:
        return (-3 * at(0.0) + 4 * at(step) - at(2 * step)) / (2 * step)
    return (at(variance[a] + step) - at(variance[a] - step)) / (2 * step)


@few_fast("name", EVERY, fast=4)
def test_the_fit_is_the_dense_matrices_minimum(name):
    fit, twin = fitted(name)
    sd = fit.sd[0]
    assert fit.criterion[0] == pytest.approx(twin.criterion(sd), abs=1e-8)
    mode = twin.mode(sd)
    n_cuts = twin.cuts.shape[1]
    np.testing.assert_allclose(fit.thresholds[0], twin.cuts @ mode.theta[:n_cuts], atol=1e-7)
    p = twin.x.shape[1]
    np.testing.assert_allclose(fit.coefficients[0], mode.theta[n_cuts : n_cuts + p], atol=1e-7)
    for a, value in enumerate(sd):
        found = slope(twin.criterion, sd, a)
        assert found > 0 if value == 0 else abs(found) < 2e-4


@each_case("name", EVERY)
def test_information_and_test_are_those_of_dense_matrices(name):
    fit, twin = fitted(name)
    expected = twin.moments(fit.sd[0])
    # a component at zero is differentiated at a variance that changes a weight by 1e-8
    tolerance = 1e-8 if (fit.sd > 0).all() else 2e-6
    np.testing.assert_allclose(fit.information[0], expected.information, rtol=tolerance)
    assert fit.df[0] == pytest.approx(expected.df, rel=10 * tolerance)
    k = twin.cuts.shape[1]
    assert fit.standard_error[0] == pytest.approx(np.sqrt(expected.phi[k, k]), rel=tolerance)
    assert fit.standard_error_adjusted[0] ** 2 == pytest.approx(expected.adjusted_variance, rel=tolerance)
    to_all = np.block(
        [[twin.cuts, np.zeros((len(twin.cuts), twin.x.shape[1]))], [np.eye(len(expected.phi))[k:]]]
    )
    covariance = to_all @ expected.phi @ to_all.T
    np.testing.assert_allclose(fit.fixed_covariance[0], covariance, rtol=100 * tolerance, atol=1e-10)


def setting_of(problem, twin, *, restricted):
    k = twin.cuts.shape[1]
    symmetric = k < len(twin.cuts)
    theta = np.zeros(len(twin.cuts), dtype=np.int64) if symmetric else np.arange(k)
    cuts = Cuts(theta, twin.cuts.sum(axis=1), k)
    return Setting(problem.layout, cuts, twin.y[problem.order], twin.link == "logit", restricted)


def started(setting):
    point = LatentPoint.of(setting)
    k = setting.cuts.n_theta
    point.dense[setting.order : setting.order + k] = np.linspace(-1, 1, k) if k > 1 else 0.5
    return point


@pytest.mark.parametrize("restricted", [True, False])
@few_fast("name", EVERY, fast=4)
def test_the_slope_is_that_of_the_dense_criterion(name, restricted):
    problem, twin = problem_and_twin(name)
    setting = setting_of(problem, twin, restricted=restricted)
    sd = np.linspace(0.3, 0.8, len(twin.z))
    kernel = np.empty(len(sd))
    kernel[problem.components] = sd**2
    fixed = twin.mode(sd).theta[: setting.cuts.n_theta + twin.x.shape[1]] + (0.0 if restricted else 0.05)
    x = kernel if restricted else np.concatenate([kernel, fixed])
    value, gradient = evaluate(setting, x, np.sqrt(kernel), started(setting), 1e-14)

    def criterion(at, b=fixed):
        return twin.criterion(at) if restricted else twin.criterion_ml(at, b)

    assert value == pytest.approx(criterion(sd), abs=1e-8)
    expected = [slope(criterion, sd, a) for a in range(len(sd))]
    np.testing.assert_allclose(gradient[problem.components], expected, rtol=1e-5, atol=1e-5)
    if not restricted:
        steps = 1e-4 * np.eye(len(fixed))
        by_fixed = [(criterion(sd, fixed + s) - criterion(sd, fixed - s)) / 2e-4 for s in steps]
        np.testing.assert_allclose(gradient[len(sd) :], by_fixed, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["binary", "three an item"])
def test_maximum_likelihood_is_a_minimum_over_thresholds_too(name):
    fit, twin = fitted(name, restricted=False)
    fixed = np.concatenate([fit.thresholds[0], fit.coefficients[0]])
    assert fit.criterion[0] == pytest.approx(twin.criterion_ml(fit.sd[0], fixed), abs=1e-8)
    for step in 1e-3 * np.eye(len(fixed)):
        beside = [twin.criterion_ml(fit.sd[0], fixed + sign * step) for sign in (-1, 1)]
        assert abs(beside[1] - beside[0]) < 1e-6
        assert min(beside) > fit.criterion[0]


def worker_twin(rng):
    """Four workers with 12 ratings each and nothing else at random; yes or no."""
    worker, _, system = grid(4, 6, 2)
    x = system - 0.5
    eta = 0.8 * x + 0.9 * rng.standard_normal(4)[worker]
    y = (eta + rng.logistic(size=len(x)) > 0.2).astype(int)
    return worker, x, Twin(y, [dummies(worker)], x[:, None], np.eye(1), "logit")


@pytest.mark.slow
def test_laplace_is_close_to_the_integral():
    """-2 log of the restricted likelihood by quadrature over b and v, and by Laplace: within 0.2 of one
    another with 12 yes-or-no ratings a worker; between two SDs the difference moves by less than 0.1."""
    worker, x, twin = worker_twin(np.random.default_rng(11))
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    weights = weights / weights.sum()

    def likelihood(beta, tau, sd):
        eta = beta * x[:, None] + sd * nodes
        p = stats.logistic.cdf(tau - eta)
        log_p = np.log(np.where(twin.y[:, None] == 0, p, 1 - p))
        return np.prod([np.exp(log_p[worker == w].sum(axis=0)) @ weights for w in range(4)])

    gaps = []
    for sd in (0.5, 1.0):
        mode = twin.mode([sd])
        tau, beta = mode.theta[:2]
        error = np.sqrt(np.diagonal(np.linalg.inv(mode.h))[:2])
        top = likelihood(beta, tau, sd)
        integral, _ = integrate.dblquad(
            lambda b, t, sd=sd, top=top: likelihood(b, t, sd) / top,
            tau - 6 * error[0],
            tau + 6 * error[0],
            beta - 6 * error[1],
            beta + 6 * error[1],
            epsrel=1e-4,
            epsabs=1e-6,
        )
        exact = -2.0 * (np.log(integral) + np.log(top))
        gaps.append(twin.criterion([sd]) - 2 * np.log(2 * np.pi) - exact)
    assert max(map(abs, gaps)) < 0.2
    assert abs(gaps[1] - gaps[0]) < 0.1


@pytest.mark.parametrize("link", ["probit", "logit"])
def test_without_random_effects_it_is_the_ordered_model(link):
    ordered = pytest.importorskip("statsmodels.miscmodels.ordinal_model")
    problem, twin = problem_and_twin("complete" if link == "probit" else "complete logit")
    setting = setting_of(problem, twin, restricted=True)
    point = started(setting)
    assert point.find_mode(setting, np.sqrt(lower_bounds(problem.layout)), 1e-20)
    model = ordered.OrderedModel(twin.y, twin.x, distr=link)
    result = model.fit(method="bfgs", disp=False, gtol=1e-8)
    cuts = model.transform_threshold_params(result.params)[1:-1]
    np.testing.assert_allclose(point.dense[setting.order :], [*cuts, result.params[0]], atol=1e-5)
    assert point.value == pytest.approx(result.llf, abs=1e-6)


@few_fast("link", ["probit", "logit"], fast=1)
def test_generating_values_come_back(link):
    rng = np.random.default_rng(3)
    codes, cuts = grid(12, 40, 2), FIVE
    scale = 1.0 if link == "probit" else 1.7
    sd = scale * np.array(SD)
    rows = np.array([draw(rng, codes, cuts=scale * np.array(cuts), link=link, sd=sd) for _ in range(40)])
    start = Start(sd, scale * np.array(cuts), np.array([0.6]))
    fit = fit_latent_batch(
        LatentProblem.of_design(*codes), rows, n_categories=5, link=link, start=start, n_jobs=2
    )
    assert (fit.status == 0).all()
    error = fit.effect.std(ddof=1) / np.sqrt(len(rows))
    assert abs(fit.effect.mean() - 0.6) < 3 * error + 0.03
    assert fit.effect.std(ddof=1) == pytest.approx(fit.standard_error_adjusted.mean(), rel=0.35)
    np.testing.assert_allclose(np.median(fit.sd, axis=0), sd, rtol=0.2)
    np.testing.assert_allclose(fit.thresholds.mean(axis=0), scale * np.array(cuts), atol=0.25 * scale)
