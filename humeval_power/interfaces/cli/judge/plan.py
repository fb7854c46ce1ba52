"""`humeval-power judge plan`: how many human labels, by how many workers, at what price."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import click

from humeval_power.choices import DEFAULT_SEED
from humeval_power.interfaces.cli.assumptions import (
    Sources,
    parameter_options,
    read_assumptions,
    scale_options,
)
from humeval_power.interfaces.cli.costs import CostOptions, cost_model, cost_options
from humeval_power.interfaces.cli.effect_options import TypedEffects, effect_options, warn_beyond
from humeval_power.interfaces.cli.judge.study import correlation_option
from humeval_power.interfaces.cli.numbers import Money, RealNumber, WholeNumber
from humeval_power.interfaces.cli.options import gaussian_rule_options, seed_option, simulations_option
from humeval_power.interfaces.cli.required_options import Command, needs
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.study.options import only_setting, source_needed
from humeval_power.rules import DecisionRule
from humeval_power.scales import RatingScale

if TYPE_CHECKING:
    from humeval_power.planning.workload import Workload
    from humeval_power.reporting.judge.plan import JudgePlan


MOST_WORKERS = 100  # more would be searched for minutes
MOST_EXTRA = 1_000_000  # which leaves nothing to gain


@click.command("plan", cls=Command)
@parameter_options
@scale_options
@effect_options("True difference B - A on [0, 1].")
@click.option(
    "--extra",
    type=WholeNumber(min=0, max=MOST_EXTRA),
    required=True,
    help="Most items scored by the judge alone.",
)
@correlation_option
@click.option(
    "--power",
    "target",
    type=RealNumber(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="Power to reach.",
)
@click.option(
    "--cost-per-score", type=Money(), default=Decimal(0), help="Price of one score of the judge. [0]"
)
@click.option(
    "--min-workers",
    type=WholeNumber(min=2, max=MOST_WORKERS),
    default=5,
    show_default=True,
    help="Fewest workers to try.",
)
@click.option(
    "--max-workers",
    type=WholeNumber(min=2, max=MOST_WORKERS),
    default=20,
    show_default=True,
    help="Most workers to try.",
)
@click.option(
    "--max-ratings-per-item",
    type=WholeNumber(min=1),
    default=5,
    show_default=True,
    help="Most ratings of an item under each system.",
)
@click.option("--max-ratings-per-worker", type=WholeNumber(min=1), help="Most ratings of a worker.")
@cost_options
@gaussian_rule_options
@simulations_option
@click.option("--no-proof", is_flag=True, help="Leave out the simulated studies that prove the plan.")
@seed_option
@with_result()
@source_needed
@needs("--effect or --effect-raw", ("effect", "effect_raw"))
def command(
    sources: Sources,
    scale: RatingScale | None,
    effect: TypedEffects,
    extra: int,
    correlation: float,
    target: float,
    cost_per_score: Decimal,
    min_workers: int,
    max_workers: int,
    max_ratings_per_item: int,
    max_ratings_per_worker: int | None,
    prices: CostOptions,
    rule: DecisionRule,
    simulations: int | None,
    no_proof: bool,
    seed: int | None,
) -> JudgePlan:
    """How many human labels does a study with a judge need, and by whom?

    Every number of workers and of ratings of an item is tried; the cheapest
    study that has the power is proved by simulated studies, analysed as
    'judge estimate' analyses them. Beside it: the cheapest without a judge.
    """
    from humeval_power.api.judge import PLAN_SIMULATIONS, plan

    assumed = read_assumptions(sources, scale)
    said = effect.one(assumed.scale)
    warn_beyond(assumed, [said])
    setting, parameters = only_setting(assumed)

    n_simulations = 0 if no_proof else simulations or PLAN_SIMULATIONS

    def ahead(work: Workload) -> None:
        from humeval_power.interfaces.cli.work_ahead import tell_work

        tell_work(work, n_simulations=n_simulations, way_out="--no-proof")

    return plan(
        parameters,
        effect=said,
        extra=extra,
        correlation=correlation,
        costs=cost_model(prices),
        power=target,
        price_per_score=cost_per_score,
        workers=(min_workers, max_workers),
        max_ratings_per_item=max_ratings_per_item,
        max_ratings_per_worker=max_ratings_per_worker,
        rule=rule,
        n_simulations=n_simulations,
        seed=DEFAULT_SEED if seed is None else seed,
        setting=setting,
        ahead=ahead,
    )
