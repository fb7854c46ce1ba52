"""`humeval-power power`: how often a study of this size finds an effect of this size."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import click

from humeval_power.choices import Exclusion, Method
from humeval_power.differences import Difference
from humeval_power.interfaces.asking.command import StudyCommand, Use
from humeval_power.interfaces.asking.options import field_option
from humeval_power.interfaces.cli.adapting import one_pair_or_many
from humeval_power.interfaces.cli.assumptions import source_needed
from humeval_power.interfaces.cli.comparison_options import TypedFamily, comparison_options
from humeval_power.interfaces.cli.costs import (
    CostOptions,
    cost_model_if_typed,
    cost_options,
    with_pilot_times,
)
from humeval_power.interfaces.cli.effect_options import NO_DIFFERENCE, TypedEffects, effect_options
from humeval_power.interfaces.cli.options import rule_options
from humeval_power.interfaces.cli.output import note
from humeval_power.interfaces.cli.plan.options import (
    amend_option,
    load_plan,
    plan_option,
    refuse_beside_plan,
)
from humeval_power.interfaces.cli.required_options import needs
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.run import Run, with_run
from humeval_power.interfaces.cli.study.options import StudyOptions, loss_options, study_options
from humeval_power.interfaces.cli.study.running import (
    CARD2020_UNIT,
    compat_option,
    method_option,
    precision_option,
    strict_option,
    tell_cells,
)
from humeval_power.interfaces.cli.study.systems import (
    TypedSystems,
    effect_needed,
    only_systems,
    tell_systems,
    typed_effects,
    typed_systems,
)
from humeval_power.interfaces.cli.systems_options import AskedSystems, systems_options
from humeval_power.rules import DecisionRule
from humeval_power.scales import RatingScale

if TYPE_CHECKING:
    from humeval_power.costs import CostModel
    from humeval_power.planning.plan.plan import Plan
    from humeval_power.planning.study.surface import Cell
    from humeval_power.planning.study.systems_study import SystemsStudy
    from humeval_power.reporting.study.power import StudyPower
    from humeval_power.reporting.study.systems_power import SystemsPowerResult
    from humeval_power.simulation.losses import Losses


_IN_PLAN = {
    *("parameters", "preset", "allow_not_identified", "values", "response", "points", "shares"),
    *("scale", "lower_is_better", "workers", "items", "ratings_per_item", "paired", "design"),
    *("max_ratings_per_worker", "effect", "effect_raw", "effect_latent", "family", "link"),
    *("estimator", "df", "alternative", "analysis", "margin", "margin_raw", "alpha", "compat"),
}


@click.command("power", cls=StudyCommand, use=Use(skips=("plan",), adapts=one_pair_or_many))
@study_options
@loss_options
@plan_option
@amend_option
@field_option("workers")
@field_option("items")
@systems_options
@comparison_options
@effect_options(
    "True difference B - A on [0, 1] that the study should find; with --margin the one assumed. [0 with "
    "--margin]",
    latent=True,
)
@rule_options
@cost_options
@field_option(
    "budget", help="What may be spent: an amount at these prices, without prices a number of ratings."
)
@compat_option
@method_option
@precision_option
@strict_option
@with_run
@with_result()
@source_needed
@needs("--workers", ("workers", "plan"))
@needs("--items", ("items", "plan"))
@effect_needed
def command(
    study: StudyOptions,
    losses: Losses,
    exclusion: Exclusion,
    plan: str | None,
    amend: str | None,
    workers: int | None,
    items: int | None,
    asked: AskedSystems,
    comparing: TypedFamily,
    effect: TypedEffects | None,
    rule: DecisionRule,
    prices: CostOptions,
    budget: Decimal | None,
    compat: str | None,
    method: Method,
    precision: float | None,
    strict: bool,
    run: Run,
) -> StudyPower | SystemsPowerResult:
    """How often would a study of this size find an effect of this size?

    Power is the share of simulated studies with a significant effect of the
    right sign. Give the parameters by --parameters FILE or --preset NAME, and
    the size; or --plan FILE, which has everything. With --alternative equivalent
    or non-inferior and a --margin it is the share that shows this.

    With --n-systems 8, or names (--systems), or an analysis of several systems as
    --parameters, it is about several systems: every goal is told, and --goal says
    which counts as power.
    """
    several = typed_systems(study, asked, comparing, rule)
    if several is not None:
        assert workers is not None  # asked for before
        assert items is not None
        costs = _costs(prices, None, budget)
        found = _of_systems(several, workers, items, effect, method, strict=strict, run=run)
        return replace(found, costs=costs, budget=budget)
    from humeval_power.api.study_power import study_power
    from humeval_power.interfaces.cli.study.typed import typed_study

    planned = load_plan(plan, amend)
    if planned is None:
        assert workers is not None  # asked for before
        assert items is not None
        cell, said, scale = typed_study(
            study,
            workers=workers,
            items=items,
            effect=effect or NO_DIFFERENCE,
            rule=rule,
            compat=compat,
            losses=losses,
            exclusion=exclusion,
        )
    else:
        refuse_beside_plan(click.get_current_context(), _IN_PLAN)
        if planned.many is not None:
            _refuse_losses(planned, losses, exclusion)
            costs = _costs(prices, planned, budget)
            found = _found(planned.systems_study(), method, strict=strict, run=run)
            return replace(found, costs=costs, budget=budget)
        cell, said, scale = _planned(planned, losses, exclusion)
    costs = _costs(prices, planned, budget)
    if method != "analytic" or not cell.study.has_formula:
        tell_cells([cell] if cell.study.rule.margin is None else [cell, cell], run, precision)
    return study_power(
        cell.study,
        method=method,
        n_simulations=run.simulations(),
        precision=precision,
        seed=run.seed,
        n_jobs=run.n_jobs,
        setting=cell.setting,
        said=said,
        scale=scale,
        effect_unit=CARD2020_UNIT if compat else 1.0,
        strict=strict,
        costs=costs,
        budget=budget,
    )


def _costs(prices: CostOptions, plan: Plan | None, budget: Decimal | None) -> CostModel | None:
    """The prices that were typed, or those of the plan; a budget beside them must be above 0."""
    if budget is not None and budget <= 0:
        raise click.UsageError(f"--budget must be above 0; got {budget}.")
    typed = cost_model_if_typed(with_pilot_times(prices, None))
    if typed is not None and plan is not None and plan.costs is not None:
        raise click.UsageError("The plan has prices of its own: leave out those that were typed.")
    return typed or (None if plan is None else plan.costs)


def _of_systems(
    several: TypedSystems,
    workers: int,
    items: int,
    effect: TypedEffects | None,
    method: Method,
    *,
    strict: bool,
    run: Run,
) -> SystemsPowerResult:
    name, parameters = only_systems(several, typed_effects(several, effect))
    return _found(several.of(name, parameters, workers, items), method, strict=strict, run=run)


def _found(found: SystemsStudy, method: Method, *, strict: bool, run: Run) -> SystemsPowerResult:
    from humeval_power.api.systems_power import systems_power

    if method != "analytic" or not found.has_formula:
        tell_systems([found], run)
    return systems_power(
        found,
        method=method,
        n_simulations=run.simulations(),
        seed=run.seed,
        n_jobs=run.n_jobs,
        strict=strict,
    )


def _refuse_losses(plan: Plan, losses: Losses, exclusion: Exclusion) -> None:
    """Refuse losses of ratings, which studies of several systems do not know."""
    from humeval_power.simulation.losses import NO_LOSSES

    if losses != NO_LOSSES or exclusion != "none":
        raise click.UsageError(
            f"The plan is of {len(plan.systems)} systems, and such studies are simulated without losses: leave "
            "those out."
        )


def _planned(
    plan: Plan, losses: Losses, exclusion: Exclusion
) -> tuple[Cell, Difference, RatingScale | None]:
    from humeval_power.planning.study.surface import Cell

    if plan.looks is not None:
        note(
            "This is the power of one test at the planned end. The plan has looks before it, which cost "
            f"some: it promises {plan.recomputed_power():.3f} by formula."
        )
    study = replace(plan.study(), losses=losses, exclusion=exclusion)
    return Cell(plan.source.name, study), Difference(plan.effect, plan.scale, systems=plan.pair), plan.scale
