"""The one study that `power` and `mde` are asked about."""

from __future__ import annotations

from collections.abc import Sequence

import click

from humeval_power.asking.study_values import StudyValues
from humeval_power.assumptions import Assumptions
from humeval_power.differences import Difference
from humeval_power.rules import CARD2020, DecisionRule
from humeval_power.scales import RatingScale
from humeval_power.studies.power.surface import AnyStudy
from humeval_power.studies.power.systems_study import SystemsStudy
from humeval_power.studies.resolve import (
    CARD2020_UNIT,
    NO_DIFFERENCE,
    EffectInput,
    analysed_as,
    assumptions_of,
    design_of,
    effect_or_known,
    is_typical,
    only_setting,
    points_of,
    rating_study_of,
    settled,
    warn_beyond,
    without_effect,
)
from humeval_power.studies.resolve_systems import Systems, systems_of, tell_remarks


def typed_study(
    study: StudyValues, rule: DecisionRule, *, compat: str | None = None
) -> tuple[AnyStudy, str, Difference, RatingScale | None, Assumptions | None]:
    """The study, the name of its setting, the effect as it was understood, the scale, and all that may be assumed
    of its variances."""
    several = systems_of(study, rule)
    if several is not None:
        result, said, scale = study_of_several(several)
        return result, result.setting, said, scale, assumed_of_several(study, rule)
    settings = assumptions_of(study)
    effect = effect_or_known(study, settings) or NO_DIFFERENCE
    if compat and rule.margin is not None:
        raise click.UsageError("--compat card2020 tests for a difference: leave out --margin.")
    if compat:
        settings = without_effect(study, settings)
        value = CARD2020_UNIT * effect.coefficients(CARD2020_UNIT)[0]
        said = Difference(value, settings.scale, systems=settings.systems)
        rule = CARD2020
    else:
        settings, said = settled(study, settings, effect)[0]
        rule = analysed_as(study, rule, settings)
    name, parameters = only_setting(settings)
    warn_beyond(study, settings, [said])
    points = points_of(study, settings.scale)
    there = parameters.with_difference(said.value)
    about = rating_study_of(study, there, design_of(study), rule, points)
    return about, name, said, settings.scale, all_assumed(study, settings, effect)


def all_assumed(study: StudyValues, settings: Assumptions, effect: EffectInput) -> Assumptions:
    """All that may be assumed of the variances: both ends too where they are to be as usual."""
    if not is_typical(study):
        return settings
    return settled(study, assumptions_of(study, tell=False, usual=True), effect)[0][0]


def assumed_of_several(study: StudyValues, rule: DecisionRule) -> Assumptions | None:
    """Both ends of what is usual of the variances of several systems; None where they are chosen."""
    usual = systems_of(study, rule, usual=True) if is_typical(study) else None
    return None if usual is None else usual.sources


def study_of_several(
    several: Systems, effects: Sequence[float] | None = None
) -> tuple[SystemsStudy, Difference, RatingScale | None]:
    """The same of several systems, at the means that the study says or that a difference states."""
    tell_remarks(several)
    said = several.differences() if effects is None else ()
    study = several.of(*several.only([one.value for one in said] if effects is None else effects))
    effect = said[0] if said else Difference(study.effect, several.scale, systems=None)
    return study, effect, several.scale
