"""Systems in the order of their mean scores on the same items, which may come in clusters."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import BoardTest, Tasks
from humeval_power.clusters import Clusters
from humeval_power.errors import InputError, Problem
from humeval_power.inference.clustered import (
    ClusteredMean,
    bell_mccaffrey_df,
    clustered_covariance,
    clustered_mean,
)
from humeval_power.inference.compare.score_table import ScoreTable
from humeval_power.inference.rank.leaderboard import (
    DEFAULT_SEED,
    Estimates,
    Leaderboard,
    leaderboard,
    level_of_look,
)
from humeval_power.inference.rank.pair_tests import upper_quantile

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreRanking:
    """Mean scores of `table` and the order that they give, at `df` degrees of freedom, the fewest of a pair. Where
    less is better the first of the board have the smallest means. `top` is the difference of the first two, as
    clusters change it. `tasks` says whether the clusters are a sample of what could be asked, or all that
    matters."""

    table: ScoreTable
    board: Leaderboard
    lower_is_better: bool
    tasks: Tasks
    df: float
    top: ClusteredMean


def rank_scores(
    table: ScoreTable,
    *,
    lower_is_better: bool = False,
    tasks: Tasks = "sampled",
    alpha: float = 0.05,
    test: BoardTest = "holm",
    only: str | None = None,
    look: int | None = None,
    seed: int = DEFAULT_SEED,
) -> ScoreRanking:
    """Rank systems by their means; errors are CR2's with the degrees of freedom of Bell and McCaffrey (2002), or
    of strata.

    Raises
    ------
    InputError
        Tasks are fixed, and there are none or one has a single item; or what `leaderboard` refuses.
    """
    alpha = level_of_look(alpha, look)
    n, K = table.n_items, len(table.systems)
    sign = -1.0 if lower_is_better else 1.0
    sums = None
    if tasks == "fixed":
        if test == "signs":
            rule = "--test signs draws the signs of whole tasks, which are a sample then."
            raise InputError([Problem(rule, "Leave out --tasks fixed, or test by Holm's method.")])
        covariance, df, own_df = stratified_covariance(table.scores, _strata(table))
        n_clusters = n
    else:
        clusters = table.clusters or Clusters(np.arange(n), tuple(map(str, range(n))))
        covariance, sums = clustered_covariance(table.scores, clusters), sign * clusters.sums(table.scores)
        freedom = bell_mccaffrey_df(clusters.sizes.astype(np.float64))
        df, own_df, n_clusters = np.full((K, K), freedom), np.full(K, freedom), clusters.n_clusters
    value = sign * table.scores.mean(axis=0)
    reach = upper_quantile(own_df, alpha / 2) * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    known = Estimates(
        table.systems, value, covariance, df, value - reach, value + reach, n_clusters, sums=sums
    )
    board = replace(leaderboard(known, alpha=alpha, test=test, only=only, seed=seed), look=look)
    first, second = (board.places[place].system for place in (0, 1))
    top = clustered_mean(sign * (table.column(first) - table.column(second)), table.clusters)
    if lower_is_better:
        places = (replace(one, value=-one.value, low=-one.high, high=-one.low) for one in board.places)
        board = replace(board, places=tuple(places), sign=-1)
    return ScoreRanking(table, board, lower_is_better, tasks, float(df.min()), top)


def stratified_covariance(scores: Floats, strata: Clusters) -> tuple[Floats, Floats, Floats]:
    """Covariance (K, K) of the K means where the strata are all that matters and their items a sample, and the df
    of Satterthwaite (1946) of differences (K, K) and of means (K,)."""
    n, K = scores.shape
    covariance, squares, own_squares = np.zeros((K, K)), np.zeros((K, K)), np.zeros(K)
    for members in strata.members():
        inside = scores[members] - scores[members].mean(axis=0)
        part = inside.T @ inside * (len(members) / (len(members) - 1) / n**2)
        own = np.diag(part)
        covariance += part
        squares += (own[:, None] + own[None, :] - 2 * part) ** 2 / (len(members) - 1)
        own_squares += own**2 / (len(members) - 1)
    own = np.diag(covariance)
    variance = own[:, None] + own[None, :] - 2 * covariance
    most = float(n - strata.n_clusters)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.where(squares > 0, variance**2 / squares, most)
        own_df = np.where(own_squares > 0, own**2 / own_squares, most)
    return covariance, np.maximum(df, 1.0), np.maximum(own_df, 1.0)


def _strata(table: ScoreTable) -> Clusters:
    if table.clusters is None:
        rule = "--tasks fixed needs the column of the tasks: task means do not show how well each is known."
        raise InputError(
            [Problem(rule, "Give scores of single items, and --cluster.", table.source or None)]
        )
    alone = table.clusters.sizes < 2
    if alone.any():
        name = table.clusters.labels[int(np.flatnonzero(alone)[0])]
        many = int(alone.sum())
        rule = f"--tasks fixed needs 2 items or more in every task; {many:,} have one, {name!r} the first."
        remedy = "Leave these out, or take tasks as a sample: --tasks sampled."
        raise InputError([Problem(rule, remedy, table.source or None)])
    return table.clusters
