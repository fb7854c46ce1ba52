"""`humeval-power size`: the fewest workers, items, documents or ratings per item for a target power."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

import click

from humeval_power.choices import SearchMethod, Sought
from humeval_power.interfaces.asking.command import StudyCommand, Use
from humeval_power.interfaces.asking.options import field_option
from humeval_power.interfaces.cli.adapting import one_pair_or_many
from humeval_power.interfaces.cli.assumptions import only_setting, source_needed
from humeval_power.interfaces.cli.categories import analysed_as, settled_once
from humeval_power.interfaces.cli.comparison_options import TypedFamily, comparison_options
from humeval_power.interfaces.cli.effect_options import (
    NO_DIFFERENCE,
    TypedEffects,
    effect_options,
    warn_beyond,
)
from humeval_power.interfaces.cli.options import power_target_option, rule_options
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.run import Run, with_run
from humeval_power.interfaces.cli.study.options import StudyOptions, load_settings, study_options
from humeval_power.interfaces.cli.study.systems import (
    TypedSystems,
    effect_needed,
    only_systems,
    typed_effects,
    typed_systems,
)
from humeval_power.interfaces.cli.systems_options import AskedSystems, systems_options
from humeval_power.rules import DecisionRule

if TYPE_CHECKING:
    from humeval_power.reporting.study.size import StudySize
    from humeval_power.reporting.study.systems_answers import SystemsSizeResult


def _sought(_said: Mapping[str, Any], typed: Mapping[str, Any]) -> tuple[str, ...]:
    return (str(typed.get("sought")).replace("-", "_"),)


@click.command("size", cls=StudyCommand, use=Use(seeks=_sought, adapts=one_pair_or_many))
@study_options
@click.option(
    "--find",
    "sought",
    type=click.Choice(get_args(Sought)),
    required=True,
    help="What to find; give the others (without --ratings-per-item every worker rates every item; for "
    "documents, --items-per-document or the --items of all).",
)
@field_option("workers")
@field_option("items")
@systems_options
@comparison_options
@effect_options(
    "True difference B - A on [0, 1] to be found; with --margin the one assumed. [0 with --margin]",
    latent=True,
)
@power_target_option
@rule_options
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
    study: StudyOptions,
    sought: Sought,
    workers: int | None,
    items: int | None,
    asked: AskedSystems,
    comparing: TypedFamily,
    effect: TypedEffects | None,
    target: float,
    rule: DecisionRule,
    method: SearchMethod,
    run: Run,
) -> StudySize | SystemsSizeResult:
    """The fewest workers, items, documents or ratings per item that reach the target.

    Found by formula and proved by simulation; a proof of more than a minute
    only with --simulations. Ends with 3, and the reason, if no practical number
    will do. Of several systems (--n-systems 8) the target is that of
    --goal.
    """
    several = typed_systems(study, asked, comparing, rule)
    if several is not None:
        return _of_systems(several, sought, workers, items, effect, target, method, run)
    from humeval_power.api.study_power import study_size
    from humeval_power.interfaces.cli.work_ahead import tell_work

    settings, said = settled_once(load_settings(study), study.shares, rule.link, effect or NO_DIFFERENCE)
    rule = analysed_as(rule, settings)
    name, parameters = only_setting(settings)
    warn_beyond(settings, [said])
    return study_size(
        parameters,
        sought,
        effect=said,
        workers=workers,
        items=items,
        ratings_per_item=None if sought == "ratings-per-item" else study.ratings_per_item,
        paired=study.paired,
        documents=study.typed_documents,
        power=target,
        rule=rule,
        method=method,
        n_simulations=run.typed,
        seed=run.seed,
        n_jobs=run.n_jobs,
        setting=name,
        scale=settings.scale,
        ahead=lambda work: tell_work(work, n_simulations=run.simulations()),
    )


def _of_systems(
    several: TypedSystems,
    sought: Sought,
    workers: int | None,
    items: int | None,
    effect: TypedEffects | None,
    target: float,
    method: SearchMethod,
    run: Run,
) -> SystemsSizeResult:
    if sought == "documents":
        raise click.UsageError("Several systems are planned for without documents: find workers or items.")
    missing = [
        f"--{name}"
        for name, value in (("workers", workers), ("items", items))
        if name != sought and value is None
    ]
    if missing:
        raise click.UsageError(f"Give {' and '.join(missing)}.")
    name, parameters = only_systems(several, typed_effects(several, effect))
    k, paired = several.study.ratings_per_item, several.study.paired
    per_item = None if sought == "ratings-per-item" else k
    most = workers or (2 if per_item is None else per_item + 1)  # more: not every worker rates every item
    if per_item is None and not paired:
        raise click.UsageError("Give --ratings-per-item: an unpaired study has that many for each output.")
    from humeval_power.api.systems_power import systems_size
    from humeval_power.designs import crossed
    from humeval_power.study_counts import StudyCounts

    any_size = crossed(2, 2, n_systems=parameters.n_systems)
    return systems_size(
        several.with_design(name, parameters, any_size),
        sought,
        StudyCounts(most, items or 2, per_item or most, paired, n_systems=parameters.n_systems),
        power=target,
        method=method,
        n_simulations=run.simulations(),
        seed=run.seed,
        n_jobs=run.n_jobs,
    )
