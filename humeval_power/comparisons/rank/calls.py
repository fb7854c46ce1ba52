"""Leaderboards: systems in an order by scores or by battles, and what the data leave open of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from humeval_power.choices import BattleTies, BoardTest, PairTest, Tasks
from humeval_power.comparisons.rank.leaderboard import DEFAULT_SEED
from humeval_power.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from humeval_power.comparisons.rank.battles import Battles
    from humeval_power.comparisons.rank.last_board import LastBoard
    from humeval_power.comparisons.rank.result_rankings import BattleRankResult, ScoreRankResult
    from humeval_power.comparisons.scores.score_table import ScoreTable

Scores: TypeAlias = "ScoreTable | pd.DataFrame"


def scores(
    table: Scores,
    *,
    lower_is_better: bool = False,
    tasks: Tasks = "sampled",
    alpha: float = 0.05,
    correction: BoardTest = "holm",
    only_system: str | None = None,
    look: int | None = None,
    last_board: str | Path | None = None,
    seed: int = DEFAULT_SEED,
) -> ScoreRankResult:
    """Rank systems by their mean scores on the same items.

    Parameters
    ----------
    table : one row for each item and one column of numbers for each system, as `compare.read_scores` reads it; with
        clusters of items errors are robust to what items of a cluster share.
    lower_is_better : the first system is that with the smallest mean.
    tasks : whether the clusters are a sample of tasks like these, or all that matters ("fixed").
    alpha : chance of any false statement about a pair.
    correction : Holm's method, the law of the largest t for many clusters, or random signs of clusters, stepping
        down.
    only_system : a system that was named before the data were seen: its pairs alone are tested.
    look : number of this look at a living board; all looks together err with probability alpha. [that of the last
        board and one]
    last_board : the record of the board before this one, or its folder: its ranks are set beside those of now.
    seed : of the draws of ranks and of the law of the largest t.

    Returns
    -------
    ScoreRankResult
        Means in the metric's units, ranks, who may be first, tiers, chances; `to_frame` has a row for each system,
        `figure` is the picture of the ranks.

    Raises
    ------
    InputError
        Fewer than two systems or items, scores that are not finite, or another look or alpha than the last board
        leaves.
    """
    from threadpoolctl import threadpool_limits

    from humeval_power.comparisons.rank.leaderboard import rank_scores
    from humeval_power.comparisons.rank.result_rankings import ScoreRankResult
    from humeval_power.comparisons.scores.score_table import ScoreTable
    from humeval_power.saying.result import Provenance

    last, look = _looked(alpha, look, last_board, ScoreRankResult.schema)
    known = (
        table
        if isinstance(table, ScoreTable)
        else ScoreTable(table.to_numpy(dtype=float), tuple(map(str, table.columns)))
    )
    with threadpool_limits(1):  # matrices are of the systems, and small
        ranking = rank_scores(
            known,
            lower_is_better=lower_is_better,
            tasks=tasks,
            alpha=alpha,
            test=correction,
            only=only_system,
            look=look,
            seed=seed,
        )
    return ScoreRankResult(found=ranking, last=last, provenance=Provenance(seed=seed))


def battles(
    table: Battles,
    *,
    ties: BattleTies = "davidson",
    position_bias: bool = True,
    alpha: float = 0.05,
    correction: PairTest = "holm",
    only_system: str | None = None,
    look: int | None = None,
    last_board: str | Path | None = None,
    seed: int = DEFAULT_SEED,
) -> BattleRankResult:
    """Rank systems by battles of two at a time with Bradley and Terry's model.

    Parameters
    ----------
    table : who met whom and who won; `read_battles` reads it. With clusters, such as users, errors are robust to
        what battles of a cluster share.
    ties : the model of ties, of Davidson (1970) or of Rao and Kupper (1967).
    position_bias : estimate what being shown first adds, so that strengths are free of it.
    alpha : chance of any false statement about a pair.
    correction : Holm's method, or the law of the largest t for many clusters, stepping down.
    only_system : a system that was named before the data were seen: its pairs alone are tested.
    look : number of this look at a living board; all looks together err with probability alpha. [that of the last
        board and one]
    last_board : the record of the board before this one, or its folder: its ranks are set beside those of now.
    seed : of the draws of ranks and of the law of the largest t.

    Returns
    -------
    BattleRankResult
        Strengths as logits about their mean, ranks, who may be first, tiers, chances; `to_frame` has a row for each
        system, `figure` is the picture of the ranks, `update` adds battles.

    Raises
    ------
    InputError
        Battles that put nothing into an order: all are ties, or what was shown first won all of them; or another
        look or alpha than the last board leaves.
    """
    from threadpoolctl import threadpool_limits

    from humeval_power.comparisons.rank.leaderboard import rank_battles
    from humeval_power.comparisons.rank.result_rankings import BattleRankResult
    from humeval_power.saying.result import Provenance

    last, look = _looked(alpha, look, last_board, BattleRankResult.schema)
    with threadpool_limits(1):  # matrices are of the systems, and small
        ranking = rank_battles(
            table,
            ties=ties,
            position_bias=position_bias,
            alpha=alpha,
            test=correction,
            only=only_system,
            look=look,
            seed=seed,
        )
    return BattleRankResult(found=ranking, last=last, provenance=Provenance(seed=seed))


def _looked(
    alpha: float, look: int | None, last_board: str | Path | None, schema: str
) -> tuple[LastBoard | None, int | None]:
    """The last board, and the number of this look."""
    from humeval_power.comparisons.rank.files import read_last_board
    from humeval_power.comparisons.rank.last_board import counted_look

    if not 0 < alpha < 0.5:
        raise InputError(f"alpha must lie between 0 and 0.5; got {alpha:g}.")
    if look is not None and look < 1:
        raise InputError(f"Looks are counted from 1; got {look}.")
    last = None if last_board is None else read_last_board(last_board, schema=schema)
    return last, counted_look(last, alpha, look)
