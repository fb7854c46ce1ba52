"""Predicted effects of each worker and item, fitted values and residuals, by blocks of the crossed model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.blas import one_blas_thread
from humeval_power.errors import InputError
from humeval_power.estimation.crossed.examination import outer_effects
from humeval_power.estimation.crossed.problem import CrossedProblem, RatingTable
from humeval_power.estimation.fit import Fit
from humeval_power.estimation.structure import structure_of
from humeval_power.kernels.crossed import likelihood, second_order

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class LevelEffects:
    """What the model predicts for each worker, or each item, on [0, 1]; arrays of shape (n_levels,).

    `intercept` and `slope` are best linear unbiased predictions of the random effects. Their errors are
    conditional on baseline and effect, as those of lme4's ranef. `difference` is the whole difference
    B - A of the level, effect + slope; its error counts that the effect is estimated too. A level with few
    ratings is drawn towards the average: this is not its own raw difference. Of very large tables the errors,
    not the predictions, are by random probes: good to some per cent.
    """

    intercept: Floats
    intercept_error: Floats
    slope: Floats
    slope_error: Floats
    difference: Floats
    difference_error: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Effects of workers, items and documents (None without them) at the variances of a fit, and what they
    leave of each rating.

    `fitted` and `residual`, shape (n_ratings,), in the order of the ratings; `fitted` may leave [0, 1].
    What a worker and an item share, where it was fitted, is part of the residual.
    """

    baseline: float
    effect: float
    workers: LevelEffects
    items: LevelEffects
    documents: LevelEffects | None
    fitted: Floats
    residual: Floats


class Blocks(NamedTuple):
    """Predictions in the kernel's order, relative to sigma; q columns for each level of a factor.

    outer, inner : (n_levels, q), effects; outer_variance, inner_variance : the same shapes, given y, and
    relative to sigma^2; outer_hx, inner_hx : (p, n_levels, q), X'H^-1Z.
    """

    beta: Floats
    phi: Floats
    sigma2: float
    outer: Floats
    inner: Floats
    outer_variance: Floats
    inner_variance: Floats
    outer_hx: Floats
    inner_hx: Floats


def predicted_effects(fit: Fit, ratings: RatingTable) -> Predictions:
    """Predict the effects of the workers and items of `ratings`, to which `fit` was fitted.

    Only the fit's standard deviations are used: u = gamma Z'H^-1 (y - Xb), with the variance given y
    sigma^2 (gamma - gamma Z'H^-1Z gamma) (Henderson 1975; Bates et al. 2015, section 3).

    Raises
    ------
    InputError
        A fit of another table.
    """
    sizes = (len(ratings.rating), int(ratings.worker.max()) + 1, int(ratings.item.max()) + 1)
    if sizes != (fit.n_ratings, fit.n_workers, fit.n_items):
        raise InputError(
            f"The fit is of {fit.n_ratings} ratings, {fit.n_workers} workers and {fit.n_items} items; these "
            f"ratings are {sizes[0]}, {sizes[1]} and {sizes[2]}: fit them first."
        )
    problem = CrossedProblem.of_ratings(ratings)
    residual2 = fit.parameters.sd_residual**2
    if fit.parameters.sd_worker_item > 0:
        share = fit.parameters.sd_worker_item**2 / residual2
        problem = problem.with_interaction(ratings.worker, ratings.item, share)
    gamma = np.array([getattr(fit.parameters, name) for name in problem.components]) ** 2 / residual2
    center = float(ratings.rating.mean())
    kernel_gamma = np.ascontiguousarray(problem.to_kernel(gamma))
    with one_blas_thread():
        blocks = _solve(problem, ratings.rating - center, kernel_gamma, residual2)
    of_factor = _each_factor(problem, blocks, kernel_gamma)
    more = structure_of(ratings)
    x = ratings.system - 0.5
    fitted = center + blocks.beta[0] + blocks.beta[1] * x
    if more["covariates"] is not None:
        fitted = fitted + more["covariates"] @ blocks.beta[2:]
    codes_of = (ratings.worker, ratings.item, more["document"])
    for levels, codes in zip(of_factor, codes_of, strict=False):
        fitted = fitted + levels.intercept[codes] + levels.slope[codes] * x
    return Predictions(
        baseline=center + float(blocks.beta[0]),
        effect=float(blocks.beta[1]),
        workers=of_factor[0],
        items=of_factor[1],
        documents=of_factor[2] if len(of_factor) > 2 else None,
        fitted=fitted,
        residual=ratings.rating - fitted,
    )


def _solve(problem: CrossedProblem, response: Floats, gamma: Floats, sigma2: float) -> Blocks:
    """Effects and their variances from the factorised blocks; nothing larger than outer x outer."""
    if problem.is_iterative:
        return _iterated(problem, response, gamma, sigma2)
    gram = problem.design
    products = problem.products(response[None])
    response_of_one = likelihood.Response(*(part[0] for part in products))
    profile, outer_variance, inner_variance = _looked(problem, response_of_one, gamma)
    qa, p = len(gram.outer_types), gram.xx.shape[0]
    n_outer_types = qa * len(problem.outer)
    return Blocks(
        beta=profile.beta,
        phi=profile.phi,
        sigma2=sigma2,
        outer=outer_effects(problem, profile, gamma)[1],
        inner=gamma[n_outer_types:] * profile.inner_py,
        outer_variance=outer_variance.reshape(-1, qa),
        inner_variance=inner_variance,
        outer_hx=profile.outer_hx[:p].reshape(p, -1, qa),
        inner_hx=profile.inner_hx[:p],
    )


def _iterated(problem: CrossedProblem, response: Floats, gamma: Floats, sigma2: float) -> Blocks:
    """The same of a very large table: effects by solves, their variances by probes."""
    from humeval_power.estimation.large.iterative import effects_at

    effects = effects_at(problem, response, gamma)
    qa, qb = len(problem.design.outer_types), len(problem.design.inner_types)
    order = problem.design.outer_block.shape[0] * qa
    outer_gamma = np.repeat(gamma[:-qb].reshape(-1, qa), np.diff(problem.design.begin), axis=0)
    of = {}
    for name, rows, q, own in (
        ("outer", slice(order), qa, outer_gamma),
        ("inner", slice(order, None), qb, gamma[-qb:]),
    ):
        of[name] = own * effects.py[rows].reshape(-1, q)
        of[f"{name}_variance"] = own - own**2 * effects.diagonal[rows].reshape(-1, q)
        of[f"{name}_hx"] = effects.hx[rows].T.reshape(effects.hx.shape[1], -1, q)
    return Blocks(beta=effects.beta, phi=effects.phi, sigma2=sigma2, **of)


def _looked(
    problem: CrossedProblem, response: likelihood.Response, gamma: Floats
) -> tuple[likelihood.Profile, Floats, Floats]:
    """The profile, and the variances given y of outer columns and of inner effects, relative to sigma^2."""
    if problem.is_large:
        from humeval_power.kernels.large import factored

        by_fronts = factored.factorise(problem.large, gamma)
        profile = factored.profile(problem.large, response, by_fronts, True)
        return profile, *factored.effect_variances(problem.large, by_fronts)
    factor, profile = second_order.evaluate(problem.gram, response, gamma, True)
    inner = _inner_variance(problem.gram, factor, gamma[len(gamma) - len(problem.gram.inner_types) :])
    return profile, np.diag(factor.k), inner  # gamma - gamma T gamma, free of cancellation


def _inner_variance(gram: likelihood.Gram, factor: likelihood.Factor, gamma: Floats) -> Floats:
    """Variance given y of the inner effects, relative to sigma^2, shape (n_inner, qb).

    Given the outer effects it is gamma W, W = (I + A gamma)^-1; the outer effects' own variance K adds
    gamma (C_i'K C_i) gamma, C_i the outer levels' blocks of cross = Z_o'H_i^-1Z_i.
    """
    qa, qb = len(gram.outer_types), len(gram.inner_types)
    variance = np.einsum("ibb->ib", factor.inner_inverse) * gamma
    for i in range(len(gram.start) - 1):
        pairs = slice(gram.start[i], gram.start[i + 1])
        rows = (gram.outer[pairs, None] * qa + np.arange(qa)).ravel()
        block = factor.cross[pairs].reshape(-1, qb)
        variance[i] += gamma**2 * np.einsum("rb,rs,sb->b", block, factor.k[np.ix_(rows, rows)], block)
    return np.asarray(variance)


def _each_factor(problem: CrossedProblem, blocks: Blocks, gamma: Floats) -> list[LevelEffects]:
    """Workers, items and, where there are any, documents."""
    qa, begin = blocks.outer.shape[1], problem.design.begin
    last = gamma[qa * len(problem.outer) :]
    levels = {problem.inner: _levels(blocks, blocks.inner, blocks.inner_variance, blocks.inner_hx, last)}
    for kind, place in enumerate(problem.outer):
        of_kind = slice(begin[kind], begin[kind + 1])
        levels[place] = _levels(
            blocks,
            blocks.outer[of_kind],
            blocks.outer_variance[of_kind],
            blocks.outer_hx[:, of_kind],
            gamma[kind * qa : (kind + 1) * qa],
        )
    return [levels[place] for place in sorted(levels)]


def _levels(blocks: Blocks, effects: Floats, variance: Floats, hx: Floats, gamma: Floats) -> LevelEffects:
    """Name the columns of one factor, and add up the error of a whole difference.

    With h = X'H^-1z gamma of a level's slope, b and u - U have the joint variance (relative to sigma^2)
    phi, -phi h and variance + h'phi h: that of b1 + u - U1 follows.
    """
    h = hx[:, :, 1] * gamma[1]
    across = blocks.phi @ h
    whole = blocks.phi[1, 1] - 2 * across[1] + variance[:, 1] + (h * across).sum(axis=0)
    error = np.sqrt(np.maximum(np.column_stack([variance, whole]), 0.0) * blocks.sigma2)
    return LevelEffects(
        intercept=np.ascontiguousarray(effects[:, 0]),
        intercept_error=error[:, 0],
        slope=np.ascontiguousarray(effects[:, 1]),
        slope_error=error[:, 1],
        difference=blocks.beta[1] + effects[:, 1],
        difference_error=error[:, 2],
    )
