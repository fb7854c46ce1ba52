"""`humeval-power corpus`: comparisons by BLEU, chrF and other metrics of a whole test set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

import click

from humeval_power.choices import DEFAULT_FLIPS, PRESETS, FlipTest
from humeval_power.interfaces.cli.corpus.data import estimate, test
from humeval_power.interfaces.cli.family import Assumed, EffectRange, Family
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import alpha_option
from humeval_power.interfaces.cli.questions import question_commands
from humeval_power.reporting.corpus.wording import WORDING

if TYPE_CHECKING:
    from humeval_power.scenarios.corpus import CorpusStudy


LARGEST = 100.0  # points: metrics end there


def _build(n: int, effect: float, given: Mapping[str, Any]) -> CorpusStudy:
    from humeval_power.scenarios.corpus import CorpusStudy

    zero_share, scale = PRESETS[given["preset"]]
    return CorpusStudy(
        n,
        difference=effect,
        zero_share=zero_share if given["p0"] is None else given["p0"],
        scale=scale if given["b0"] is None else given["b0"],
        test=given["test"],
        n_flips=given["flips"],
        alpha=given["alpha"],
    )


FAMILY = Family(
    wording=WORDING,
    options=(
        click.option(
            "--preset",
            type=click.Choice(list(PRESETS)),
            default="card2020",
            show_default=True,
            metavar="NAME",
            help="P0 and b0 of BLEU from Card et al. (2020): the mean of their Table 3, a row of it, or their "
            f"example: {', '.join(PRESETS)}.",
        ),
        Assumed("--p0", "Share of sentences whose swap changes nothing. [of the preset]", "SHARE"),
        Assumed("--b0", "Laplace scale b0 of the other swaps. [of the preset]", "NUMBER"),
        click.option(
            "--test",
            type=click.Choice(get_args(FlipTest)),
            default="normal",
            show_default=True,
            help="P-values in simulations: from the normal distribution, or from random flips.",
        ),
        click.option(
            "--flips",
            type=WholeNumber(min=1),
            default=DEFAULT_FLIPS,
            show_default=True,
            help="Random flips of each simulated test set, with --test flips.",
        ),
        alpha_option,
    ),
    build=_build,
    size_help="Sentences in the test set.",
    effect_help="True difference B - A, in points of the metric.",
    largest_effect=lambda _given: LARGEST,
    effect_range=lambda _given: EffectRange(
        -LARGEST,
        LARGEST,
        f"the metric ends at {LARGEST:g} points, so that a difference lies between {-LARGEST:g} and {LARGEST:g}.",
        "The effect is in points of the metric, such as 1.5.",
    ),
)

command = click.Group(
    "corpus",
    help="""Compare two systems by BLEU or chrF: power, sizes, and the test itself.

    A metric of the whole corpus is no mean over sentences. Its test swaps the
    outputs of the two systems at random; power follows from what single swaps
    do (Card et al. 2020). Start with: humeval-power corpus estimate, on any two
    systems like yours.
    """,
)
for each in (*question_commands(FAMILY), estimate, test):
    command.add_command(each)
