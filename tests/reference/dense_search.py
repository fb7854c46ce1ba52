"""The lowest criterion of a tiny table by brute force: a grid of variance ratios, then polished.

Slow, dense, and without anything of the package: what a search with a few starts has to find.
"""

from itertools import product
from typing import NamedTuple

import numpy as np
from scipy import optimize

from tests.reference.dense_model import design_matrices

GRID = (0.0, 0.03, 0.3, 1.0, 4.0, 30.0, 1e3)
LARGEST = 1e8  # of the ratios: here the residual has vanished beside the rest
_SHIFT = 1e-3  # gamma = exp(u) - 1 in units of this: zero is inside, and its slope is not lost


class Lowest(NamedTuple):
    """The lowest criterion, where it is, and whether it lies at a residual of zero."""

    criterion: float
    gamma: np.ndarray
    at_no_residual: bool


def lowest(worker, item, system, rating, *, restricted=True, n_polished=12):
    """Search all of 0 <= gamma <= LARGEST."""
    X, zs = design_matrices(worker, item, system)
    y = np.asarray(rating, dtype=float)
    y = (y - y.mean()) / y.std()
    shift = (len(y) - X.shape[1] * restricted) * 2.0 * np.log(np.std(rating))
    grams = np.array([z @ z.T for z in zs])
    points = np.array(list(product(GRID, repeat=4)))
    values = np.concatenate(
        [_criteria(part, y, X, grams, restricted) for part in np.array_split(points, 8)]
    )
    starts = points[_separate(values, n_polished)]
    ends = [_polished(start, y, X, grams, restricted) for start in starts]
    value, gamma = min(ends, key=lambda end: end[0])
    return Lowest(value + shift, gamma, bool(gamma.max() > 1e-2 * LARGEST))


def _separate(values, count):
    """Grid points that are no higher than their neighbours, lowest first, and the lowest of all."""
    size = len(GRID)
    cube = values.reshape((size,) * 4)
    padded = np.pad(cube, 1, constant_values=np.inf)
    inner = (slice(1, -1),) * 4
    is_low = np.ones_like(cube, dtype=bool)
    for axis in range(4):
        for step in (-1, 1):
            is_low &= cube <= np.roll(padded, step, axis=axis)[inner] + 1e-12
    order = np.argsort(values)
    low = [k for k in order if is_low.ravel()[k]][:count]
    return low + [k for k in order[:4] if k not in low]


def _criteria(gammas, y, X, grams, restricted):
    """-2 log (restricted) likelihood at each row of `gammas`."""
    H = np.eye(len(y)) + np.einsum("kt,tij->kij", gammas, grams)
    lower = np.linalg.cholesky(H)
    solved = np.linalg.solve(lower, np.broadcast_to(np.column_stack([X, y]), (len(H), len(y), 3)))
    cross = solved.transpose(0, 2, 1) @ solved
    log_det = 2.0 * np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
    xhx = cross[:, :2, :2]
    beta = np.linalg.solve(xhx, cross[:, :2, 2:])[:, :, 0]
    rss = cross[:, 2, 2] - (beta * cross[:, :2, 2]).sum(axis=1)
    df = len(y) - X.shape[1] * restricted
    return (
        df * (1 + np.log(2 * np.pi * np.maximum(rss, 1e-14) / df))
        + log_det
        + restricted * np.linalg.slogdet(xhx)[1]
    )


def _polished(start, y, X, grams, restricted):
    """Descend from one point; (criterion, gamma)."""
    df = len(y) - X.shape[1] * restricted
    reach = np.log1p(LARGEST / _SHIFT)

    def value(u):
        gamma = _SHIFT * np.expm1(u)
        H = np.eye(len(y)) + np.tensordot(gamma, grams, 1)
        Hi = np.linalg.inv(H)
        Hi = (Hi + Hi.T) / 2
        xhx = X.T @ Hi @ X
        P = Hi - Hi @ X @ np.linalg.solve(xhx, X.T @ Hi)
        Py = P @ y
        rss = max(float(y @ Py), 1e-14)
        criterion = df * (1 + np.log(2 * np.pi * rss / df)) + np.linalg.slogdet(H)[1]
        criterion += restricted * np.linalg.slogdet(xhx)[1]
        K = P if restricted else Hi
        slope = np.einsum("tij,ji->t", grams, K) - np.einsum("i,tij,j->t", Py, grams, Py) * df / rss
        return criterion, slope * (gamma + _SHIFT)

    u = np.log1p(np.asarray(start) / _SHIFT)
    for _ in range(2):
        found = optimize.minimize(
            value,
            u,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, reach)] * 4,
            options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 500},
        )
        u = found.x
    return float(found.fun), _SHIFT * np.expm1(u)
