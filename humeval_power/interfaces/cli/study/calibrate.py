"""`humeval-power calibrate`: how often tests find an effect where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.interfaces.asking.command import StudyCommand
from humeval_power.interfaces.asking.options import field_option
from humeval_power.interfaces.cli.categories import analysed_as, without_effect
from humeval_power.interfaces.cli.numbers import RealNumber
from humeval_power.interfaces.cli.options import rule_options, typed_scale
from humeval_power.interfaces.cli.output import note
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.run import Run, with_run
from humeval_power.interfaces.cli.study.options import (
    StudyOptions,
    likert_points,
    load_settings,
    study_options,
    typed_design,
)
from humeval_power.rules import DecisionRule

if TYPE_CHECKING:
    from humeval_power.reporting.study.calibration_result import CalibrationResult


@click.command("calibrate", cls=StudyCommand)
@study_options
@click.option(
    "--p",
    type=RealNumber(0, 1, min_open=True, max_open=True),
    help="A p-value that was found or is reported: how often chance alone gives that or less, and whether it is "
    "credible at --alpha.",
)
@field_option("workers", required=True)
@field_option("items", required=True)
@rule_options
@with_run
@with_result()
def command(
    study: StudyOptions, p: float | None, workers: int, items: int, rule: DecisionRule, run: Run
) -> CalibrationResult:
    """How often would a test find an effect where there is none?

    Your test and those that people commonly use decide the same simulated
    studies, in which the systems do not differ. A test of size 0.05 should find
    an effect in 5 % of them. --p 0.03 asks whether such a p-value is credible
    from so few workers: how many of the studies give it or less. Where no
    parameters are given, ratings vary as is typical, and as much as in the
    high-variance setting. With --margin the systems differ by just the margin,
    and equivalence or non-inferiority should be shown in 5 %.
    """
    from humeval_power.api.study import calibrate
    from humeval_power.interfaces.cli.work_ahead import tell_work
    from humeval_power.interfaces.formats.study.presets import typical_and_cautious
    from humeval_power.planning.study.calibration import usual_studies
    from humeval_power.planning.workload import study_workload

    if study.sources:
        known = load_settings(study)
    else:
        known = typical_and_cautious(typed_scale(study.scale, study.lower_is_better))
        typical, cautious = known.by_name
        note(f"{typical} is a typical fit of public ratings of texts, {cautious} the cautious end.")
    settings = without_effect(known, study.shares, rule.link)
    rule = analysed_as(rule, settings)
    design = typed_design(study, workers, items)
    total = run.simulations(min(map(usual_studies, settings.by_name.values())))
    work = study_workload(design, n_simulations=total * len(settings.by_name), n_jobs=run.slots)
    tell_work(work, n_simulations=total)
    return calibrate(
        settings.by_name,
        design,
        p=p,
        rule=rule,
        scale=settings.scale,
        n_simulations=total,
        seed=run.seed,
        response=study.response,
        points=likert_points(study, settings),
        n_jobs=run.n_jobs,
    )
