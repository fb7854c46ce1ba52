"""`humeval-power survey`: what a collection of published comparisons reports, and could have found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.api.survey import USUAL_EFFECTS, survey
from humeval_power.fields import listed, number_list
from humeval_power.interfaces.asking.command import StudyCommand
from humeval_power.interfaces.asking.options import field_option
from humeval_power.interfaces.asking.resolve import (
    EFFECT_RANGE,
    EffectInput,
    assumptions_of,
    effect_of,
    rule_of,
    source_needed,
    warn_beyond,
)
from humeval_power.interfaces.asking.study_values import StudyValues, study_fields
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.results import with_result

if TYPE_CHECKING:
    from humeval_power.reporting.survey.result import SurveyResult


_LIST = listed(number_list(float), "LIST")


@click.command("survey", cls=StudyCommand)
@click.argument("file", metavar="COMPARISONS")
@study_fields(
    *("variation", "scale", "lower_is_better", "test"),
    but=("family", "link", "correlated", "check_families"),
    effect_range=field_option(
        "effect_range",
        kind=_LIST,
        help="Differences on [0, 1] to ask the power for. [0.05,0.1,0.2]",
    ),
    effect_raw_range=field_option(
        "effect_raw_range", kind=_LIST, help="The same in points of the scale; see --scale."
    ),
)
@click.option("--if-no-workers", type=WholeNumber(min=2), help="Assume so many where none is reported.")
@click.option("--if-no-items", type=WholeNumber(min=2), help="Assume so many where none is reported.")
@click.option("--if-no-ratings", type=WholeNumber(min=1), help="Ratings per item, where none is reported.")
@with_result()
@source_needed
def command(
    file: str,
    study: StudyValues,
    if_no_workers: int | None,
    if_no_items: int | None,
    if_no_ratings: int | None,
) -> SurveyResult:
    """What do published comparisons report, and what could they have found?

    COMPARISONS is a table with a row for each comparison and any of the
    columns name, paper, effect, low and high (the scale), items, workers,
    ratings_per_item, p, type, tested and bold (yes or no). Cells may be
    blank: that is part of the question.
    """
    from humeval_power.interfaces.formats.survey import read_comparisons

    settings = assumptions_of(study)
    effect = effect_of(study, EFFECT_RANGE) or EffectInput("--effect", USUAL_EFFECTS)
    said = effect.on(settings.scale)
    warn_beyond(settings, said)
    comparisons, notices = read_comparisons(file)
    assumed = {"workers": if_no_workers, "items": if_no_items, "ratings_per_item": if_no_ratings}
    return survey(
        comparisons,
        settings.by_name,
        effects=said,
        if_missing={name: number for name, number in assumed.items() if number is not None},
        rule=rule_of(study),
        remarks=notices,
    )
