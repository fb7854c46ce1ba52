"""Systems ranked by scores: what is said of them, and the record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from humeval_power.checking.columns import shortened
from humeval_power.comparisons.rank.leaderboard import ScoreRanking
from humeval_power.comparisons.rank.result import (
    LAW,
    RankResult,
    board_lead,
    board_record,
    board_section,
    board_signature,
    changes_record,
)
from humeval_power.comparisons.scores.result import notices_of
from humeval_power.inference.clustered import FEW_DF
from humeval_power.saying.clustered_words import (
    Independence,
    assumed_items,
    clustered_items,
)
from humeval_power.saying.document import Document, Fact, Facts, Section
from humeval_power.saying.numbers import counted, decimals
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record


@dataclass(frozen=True, kw_only=True)
class ScoreRankResult(RankResult):
    """Systems in the order of their mean scores, with what the items leave open."""

    schema: ClassVar[str] = "humeval_power/rank_scores/2"

    found: ScoreRanking

    @property
    def remarks(self) -> tuple[str, ...]:
        return notices_of(self.found.table)

    def answer(self) -> Document:
        ranking, board = self.found, self.found.board
        metric = shortened(ranking.table.metric)
        return Document(
            f"{len(board.places)} systems ranked by {metric}",
            lead=board_lead(board),
            caveats=tuple(_caveats(ranking)),
            sections=self.sections(
                board_section(board, "mean", f"Mean {metric}"),
                (Section("The scores", (Facts(tuple(_facts(ranking))),)),),
                more=_unit(ranking),
                pairs=f"Differences of mean {metric}",
            ),
        )

    def numbers(self) -> Record:
        ranking = self.found
        clusters = ranking.table.clusters
        return {
            "metric": ranking.table.metric,
            "n_items": ranking.table.n_items,
            "cluster": None if clusters is None else clusters.name,
            "n_clusters": None if clusters is None else clusters.n_clusters,
            **values(ranking, "tasks", "df", "lower_is_better"),
            **board_record(ranking.board),
            "last_board": changes_record(self.changes),
            "paragraph": paragraph(ranking),
            "notices": list(ranking.table.notices),
        }

    def independence(self) -> tuple[Independence, ...]:
        return independence(self.found)

    def paper(self) -> tuple[str, ...]:
        return (paragraph(self.found),)

    @property
    def signature(self) -> str:
        ranking, table = self.found, self.found.table
        model: Record = {
            "model": "ranked-means",
            "best": "low" if ranking.lower_is_better else "high",
            "tasks": "fixed" if ranking.tasks == "fixed" else None,
        }
        return board_signature(
            ranking.board, model, n=table.n_items, clusters=table.clusters, sha256=table.sha256
        )


def _caveats(ranking: ScoreRanking) -> Iterator[str]:
    if ranking.df < FEW_DF:
        yield (
            f"Standard errors have {decimals(ranking.df, 1)} degrees of freedom: the clusters are too few, or one "
            "of them rules. The order is no more than a hint."
        )

    if ranking.board.test == "signs":
        yield (
            "Signs hold where the clusters' differences are symmetric about their mean: skewed ones err more often "
            "than alpha says. Intervals of pairs are Bonferroni's t."
        )


def _unit(ranking: ScoreRanking) -> str:
    clusters = ranking.table.clusters
    return (
        "items"
        if clusters is None or ranking.tasks == "fixed"
        else f"clusters ({shortened(clusters.name)}), not more items in them,"
    )


def _facts(ranking: ScoreRanking) -> Iterator[Fact]:
    clusters = ranking.table.clusters
    inside = "" if clusters is None else f" in {counted(clusters.n_clusters, 'cluster')}"
    yield "Items", f"{ranking.table.n_items:,}{inside}, the same for every system"
    yield "Best", "the smallest mean" if ranking.lower_is_better else "the largest mean"
    if clusters is not None:
        words = {
            "sampled": "a sample: the order holds for clusters like these (--tasks fixed: for these alone)",
            "fixed": "these alone: the order holds for new items of these tasks",
        }
        yield "Clusters", words[ranking.tasks]
    yield (
        "Standard errors",
        f"of mean differences, with {decimals(ranking.df, 1).removesuffix('.0')} degrees of freedom",
    )


def independence(ranking: ScoreRanking) -> tuple[Independence, ...]:
    """Clusters with what they do to the difference of the first two, or that none are known."""
    table = ranking.table
    if table.clusters is None:
        return (assumed_items(table.n_items, table.suspects),)
    if ranking.tasks == "fixed":
        text = (
            f"The {table.n_items:,} items come from {table.clusters.n_clusters:,} tasks "
            f"({shortened(table.clusters.name)}) that "
            "are all that matters: what is found holds for new items of these tasks, and not for tasks like these."
        )
        return (Independence("items", "accounted", text),)
    answer = clustered_items(ranking.top, shortened(table.clusters.name))
    of = "These standard errors are of the difference of the first two systems."
    return (Independence(answer.of, answer.state, f"{answer.text} {of}"),)


def paragraph(ranking: ScoreRanking) -> str:
    """What a paper says of it."""
    table, board = ranking.table, ranking.board
    clusters = table.clusters
    text = (
        f"We ranked {len(board.places)} systems by their mean {shortened(table.metric)} on the same "
        f"{counted(table.n_items, 'item')}"
    )
    if clusters is not None and ranking.tasks == "fixed":
        text += (
            f" in {clusters.n_clusters:,} strata ({shortened(clusters.name)}) that are all that matters (at least "
            f"{decimals(ranking.df, 1)} Satterthwaite degrees of freedom)"
        )
    elif clusters is not None:
        text += (
            f" in {clusters.n_clusters:,} clusters ({shortened(clusters.name)}), with standard errors robust to "
            f"these (CR2, {decimals(ranking.df, 1)} Bell-McCaffrey degrees of freedom)"
        )
    return (
        f"{text}. Ranks follow from t tests of all pairs, corrected by {LAW[board.test]} (alpha "
        f"{board.alpha:.4g}). {board_lead(board)}"
    )
