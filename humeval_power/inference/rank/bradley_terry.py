"""Strengths of K systems from battles by maximum likelihood, with an effect of the order and with ties."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import BattleTies
from humeval_power.errors import InputError, Problem
from humeval_power.inference.rank.battles import Battles
from humeval_power.inference.rank.outcome_models import OutcomeLaw, outcome_law

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_MOST_STEPS, _PRECISION = 100, 1e-9
_ENDLESS = 25.0  # a logit that no number of battles shows: the likelihood has no maximum


@dataclass(frozen=True, slots=True, eq=False)
class BattleModel:
    """Where the parameters stand: strengths of systems 1 to K - 1 (system 0 has 0), then the order, then ties."""

    n_systems: int
    with_order: bool
    ties: BattleTies | None

    @property
    def order_at(self) -> int | None:
        """Place of the effect of being shown first."""
        return self.n_systems - 1 if self.with_order else None

    @property
    def tie_at(self) -> int | None:
        """Place of the parameter of ties."""
        return None if self.ties is None else self.n_systems - 1 + self.with_order

    @property
    def n_parameters(self) -> int:
        """Number of parameters."""
        return self.n_systems - 1 + self.with_order + (self.ties is not None)

    def rows(self, first: Codes, second: Codes) -> Floats:
        """Derivatives of (eta, tie) of battles by the parameters, (n, 2, p)."""
        found = np.zeros((len(first), 2, self.n_parameters))
        for codes, sign in ((first, 1.0), (second, -1.0)):
            moved = np.flatnonzero(codes > 0)
            found[moved, 0, codes[moved] - 1] += sign
        if self.order_at is not None:
            found[:, 0, self.order_at] = 1.0
        if self.tie_at is not None:
            found[:, 1, self.tie_at] = 1.0
        return found

    def law(self, rows: Floats, parameters: Floats) -> OutcomeLaw:
        """The law of the outcomes of battles with these rows."""
        tie = None if self.tie_at is None else float(parameters[self.tie_at])
        eta = rows[:, 0] @ parameters
        return outcome_law(eta, tie, self.ties or "davidson")


@dataclass(frozen=True, slots=True, eq=False)
class BattleFit:
    """Maximum likelihood: `parameters` (p,), expected `information` (p, p), log-likelihood."""

    model: BattleModel
    parameters: Floats
    information: Floats
    log_likelihood: float

    @property
    def strengths(self) -> Floats:
        """Logits of the systems (K,), about their mean."""
        value = np.concatenate([[0.0], self.parameters[: self.model.n_systems - 1]])
        return np.asarray(value - value.mean())

    @property
    def order(self) -> float | None:
        """The logit of the system shown first against one as strong; None where it is not estimated."""
        return None if self.model.order_at is None else float(self.parameters[self.model.order_at])

    @property
    def tie(self) -> float | None:
        """The parameter of ties; None without ties."""
        return None if self.model.tie_at is None else float(self.parameters[self.model.tie_at])


def fit_battles(battles: Battles, *, ties: BattleTies = "davidson", with_order: bool = True) -> BattleFit:
    """Fit Bradley and Terry's model by Fisher scoring.

    Raises
    ------
    InputError
        Battles whose likelihood has no maximum that `check_comparable` does not name, such as an order of showing
        that always decides.
    """
    model = BattleModel(len(battles.systems), with_order, ties if battles.n_ties else None)
    first, second, count = _cells(battles)
    rows = model.rows(first, second)
    at = _start(model, battles)
    value, gradient, information = _likelihood(model, rows, count, at)
    for _ in range(_MOST_STEPS):
        step = np.linalg.lstsq(information, gradient, rcond=1e-12)[0]
        length = 1.0
        while True:
            new = at + length * step
            allowed = ties != "rao-kupper" or model.tie_at is None or new[model.tie_at] > 1e-8
            found = _likelihood(model, rows, count, new) if allowed else None
            if found is not None and found[0] >= value - 1e-9 * abs(value):
                break
            length /= 2
            if length < 1e-10:
                found, new = (value, gradient, information), at
                break
        moved = float(np.abs(new - at).max())
        at, (value, gradient, information) = new, found
        if np.abs(at[: model.n_systems - 1 + model.with_order]).max() > _ENDLESS:
            break
        if moved < _PRECISION:
            _check_known(information, battles)
            return BattleFit(model, at, information, value)
    raise InputError([Problem(_ENDLESS_RULE, _ENDLESS_REMEDY, battles.source)])


_ENDLESS_RULE = (
    "no finite strengths fit these battles: a system, or what was shown first, wins without exception."
)
_ENDLESS_REMEDY = (
    "Collect more battles, leave a system out by --systems, or fit without the order: --no-position-bias."
)


def _check_known(information: Floats, battles: Battles) -> None:
    values = np.linalg.eigvalsh(information)
    if values[0] <= 1e-9 * values[-1]:
        raise InputError([Problem(_ENDLESS_RULE, _ENDLESS_REMEDY, battles.source)])


def _cells(battles: Battles) -> tuple[Codes, Codes, Floats]:
    """Who met whom in which order, and how often with each outcome, (cells, 3)."""
    K = len(battles.systems)
    meeting, place = np.unique(battles.first * K + battles.second, return_inverse=True)
    kind = 1 - battles.outcome
    count = np.bincount(place * 3 + kind, minlength=3 * len(meeting)).reshape(-1, 3).astype(np.float64)
    return meeting // K, meeting % K, count


def _start(model: BattleModel, battles: Battles) -> Floats:
    """No system stronger, and about the share of ties."""
    at = np.zeros(model.n_parameters)
    if model.tie_at is not None:
        share = min(max(battles.n_ties / battles.n, 1e-3), 0.95)
        if model.ties == "davidson":
            at[model.tie_at] = np.log(2 * share / (1 - share))
        else:
            at[model.tie_at] = np.log((1 + share) / (1 - share))
    return at


def _likelihood(
    model: BattleModel, rows: Floats, count: Floats, parameters: Floats
) -> tuple[float, Floats, Floats]:
    """Log-likelihood, its gradient and the expected information."""
    law = model.law(rows, parameters)
    seen = count > 0
    value = float((count[seen] * np.log(np.maximum(law.share[seen], 1e-300))).sum())
    gradient = np.einsum("no,noa,nap->p", count, law.slope, rows)
    weight = law.information * count.sum(axis=1)[:, None, None]
    return value, gradient, np.asarray(np.einsum("nap,nab,nbq->pq", rows, weight, rows, optimize=True))
