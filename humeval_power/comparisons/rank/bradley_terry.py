"""Strengths of K systems from battles by maximum likelihood, with an effect of the order, ties and covariates.

Without covariates battles are counted in cells: how often one system was shown before another, with each outcome;
with covariates every battle is a row of its own. Where systems won or lost all of their battles the likelihood has
no maximum; it is then penalised by Jeffreys' prior (Firth 1993), which is finite in every part that is joined by
battles (Kosmidis and Firth 2021).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from humeval_power.checking.columns import listing
from humeval_power.choices import BattleTies
from humeval_power.clusters import Clusters
from humeval_power.comparisons.rank.battles import Battles, check_orderable, circles_of, parts_of
from humeval_power.errors import refusal
from humeval_power.roots import root_between

# Wins, ties and losses of two systems: Bradley and Terry's model, with ties by Davidson or by Rao and
# Kupper.

Floats = NDArray[np.float64]

_LARGEST = 300.0  # of half a logit
OUTCOMES = (1, 0, -1)  # the first wins, a tie, the second wins


@dataclass(frozen=True, slots=True, eq=False)
class OutcomeLaw:
    """Shares of the outcomes (..., 3), and the slopes of their logarithms by (eta, tie), shape (..., 3, 2)."""

    share: Floats
    slope: Floats

    @property
    def information(self) -> Floats:
        """Expected information about (eta, tie) of one battle: of eta, of both, of tie, (..., 3)."""
        values = np.zeros((*self.share.shape[:-1], 3))
        for o in range(len(OUTCOMES)):
            by_eta, by_tie = self.slope[..., o, 0], self.slope[..., o, 1]
            weighted = self.share[..., o] * by_eta
            values[..., 0] += weighted * by_eta
            values[..., 1] += weighted * by_tie
            values[..., 2] += self.share[..., o] * by_tie**2
        return values


def outcome_law(eta: Floats, tie: float | Floats | None, kind: BattleTies) -> OutcomeLaw:
    """The law of the outcomes at strengths `eta` of any shape, which `tie` fits; without `tie` there are none."""
    if tie is None:
        won = special.expit(eta)
        share = np.stack([won, np.zeros_like(won), 1 - won], axis=-1)
        by_eta = np.stack([1 - won, np.zeros_like(won), -won], axis=-1)
        return OutcomeLaw(share, np.stack([by_eta, np.zeros_like(by_eta)], axis=-1))
    if kind == "davidson":
        won = np.exp(np.clip(eta / 2, -_LARGEST, _LARGEST))
        lost, tied = 1 / won, np.exp(tie)
        total = won + lost + tied
        share = np.stack([won / total, tied / total, lost / total], axis=-1)
        mean = (share[..., 0] - share[..., 2]) / 2
        slope = np.empty((*share.shape, 2))
        slope[..., 0] = np.array(OUTCOMES) / 2 - mean[..., None]
        slope[..., 1] = np.array([0.0, 1.0, 0.0]) - share[..., 1:2]
        return OutcomeLaw(share, slope)
    won, lost = special.expit(eta - tie), special.expit(-eta - tie)
    above, below = special.expit(eta + tie), special.expit(tie - eta)  # 1 - lost, 1 - won
    tied = special.expit(tie - eta) * above * -np.expm1(-2 * tie)  # F(eta + tie) - F(eta - tie)
    share = np.stack([won, tied, lost], axis=-1)
    by_eta = np.stack([below, lost - won, -above], axis=-1)
    by_tie = np.stack([-below, 2 / np.expm1(2 * tie) + won + lost, -above], axis=-1)
    return OutcomeLaw(share, np.stack([by_eta, by_tie], axis=-1))


Codes = NDArray[np.int64]
_Top: TypeAlias = tuple[Floats, float, Floats]  # parameters, log-likelihood, information

_MOST_STEPS, _PRECISION = 100, 1e-9
_PENALISED_STEPS = 30  # then a search that is slower and never stalls
_ENDLESS = 25.0  # a logit that no number of battles shows: the likelihood has no maximum
_LEAST_TIE = 1e-8  # of Rao and Kupper's threshold
_SMALL = 1e-4  # for slopes of the information
_BLOCK = 8_192  # rows that are computed together
_REDUNDANT = 1e-8  # of a covariate's information is left by the systems and the other covariates


@dataclass(frozen=True, slots=True, eq=False)
class Contributions:
    """What each row adds, shape (m, ...): the systems `first` and `second`, its score by (eta, tie) (m, 2), its
    expected information of eta, of both, and of tie (m, 3), and its covariates (m, q)."""

    first: Codes
    second: Codes
    score: Floats
    weight: Floats
    covariates: Floats

    def only(self, kept: Codes) -> Contributions:
        """Some of the rows."""
        return Contributions(
            self.first[kept], self.second[kept], self.score[kept], self.weight[kept], self.covariates[kept]
        )

    def scores(self, K: int, *, with_order: bool, with_ties: bool) -> Floats:
        """Sums (p,) by strengths, order, covariates and ties."""
        by_eta, by_tie = self.score.T
        strengths = _differences(self.first, self.second, by_eta, K)
        order, tie = [by_eta.sum()] * with_order, [by_tie.sum()] * with_ties
        return np.concatenate([strengths, order, by_eta @ self.covariates, tie])

    def information(self, K: int, *, with_order: bool, with_ties: bool) -> Floats:
        """Sums (p, p) by the same."""
        by_eta, by_both, by_tie = np.ascontiguousarray(self.weight.T)
        x, q = self.covariates, self.covariates.shape[1]
        p = K + with_order + q + with_ties
        met = np.bincount(self.first * K + self.second, by_eta, K * K).reshape(K, K)
        values = np.zeros((p, p))
        values[:K, :K] = np.diag(met.sum(axis=0) + met.sum(axis=1)) - met - met.T
        inside = slice(K + with_order, K + with_order + q)
        for c in range(q):
            weighted = by_eta * x[:, c]
            values[:K, inside.start + c] = _differences(self.first, self.second, weighted, K)
            values[inside, inside.start + c] = weighted @ x
            if with_order:
                values[K, inside.start + c] = weighted.sum()
        if with_order:
            values[:K, K] = met.sum(axis=1) - met.sum(axis=0)
            values[K, K] = by_eta.sum()
        if with_ties:
            values[:K, -1] = _differences(self.first, self.second, by_both, K)
            values[inside, -1] = by_both @ x
            if with_order:
                values[K, -1] = by_both.sum()
            values[-1, -1] = by_tie.sum()
        return np.triu(values) + np.triu(values, 1).T


def _differences(first: Codes, second: Codes, values: Floats, K: int) -> Floats:
    """Sums (K,) of values where a system was shown first, less those where it was shown second."""
    return np.asarray(np.bincount(first, values, K) - np.bincount(second, values, K))


def _of_rows(count: Floats, law_of: Callable[[slice], OutcomeLaw]) -> tuple[float, Floats, Floats]:
    """The log-likelihood, and the score (m, 2) and information (m, 3) of each row with these outcomes; in blocks
    that fit into the processor's memory."""
    score, weight, value = np.empty((len(count), 2)), np.empty((len(count), 3)), 0.0
    for start in range(0, len(count), _BLOCK):
        part = slice(start, start + _BLOCK)
        law, seen = law_of(part), count[part]
        value += float((seen * np.log(np.maximum(law.share, 1e-300))).sum())
        score[part] = np.einsum("mo,moa->ma", seen, law.slope)
        weight[part] = law.information * seen.sum(axis=1)[:, None]
    return value, score, weight


@dataclass(frozen=True, eq=False)
class BattleFit:
    """The highest likelihood, perhaps `penalised`.

    `parameters` (p,) are the strengths (K,) about the mean of their part, then the order, the slopes of the
    standardised `covariates`, and the ties where they are estimated; `covariance` (p, p) is of these by the
    expected information. `count` (K, K, 3) has the cells; `without` (K,) the strengths without the covariates.
    """

    parameters: Floats
    covariance: Floats
    log_likelihood: float
    count: Floats
    part: Codes
    with_order: bool
    ties: BattleTies | None
    penalised: bool
    covariates: tuple[str, ...] = ()
    without: Floats | None = None

    @property
    def n_systems(self) -> int:
        """Number of systems."""
        return len(self.part)

    @property
    def strengths(self) -> Floats:
        """Logits of the systems (K,), about the mean of their part."""
        return self.parameters[: self.n_systems]

    @property
    def order(self) -> float | None:
        """The logit of the system shown first against an equal one; None where it is not estimated."""
        return float(self.parameters[self.n_systems]) if self.with_order else None

    @property
    def slopes(self) -> slice:
        """Where the covariates stand among the parameters."""
        start = self.n_systems + self.with_order
        return slice(start, start + len(self.covariates))

    @property
    def tie(self) -> float | None:
        """The parameter of ties; None without ties."""
        return None if self.ties is None else float(self.parameters[-1])

    def style(self, battles: Battles) -> Floats:
        """What the covariates add to the logit of each battle, (n,)."""
        if battles.covariates is None:
            return np.zeros(battles.n)
        return np.asarray(battles.covariates.standardised @ self.parameters[self.slopes])

    @cached_property
    def _cells(self) -> OutcomeLaw:
        """The law of the outcomes of each cell without covariates, (K, K)."""
        value = self.strengths
        eta = value[:, None] - value[None, :] + (self.order or 0.0)
        return outcome_law(eta, self.tie, self.ties or "davidson")

    def of_battles(self, battles: Battles) -> Contributions:
        """What each battle adds at the fit."""
        first, second, outcome = battles.first, battles.second, 1 - battles.outcome
        if battles.covariates is None:
            law = self._cells
            score, weight = law.slope[first, second, outcome], law.information[first, second]
            return Contributions(first, second, score, weight, np.zeros((battles.n, 0)))
        eta = self.strengths[first] - self.strengths[second] + (self.order or 0.0) + self.style(battles)
        count = np.eye(3)[outcome]
        _, score, weight = _of_rows(
            count, lambda part: outcome_law(eta[part], self.tie, self.ties or "davidson")
        )
        return Contributions(first, second, score, weight, battles.covariates.standardised)


def fit_battles(battles: Battles, *, ties: BattleTies = "davidson", with_order: bool = True) -> BattleFit:
    """Fit Bradley and Terry's model. With covariates strengths are those of systems whose outputs are alike in
    all of them. InputError: battles that are all ties, a system without battles, an order of showing that
    decided every battle, or a covariate that the systems and the other covariates tell, or that decides all."""
    check_orderable(battles)
    decided = battles.outcome[battles.outcome != 0]
    if with_order and abs(int(decided.sum())) == len(decided):
        rule = (
            f"what was shown {'first' if decided[0] > 0 else 'second'} won every battle that somebody won."
        )
        remedy = "Collect more battles, or fit without the order: --no-position-bias."
        raise refusal(rule, remedy, battles.source)
    K = len(battles.systems)
    at = (battles.first * K + battles.second) * 3 + (1 - battles.outcome)
    count = np.bincount(at, minlength=3 * K * K).reshape(K, K, 3).astype(np.float64)
    part, circle = parts_of(battles), circles_of(battles)
    first, second = np.nonzero(count.sum(axis=2))
    known = ties if battles.n_ties else None
    task = _Likelihood(first, second, count[first, second], part, with_order, known)
    start = task.start()
    maximum = task.maximum(start, task.at(start)) if int(circle.max()) == int(part.max()) else None
    top = maximum or task.top_at(task.penalised_maximum())
    names: tuple[str, ...] = ()
    without = None
    if battles.covariates is not None:
        names, without = battles.covariates.names, top[0][:K]
        task, top = _with_covariates(battles, task, circle, None if maximum is None else maximum[0])
    best, value, information = top
    return BattleFit(
        best,
        task.inverse(information),
        value,
        count,
        part,
        with_order,
        known,
        maximum is None,
        names,
        without,
    )


def _with_covariates(
    battles: Battles, cells: _Likelihood, circle: Codes, values: Floats | None
) -> tuple[_Likelihood, _Top]:
    """The likelihood of single battles and where it is highest, `found` being that without covariates.

    Where systems won or lost all of their battles the slopes are those of the battles inside circles, since the
    others are decided whatever the style, and strengths are penalised given these.
    """
    assert battles.covariates is not None
    K, q = len(cells.part), len(battles.covariates.names)
    at = K + cells.with_order
    rows = _Likelihood(
        battles.first,
        battles.second,
        np.eye(3)[1 - battles.outcome],
        cells.part,
        cells.with_order,
        cells.ties,
        battles.covariates.standardised,
    )
    start = rows.start() if values is None else np.insert(values, [at] * q, 0.0)
    first = rows.at(start)
    rows.check_covariates(first[2], battles.covariates.names, battles.source)
    best = None
    if values is not None:
        best = rows.maximum(start, first)
    else:
        inside = rows.only(circle[rows.first] == circle[rows.second], circle)
        slopes = inside.maximum(start, inside.at(start))
        if slopes is not None:
            own = slopes[0][at : at + q]
            given = replace(rows, covariates=np.zeros((battles.n, 0)), offset=rows.x @ own)
            best = rows.top_at(np.insert(given.penalised_maximum(), [at] * q, own))
    if best is None:
        rule = f"{listing(list(battles.covariates.names), limit=6)}: no slopes are most likely."
        remedy = "They decide battles, or too few battles are left to estimate them; leave some out."
        raise refusal(rule, remedy, battles.source)
    return rows, best


@dataclass(frozen=True, slots=True, eq=False)
class _Likelihood:
    """Rows: cells, or single battles with their covariates (m, q); `count` (m, 3) has their outcomes."""

    first: Codes
    second: Codes
    count: Floats
    part: Codes
    with_order: bool
    ties: BattleTies | None
    covariates: Floats | None = None
    offset: Floats | float = 0.0

    @property
    def x(self) -> Floats:
        """Covariates, of which there may be none."""
        return np.zeros((len(self.first), 0)) if self.covariates is None else self.covariates

    def only(self, kept: NDArray[np.bool_], part: Codes) -> _Likelihood:
        """Some of the rows, with other parts."""
        return replace(
            self,
            first=self.first[kept],
            second=self.second[kept],
            count=self.count[kept],
            part=part,
            covariates=self.x[kept],
        )

    def start(self) -> Floats:
        """No system stronger, and about the share of ties."""
        at = np.zeros(len(self.part) + self.with_order + self.x.shape[1] + (self.ties is not None))
        if self.ties is not None:
            share = min(max(float(self.count[..., 1].sum() / self.count.sum()), 1e-3), 0.95)
            at[-1] = np.log((2 * share if self.ties == "davidson" else 1 + share) / (1 - share))
        return at

    def eta(self, parameters: Floats) -> Floats:
        """The logit of each row."""
        K = len(self.part)
        eta = parameters[self.first] - parameters[self.second] + self.offset
        if self.with_order:
            eta += parameters[K]
        if self.covariates is not None:
            start = K + self.with_order
            eta += self.covariates @ parameters[start : start + self.covariates.shape[1]]
        return np.asarray(eta)

    def law(self, eta: Floats, tie: float) -> OutcomeLaw:
        """The law of the outcomes."""
        return outcome_law(eta, None if self.ties is None else tie, self.ties or "davidson")

    def at(self, parameters: Floats) -> tuple[float, Floats, Floats]:
        """Log-likelihood, its gradient and the expected information."""
        eta = self.eta(parameters)
        value, score, weight = _of_rows(self.count, lambda part: self.law(eta[part], float(parameters[-1])))
        rows, which = Contributions(self.first, self.second, score, weight, self.x), self._which
        return value, rows.scores(len(self.part), **which), rows.information(len(self.part), **which)

    @property
    def _which(self) -> dict[str, bool]:
        return {"with_order": self.with_order, "with_ties": self.ties is not None}

    def check_covariates(self, singular: Floats, names: tuple[str, ...], source: str) -> None:
        """Refuse covariates that systems and other covariates tell, so that no slope is their own."""
        information = self.regular(singular)
        start, q = len(self.part) + self.with_order, len(names)
        style, others = (
            np.arange(start, start + q),
            np.delete(np.arange(len(information)), slice(start, start + q)),
        )
        across = information[np.ix_(others, style)]
        left = information[np.ix_(style, style)] - across.T @ np.linalg.solve(
            information[np.ix_(others, others)], across
        )
        for c, name in enumerate(names):
            rest = np.delete(np.arange(q), c)
            explained = left[c, rest] @ np.linalg.lstsq(left[np.ix_(rest, rest)], left[rest, c])[0]
            if left[c, c] - explained <= _REDUNDANT * information[start + c, start + c]:
                rule = f"the covariate {name!r} follows from the systems and the other covariates."
                raise refusal(rule, "Leave it out of --covariate.", source)

    def regular(self, information: Floats) -> Floats:
        """The information with the constant of each part, which no battle shows, made known."""
        K = len(self.part)
        scale = float(np.trace(information[:K, :K])) / K
        values = information.copy()
        values[:K, :K] += scale * (self.part[:, None] == self.part) / np.bincount(self.part)[self.part]
        return values

    def inverse(self, information: Floats) -> Floats:
        """Covariance of the parameters, strengths about the mean of their part."""
        K = len(self.part)
        scale = float(np.trace(information[:K, :K])) / K
        result = np.linalg.inv(self.regular(information))
        result[:K, :K] -= (self.part[:, None] == self.part) / np.bincount(self.part)[self.part] / scale
        return np.asarray((result + result.T) / 2)

    def allowed(self, parameters: Floats) -> bool:
        """Rao and Kupper's threshold is positive."""
        return self.ties != "rao-kupper" or bool(parameters[-1] > _LEAST_TIE)

    def top_at(self, parameters: Floats) -> _Top:
        """What is known of a maximum that was found in another way."""
        value, _, information = self.at(parameters)
        return parameters, value, information

    def maximum(self, at: Floats, first: tuple[float, Floats, Floats]) -> _Top | None:
        """Where the likelihood is highest, by Fisher scoring from `at`; None where there is no such place."""
        value, gradient, information = first
        for _ in range(_MOST_STEPS):
            step, length = np.linalg.solve(self.regular(information), gradient), 1.0
            while length > 1e-10:
                new = at + length * step
                if self.allowed(new):
                    result = self.at(new)
                    if result[0] >= value - 1e-9 * abs(value):
                        break
                length /= 2
            else:
                return at, value, information
            at, (value, gradient, information) = new, result
            if np.abs(at[: len(at) - (self.ties is not None)]).max() > _ENDLESS:
                return None
            if np.abs(length * step).max() < _PRECISION:
                values = np.linalg.eigvalsh(self.regular(information))
                return (at, value, information) if values[0] > 1e-9 * values[-1] else None
        return None

    def penalised(self, parameters: Floats) -> tuple[float, Floats, Floats]:
        """The likelihood with half the logarithm of the determinant of the information, its gradient, the
        information."""
        value, gradient, information = self.at(parameters)
        K, i, j = len(self.part), self.first, self.second
        inverse = np.linalg.inv(self.regular(information))
        own = np.diag(inverse)
        spread = np.zeros((3, len(i)))  # of eta, of both, of tie
        spread[0] = own[i] + own[j] - 2 * inverse[i, j]
        if self.with_order:
            spread[0] += inverse[K, K] + 2 * (inverse[i, K] - inverse[j, K])
        if self.ties is not None:
            by_order = inverse[K, -1] if self.with_order else 0.0
            spread[1] = 2 * (inverse[i, -1] - inverse[j, -1] + by_order)
            spread[2] = inverse[-1, -1]
        more = np.zeros((len(i), 2))
        for place in range(1 + (self.ties is not None)):
            slope = self._slope_of_information(parameters, by_tie=place == 1)
            more[:, place] = self.count.sum(axis=1) / 2 * np.einsum("ma,am->m", slope, spread)
        rows = Contributions(i, j, more, np.zeros((len(i), 3)), self.x)
        gradient = gradient + rows.scores(K, **self._which)
        value += 0.5 * float(np.linalg.slogdet(self.regular_of_unit(information))[1])
        return value, gradient, information

    def regular_of_unit(self, information: Floats) -> Floats:
        """The same with a fixed number in the place of the constants, which the determinant must not move with."""
        K = len(self.part)
        values = information.copy()
        values[:K, :K] += (self.part[:, None] == self.part) / np.bincount(self.part)[self.part]
        return values

    def _slope_of_information(self, parameters: Floats, *, by_tie: bool) -> Floats:
        """Slopes (m, 3) of the rows' information by eta, or by ties."""
        eta, tie = self.eta(parameters), float(parameters[-1])
        sides = []
        for step in (_SMALL, -_SMALL):
            law = self.law(eta, tie + step) if by_tie else self.law(eta + step, tie)
            sides.append(law.information)
        return np.asarray((sides[0] - sides[1]) / (2 * _SMALL))

    def penalised_maximum(self) -> Floats:
        """Where the penalised likelihood is highest."""
        at = self.start()
        value, gradient, information = self.penalised(at)
        for _ in range(_PENALISED_STEPS):
            step, length = np.linalg.solve(self.regular(information), gradient), 1.0
            while length > 1e-10:
                new = at + length * step
                if self.allowed(new):
                    result = self.penalised(new)
                    if result[0] >= value - 1e-12 * abs(value):
                        break
                length /= 2
            else:
                break
            at, (value, gradient, information) = new, result
            if np.abs(length * step).max() < _PRECISION:
                return at
        from scipy import optimize

        def deviance(x: Floats) -> tuple[float, Floats]:
            if not self.allowed(x):
                return np.inf, np.zeros_like(x)
            worth, slope, _ = self.penalised(x)
            return -worth, -slope

        search = optimize.minimize(deviance, at, jac=True, method="BFGS", options={"gtol": 1e-8})
        best = np.asarray(search.x, dtype=np.float64)
        K = len(self.part)
        best[:K] -= (np.bincount(self.part, best[:K]) / np.bincount(self.part))[self.part]
        return best


# Systems that won, or lost, next to nothing: exact one-sided tails of their results against the others.

_FEW = 5  # wins or losses, ties half
FEWEST_VOTERS = 5
_LARGEST_NEWCOMERS = 60.0  # a logit


@dataclass(frozen=True, slots=True, eq=False)
class Newcomer:
    """The battles of a system against others of these `strengths`, less what style adds, one entry for each kind of
    battle:
    `shown_first` is +1 where the system was shown first, -1 where second; `n` are its battles; `points` its wins
    twice, and its ties.

    `tie` and `order` are those of the fit.
    """

    strengths: Floats
    shown_first: Codes
    n: Codes
    points: int
    order: float = 0.0
    tie: float | None = None
    ties: BattleTies = "davidson"

    @property
    def missed(self) -> int:
        """The opponents' half-points."""
        return 2 * int(self.n.sum()) - self.points

    def p_no_better(self, theta: Floats) -> Floats:
        """P(T >= points) where the system has strength `theta`, of any length."""
        if self.missed <= self.points:
            return self._small_tail(theta, self.missed, of_losses=True)
        return 1 - self._small_tail(theta, self.points - 1, of_losses=False)

    def p_no_worse(self, theta: Floats) -> Floats:
        """P(T <= points)."""
        if self.points <= self.missed:
            return self._small_tail(theta, self.points, of_losses=False)
        return 1 - self._small_tail(theta, self.missed - 1, of_losses=True)

    def bounds(self, alpha: float) -> tuple[float, float]:
        """Exact limits of the strength: two-sided, or one-sided at alpha where it never lost or never won."""
        tail = alpha if 0 in (self.points, self.missed) else alpha / 2
        low = high = math.inf
        if self.points:
            low = -self._solve(lambda theta: self.p_no_better(np.array([-theta]))[0] - tail)
        if self.missed:
            high = self._solve(lambda theta: self.p_no_worse(np.array([theta]))[0] - tail)
        return (low if self.points else -math.inf), high

    def _solve(self, falling: object) -> float:
        return float(root_between(falling, -_LARGEST_NEWCOMERS, _LARGEST_NEWCOMERS))  # type: ignore[arg-type]

    def _small_tail(self, theta: Floats, most: int, *, of_losses: bool) -> Floats:
        """P(half-points <= most) of the losses, or of the wins."""
        if most < 0:
            return np.zeros(len(theta))
        law = np.zeros((len(theta), most + 1))
        law[:, 0] = 1.0
        for strength, side, n in zip(self.strengths, self.shown_first, self.n, strict=True):
            eta = side * (theta - strength) + self.order
            share = outcome_law(eta, self.tie, self.ties).share
            win, tied, loss = (share if side > 0 else share[:, ::-1]).T
            none, two = (win, loss) if of_losses else (loss, win)
            for _ in range(int(n)):
                new = law * none[:, None]
                new[:, 1:] += law[:, :-1] * tied[:, None]
                new[:, 2:] += law[:, :-2] * two[:, None]
                law = new
        return np.asarray(law.sum(axis=1))


def newcomers(battles: Battles, fit: BattleFit) -> dict[int, Newcomer | None]:
    """Systems with fewer than 5 wins or fewer than 5 losses, ties half; None where fewer than 5 voters saw it.

    With clusters each counts once: by its first battle with the system.
    """
    K, count = fit.n_systems, fit.count
    points = 2 * (count[..., 0].sum(axis=1) + count[..., 2].sum(axis=0)) + count[..., 1].sum(axis=0)
    points += count[..., 1].sum(axis=1)
    fought = count.sum(axis=(1, 2)) + count.sum(axis=(0, 2))
    few = np.minimum(points, 2 * fought - points) < 2 * _FEW
    return {int(k): _newcomer(int(k), battles, fit) for k in np.flatnonzero(few) if K > 1}


def _newcomer(k: int, battles: Battles, fit: BattleFit) -> Newcomer | None:
    own = np.flatnonzero((battles.first == k) | (battles.second == k))
    style = fit.style(battles)
    if battles.clusters is not None:
        voters, first_of_each = np.unique(battles.clusters.codes[own], return_index=True)
        if len(voters) < FEWEST_VOTERS:
            return None
        own = own[first_of_each]
    side = np.where(battles.first[own] == k, 1, -1)
    against = np.where(side > 0, battles.second[own], battles.first[own])
    kinds, n = np.unique(np.stack([against, side, side * style[own]]), axis=1, return_counts=True)
    met, side_of_kind = kinds[0].astype(np.int64), kinds[1].astype(np.int64)
    points = int((1 + side * battles.outcome[own]).sum())
    order, ties = fit.order or 0.0, fit.ties or "davidson"
    return Newcomer(fit.strengths[met] - kinds[2], side_of_kind, n, points, order, fit.tie, ties)


def exact_tails(newcomers: dict[int, Newcomer | None], fit: BattleFit) -> Floats | None:
    """One-sided p-values (K, K) of "the row's system is no better than the column's" where one is a newcomer, else
    NaN; 1 where nothing can be said."""
    if not newcomers:
        return None
    K = fit.n_systems
    p = np.full((K, K), np.nan)
    for k, one in newcomers.items():
        better = np.ones(K) if one is None else one.p_no_better(fit.strengths)
        worse = np.ones(K) if one is None else one.p_no_worse(fit.strengths)
        p[k] = np.where(np.isnan(p[k]), better, np.fmax(p[k], better))
        p[:, k] = np.where(np.isnan(p[:, k]), worse, np.fmax(p[:, k], worse))
    return p


# Errors of strengths where battles of a user go together: a sandwich that is unbiased if they do not
# (CR2).

_MOST_EXACT = 300  # clusters of which each is corrected, and its df found
_KEPT = 4_000_000  # numbers of the df of all pairs
_LARGE = 0.05  # of what is known of a difference: the cluster's leverage there
_TINY = 1e-10
_POWER_STEPS = 8


@dataclass(frozen=True, slots=True, eq=False)
class BattleErrors:
    """Covariance of the parameters (p, p). `df` (K, K) are of differences of strengths, on the diagonal of a
    strength about the mean of all."""

    covariance: Floats
    df: Floats


def independent_errors(fit: BattleFit) -> BattleErrors:
    """By the information, as if every battle were independent of all others."""
    return BattleErrors(fit.covariance, np.full((fit.n_systems,) * 2, np.inf))


def clustered_errors(fit: BattleFit, battles: Battles, clusters: Clusters) -> BattleErrors:
    """CR2 covariance and degrees of freedom where battles of a cluster go together."""
    small = clusters.n_clusters * len(fit.parameters) * fit.n_systems <= _KEPT
    exact = small and clusters.n_clusters <= _MOST_EXACT
    return exact_errors(fit, battles, clusters) if exact else sparse_errors(fit, battles, clusters)


def exact_errors(fit: BattleFit, battles: Battles, clusters: Clusters) -> BattleErrors:
    """Every cluster's residuals are corrected; time in proportion to clusters x K x K."""
    K, bread = fit.n_systems, fit.covariance
    values, vectors = np.linalg.eigh(bread)
    half = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    meat = np.zeros_like(bread)
    trace, squares = np.zeros((K, K)), np.zeros((K, K))
    weights, rows = [], fit.of_battles(battles)
    for members in clusters.members():
        touched, score, own = _cluster(fit, rows.only(members))
        adjust = _adjustment(own, bread[np.ix_(touched, touched)])
        moved = bread[:, touched] @ adjust  # A^-1 C_g
        step = moved @ score
        meat += np.outer(step, step)
        by_system = moved[:K]
        spread = _contrasts(by_system @ own @ by_system.T)
        weight = half[:, touched] @ own @ by_system.T  # (p, K)
        inner = _contrasts(weight.T @ weight)
        trace += spread - inner
        squares += spread**2 - 2 * spread * inner
        weights.append(weight)
    squares += _shared_squares(np.array(weights))
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.where(squares > 0, trace**2 / squares, 1.0)
    return BattleErrors(meat, np.maximum(df, 1.0))


def sparse_errors(fit: BattleFit, battles: Battles, clusters: Clusters) -> BattleErrors:
    """Time in proportion to battles, and to clusters by the systems that each met, squared."""
    bread, G = fit.covariance, clusters.n_clusters
    rows = fit.of_battles(battles)
    scores = _scores(fit, rows, clusters)
    meat = np.asarray((scores.T @ scores).todense()) * (G / (G - 1))
    information, leverage = known_of_systems(fit, rows, clusters)
    large = np.flatnonzero(leverage > _LARGE)
    if len(large):
        order = np.argsort(clusters.codes, kind="stable")
        ends = np.concatenate([[0], np.cumsum(clusters.sizes)])
        for cluster in large:
            touched, score, own = _cluster(fit, rows.only(order[ends[cluster] : ends[cluster + 1]]))
            inside = bread[np.ix_(touched, touched)]
            if _largest_leverage(own, inside) > _LARGE:
                better = _adjustment(own, inside) @ score
                meat[np.ix_(touched, touched)] += np.outer(better, better) - np.outer(score, score) * (
                    G / (G - 1)
                )
    df = herfindahl_df(information)
    pairs = np.minimum(df[:, None], df[None, :])
    return BattleErrors(np.asarray(bread @ meat @ bread), np.maximum(pairs, 1.0))


def known_of_systems(
    fit: BattleFit, rows: Contributions, clusters: Clusters
) -> tuple[sparse.csr_array, Floats]:
    """The information of each cluster about each system (G, K), and the sum of its leverages (G,)."""
    G, K = clusters.n_clusters, fit.n_systems
    weight = rows.weight[:, 0]
    at = np.concatenate([clusters.codes, clusters.codes])
    systems = np.concatenate([rows.first, rows.second])
    information = sparse.coo_array((np.concatenate([weight, weight]), (at, systems)), shape=(G, K)).tocsr()
    own = np.diag(fit.covariance)[:K]
    spread = own[:, None] + own[None, :] - 2 * fit.covariance[:K, :K]
    leverage = np.bincount(clusters.codes, weight * spread[rows.first, rows.second], minlength=G)
    return information, np.asarray(leverage)


def herfindahl_df(information: sparse.csr_array) -> Floats:
    """Clusters of equal information that would know as much of each system, (K,)."""
    total = np.asarray(information.sum(axis=0)).ravel()
    squares = np.asarray(information.multiply(information).sum(axis=0)).ravel()
    return np.asarray(total**2 / np.maximum(squares, 1e-300))


def _scores(fit: BattleFit, rows: Contributions, clusters: Clusters) -> sparse.csr_array:
    """Scores of the parameters summed by cluster, (G, p)."""
    by_eta, by_tie = rows.score.T
    K = fit.n_systems
    summed = [by_eta] * fit.with_order + [by_eta * x for x in rows.covariates.T]
    summed += [by_tie] * (fit.ties is not None)
    of_clusters = [np.bincount(clusters.codes, each, clusters.n_clusters) for each in summed]
    places = (np.concatenate([clusters.codes] * 2), np.concatenate([rows.first, rows.second]))
    entries = (np.concatenate([by_eta, -by_eta]), places)
    strengths = sparse.coo_array(entries, shape=(clusters.n_clusters, K)).tocsr()
    if not summed:
        return strengths
    return sparse.hstack([strengths, sparse.csr_array(np.column_stack(of_clusters))]).tocsr()


def _cluster(fit: BattleFit, rows: Contributions) -> tuple[Codes, Floats, Floats]:
    """Of the battles of a cluster: which parameters they move, their score and their information."""
    n, K = len(rows.first), fit.n_systems
    systems, place = np.unique(np.concatenate([rows.first, rows.second]), return_inverse=True)
    own = Contributions(place[:n], place[n:], rows.score, rows.weight, rows.covariates)
    which = {"with_order": fit.with_order, "with_ties": fit.ties is not None}
    touched = np.concatenate([systems, np.arange(K, len(fit.parameters))])
    return touched, own.scores(len(systems), **which), own.information(len(systems), **which)


def _largest_leverage(own: Floats, bread: Floats) -> float:
    """The largest eigenvalue of the cluster's block of the hat matrix, about."""
    along = 1.0 + np.arange(len(own)) / len(own)
    size = 0.0
    for _ in range(_POWER_STEPS):
        along = own @ (bread @ along)
        size = float(np.linalg.norm(along))
        if size == 0:
            break
        along /= size
    return size


def _adjustment(own: Floats, bread: Floats) -> Floats:
    """What the score of a cluster with this information is multiplied by.

    With V S^2 V' the information, of which X_g = U S V' is a design, it is V S (I - S V' A^-1 V S)^-1/2 S^-1 V'.
    """
    values, vectors = np.linalg.eigh(own)
    kept = values > _TINY * max(float(values[-1]), 0.0)
    size, along = np.sqrt(values[kept]), vectors[:, kept]
    left = np.eye(len(size)) - size[:, None] * (along.T @ bread @ along) * size
    values, vectors = np.linalg.eigh(left)
    kept = values > _TINY
    root = (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T
    return np.asarray((along * size) @ root @ (along / size).T, dtype=np.float64)


def _contrasts(matrix: Floats) -> Floats:
    """Squared lengths: of each system on the diagonal, of the differences beside it."""
    own = np.diag(matrix)
    variances = own[:, None] + own[None, :] - 2 * matrix
    np.fill_diagonal(variances, own)
    return np.asarray(variances)


def _shared_squares(weight: Floats) -> Floats:
    """Squared products of different clusters, summed, for every contrast; weight (n_clusters, p, K)."""
    K = weight.shape[2]
    values = np.zeros((K, K))
    for i in range(K):
        for j in range(i, K):
            of = weight[:, :, i] if i == j else weight[:, :, i] - weight[:, :, j]
            product = of.T @ of
            values[i, j] = values[j, i] = float((product**2).sum())
    return values
