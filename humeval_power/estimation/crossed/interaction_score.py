"""Whether workers and items share something under both systems: a score test from the fit without that term."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special
from scipy.sparse import csr_array

from humeval_power.blas import one_blas_thread
from humeval_power.estimation.crossed.problem import CrossedProblem, RatingTable
from humeval_power.estimation.fit import Fit

# Solves with the covariance of a fitted model: what is left of responses once its effects are predicted.

Floats = NDArray[np.float64]

_EXACT = 1e-9  # residual norm of a system relative to its right-hand side
_MOST_STEPS = 400


class Projection:
    """P of one problem at relative variances `gamma` (q,): `project` gives P y, `whiten` H^-1 y.

    Raises
    ------
    ArithmeticError
        Systems that conjugate gradients do not solve: variances many thousands of times the residual's.
    """

    def __init__(self, problem: CrossedProblem, gamma: Floats) -> None:
        from scipy.sparse import csr_array, hstack

        self.x = problem.x
        self.columns = [_columns(codes, values) for codes, values in problem.factors]
        width = problem.factors[0].columns.shape[1]
        self.gamma = gamma.reshape(-1, width)
        blocks, inverses = [], []
        for factor, matrix, part in zip(problem.factors, self.columns, self.gamma, strict=True):
            if (part > 0).any():
                root = np.sqrt(part)
                blocks.append(csr_array(matrix * np.tile(root, matrix.shape[1] // width)[None, :]))
                inverses.append(_level_inverses(factor.codes, factor.columns * root))
        self._z = csr_array(hstack(blocks, format="csr")) if blocks else None
        if self._z is not None:
            self._zt = csr_array(self._z.T)
            self._crossed = csr_array(self._zt @ self._z)
            self._inverses = np.concatenate(inverses)
        self.h_x = self.whiten(self.x)
        self.phi = np.linalg.inv(self.x.T @ self.h_x)

    def whiten(self, y: Floats, *, tolerance: float = _EXACT) -> Floats:
        """H^-1 y of responses (n, r); `tolerance` is of a system's residual relative to its right-hand side."""
        if self._z is None:
            return y
        left: Floats = y - self._z @ self._solve(self._zt @ y, tolerance)
        return left

    def project(self, y: Floats, *, tolerance: float = _EXACT) -> Floats:
        """P y of responses (n, r)."""
        projected: Floats = self.whiten(y, tolerance=tolerance) - self.h_x @ (self.phi @ (self.h_x.T @ y))
        return projected

    def working_vectors(self, py: Floats) -> Iterator[Floats]:
        """Z_t Z_t'Py (n,) of the variances above zero, from Py."""
        for matrix, part in zip(self.columns, self.gamma, strict=True):
            for place in np.flatnonzero(part > 0).tolist():
                own = matrix[:, place :: len(part)]
                yield np.asarray(own @ (own.T @ py))

    def _precondition(self, values: Floats) -> Floats:
        width = self._inverses.shape[1]
        by_level = values.reshape(-1, width, values.shape[1])
        return np.asarray((self._inverses @ by_level).reshape(values.shape))

    def _solve(self, right: Floats, tolerance: float) -> Floats:
        """(I + L Z'Z L)^-1 of right-hand sides (columns, r), each with steps of its own."""
        values, left = np.zeros_like(right), right.copy()
        target = tolerance**2 * (right**2).sum(axis=0)
        direction = ready = self._precondition(left)
        slope = (left * ready).sum(axis=0)
        for _ in range(_MOST_STEPS):
            if ((left**2).sum(axis=0) <= target).all():
                return values
            image = direction + self._crossed @ direction
            length = _ratio(slope, (direction * image).sum(axis=0))
            values += length * direction
            left -= length * image
            ready = self._precondition(left)
            before, slope = slope, (left * ready).sum(axis=0)
            direction = ready + _ratio(slope, before) * direction
        raise ArithmeticError("conjugate gradients did not end")


def _columns(codes: NDArray[np.int64], values: Floats) -> csr_array:
    """Z of one factor (n, levels x width), level by level."""
    from scipy.sparse import csr_array

    n, width = values.shape
    n_levels = int(codes.max()) + 1
    places = (codes[:, None] * width + np.arange(width)).ravel()
    starts = np.arange(n + 1) * width
    return csr_array((values.ravel(), places, starts), shape=(n, n_levels * width))


def _level_inverses(codes: NDArray[np.int64], scaled: Floats) -> Floats:
    """(I + the diagonal block)^-1 of each level (levels, width, width) of scaled columns (n, width)."""
    width = scaled.shape[1]
    blocks = np.empty((int(codes.max()) + 1, width, width))
    for a in range(width):
        for b in range(width):
            blocks[:, a, b] = np.bincount(codes, weights=scaled[:, a] * scaled[:, b]) + (a == b)
    return np.asarray(np.linalg.inv(blocks), dtype=np.float64)


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


Codes = NDArray[np.int64]

_EVERY_PAIR = 300  # pairs up to which each is a probe of its own, so that the trace is exact
_PROBES = (20, 100)  # least and most random probes otherwise
_PROBED_RATINGS = 1_000_000  # ratings times probes that are worth their second
_OF_PROBES = 1e-4  # tolerance of their systems: the error of a quadratic form is its square
_PROBE_SEED = 20_260_701  # fixed: the same table always gives the same answer
_LEAST_LEFT = 1e-8  # share of the term's information that the others must leave for a test


class InteractionTest(NamedTuple):
    """The one-sided score test of the worker-item term.

    z : the score in units of its standard error, about standard normal if there is no such term.
    p_value : of a larger z: half of what a chi-square with one df gives, as no variance lies below zero.
    monte_carlo_error : standard error of z by the random probes of a trace; 0 where the trace is exact.
    """

    z: float
    p_value: float
    monte_carlo_error: float


def interaction_test(
    ratings: RatingTable, fitted: Fit, *, problem: CrossedProblem | None = None
) -> InteractionTest | None:
    """Test for what a worker and an item share under both systems, from the fit without that term.

    With G = Z Z' of the pairs the score of their variance is half of y'PGPy - tr(PG). At the fit all other
    scores are zero; its variance is what the other variances leave of the term's average information (Gilmour,
    Thompson and Cullis 1995; for one-sided tests Verbeke and Molenberghs 2003). Nothing is fitted again.
    None where the table cannot tell: no worker rated an item twice, or there is no fit to start from.
    `problem` is `CrossedProblem.of_ratings` of these ratings, where the caller has it.
    """
    _, pair = np.unique(
        ratings.worker * np.int64(int(ratings.item.max()) + 1) + ratings.item, return_inverse=True
    )
    n_pairs = int(pair.max()) + 1
    if n_pairs == len(pair) or not fitted.converged:
        return None
    problem = problem or CrossedProblem.of_ratings(ratings)
    sigma = fitted.parameters.sd_residual
    gamma = np.array([getattr(fitted.parameters, name) for name in problem.components]) ** 2 / sigma**2
    y = (ratings.rating - ratings.rating.mean()) / sigma
    z = csr_array((np.ones(len(pair)), (np.arange(len(pair)), pair)), shape=(len(pair), n_pairs))
    with one_blas_thread():
        try:
            projection = Projection(problem, gamma)
            py = projection.project(y[:, None])[:, 0]
            working = np.column_stack([z @ (z.T @ py), *projection.working_vectors(py), py])
            information = 0.5 * working.T @ projection.project(working)
            trace, error = _trace(
                problem, projection, gamma, py, pair, restricted=fitted.estimator == "reml"
            )
        except ArithmeticError:
            return None
    left = _left_of_first(information)
    if not left > _LEAST_LEFT * information[0, 0]:
        return None
    score = 0.5 * (float(py @ working[:, 0]) - trace) / math.sqrt(left)
    return InteractionTest(score, float(special.ndtr(-score)), 0.5 * error / math.sqrt(left))


def _left_of_first(information: Floats) -> float:
    """What the others leave of the information of the first of several variances."""
    scale = np.sqrt(np.diag(information)[1:])
    across = information[0, 1:] / scale
    inverse = np.linalg.pinv(information[1:, 1:] / np.outer(scale, scale), rcond=1e-9, hermitian=True)
    return float(information[0, 0] - across @ inverse @ across)


def _trace(
    problem: CrossedProblem,
    projection: Projection,
    gamma: Floats,
    py: Floats,
    pair: Codes,
    *,
    restricted: bool,
) -> tuple[float, float]:
    """tr(PG), of H^-1 instead of P if not `restricted`, and its standard error by random probes."""
    exact = _trace_of_even_pairs(problem, projection, gamma, py, pair, restricted=restricted)
    if exact is not None:
        return exact, 0.0
    n_pairs = int(pair.max()) + 1
    every = n_pairs <= _EVERY_PAIR
    if every:
        signs = np.eye(n_pairs)
    else:
        least, most = _PROBES
        count = max(least, min(most, _PROBED_RATINGS // len(pair)))
        signs = np.random.default_rng(_PROBE_SEED).choice([-1.0, 1.0], size=(n_pairs, count))
    probes = signs[pair]
    solved = (projection.project if restricted else projection.whiten)(probes, tolerance=_OF_PROBES)
    each = (probes * solved).sum(axis=0)
    if every:
        return float(each.sum()), 0.0
    return float(each.mean()), float(each.std(ddof=1) / math.sqrt(len(each)))


def _trace_of_even_pairs(
    problem: CrossedProblem,
    projection: Projection,
    gamma: Floats,
    py: Floats,
    pair: Codes,
    *,
    restricted: bool,
) -> float | None:
    """The trace in closed form where every pair has each system equally often, and all pairs alike; else None.

    Sums of pairs and what is left of them are then apart, and G is c times the projector on the sums. With
    PHP = P the trace of P there is the number of sums, less their coefficients, less gamma_t tr(PG_t) for each
    variance that the sums have a part in; at the fit tr(PG_t) = |Z_t'Py|^2.
    """
    count = np.bincount(pair)
    slopes = problem.factors[0].columns[:, 1]
    if count.min() != count.max() or np.abs(np.bincount(pair, weights=slopes)).max() > 0:
        return None
    sums = np.stack([np.bincount(pair, weights=column) for column in problem.x.T], axis=1)
    rest = problem.x - sums[pair] / count[0]
    of_sums, of_rest = (int(np.linalg.matrix_rank(part)) for part in (sums, rest))
    if of_sums + of_rest != problem.x.shape[1]:  # a covariate that has a part in both
        return None
    intercepts = sum(
        share * float((columns[:, ::2].T @ py) @ (columns[:, ::2].T @ py))
        for share, columns in zip(gamma[::2], projection.columns, strict=True)
    )
    return float(count[0] * (len(count) - (of_sums if restricted else 0) - intercepts))
