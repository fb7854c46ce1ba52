"""`humeval-power compare FILE`: compare systems by a metric's scores of the same items."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from humeval_power.choices import CURVE_SIMULATIONS, DEFAULT_RESAMPLES
from humeval_power.interfaces.cli.compare.config import (
    ConfiguredCommand,
    config_options,
    config_text,
    note_config,
)
from humeval_power.interfaces.cli.compare.options import asked_question, test_options
from humeval_power.interfaces.cli.compare.reading import Reading, read_tables, reading_options
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.run import Run, with_run
from humeval_power.interfaces.cli.runs.instead import run_option, test_of_runs

if TYPE_CHECKING:
    from humeval_power.inference.compare.score_table import ScoreTable
    from humeval_power.reporting.compare.many import ManyResult
    from humeval_power.reporting.compare.pair import PairResult
    from humeval_power.reporting.compare.sets import SetsResult
    from humeval_power.reporting.runs.test import RunsTestResult


@click.command("scores", cls=ConfiguredCommand)
@reading_options
@run_option
@test_options
@config_options
@with_run
@with_result(beside={"write_config": lambda _: config_text(click.get_current_context())})
def scores_command(
    reading: Reading,
    run_column: str | None,
    question: Any,
    procedure: Any,
    resamples: int | None,
    power_by: Any,
    power_sizes: tuple[int, ...] | None,
    config: str | None,
    write_config: str | None,
    run: Run,
    **given: Any,
) -> PairResult | ManyResult | SetsResult | RunsTestResult:
    """Compare systems by a metric's scores of the same items.

    FILE has one row an item and one column a system, or the columns item,
    system, score; or it holds two columns of numbers and no header; or two
    files hold one number a line, A first. --config takes files and options from
    a TOML file.
    """
    note_config(config, write_config, reading.files)
    if run_column is not None:
        return test_of_runs(reading.files, run_column)
    from humeval_power.api import compare

    asked = asked_question(question, procedure)
    tables = read_tables(reading)
    n_resamples, n_simulations = resamples or DEFAULT_RESAMPLES, run.simulations(CURVE_SIMULATIONS)
    sizes = () if power_by == "formula" else power_sizes or None
    _tell_work(tables.values(), n_resamples, n_simulations, run.slots, sizes=sizes)
    return compare.scores(
        tables,
        question=asked,
        procedure=procedure,
        independent=reading.dataset is not None,
        n_resamples=n_resamples,
        power_by=power_by,
        power_sizes=power_sizes or (),
        n_simulations=n_simulations,
        seed=run.seed,
        n_jobs=run.n_jobs,
        **given,
    )


def _tell_work(
    tables: Iterable[ScoreTable],
    n_resamples: int,
    n_simulations: int,
    n_jobs: int,
    *,
    sizes: tuple[int, ...] | None,
) -> None:
    """Say how long resampling and simulating will take for these tables, or refuse it."""
    from humeval_power.interfaces.cli.work_ahead import tell_work
    from humeval_power.planning.compare.power import curve_sizes
    from humeval_power.planning.workload import NOTHING, comparison_workload

    simulated, resampled = NOTHING, NOTHING
    for table in tables:
        pairs = math.comb(len(table.systems), 2)
        resampled += comparison_workload("compare", table.n_items, n_simulations=pairs * n_resamples)
        if pairs > 1:
            continue  # there the power of no pair is simulated
        n = table.n_items if table.clusters is None else table.clusters.n_clusters
        for size in curve_sizes(n) if sizes is None else sizes:
            simulated += comparison_workload("compare", size, n_simulations=n_simulations, n_jobs=n_jobs)
    tell_work(simulated, n_simulations=n_simulations)
    tell_work(resampled, n_simulations=n_resamples, option="--resamples")
