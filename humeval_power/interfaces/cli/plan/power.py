"""`humeval-power power`: how often a study of this size finds an effect of this size."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from humeval_power.choices import Method
from humeval_power.differences import Difference
from humeval_power.interfaces.asking.command import StudyCommand, Use
from humeval_power.interfaces.asking.options import field_option
from humeval_power.interfaces.asking.resolve import (
    CARD2020_UNIT,
    effect_needed,
    losses_of,
    prices_of,
    rule_of,
    source_needed,
)
from humeval_power.interfaces.asking.study_values import StudyValues, study_fields
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
from humeval_power.interfaces.cli.study.running import (
    PILOT,
    compat_option,
    half_width_option,
    method_option,
    strict_option,
    tell_cells,
)
from humeval_power.scales import RatingScale

if TYPE_CHECKING:
    from humeval_power.costs import CostModel
    from humeval_power.planning.plan.plan import Plan
    from humeval_power.planning.study.surface import Cell
    from humeval_power.reporting.study.power import StudyPower


_SECTIONS = ("ratings", "variation", "effect", "systems", "design", "test", "losses", "cost")
_BESIDE_PLAN = ("losses", "cost")  # sections that may be said beside a plan


@click.command("power", cls=StudyCommand, use=Use(skips=("plan",)))
@study_fields(
    *_SECTIONS,
    but=("criteria", "criterion", "correlated", "check_families", "spend_budget"),
    pilot=PILOT,
    plan=plan_option,
    budget=field_option(
        "budget",
        help="What may be spent: an amount at these prices, without prices a number of ratings.",
    ),
)
@amend_option
@compat_option
@method_option
@half_width_option
@strict_option
@with_run
@with_result()
@source_needed
@needs("--workers", ("workers", "plan"))
@needs("--items", ("items", "plan"))
@effect_needed
def command(
    study: StudyValues,
    amend: str | None,
    compat: str | None,
    method: Method,
    half_width: float | None,
    strict: bool,
    run: Run,
) -> StudyPower:
    """How often would a study of this size find an effect of this size?

    Power is the share of simulated studies with a significant effect of the
    right sign. Give the parameters by --parameters FILE or --preset NAME, and
    the size; or --plan FILE, which has everything. With --alternative equivalent
    or non-inferior and a --margin it is the share that shows this.

    With --n-systems 8, or names (--systems), or an analysis of several systems as
    --parameters, it is about several systems: every goal is told, and --goal says
    which counts as power.
    """
    rule = rule_of(study)
    planned = load_plan(study.plan, amend)
    if planned is not None:
        refuse_beside_plan(study, _BESIDE_PLAN)
    costs = _costs(study, planned)
    from humeval_power.api.study_power import study_power
    from humeval_power.interfaces.cli.study.typed import typed_study
    from humeval_power.planning.study.surface import Cell

    if planned is None:
        cell, said, scale = typed_study(study, rule, compat=compat)
    elif planned.many is not None:
        _tell_looks(planned)
        asked = replace(planned.systems_study(), losses=losses_of(study), exclusion=study.exclusion)
        cell, scale = Cell(asked.setting, asked), planned.scale
        said = Difference(asked.effect, scale, systems=None)
    else:
        cell, said, scale = _planned(planned, study)
    if method != "analytic" or not cell.study.has_formula:
        tell_cells([cell] if cell.study.rule.margin is None else [cell, cell], run, half_width)
    return study_power(
        cell.study,
        method=method,
        n_simulations=run.simulations(),
        half_width=half_width,
        seed=run.seed,
        n_jobs=run.n_jobs,
        setting=cell.setting,
        said=said,
        scale=scale,
        effect_unit=CARD2020_UNIT if compat else 1.0,
        strict=strict,
        costs=costs,
        budget=study.budget,
    )


def _costs(study: StudyValues, plan: Plan | None) -> CostModel | None:
    """The prices that were typed, or those of the plan; a budget beside them must be above 0."""
    if study.budget is not None and study.budget <= 0:
        raise click.UsageError(f"--budget must be above 0; got {study.budget}.")
    typed = prices_of(study)
    if typed is not None and plan is not None and plan.costs is not None:
        raise click.UsageError("The plan has prices of its own: leave out those that were typed.")
    return typed or (None if plan is None else plan.costs)


def _tell_looks(plan: Plan) -> None:
    if plan.looks is not None:
        note(
            "This is the power of one test at the planned end. The plan has looks before it, which cost "
            f"some: it promises {plan.recomputed_power():.3f} by formula."
        )


def _planned(plan: Plan, typed: StudyValues) -> tuple[Cell, Difference, RatingScale | None]:
    from humeval_power.planning.study.surface import Cell

    _tell_looks(plan)
    study = replace(plan.study(), losses=losses_of(typed), exclusion=typed.exclusion)
    return Cell(plan.source.name, study), Difference(plan.effect, plan.scale, systems=plan.pair), plan.scale
