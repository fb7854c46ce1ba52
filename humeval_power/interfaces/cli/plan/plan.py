"""`humeval-power plan`: the design that a pilot, a price and a deadline allow."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import click

from humeval_power.api.progress import in_percent, progress
from humeval_power.assumptions import Assumptions
from humeval_power.differences import Difference
from humeval_power.errors import InputError
from humeval_power.interfaces.cli.assumptions import Sources, parameter_options
from humeval_power.interfaces.cli.compiling import compiled_kernels
from humeval_power.interfaces.cli.costs import (
    CostOptions,
    Money,
    cost_model,
    cost_options,
    with_pilot_times,
)
from humeval_power.interfaces.cli.effect_options import (
    NO_DIFFERENCE,
    TypedEffects,
    effect_options,
    warn_beyond,
)
from humeval_power.interfaces.cli.looks.options import look_options
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber, number_list
from humeval_power.interfaces.cli.options import (
    TableOptions,
    default_jobs,
    power_target_option,
    result_options,
    rule_options,
    run_options,
    table_options,
)
from humeval_power.interfaces.cli.output import note, refuse_to_overwrite, say, wrapped
from humeval_power.interfaces.cli.plan.inputs import load_assumptions
from humeval_power.interfaces.cli.plan.writing import file_names, plan_of, write_plan
from humeval_power.interfaces.cli.required_options import Command, needs
from humeval_power.interfaces.cli.run import EXIT_TARGET_MISSED, typed_command
from humeval_power.interfaces.cli.study.options import loss_options
from humeval_power.interfaces.cli.text import text_table
from humeval_power.interfaces.cli.work_ahead import tell_work
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.planning.looks.schedule import LookSchedule
from humeval_power.planning.plan.assurance import safe_parameters
from humeval_power.planning.plan.candidates import SearchSpace
from humeval_power.planning.plan.request import PlanRequest, PlanResult
from humeval_power.planning.plan.search_and_prove import make_plan
from humeval_power.planning.power import DEFAULT_SEED, DEFAULT_SIMULATIONS
from humeval_power.reporting.plan.result import (
    alone_rows,
    option_row,
    pilot_table,
    plan_facts,
    plan_search_record,
)
from humeval_power.rules import WITH_MARGIN, DecisionRule
from humeval_power.simulation.losses import Exclusion, Losses

_HEADER = ["", "workers", "items", "k", "paired", "cost", "formula", "simulated"]
_ALONE = ["assumed", "this plan", "workers", "items", "k", "its own plan"]


@click.command("plan", cls=Command)
@click.argument("file", metavar="[PILOT]", required=False)
@table_options
@parameter_options
@effect_options(
    "Smallest effect of interest: B - A on [0, 1]; with --margin the true difference assumed. [0 with "
    "--margin]"
)
@click.option(
    "--observed-power",
    is_flag=True,
    help="Take the pilot's own estimate as the effect. This is not a plan; it says why.",
)
@power_target_option
@click.option("--budget", type=Money(), help="Find the most powerful design for this much.")
@click.option(
    "--workers", metavar="LIST", callback=number_list(int, least=2), help="Such as 3:40. [2:--max-workers]"
)
@click.option(
    "--max-workers",
    type=WholeNumber(min=2),
    default=30,
    show_default=True,
    help="Most workers, where --workers does not say.",
)
@click.option(
    "--items",
    metavar="LIST",
    callback=number_list(int, least=2, most=1_000_000),
    required=True,
    help="Such as 50:500 or 50:500:10.",
)
@click.option(
    "--ratings-per-item",
    metavar="LIST",
    callback=number_list(int, least=1),
    help="Of each item under each system, such as 1:10. [1 to --max-workers]",
)
@click.option("--max-ratings-per-worker", type=WholeNumber(min=1), help="What a worker can be asked.")
@click.option(
    "--pairing",
    type=click.Choice(["paired", "unpaired", "both"]),
    default="paired",
    show_default=True,
    help="Whether the same worker sees an item under both systems.",
)
@cost_options
@loss_options
@look_options
@click.option("--robust", is_flag=True, help="Reach the target under every setting, not only the first.")
@click.option(
    "--confidence",
    type=RealNumber(0, 1, min_open=True, max_open=True),
    help="Reach the target with this probability, given how little the pilot knows.",
)
@click.option(
    "--safe",
    type=RealNumber(0, 1, min_open=True, max_open=True),
    help="Plan at this upper confidence limit of how workers differ.",
)
@click.option("--question", default="", help="The question that the study is to answer, for the plan.")
@click.option(
    "--exclude", multiple=True, metavar="TEXT", help="A rule for leaving out ratings; repeatable."
)
@click.option("--date", type=click.DateTime(["%Y-%m-%d"]), help="Date of the plan. [today]")
@rule_options
@run_options
@result_options
@needs(
    "--cost-per-rating, or --pay-per-hour with --seconds-per-rating", ("cost_per_rating", "pay_per_hour")
)
@needs(
    "--effect or --effect-raw, the smallest effect of interest",
    ("effect", "effect_raw", "observed_power", "margin", "margin_raw"),
    unless={"alternative": WITH_MARGIN},
)
def command(
    file: str | None,
    table: TableOptions,
    sources: Sources,
    effect: TypedEffects | None,
    observed_power: bool,
    target: float,
    budget: Decimal | None,
    workers: Sequence[int] | None,
    max_workers: int,
    items: Sequence[int],
    ratings_per_item: Sequence[int] | None,
    max_ratings_per_worker: int | None,
    pairing: str,
    prices: CostOptions,
    losses: Losses,
    exclusion: Exclusion,
    looks: LookSchedule | None,
    robust: bool,
    confidence: float | None,
    safe: float | None,
    question: str,
    exclude: tuple[str, ...],
    date: datetime.datetime | None,
    rule: DecisionRule,
    simulations: int | None,
    seed: int | None,
    jobs: int | None,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """The cheapest design that finds the effect, or the best a budget buys.

    PILOT is a table of ratings to take the variances from; or give
    --parameters, --preset or --values. Without any of them published settings
    and fits of the library are planned from side by side, for the one that
    asks for most. Designs are ranked by formula, the winner and its neighbours
    are proved by simulation. With -o plan.json the plan is written, with
    plan.md, plan.html and pictures beside it. Ends with 3 if the target cannot
    be reached.
    """
    used = DEFAULT_SEED if seed is None else seed
    names = file_names(output)
    if output is not None:
        refuse_to_overwrite([Path(output).parent / name for name in names.values()], force=force)
    with compiled_kernels():
        assumed = load_assumptions(file, table, sources)
        said = _effect(assumed, effect, observed_power)
        warn_beyond(assumed, [said])
        assumed = _safe(assumed, safe)
        most = max(workers) if workers else max_workers
        request = PlanRequest(
            assumed=assumed,
            effect=said.value,
            space=SearchSpace(
                workers=workers or range(2, max_workers + 1),
                items=items,
                ratings_per_item=ratings_per_item or range(1, most + 1),
                pairings={"paired": (True,), "unpaired": (False,), "both": (True, False)}[pairing],
                max_ratings_per_worker=max_ratings_per_worker,
            ),
            costs=cost_model(with_pilot_times(prices, file)),
            target=target,
            budget=budget,
            rule=rule,
            robust=robust,
            cautious=bool(assumed.chosen),
            confidence=confidence,
            losses=losses,
            exclusion=exclusion,
            looks=looks,
        )
        n_simulations = simulations or DEFAULT_SIMULATIONS
        with progress("Proving", total=100) as advance:
            result = make_plan(
                request,
                n_simulations=n_simulations,
                seed=used,
                n_jobs=jobs or default_jobs(),
                ahead=lambda work: tell_work(work, n_simulations=n_simulations),
                progress=in_percent(advance),
            )
    plan = plan_of(result, question, exclude, used)
    if output is not None:
        write_plan(plan, result, output, names, date, force=force, said=said)
    if as_json:
        say(to_json(plan_search_record(result, seed=used, command=typed_command(), said=said)), nl=False)
    else:
        say(plan_text(result, said))
    if not result.reached:
        sys.exit(EXIT_TARGET_MISSED)


def plan_text(result: PlanResult, said: Difference | None = None) -> str:
    """The result for people, at most 80 characters wide; `said` is the effect as the user said it."""
    lines = [wrapped(text, bullet=f"{label:<9}") for label, text in plan_facts(result, said)]
    robust = result.request.robust
    rows = [["chosen", *option_row(result.chosen, robust=robust)]]
    rows += [["near", *option_row(option, robust=robust)] for option in result.neighbours]
    parts = ["\n".join(lines), text_table(_HEADER, rows, indent="")]
    if result.alone:
        parts.append(
            "If only one of these is assumed:\n" + text_table(_ALONE, alone_rows(result), indent="")
        )
    if result.assurance is not None:
        pilot = text_table(
            ["workers in the pilot", "a safe plan's multiple"], [list(r) for r in pilot_table()]
        )
        parts.append(
            wrapped(
                "How a larger pilot would help: a safe plan (--safe 0.8) takes the worker mean square at"
            )
            + "\n"
            + pilot
        )
    return "\n\n".join(parts)


def _effect(assumed: Assumptions, typed: TypedEffects | None, observed: bool) -> Difference:
    if typed is not None and observed:
        raise click.UsageError(
            "Give the smallest effect of interest, --effect or --effect-raw, or --observed-power: not both."
        )
    if not observed:
        return (typed or NO_DIFFERENCE).one(assumed.scale)
    if assumed.observed is None:
        raise InputError("--observed-power needs a pilot or a parameter file with an estimate of your own.")
    note(
        f"Warning: the pilot's own estimate, {assumed.observed:.4g}, is taken as the effect. Its error is as "
        "large as the pilot is small, and an estimate that led to a study tends to be too large. Power at "
        "the observed effect says nothing that the pilot's p-value does not. Name the smallest effect that "
        "would matter instead."
    )
    return Difference(assumed.observed, assumed.scale)


def _safe(assumed: Assumptions, confidence: float | None) -> Assumptions:
    if confidence is None:
        return assumed
    first, *others = assumed.entries
    if first.uncertainty is None:
        raise InputError("--safe needs a pilot, or a parameter file that 'fit -o' wrote.")
    cautious = safe_parameters(first.parameters, first.uncertainty, confidence=confidence)
    note(
        f"Planning with a worker's difference of SD {cautious.sd_worker_slope:.4f} (the {100 * confidence:g} % "
        f"upper limit) instead of {first.parameters.recoded().sd_worker_slope:.4f}."
    )
    return replace(assumed, entries=(replace(first, parameters=cautious), *others))
