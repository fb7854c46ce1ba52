"""Strengths of K systems from battles by maximum likelihood, with an effect of the order and with ties.

All is counted in cells: how often the row's system was shown before the column's, with each outcome. Where systems
won or lost all of their battles the likelihood has no maximum; it is then penalised by Jeffreys' prior (Firth
1993), which is finite in every part that is joined by battles (Kosmidis and Firth 2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import BattleTies
from humeval_power.errors import InputError, Problem
from humeval_power.inference.rank.battles import Battles, check_orderable, has_maximum, parts_of
from humeval_power.inference.rank.outcome_models import OutcomeLaw, outcome_law

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_MOST_STEPS, _PRECISION = 100, 1e-9
_PENALISED_STEPS = 30  # then a search that is slower and never stalls
_ENDLESS = 25.0  # a logit that no number of battles shows: the likelihood has no maximum
_LEAST_TIE = 1e-8  # of Rao and Kupper's threshold
_SMALL = 1e-4  # for slopes of the information


@dataclass(frozen=True, eq=False)
class BattleFit:
    """The highest likelihood, perhaps `penalised`.

    `parameters` (p,) are the strengths (K,) about the mean of their part, then the order and the ties where they
    are estimated; `covariance` (p, p) is of these by the expected information. `count` (K, K, 3) has the cells.
    """

    parameters: Floats
    covariance: Floats
    log_likelihood: float
    count: Floats
    part: Codes
    with_order: bool
    ties: BattleTies | None
    penalised: bool

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
    def tie(self) -> float | None:
        """The parameter of ties; None without ties."""
        return None if self.ties is None else float(self.parameters[-1])

    @cached_property
    def law(self) -> OutcomeLaw:
        """The law of the outcomes of each cell, (K, K)."""
        return _law(self.parameters, self.n_systems, self.with_order, self.ties)

    @cached_property
    def cell_information(self) -> Floats:
        """Expected information about (eta, tie) of a battle of each cell, (K, K, 2, 2)."""
        return self.law.information


def fit_battles(battles: Battles, *, ties: BattleTies = "davidson", with_order: bool = True) -> BattleFit:
    """Fit Bradley and Terry's model.

    Raises
    ------
    InputError
        Battles that are all ties, a system without battles, or an order of showing that decided every battle.
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
    task = _Likelihood(count, parts_of(battles), with_order, ties if battles.n_ties else None)
    found = task.maximum() if has_maximum(battles, task.part) else None
    penalised = found is None
    parameters = task.penalised_maximum() if found is None else found
    value, _, information = task.at(parameters)
    covariance = task.inverse(information)
    return BattleFit(parameters, covariance, value, count, task.part, with_order, task.ties, penalised)


def _law(parameters: Floats, K: int, with_order: bool, ties: BattleTies | None) -> OutcomeLaw:
    strength = parameters[:K]
    eta = strength[:, None] - strength[None, :] + (parameters[K] if with_order else 0.0)
    return outcome_law(eta, None if ties is None else float(parameters[-1]), ties or "davidson")


@dataclass(frozen=True, slots=True, eq=False)
class _Likelihood:
    count: Floats
    part: Codes
    with_order: bool
    ties: BattleTies | None

    def start(self) -> Floats:
        """No system stronger, and about the share of ties."""
        at = np.zeros(len(self.part) + self.with_order + (self.ties is not None))
        if self.ties is not None:
            share = min(max(float(self.count[..., 1].sum() / self.count.sum()), 1e-3), 0.95)
            at[-1] = np.log((2 * share if self.ties == "davidson" else 1 + share) / (1 - share))
        return at

    def by_parameters(self, by_eta: Floats, by_tie: Floats | None) -> Floats:
        """Sums (p,) over cells (K, K) of slopes by eta and by ties, as slopes by the parameters."""
        found = [by_eta.sum(axis=1) - by_eta.sum(axis=0)]
        if self.with_order:
            found.append(by_eta.sum(keepdims=True).ravel())
        if by_tie is not None:
            found.append(by_tie.sum(keepdims=True).ravel())
        return np.concatenate(found)

    def information_of(self, weight: Floats) -> Floats:
        """The matrix (p, p) that cells with these matrices about (eta, tie) add up to; weight (K, K, 2, 2)."""
        K, p = len(self.part), len(self.part) + self.with_order + (self.ties is not None)
        by_eta, by_both, by_tie = weight[..., 0, 0], weight[..., 0, 1], weight[..., 1, 1]
        found = np.zeros((p, p))
        found[:K, :K] = np.diag(by_eta.sum(axis=0) + by_eta.sum(axis=1)) - by_eta - by_eta.T
        if self.with_order:
            found[:K, K] = found[K, :K] = by_eta.sum(axis=1) - by_eta.sum(axis=0)
            found[K, K] = by_eta.sum()
        if self.ties is not None:
            found[:K, -1] = found[-1, :K] = by_both.sum(axis=1) - by_both.sum(axis=0)
            if self.with_order:
                found[K, -1] = found[-1, K] = by_both.sum()
            found[-1, -1] = by_tie.sum()
        return found

    def at(self, parameters: Floats) -> tuple[float, Floats, Floats]:
        """Log-likelihood, its gradient and the expected information."""
        law = _law(parameters, len(self.part), self.with_order, self.ties)
        value = float((self.count * np.log(np.maximum(law.share, 1e-300))).sum())
        slope = np.einsum("ijo,ijoa->aij", self.count, law.slope)
        gradient = self.by_parameters(slope[0], None if self.ties is None else slope[1])
        weight = law.information * self.count.sum(axis=2)[..., None, None]
        return value, gradient, self.information_of(weight)

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

    def maximum(self) -> Floats | None:
        """Where the likelihood is highest, by Fisher scoring; None where there is no such place."""
        at = self.start()
        value, gradient, information = self.at(at)
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
                return at
            at, (value, gradient, information) = new, found
            if np.abs(at[: len(self.part) + self.with_order]).max() > _ENDLESS:
                return None
            if np.abs(length * step).max() < _PRECISION:
                values = np.linalg.eigvalsh(self.regular(information))
                return at if values[0] > 1e-9 * values[-1] else None
        return None

    def penalised(self, parameters: Floats) -> tuple[float, Floats, Floats]:
        """The likelihood with half the logarithm of the determinant of the information, its gradient, the
        information."""
        value, gradient, information = self.at(parameters)
        K, n = len(self.part), self.count.sum(axis=2)
        inverse = np.linalg.inv(self.regular(information))
        spread = np.zeros((K, K, 2, 2))  # of (eta, tie) of each cell
        own = np.diag(inverse)[:K]
        spread[..., 0, 0] = own[:, None] + own[None, :] - 2 * inverse[:K, :K]
        if self.with_order:
            across = inverse[:K, K]
            spread[..., 0, 0] += inverse[K, K] + 2 * (across[:, None] - across[None, :])
        if self.ties is not None:
            across = inverse[:K, -1]
            by_order = inverse[K, -1] if self.with_order else 0.0
            spread[..., 0, 1] = spread[..., 1, 0] = across[:, None] - across[None, :] + by_order
            spread[..., 1, 1] = inverse[-1, -1]
        more = []
        for by_tie in (False, True)[: 1 + (self.ties is not None)]:
            slope = self._slope_of_information(parameters, by_tie=by_tie)
            more.append(n / 2 * np.einsum("ijab,ijab->ij", slope, spread))
        gradient = gradient + self.by_parameters(more[0], more[1] if self.ties is not None else None)
        value += 0.5 * float(np.linalg.slogdet(self.regular_of_unit(information))[1])
        return value, gradient, information

    def regular_of_unit(self, information: Floats) -> Floats:
        """The same with a fixed number in the place of the constants, which the determinant must not move with."""
        K = len(self.part)
        found = information.copy()
        found[:K, :K] += (self.part[:, None] == self.part) / np.bincount(self.part)[self.part]
        return found

    def _slope_of_information(self, parameters: Floats, *, by_tie: bool) -> Floats:
        """Slopes (K, K, 2, 2) of the cells' information by eta, or by ties."""
        K = len(self.part)
        eta = parameters[:K, None] - parameters[None, :K] + (parameters[K] if self.with_order else 0.0)
        tie = None if self.ties is None else float(parameters[-1])
        sides = []
        for step in (_SMALL, -_SMALL):
            moved = tie if tie is None or not by_tie else tie + step
            law = outcome_law(eta if by_tie else eta + step, moved, self.ties or "davidson")
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
