"""`humeval-power power`: how often a study of this size finds an effect of this size."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from humeval_power.asking.command import Use, needs
from humeval_power.asking.declared import (
    EFFECT,
    SIZE,
    TO_LOOKS,
    TO_MDE,
    TO_PLAN,
    TO_SIZE,
    TO_SURFACE,
    VARIATION,
    Page,
    costs,
    study_command,
)
from humeval_power.asking.output import note
from humeval_power.asking.run import Run
from humeval_power.asking.study_values import StudyValues, study_fields
from humeval_power.asking.vocabulary import COMPAT, HALF_WIDTH, METHOD, STRICT
from humeval_power.choices import Method
from humeval_power.differences import Difference
from humeval_power.studies.plan.ask_held import AMEND, load_plan, plan_path, refuse_beside_plan
from humeval_power.studies.resolve import (
    CARD2020_UNIT,
    effect_needed,
    losses_of,
    on_one_criterion,
    prices_of,
    rule_of,
    source_needed,
)
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from humeval_power.costs import CostModel
    from humeval_power.studies.plan.plan import Plan
    from humeval_power.studies.power.result import StudyPower
    from humeval_power.studies.power.strategies import AnyStudy

_SECTIONS = ("ratings", "variation", "effect", "systems", "design", "test", "losses", "cost")
_BESIDE_PLAN = ("losses", "cost")  # sections that may be said beside a plan


@study_command(
    ("power",),
    {
        **study_fields(
            *_SECTIONS,
            but=("criterion", "correlated", "check_families", "spend_budget"),
            pilot=FIELDS["pilot"],
            plan=FIELDS["plan"],
            budget=replace(
                FIELDS["budget"],
                note=": an amount at these prices, without prices a number of ratings.",
            ),
        ),
        "amend": AMEND,
        "compat": COMPAT,
        "method": METHOD,
        "half_width": HALF_WIDTH,
        "strict": STRICT,
    },
    use=Use(skips=("plan",)),
    read_as={"plan": plan_path},
    simulates=True,
    needs=(
        source_needed,
        needs("--workers", ("workers", "plan")),
        needs("--items", ("items", "plan")),
        effect_needed,
    ),
    page=Page(
        "Power of a study",
        "How often would a study of this size find a difference of this size? Drag, and the answer moves.",
        (VARIATION, SIZE, EFFECT, *costs("budget")),
        (TO_PLAN, TO_MDE, TO_SIZE, TO_SURFACE, TO_LOOKS),
        journey="plan",
        live={"method": "analytic"},
    ),
)
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
    right sign. Give the parameters with --parameters FILE or --preset NAME, and
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
    from humeval_power.studies.power.calls import study_power
    from humeval_power.studies.power.typed import typed_study

    assumed = None
    if planned is None:
        study, rule = on_one_criterion(study, rule)
        about, setting, said, scale, assumed = typed_study(study, rule, compat=compat)
    else:
        about, setting, said = _planned(planned, study)
        scale = planned.scale
    if method != "analytic" or not about.has_formula:
        from humeval_power.studies.power.typed import tell_studies

        tell_studies([about] if about.rule.margin is None else [about, about], run, half_width)
    return study_power(
        about,
        method=method,
        n_simulations=run.simulations(),
        half_width=half_width,
        seed=run.seed,
        n_jobs=run.n_jobs,
        setting=setting,
        assumed=assumed,
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


def _planned(plan: Plan, typed: StudyValues) -> tuple[AnyStudy, str, Difference]:
    """The study of a plan, the name of its setting and its effect, with what was typed beside the plan."""
    if plan.looks is not None:
        note(
            "This is the power of one test at the planned end. The plan has looks before it, which cost "
            f"some: it promises {plan.recomputed_power():.3f} by formula."
        )
    if plan.many is not None:
        several = replace(plan.systems_study(), losses=losses_of(typed), exclusion=typed.exclusion)
        return several, several.setting, Difference(several.effect, plan.scale, systems=None)
    study = replace(plan.study(), losses=losses_of(typed), exclusion=typed.exclusion)
    return study, plan.source.name, Difference(plan.effect, plan.scale, systems=plan.pair)
