"""Systems in the order of their strengths in battles: wins, ties and losses of two at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import BattleTies, PairTest
from humeval_power.inference.rank.battles import Battles
from humeval_power.inference.rank.bradley_terry import BattleFit, fit_battles
from humeval_power.inference.rank.clustered_battles import clustered_errors, independent_errors
from humeval_power.inference.rank.leaderboard import (
    DEFAULT_SEED,
    Estimates,
    Leaderboard,
    leaderboard,
    level_of_look,
)
from humeval_power.inference.rank.more import direct_votes
from humeval_power.inference.rank.newcomers import exact_tails, newcomers
from humeval_power.inference.rank.outcome_models import outcome_law
from humeval_power.inference.rank.pair_tests import one_sided_p, upper_quantile

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class OrderEffect:
    """The share that prefers what is shown first of two as strong, ties half; its interval and p-value."""

    share: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True, slots=True, eq=False)
class CovariateEffect:
    """What a difference of one `sd` in a covariate adds to the logit of the first."""

    name: str
    sd: float
    slope: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True, slots=True, eq=False)
class BattleRanking:
    """Strengths as logits about the mean of their part, and the order that they give.

    `win_share` (K,) is the expected share that a system wins of battles against the others of its part, each as
    often as the others and in both orders, ties counted half; in the order of `battles.systems`. `newcomers` are
    systems with few wins or few losses. `design_effect` is the mean variance of differences over that of
    independent battles; NaN without clusters. `order_reason` says why no effect of the order is estimated. With
    covariates strengths are at equal style. `ties` and `position_bias` are what was asked.
    """

    battles: Battles
    fit: BattleFit
    board: Leaderboard
    win_share: Floats
    newcomers: tuple[str, ...]
    order: OrderEffect | None
    order_reason: str
    tie_share_if_equal: float
    design_effect: float
    smallest_df: float
    alpha: float
    ties: BattleTies
    position_bias: bool
    style: tuple[CovariateEffect, ...]


def rank_battles(
    battles: Battles,
    *,
    ties: BattleTies = "davidson",
    position_bias: bool = True,
    alpha: float = 0.05,
    test: PairTest = "holm",
    only: str | None = None,
    look: int | None = None,
    seed: int = DEFAULT_SEED,
) -> BattleRanking:
    """Rank systems by Bradley and Terry's model; errors by clusters of battles where they are known.

    Raises
    ------
    InputError
        Battles that put nothing into an order, or what `leaderboard` refuses.
    """
    alpha_of_looks, alpha = alpha, level_of_look(alpha, look)
    reason = "" if position_bias else "It was not asked for."
    if position_bias and not battles.both_orders:
        reason = "No two systems were shown in both orders, so that it cannot be told from their strengths."
    fit = fit_battles(battles, ties=ties, with_order=not reason)
    plain = independent_errors(fit)
    known = battles.clusters
    errors = plain if known is None else clustered_errors(fit, battles, known)
    K = fit.n_systems
    covariance = errors.covariance[:K, :K]
    few = newcomers(battles, fit)
    reach = upper_quantile(np.diag(errors.df), alpha / 2) * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    low, high = fit.strengths - reach, fit.strengths + reach
    for k, one in few.items():
        low[k], high[k] = (-math.inf, math.inf) if one is None else one.bounds(alpha)
    estimates = Estimates(
        battles.systems,
        fit.strengths,
        covariance,
        errors.df,
        low,
        high,
        battles.n if known is None else known.n_clusters,
        exact_tails(few, fit),
        fit.part,
    )
    board = replace(leaderboard(estimates, alpha=alpha, test=test, only=only, seed=seed), look=look)
    if board.more is not None and not board.more.is_apart:
        votes = _votes(battles.systems, fit, covariance, board)
        board = replace(board, more=replace(board.more, votes=votes))
    return BattleRanking(
        battles=battles,
        fit=fit,
        board=board,
        win_share=_win_shares(fit),
        newcomers=tuple(battles.systems[k] for k in few),
        order=_order_effect(fit, errors.covariance, float(errors.df.min()), alpha),
        order_reason=reason,
        tie_share_if_equal=_half(fit, 0.0)[1],
        design_effect=math.nan
        if known is None
        else float(np.trace(covariance) / np.trace(plain.covariance[:K, :K])),
        smallest_df=float(errors.df.min()),
        alpha=alpha_of_looks,
        ties=ties,
        position_bias=position_bias,
        style=tuple(_style_effects(battles, fit, errors.covariance, float(errors.df.min()), alpha)),
    )


def _votes(names: tuple[str, ...], fit: BattleFit, covariance: Floats, board: Leaderboard) -> float | None:
    """Battles between just the first two, in both orders, that show their difference."""
    i, j = (names.index(board.places[place].system) for place in (0, 1))
    variance, plain = (of[i, i] + of[j, j] - 2 * of[i, j] for of in (covariance, fit.covariance))
    gap = float(fit.strengths[i] - fit.strengths[j])
    etas = gap + np.array([1, -1]) * (fit.order or 0.0)
    known = float(outcome_law(etas, fit.tie, fit.ties or "davidson").information[:, 0].mean())
    critical = float(board.tested.reach[0] / board.tested.standard_error[0])
    votes = direct_votes(gap, variance, known, critical, design_effect=float(variance / plain))
    return votes if math.isfinite(votes) else None


def _half(fit: BattleFit, eta: float) -> tuple[float, float]:
    """The share of wins with ties half, and that of ties, at a strength."""
    share = outcome_law(np.array([eta]), fit.tie, fit.ties or "davidson").share[0]
    return float(share[0] + share[1] / 2), float(share[1])


def _win_shares(fit: BattleFit) -> Floats:
    value, bias = fit.strengths, fit.order or 0.0
    difference = value[:, None] - value[None, :]
    wins = np.zeros_like(difference)
    for eta in (difference + bias, difference - bias):
        share = outcome_law(eta, fit.tie, fit.ties or "davidson").share
        wins += (share[..., 0] + share[..., 1] / 2) / 2
    others = fit.part[:, None] == fit.part
    np.fill_diagonal(others, False)
    return np.asarray((wins * others).sum(axis=1) / others.sum(axis=1))


def _style_effects(
    battles: Battles, fit: BattleFit, covariance: Floats, df: float, alpha: float
) -> Iterator[CovariateEffect]:
    if battles.covariates is None:
        return
    freedom = np.array(df)
    error = np.sqrt(np.diag(covariance)[fit.slopes])
    reach = float(upper_quantile(freedom, alpha / 2)) * error
    slope = fit.parameters[fit.slopes]
    p = 2 * one_sided_p(np.abs(slope) / error, freedom)
    columns = (battles.covariates.sd, slope, slope - reach, slope + reach, p)
    for name, *row in zip(fit.covariates, *(each.tolist() for each in columns), strict=True):
        yield CovariateEffect(name, *row)


def _order_effect(fit: BattleFit, covariance: Floats, df: float, alpha: float) -> OrderEffect | None:
    if fit.order is None:
        return None
    error, freedom = math.sqrt(covariance[fit.n_systems, fit.n_systems]), np.array(df)
    reach = float(upper_quantile(freedom, alpha / 2)) * error
    share, low, high = (_half(fit, eta)[0] for eta in (fit.order, fit.order - reach, fit.order + reach))
    p = 2 * float(one_sided_p(np.array(abs(fit.order) / error), freedom))
    return OrderEffect(share, low, high, p)
