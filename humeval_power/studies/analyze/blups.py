"""Predicted effects of each worker and item, fitted values and residuals, by blocks of the crossed model."""

from __future__ import annotations

import math
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
from humeval_power.ratings import Ratings
from humeval_power.worker_statistics import MIN_ANSWERS, centred, median_by

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


# Workers whose ratings are worth a second look: straight lines, little agreement, haste.

Codes = NDArray[np.int64]

_NO_VARIANCE = 1e-12  # sums of squares on [0, 1] below this are rounding


@dataclass(frozen=True, slots=True)
class WorkerCheck:
    """What one worker's ratings look like beside those of the others.

    `spread` is the SD of the ratings on [0, 1] within systems. `agreement` correlates them with the mean
    rating of the other workers for the same outputs, both centred within each system; `n_shared` outputs
    count for it. NaN where not defined. `reasons`, empty for most workers, are grounds to look at the
    worker's ratings. Careful workers who are few, alone in their opinion, or practised give the same
    signs: leaving workers out because of their ratings biases the study unless it was planned.
    """

    worker: str
    n_ratings: int
    n_shared: int
    mean: float
    spread: float
    agreement: float
    seconds: float
    reasons: tuple[str, ...]


def screen_workers(
    ratings: Ratings,
    *,
    seconds: Floats | None = None,
    min_ratings: int = MIN_ANSWERS,
    min_agreement: float = 0.0,
    fast_share: float = 0.5,
) -> tuple[WorkerCheck, ...]:
    """Every worker, those with most reasons to look first, then those who agree least.

    Parameters
    ----------
    seconds : (n_ratings,), the time that each rating took; NaN where unknown.
    min_ratings : ratings (for agreement: shared outputs) below which nothing is said about a worker.
    min_agreement : the correlation with the others below which a worker is named.
    fast_share : a worker is fast whose median time is below this share of the workers' median. Half is
        Leiner's (2019) relative speed index of 2.
    """
    if seconds is not None and np.shape(seconds) != (ratings.n_ratings,):
        raise InputError(f"There are {ratings.n_ratings} ratings and {np.size(seconds)} times.")
    n_workers = ratings.n_workers
    count = np.bincount(ratings.worker, minlength=n_workers)
    mean = np.bincount(ratings.worker, ratings.rating, n_workers) / count
    spread, strata = _spread_within_systems(ratings)
    shared, correlation = agreement_with_others(ratings)
    pace = np.full(n_workers, np.nan) if seconds is None else median_by(ratings.worker, seconds, n_workers)
    usual = float(np.nanmedian(pace)) if np.isfinite(pace).any() else math.nan
    lowest, highest = np.full(n_workers, np.inf), np.full(n_workers, -np.inf)
    np.minimum.at(lowest, ratings.worker, ratings.rating)
    np.maximum.at(highest, ratings.worker, ratings.rating)

    def reasons(code: int) -> tuple[str, ...]:
        result = []
        enough = count[code] >= min_ratings
        if enough and lowest[code] == highest[code]:
            result.append(f"gave the same rating {count[code]:,} times")
        elif enough and spread[code] == 0 and count[code] > 2 * strata[code]:
            result.append("gave all outputs of a system the same rating")
        if shared[code] >= min_ratings and correlation[code] < min_agreement:
            result.append(
                f"does not go along with the others: correlation {correlation[code]:.2f} over "
                f"{shared[code]:,} ratings"
            )
        if pace[code] < fast_share * usual:
            result.append(f"took {pace[code]:.3g} seconds per rating where {usual:.3g} are usual")
        return tuple(result)

    checks = [
        WorkerCheck(
            worker=ratings.worker_names[code],
            n_ratings=int(count[code]),
            n_shared=int(shared[code]),
            mean=float(mean[code]),
            spread=float(spread[code]),
            agreement=float(correlation[code]),
            seconds=float(pace[code]),
            reasons=reasons(code),
        )
        for code in range(n_workers)
    ]
    return tuple(sorted(checks, key=lambda check: (-len(check.reasons), _last_if_nan(check.agreement))))


def screening_sentence(checks: tuple[WorkerCheck, ...]) -> str:
    """How many workers are worth a look, in words that accuse nobody."""
    named = sum(bool(check.reasons) for check in checks)
    if named == 0:
        return f"None of the {len(checks):,} workers stands out."
    noun = "worker" if len(checks) == 1 else "workers"
    return (
        f"Look at the ratings of {named:,} of {len(checks):,} {noun}: something stands out in them, for which "
        "there may be a good reason."
    )


def agreement_with_others(ratings: Ratings) -> tuple[Codes, Floats]:
    """Of each worker: number of ratings of outputs that others rated too, and their correlation with the
    others' mean, pooled within systems; NaN where either does not vary. Shapes (n_workers,).

    Without centring within systems, workers who see the systems' difference as the others do would seem
    to agree, however carelessly they rate inside a system.
    """
    output = ratings.item * np.int64(ratings.n_systems) + ratings.system
    _, output = np.unique(output, return_inverse=True)
    cell = np.unique(ratings.worker * np.int64(output.max() + 1) + output, return_inverse=True)[1]
    own, times = np.bincount(cell, ratings.rating)[cell], np.bincount(cell)[cell]
    others = np.bincount(output)[output] - times
    shared = others > 0
    consensus = (np.bincount(output, ratings.rating)[output] - own)[shared] / others[shared]
    worker, stratum = ratings.worker[shared], _stratum(ratings)[shared]
    a, b = centred(ratings.rating[shared], stratum), centred(consensus, stratum)
    ab, aa, bb = (np.bincount(worker, part, ratings.n_workers) for part in (a * b, a * a, b * b))
    defined = (aa > _NO_VARIANCE) & (bb > _NO_VARIANCE)
    correlation = np.where(defined, ab / np.sqrt(np.where(defined, aa * bb, 1.0)), np.nan)
    return np.bincount(worker, minlength=ratings.n_workers), correlation


def _stratum(ratings: Ratings) -> Codes:
    return ratings.worker * np.int64(ratings.n_systems) + ratings.system


def _spread_within_systems(ratings: Ratings) -> tuple[Floats, Codes]:
    """SD of each worker's ratings within systems, NaN without two in one; systems that each has rated."""
    n, stratum = ratings.n_workers, _stratum(ratings)
    squares = np.bincount(ratings.worker, centred(ratings.rating, stratum) ** 2, n)
    systems = np.bincount(np.unique(stratum) // ratings.n_systems, minlength=n)
    df = np.bincount(ratings.worker, minlength=n) - systems
    squares = np.where(squares > _NO_VARIANCE, squares, 0.0)
    return np.where(df > 0, np.sqrt(squares / np.maximum(df, 1)), np.nan), systems


def _last_if_nan(value: float) -> float:
    return math.inf if math.isnan(value) else value
