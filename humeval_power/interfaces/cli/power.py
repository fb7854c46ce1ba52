"""`humeval-power power`: how often a study of this size finds an effect of this size."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from typing import get_args

import click

from humeval_power.inference.replication import NO_LOSSES
from humeval_power.interfaces.cli.invocation import EXIT_TARGET_MISSED, typed_command
from humeval_power.interfaces.cli.loss_options import loss_options
from humeval_power.interfaces.cli.options import (
    force_option,
    jobs_option,
    json_option,
    output_option,
    quiet_option,
    rule_options,
    seed_option,
    simulations_option,
)
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite, wrapped
from humeval_power.interfaces.cli.plan_options import amend_option, load_plan, plan_option
from humeval_power.interfaces.cli.progress import Advance, progress
from humeval_power.interfaces.cli.study_options import (
    Settings,
    StudyOptions,
    default_jobs,
    grid_options,
    load_settings,
    only_setting,
    study_options,
)
from humeval_power.interfaces.formats.documents import to_json
from humeval_power.planning.analytic import AnalyticPower, analytic_power
from humeval_power.planning.comparison import Method, disagree
from humeval_power.planning.halfway import HalfwayPower, halfway_power
from humeval_power.planning.limits import ceiling_with_items, ceiling_with_workers
from humeval_power.planning.plan import Plan
from humeval_power.planning.power import DEFAULT_SEED, DEFAULT_SIMULATIONS, PowerEstimate
from humeval_power.planning.surface import Cell, CellResult, list_cells, run_surface
from humeval_power.reporting.records import power_record
from humeval_power.reporting.rule_words import PARITY, halfway_words, margin_words
from humeval_power.rules import CARD2020, DecisionRule
from humeval_power.scenarios.rating_study import RatingStudy
from humeval_power.simulation.losses import Exclusion, Losses

MAX_FAILURE_RATE = 0.01
CARD2020_UNIT = 2.0  # their effect is a coefficient under -1/+1: half the difference between systems

compat_option = click.option(
    "--compat",
    type=click.Choice(["card2020"]),
    help="Decide as Card et al. (2020): maximum likelihood, t > 1.96, and --effect is their "
    "coefficient under -1/+1 coding, which is HALF the difference B - A.",
)
precision_option = click.option(
    "--precision",
    type=click.FloatRange(0, 0.5, min_open=True, max_open=True),
    help="Simulate until the power is known to +- this.",
)
strict_option = click.option(
    "--strict", is_flag=True, help="End with 3 if more than 1 % of the fits failed."
)


method_option = click.option(
    "--method",
    type=click.Choice(get_args(Method)),
    default="both",
    show_default=True,
    help="By formula at once, by simulation, or both beside each other.",
)


@click.command("power")
@study_options
@loss_options
@plan_option
@amend_option
@click.option("--workers", type=int, help="Number of workers.")
@click.option("--items", type=int, help="Number of items.")
@click.option(
    "--effect",
    type=float,
    help="True difference B - A on [0, 1] that the study should find; with --margin the one assumed. [0 with "
    "--margin]",
)
@rule_options
@compat_option
@method_option
@simulations_option
@precision_option
@seed_option
@jobs_option
@strict_option
@json_option
@output_option
@force_option
@quiet_option
def command(
    study: StudyOptions,
    losses: Losses,
    exclusion: Exclusion,
    plan: str | None,
    amend: str | None,
    workers: int | None,
    items: int | None,
    effect: float | None,
    rule: DecisionRule,
    compat: str | None,
    method: Method,
    simulations: int | None,
    precision: float | None,
    seed: int | None,
    jobs: int | None,
    strict: bool,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """How often would a study of this size find an effect of this size?

    Power is the share of simulated studies with a significant effect of the
    right sign. Give the parameters by --parameters FILE or --preset NAME, and
    the size; or --plan FILE, which has everything. With --alternative equivalent
    or non-inferior and a --margin it is the share that shows this.
    """
    if output is not None:
        refuse_to_overwrite([output], force=force)
    unit = CARD2020_UNIT if compat else 1.0
    planned = load_plan(plan, amend)
    if planned is not None:
        if any(value is not None for value in (workers, items, effect)) or study.parameters or study.preset:
            raise click.UsageError(
                "--plan has the parameters, the size and the effect: leave the others out."
            )
        cells, settings = _planned(planned, losses, exclusion)
    else:
        cells, settings = _typed(study, workers, items, effect, unit, rule, compat, losses, exclusion)
    results: list[CellResult] = []
    study_asked = cells[0].study
    cells += _halfway(cells[0])
    analytic = None if method == "simulate" else analytic_answer(study_asked)
    if method != "analytic":
        results = run_cells(cells, simulations=simulations, precision=precision, seed=seed, jobs=jobs)
    simulated = results[0].estimate if results else None
    halfway = None
    if len(cells) > 1:
        halfway = halfway_power(
            study_asked.rule,
            precision=None if analytic is None else analytic.precision,
            simulated=results[1].estimate if results else None,
        )
    used = DEFAULT_SEED if seed is None else seed
    if as_json:
        record = power_record(
            cells[0], simulated, analytic=analytic, seed=used, effect_unit=unit, command=typed_command()
        )
        if halfway is not None:
            record["halfway_to_margin"] = asdict(halfway)
        text = to_json(record)
    else:
        text = power_text(cells[0], simulated, analytic, settings, unit, halfway)
    emit(text, output=output, force=force)
    end_if_failed(results, strict=strict)


def _planned(plan: Plan, losses: Losses, exclusion: Exclusion) -> tuple[list[Cell], Settings]:
    planned = replace(plan.study(), losses=losses, exclusion=exclusion)
    return [Cell(plan.source.name, planned)], Settings({plan.source.name: plan.parameters}, plan.scale)


def _typed(
    study: StudyOptions,
    workers: int | None,
    items: int | None,
    effect: float | None,
    unit: float,
    rule: DecisionRule,
    compat: str | None,
    losses: Losses,
    exclusion: Exclusion,
) -> tuple[list[Cell], Settings]:
    settings = load_settings(study)
    name, parameters = only_setting(settings)
    if compat and rule.margin is not None:
        raise click.UsageError("--compat card2020 tests for a difference: leave out --margin.")
    if effect is None and rule.margin is not None:
        effect = 0.0
    if workers is None or items is None or effect is None:
        raise click.UsageError("Give --workers, --items and --effect, or a --plan that has them.")
    cells = list_cells(
        {name: parameters},
        workers=[workers],
        items=[items],
        effects=[effect * unit],
        rule=CARD2020 if compat else rule,
        losses=losses,
        exclusion=exclusion,
        **grid_options(study, settings),
    )
    return cells, settings


def _halfway(cell: Cell) -> list[Cell]:
    """The same study with a true difference halfway to the margin, unless that is what is asked."""
    halfway = cell.study.rule.halfway
    if halfway is None or halfway == cell.study.true_effect:
        return []
    return [replace(cell, study=cell.study.with_effect(halfway))]


def analytic_answer(study: RatingStudy) -> AnalyticPower | None:
    """Power by formula; None, and a remark, for a response or rule that it does not describe."""
    if study.response != "gaussian" or study.rule.is_simulated or study.rule.analysis != "ratings":
        note("The formula describes Gaussian ratings and t tests of ratings: simulation only.")
        return None
    if study.losses != NO_LOSSES:
        note("The formula describes the study as planned; the simulation has the losses.")
    with kernels_for([Cell("", study)]):
        return analytic_power(study.parameters, study.design, rule=study.rule)


def run_cells(
    cells: list[Cell],
    *,
    simulations: int | None,
    precision: float | None,
    seed: int | None,
    jobs: int | None,
) -> list[CellResult]:
    """Simulate cells with progress on standard error; the kernels are made ready if they are needed."""
    for remark in dict.fromkeys(remark for cell in cells for remark in cell.study.design.notes):
        note(remark)
    with kernels_for(cells), progress("Simulating", total=len(cells)) as advance:
        return run_surface(
            cells,
            n_simulations=DEFAULT_SIMULATIONS if simulations is None else simulations,
            precision=precision,
            seed=DEFAULT_SEED if seed is None else seed,
            n_jobs=jobs or default_jobs(),
            progress=_steps(advance),
        )


def kernels_for(cells: list[Cell]) -> AbstractContextManager[None]:
    """Have the compiled kernels ready, if any of the cells needs them."""
    if all(cell.study.replication.closed_form and cell.study.rule.estimator == "reml" for cell in cells):
        return nullcontext()
    from humeval_power.interfaces.cli.compiling import compiled_kernels

    return compiled_kernels()


def _steps(advance: Advance) -> Callable[[int, int], None]:
    done = 0

    def report(now: int, _total: int) -> None:
        nonlocal done
        advance(now - done)
        done = now

    return report


def end_if_failed(results: list[CellResult], *, strict: bool) -> None:
    """Say how many fits failed, and end with 3 under --strict if it is more than 1 %."""
    worst = max((result.estimate.failure_rate for result in results), default=0.0)
    failed = sum(result.estimate.n_failed for result in results)
    if failed:
        note(f"{failed:,} fits failed, at most {100 * worst:.1f} % of a cell. They count neither way.")
    if strict and worst > MAX_FAILURE_RATE:
        sys.exit(EXIT_TARGET_MISSED)


def power_text(
    cell: Cell,
    simulated: PowerEstimate | None,
    analytic: AnalyticPower | None,
    settings: Settings,
    unit: float,
    halfway: HalfwayPower | None = None,
) -> str:
    """The power for people, at most 80 characters wide."""
    study = cell.study
    difference = study.true_effect
    effect = f"B - A = {difference:g} on [0, 1]"
    if unit != 1.0:
        effect += f" (coefficient {difference / unit:g} under -1/+1 coding)"
    if settings.scale is not None:
        raw = settings.scale.effect_to_raw(difference)
        effect += f", {raw:g} on the scale {settings.scale.low:g} to {settings.scale.high:g}"
    facts = [
        ("Setting", cell.setting),
        ("Study", str(study.design)),
        ("Effect", effect),
        ("Test", str(study.rule)),
    ]
    has_margin = study.rule.margin is not None
    if has_margin:
        facts.append(("Margin", margin_words(study.rule, settings.scale)))
    if analytic is not None:
        facts += _analytic_facts(analytic, has_margin=has_margin)
    if simulated is not None:
        facts += _simulated_facts(simulated)
    if halfway is not None:
        facts.append(("Halfway", halfway_words(halfway)))
    if analytic is not None and simulated is not None:
        if study.losses != NO_LOSSES:
            cost = analytic.power - simulated.power
            facts.append(("Losses", f"as planned the power is {analytic.power:.3f}; they cost {cost:.3f}"))
        elif disagree(analytic, simulated):
            facts.append(("Caution", _disagreement(analytic)))
    if analytic is not None and (difference > 0 or has_margin) and not analytic.is_rough:
        facts += _ceiling_facts(study)
    if has_margin:
        facts.append(("Note", PARITY))
    return "\n".join(wrapped(text, bullet=f"{label:<9}") for label, text in facts)


def _analytic_facts(analytic: AnalyticPower, *, has_margin: bool) -> list[tuple[str, str]]:
    precision = analytic.precision
    rough = "; rough, with so few workers" if analytic.is_rough else ""
    worth = "" if has_margin else f", type M {analytic.type_m:.2f}, type S {analytic.type_s:.4f}"
    return [
        (
            "Formula",
            f"power {analytic.power:.3f}{worth}  "
            f"(SE {precision.standard_error:.4f}, df {precision.df:.1f}{rough})",
        )
    ]


def _simulated_facts(estimate: PowerEstimate) -> list[tuple[str, str]]:
    low, high = estimate.interval
    zero = ", ".join(f"{name} {100 * rate:.0f} %" for name, rate in estimate.boundary_rates.items())
    worth = [
        ("Type M", f"{estimate.type_m:.2f}  (a significant estimate exaggerates this many times)"),
        ("Type S", f"{estimate.type_s:.4f}  (share of significant estimates with the wrong sign)"),
    ]
    if not estimate.directed:
        worth = [("Type M/S", "not defined: nothing is found that could be exaggerated or reversed")]
    return [
        ("Power", f"{estimate.power:.3f}  (95 % Monte Carlo interval {low:.3f} to {high:.3f})"),
        *worth,
        ("At zero", f"{zero}  (estimated as zero; those fits are kept)"),
        ("Fits", f"{estimate.n_simulations:,} simulated, {estimate.n_failed:,} failed"),
    ]


def _disagreement(analytic: AnalyticPower) -> str:
    why = "with so few workers the formula is rough" if analytic.is_rough else "the formula is off here"
    return (
        f"Formula and simulation differ by more than Monte Carlo error and 0.02: {why}; "
        "trust the simulation."
    )


def _ceiling_facts(study: RatingStudy) -> list[tuple[str, str]]:
    design = study.design
    if design.kind not in ("crossed", "k-per-item") or study.rule.df == "normal":
        return []
    k = None if design.is_crossed else design.ratings_per_item
    items = ceiling_with_items(study.parameters, n_workers=design.n_workers, rule=study.rule)
    workers = ceiling_with_workers(
        study.parameters, n_items=design.n_items, ratings_per_item=k, rule=study.rule
    )
    return [
        ("Limits", f"power {items.power:.3f} with these workers and endless items;"),
        ("", f"power {workers.power:.3f} with these items and endless workers"),
    ]
