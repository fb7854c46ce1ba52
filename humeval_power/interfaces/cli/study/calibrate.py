"""`humeval-power calibrate`: how often tests find an effect where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.interfaces.cli.categories import analysed_as, without_effect
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import rule_options
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.run import Run, with_run
from humeval_power.interfaces.cli.study.options import (
    StudyOptions,
    likert_points,
    load_settings,
    only_setting,
    source_needed,
    study_options,
    typed_design,
)
from humeval_power.rules import DecisionRule

if TYPE_CHECKING:
    from humeval_power.reporting.study.calibration_result import CalibrationResult


@click.command("calibrate", cls=Command)
@study_options
@click.option("--workers", type=WholeNumber(), required=True, help="Number of workers.")
@click.option("--items", type=WholeNumber(), required=True, help="Number of items.")
@rule_options
@with_run
@with_result()
@source_needed
def command(
    study: StudyOptions, workers: int, items: int, rule: DecisionRule, run: Run
) -> CalibrationResult:
    """How often would a test find an effect where there is none?

    Your test and those that people commonly use decide the same simulated
    studies, in which the systems do not differ. A test of size 0.05 should find
    an effect in 5 % of them. With --margin the systems differ by just the
    margin, and equivalence or non-inferiority should be shown in 5 %.
    """
    from humeval_power.api.study import calibrate
    from humeval_power.interfaces.cli.work_ahead import tell_work
    from humeval_power.planning.study.calibration import usual_studies
    from humeval_power.planning.workload import study_workload

    settings = without_effect(load_settings(study), study.shares, rule.link)
    rule = analysed_as(rule, settings)
    setting, parameters = only_setting(settings)
    design = typed_design(study, workers, items)
    total = run.simulations(usual_studies(parameters))
    tell_work(study_workload(design, n_simulations=total, n_jobs=run.slots), n_simulations=total)
    return calibrate(
        parameters,
        design,
        rule=rule,
        setting=setting,
        scale=settings.scale,
        n_simulations=total,
        seed=run.seed,
        response=study.response,
        points=likert_points(study, settings),
        n_jobs=run.n_jobs,
    )
