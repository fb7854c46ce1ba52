"""REML of tables with very many workers: average-information Newton steps from conjugate gradients.

The score of the restricted likelihood needs tr(Z_t'PZ_t) of every component. They are estimated with fixed
probes, vectors of random signs (Hutchinson 1990): drawn once by a seed, the same at every step, so that the search
is deterministic and a fit has the same bytes each time. Effect, standard error and the average information
(Gilmour, Thompson and Cullis 1995) are exact given the variances. There is no criterion: its determinant
would cost what these solves avoid.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import FitError
from humeval_power.kernels.crossed import information, reml
from humeval_power.kernels.crossed.likelihood import Gram
from humeval_power.kernels.large import iterative
from humeval_power.kernels.large.iterative import WIDTH

# What fixed probes leave uncertain in the fit of a table of very many workers.

NO_LIKELIHOOD = "a table of so many workers and items is fitted without evaluating its likelihood"


@dataclass(frozen=True, slots=True)
class MonteCarlo:
    """Monte Carlo error of a fit whose variances were found with random probes, drawn once by `seed`.

    deviations : of each SD above zero, relative to its own standard error, by name.
    effect, standard_error : of the effect and of its standard error, both relative to that standard error.
    """

    probes: int
    seed: int
    deviations: Mapping[str, float]
    effect: float
    standard_error: float

    @property
    def largest(self) -> float:
        """The largest error of an SD, relative to its standard error."""
        return max(self.deviations.values(), default=0.0)


# Products with V^-1 of a table of very many workers and items, at one set of relative variances.

Floats = NDArray[np.float64]
Given = TypeVar("Given")
Found = TypeVar("Found")

_MOST_WALKS = 2000  # of one solve; tables of people need 10 to 60


class LargeSystem:
    """Crossproducts of one design, and solves with them at the relative variances of `at`."""

    def __init__(self, gram: Gram) -> None:
        self.gram = gram
        self.qa, self.qb = gram.outer_block.shape[1], gram.inner_block.shape[1]
        self.order = len(gram.outer_block) * self.qa
        self.n_columns = self.order + len(gram.inner_block) * self.qb
        self.n_types = (len(gram.begin) - 1) * self.qa + self.qb
        self.gamma = np.zeros(self.n_types)
        self.operator = self._prepared()

    def at(self, gamma: Floats) -> None:
        """Move to relative variances (n_types,), outer types first."""
        self.gamma = np.ascontiguousarray(gamma, dtype=np.float64)
        self.operator = self._prepared()

    def _prepared(self) -> iterative.Operator:
        gram = self.gram
        keep, gain = np.empty_like(gram.inner_block), np.empty_like(gram.inner_block)
        root, over = np.empty(self.order), np.empty(self.order)
        inverse = np.empty_like(gram.outer_block)
        design = (gram.start, gram.outer, gram.begin, gram.cross, gram.inner_block, gram.outer_block)
        iterative.prepare(*design, self.gamma, keep, gain, root, over, inverse)
        return iterative.Operator(
            gram.start,
            gram.outer,
            gram.cross,
            gram.inner_block,
            gram.outer_block,
            gram.meeting,
            gram.meeting_block,
            keep,
            gain,
            root,
            over,
            inverse,
            gram.coupled,
        )

    def rows_of(self, t: int) -> slice:
        """The rows of column type t."""
        kinds = len(self.gram.begin) - 1
        if t >= kinds * self.qa:
            return slice(self.order + t - kinds * self.qa, None, self.qb)
        kind, column = divmod(t, self.qa)
        begin = self.gram.begin * self.qa
        return slice(int(begin[kind]) + column, int(begin[kind + 1]), self.qa)

    def size_of(self, t: int) -> int:
        """Levels of column type t."""
        return len(range(self.n_columns)[self.rows_of(t)])

    def by_type(self, left: Floats, right: Floats) -> Floats:
        """left'right over each column type, (n_types, left columns, right columns)."""
        rows = [self.rows_of(t) for t in range(self.n_types)]
        return np.stack([left[part].T @ right[part] for part in rows])

    def only(self, t: int, vector: Floats) -> Floats:
        """A copy with every column type but t at zero."""
        kept = np.zeros_like(vector)
        kept[self.rows_of(t)] = vector[self.rows_of(t)]
        return kept

    def gram_times(self, vectors: Floats) -> Floats:
        """Z'Z v."""
        out = np.empty_like(vectors)
        order = self.order
        iterative.gram_times(self.operator, vectors[order:], vectors[:order], out[order:], out[:order])
        return out

    def solve(self, crossproducts: Floats, start: Floats, tolerance: float) -> bool:
        """Turn Z'r into Z'H^-1r, in place, and `start` (order, WIDTH) into a start for the next time; whether
        the tolerance was met."""
        outer, inner = crossproducts[: self.order], crossproducts[self.order :]
        walks: int = iterative.solve(self.operator, inner, outer, start, tolerance, _MOST_WALKS)
        return walks > 0

    def plain_information(self, xx: Floats) -> tuple[information.Information, Floats]:
        """Information at variances of zero, and (X'X)^-1: exact, from sums over the pairs alone.

        P is then the projection off X. What directions of the variances leave PVP unchanged is the same at
        any variances, so this says what a table of any size identifies.
        """
        gram, n_types = self.gram, self.n_types
        n_outer_types = n_types - self.qb
        trace, norm = np.zeros(n_types), np.zeros((n_types, n_types))
        kind = np.repeat(np.arange(len(gram.begin) - 1), np.diff(gram.begin))
        inside = slice(n_outer_types, None)
        norm[inside, inside] = (gram.inner_block**2).sum(axis=0)
        trace[inside] = np.einsum("ibb->b", gram.inner_block)
        for k in range(len(gram.begin) - 1):
            own = slice(k * self.qa, (k + 1) * self.qa)
            blocks = gram.outer_block[kind == k]
            norm[own, own] = (blocks**2).sum(axis=0)
            trace[own] = np.einsum("ibb->b", blocks)
            norm[own, inside] = (gram.cross[kind[gram.outer] == k] ** 2).sum(axis=0)
            norm[inside, own] = norm[own, inside].T
        if len(gram.meeting):
            for k in range(len(gram.begin) - 1):
                for j in range(k + 1, len(gram.begin) - 1):
                    both = (kind[gram.meeting] == (k, j)).all(axis=1)
                    first, second = (slice(e * self.qa, (e + 1) * self.qa) for e in (k, j))
                    norm[first, second] = (gram.meeting_block[both] ** 2).sum(axis=0)
                    norm[second, first] = norm[first, second].T
        zx = self.crossproducts_x()
        xgx = self.by_type(zx, zx)
        xggx = np.stack([self.by_type(zx, self.through(t, zx)) for t in range(n_types)], axis=1)
        phi = np.asarray(np.linalg.inv(xx), dtype=np.float64)
        info = information.with_residual(np.zeros(n_types), trace, norm, xgx, xggx, phi, gram.n)
        return info, phi

    def through(self, t: int, vectors: Floats) -> Floats:
        """Z'Z of the part of the columns (n_columns, c) of type t."""
        masked = self.only(t, vectors)
        done = [self.gram_times(group) for group in grouped(masked)]
        return np.concatenate(done, axis=1)[:, : vectors.shape[1]]

    def crossproducts_x(self) -> Floats:
        """Z'X, (n_columns, p)."""
        p = self.gram.xx.shape[0]
        return np.concatenate([self.gram.outer_x.reshape(-1, p), self.gram.inner_x.reshape(-1, p)])


def grouped(columns: Floats) -> Floats:
    """Columns (n, c) as groups (groups, n, WIDTH), the last one filled with zeros."""
    n, c = columns.shape
    groups = -(-c // WIDTH)
    full = np.zeros((n, groups * WIDTH))
    full[:, :c] = columns
    return np.ascontiguousarray(full.reshape(n, groups, WIDTH).transpose(1, 0, 2))


def in_threads(work: Callable[[Given], Found], given: Iterable[Given]) -> list[Found]:
    """work(each) in the order given, on the cores that this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with ThreadPoolExecutor(cores) as pool:
        return list(pool.map(work, given))


# Control variates for traces that are estimated with random signs.

Blocks = tuple[Floats, Floats]  # of outer and of inner levels

_LEAST = 0.01  # gamma times the mean sum of squares of a level's column, at least


class NeighbourSeries:
    """The first terms of the series at the gamma of a system: their diagonals (terms, n_columns), and the traces
    that these add up to, `means` (terms, n_types)."""

    def __init__(self, system: LargeSystem) -> None:
        gram = system.gram
        self.system = system
        roots = self._roots()
        blocks = (gram.outer_block, gram.inner_block)
        self.middle = _pair(
            np.linalg.inv(each + _diagonal(root**-2.0)) for each, root in zip(blocks, roots, strict=True)
        )
        # L D^-1 L = (A + L^-2)^-1, and this times L^-2 from the right or the left
        self.right = _pair(
            each * root[:, None, :] ** -2.0 for each, root in zip(self.middle, roots, strict=True)
        )
        self.left = _pair(np.ascontiguousarray(each.transpose(0, 2, 1)) for each in self.right)
        self.first = np.concatenate([root.ravel() ** -2.0 for root in roots])
        self.apart = system.operator._replace(
            inner_block=np.zeros_like(gram.inner_block), outer_block=np.zeros_like(gram.outer_block)
        )
        # a way round over three factors has no known trace
        self.n_terms = 3 if len(gram.meeting) == 0 else 2
        self.diagonals = self._diagonals()
        self.means = self._by_type(self.diagonals)

    def _roots(self) -> Blocks:
        """L, (n_outer, qa) and (n_inner, qb), kept away from zero."""
        system, gram = self.system, self.system.gram
        size = np.concatenate(
            [np.einsum("wbb->wb", each).ravel() for each in (gram.outer_block, gram.inner_block)]
        )
        root = np.empty(system.n_columns)
        for t, variance in enumerate(system.gamma):
            rows = system.rows_of(t)
            root[rows] = np.sqrt(max(variance, _LEAST / size[rows].mean()))
        return root[: system.order].reshape(-1, system.qa), root[system.order :].reshape(-1, system.qb)

    def _diagonals(self) -> Floats:
        gram = self.system.gram
        sums = np.zeros_like(gram.outer_block), np.zeros_like(gram.inner_block)
        iterative.neighbour_sums(self.apart, *self.middle, *sums)
        second = [
            np.einsum("wab,wbc,wca->wa", left, each, right)
            for left, each, right in zip(self.left, sums, self.right, strict=True)
        ]
        own = [np.einsum("waa->wa", each) for each in self.right]
        joined = [np.concatenate([part.ravel() for part in each]) for each in (own, second)]
        values = np.zeros((1 + self.n_terms, self.system.n_columns))
        values[0], values[2] = joined[0] * self.first, joined[1]
        return values

    def _by_type(self, columns: Floats) -> Floats:
        """Sums over the columns (terms, n_columns, ...) of each type, (terms, n_types, ...)."""
        rows = [self.system.rows_of(t) for t in range(self.system.n_types)]
        return np.stack([columns[:, part].sum(axis=1) for part in rows], axis=1)

    def elements(self, signs: Floats) -> Floats:
        """v_i (B v)_i of every term B for signs v (n_columns, WIDTH), (terms, n_columns, WIDTH): on average its
        diagonal."""
        out = np.empty((1 + self.n_terms, *signs.shape))
        iterative.block_products(*self.right, signs, out[0])
        out[0] *= self.first[:, None]
        iterative.neighbour_series(self.apart, self.left, self.right, self.middle, signs, out[1:])
        out *= signs
        return out

    def of(self, signs: Floats) -> Floats:
        """Their sums over each column type, (terms, n_types, WIDTH)."""
        return self._by_type(self.elements(signs))


class ControlledMean(NamedTuple):
    """The mean of what probes say, what is left of each of them (probes,), and the slopes (terms,)."""

    mean: float
    left: Floats
    slopes: Floats


def controlled(values: Floats, terms: Floats, means: Floats) -> ControlledMean:
    """Values (probes,) regressed on terms (probes, k) of known means (k,)."""
    centered = terms - terms.mean(axis=0)
    spread = np.sqrt((centered**2).sum(axis=0))
    used = spread > 1e-9 * np.abs(terms).max(initial=1.0)
    slopes = np.zeros(len(means))
    scaled = centered[:, used] / spread[used]
    slopes[used] = np.linalg.lstsq(scaled, values - values.mean(), rcond=1e-10)[0] / spread[used]
    left = values - values.mean() - centered @ slopes
    n, k = len(values), int(used.sum())
    mean = float(values.mean() - (terms.mean(axis=0) - means) @ slopes)
    return ControlledMean(mean, left * np.sqrt((n - 1.0) / max(n - 1.0 - k, 1.0)), slopes)


def _pair(blocks: Iterable[NDArray[np.floating[Any]]]) -> Blocks:
    outer, inner = (np.ascontiguousarray(each, dtype=np.float64) for each in blocks)
    return outer, inner


def _diagonal(values: Floats) -> Floats:
    """Diagonal matrices (n, q, q) of values (n, q)."""
    return values[:, :, None] * np.eye(values.shape[1])


_EXACT, _CLOSE = 1e-11, 1e-7  # tolerance of solves with fixed effects and ratings, and with others
_PROMISE = 1e-9  # fall of -2 log likelihood below which no further step is taken
_MOST_STEPS = 60
_NOTHING = 1e-12  # of the ratings' sum of squares: a residual below this is none
_FLAT = 1e-6  # eigenvalue of the scaled information below which variances are not told apart
_LARGEST_START = 30.0
_SMALLEST_START = 0.01


class SearchState(NamedTuple):
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
        result = information.pseudo_inverse(expected) @ squares
        least = 0.05 * squares[-1] / self.n
        ratios = result[:-1] / max(result[-1], least)
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

    def evaluate(self, gamma: Floats, *, restricted: bool) -> SearchState:
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
        estimates = [
            controlled(each[0], each[1:].T, series.means[:, t])
            for t, each in enumerate(values.swapaxes(0, 1))
        ]
        trace = np.array([each.mean for each in estimates])
        of_probe = np.stack([each.left for each in estimates], axis=1)
        quadratic, square, worked = self._working(hx, py, phi)
        df = self.n - (self.p if restricted else 0)
        sigma2 = rss / df
        slope = trace - square / sigma2
        if restricted:
            slope = slope - np.einsum("tjk,jk->t", system.by_type(hx, hx), phi)
        hessian = quadratic / sigma2 - np.outer(square, square) / (sigma2**2 * df)
        ok = ok and worked and rss > _NOTHING * self.yy
        return SearchState(
            gamma, beta, phi, rss, hx, py, trace, of_probe, quadratic, square, slope, hessian, ok
        )

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
        values: Floats = mean[0].copy()
        for t, part in enumerate(rows):
            slopes = controlled(by_type[0, t], by_type[1:, t].T, series.means[:, t]).slopes
            values[part] -= slopes @ (mean[1:, part] - series.diagonals[:, part])
        return values

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


def minimise(search: Search, start: Floats, *, restricted: bool) -> tuple[SearchState, int]:
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
