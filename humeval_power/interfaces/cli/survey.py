"""`humeval-power survey`: what a collection of published comparisons reports, and could have found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.api.survey import USUAL_EFFECTS, survey
from humeval_power.interfaces.asking.command import StudyCommand
from humeval_power.interfaces.cli.assumptions import (
    Sources,
    parameter_options,
    read_assumptions,
    scale_options,
    source_needed,
)
from humeval_power.interfaces.cli.effect_options import TypedEffects, effect_options, warn_beyond
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import gaussian_rule_options
from humeval_power.interfaces.cli.results import with_result
from humeval_power.rules import DecisionRule
from humeval_power.scales import RatingScale

if TYPE_CHECKING:
    from humeval_power.reporting.survey.result import SurveyResult


@click.command("survey", cls=StudyCommand)
@click.argument("file", metavar="COMPARISONS")
@parameter_options
@scale_options
@effect_options("Differences on [0, 1] to ask the power for. [0.05,0.1,0.2]", many="0.05,0.1")
@click.option("--if-no-workers", type=WholeNumber(min=2), help="Assume so many where none is reported.")
@click.option("--if-no-items", type=WholeNumber(min=2), help="Assume so many where none is reported.")
@click.option("--if-no-ratings", type=WholeNumber(min=1), help="Ratings per item, where none is reported.")
@gaussian_rule_options
@with_result()
@source_needed
def command(
    file: str,
    sources: Sources,
    scale: RatingScale | None,
    effect: TypedEffects | None,
    if_no_workers: int | None,
    if_no_items: int | None,
    if_no_ratings: int | None,
    rule: DecisionRule,
) -> SurveyResult:
    """What do published comparisons report, and what could they have found?

    COMPARISONS is a table with a row for each comparison and any of the
    columns name, paper, effect, low and high (the scale), items, workers,
    ratings_per_item, p, type, tested and bold (yes or no). Cells may be
    blank: that is part of the question.
    """
    from humeval_power.interfaces.formats.survey import read_comparisons

    settings = read_assumptions(sources, scale)
    said = (effect or TypedEffects("--effect", USUAL_EFFECTS)).on(settings.scale)
    warn_beyond(settings, said)
    comparisons, notices = read_comparisons(file)
    assumed = {"workers": if_no_workers, "items": if_no_items, "ratings_per_item": if_no_ratings}
    return survey(
        comparisons,
        settings.by_name,
        effects=said,
        if_missing={name: number for name, number in assumed.items() if number is not None},
        rule=rule,
        remarks=notices,
    )
