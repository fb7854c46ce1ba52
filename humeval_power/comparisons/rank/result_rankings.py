"""Systems ranked by battles or by scores: what is said of them, and the record."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

from humeval_power.checking.columns import listing, shortened
from humeval_power.comparisons.rank.battles import Battles
from humeval_power.comparisons.rank.leaderboard import BattleRanking, ScoreRanking, rank_battles
from humeval_power.comparisons.rank.result import (
    RankResult,
    board_lead,
    board_section,
    board_signature,
)
from humeval_power.comparisons.scores.result import notices_of
from humeval_power.inference.clustered import FEW_DF
from humeval_power.saying.clustered_words import (
    Independence,
    assumed_items,
    clustered_items,
)
from humeval_power.saying.document import Document, Fact, Facts, Paragraph, Section
from humeval_power.saying.numbers import (
    counted,
    decimals,
    interval_words,
    level_of,
    p_cell,
    p_words,
    percent,
    significant,
    significant_interval,
)
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Provenance, Record
from humeval_power.saying.stated import table

_MOST_MOVED = 10
ELO = 400 / math.log(10)  # points of a logit
_TIES = {"davidson": "Davidson (1970)", "rao-kupper": "Rao and Kupper (1967)"}


@dataclass(frozen=True, kw_only=True)
class BattleRankResult(RankResult):
    """Systems in the order of their strengths, with what the battles leave open."""

    schema: ClassVar[str] = "humeval_power/rank_battles/2"

    found: BattleRanking

    @property
    def remarks(self) -> tuple[str, ...]:
        return self.found.battles.notices

    def answer(self) -> Document:
        ranking, board = self.found, self.found.board
        shares = {
            name: percent(float(share))
            for name, share in zip(ranking.battles.systems, ranking.win_share, strict=True)
        }
        return Document(
            f"{len(board.places)} systems ranked by {counted(ranking.battles.n, 'battle')}",
            lead=board_lead(board),
            caveats=tuple(self._caveats()),
            sections=self.sections(
                board_section(
                    board, "strength", "Strength, logit", ("wins", shares) if board.has_letters else None
                ),
                (*self._style_sections(), Section("The battles", (Facts(tuple(self._facts())),))),
                more="battles",
                pairs="Differences of strengths, in logits",
            ),
        )

    def _style_sections(self) -> Iterator[Section]:
        ranking = self.found
        shown_strength = ranking.fit.without
        if shown_strength is None:
            return
        effects = table(
            ranking.style,
            {
                "difference of one SD in": lambda each: shortened(each.name),
                "SD": lambda each: significant(each.sd),
                "logit": lambda each: significant(each.slope),
                "interval": lambda each: significant_interval(each.low, each.high),
                "p": lambda each: p_cell(each.p_value),
            },
            f"What style adds to the side that has more of it; {level_of(1 - ranking.board.alpha)} intervals, each "
            "by itself.",
        )
        shown = dict(zip(ranking.battles.systems, shown_strength.tolist(), strict=True))
        before = {name: place for place, name in enumerate(sorted(shown, key=lambda name: -shown[name]), 1)}
        now = {each: place for place, each in enumerate(ranking.board.places, 1)}
        moved = [each for each in now if before[each.system] != now[each]]
        moved.sort(key=lambda each: -abs(now[each] - before[each.system]))
        said = f"{counted(len(moved), 'system')} of {len(shown)} have another place with style as it is"
        said += f"; the {_MOST_MOVED} that move most." if len(moved) > _MOST_MOVED else "."
        moves = table(
            moved[:_MOST_MOVED],
            {
                "system": lambda each: shortened(each.system),
                "at equal style": lambda each: significant(each.value),
                "as shown": lambda each: significant(shown[each.system]),
                "place": lambda each: f"{now[each]}",
                "place as shown": lambda each: f"{before[each.system]}",
            },
            said,
        )
        yield Section("Style", (effects, moves if moved else Paragraph(said)))

    def _caveats(self) -> Iterator[str]:
        ranking = self.found
        if ranking.style:
            names = listing([shortened(each.name) for each in ranking.style], limit=6)
            yield (
                f"Strengths are at equal style: those of outputs that are alike in {names}. Where readers want "
                "what these measure, the board without --covariate is theirs."
            )
        if ranking.smallest_df < FEW_DF:
            yield (
                f"Some differences have {decimals(ranking.smallest_df, 1)} degrees of freedom: so few clusters "
                "are no more than a hint."
            )
        if ranking.newcomers:
            by_voters = ranking.battles.clusters is not None
            voters = "; of each voter the first battle with the system counts" if by_voters else ""
            yield (
                f"{listing([shortened(name) for name in ranking.newcomers], limit=6)}: fewer than 5 wins or fewer "
                f"than 5 losses. Intervals and tests of these are exact, given the strengths of the others{voters}."
            )
        if ranking.fit.penalised:
            yield (
                "No strengths are most likely, since systems won or lost all of their battles against others, or "
                "battles in one order: strengths are Firth's, penalised, and finite."
            )
        if ranking.order_reason.startswith("No two"):
            yield f"No effect of the order is estimated. {ranking.order_reason}"

    def _facts(self) -> Iterator[Fact]:
        ranking = self.found
        battles, order = ranking.battles, ranking.order
        yield (
            "Battles",
            f"{battles.n:,}, {battles.n_ties:,} of them ties ({percent(battles.n_ties / battles.n)})",
        )
        K = len(battles.systems)
        met = int((battles.shown_first + battles.shown_first.T > 0).sum()) // 2
        yield "Pairs", f"{met:,} of {K * (K - 1) // 2:,} met"
        yield "Model", _model(ranking)
        if ranking.fit.ties:
            yield "", f"{percent(ranking.tie_share_if_equal)} ties between equally strong systems"
        yield (
            "Strength",
            f"logit about the mean of all, {ELO:.0f} points of Elo each; wins: against every other as often",
        )
        said = ranking.order_reason
        if order is not None:
            said = (
                f"wins {order.share:.4f} of battles of equally strong systems ({level_of(1 - ranking.board.alpha)} "
                f"interval {interval_words(order.low, order.high)}; {p_words(order.p_value)}); strengths are those "
                "without it"
            )
        yield "Shown first", said

    def numbers(self) -> Record:
        ranking = self.found
        battles, order = ranking.battles, ranking.order
        design_effect, df = ranking.design_effect, ranking.smallest_df
        return {
            "model": "bradley-terry",
            **values(ranking.fit, "ties", "penalised", "log_likelihood"),
            **values(ranking, "newcomers", "tie_share_if_equal"),
            "n_battles": battles.n,
            "n_ties": battles.n_ties,
            **self.board_numbers(),
            "win_shares": dict(zip(battles.systems, ranking.win_share.tolist(), strict=True)),
            "position_bias": None
            if order is None
            else {"share": order.share, "interval": [order.low, order.high], "p_value": order.p_value},
            "position_reason": ranking.order_reason,
            "covariates": [asdict(each) for each in ranking.style],
            "strengths_as_shown": None
            if ranking.fit.without is None
            else dict(zip(battles.systems, ranking.fit.without.tolist(), strict=True)),
            "tie_parameter": ranking.fit.tie,
            "design_effect": None if math.isnan(design_effect) else design_effect,
            "smallest_df": None if math.isinf(df) else df,
            "paragraph": self.paragraph(),
            "notices": list(battles.notices),
        }

    def independence(self) -> tuple[Independence, ...]:
        battles, text = self.found.battles, self.prose("dependence", **self._fought)
        of_workers = Independence("workers", "assumed" if battles.clusters is None else "accounted", text)
        return of_workers, *(Independence("items", "assumed", each) for each in battles.suspects)

    def paragraph(self) -> str:
        ranking, terms = self.found, []
        if ranking.order is not None:
            terms.append("an effect of the order of presentation")
        if ranking.style:
            names = listing([shortened(each.name) for each in ranking.style], limit=6)
            terms.append(f"differences of {names} as covariates")
        ties = percent(ranking.battles.n_ties / ranking.battles.n)
        known = {"ties": ties, "model": _model(ranking), "lead": board_lead(ranking.board)}
        return self.prose("battles", **self._fought, terms=terms, order=ranking.order, **known)

    @property
    def _fought(self) -> dict[str, object]:
        clusters = self.found.battles.clusters
        cluster = None if clusters is None else shortened(clusters.name)
        return {"fought": self.found.battles, "cluster": cluster, "df": decimals(self.found.smallest_df, 1)}

    @property
    def signature(self) -> str:
        ranking, battles = self.found, self.found.battles
        model: Record = {
            "model": "bradley-terry",
            "ties": ranking.fit.ties,
            "order": "no" if ranking.order is None else "yes",
            "style": "+".join(each.name for each in ranking.style) or None,
        }
        return board_signature(
            ranking.board, model, n=battles.n, clusters=battles.clusters, sha256=battles.sha256
        )

    def update(self, more: Battles) -> BattleRankResult:
        """The same board with more battles, asked in the same way; where this was a look, the next one.
        InputError: battles with other clusters than those of before."""
        old = self.found
        ranking = rank_battles(
            old.battles.joined(more),
            ties=old.ties,
            position_bias=old.position_bias,
            alpha=old.alpha,
            test="max-t" if old.board.test == "max-t" else "holm",
            only=old.board.only,
            look=None if old.board.look is None else old.board.look + 1,
            seed=old.board.seed,
        )
        return BattleRankResult(found=ranking, provenance=Provenance(seed=old.board.seed))


def _model(ranking: BattleRanking) -> str:
    ties = ranking.fit.ties
    return f"Bradley and Terry (1952){f', ties by {_TIES[ties]}' if ties else ''}"


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
        metric, clusters = shortened(ranking.table.metric), ranking.table.clusters
        more = "items"
        if clusters is not None and ranking.tasks != "fixed":
            more = f"clusters ({shortened(clusters.name)}), not more items in them,"
        return Document(
            f"{len(board.places)} systems ranked by {metric}",
            lead=board_lead(board),
            caveats=tuple(self._caveats()),
            sections=self.sections(
                board_section(board, "mean", f"Mean {metric}"),
                (Section("The scores", (Facts(tuple(self._facts())),)),),
                more=more,
                pairs=f"Differences of mean {metric}",
            ),
        )

    def _caveats(self) -> Iterator[str]:
        ranking = self.found
        if ranking.df < FEW_DF:
            yield (
                f"Standard errors have {decimals(ranking.df, 1)} degrees of freedom: the clusters are too few, "
                "or one of them rules. The order is no more than a hint."
            )
        if ranking.board.test == "signs":
            yield (
                "Signs hold where the clusters' differences are symmetric about their mean: skewed ones err more "
                "often than alpha says. Intervals of pairs are Bonferroni's t."
            )

    def _facts(self) -> Iterator[Fact]:
        ranking = self.found
        clusters = ranking.table.clusters
        inside = "" if clusters is None else f" in {counted(clusters.n_clusters, 'cluster')}"
        yield "Items", f"{ranking.table.n_items:,}{inside}, the same for every system"
        yield "Best", "the smallest mean" if ranking.lower_is_better else "the largest mean"
        if clusters is not None and ranking.tasks == "fixed":
            yield "Clusters", "these alone: the order holds for new items of these tasks"
        elif clusters is not None:
            words = "a sample: the order holds for clusters like these (--tasks fixed: for these alone)"
            yield "Clusters", words
        yield (
            "Standard errors",
            f"of mean differences, with {decimals(ranking.df, 1).removesuffix('.0')} degrees of freedom",
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
            **self.board_numbers(),
            "paragraph": self.paragraph(),
            "notices": list(ranking.table.notices),
        }

    def independence(self) -> tuple[Independence, ...]:
        ranking, table = self.found, self.found.table
        if table.clusters is None:
            return (assumed_items(table.n_items, table.suspects),)
        if ranking.tasks == "fixed":
            text = (
                f"The {table.n_items:,} items come from {table.clusters.n_clusters:,} tasks "
                f"({shortened(table.clusters.name)}) that are all that matters: what is found holds for new "
                "items of these tasks, and not for tasks like these."
            )
            return (Independence("items", "accounted", text),)
        answer = clustered_items(ranking.top, shortened(table.clusters.name))
        of = "These standard errors are of the difference of the first two systems."
        return (replace(answer, text=f"{answer.text} {of}"),)

    def paragraph(self) -> str:
        ranking, table = self.found, self.found.table
        return self.prose(
            "scores",
            metric=shortened(table.metric),
            items=counted(table.n_items, "item"),
            clusters=table.clusters,
            cluster=None if table.clusters is None else shortened(table.clusters.name),
            df=decimals(ranking.df, 1),
            lead=board_lead(ranking.board),
        )

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
