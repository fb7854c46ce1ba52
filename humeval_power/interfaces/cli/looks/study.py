"""`humeval-power looks study`: a rating study that is looked at before its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.errors import HumevalPowerError
from humeval_power.fields import listed, number_list, own, word
from humeval_power.interfaces.asking.command import StudyCommand
from humeval_power.interfaces.asking.options import FurtherOption, field_option, made_option
from humeval_power.interfaces.asking.resolve import (
    EffectInput,
    analysed_as,
    assumptions_of,
    design_of,
    effect_needed,
    effect_of,
    look_shares,
    only_setting,
    points_of,
    prices_of,
    rule_of,
    settled,
    source_needed,
    warn_beyond,
)
from humeval_power.interfaces.asking.resolve_systems import Systems, systems_of
from humeval_power.interfaces.asking.study_values import StudyValues, study_fields
from humeval_power.interfaces.cli.output import note
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.run import Run, with_run
from humeval_power.interfaces.cli.study.running import PILOT

if TYPE_CHECKING:
    from humeval_power.inference.looks.stopping_rule import StoppingRule
    from humeval_power.planning.looks.calibration import Calibrate
    from humeval_power.reporting.looks.results import LooksStudyResult
    from humeval_power.reporting.looks.systems import LooksSystemsResult
    from humeval_power.scenarios.looks.looks import Looks

_EFFECTS = listed(number_list(float), "0,0.1")


@click.command("study", cls=StudyCommand)
@study_fields(
    *("ratings", "variation", "effect", "systems", "design", "looks", "cost", "family", "link", "alpha"),
    but=("criteria", "criterion", "correct_over", "budget", "spend_budget"),
    pilot=PILOT,
    workers=field_option("workers", required=True, help="Number of workers at the end."),
    items=field_option("items", required=True, help="Number of items at the end."),
    effect=field_option("effect", help="True difference B - A on [0, 1] to find."),
    looks=field_option("looks", usual="3"),
    alternative=field_option(
        "alternative",
        kind=word(("two-sided", "greater")),
        help="What to show: a difference in either direction, or B better than A.",
    ),
)
@click.option(
    "--calibrate",
    cls=FurtherOption,
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Correct the boundaries by simulation: if fewer than 10 workers are there at the first look.",
)
@made_option(
    own(_EFFECTS, "True effects for the table of the long run. [none, half and all of --effect]"),
    "--effects",
    "effects",
)
@made_option(own(_EFFECTS, "The same in points of the scale; see --scale."), "--effects-raw", "effects_raw")
@with_run
@with_result()
@source_needed
@effect_needed
def command(
    study: StudyValues,
    calibrate: Calibrate,
    effects: tuple[float, ...] | None,
    effects_raw: tuple[float, ...] | None,
    run: Run,
) -> LooksStudyResult | LooksSystemsResult:
    """Plan a rating study with looks before its end.

    Shows the information at each look, the boundaries, how often these and
    careless ones find what is not there, and the study's long run. With
    --n-systems 4, or names (--systems), every comparison of several systems has
    boundaries of its own, and the error is spent over looks and comparisons.
    """
    from humeval_power.api import looks as api
    from humeval_power.interfaces.cli.work_ahead import refuse_work, tell_work
    from humeval_power.planning.workload import study_workload
    from humeval_power.scenarios.looks.ratings import RatingLooks

    rule, stops = rule_of(study), _stopping_rule(study)
    several = systems_of(study, rule)
    if several is not None:
        return _of_systems(several, stops, calibrate, _shown(effects, effects_raw), run)
    effect = effect_of(study)
    assert effect is not None  # asked for before
    settings, said = settled(study, assumptions_of(study), effect)[0]
    shown = _shown(effects, effects_raw)
    warn_beyond(settings, [said])
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
    if not source.by_mean_squares:
        note("These looks are simulated rating by rating, which may take a minute; see --simulations.")
    work = study_workload(
        source.design,
        n_simulations=run.simulations(),
        n_jobs=run.n_jobs,
        closed_form=source.by_mean_squares,
    )
    tell_work(work, n_simulations=run.simulations())
    return api.study(
        source,
        stops,
        effects=None if shown is None else [each.value for each in shown.on(settings.scale)],
        cost=prices_of(study),
        calibration=calibrate,
        setting=name,
        understood=str(said),
        n_simulations=run.typed,
        seed=run.seed,
        n_jobs=run.n_jobs,
    )


def _of_systems(
    several: Systems, stops: StoppingRule, calibrate: Calibrate, shown: EffectInput | None, run: Run
) -> LooksSystemsResult:
    """Looks at several systems at their means."""
    from humeval_power.api import looks as api
    from humeval_power.interfaces.cli.work_ahead import tell_work
    from humeval_power.scenarios.looks.systems import SystemsLooks

    differences = several.differences()
    about = several.of(*several.only([one.value for one in differences]))
    source = SystemsLooks(
        about.parameters,
        about.design,
        _looks(several.study),
        about.family,
        about.rule,
        about.response,
        about.points,
    )
    if not source.by_sums:
        note("These looks are simulated rating by rating, which may take a minute; see --simulations.")
    work = about.workload(n_simulations=source.n_looks * run.simulations(), n_jobs=run.n_jobs)
    tell_work(work, n_simulations=run.simulations())
    return api.systems(
        source,
        stops,
        goal=about.goal,
        effects=None if shown is None else [each.value for each in shown.on(several.scale)],
        cost=prices_of(several.study),
        calibration=calibrate,
        setting=about.setting,
        understood=str(differences[0]) if differences else None,
        n_simulations=run.typed,
        seed=run.seed,
        n_jobs=run.n_jobs,
        remarks=several.remarks,
    )


def _looks(study: StudyValues) -> Looks:
    from humeval_power.scenarios.looks.looks import Looks

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


def _stopping_rule(study: StudyValues) -> StoppingRule:
    from humeval_power.inference.looks.stopping_rule import StoppingRule
    from humeval_power.inference.looks.stopping_words import efficacy_of, futility_of

    try:
        return StoppingRule(
            efficacy_of(study.efficacy), futility_of(study.futility), study.alpha, study.alternative
        )
    except HumevalPowerError as error:
        raise click.UsageError(str(error)) from None
