"""`humeval-power plan`: the design that a pilot, a price and a deadline allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from humeval_power.choices import Exclusion
from humeval_power.interfaces.asking.command import HERE, StudyCommand, Use
from humeval_power.interfaces.asking.options import file_argument
from humeval_power.interfaces.cli.adapting import searched
from humeval_power.interfaces.cli.assumptions import Sources, parameter_options
from humeval_power.interfaces.cli.categories import Shares, analysed_as, shares_option
from humeval_power.interfaces.cli.comparison_options import TypedFamily, comparison_options
from humeval_power.interfaces.cli.costs import CostOptions, cost_model, cost_options, with_pilot_times
from humeval_power.interfaces.cli.effect_options import TypedEffects, effect_options, warn_beyond
from humeval_power.interfaces.cli.looks.options import look_options
from humeval_power.interfaces.cli.options import (
    TableOptions,
    modelled_table_options,
    power_target_option,
    rule_options,
)
from humeval_power.interfaces.cli.plan.search_options import (
    caution_options,
    limit_options,
    statement_options,
)
from humeval_power.interfaces.cli.plan.systems import (
    NOT_OF_SYSTEMS,
    AskedStudy,
    load_systems,
    refuse_for_systems,
    systems_options,
)
from humeval_power.interfaces.cli.required_options import needs
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.run import Run, with_run
from humeval_power.interfaces.cli.study.options import loss_options
from humeval_power.interfaces.cli.systems_options import DEFAULT_GOAL
from humeval_power.rules import DEFAULT_RULE, WITH_MARGIN, DecisionRule

if TYPE_CHECKING:
    from humeval_power.planning.looks.schedule import LookSchedule
    from humeval_power.reporting.plan.result import PlanSearchResult
    from humeval_power.simulation.losses import Losses


def _planned(result: Any) -> dict[str, Any]:
    """The size that was planned, and where the plan is."""
    counts = result.plan.counts
    return {
        "plan": HERE,
        "workers": counts.n_workers,
        "items": counts.n_items,
        "ratings_per_item": counts.ratings_per_item,
    }


_SEARCHES = Use(
    seeks=("workers", "ratings_per_item"),
    skips=("plan",),
    adapts=searched,
    writes="plan",
    updates=_planned,
)


@click.command("plan", cls=StudyCommand, use=_SEARCHES)
@file_argument("pilot", metavar="[PILOT]", required=False)
@modelled_table_options
@parameter_options
@effect_options(
    "Smallest effect of interest: B - A on [0, 1]; with --margin the true difference assumed. [0 with "
    "--margin]",
    latent=True,
)
@shares_option
@click.option(
    "--observed-power",
    is_flag=True,
    help="Take the pilot's own estimate as the effect. This is not a plan; it says why.",
)
@power_target_option
@systems_options
@comparison_options
@limit_options
@cost_options
@loss_options
@look_options
@caution_options
@statement_options
@rule_options
@with_run
@with_result(endings=(".json",))
@needs(
    "--cost-per-rating, or --pay-per-hour with --seconds-per-rating", ("cost_per_rating", "pay_per_hour")
)
@needs(
    "--effect or --effect-raw, the smallest effect of interest",
    ("effect", "effect_raw", "effect_latent", "observed_power", "margin", "margin_raw", "system_means"),
    unless={"alternative": WITH_MARGIN},
)
def command(
    file: str | None,
    table: TableOptions,
    sources: Sources,
    effect: TypedEffects | None,
    shares: Shares | None,
    observed_power: bool,
    target: float,
    asked: AskedStudy,
    comparing: TypedFamily,
    limits: dict[str, Any],
    prices: CostOptions,
    losses: Losses,
    exclusion: Exclusion,
    looks: LookSchedule | None,
    caution: dict[str, Any],
    stated: dict[str, Any],
    rule: DecisionRule,
    run: Run,
) -> PlanSearchResult:
    """The cheapest design that finds the effect, within a budget if you have one.

    PILOT is a table of ratings to take the variances from; or give
    --parameters, --preset or --values. Several systems are planned for with
    --n-systems or --systems A,B,C: their variances are those of any two, or of
    a pilot of several, or of an analysis by --model joint. Without any of
    them the plan is for what is typical of public ratings of texts on such a
    scale, beside a cautious and a hopeful end. Designs are ranked by formula,
    and the cheapest that reaches the power is proved by simulation; beside it
    stand a safer one and what all the --budget buys. -o plan.json writes the plan alone, sealed; -o
    plan/ a folder with it, its page and pictures; both are what --plan reads.
    Ends with 3 if the target cannot be reached.
    """
    from humeval_power.api.plan import make_plan
    from humeval_power.api.systems_plan import make_systems_plan
    from humeval_power.interfaces.cli.plan.inputs import load_assumptions, load_pilot, planned_effect
    from humeval_power.interfaces.cli.work_ahead import tell_work

    pilot = load_pilot(file, table)
    planned_for = load_systems(pilot, table, sources, rule, asked=asked, effect=effect, comparing=comparing)
    if planned_for is not None:
        refuse_for_systems(click.get_current_context())
        return make_systems_plan(
            planned_for.assumed,
            family=comparing.family,
            goal=asked.goal or DEFAULT_GOAL,
            criteria=asked.criteria,
            costs=cost_model(with_pilot_times(prices, file)),
            target=target,
            rule=rule,
            robust=caution["robust"],
            sources=planned_for.sources,
            said=planned_for.said,
            n_simulations=run.typed,
            seed=run.seed,
            n_jobs=run.n_jobs,
            remarks=planned_for.remarks,
            **{name: value for name, value in limits.items() if name not in NOT_OF_SYSTEMS},
            **stated,
        )
    assumed = load_assumptions(pilot, table, sources, rule if shares is None else DEFAULT_RULE)
    assumed, said, remarks = planned_effect(
        assumed, effect, observed=observed_power, shares=shares, link=rule.link
    )
    rule = analysed_as(rule, assumed)
    warn_beyond(assumed, [said])
    n_simulations = run.simulations()
    return make_plan(
        assumed,
        effect=said,
        costs=cost_model(with_pilot_times(prices, file)),
        target=target,
        rule=rule,
        losses=losses,
        exclusion=exclusion,
        looks=looks,
        n_simulations=n_simulations,
        seed=run.seed,
        n_jobs=run.n_jobs,
        ahead=lambda work: tell_work(work, n_simulations=n_simulations),
        remarks=remarks,
        **limits,
        **caution,
        **stated,
    )
