"""`humeval-power preference`: power of asking independent judges which of two outputs they prefer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

import click

from humeval_power.choices import ConditionalTest, Ties
from humeval_power.interfaces.cli.family import PREFERENCES, Family
from humeval_power.interfaces.cli.numbers import RealNumber
from humeval_power.interfaces.cli.options import alpha_option
from humeval_power.interfaces.cli.preference.panel import (
    is_panel,
    most_judgements,
    panel_options,
    panel_study,
)
from humeval_power.interfaces.cli.preference.test import test
from humeval_power.interfaces.cli.questions import question_commands
from humeval_power.reporting.preference.wording import WORDING

if TYPE_CHECKING:
    from humeval_power.scenarios.contract import Scenario


_NEARLY = 0.98  # of the largest preference: where the search for an effect of a panel ends

tie_share_option = click.option(
    "--tie-share",
    type=RealNumber(),
    default=0.0,
    show_default=True,
    help="Probability of a tie.",
)
ties_option = click.option(
    "--ties",
    type=click.Choice(get_args(Ties)),
    default="excluded",
    show_default=True,
    help="Leave ties out; count them half to each system with the variance of a study without ties "
    "(cautious); or keep them as 0 between -1 and +1.",
)
test_option = click.option(
    "--test",
    "test_name",
    type=click.Choice(get_args(ConditionalTest)),
    default="exact",
    show_default=True,
    help="The sign test, exact, with mid-p, or by the normal approximation.",
)


def build(n: int, effect: float, given: Mapping[str, Any]) -> Scenario:
    """The scenario of n judgements and a true preference: a panel where workers or items have several."""
    if is_panel(n, given):
        return panel_study(n, effect, given)
    from humeval_power.scenarios.preference.independent import Preference

    return Preference(
        n,
        preference=effect,
        tie_share=given["tie_share"],
        ties=given["ties"],
        test=given["test_name"],
        alpha=given["alpha"],
    )


def largest_effect(given: Mapping[str, Any]) -> float:
    """The preference if nobody preferred A; of a panel, whose strengths are finite, nearly that."""
    from humeval_power.scenarios.preference.independent import MOST_ENUMERATED, Preference

    if is_panel(MOST_ENUMERATED, given):
        return _NEARLY * (1 - float(given["tie_share"])) / 2
    return Preference(
        2, preference=0.0, tie_share=given["tie_share"], ties=given["ties"]
    ).largest_preference


def _costed_as(given: Mapping[str, Any]) -> str:
    from humeval_power.scenarios.preference.independent import MOST_ENUMERATED

    return "panel" if is_panel(MOST_ENUMERATED, given) else "preference"


FAMILY = Family(
    wording=WORDING,
    options=(tie_share_option, ties_option, test_option, *panel_options, alpha_option),
    build=build,
    size_help="Judgements.",
    effect_help="True share that prefers B, minus 1/2: 0.15 if 65 % do. Among judgements without a tie "
    "with --ties excluded, with ties counted half to each system otherwise and for a panel.",
    largest_effect=largest_effect,
    effect_range=lambda _given: PREFERENCES,
    costed_as=_costed_as,
    most=most_judgements,
)

command = click.Group(
    "preference",
    help="""Ask which of two outputs is better: head-to-head comparison.

    Power, minimum detectable effect and size: of the sign test for independent
    judgements with wins, losses and ties, and of a panel of workers who judge
    several items each. Tests of a finished comparison of either kind.
    """,
)
for _each in (*question_commands(FAMILY), test):
    command.add_command(_each)
