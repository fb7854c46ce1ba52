"""`humeval-power more survey`: what a collection of published comparisons reports, and could have found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from humeval_power.asking.declared import study_command
from humeval_power.asking.study_values import StudyValues, study_fields
from humeval_power.comparisons.survey.calls import USUAL_EFFECTS, survey
from humeval_power.fields import own, text, whole
from humeval_power.studies.resolve import (
    EFFECT_RANGE,
    EffectInput,
    assumptions_of,
    effect_of,
    rule_of,
    source_needed_but_no_pilot,
    warn_beyond,
)
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from humeval_power.comparisons.survey.result import SurveyResult


@study_command(
    ("survey",),
    {
        "table": own(text("TABLE"), "", needed=True),
        **study_fields(
            *("variation", "scale", "lower_is_better", "test"),
            but=("family", "link", "correlated", "check_families"),
            effect_range=replace(
                FIELDS["effect_range"],
                note="on [0, 1] to ask the power for. [0.05,0.1,0.2]",
            ),
            effect_raw_range=FIELDS["effect_raw_range"],
        ),
        "if_no_workers": own(whole(2), "Assume so many where none is reported."),
        "if_no_items": own(whole(2), "Assume so many where none is reported."),
        "if_no_ratings": own(whole(1), "Ratings per item, where none is reported."),
    },
    arguments=("table",),
    needs=(source_needed_but_no_pilot,),
)
def command(
    table: str,
    study: StudyValues,
    if_no_workers: int | None,
    if_no_items: int | None,
    if_no_ratings: int | None,
) -> SurveyResult:
    """What do published comparisons report, and what could they have found?

    TABLE has a row for each comparison and any of the columns name, paper,
    effect, low and high (the scale), items, workers, ratings_per_item, p, type,
    tested and bold (yes or no). Cells may be blank: that is part of the
    question.
    """
    from humeval_power.comparisons.survey.survey import read_comparisons

    settings = assumptions_of(study)
    effect = effect_of(study, EFFECT_RANGE) or EffectInput("--effect", USUAL_EFFECTS)
    said = effect.on(settings.scale)
    warn_beyond(study, settings, said)
    comparisons, notices = read_comparisons(table)
    assumed = {"workers": if_no_workers, "items": if_no_items, "ratings_per_item": if_no_ratings}
    return survey(
        comparisons,
        settings.by_name,
        effects=said,
        if_missing={name: number for name, number in assumed.items() if number is not None},
        rule=rule_of(study),
        remarks=notices,
    )
