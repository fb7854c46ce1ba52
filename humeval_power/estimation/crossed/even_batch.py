"""Many replicates of an even design: the search of `kernels.reml`, all of them side by side."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humeval_power.kernels.crossed import reml
from humeval_power.kernels.crossed.even_designs import (
    EvenDesign,
    evaluate,
    newton_directions,
    second_order,
    sums_of,
)

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_LEAST_FALL = 1e-4  # share of the fall that the slope promises
_HALVINGS = 40
_MOST_LANES, _CELLS = 256, 1 << 20  # replicates side by side, where their ratings are no more than this
_LANES = 2  # at least: with one, NumPy adds the parts of a sum in another order


def fit_replicates(
    design: EvenDesign,
    responses: Floats,
    start: Floats,
    restricted: bool,
    tolerance: float,
    max_steps: int,
    n_jobs: int,
) -> tuple[Any, ...]:
    """What `fit_even` gives for any number of responses, some lanes at a time."""
    lanes = min(_MOST_LANES, max(_CELLS // responses.shape[1], 1))

    def fit(first: int) -> tuple[Codes | Floats, ...]:
        part = responses[first : first + lanes]
        return fit_even(design, part, start, restricted, tolerance, max_steps)

    begins = range(0, len(responses), lanes)
    if n_jobs == 1 or len(begins) == 1:
        parts = [fit(first) for first in begins]
    else:
        with ThreadPoolExecutor(n_jobs) as pool:
            parts = list(pool.map(fit, begins))
    return tuple(np.concatenate(fields) for fields in zip(*parts, strict=True))


def fit_even(
    design: EvenDesign,
    responses: Floats,
    start: Floats,
    restricted: bool,
    tolerance: float,
    max_steps: int,
) -> tuple[Codes | Floats, ...]:
    """Status (n,), criterion (n,), coefficients (n, p) and the fields of `information.Fitted`, of responses
    (n, rows) from a start (q,) in the kernel's order. Numbers of fits whose status is not CONVERGED mean nothing.

    A fit does not depend on which others stand beside it.
    """
    n = len(responses)
    if n < _LANES:
        responses = np.repeat(responses, _LANES, axis=0)
    with np.errstate(all="ignore"):  # a lane that goes astray is marked, and no concern of the others
        sums = sums_of(design, np.ascontiguousarray(responses.T))
        at = partial(evaluate, design, restricted=restricted)
        df = design.n - design.x.shape[0] if restricted else design.n
        gamma, status = search(at, sums, start, df, tolerance, max_steps)
        point = evaluate(design, sums, gamma, restricted)
        moments = second_order(design, point)
    first = (status, point.criterion, point.beta, gamma, point.phi, point.rss)
    rest = (point.trace, point.quadratic, point.square, *moments)
    return tuple(np.moveaxis(part, -1, 0)[:n] for part in (*first, *rest))


def search(
    at: Callable[..., Any], sums: Any, start: Floats, df: int, tolerance: float, max_steps: int
) -> tuple[Floats, Codes]:
    """Gamma (q, lanes) where the criterion is lowest, and status (lanes,); lanes that have arrived make room.

    at : the likelihoods of sums at gamma (q, lanes), with the fields of `Point` that a step takes; sums give some
        of their lanes by `of`, and y'y of each as `total`.
    """
    lanes, q = len(sums.total), len(start)
    values, status = np.empty((q, lanes)), np.full(lanes, reml.NO_RESIDUAL)
    place = np.arange(lanes)
    gamma = trial = np.repeat(start[:, None], lanes, axis=1)
    slope, direction = np.zeros((q, lanes)), np.zeros((q, lanes))
    criterion, fall = np.full(lanes, np.inf), np.ones(lanes)
    steps, halvings = np.zeros(lanes, dtype=np.int64), np.zeros(lanes, dtype=np.int64)
    length = np.ones(lanes)
    while True:
        point = at(sums, trial)
        lower = (fall > 0.0) & (criterion - point.criterion >= _LEAST_FALL * fall)
        accepted = point.ok & ((steps == 0) | lower)
        gamma = np.where(accepted, trial, gamma)
        criterion = np.where(accepted, point.criterion, criterion)
        newest, promise = _direction(point, df)
        slope = np.where(accepted, point.slope, slope)
        direction = np.where(accepted, newest, direction)
        steps = steps + accepted
        halvings = np.where(accepted, 0, halvings + 1)
        shorter = length * np.where(length > 1e-3, 0.5, 0.1)
        length = np.where(accepted, 1.0, shorter)
        code = np.full(len(place), -1)
        code[accepted & (np.abs(promise) < tolerance)] = reml.CONVERGED
        code[(code < 0) & (steps > max_steps)] = reml.TOO_MANY_STEPS
        code[~accepted & (steps == 0)] = reml.NO_RESIDUAL
        code[~accepted & (halvings == _HALVINGS)] = reml.STALLED
        done = code >= 0
        values[:, place[done]] = gamma[:, done]
        status[place[done]] = code[done]
        if done.all():
            return values, status
        going = np.flatnonzero(~done)
        if len(going) < _LANES:  # a companion, whose end is the same again
            going = np.append(going, going)
        place, sums = place[going], sums.of(going)
        gamma, slope, direction = gamma[:, going], slope[:, going], direction[:, going]
        criterion, steps, halvings, length = criterion[going], steps[going], halvings[going], length[going]
        trial = np.clip(gamma + length * direction, 0.0, 100.0 * gamma + 10.0)
        fall = (slope * (gamma - trial)).sum(axis=0)


def _direction(point: Any, df: int) -> tuple[Floats, Floats]:
    """Newton steps (q, lanes) and the falls of the criterion that they promise."""
    sigma2 = point.rss / df
    free = (point.gamma > 0.0) | (point.slope < 0.0)
    across = point.square[:, None] * point.square[None]
    step = newton_directions(point.quadratic / sigma2 - across / (sigma2**2 * df), point.slope, free)
    pressed = point.gamma + step < 0.0  # a component pressed against its bound promises no fall
    promise = np.where(pressed, point.slope * point.gamma, -point.slope * step).sum(axis=0)
    return step, promise
