"""Systems in the order of their strengths in battles: wins, ties and losses of two at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import BattleTies
from humeval_power.inference.rank.battles import Battles, check_comparable
from humeval_power.inference.rank.bradley_terry import BattleFit, fit_battles
from humeval_power.inference.rank.clustered_battles import clustered_errors, independent_errors
from humeval_power.inference.rank.largest_t import two_sided_p, two_sided_t
from humeval_power.inference.rank.leaderboard import DEFAULT_SEED, Estimates, Leaderboard, leaderboard
from humeval_power.inference.rank.outcome_models import outcome_law

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class OrderEffect:
    """The share that prefers what is shown first of two as strong, ties half; its interval and p-value."""

    share: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True, slots=True, eq=False)
class BattleRanking:
    """Strengths as logits about their mean, and the order that they give.

    `win_share` (K,) is the expected share that a system wins of battles against the others, each as often as the
    others and in both orders, ties counted half; in the order of `battles.systems`. `design_effect` is the mean
    variance of differences over that of independent battles; NaN without clusters. `order_reason` says why no
    effect of the order is estimated.
    """

    battles: Battles
    fit: BattleFit
    board: Leaderboard
    win_share: Floats
    order: OrderEffect | None
    order_reason: str
    tie_share_if_equal: float
    design_effect: float
    smallest_df: float


def rank_battles(
    battles: Battles,
    *,
    ties: BattleTies = "davidson",
    position_bias: bool = True,
    alpha: float = 0.05,
    seed: int = DEFAULT_SEED,
) -> BattleRanking:
    """Rank systems by Bradley and Terry's model; errors by clusters of battles where they are known.

    Raises
    ------
    InputError
        Battles that give no finite strengths; the systems are named.
    """
    check_comparable(battles)
    reason = "" if position_bias else "It was not asked for."
    if position_bias and not battles.both_orders:
        reason = "No two systems were shown in both orders, so that it cannot be told from their strengths."
    fit = fit_battles(battles, ties=ties, with_order=not reason)
    plain = independent_errors(fit)
    known = battles.clusters
    errors = plain if known is None else clustered_errors(fit, battles, known)
    K = len(battles.systems)
    covariance = _of_strengths(errors.covariance, K)
    effect = _mean_variance(covariance) / _mean_variance(_of_strengths(plain.covariance, K))
    estimates = Estimates(
        battles.systems,
        fit.strengths,
        covariance,
        errors.df,
        np.sqrt(np.maximum(np.diag(covariance), 0.0)),
        np.diag(errors.df).copy(),
    )
    return BattleRanking(
        battles=battles,
        fit=fit,
        board=leaderboard(estimates, alpha=alpha, seed=seed),
        win_share=_win_shares(fit),
        order=_order_effect(fit, errors.covariance, float(errors.df.min()), alpha),
        order_reason=reason,
        tie_share_if_equal=_half(fit, 0.0)[1],
        design_effect=math.nan if known is None else effect,
        smallest_df=float(errors.df.min()),
    )


def _of_strengths(covariance: Floats, K: int) -> Floats:
    """Covariance of the strengths about their mean, (K, K)."""
    full = np.zeros((K, K))
    full[1:, 1:] = covariance[: K - 1, : K - 1]
    centring = np.eye(K) - 1 / K
    return np.asarray(centring @ full @ centring)


def _mean_variance(covariance: Floats) -> float:
    """Of all differences, up to a constant."""
    return float(np.trace(covariance))


def _half(fit: BattleFit, eta: float) -> tuple[float, float]:
    """The share of wins with ties half, and that of ties, at a strength."""
    share = outcome_law(np.array([eta]), fit.tie, fit.model.ties or "davidson").share[0]
    return float(share[0] + share[1] / 2), float(share[1])


def _win_shares(fit: BattleFit) -> Floats:
    value, bias = fit.strengths, fit.order or 0.0
    difference = (value[:, None] - value[None, :])[~np.eye(len(value), dtype=np.bool_)]
    found = np.zeros(len(difference))
    for eta in (difference + bias, difference - bias):
        share = outcome_law(eta, fit.tie, fit.model.ties or "davidson").share
        found += (share[:, 0] + share[:, 1] / 2) / 2
    return np.asarray(found.reshape(len(value), -1).mean(axis=1))


def _order_effect(fit: BattleFit, covariance: Floats, df: float, alpha: float) -> OrderEffect | None:
    if fit.order is None or fit.model.order_at is None:
        return None
    error = math.sqrt(covariance[fit.model.order_at, fit.model.order_at])
    freedom = np.array([df])
    reach = float(two_sided_t(freedom, alpha)[0]) * error
    share, low, high = (_half(fit, eta)[0] for eta in (fit.order, fit.order - reach, fit.order + reach))
    return OrderEffect(share, low, high, float(two_sided_p(np.array([fit.order / error]), freedom)[0]))
