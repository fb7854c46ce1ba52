"""Systems in the order of their mean scores on the same items, which may come in clusters."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from humeval_power.clusters import Clusters
from humeval_power.inference.clustered import (
    ClusteredMean,
    bell_mccaffrey_df,
    clustered_covariance,
    clustered_mean,
)
from humeval_power.inference.compare.score_table import ScoreTable
from humeval_power.inference.rank.leaderboard import DEFAULT_SEED, Estimates, Leaderboard, leaderboard


@dataclass(frozen=True, slots=True, eq=False)
class ScoreRanking:
    """Mean scores of `table` and the order that they give, at `df` degrees of freedom. Where less is better the
    first of the board have the smallest means. `top` is the difference of the first two, as clusters change it."""

    table: ScoreTable
    board: Leaderboard
    lower_is_better: bool
    df: float
    top: ClusteredMean


def rank_scores(
    table: ScoreTable,
    *,
    lower_is_better: bool = False,
    alpha: float = 0.05,
    seed: int = DEFAULT_SEED,
) -> ScoreRanking:
    """Rank systems by their means; errors are CR2's with the degrees of freedom of Bell and McCaffrey (2002)."""
    n, K = table.n_items, len(table.systems)
    clusters = table.clusters or Clusters(np.arange(n), tuple(map(str, range(n))))
    sign = -1.0 if lower_is_better else 1.0
    covariance = clustered_covariance(table.scores, clusters)
    df = bell_mccaffrey_df(clusters.sizes.astype(np.float64))
    estimates = Estimates(
        table.systems,
        sign * table.scores.mean(axis=0),
        covariance,
        np.full((K, K), df),
        np.sqrt(np.diag(covariance)),
        np.full(K, df),
    )
    board = leaderboard(estimates, alpha=alpha, seed=seed)
    first, second = (board.places[place].system for place in (0, 1))
    top = clustered_mean(sign * (table.column(first) - table.column(second)), table.clusters)
    board = _turned(board) if lower_is_better else board
    return ScoreRanking(table, board, lower_is_better, df, top)


def _turned(board: Leaderboard) -> Leaderboard:
    """The same with values and differences of the scores as they are, of which less is better."""
    places = (replace(one, value=-one.value, low=-one.high, high=-one.low) for one in board.places)
    pairs = (replace(one, difference=-one.difference, low=-one.high, high=-one.low) for one in board.pairs)
    return replace(board, places=tuple(places), pairs=tuple(pairs))
