"""Strengths of K systems from battles by maximum likelihood, with an effect of the order, ties and covariates.

Without covariates battles are counted in cells: how often one system was shown before another, with each outcome;
with covariates every battle is a row of its own. Where systems won or lost all of their battles the likelihood has
no maximum; it is then penalised by Jeffreys' prior (Firth 1993), which is finite in every part that is joined by
battles (Kosmidis and Firth 2021).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.columns import listing
from humeval_power.choices import BattleTies
from humeval_power.errors import InputError, Problem
from humeval_power.inference.rank.battles import Battles, check_orderable, circles_of, parts_of
from humeval_power.inference.rank.outcome_models import OutcomeLaw, outcome_law

Floats = NDArray[np.float64]
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
        found = np.zeros((p, p))
        found[:K, :K] = np.diag(met.sum(axis=0) + met.sum(axis=1)) - met - met.T
        inside = slice(K + with_order, K + with_order + q)
        for c in range(q):
            weighted = by_eta * x[:, c]
            found[:K, inside.start + c] = _differences(self.first, self.second, weighted, K)
            found[inside, inside.start + c] = weighted @ x
            if with_order:
                found[K, inside.start + c] = weighted.sum()
        if with_order:
            found[:K, K] = met.sum(axis=1) - met.sum(axis=0)
            found[K, K] = by_eta.sum()
        if with_ties:
            found[:K, -1] = _differences(self.first, self.second, by_both, K)
            found[inside, -1] = by_both @ x
            if with_order:
                found[K, -1] = by_both.sum()
            found[-1, -1] = by_tie.sum()
        return np.triu(found) + np.triu(found, 1).T


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
        """The logit of the system shown first against one as strong; None where it is not estimated."""
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
    """Fit Bradley and Terry's model.

    With covariates strengths are those of systems whose outputs are alike in all of them.

    Raises
    ------
    InputError
        Battles that are all ties, a system without battles, an order of showing that decided every battle, or a
        covariate that the systems and the other covariates tell, or that decides all.
    """
    check_orderable(battles)
    decided = battles.outcome[battles.outcome != 0]
    if with_order and abs(int(decided.sum())) == len(decided):
        rule = (
            f"what was shown {'first' if decided[0] > 0 else 'second'} won every battle that somebody won."
        )
        remedy = "Collect more battles, or fit without the order: --no-position-bias."
        raise InputError([Problem(rule, remedy, battles.source)])
    K = len(battles.systems)
    at = (battles.first * K + battles.second) * 3 + (1 - battles.outcome)
    count = np.bincount(at, minlength=3 * K * K).reshape(K, K, 3).astype(np.float64)
    part, circle = parts_of(battles), circles_of(battles)
    first, second = np.nonzero(count.sum(axis=2))
    known = ties if battles.n_ties else None
    task = _Likelihood(first, second, count[first, second], part, with_order, known)
    start = task.start()
    found = task.maximum(start, task.at(start)) if int(circle.max()) == int(part.max()) else None
    top = found or task.top_at(task.penalised_maximum())
    names: tuple[str, ...] = ()
    without = None
    if battles.covariates is not None:
        names, without = battles.covariates.names, top[0][:K]
        task, top = _with_covariates(battles, task, circle, None if found is None else found[0])
    best, value, information = top
    return BattleFit(
        best,
        task.inverse(information),
        value,
        count,
        part,
        with_order,
        known,
        found is None,
        names,
        without,
    )


def _with_covariates(
    battles: Battles, cells: _Likelihood, circle: Codes, found: Floats | None
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
    start = rows.start() if found is None else np.insert(found, [at] * q, 0.0)
    first = rows.at(start)
    rows.check_covariates(first[2], battles.covariates.names, battles.source)
    best = None
    if found is not None:
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
        raise InputError([Problem(rule, remedy, battles.source)])
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
                raise InputError([Problem(rule, "Leave it out of --covariate.", source)])

    def regular(self, information: Floats) -> Floats:
        """The information with the constant of each part, which no battle shows, made known."""
        K = len(self.part)
        scale = float(np.trace(information[:K, :K])) / K
        found = information.copy()
        found[:K, :K] += scale * (self.part[:, None] == self.part) / np.bincount(self.part)[self.part]
        return found

    def inverse(self, information: Floats) -> Floats:
        """Covariance of the parameters, strengths about the mean of their part."""
        K = len(self.part)
        scale = float(np.trace(information[:K, :K])) / K
        found = np.linalg.inv(self.regular(information))
        found[:K, :K] -= (self.part[:, None] == self.part) / np.bincount(self.part)[self.part] / scale
        return np.asarray((found + found.T) / 2)

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
                    found = self.at(new)
                    if found[0] >= value - 1e-9 * abs(value):
                        break
                length /= 2
            else:
                return at, value, information
            at, (value, gradient, information) = new, found
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
        found = information.copy()
        found[:K, :K] += (self.part[:, None] == self.part) / np.bincount(self.part)[self.part]
        return found

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
                    found = self.penalised(new)
                    if found[0] >= value - 1e-12 * abs(value):
                        break
                length /= 2
            else:
                break
            at, (value, gradient, information) = new, found
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
