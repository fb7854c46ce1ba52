"""`humeval-power more calibrate`: how often tests find an effect where there is none."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

from humeval_power.asking.declared import study_command
from humeval_power.asking.output import note
from humeval_power.asking.run import Run
from humeval_power.asking.study_values import StudyValues, study_fields
from humeval_power.fields import BETWEEN, own
from humeval_power.studies.resolve import (
    analysed_as,
    assumptions_of,
    design_of,
    has_source,
    on_one_criterion,
    points_of,
    rule_of,
    scale_of,
    without_effect,
)
from humeval_power.studies.resolve_systems import Systems, systems_of, tell_remarks
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from humeval_power.studies.power.result_calibration import CalibrationResult


@study_command(
    ("calibrate",),
    {
        **study_fields(
            *("ratings", "variation", "systems", "design", "test"),
            but=("criterion", "correlated", "check_families", "pattern", "system_means", "goal"),
            pilot=FIELDS["pilot"],
            workers=replace(FIELDS["workers"], needed=True),
            items=replace(FIELDS["items"], needed=True),
        ),
        "p": own(
            BETWEEN,
            "A p-value that was found or is reported: how often chance alone gives that or less, and whether it is "
            "credible at the level of the test.",
        ),
    },
    simulates=True,
)
def command(study: StudyValues, p: float | None, run: Run) -> CalibrationResult:
    """How often would a test find an effect where there is none?

    Your test and those that people commonly use decide the same simulated
    studies, in which the systems do not differ. A test of size 0.05 should find
    an effect in 5 % of them. --p 0.03 asks whether such a p-value is credible
    from so few workers: how many of the studies give it or less. Where no
    parameters are given, ratings vary as is typical, and as much as in the
    high-variance setting. With --margin the systems differ by just the margin,
    and equivalence or non-inferiority should be shown in 5 %. With --n-systems 8,
    or names (--systems), it is how often any comparison of several systems finds
    a difference, with their correction and without.
    """
    from humeval_power.studies.power.calibration import usual_studies
    from humeval_power.studies.power.calls_drawn import calibrate
    from humeval_power.studies.power.files import typical_and_cautious
    from humeval_power.studies.power.typed import tell_work
    from humeval_power.studies.power.workload import study_workload

    study, rule = on_one_criterion(study, rule_of(study))
    usual = not has_source(study)
    if usual:
        known = typical_and_cautious(scale_of(study))
        typical, cautious = known.by_name
        note(f"{typical} is a typical fit of public ratings of texts, {cautious} the cautious end.")
        study = study.with_(preset=(typical, cautious))
    several = systems_of(study, rule)
    if several is not None:
        return _of_several(several, p, run)
    if not usual:
        known = assumptions_of(study)
    settings = without_effect(study, known)
    rule = analysed_as(study, rule, settings)
    design = design_of(study)
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
        points=points_of(study, settings.scale),
        n_jobs=run.n_jobs,
    )


def _of_several(several: Systems, p: float | None, run: Run) -> CalibrationResult:
    """Of systems whose means are all alike."""
    from humeval_power.studies.power.calibration import usual_studies
    from humeval_power.studies.power.calls_drawn import calibrate
    from humeval_power.studies.power.typed import tell_work

    tell_remarks(several)
    studies = [several.of(name, parameters) for name, parameters in several.settings.items()]
    total = run.simulations(min(map(usual_studies, several.settings.values())))
    parts = (one.workload(n_simulations=total, n_jobs=run.slots) for one in studies)
    tell_work(reduce(add, parts), n_simulations=total)
    about = studies[0]
    return calibrate(
        several.settings,
        about.design,
        p=p,
        rule=about.rule,
        family=about.family,
        scale=several.scale,
        n_simulations=total,
        seed=run.seed,
        response=about.response,
        points=about.points,
        n_jobs=run.n_jobs,
    )
