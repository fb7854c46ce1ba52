"""REML of tables with very many workers: average-information Newton steps from conjugate gradients.

The score of the restricted likelihood needs tr(Z_t'PZ_t) of every component. They are estimated with fixed
probes, vectors of random signs (Hutchinson 1990): drawn once by a seed, the same at every step, so that the search
is deterministic and a fit has the same bytes each time. Effect, standard error and the average information
(Gilmour, Thompson and Cullis 1995) are exact given the variances. There is no criterion: its determinant
would cost what these solves avoid.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import FitError
from humeval_power.estimation.large.neighbour_series import NeighbourSeries, controlled
from humeval_power.estimation.large.system import LargeSystem, grouped, in_threads
from humeval_power.kernels.crossed import information, reml
from humeval_power.kernels.large.iterative import WIDTH

Floats = NDArray[np.float64]

_EXACT, _CLOSE = 1e-11, 1e-7  # tolerance of solves with fixed effects and ratings, and with others
_PROMISE = 1e-9  # fall of -2 log likelihood below which no further step is taken
_MOST_STEPS = 60
_NOTHING = 1e-12  # of the ratings' sum of squares: a residual below this is none
_FLAT = 1e-6  # eigenvalue of the scaled information below which variances are not told apart
_LARGEST_START = 30.0
_SMALLEST_START = 0.01


class State(NamedTuple):
    """Everything at one gamma (q,), for p fixed effects.

    phi : (p, p), (X'H^-1X)^-1; rss : y'Py; hx : (n_columns, p), Z'H^-1X; py : (n_columns,), Z'Py
    trace : (q,), tr(Z_t'H^-1Z_t); of_probe : (probes, q), by how much each probe leaves it uncertain
    quadratic, square : as in `information.Fitted`; slope : (q,), of -2 log likelihood, sigma^2 profiled out
    hessian : (q, q), its average information
    """

    gamma: Floats
    beta: Floats
    phi: Floats
    rss: float
    hx: Floats
    py: Floats
    trace: Floats
    of_probe: Floats
    quadratic: Floats
    square: Floats
    slope: Floats
    hessian: Floats
    ok: bool


class Search:
    """One response of a large table, with the probes drawn so far and what was last solved."""

    def __init__(self, system: LargeSystem, x: Floats, response: Floats, zy: Floats, seed: int) -> None:
        self.system, self.seed = system, seed
        self.n, self.p = x.shape
        self.zx, self.zy = system.crossproducts_x(), zy
        self.xx, self.xy, self.yy = x.T @ x, x.T @ response, float(response @ response)
        self.fixed = grouped(np.column_stack([self.zx, zy]))
        self.fixed_starts = np.zeros((len(self.fixed), system.order, WIDTH))
        self.working_start = np.zeros((system.order, WIDTH))
        self.signs: list[NDArray[np.int8]] = []
        self.probe_starts: list[Floats] = []

    def draw_probes(self, groups: int) -> None:
        """Have `groups` times WIDTH probes, the first ones as they were."""
        for group in range(len(self.signs), groups):
            random = np.random.default_rng((self.seed, group))
            bits = random.integers(0, 2, size=(self.system.n_columns, WIDTH), dtype=np.int8)
            self.signs.append(2 * bits - 1)
            self.probe_starts.append(np.zeros((self.system.order, WIDTH)))

    def start(self) -> Floats:
        """Relative variances from sums of squares and their expectations at variances of zero (Rao 1971,
        MIVQUE0), kept away from zero."""
        info, phi = self.system.plain_information(self.xx)
        expected = 2.0 * information.expected_information(info, phi, 1.0, True)
        beta = phi @ self.xy
        seen = self.zy - self.zx @ beta
        rows = [self.system.rows_of(t) for t in range(self.system.n_types)]
        squares = np.array([*(seen[part] @ seen[part] for part in rows), self.yy - beta @ self.xy])
        found = information.pseudo_inverse(expected) @ squares
        least = 0.05 * squares[-1] / self.n
        ratios = found[:-1] / max(found[-1], least)
        return np.asarray(np.clip(ratios, _SMALLEST_START, _LARGEST_START))

    def fixed_effects(self, gamma: Floats) -> tuple[Floats, Floats]:
        """Fixed effects (p,) and (X'H^-1X)^-1 at relative variances `gamma`, without any probe."""
        self.system.at(gamma)
        solved = [columns.copy() for columns in self.fixed]
        for columns, start in zip(solved, self.fixed_starts, strict=True):
            if not self.system.solve(columns, start, _EXACT):
                raise FitError(
                    "Conjugate gradients did not end: the variances are too far above the residual's."
                )
        hx = np.concatenate(solved, axis=1)[:, : self.p]
        return self._generalised(self._weighted(gamma, hx))

    def _generalised(self, weighted: Floats) -> tuple[Floats, Floats]:
        """Generalised least squares from gamma Z'H^-1X: the fixed effects and (X'H^-1X)^-1."""
        xhx = self.xx - weighted.T @ self.zx
        phi = np.asarray(np.linalg.inv(0.5 * (xhx + xhx.T)), dtype=np.float64)
        return np.asarray(phi @ (self.xy - weighted.T @ self.zy)), phi

    def evaluate(self, gamma: Floats, *, restricted: bool) -> State:
        """Solve everything at relative variances `gamma`, outer types first."""
        system = self.system
        system.at(gamma)
        series = NeighbourSeries(system)
        n_fixed = len(self.fixed)

        def work(task: int) -> tuple[Floats, bool]:
            if task < n_fixed:
                columns = self.fixed[task].copy()
                return columns, system.solve(columns, self.fixed_starts[task], _EXACT)
            return self._probe(task - n_fixed, series)

        done = in_threads(work, range(n_fixed + len(self.signs)))
        ok = all(each for _, each in done)
        projected = np.concatenate([columns for columns, _ in done[:n_fixed]], axis=1)
        hx, hy = np.ascontiguousarray(projected[:, : self.p]), projected[:, self.p]
        beta, phi = self._generalised(self._weighted(gamma, hx))
        py = hy - hx @ beta
        seen = self.zy - self.zx @ beta
        left = self.yy - 2.0 * beta @ self.xy + beta @ self.xx @ beta
        rss = float(left - self._weighted(gamma, py[:, None])[:, 0] @ seen)
        values = np.concatenate([values for values, _ in done[n_fixed:]], axis=2)
        found = [
            controlled(each[0], each[1:].T, series.means[:, t])
            for t, each in enumerate(values.swapaxes(0, 1))
        ]
        trace = np.array([each.mean for each in found])
        of_probe = np.stack([each.left for each in found], axis=1)
        quadratic, square, worked = self._working(hx, py, phi)
        df = self.n - (self.p if restricted else 0)
        sigma2 = rss / df
        slope = trace - square / sigma2
        if restricted:
            slope = slope - np.einsum("tjk,jk->t", system.by_type(hx, hx), phi)
        hessian = quadratic / sigma2 - np.outer(square, square) / (sigma2**2 * df)
        ok = ok and worked and rss > _NOTHING * self.yy
        return State(gamma, beta, phi, rss, hx, py, trace, of_probe, quadratic, square, slope, hessian, ok)

    def _weighted(self, gamma: Floats, vectors: Floats) -> Floats:
        """Columns (n_columns, c) times the gamma of their type."""
        out = np.empty_like(vectors)
        for t, variance in enumerate(gamma):
            rows = self.system.rows_of(t)
            out[rows] = variance * vectors[rows]
        return out

    def _probe(self, group: int, series: NeighbourSeries) -> tuple[Floats, bool]:
        """v_t'Z_t'H^-1Z v of a group of probes, and what they make of the terms of the series, (1 + terms, q,
        WIDTH)."""
        columns, ok = self._products(group)
        rows = [self.system.rows_of(t) for t in range(self.system.n_types)]
        values = np.stack([columns[part].sum(axis=0) for part in rows])
        return np.concatenate([values[None], series.of(self.signs[group].astype(np.float64))]), ok

    def _products(self, group: int) -> tuple[Floats, bool]:
        """v_i (Z'H^-1Z v)_i of a group of probes, (n_columns, WIDTH)."""
        signs = self.signs[group].astype(np.float64)
        columns = self.system.gram_times(signs)
        ok = self.system.solve(columns, self.probe_starts[group], _CLOSE)
        return columns * signs, ok

    def diagonal(self) -> Floats:
        """The diagonal of Z'H^-1Z, (n_columns,), by all probes at the gamma of the system."""
        system = self.system
        series = NeighbourSeries(system)
        rows = [system.rows_of(t) for t in range(system.n_types)]

        def work(group: int) -> tuple[Floats, Floats]:
            own = np.concatenate(
                [self._products(group)[0][None], series.elements(self.signs[group].astype(np.float64))]
            )
            return np.stack([own[:, part].sum(axis=1) for part in rows], axis=1), own.sum(axis=2)

        done = in_threads(work, range(len(self.signs)))
        by_type = np.concatenate([types for types, _ in done], axis=2)
        mean = sum(columns for _, columns in done) / by_type.shape[2]
        found: Floats = mean[0].copy()
        for t, part in enumerate(rows):
            slopes = controlled(by_type[0, t], by_type[1:, t].T, series.means[:, t]).slopes
            found[part] -= slopes @ (mean[1:, part] - series.diagonals[:, part])
        return found

    def _working(self, hx: Floats, py: Floats, phi: Floats) -> tuple[Floats, Floats, bool]:
        """py_s'Z_s'PZ_t py_t (q, q), py_t'py_t (q,), and whether the solves met their tolerance."""
        system = self.system
        alone = np.zeros((system.n_columns, WIDTH))
        for t in range(system.n_types):
            alone[system.rows_of(t), t] = py[system.rows_of(t)]
        columns = system.gram_times(alone)
        ok = system.solve(columns, self.working_start, _CLOSE)
        x_part = system.by_type(hx, py[:, None])[:, :, 0]
        through = system.by_type(py[:, None], columns)[:, 0, : system.n_types]
        quadratic = through - x_part @ phi @ x_part.T
        square = system.by_type(py[:, None], py[:, None])[:, 0, 0]
        return 0.5 * (quadratic + quadratic.T), square, ok


def minimise(search: Search, start: Floats, *, restricted: bool) -> tuple[State, int]:
    """Newton steps from `start` to where the estimated slope is zero, or positive at a component of zero; the
    state there and a status of kernels.reml.

    A component goes to zero by steps of a tenth first. A step after which the next one promises more than
    before is taken half.
    """
    gamma = start.copy()
    state = search.evaluate(gamma, restricted=restricted)
    cut = np.zeros(len(gamma), dtype=np.int64)
    last = np.inf
    for _ in range(_MOST_STEPS):
        if not state.ok:
            nothing_left = state.rss <= _NOTHING * search.yy
            return state, reml.NO_RESIDUAL if nothing_left else reml.STALLED
        free = (state.gamma > 0.0) | (state.slope < 0.0)
        direction = newton_direction(state.hessian, state.slope, free)
        pressed = state.gamma + direction < 0.0
        promise = float(-state.slope @ np.where(pressed, -state.gamma, direction))
        if abs(promise) < _PROMISE and not (pressed & (state.gamma > 0.0)).any():
            return state, reml.CONVERGED
        trial = state.gamma + direction
        cut += trial < 0.1 * state.gamma
        trial = np.where((trial < 0.1 * state.gamma) & (cut < 3), 0.1 * state.gamma, np.maximum(trial, 0.0))
        trial = np.minimum(trial, 100.0 * state.gamma + 10.0)
        if promise > 4.0 * last:
            trial = 0.5 * (trial + state.gamma)
        last = promise
        state = search.evaluate(trial, restricted=restricted)
    return state, reml.TOO_MANY_STEPS


def newton_direction(hessian: Floats, slope: Floats, free: NDArray[np.bool_]) -> Floats:
    """-hessian^-1 slope over the free components; none along directions in which variances are not told apart."""
    return -flat_inverse(hessian, free) @ slope


def flat_inverse(hessian: Floats, free: NDArray[np.bool_]) -> Floats:
    """Inverse over the free components and the eigenvalues that are clearly positive, zero elsewhere."""
    scale = np.sqrt(np.where(free, np.maximum(np.diag(hessian), 1e-300), 1.0))
    both = np.outer(free, free)
    values, vectors = np.linalg.eigh(np.where(both, hessian / np.outer(scale, scale), np.eye(len(free))))
    clear = values > _FLAT
    inverse = (vectors * np.where(clear, 1.0, 0.0) / np.where(clear, values, 1.0)) @ vectors.T
    return np.asarray(np.where(both, inverse / np.outer(scale, scale), 0.0))
