"""Before there are scores: how many items, and what power."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from humeval_power.interfaces.cli.compare.options import direction_option
from humeval_power.interfaces.cli.family import Family
from humeval_power.interfaces.cli.numbers import RealNumber
from humeval_power.interfaces.cli.options import alpha_option, power_target_option
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result
from humeval_power.reporting.compare.wording import WORDING

if TYPE_CHECKING:
    from humeval_power.reporting.compare.prospective import ProspectiveResult
    from humeval_power.scenarios.contract import Scenario


_sd = click.option(
    "--sd",
    type=RealNumber(min=0, min_open=True),
    required=True,
    help="SD of the items' differences B - A.",
)


def _build(n: int, effect: float, given: Mapping[str, Any]) -> Scenario:
    from humeval_power.scenarios.compare.scores import NormalScores

    return NormalScores(n, effect, given["sd"], given["test"], given["direction"], given["alpha"])


FAMILY = Family(
    wording=WORDING,
    options=(
        _sd,
        click.option(
            "--test",
            type=click.Choice(("t", "wilcoxon")),
            default="t",
            show_default=True,
            help="The test that will be used.",
        ),
        direction_option,
        alpha_option,
    ),
    build=_build,
    size_help="Items of the test set.",
    effect_help="True mean difference B - A, in the metric's units.",
    largest_effect=lambda given: 10.0 * float(given["sd"]),
)


@click.command("prospective", cls=Command)
@click.option("--mean", type=RealNumber(), required=True, help="Expected mean difference B - A.")
@_sd
@power_target_option
@direction_option
@alpha_option
@click.option(
    "--margin", type=RealNumber(), help="Show equivalence within this margin instead of a difference."
)
@with_result()
def prospective_command(
    mean: float, sd: float, target: float, direction: Any, alpha: float, margin: float | None
) -> ProspectiveResult:
    """How many items does the comparison need?

    For the paired t test, by formula: differences are taken as normal. With
    --margin for two one-sided t tests of equivalence, where --mean is the true
    difference, 0 at best.
    """
    from humeval_power.api import compare

    return compare.prospective(mean, sd=sd, power=target, direction=direction, alpha=alpha, margin=margin)
