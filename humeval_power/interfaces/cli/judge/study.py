"""`humeval-power judge study`: how many human ratings a judge saves in a study of workers and items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.interfaces.cli.assumptions import (
    Sources,
    parameter_options,
    read_assumptions,
    scale_options,
)
from humeval_power.interfaces.cli.effect_options import TypedEffects, effect_options, warn_beyond
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber
from humeval_power.interfaces.cli.options import gaussian_rule_options
from humeval_power.interfaces.cli.required_options import Command, needs
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.study.options import only_setting, source_needed
from humeval_power.rules import DecisionRule
from humeval_power.scales import RatingScale

if TYPE_CHECKING:
    from humeval_power.reporting.judge.result import JudgeStudy


correlation_option = click.option(
    "--correlation",
    type=RealNumber(-1, 1),
    required=True,
    help="Correlation of the judge with what humans say; see above which.",
)
extra_option = click.option(
    "--extra", type=WholeNumber(min=0), required=True, help="Items scored by the judge alone."
)


@click.command("study", cls=Command)
@parameter_options
@scale_options
@click.option("--workers", type=WholeNumber(), required=True, help="Number of workers.")
@click.option("--items", type=WholeNumber(), required=True, help="Number of items that the workers rate.")
@click.option(
    "--ratings-per-item", type=WholeNumber(), help="Ratings of an item under each system. [every worker]"
)
@effect_options("True difference B - A on [0, 1].")
@extra_option
@correlation_option
@gaussian_rule_options
@with_result()
@source_needed
@needs("--effect or --effect-raw", ("effect", "effect_raw"))
def command(
    sources: Sources,
    scale: RatingScale | None,
    workers: int,
    items: int,
    ratings_per_item: int | None,
    effect: TypedEffects,
    extra: int,
    correlation: float,
    rule: DecisionRule,
) -> JudgeStudy:
    """How many human ratings does a judge save in a study of workers and items?

    The correlation is that of the judge's difference on an item with the
    item's true difference. The judge cannot foretell how workers differ, nor
    the noise of their ratings: what those contribute stays.
    """
    from humeval_power.api.judge import study

    assumed = read_assumptions(sources, scale)
    said = effect.one(assumed.scale)
    warn_beyond(assumed, [said])
    setting, parameters = only_setting(assumed)
    return study(
        parameters,
        workers=workers,
        items=items,
        effect=said,
        extra=extra,
        correlation=correlation,
        ratings_per_item=ratings_per_item,
        rule=rule,
        setting=setting,
    )
