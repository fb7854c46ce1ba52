"""`humeval-power rank`: leaderboards with what they leave open, and how many data tell two neighbours apart."""

from __future__ import annotations

from humeval_power.asking.declared import Page, Part, Step, chain
from humeval_power.asking.expressions import Call, Value, call
from humeval_power.asking.form import Next
from humeval_power.asking.study_file import PREFERENCES, EffectRange, any_number
from humeval_power.asking.vocabulary import (
    ALPHA,
    CLUSTER,
    ITEM_DIFFERENCES,
    LOWER_SCORES,
    SCORE_TABLE,
    SEED,
    SYSTEMS,
)
from humeval_power.choices import MOST_RANKED, BattleTies, BoardTest, PairTest, Tasks
from humeval_power.comparisons.questions import Given, Questions, Subject
from humeval_power.comparisons.rank.wording import WORDING
from humeval_power.errors import InputError, Problem
from humeval_power.fields import flag, own, real, text, whole, word

_TESTS = {
    "test": own(
        word(PairTest),
        "Correction for all pairs: Holm's, or the law of the largest t, stepping down, for many clusters.",
        "Correction for all pairs",
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
        "Number of this look at a living board: all looks together err with probability alpha. [that of "
        "--last-board and one]",
        "Number of the look",
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
    "test": own(
        word(BoardTest),
        "Correction for all pairs: Holm's, or stepping down by the law of the largest t, for many clusters, or by "
        "random signs of the clusters, where their differences are symmetric.",
        "Correction for all pairs",
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
    Step("tables", "hp.compare.read_scores", SCORE_TABLE, "files", gives_first=True),
    Step(
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
            Part("The board", ("test", "only_system", "last_board", "look"), folded=True),
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
    Step(
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
                "Column of clusters of battles: user, worker, session. [that of the worker]",
                "Whose battles go together",
                page_help="The column of the user, the worker or the session. [that of the worker]",
            ),
            "covariates": own(
                text("COLUMN", many=True),
                "What outputs differ in, such as length: a column of differences, first less second, or NAME for "
                "NAME_a and NAME_b. Strengths are then at equal style.",
                "Differences of style",
                page_help="Columns of differences, first less second, such as of length; or NAME for the columns "
                "NAME_a and NAME_b. Strengths are then at equal style.",
                option="covariate",
            ),
            "append": own(
                text("FILE", many=True, is_file=True),
                "A table of later battles, with the same columns; --last-board counts the looks.",
                "Later battles",
                page_help="A table of later battles, with the same columns.",
            ),
        },
        "table",
    ),
    Step(
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
            Part("The board", ("test", "only_system", "last_board", "look"), folded=True),
        ),
    ),
)
_LARGEST = 0.45  # where the search for an effect of battles ends
_ASSUMED = {
    "n_systems": own(whole(2, largest=MOST_RANKED), "Systems on the leaderboard.", needed=True),
    "tie_share": own(real(), "Ties of systems as strong.", usual=0.0),
    "design_effect": own(
        real(), "Variance over that of independent battles; `rank battles` finds it.", usual=1.0
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
        raise InputError([Problem(rule, "Leave out what is not meant.")])
    return call("hp.rank.neighbour_scores", n, effect, sd=given["sd"], **shared)


def _range(given: Given) -> EffectRange:
    return PREFERENCES if given["sd"] is None else any_number(given)


QUESTIONS = Questions(
    "rank",
    WORDING,
    n=own(whole(2), "Battles of all systems together; with --sd-difference items."),
    effect=own(
        real(),
        "Share that prefers the better of two neighbours, ties half, minus 1/2; with --sd-difference the "
        "difference of their means, in the metric's units.",
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
