"""`humeval-power rank`: leaderboards with what they leave open, and how many data tell two neighbours apart."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from humeval_power.asking.declared import CallStep, Page, Part, chain
from humeval_power.asking.expressions import Call, Value, call
from humeval_power.asking.form import Next
from humeval_power.asking.study_file import PREFERENCES, EffectRange, any_number
from humeval_power.asking.vocabulary import (
    ALPHA,
    CLUSTER,
    ITEM_DIFFERENCES,
    LOOK_HELP,
    LOWER_SCORES,
    SCORE_TABLE,
    SEED,
    SIZE_OF_SAMPLE,
    SYSTEMS,
    TIE_SHARE,
    TRUE_EFFECT,
)
from humeval_power.choices import MOST_RANKED, BattleTies, BoardTest, PairTest, Tasks
from humeval_power.comparisons.questions import Given, Questions, Subject
from humeval_power.errors import refusal
from humeval_power.fields import flag, own, real, text, whole, word
from humeval_power.studies.power.wording import Wording
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from humeval_power.comparisons.rank.scenario import NeighbourBattles, NeighbourScores


def _words(scenario: NeighbourBattles | NeighbourScores) -> list[str]:
    """What is asked, for people."""
    from humeval_power.comparisons.rank.scenario import NeighbourScores

    if isinstance(scenario, NeighbourScores):
        return [
            f"{scenario.n:,} items that all {scenario.n_systems} systems answer; differences of an item have SD "
            f"{scenario.sd:.4g}",
            f"t test of the neighbours at alpha {scenario.alpha:.3g}: what all pairs at once leave for each",
        ]
    n_pairs = math.comb(scenario.n_systems, 2)
    lines = [
        f"{scenario.n_battles:,} battles of {scenario.n_systems} systems, {scenario.n_battles / n_pairs:.4g} "
        f"for each of {n_pairs:,} pairs, in both orders",
        f"{100 * scenario.tie_share:.4g} % ties of equally strong systems; the other systems are between the two",
        f"all pairs at once, alpha {scenario.alpha:g}: |z| above {scenario.critical:.3f}",
    ]
    if scenario.design_effect != 1:
        lines.append(
            f"design effect {scenario.design_effect:.4g}: worth "
            f"{scenario.n_battles / scenario.design_effect:,.0f} independent battles"
        )
    return lines


def _said(scenario: NeighbourBattles | NeighbourScores) -> str:
    effect = scenario.true_effect
    if _is_scored(scenario):
        return f"neighbours differ by {effect:.4g} in the metric's units"
    return f"{effect:.4g}, that is {100 * (0.5 + effect):.4g} % prefer the better neighbour, ties half"


def _finding(scenario: NeighbourBattles | NeighbourScores) -> str:
    effect = abs(scenario.true_effect)
    differ = f"{100 * (0.5 + effect):.4g} % prefer it (ties counted half)"
    if _is_scored(scenario):
        differ = f"their mean scores differ by {effect:.4g}"
    return f"which of two neighbours is better if {differ}"


def _is_scored(scenario: NeighbourBattles | NeighbourScores) -> bool:
    from humeval_power.comparisons.rank.scenario import NeighbourScores

    return isinstance(scenario, NeighbourScores)


WORDING = Wording(
    "rank",
    _words,
    said=_said,
    finding=_finding,
    sized=lambda scenario: "items" if _is_scored(scenario) else "battles",
)


_TESTS = {
    "correction": own(
        word(PairTest),
        FIELDS["correction"].help,
        "Correction for all pairs",
        note=": by Holm's method, or stepping down by the law of the largest t, for many clusters.",
        words={"holm": "Holm", "max-t": "law of the largest t, for many clusters"},
        usual="holm",
    ),
    "only_system": own(
        text(metavar="NAME"),
        "Rank this system alone, named before the data were seen.",
        "One system alone",
        page_help="A system that was named before the data were seen.",
    ),
    "look": own(
        whole(1),
        LOOK_HELP,
        "Number of the look",
        note="at a living board; all looks together err with probability alpha. [that of the last board and one]",
        page_help="Of a living board: all looks together err with probability alpha. [that of the last board and "
        "one; without that one look]",
    ),
    "last_board": own(
        text("FILE", is_file=True),
        "Record of the board before this one, or its folder: its ranks stand beside those of now, and its look is "
        "counted. It holds no rows: give all of them.",
        "The last board",
        page_help="The record of the board before this one: its ranks stand beside those of now, and its look is "
        "counted. It holds no rows: give all of them.",
    ),
}
_SCORE_TESTS = {
    **_TESTS,
    "correction": own(
        word(BoardTest),
        FIELDS["correction"].help,
        "Correction for all pairs",
        note=": by Holm's method, or stepping down by the law of the largest t, for many clusters, or by random "
        "signs of the clusters, where their differences are symmetric.",
        words={
            "holm": "Holm",
            "max-t": "law of the largest t, for many clusters",
            "signs": "random signs of the clusters",
        },
        usual="holm",
    ),
}
SCORES = chain(
    ("rank", "scores"),
    """Rank systems by their mean scores on the same items.

    FILE has one row an item and one column a system, or the columns item,
    system, score; or it is a log of a harness, or a folder of these.
    """,
    CallStep("tables", "hp.compare.read_scores", SCORE_TABLE, "files", gives_first=True),
    CallStep(
        "result",
        "hp.rank.scores",
        {
            "lower_is_better": LOWER_SCORES,
            "tasks": own(
                word(Tasks),
                "Are the clusters a sample of tasks, or these all that matter?",
                "Tasks",
                words={"sampled": "a sample of tasks like these", "fixed": "these alone"},
                usual="sampled",
            ),
            "alpha": ALPHA,
            **_SCORE_TESTS,
            "seed": SEED,
        },
    ),
    page=Page(
        "A leaderboard of scores",
        "Systems by their mean scores on the same items: intervals of ranks, who may be first, tiers, the "
        "chance of being best.",
        (
            Part(
                "The scores",
                (
                    "files",
                    "systems",
                    "scores",
                    "cluster",
                    "tasks",
                    "lower_is_better",
                    "drop_missing",
                    "alpha",
                ),
            ),
            Part("The board", ("correction", "only_system", "last_board", "look"), folded=True),
            Part("Columns", ("item", "system"), folded=True),
        ),
        next=(
            Next(
                ("compare", "scores"),
                "Compare them in pairs",
                ("files", "systems", "score", "cluster", "item", "system", "drop-missing", "alpha"),
            ),
        ),
    ),
)
BATTLES = chain(
    ("rank", "battles"),
    """Rank systems by battles: Bradley and Terry's model with ties.

    TABLE has a battle a row: system_a (shown first, or left), system_b, winner
    (A, B, tie, or the name of the system), and perhaps worker or user, whose
    battles go together.
    """,
    CallStep(
        "table",
        "hp.rank.read_battles",
        {
            "table": own(
                text(),
                "",
                "Table of battles",
                needed=True,
                page_help="A battle a row: system_a (shown first, or left), system_b, winner (A, B, tie, or the "
                "name of the system), and perhaps worker or user.",
            ),
            "systems": SYSTEMS,
            "cluster": own(
                CLUSTER.kind,
                CLUSTER.help,
                "Whose battles go together",
                note="of battles, such as user, worker or session. [that of the worker]",
                page_help="The column of the user, the worker or the session. [that of the worker]",
            ),
            "covariates": own(
                text("COLUMN", many=True),
                FIELDS["covariates"].help,
                "Differences of style",
                note=": what outputs differ in, such as length; a column of differences, first less second, or "
                "NAME for NAME_a and NAME_b. Strengths are then at equal style.",
                page_help="Columns of differences, first less second, such as of length; or NAME for the columns "
                "NAME_a and NAME_b. Strengths are then at equal style.",
                option="covariate",
            ),
            "append": own(
                text("FILE", many=True, is_file=True),
                "A table of later battles, with the same columns; the last board counts the looks.",
                "Later battles",
                page_help="A table of later battles, with the same columns.",
            ),
        },
        "table",
    ),
    CallStep(
        "result",
        "hp.rank.battles",
        {
            "ties": own(
                word(BattleTies),
                "The model of ties.",
                "Ties",
                words={"davidson": "Davidson", "rao-kupper": "Rao and Kupper"},
                usual="davidson",
                option="tie-model",
            ),
            "position_bias": own(
                flag(off="no-position-bias"),
                "Do not estimate what being shown first adds.",
                "Leave out what being shown first adds",
                usual=True,
                option="no-position-bias",
            ),
            "alpha": ALPHA,
            **_TESTS,
            "seed": SEED,
        },
    ),
    page=Page(
        "A leaderboard of battles",
        "Outputs of two systems at a time, and which one won: strengths, intervals of ranks, the chance of being "
        "best.",
        (
            Part("The battles", ("table", "append", "systems", "cluster")),
            Part("The model", ("ties", "position_bias", "covariates", "alpha")),
            Part("The board", ("correction", "only_system", "last_board", "look"), folded=True),
        ),
    ),
)
_LARGEST = 0.45  # where the search for an effect of battles ends
_ASSUMED = {
    "n_systems": own(
        whole(2, largest=MOST_RANKED), FIELDS["n_systems"].help, note="on the leaderboard.", needed=True
    ),
    "tie_share": replace(TIE_SHARE, note="of equally strong systems."),
    "design_effect": own(
        real(), "Variance over that of independent battles; 'rank battles' finds it.", usual=1.0
    ),
    "sd": ITEM_DIFFERENCES,
    "alpha": ALPHA,
}


def _comparison(n: Value, effect: Value, given: Given) -> Call:
    """n battles; with --sd-difference n items that all systems answer."""
    shared = {"n_systems": given["n_systems"], "alpha": given["alpha"]}
    ties, design_effect = given["tie_share"], given["design_effect"]
    if given["sd"] is None:
        of_battles = {"tie_share": ties, "design_effect": design_effect}
        return call("hp.rank.NeighbourBattles", n, effect=effect, **of_battles, **shared)
    if ties != 0 or design_effect != 1:
        rule = "--sd-difference ranks by scores, and --tie-share and --design-effect are of battles."
        raise refusal(rule, "Leave out what is not meant.")
    return call("hp.rank.neighbour_scores", n, effect, sd=given["sd"], **shared)


def _range(given: Given) -> EffectRange:
    return PREFERENCES if given["sd"] is None else any_number(given)


QUESTIONS = Questions(
    "rank",
    WORDING,
    n=replace(
        SIZE_OF_SAMPLE,
        note=": battles of all systems together; items where the SD of their differences is given.",
    ),
    effect=replace(
        TRUE_EFFECT,
        note="of two neighbours: the share that prefers the better, ties half, minus 1/2; or the difference of "
        "their means, where the SD of the items' differences is given.",
    ),
    fields=_ASSUMED,
    comparison=_comparison,
    largest_effect=lambda given: _LARGEST if given["sd"] is None else 10.0 * float(given["sd"]),
    effect_range=_range,
)
SUBJECT = Subject(
    "rank",
    """Order systems, and say how sure the order is.

    By their scores on the same items, or by battles of two at a time: intervals
    of ranks, who may be first, groups or tiers, the chance of being the best.
    Before there are any: how many tell two neighbours apart?
    """,
    (SCORES, BATTLES, QUESTIONS),
)
command = SUBJECT.command()
