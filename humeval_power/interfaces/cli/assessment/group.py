"""`humeval-power assessment`: direct assessment, independent ratings on a long scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import click

from humeval_power.choices import USUAL_MEAN, USUAL_SD, Below, ScoreTest
from humeval_power.errors import InputError
from humeval_power.interfaces.cli.assessment.compared import command as compared
from humeval_power.interfaces.cli.assessment.decompose import command as decompose
from humeval_power.interfaces.cli.assessment.observed import command as observed
from humeval_power.interfaces.cli.family import (
    EffectRange,
    Family,
    Given,
    score_range,
)
from humeval_power.interfaces.cli.numbers import RealNumber
from humeval_power.interfaces.cli.options import alpha_option
from humeval_power.interfaces.cli.questions import question_commands
from humeval_power.reporting.assessment.wording import WORDING
from humeval_power.scales import RatingScale

if TYPE_CHECKING:
    from humeval_power.scenarios.assessment.scenario import DirectAssessment


_NEARLY_ALL = 0.9  # of the way from A's mean to the top: beyond, no Gamma law keeps the SD
_OPTIONS = (
    click.option(
        "--mean",
        type=RealNumber(),
        default=USUAL_MEAN,
        show_default=True,
        help="Mean rating of A.",
    ),
    click.option(
        "--sd",
        type=RealNumber(0, min_open=True),
        default=USUAL_SD,
        show_default=True,
        help="Standard deviation of single ratings.",
    ),
    click.option("--sd-b", type=RealNumber(0, min_open=True), help="The same of B. [as A]"),
    click.option("--scale", metavar="LOW:HIGH", default="0:100", show_default=True, help="The scale."),
    click.option(
        "--test",
        type=click.Choice(get_args(ScoreTest)),
        default="mann-whitney",
        show_default=True,
        help="The two-sided test.",
    ),
    click.option(
        "--below",
        type=click.Choice(get_args(Below)),
        default="leave",
        show_default=True,
        help="What becomes of simulated ratings below the scale.",
    ),
    click.option(
        "--no-continuity", is_flag=True, help="Mann-Whitney without the correction for continuity."
    ),
    alpha_option,
)


def _scenario(n: int, effect: float, given: Given) -> DirectAssessment:
    from humeval_power.scenarios.assessment.scenario import DirectAssessment

    scale = RatingScale.parse(given["scale"])
    return DirectAssessment(
        n,
        mean=given["mean"],
        sd=given["sd"],
        effect=effect,
        sd_b=given["sd_b"],
        test=given["test"],
        below=given["below"],
        low=scale.low,
        high=scale.high,
        alpha=given["alpha"],
        continuity=not given["no_continuity"],
    )


def _largest(given: Given) -> float:
    scale = RatingScale.parse(given["scale"])
    high = scale.high
    if not given["mean"] < high:
        raise InputError(f"A's mean rating must lie below the top of the scale {scale.low:g}:{high:g}.")
    return _NEARLY_ALL * (high - float(given["mean"]))


def _range(given: Given) -> EffectRange:
    scale = RatingScale.parse(given["scale"])
    return score_range(float(given["mean"]), scale.low, scale.high)


FAMILY = Family(
    wording=WORDING,
    options=_OPTIONS,
    build=_scenario,
    size_help="Ratings of each system.",
    effect_help="True difference of the mean ratings, B - A, in points.",
    largest_effect=_largest,
    effect_range=_range,
)

command = click.Group(
    "assessment",
    help="""Direct assessment: how many ratings find a difference of a point or two?

    Ratings are taken to be independent. Where the same annotators rate many
    segments of both systems, plan with 'power' and 'plan' instead.
    """,
)
for each in question_commands(FAMILY):
    command.add_command(each)
command.add_command(compared)
command.add_command(observed)
command.add_command(decompose)
