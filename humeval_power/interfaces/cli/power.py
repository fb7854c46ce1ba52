"""`humeval-power power`: how often a study of this size finds an effect of this size."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from typing import get_args

import click

from humeval_power.assumptions import Assumed, Assumptions
from humeval_power.differences import Difference
from humeval_power.inference.replication import MOST_FAILURES, NO_LOSSES
from humeval_power.interfaces.cli.compiling import answer_before_compiling
from humeval_power.interfaces.cli.effect_options import (
    NO_DIFFERENCE,
    TypedEffects,
    effect_needed,
    effect_options,
    warn_beyond,
)
from humeval_power.interfaces.cli.invocation import EXIT_TARGET_MISSED, typed_command
from humeval_power.interfaces.cli.loss_options import loss_options
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber
from humeval_power.interfaces.cli.options import (
    jobs_option,
    result_options,
    rule_options,
    seed_option,
    simulations_option,
)
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite
from humeval_power.interfaces.cli.plan_options import amend_option, load_plan, plan_option
from humeval_power.interfaces.cli.power_text import power_text
from humeval_power.interfaces.cli.progress import in_steps, progress
from humeval_power.interfaces.cli.required_options import Command, needs
from humeval_power.interfaces.cli.study_options import (
    StudyOptions,
    default_jobs,
    grid_options,
    load_settings,
    only_setting,
    source_needed,
    study_options,
)
from humeval_power.interfaces.cli.work_ahead import precise_simulations, refuse_work, tell_work
from humeval_power.interfaces.formats.documents import to_json
from humeval_power.planning.analytic import AnalyticPower, analytic_power
from humeval_power.planning.comparison import Method
from humeval_power.planning.halfway import halfway_power
from humeval_power.planning.plan import Plan
from humeval_power.planning.power import DEFAULT_SEED, DEFAULT_SIMULATIONS, MAX_SIMULATIONS
from humeval_power.planning.surface import Cell, CellResult, list_cells, run_surface
from humeval_power.planning.workload import NOTHING, Workload, rating_study_workload
from humeval_power.reporting.records import power_record
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
_WAY_OUT = "--method analytic"
precision_option = click.option(
    "--precision",
    type=RealNumber(0, 0.5, min_open=True, max_open=True),
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


_IN_PLAN = {
    *("parameters", "preset", "allow_not_identified", "values", "response", "points"),
    *("scale", "lower_is_better", "workers", "items", "ratings_per_item", "paired", "design"),
    *("max_ratings_per_worker", "effect", "effect_raw"),
    *("estimator", "df", "alternative", "analysis", "margin", "margin_raw", "alpha", "compat"),
}


@click.command("power", cls=Command)
@study_options
@loss_options
@plan_option
@amend_option
@click.option("--workers", type=WholeNumber(), help="Number of workers.")
@click.option("--items", type=WholeNumber(), help="Number of items.")
@effect_options(
    "True difference B - A on [0, 1] that the study should find; with --margin the one assumed. [0 with "
    "--margin]"
)
@rule_options
@compat_option
@method_option
@simulations_option
@precision_option
@seed_option
@jobs_option
@strict_option
@result_options
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
    effect: TypedEffects | None,
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
        _refuse_beside_plan(click.get_current_context())
        if planned.looks is not None:
            note(
                "This is the power of one test at the planned end. The plan has looks before it, which cost "
                f"some: it promises {planned.recomputed_power():.3f} by formula."
            )
        cells, settings, said = _planned(planned, losses, exclusion)
    else:
        cells, settings, said = _typed(
            study, workers, items, effect or NO_DIFFERENCE, rule, compat, losses, exclusion
        )
    results: list[CellResult] = []
    study_asked = cells[0].study
    cells += _halfway(cells[0])
    if method != "analytic":
        n_simulations = precise_simulations(simulations or DEFAULT_SIMULATIONS, precision, MAX_SIMULATIONS)
        refuse_if_too_large(cells, n_simulations, jobs or default_jobs())
    analytic = None if method == "simulate" else analytic_answer(study_asked)
    if method != "analytic":
        if analytic is not None:
            answer_before_compiling(study_asked, f"By formula the power is {analytic.power:.3f}.")
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
        text = to_json({"understood": str(said), **record})
    else:
        text = power_text(cells[0], simulated, analytic, settings, said, unit, halfway)
    emit(text, output=output, force=force)
    end_if_failed(results, strict=strict)


def _refuse_beside_plan(ctx: click.Context) -> None:
    """What a plan says cannot be typed beside it: it would be lost."""
    given = [
        parameter.opts[0]
        for parameter in ctx.command.params
        if parameter.name in _IN_PLAN
        and ctx.get_parameter_source(parameter.name) is click.core.ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(
            f"--plan has the parameters, the size, the effect and the test: leave out {', '.join(given)}."
        )


def _planned(
    plan: Plan, losses: Losses, exclusion: Exclusion
) -> tuple[list[Cell], Assumptions, Difference]:
    planned = replace(plan.study(), losses=losses, exclusion=exclusion)
    settings = Assumptions((Assumed(plan.source.name, plan.parameters),), plan.scale, plan.systems)
    return [Cell(plan.source.name, planned)], settings, Difference(plan.effect, plan.scale)


def _typed(
    study: StudyOptions,
    workers: int | None,
    items: int | None,
    effect: TypedEffects,
    rule: DecisionRule,
    compat: str | None,
    losses: Losses,
    exclusion: Exclusion,
) -> tuple[list[Cell], Assumptions, Difference]:
    assert workers is not None  # asked for before
    assert items is not None
    settings = load_settings(study)
    name, parameters = only_setting(settings)
    if compat and rule.margin is not None:
        raise click.UsageError("--compat card2020 tests for a difference: leave out --margin.")
    if compat:
        said = Difference(CARD2020_UNIT * effect.coefficients(CARD2020_UNIT)[0], settings.scale)
    else:
        said = effect.one(settings.scale)
    warn_beyond(settings, [said])
    cells = list_cells(
        {name: parameters},
        workers=[workers],
        items=[items],
        effects=[said.value],
        rule=CARD2020 if compat else rule,
        losses=losses,
        exclusion=exclusion,
        **grid_options(study, settings),
    )
    return cells, settings, said


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
    n_simulations = DEFAULT_SIMULATIONS if simulations is None else simulations
    most = precise_simulations(n_simulations, precision, MAX_SIMULATIONS)
    tell_work(_work_of(cells, most, jobs or default_jobs()), n_simulations=most, way_out=_WAY_OUT)
    with kernels_for(cells), progress("Simulating", total=len(cells)) as advance:
        return run_surface(
            cells,
            n_simulations=n_simulations,
            precision=precision,
            seed=DEFAULT_SEED if seed is None else seed,
            n_jobs=jobs or default_jobs(),
            progress=in_steps(advance),
        )


def refuse_if_too_large(cells: list[Cell], n_simulations: int, n_jobs: int) -> None:
    """Refuse what cannot fit or takes years, before anything else is computed."""
    refuse_work(_work_of(cells, n_simulations, n_jobs), n_simulations=n_simulations, way_out=_WAY_OUT)


def _work_of(cells: list[Cell], n_simulations: int, n_jobs: int) -> Workload:
    work = NOTHING
    for cell in cells:
        work += rating_study_workload(cell.study, n_simulations=n_simulations, n_jobs=n_jobs)
    return work


def kernels_for(cells: list[Cell]) -> AbstractContextManager[None]:
    """Have the compiled kernels ready, if any of the cells needs them."""
    if all(cell.study.replication.closed_form and cell.study.rule.estimator == "reml" for cell in cells):
        return nullcontext()
    from humeval_power.interfaces.cli.compiling import compiled_kernels

    return compiled_kernels()


def end_if_failed(results: list[CellResult], *, strict: bool) -> None:
    """Say how many fits failed, and end with 3 if no power can be given for them, under --strict if it is
    more than 1 %."""
    worst = max((result.estimate.failure_rate for result in results), default=0.0)
    failed = sum(result.estimate.n_failed for result in results)
    if failed:
        note(
            f"{failed:,} fits failed, at most {100 * worst:.1f} % of a cell. They count as not significant."
        )
    if worst > MOST_FAILURES:
        note(
            f"Where more than {100 * MOST_FAILURES:.0f} % of the fits fail no power is given: the other "
            "studies are no fair sample. Plan more ratings of each worker and item."
        )
        sys.exit(EXIT_TARGET_MISSED)
    if strict and worst > MAX_FAILURE_RATE:
        sys.exit(EXIT_TARGET_MISSED)
