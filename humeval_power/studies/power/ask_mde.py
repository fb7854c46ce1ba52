"""`humeval-power mde`: the smallest effect that a study of this size can find, or margin it can show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from humeval_power.asking.command import Use
from humeval_power.asking.declared import (
    SIZE,
    TO_PLAN,
    TO_POWER,
    TO_SIZE,
    VARIATION,
    Page,
    Part,
    study_command,
)
from humeval_power.asking.options import option_of
from humeval_power.asking.run import Run
from humeval_power.asking.study_values import StudyValues, study_fields
from humeval_power.asking.vocabulary import METHOD
from humeval_power.choices import Method
from humeval_power.fields import own, real
from humeval_power.rules import WITH_MARGIN
from humeval_power.studies.resolve import EFFECT, on_one_criterion, rule_of, source_needed
from humeval_power.studies.resolve_systems import systems_of
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from humeval_power.studies.power.result_size import StudyDetectable
    from humeval_power.studies.power.strategies import AnyStudy

_TO_START = 0.1  # the difference of a pattern, from which the answer is found in proportion


def _sought(said: Mapping[str, Any], typed: Mapping[str, Any]) -> tuple[str, ...]:
    """The effect; or the margin, at the effect that the study says."""
    if (typed.get("alternative") or said.get("alternative")) in WITH_MARGIN:
        return ("margin", "margin_raw")
    return (*EFFECT, "margin", "margin_raw")


def _refuse_margin(_ctx: click.Context, _option: click.Parameter, value: float | None) -> None:
    if value is not None:
        raise click.UsageError(
            "The margin is what this command finds: leave out --margin and --margin-raw."
        )


_MARGIN = own(
    real(), "The margin, which is what is sought.", hidden=True
)  # known, so that it can be explained
_AT: dict[str, Any] = {"start": "", "slider": None}


@study_command(
    ("mde",),
    {
        **study_fields(
            *("ratings", "variation", "systems", "design", "test"),
            but=("criterion", "correlated", "check_families", "margin", "margin_raw"),
            pilot=FIELDS["pilot"],
            workers=replace(FIELDS["workers"], needed=True),
            items=replace(FIELDS["items"], needed=True),
            effect=replace(
                FIELDS["effect"],
                note="on [0, 1] at which the smallest margin is sought, for non-inferior and equivalent. [0]",
                **_AT,
            ),
            effect_raw=replace(FIELDS["effect_raw"], **_AT),
            power=FIELDS["power"],
        ),
        "method": METHOD,
    },
    use=Use(seeks=_sought),
    simulates=True,
    needs=(
        source_needed,
        *(
            option_of(name, _MARGIN, callback=_refuse_margin, exposed=False)
            for name in ("margin", "margin_raw")
        ),
    ),
    page=Page(
        "Smallest difference found",
        "Which difference does a study of this size find, with the power that you want?",
        (
            Part(SIZE.title, (*SIZE.fields, "power", "scale")),
            VARIATION,
            Part(
                "The true difference, where a margin is sought",
                ("effect_raw", "effect"),
                "Only to show that two systems are equivalent, or one not inferior.",
                folded=True,
                one_of=("effect_raw", "effect"),
            ),
        ),
        (replace(TO_POWER, sets={"effect": "0.1"}), TO_SIZE, TO_PLAN),
        journey="plan",
        live={"method": "analytic"},
    ),
)
def command(study: StudyValues, method: Method, run: Run) -> StudyDetectable:
    """The smallest effect that a study of this size finds with the target power.

    A difference B - A on [0, 1]; by formula, and proved by simulation. With
    --alternative equivalent or non-inferior it is the smallest margin that such
    a study shows where the true difference is --effect. Of several systems
    (--n-systems 8) it is the difference by which --pattern states their means.
    """
    rule = rule_of(study, margin=1.0 if study.alternative in WITH_MARGIN else None)
    from humeval_power.studies.power.calls import study_detectable
    from humeval_power.studies.power.typed import assumed_of_several, study_of_several, typed_study
    from humeval_power.studies.power.workload import SEARCH_STEPS

    study, rule = on_one_criterion(study, rule)
    several = systems_of(study, rule)
    about: AnyStudy
    if several is not None:
        study.refuse(EFFECT, "is the difference between systems, which is sought: leave it out.")
        unequal = all(len(set(one.means)) > 1 for one in several.settings.values())
        known = study.system_means is not None or (unequal and study.pattern is None)
        of_several, said, scale = study_of_several(several, () if known else (_TO_START,))
        about, setting, assumed = of_several, of_several.setting, assumed_of_several(study, rule)
    else:
        if rule.margin is None:
            remedy = "it belongs to --alternative non-inferior and equivalent."
            study.refuse((*EFFECT, "system_means"), f"is what is sought: {remedy}")
        about, setting, said, scale, assumed = typed_study(study, rule)
    if method != "analytic" or not about.has_formula:
        from humeval_power.studies.power.typed import tell_studies

        tell_studies([about], run, times=SEARCH_STEPS)
    return study_detectable(
        about,
        power=study.power,
        method=method,
        n_simulations=run.simulations(),
        seed=run.seed,
        n_jobs=run.n_jobs,
        setting=setting,
        assumed=assumed,
        said=said,
        scale=scale,
    )
