"""`humeval-power fit`: the seven parameters of a table of ratings."""

from __future__ import annotations

import sys
from typing import Any, get_args

import click

from humeval_power.estimation.fit import Engine, Fit
from humeval_power.estimation.interaction import interaction_gain
from humeval_power.inference.study.intervals import IntervalMethod, parameter_intervals
from humeval_power.inference.study.simulated_test import simulated_test
from humeval_power.inference.study.wald import check_engine_df, difference_test, effect_test
from humeval_power.interfaces.cli.compiling import compiled_kernels
from humeval_power.interfaces.cli.loading import load_ratings
from humeval_power.interfaces.cli.options import (
    TableOptions,
    default_jobs,
    result_options,
    rule_options,
    run_options,
    table_options,
)
from humeval_power.interfaces.cli.output import note, refuse_to_overwrite, say, write_file
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import EXIT_TARGET_MISSED, typed_command
from humeval_power.interfaces.cli.study.fit_text import fit_text
from humeval_power.interfaces.cli.work_ahead import tell_work
from humeval_power.interfaces.formats.documents.reading import read_parameters, to_json
from humeval_power.planning.power import DEFAULT_SEED, DEFAULT_SIMULATIONS
from humeval_power.planning.study.analytic import FEW_WORKERS
from humeval_power.planning.study.calibration import size_of_test
from humeval_power.planning.workload import rating_study_workload, study_workload
from humeval_power.ratings import Ratings
from humeval_power.reporting.records import PARAMETERS_SCHEMA, versions
from humeval_power.reporting.study.fit_content import fit_content
from humeval_power.rules import DecisionRule
from humeval_power.scenarios.study import RatingStudy

_SMALL_TABLE = 20_000  # ratings up to which the worker-item term is looked for unasked


@click.command("fit", cls=Command)
@click.argument("file", metavar="FILE")
@table_options
@click.option(
    "--engine",
    type=click.Choice(get_args(Engine)),
    default="native",
    show_default=True,
    help="What fits the model; lme4 and statsmodels are slow references.",
)
@rule_options
@click.option(
    "--worker-item",
    is_flag=True,
    help="Also estimate what a worker and an item share under both systems.",
)
@click.option(
    "--intervals",
    type=click.Choice(["asymptotic", "profile", "bootstrap"]),
    default="asymptotic",
    show_default=True,
    help="How the parameters' 95 % intervals are found; the last two take longer.",
)
@click.option(
    "--assumed",
    metavar="FILE",
    help="Parameters under which --df calibrated simulates. [required by it]",
)
@run_options
@click.option("--strict", is_flag=True, help="End with 3 if the fit did not converge.")
@result_options
def command(
    file: str,
    table: TableOptions,
    engine: Engine,
    rule: DecisionRule,
    worker_item: bool,
    intervals: IntervalMethod,
    assumed: str | None,
    simulations: int | None,
    seed: int | None,
    jobs: int | None,
    strict: bool,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """Estimate the effect and the variances from a table of ratings.

    FILE is a table as 'check' reads it. The model is a linear mixed model with
    crossed workers and items: rating = b0 + W0 + I0 + (b1 + W1 + I1) x + e on
    the [0, 1] scale, x = -1/2 for system A and +1/2 for B. With -o the
    parameters are written as JSON, for 'power', 'surface' and 'report'.
    """
    if output is not None:
        refuse_to_overwrite([output], force=force)
    ratings = load_ratings(file, table)
    check_engine_df(engine, rule, n_ratings=len(ratings.rating))
    from humeval_power.estimation.fitting import fit
    from humeval_power.estimation.native import kernels_ready, quick_start

    cold = not kernels_ready()
    with compiled_kernels(), quick_start():
        fitted = fit(ratings, estimator=rule.estimator, engine=engine, worker_item=worker_item)
    if cold and engine == "native" and not kernels_ready():
        note("The kernels are not compiled yet: this fit is by dense matrices, the same model and search.")
    simulation: dict[str, Any] = {
        "n_simulations": simulations or DEFAULT_SIMULATIONS,
        "seed": DEFAULT_SEED if seed is None else seed,
        "n_jobs": jobs or default_jobs(),
    }
    few = fitted.n_workers < FEW_WORKERS and not rule.is_simulated
    if simulations is not None or rule.is_simulated or intervals == "bootstrap" or few:
        closed = few and intervals != "bootstrap"
        tell_simulations(fitted, ratings, rule, simulation, closed_form=closed)
    if rule.is_simulated:
        given = None if assumed is None else read_parameters(assumed)[0]
        tested = simulated_test(fitted, ratings.design(), rule, assumed=given, **simulation)
    elif rule.analysis == "differences":
        tested = difference_test(ratings, rule)
    else:
        tested = effect_test(fitted, rule)
    size = None
    if fitted.n_workers < FEW_WORKERS and not rule.is_simulated and not tested.reason:
        size = size_of_test(fitted.parameters, ratings.design(), rule=rule, **simulation)
    ranges = None
    if fitted.converged:
        ranges = parameter_intervals(fitted, ratings, method=intervals, **simulation)
    shown = None if ranges is None else (intervals, ranges)
    content = fit_content(ratings, fitted, tested, size=size, intervals=shown)
    document = {"schema": PARAMETERS_SCHEMA, **content, "versions": versions(), "command": typed_command()}
    if output is not None and output != "-":
        write_file(output, to_json(document), force=force)
        note(f"Written: {output}")
    if as_json or output == "-":
        say(to_json(document), nl=False)
    else:
        gain = 0.0
        if not worker_item and rule.analysis == "ratings" and len(ratings.rating) <= _SMALL_TABLE:
            with quick_start():
                gain = interaction_gain(ratings)
        say(fit_text(ratings, fitted, tested, ranges or {}, size, gain))
    if strict and not fitted.converged:
        sys.exit(EXIT_TARGET_MISSED)


def tell_simulations(
    fitted: Fit, ratings: Ratings, rule: DecisionRule, simulation: dict[str, Any], *, closed_form: bool
) -> None:
    """Say how long studies like this one will take to simulate, or refuse them; `closed_form` where they may
    be drawn by their mean squares."""
    n_simulations, n_jobs = simulation["n_simulations"], simulation["n_jobs"]
    design = ratings.design()
    work = study_workload(design, n_simulations=n_simulations, n_jobs=n_jobs)
    if closed_form:
        study = RatingStudy(fitted.parameters, design, rule=rule)
        work = rating_study_workload(study, n_simulations=n_simulations, n_jobs=n_jobs)
    tell_work(work, n_simulations=n_simulations)
