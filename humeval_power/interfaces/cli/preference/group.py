"""`humeval-power preference`: power of asking independent judges which of two outputs they prefer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import click

from humeval_power.inference.mcnemar import ConditionalTest
from humeval_power.inference.preference.sign_test import Ties
from humeval_power.interfaces.cli.family import PREFERENCES, Family
from humeval_power.interfaces.cli.numbers import RealNumber
from humeval_power.interfaces.cli.options import alpha_option
from humeval_power.interfaces.cli.preference.panel import (
    is_panel,
    most_judgements,
    panel_effect_words,
    panel_options,
    panel_study,
    panel_words,
)
from humeval_power.interfaces.cli.preference.test import test
from humeval_power.interfaces.cli.questions import question_commands
from humeval_power.scenarios.contract import Scenario
from humeval_power.scenarios.preference.independent import MOST_ENUMERATED, Preference
from humeval_power.scenarios.preference.panel import PanelPreference

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
    if is_panel(MOST_ENUMERATED, given):
        return _NEARLY * (1 - float(given["tie_share"])) / 2
    return Preference(
        2, preference=0.0, tie_share=given["tie_share"], ties=given["ties"]
    ).largest_preference


def preference_words(scenario: Preference) -> str:
    """The true preference as a share of judges."""
    effect = scenario.true_effect
    counted = ""
    if scenario.tie_share > 0:
        counted = " of those without a tie" if scenario.ties == "excluded" else ", ties counted half"
    return f"{effect:.4g}, that is {100 * (0.5 + effect):.4g} % prefer B{counted}"


def words(scenario: Scenario) -> list[str]:
    """What is asked, for people."""
    if isinstance(scenario, PanelPreference):
        return panel_words(scenario)
    assert isinstance(scenario, Preference)
    lines = [
        f"{scenario.n_judgements:,} judgements, each of another worker on another item (independent)",
        f"prefers B {scenario.win_share:.4g}, tie {scenario.tie_share:.4g}, prefers A "
        f"{scenario.loss_share:.4g}",
        f"sign test ({scenario.test}), two-sided, alpha {scenario.alpha:g}; ties {scenario.ties}",
    ]
    if scenario.tie_share > 0:
        meant = (
            "the effect is the share that prefers B among those without a tie, minus 1/2: report the ties too"
            if scenario.ties == "excluded"
            else "the effect is the share that prefers B, ties counted half, minus 1/2"
        )
        lines.append(meant)
    return lines


def _said(scenario: Scenario) -> str:
    if isinstance(scenario, PanelPreference):
        return panel_effect_words(scenario)
    assert isinstance(scenario, Preference)
    return preference_words(scenario)


FAMILY = Family(
    name="preference",
    options=(tie_share_option, ties_option, test_option, *panel_options, alpha_option),
    build=build,
    size_help="Judgements.",
    effect_help="True share that prefers B, minus 1/2: 0.15 if 65 % do. Among judgements without a tie "
    "with --ties excluded, with ties counted half to each system otherwise and for a panel.",
    largest_effect=largest_effect,
    words=words,
    effect_range=lambda _given: PREFERENCES,
    said=_said,
    costed_as=lambda given: "panel" if is_panel(MOST_ENUMERATED, given) else "preference",
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
