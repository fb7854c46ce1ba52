"""`humeval-power size`: the fewest workers, items, documents or ratings per item for a target power."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

import click

from humeval_power.choices import SearchMethod, Sought
from humeval_power.interfaces.asking.command import StudyCommand, Use
from humeval_power.interfaces.asking.options import field_option
from humeval_power.interfaces.asking.resolve import (
    NO_DIFFERENCE,
    analysed_as,
    assumptions_of,
    documents_of,
    effect_needed,
    effect_or_known,
    only_setting,
    rule_of,
    settled,
    source_needed,
    warn_beyond,
)
from humeval_power.interfaces.asking.resolve_systems import Systems, systems_of, tell_remarks
from humeval_power.interfaces.asking.study_values import StudyValues, study_fields
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.run import Run, with_run
from humeval_power.interfaces.cli.study.running import PILOT

if TYPE_CHECKING:
    from humeval_power.reporting.study.size import StudySize
    from humeval_power.reporting.study.systems_answers import SystemsSizeResult


def _sought(_said: Mapping[str, Any], typed: Mapping[str, Any]) -> tuple[str, ...]:
    return (str(typed.get("sought")).replace("-", "_"),)


@click.command("size", cls=StudyCommand, use=Use(seeks=_sought))
@study_fields(
    *("ratings", "variation", "effect", "systems", "design", "test"),
    but=("criteria", "criterion", "correlated", "check_families"),
    pilot=PILOT,
    power=field_option("power"),
)
@click.option(
    "--find",
    "sought",
    type=click.Choice(get_args(Sought)),
    required=True,
    help="What to find; give the others (without --ratings-per-item every worker rates every item; for "
    "documents, --items-per-document or the --items of all).",
)
@click.option(
    "--method",
    type=click.Choice(get_args(SearchMethod)),
    default="both",
    show_default=True,
    help="By formula at once, or proved by simulation too.",
)
@with_run
@with_result()
@source_needed
@effect_needed
def command(
    study: StudyValues, sought: Sought, method: SearchMethod, run: Run
) -> StudySize | SystemsSizeResult:
    """The fewest workers, items, documents or ratings per item that reach the target.

    Found by formula and proved by simulation; a proof of more than a minute
    only with --simulations. Ends with 3, and the reason, if no practical number
    will do. Of several systems (--n-systems 8) the target is that of
    --goal.
    """
    rule = rule_of(study)
    several = systems_of(study, rule)
    if several is not None:
        return _of_systems(several, sought, method, run)
    from humeval_power.api.study_power import study_size
    from humeval_power.interfaces.cli.work_ahead import tell_work

    known = assumptions_of(study)
    settings, said = settled(study, known, effect_or_known(study, known) or NO_DIFFERENCE)[0]
    rule = analysed_as(study, rule, settings)
    name, parameters = only_setting(settings)
    warn_beyond(settings, [said])
    return study_size(
        parameters,
        sought,
        effect=said,
        workers=study.workers,
        items=study.items,
        ratings_per_item=None if sought == "ratings-per-item" else study.ratings_per_item,
        paired=study.paired,
        documents=documents_of(study),
        power=study.power,
        rule=rule,
        method=method,
        n_simulations=run.typed,
        seed=run.seed,
        n_jobs=run.n_jobs,
        setting=name,
        scale=settings.scale,
        ahead=lambda work: tell_work(work, n_simulations=run.simulations()),
    )


def _of_systems(several: Systems, sought: Sought, method: SearchMethod, run: Run) -> SystemsSizeResult:
    study = several.study
    workers, items = study.workers, study.items
    if sought == "documents":
        raise click.UsageError("Several systems are planned for without documents: find workers or items.")
    missing = [
        f"--{name}"
        for name, value in (("workers", workers), ("items", items))
        if name != sought and value is None
    ]
    if missing:
        raise click.UsageError(f"Give {' and '.join(missing)}.")
    tell_remarks(several)
    name, parameters = several.only_at_differences()
    per_item = None if sought == "ratings-per-item" else study.ratings_per_item
    most = workers or (2 if per_item is None else per_item + 1)  # more: not every worker rates every item
    if per_item is None and not study.paired:
        raise click.UsageError("Give --ratings-per-item: an unpaired study has that many for each output.")
    from humeval_power.api.systems_power import systems_size
    from humeval_power.designs import crossed
    from humeval_power.study_counts import StudyCounts

    any_size = crossed(2, 2, n_systems=parameters.n_systems)
    return systems_size(
        several.with_design(name, parameters, any_size),
        sought,
        StudyCounts(most, items or 2, per_item or most, study.paired, n_systems=parameters.n_systems),
        power=study.power,
        method=method,
        n_simulations=run.simulations(),
        seed=run.seed,
        n_jobs=run.n_jobs,
    )
