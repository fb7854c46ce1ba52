"""`humeval-power analyze`: a finished study, decided as planned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from humeval_power.errors import InputError
from humeval_power.exclusions import ExclusionRules
from humeval_power.interfaces.asking.command import StudyCommand, Use
from humeval_power.interfaces.asking.options import field_option, file_argument
from humeval_power.interfaces.cli.adapting import all_that_were_planned
from humeval_power.interfaces.cli.analyze.criteria import criteria_option, load_criteria, refuse_criteria
from humeval_power.interfaces.cli.comparison_options import TypedFamily, comparison_options
from humeval_power.interfaces.cli.effect_options import TypedEffects, effect_options
from humeval_power.interfaces.cli.exclusion_options import exclude_if_option, excluded
from humeval_power.interfaces.cli.options import (
    TableOptions,
    check_families_option,
    correlated_option,
    modelled_table_options,
    rule_options,
)
from humeval_power.interfaces.cli.plan.options import (
    amend_option,
    load_plan,
    plan_option,
    plan_reference,
    table_by_plan,
)
from humeval_power.interfaces.cli.results import details_wanted, record_wanted, with_result
from humeval_power.interfaces.cli.run import Run, with_run
from humeval_power.interfaces.cli.study.formula import formula_option, with_formula
from humeval_power.rules import DEFAULT_RULE, DecisionRule

if TYPE_CHECKING:
    from humeval_power.estimation.fit import CorrelatedFactor
    from humeval_power.inference.field.worker_exclusion import WorkerExclusion
    from humeval_power.ratings import Ratings
    from humeval_power.reporting.analyze.criteria import CriteriaResult
    from humeval_power.reporting.analyze.systems import SystemsResult
    from humeval_power.reporting.analyze.two import AnalysisResult


@click.command("analyze", cls=StudyCommand, use=Use(adapts=all_that_were_planned, writes="findings"))
@file_argument("ratings", metavar="RATINGS")
@modelled_table_options
@formula_option
@plan_option
@amend_option
@effect_options(
    "Smallest difference B - A on [0, 1] that would matter. [the plan's]",
    option="--effect-of-interest",
    parameter="effect_of_interest",
)
@comparison_options
@criteria_option
@exclude_if_option("Leave out workers by these rules, which no plan has sealed")
@field_option("ledger", help="Ledger of the looks of a plan that has looks. [beside the plan]")
@click.option("--secret", metavar="FILE", help="Secret of that ledger's digests. [beside the ledger]")
@correlated_option
@rule_options
@check_families_option
@with_run
@with_result()
def command(
    file: str,
    table: TableOptions,
    formula: str | None,
    plan: str | None,
    amend: str | None,
    effect_of_interest: TypedEffects | None,
    comparing: TypedFamily,
    criteria: str | None,
    exclude_if: ExclusionRules,
    ledger: str | None,
    secret: str | None,
    correlated: tuple[CorrelatedFactor, ...],
    rule: DecisionRule,
    check_families: bool,
    run: Run,
) -> AnalysisResult | SystemsResult | CriteriaResult:
    """Decide a finished study by its plan, and say what differs from it.

    RATINGS is a table as 'check' reads it. With --plan the plan's test,
    systems and effect of interest are used, and every deviation is listed.
    With --all-pairs or --baseline several systems are compared, each pair
    by its own fit or (--model joint) all in one. --criteria goes through
    several criteria. All these tests are one family: --correction corrects
    over all of them. Workers beyond the limits that a plan seals are left out,
    and the result is shown with and without them. -o analysis.json is read by 'report'; -o analysis/ is
    a page with pictures of the effect, of workers, items and residuals.
    """
    planned = load_plan(plan, amend)
    if planned is not None and planned.many is None and comparing.several:
        raise click.UsageError("This plan compares two systems: leave out --all-pairs and --baseline.")
    from humeval_power.api.analyze import analyze_criteria
    from humeval_power.interfaces.cli.loading import check_ratings
    from humeval_power.interfaces.formats.rating_tables import read_rating_table

    model = with_formula(formula, table, correlated=correlated)
    table, correlated = model.table, model.correlated
    refuse_criteria(criteria, comparing, table, plan=planned)
    if planned is not None:
        # a rule typed beside the plan is a deviation, and stays
        rule = planned.rule if rule == DEFAULT_RULE else rule
        table = table_by_plan(planned, table)
    family, several = comparing.family, comparing.several
    wanted: str | Sequence[str] | None = criteria
    if planned is not None and planned.family is not None:
        family, several = comparing.beside(planned.family), len(planned.systems) > 2
        if planned.criteria and criteria is None:
            wanted = planned.criteria if table.criterion is None else (table.criterion,)
            table = replace(table, criterion=None)
    source = None if plan is None else plan_reference(plan)

    def each(ratings: Ratings, exclusion: WorkerExclusion | None = None) -> AnalysisResult | SystemsResult:
        from humeval_power.api.analyze import analyze_pair, analyze_systems
        from humeval_power.interfaces.cli.analyze.looks import looks_of_study
        from humeval_power.interfaces.cli.work_ahead import tell_work

        model.check(ratings)
        if several:
            if correlated:
                raise click.UsageError(
                    "Correlated intercepts and slopes are fitted for two systems: --systems A,B."
                )
            return analyze_systems(
                ratings,
                plan=planned,
                rule=rule,
                family=family,
                exclusion=exclusion,
                plan_source=source,
                diagnostics=details_wanted() or record_wanted(),
                seed=run.seed,
            )
        looks = None
        if planned is not None and plan is not None and planned.looks is not None:
            looks = looks_of_study(planned, plan, ledger, ratings, secret=secret, exclusion=exclusion)
        return analyze_pair(
            ratings,
            plan=planned,
            rule=rule,
            effect=_interest(effect_of_interest, ratings),
            looks=looks,
            correlated=correlated,
            exclusion=exclusion,
            plan_source=source,
            diagnostics=details_wanted(),
            check_families=check_families,
            n_simulations=run.simulations(),
            seed=run.seed,
            n_jobs=run.n_jobs,
            ahead=partial(tell_work, n_simulations=run.simulations()),
        )

    found = read_rating_table(file)
    if wanted is None:
        ratings = check_ratings(found, table, require_pair=not several)
        return each(ratings, excluded(found, [ratings], planned, exclude_if))
    by_name = load_criteria(found, table, wanted, require_pair=not several)
    exclusion = excluded(found, list(by_name.values()), planned, exclude_if)
    return analyze_criteria(by_name, partial(each, exclusion=exclusion), family=family, plan=planned)


def _interest(typed: TypedEffects | None, ratings: Ratings) -> float | None:
    """The smallest difference that would matter on [0, 1], None where none was typed."""
    if typed is None:
        return None
    found = typed.one(ratings.scale)
    if not (abs(found.value) if typed.raw else found.value) > 0:
        raise InputError(f"{typed.option}: the smallest difference that would matter is above 0.")
    return abs(found.value)
