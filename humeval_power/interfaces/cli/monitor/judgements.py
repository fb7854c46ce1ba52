"""Independent judgements for a look: read by the plan, with the options of tables that have a meaning for them."""

from __future__ import annotations

import click

from humeval_power.interfaces.asking.study_values import StudyValues
from humeval_power.interfaces.cli.output import note
from humeval_power.planning.looks.judgement_plan import JudgementPlan
from humeval_power.planning.monitor.observations import Observations, paired_remarks


def load_observations(path: str, plan: JudgementPlan, study: StudyValues) -> Observations:
    """Read the judgements of a look; notices go to standard error.

    Raises
    ------
    InputError
        All problems of the table at once.
    """
    from humeval_power.interfaces.formats.monitor.observations import read_observations

    _refuse_options(study)
    named = {role: getattr(study, role) for role in ("worker", "item", "system", "rating")}
    seen = read_observations(path, plan, named=named, systems=study.pair, rejected_rows=study.rejected_rows)
    for notice in (*seen.notices, *paired_remarks(seen)):
        note(f"{seen.source}: {notice}")
    return seen


def _refuse_options(study: StudyValues) -> None:
    """Refuse what says nothing about independent judgements, so that nothing typed is lost."""
    given = study.options_of(("scale", "lower_is_better", "criterion", "criterion_column", "missing"))
    if given:
        raise click.UsageError(
            f"The plan is of looks at independent judgements, which have no scale and one criterion: leave out "
            f"{', '.join(given)}."
        )
