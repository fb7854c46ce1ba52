"""Run cells of rating studies for the terminal: the work ahead, the kernels, progress, and failed fits."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import get_args

import click

from humeval_power.api.progress import in_steps, progress
from humeval_power.inference.study.replication import MOST_FAILURES, NO_LOSSES
from humeval_power.interfaces.cli.numbers import RealNumber
from humeval_power.interfaces.cli.options import (
    default_jobs,
)
from humeval_power.interfaces.cli.output import note
from humeval_power.interfaces.cli.run import EXIT_TARGET_MISSED
from humeval_power.interfaces.cli.work_ahead import precise_simulations, refuse_work, tell_work
from humeval_power.planning.power import DEFAULT_SEED, DEFAULT_SIMULATIONS, MAX_SIMULATIONS
from humeval_power.planning.questions import Method
from humeval_power.planning.study.analytic import AnalyticPower, analytic_power
from humeval_power.planning.study.surface import Cell, CellResult, run_surface
from humeval_power.planning.workload import NOTHING, Workload, rating_study_workload
from humeval_power.scenarios.study import RatingStudy

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
