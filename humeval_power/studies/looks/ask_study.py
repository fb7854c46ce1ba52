"""`humeval-power looks study`: a rating study that is looked at before its end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from humeval_power.asking.command import needs
from humeval_power.asking.declared import (
    CARRIED,
    EFFECT,
    SIZE,
    TO_PLAN,
    TO_POWER,
    VARIATION,
    Page,
    Part,
    costs,
    study_command,
)
from humeval_power.asking.output import note
from humeval_power.asking.run import Run
from humeval_power.asking.study_values import StudyValues, study_fields
from humeval_power.asking.vocabulary import LONG_RUN, ONE_SIDED
from humeval_power.errors import HumevalPowerError
from humeval_power.fields import own, word
from humeval_power.studies.resolve import (
    EffectInput,
    analysed_as,
    assumptions_of,
    design_of,
    effect_of,
    look_shares,
    looks_stopped,
    on_one_criterion,
    only_setting,
    points_of,
    prices_of,
    reasons_to_stop,
    rule_of,
    settled,
    source_needed,
    warn_beyond,
)
from humeval_power.studies.resolve_systems import Systems, systems_of
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from humeval_power.rules import DecisionRule
    from humeval_power.studies.looks.calibration import Calibrate
    from humeval_power.studies.looks.replicates import Looks
    from humeval_power.studies.looks.result import LooksStudyResult
    from humeval_power.studies.looks.result_dropping import DroppingResult
    from humeval_power.studies.looks.stopping_rule import StoppingRule

_BY_RATINGS = "These looks are simulated rating by rating, which may take a minute; see --simulations."


@study_command(
    ("looks", "study"),
    {
        **study_fields(
            *(
                "ratings",
                "variation",
                "effect",
                "systems",
                "design",
                "looks",
                "cost",
                "family",
                "link",
                "alpha",
            ),
            but=("criterion", "budget", "spend_budget"),
            pilot=FIELDS["pilot"],
            workers=replace(FIELDS["workers"], needed=True),
            items=replace(FIELDS["items"], needed=True),
            effect=replace(FIELDS["effect"], note="on [0, 1] to find."),
            looks=replace(FIELDS["looks"], usual="3", start="3"),
            alternative=ONE_SIDED,
        ),
        "calibrate": own(
            word(("auto", "always", "never")),
            "Correct the boundaries by simulation: if fewer than 10 workers are there at the first look.",
            "Correct the boundaries by simulation",
            usual="auto",
            further=True,
        ),
        "effects": LONG_RUN,
        "effects_raw": replace(LONG_RUN, help=FIELDS["effect_raw"].help, note=""),
    },
    simulates=True,
    needs=(
        source_needed,
        needs("--effect or --effect-raw", ("effect", "effect_raw", "effect_latent")),
    ),
    page=Page(
        "Looks before the end",
        "May one stop early, when the answer is clear? Boundaries, and what they cost.",
        (
            SIZE,
            EFFECT,
            Part("The looks", ("looks", "looks_by", "efficacy", "futility", "stop_when", "drop_systems")),
            VARIATION,
            *costs(),
        ),
        (
            TO_POWER,
            replace(
                TO_PLAN,
                label="Plan a study with looks",
                carries=(
                    *CARRIED,
                    "looks",
                    "looks-by",
                    "efficacy",
                    "futility",
                    "stop-when",
                    "drop-systems",
                ),
            ),
        ),
        journey="plan",
    ),
)
def command(
    study: StudyValues,
    calibrate: Calibrate,
    effects: tuple[float, ...] | None,
    effects_raw: tuple[float, ...] | None,
    run: Run,
) -> LooksStudyResult | DroppingResult:
    """Plan a rating study with looks before its end.

    Shows the information at each look, the boundaries, how often these and
    careless ones find what is not there, and the study's long run. With
    --n-systems 4, or names (--systems), every comparison of several systems has
    boundaries of its own, and the error is spent over looks and comparisons.
    With --stop-when "decision, half_width=0.15" an interval that holds at every
    look ends the study, and a table says what that takes, saves and costs. With
    --drop-systems looks drop systems that another one beats, and name the best.
    """
    from humeval_power.studies.looks import calls
    from humeval_power.studies.looks.replicates import RatingLooks
    from humeval_power.studies.power.typed import refuse_work, tell_work
    from humeval_power.studies.power.workload import study_workload

    study = looks_stopped(study)
    if study.drop_systems:
        study.refuse(
            ("criteria",), "would drop systems at looks of their own: leave them out, or --drop-systems."
        )
    study, rule = on_one_criterion(study, rule_of(study))
    stops = _stopping_rule(study, rule)
    if study.stop_when is not None and calibrate == "never":
        raise click.UsageError(
            "With --stop-when the levels are always calibrated: leave out --calibrate never."
        )
    several = systems_of(study, rule)
    if several is not None:
        if study.drop_systems:
            if calibrate == "never" or effects is not None or effects_raw is not None:
                raise click.UsageError(
                    "With --drop-systems the levels are always calibrated and the long run is of true means: leave "
                    "out --calibrate never, --effects and --effects-raw."
                )
            return _of_several(several, stops, calibrate, None, run)
        study.refuse(
            ("stop_when",),
            "is of one difference: leave it out, add --drop-systems, or compare two systems.",
        )
        return _of_several(several, stops, calibrate, _shown(effects, effects_raw), run)
    effect = effect_of(study)
    assert effect is not None  # asked for before
    settings, said = settled(study, assumptions_of(study), effect)[0]
    shown = _shown(effects, effects_raw)
    warn_beyond(study, settings, [said])
    rule = analysed_as(study, rule, settings)
    name, parameters = only_setting(settings)
    design = design_of(study)
    refuse_work(study_workload(design, n_simulations=1), n_simulations=1)
    at = _looks(study)
    source = RatingLooks(
        parameters.with_difference(said.value),
        design,
        at,
        rule,
        study.response,
        points_of(study, settings.scale),
    )
    drawn = source if study.stop_when is None else source.as_numbers()
    if not drawn.by_mean_squares:
        note(_BY_RATINGS)
    work = study_workload(
        source.design,
        n_simulations=run.simulations(),
        n_jobs=run.n_jobs,
        closed_form=drawn.by_mean_squares,
    )
    tell_work(work, n_simulations=run.simulations())
    return calls.study(
        source,
        stops,
        effects=None if shown is None else [each.value for each in shown.on(settings.scale)],
        cost=prices_of(study),
        calibration=calibrate,
        setting=name,
        said=said,
        n_simulations=run.typed,
        seed=run.seed,
        n_jobs=run.n_jobs,
        stop_when=reasons_to_stop(study, settings.scale),
        scale=settings.scale,
    )


def _of_several(
    several: Systems, stops: StoppingRule, calibrate: Calibrate, shown: EffectInput | None, run: Run
) -> LooksStudyResult | DroppingResult:
    """Looks at several systems at their means, which drop systems where the study says so."""
    from humeval_power.studies.looks import calls
    from humeval_power.studies.looks.systems_looks import SystemsLooks
    from humeval_power.studies.power.typed import tell_work

    study = several.study
    differences = several.differences()
    about = several.of(*several.only([one.value for one in differences]))
    source = SystemsLooks(
        about.parameters,
        about.design,
        _looks(study),
        about.family,
        about.rule,
        about.response,
        about.points,
    )
    if not source.by_sums:
        note(_BY_RATINGS)
    work = about.workload(n_simulations=source.n_looks * run.simulations(), n_jobs=run.n_jobs)
    tell_work(work, n_simulations=run.simulations())
    how: dict[str, Any] = {
        "goal": about.goal,
        "cost": prices_of(study),
        "setting": about.setting,
        "n_simulations": run.typed,
        "seed": run.seed,
        "n_jobs": run.n_jobs,
        "remarks": several.remarks,
    }
    if study.drop_systems:
        reasons = reasons_to_stop(study, several.scale)
        understood = str(differences[0]) if differences else None
        return calls.dropping(
            source, stops, stop_when=reasons, scale=several.scale, understood=understood, **how
        )
    effects = None if shown is None else [each.value for each in shown.on(several.scale)]
    said = differences[0] if differences else None
    how |= {"effects": effects, "calibration": calibrate, "scale": several.scale, "said": said}
    return calls.study(source, stops, **how)


def _looks(study: StudyValues) -> Looks:
    from humeval_power.studies.looks.replicates import Looks

    try:
        return Looks(study.looks_by, look_shares(study.looks))
    except HumevalPowerError as error:
        raise click.UsageError(str(error)) from None


def _shown(effects: tuple[float, ...] | None, points: tuple[float, ...] | None) -> EffectInput | None:
    if effects is not None and points is not None:
        raise click.UsageError(
            "Give --effects on [0, 1] or --effects-raw in points of the scale; one of them."
        )
    if points is not None:
        return EffectInput("--effects-raw", points, raw=True)
    return None if effects is None else EffectInput("--effects", effects)


def _stopping_rule(study: StudyValues, rule: DecisionRule) -> StoppingRule:
    from humeval_power.studies.looks.stopping_rule import StoppingRule, efficacy_of, futility_of

    try:
        return StoppingRule(
            efficacy_of(study.efficacy), futility_of(study.futility), rule.alpha, study.alternative
        )
    except HumevalPowerError as error:
        raise click.UsageError(str(error)) from None
