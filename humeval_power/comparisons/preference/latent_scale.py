"""From the latent strength of B to the shares of judgements that prefer B, A or neither, and back.

In a judgement the strength of B over A is eta = strength + x position_bias + own strength of the worker + of the
item, x = +1/2 where B is shown first and -1/2 where A is. With noise of the link (normal of SD 1, or
logistic) B wins where eta + noise lies above a threshold, A where it lies below minus that, and what lies
between is a tie (Rao and Kupper 1967; Agresti 1992, Applied Statistics 41).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from humeval_power.errors import InputError, Problem, refuse
from humeval_power.inference.mcnemar import exact_p
from humeval_power.inference.student_t import critical_value
from humeval_power.latent import Link

if TYPE_CHECKING:
    from humeval_power.estimation.latent.engine import LatentProblem, Start


# Who judges which item: workers in turn, a fixed number for each item, the order of presentation
# balanced.

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Panel:
    """Judgements of `n_items` items by `n_workers` workers, no pair of them twice.

    Items have equally many judgements, or differ by one; so have workers. What is shown first takes turns
    over a worker's judgements.
    """

    n_judgements: int
    n_workers: int
    n_items: int

    def __post_init__(self) -> None:
        problems = []
        n, m, items = self.n_judgements, self.n_workers, self.n_items
        if min(n, m, items) < 2:
            problems.append(
                Problem(
                    f"There must be at least two judgements, workers and items; got {n}, {m}, {items}.", ""
                )
            )
        elif max(m, items) > n:
            problems.append(
                Problem(
                    f"{n:,} judgements cannot occupy {m:,} workers and {items:,} items.", "Ask for more."
                )
            )
        elif n > m * items:
            problems.append(
                Problem(
                    f"{m:,} workers and {items:,} items have {m * items:,} pairs; {n:,} judgements would need "
                    "the same pair twice.",
                    "Take more workers or items, or fewer judgements.",
                )
            )
        refuse(problems)

    @property
    def workers_repeat(self) -> bool:
        """Whether workers judge several items, so that their variation shows."""
        return self.n_workers < self.n_judgements

    @property
    def items_repeat(self) -> bool:
        """Whether items are judged several times."""
        return self.n_items < self.n_judgements

    @property
    def assignment(self) -> tuple[Codes, Codes, Floats]:
        """Worker, item and position (+1/2: B is shown first) of each judgement."""
        worker, position = self._turns(np.arange(self.n_judgements))
        return worker, np.repeat(np.arange(self.n_items), self._sizes), position

    @property
    def kinds(self) -> Iterator[tuple[Codes, Floats, int]]:
        """Workers and positions of each kind of item that there is, and how many items are of that kind; where
        no worker has two judgements, items of a size and first position are of one kind."""
        sizes = self._sizes
        period = 2 * self.n_workers if self.workers_repeat else 2  # the turns repeat after two rounds
        start = (np.cumsum(sizes) - sizes) % period
        kinds, count = np.unique(np.stack([start, sizes]), axis=1, return_counts=True)
        for first, size, several in zip(*kinds, count, strict=True):
            yield *self._turns(first + np.arange(size)), int(several)

    @property
    def _sizes(self) -> Codes:
        """Judgements of each item."""
        each, more = divmod(self.n_judgements, self.n_items)
        return each + (np.arange(self.n_items) < more).astype(np.int64)

    def _turns(self, place: Codes) -> tuple[Codes, Floats]:
        """Worker and position of the judgements at these places."""
        odd = place + place // self.n_workers if self.n_workers % 2 == 0 else place
        return place % self.n_workers, np.where(odd % 2 == 0, 0.5, -0.5)


FIRST = (0.5, -0.5)  # x where B is shown first, and where A is
_NODES = 61  # of Gauss and Hermite's quadrature


def probability(eta: ArrayLike, link: Link) -> Floats:
    """Distribution function of the noise."""
    x = np.asarray(eta, dtype=np.float64)
    return np.asarray(special.ndtr(x) if link == "probit" else special.expit(x))


def density(eta: ArrayLike, link: Link) -> Floats:
    """Its density."""
    x = np.asarray(eta, dtype=np.float64)
    if link == "probit":
        return np.asarray(np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi))
    below = special.expit(x)
    return np.asarray(below * (1 - below))


@dataclass(frozen=True)
class LatentPreference:
    """How judgements arise: strengths, threshold and standard deviations on the scale of the link."""

    strength: float
    threshold: float = 0.0
    position_bias: float = 0.0
    sd_worker: float = 0.0
    sd_item: float = 0.0
    link: Link = "probit"

    @property
    def variance(self) -> float:
        """Of workers' and items' own strengths together."""
        return self.sd_worker**2 + self.sd_item**2

    @cached_property
    def shares(self) -> tuple[float, float, float]:
        """Judgements that prefer B, are ties and prefer A, over workers, items and both positions."""
        eta = self.strength + np.array(FIRST) * self.position_bias
        won = float(self.averaged(eta - self.threshold).mean())
        lost = float(self.averaged(-eta - self.threshold).mean())
        return won, max(1 - won - lost, 0.0), lost

    def preferred(self, strength: ArrayLike) -> Floats:
        """Probability that B is preferred, ties counted half, if its strength were `strength`: averaged over
        workers, items and both positions. It rises with the strength and is 1/2 at 0."""
        eta = np.asarray(strength, dtype=np.float64)[..., None] + np.array(FIRST) * self.position_bias
        both = self.averaged(eta - self.threshold) + self.averaged(eta + self.threshold)
        return np.asarray(both.mean(axis=-1) / 2)

    def first_preferred(self, position_bias: ArrayLike) -> Floats:
        """Probability that what is shown first is preferred, ties counted half, if neither system is stronger
        and the position bias were `position_bias`."""
        half = np.asarray(position_bias, dtype=np.float64) / 2
        return (self.averaged(half - self.threshold) + self.averaged(half + self.threshold)) / 2

    def averaged(self, eta: ArrayLike) -> Floats:
        """Probability of noise below `eta`, averaged over workers and items: closed for the probit, by Gauss
        and Hermite's quadrature for the logit."""
        if self.link == "probit":
            return probability(np.asarray(eta) / math.sqrt(1 + self.variance), "probit")
        nodes, weights = _quadrature()
        spread = math.sqrt(self.variance) * nodes
        return np.asarray(probability(np.asarray(eta)[..., None] + spread, self.link) @ weights)

    def information(self, x: float, *, ties: bool) -> Floats:
        """Expected information of one judgement about (threshold, eta), averaged over workers and items; the
        first row and column are 0 without ties."""
        nodes, weights = _quadrature()
        eta = self.strength + x * self.position_bias + math.sqrt(self.variance) * nodes
        cut = self.threshold
        won, lost = probability(eta - cut, self.link), probability(-eta - cut, self.link)
        by_win, by_loss = density(eta - cut, self.link), density(eta + cut, self.link)
        slopes = [(won, -by_win, by_win), (lost, -by_loss, -by_loss)]
        if ties:
            near = -np.abs(eta)  # the difference of two small tails, not of two numbers near 1
            tied = probability(near + cut, self.link) - probability(near - cut, self.link)
            slopes.append((tied, by_win + by_loss, by_loss - by_win))
        values = np.zeros((2, 2))
        for share, by_threshold, by_eta in slopes:
            gradient = np.array([by_threshold if ties else np.zeros_like(eta), by_eta])
            weight = np.where(share > 0, weights / np.maximum(share, 1e-300), 0.0)
            values += (gradient * weight) @ gradient.T
        return values


@cache
def _quadrature() -> tuple[Floats, Floats]:
    """Nodes and weights of the average over a standard normal number."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    return nodes, weights / weights.sum()


def latent_preference(
    preference: float,
    *,
    tie_share: float = 0.0,
    position_bias: float = 0.0,
    sd_worker: float = 0.0,
    sd_item: float = 0.0,
    link: Link = "probit",
) -> LatentPreference:
    """The latent model whose shares are these.

    preference : share that prefers B, ties counted half, minus 1/2.
    tie_share : of all judgements.
    position_bias : probability that what is shown first is preferred where neither system is stronger,
        ties counted half, minus 1/2.
    """
    won, lost = (1 - tie_share) / 2 + preference, (1 - tie_share) / 2 - preference
    if min(won, lost) <= 0:
        raise InputError(
            f"With {tie_share:.4g} ties a preference of {preference:+.4g} leaves nobody to prefer "
            f"{'A' if lost <= 0 else 'B'}: it must lie within {(1 - tie_share) / 2:.4g}."
        )
    spread = math.sqrt((1.0 if link == "probit" else math.pi**2 / 3) + sd_worker**2 + sd_item**2)
    upper, lower = float(special.ndtri(won)) * spread, float(special.ndtri(lost)) * spread
    start = LatentPreference(
        (upper - lower) / 2,
        -(upper + lower) / 2 if tie_share > 0 else 0.0,
        2 * spread * float(special.ndtri(0.5 + position_bias)),
        sd_worker,
        sd_item,
        link,
    )
    if link == "probit" and position_bias == 0:
        return start
    return _solved(start, won, lost, position_bias, ties=tie_share > 0)


def _solved(
    start: LatentPreference, won: float, lost: float, bias: float, *, ties: bool
) -> LatentPreference:
    """The root by Newton's method from a start with nearly these shares."""
    from scipy import optimize

    def model(x: Floats) -> LatentPreference:
        threshold = float(x[2]) if ties else 0.0
        return replace(start, strength=float(x[0]), position_bias=float(x[1]), threshold=threshold)

    def gap(x: Floats) -> list[float]:
        at = model(x)
        gaps = [at.shares[0] - won, float(at.first_preferred(at.position_bias)) - 0.5 - bias]
        return [*gaps, at.shares[2] - lost] if ties else gaps

    first = [start.strength, start.position_bias, *([start.threshold] if ties else [])]
    solution = optimize.root(gap, first, tol=1e-12)
    if np.abs(gap(solution.x)).max() > 1e-9 or (ties and solution.x[-1] < 0):
        raise InputError(
            f"No judges have {won:.4g} wins, {lost:.4g} losses and a position bias of {bias:+.4g}: there is too "
            "little left to choose. Give a smaller position bias or fewer ties."
        )
    return model(solution.x)


# How precisely a panel will know the strength of B: expected information at assumed values.

_STRENGTH = 1  # place among the fixed columns: threshold, strength, position
_N_FIXED = 3


@dataclass(frozen=True, slots=True)
class StrengthPrecision:
    """Standard error of the estimated strength, and the degrees of freedom on which a study knows it."""

    standard_error: float
    df: float


@dataclass(frozen=True, slots=True, eq=False)
class _KindInformation:
    """Information about threshold, strength, position and workers (`dense`), that `shared` by an item of each
    kind with those, shape (kinds, columns), its `own`, and how `many` items of the kind there are."""

    dense: Floats
    shared: Floats
    own: Floats
    many: Floats


def strength_precision(panel: Panel, truth: LatentPreference) -> StrengthPrecision:
    """Standard error and df of the strength that a panel will estimate, its position in the model."""
    counted = _counted(panel, truth)
    used = np.flatnonzero(np.diag(counted.dense) > 0)  # no threshold without ties
    dense, shared = counted.dense[np.ix_(used, used)], counted.shared[:, used]
    n_fixed, column = int((used < _N_FIXED).sum()), int(np.flatnonzero(used == _STRENGTH)[0])
    is_item, is_worker = panel.items_repeat, panel.workers_repeat
    item_variance = truth.sd_item**2 if is_item else 0.0
    remains = 1 / (1 + item_variance * counted.own)  # of an item's information beside its own variance
    removed = (shared * (counted.many * item_variance * remains)[:, None]).T @ shared
    marginal = dense - removed
    scale = np.ones(len(used))
    scale[n_fixed:] = truth.sd_worker if is_worker else 0.0
    inner = scale[:, None] * marginal * scale
    inner[range(n_fixed, len(used)), range(n_fixed, len(used))] += 1.0
    inverse = scale[:, None] * np.linalg.inv(inner) * scale
    phi = float(inverse[column, column])
    slope, information = _of_variances(
        marginal, inverse, shared * remains[:, None], counted, remains, n_fixed, column
    )
    kept = np.flatnonzero([is_worker, is_item])
    slope, information = slope[kept], information[np.ix_(kept, kept)]
    uncertainty = float(slope @ np.linalg.solve(information, slope)) if len(kept) else 0.0
    return StrengthPrecision(math.sqrt(phi), 2 * phi**2 / uncertainty if uncertainty > 0 else math.inf)


def _of_variances(
    marginal: Floats,
    inverse: Floats,
    rows: Floats,
    counted: _KindInformation,
    remains: Floats,
    n_fixed: int,
    column: int,
) -> tuple[Floats, Floats]:
    """How Phi changes with the variances of workers and items, and their expected information.

    `rows` are an item's shared information after its own variance; with Z'PZ in blocks, workers: M - M C M;
    worker and item: rows - rows C M; items: diagonal(own remains) - rows C rows'.
    """
    many, single = counted.many, counted.own * remains
    workers = marginal[n_fixed:]
    projected = workers[:, n_fixed:] - workers @ inverse @ workers.T
    crossed = rows[:, n_fixed:] - rows @ inverse @ workers.T
    within = inverse @ (rows.T * many) @ rows
    own = np.einsum("ja,ab,jb->j", rows, inverse, rows)
    items = float(many @ (single**2 - 2 * single * own)) + float(np.trace(within @ within))
    between = float((many[:, None] * crossed**2).sum())
    information = np.array([[float((projected**2).sum()), between], [between, items]]) / 2
    by_worker, by_item = workers @ inverse[:, column], rows @ inverse[:, column]
    return np.array([float(by_worker @ by_worker), float(many @ by_item**2)]), information


def _counted(panel: Panel, truth: LatentPreference) -> _KindInformation:
    """Sums over the judgements of each kind of item."""
    of_position = {x: truth.information(x, ties=truth.threshold > 0) for x in FIRST}
    size = _N_FIXED + (panel.n_workers if panel.workers_repeat else 0)
    dense = np.zeros((size, size))
    shared, own, number = [], [], []
    for worker, position, several in panel.kinds:
        row = np.zeros(size)
        for one, x in zip(worker, position, strict=True):
            columns = np.array([0, 1, 2, *([_N_FIXED + one] if panel.workers_repeat else [])])
            by_eta = np.array([0.0, 1.0, x, *([1.0] if panel.workers_repeat else [])])
            by_threshold = np.zeros(len(columns))
            by_threshold[0] = 1.0
            both = np.stack([by_threshold, by_eta])
            dense[np.ix_(columns, columns)] += several * both.T @ of_position[float(x)] @ both
            row[columns] += of_position[float(x)][1] @ both
        shared.append(row)
        own.append(sum(of_position[float(x)][1, 1] for x in position))
        number.append(several)
    return _KindInformation(dense, np.array(shared), np.array(own), np.array(number, dtype=np.float64))


# Preferences of workers on items in the latent engine: what can be estimated, the fits, and their tests.

Flags = NDArray[np.bool_]

SEPARATED = -1  # no fit was tried: some judgements are all alike


@dataclass(frozen=True, slots=True, eq=False)
class PanelFits:
    """One entry a table, shape (tables,): the latent strength of B with its test against 0, the threshold, the
    position bias with its standard error (NaN without one), and the standard deviations of workers and items (0
    where they are not estimated). `status` is 0 for a fit, SEPARATED, or a code of the engine's; numbers of
    other tables are NaN.
    """

    strength: Floats
    standard_error: Floats
    df: Floats
    threshold: Floats
    position_bias: Floats
    position_error: Floats
    sd_worker: Floats
    sd_item: Floats
    status: Codes

    @property
    def usable(self) -> Flags:
        """Which have an estimate with a standard error and df."""
        with np.errstate(invalid="ignore"):
            return np.asarray(
                (self.status == 0)
                & np.isfinite(self.standard_error)
                & (self.standard_error > 0)
                & (self.df > 0)
            )

    def latent(self, row: int, link: Link) -> LatentPreference:
        """The model of one table as it was estimated."""
        bias = float(self.position_bias[row])
        return LatentPreference(
            float(self.strength[row]),
            float(self.threshold[row]),
            0.0 if np.isnan(bias) else bias,
            float(self.sd_worker[row]),
            float(self.sd_item[row]),
            link,
        )

    @property
    def p_value(self) -> Floats:
        """Two-sided, of t on `df` degrees of freedom."""
        return np.asarray(2 * special.stdtr(self.df, -np.abs(self.strength / self.standard_error)))


@dataclass(frozen=True, slots=True, eq=False)
class PanelModel:
    """Who judged what, shape (judgements,): codes of workers and items from 0, and +1/2 where B was shown
    first, -1/2 where A was. What cannot be told apart is left out (`of`)."""

    worker: Codes
    item: Codes
    position: Floats | None
    by_worker: bool
    by_item: bool
    left_out: tuple[str, ...]

    @classmethod
    def of(cls, worker: Codes, item: Codes, position: Floats | None = None) -> PanelModel:
        """The model with what these judgements can tell apart; `left_out` says what they cannot, and why."""
        why = [
            reason
            for codes, name in ((worker, "worker"), (item, "item"))
            if (reason := _fixed(codes, name))
        ]
        by_worker, by_item = _varies(worker), _varies(item)
        if by_worker and by_item and _coincide(worker, item):
            by_item = False
            why.append(
                "Every worker judged one item and every item had one worker: their variation is one."
            )
        if position is not None and len(np.unique(position)) < 2:
            first = "B" if position[0] > 0 else "A"
            why.append(
                f"{first} was always shown first: what the order does cannot be told from the preference."
            )
            position = None
        return cls(worker, item, position, by_worker, by_item, tuple(why))

    def fits(
        self, outcomes: Codes, *, link: Link, start: LatentPreference | None = None, n_jobs: int = 1
    ) -> PanelFits:
        """Fit tables of judgements, shape (tables, judgements): -1 prefers A, 0 tie, +1 prefers B; `start` is
        where the search of each begins. Where neither workers nor items vary there is no model to fit."""
        n = len(outcomes)
        a, b, c, d, e, f, g, h = np.full((8, n), np.nan)
        fits = PanelFits(a, b, c, d, e, f, g, h, np.full(n, SEPARATED, dtype=np.int64))
        if not (self.by_worker or self.by_item):
            return fits
        separated = self.separated(outcomes)
        with_ties = (outcomes == 0).any(axis=1)
        for ties in (False, True):
            rows = np.flatnonzero(~separated & (with_ties == ties))
            if len(rows):
                self._fill(fits, rows, outcomes[rows], link, start, n_jobs)
        return fits

    def separated(self, outcomes: Codes) -> Flags:
        """Which tables, shape (tables, judgements), have no highest likelihood: nobody prefers A, or B, in
        each order of presentation; or in one of them all prefer the same."""
        whole = np.ones(outcomes.shape[1], dtype=bool)
        cells = [whole] if self.position is None else [self.position == x for x in FIRST]
        contested = np.zeros(len(outcomes), dtype=bool)
        unanimous = contested.copy()
        for cell in cells:
            won, lost, tied = ((outcomes[:, cell] == sign).sum(axis=1) for sign in (1, -1, 0))
            contested |= (won > 0) & (lost > 0)
            unanimous |= (np.minimum(won, lost) == 0) & (np.maximum(won, lost) > 0) & (tied == 0)
        return np.asarray(~contested | unanimous)

    def sign_p(self, outcomes: Codes) -> Floats:
        """The largest p-value of exact sign tests of what most judgements of each worker, and of each item,
        prefer; of the single judgements where neither repeats. Right whatever else varies, and cautious."""
        units = [
            codes for codes, kept in ((self.worker, self.by_worker), (self.item, self.by_item)) if kept
        ]
        p_values = [exact_p(*majorities(outcomes, codes)) for codes in units]
        if not p_values:
            p_values = [exact_p((outcomes > 0).sum(axis=1), (outcomes < 0).sum(axis=1))]
        return np.asarray(np.max(p_values, axis=0))

    def _fill(
        self,
        fits: PanelFits,
        rows: Codes,
        outcomes: Codes,
        link: Link,
        start: LatentPreference | None,
        n_jobs: int,
    ) -> None:
        """Fit tables that all have ties, or all have none."""
        from humeval_power.estimation.latent.engine import fit_latent_batch

        ties = bool((outcomes[0] == 0).any())
        result = fit_latent_batch(
            self._problem,
            outcomes + 1 if ties else (outcomes + 1) // 2,
            n_categories=3 if ties else 2,
            link=link,
            start=None if start is None else self._start(start, ties=ties),
            n_jobs=n_jobs,
        )
        fits.status[rows] = result.status
        fits.strength[rows] = result.effect
        fits.standard_error[rows] = result.standard_error_adjusted
        fits.df[rows] = result.df
        fits.threshold[rows] = result.thresholds[:, -1] if ties else 0.0
        if self.position is not None:
            fits.position_bias[rows] = result.coefficients[:, -1]
            fits.position_error[rows] = np.sqrt(result.fixed_covariance[:, -1, -1])
        fits.sd_worker[rows] = result.sd[:, 0] if self.by_worker else 0.0
        fits.sd_item[rows] = result.sd[:, -1] if self.by_item else 0.0

    def _start(self, start: LatentPreference, *, ties: bool) -> Start:
        from humeval_power.estimation.latent.engine import Start

        cut = start.threshold
        bias = [] if self.position is None else [start.position_bias]
        return Start(
            sd=np.array([start.sd_worker, start.sd_item]),
            thresholds=np.array([-cut, cut] if ties else [0.0]),
            coefficients=np.array([start.strength, *bias]),
        )

    @property
    def _problem(self) -> LatentProblem:
        from humeval_power.estimation.latent.engine import LatentProblem

        return LatentProblem.of_preferences(
            self.worker if self.by_worker else np.zeros_like(self.worker),
            self.item if self.by_item else np.zeros_like(self.item),
            position=self.position,
        )


def majorities(outcomes: Codes, codes: Codes) -> tuple[Codes, Codes]:
    """How many workers, or items, of each table prefer B more often than A, and how many A; (tables,) each."""
    order = np.argsort(codes, kind="stable")
    begin = np.flatnonzero(np.diff(codes[order], prepend=-1))
    total = np.add.reduceat(outcomes[:, order], begin, axis=1)
    return (total > 0).sum(axis=1), (total < 0).sum(axis=1)


def _varies(codes: Codes) -> bool:
    """Whether there are several levels and one of them at least repeats."""
    return 1 < len(np.unique(codes)) < len(codes)


def _coincide(worker: Codes, item: Codes) -> bool:
    pairs = len(np.unique(np.stack([worker, item]), axis=1).T)
    return pairs == len(np.unique(worker)) == len(np.unique(item))


def _fixed(codes: Codes, name: str) -> str:
    """Why the standard deviation of workers or items is fixed at zero; '' if it is not."""
    if _varies(codes):
        return ""
    if len(np.unique(codes)) == 1:
        return f"There is one {name}: what is found holds for that {name} alone."
    return f"No {name} has two judgements: how {name}s vary is part of the noise."


# The test of a finished comparison by workers who judge several items, or of items that are judged often.

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class StrengthTest:
    """The latent strength of B against 0, and what it means as a probability.

    `preferred` is the probability that B is preferred, ties counted half, over workers, items and both
    orders of presentation; its interval is that of the strength, transformed, and so never contradicts the
    test. `first_preferred` is that of what is shown first where neither is stronger, with a normal interval
    (None where the order is not known or never changes).
    """

    latent: LatentPreference
    standard_error: float
    df: float
    p_value: float
    interval: Interval
    preferred: float
    preferred_interval: Interval
    first_preferred: float | None
    first_interval: Interval | None

    @property
    def t(self) -> float:
        """Strength over its standard error."""
        return self.latent.strength / self.standard_error


@dataclass(frozen=True, slots=True, kw_only=True)
class Majorities:
    """Of how many workers, or items, most judgements prefer B, and A; the exact sign test of these."""

    unit: str
    prefer_b: int
    prefer_a: int
    p_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelTest:
    """What a panel shows: the test of the latent strength, or why there is none; the exact sign tests of
    workers and of items that have several judgements; and what could not be estimated."""

    strength: StrengthTest | None
    problem: str
    majorities: tuple[Majorities, ...]
    left_out: tuple[str, ...]
    n_repeated: int  # judgements of a pair beyond its first

    @property
    def p_value(self) -> float:
        """Of the strength; without it the largest of the sign tests."""
        if self.strength is not None:
            return self.strength.p_value
        return max((each.p_value for each in self.majorities), default=float("nan"))


def panel_test(
    worker: Codes,
    item: Codes,
    preference: Floats,
    *,
    position: Floats | None = None,
    alpha: float = 0.05,
    link: Link = "probit",
) -> PanelTest:
    """Test whether B is preferred where workers, or items, have several judgements.

    worker, item : codes from 0, one for each judgement.
    preference : -1 (prefers A), 0 (tie) or +1 (prefers B).
    position : +1/2 where B was shown first, -1/2 where A was.
    alpha : 1 minus the confidence of the intervals.
    """
    model = PanelModel.of(worker, item, position)
    outcomes = np.asarray(preference, dtype=np.int64)[None]
    strength, problem = _strength(model, outcomes, alpha, link)
    pairs = np.unique(np.stack([worker, item]), axis=1).shape[1]
    result = []
    for unit, codes, kept in (
        ("worker", model.worker, model.by_worker),
        ("item", model.item, model.by_item),
    ):
        if kept:
            more_b, more_a = (int(count[0]) for count in majorities(outcomes, codes))
            p_value = float(exact_p(more_b, more_a))
            result.append(Majorities(unit=unit, prefer_b=more_b, prefer_a=more_a, p_value=p_value))
    return PanelTest(
        strength=strength,
        problem=problem,
        majorities=tuple(result),
        left_out=model.left_out,
        n_repeated=len(worker) - pairs,
    )


def _strength(
    model: PanelModel, outcomes: Codes, alpha: float, link: Link
) -> tuple[StrengthTest | None, str]:
    """The test of one table, or why there is none."""
    if not (model.by_worker or model.by_item):
        return None, ""
    fits = model.fits(outcomes, link=link)
    if fits.status[0] == SEPARATED:
        return None, _separation(outcomes[0])
    if not fits.usable[0]:
        return None, "the search found no highest likelihood: there are too few judgements that differ"
    latent, error, df = fits.latent(0, link), float(fits.standard_error[0]), float(fits.df[0])
    reach = critical_value(df, alpha / 2) * error
    interval = latent.strength - reach, latent.strength + reach
    low, high = (float(end) for end in latent.preferred(interval))
    first, first_interval = _first(model, latent, float(fits.position_error[0]), alpha)
    test = StrengthTest(
        latent=latent,
        standard_error=error,
        df=df,
        p_value=float(fits.p_value[0]),
        interval=interval,
        preferred=float(latent.preferred(latent.strength)),
        preferred_interval=(low, high),
        first_preferred=first,
        first_interval=first_interval,
    )
    return test, ""


def _first(
    model: PanelModel, latent: LatentPreference, error: float, alpha: float
) -> tuple[float | None, Interval | None]:
    """Probability that what is shown first is preferred, and its interval."""
    if model.position is None:
        return None, None
    bias, reach = latent.position_bias, critical_value(np.inf, alpha / 2) * error
    result, low, high = (float(each) for each in latent.first_preferred([bias, bias - reach, bias + reach]))
    return result, (low, high)


def _separation(outcomes: Codes) -> str:
    """Why the likelihood has no maximum."""
    if not outcomes.any():
        return "every judgement is a tie"
    if len(set(outcomes.tolist())) == 1:
        return f"every judgement prefers {'B' if outcomes[0] > 0 else 'A'}, so that no strength is large enough"
    if not ((outcomes > 0).any() and (outcomes < 0).any()):
        return f"nobody prefers {'A' if (outcomes > 0).any() else 'B'}, so that no strength is large enough"
    return "all who saw the same output first agree, so that no effect of the order is large enough"


# Whether the judgements of a worker, or of an item, go together: the design effect of a mean preference.


def design_effect(worker: Codes, item: Codes, preference: Floats) -> float:
    """How many times larger the variance of the mean preference is than if judgements were independent.

    The sum over workers of their squared total deviation, plus that over items, less that over single
    judgements, divided by the last (two-way clustering; Cameron, Gelbach & Miller 2011); at least 0.
    """
    deviation = preference - preference.mean()
    alone = float(deviation @ deviation)
    if alone == 0:
        return 1.0
    by_worker, by_item = (np.bincount(code, weights=deviation) for code in (worker, item))
    return max(float(by_worker @ by_worker + by_item @ by_item) / alone - 1, 0.0)


def independent_range(
    worker: Codes, item: Codes, preference: Floats, *, n_shuffles: int = 999, seed: int = 1
) -> tuple[float, float]:
    """Between which design effects 90 % lie if the same preferences are dealt out anew at random.

    Above these judgements of a worker or an item go together, at the level 5 %; within they do not tell.
    """
    rng = np.random.default_rng(seed)
    effects = [design_effect(worker, item, rng.permutation(preference)) for _ in range(n_shuffles)]
    low, high = np.quantile(effects, [0.05, 0.95])
    return float(low), float(high)
