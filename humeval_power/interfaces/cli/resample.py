"""`humeval-power resample`: power of any test on studies drawn from a study's own ratings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from humeval_power.interfaces.asking.command import StudyCommand, Use
from humeval_power.interfaces.asking.options import file_argument
from humeval_power.interfaces.cli.adapting import one_table
from humeval_power.interfaces.cli.effect_options import TypedEffects, effect_options
from humeval_power.interfaces.cli.numbers import number_list
from humeval_power.interfaces.cli.options import TableOptions, alpha_option, df_option, table_options
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.run import Run, with_run
from humeval_power.rules import DecisionRule, DegreesOfFreedom

if TYPE_CHECKING:
    from humeval_power.reporting.resample.result import ResampleResult
    from humeval_power.scenarios.resample import Unit


UNITS = ("rating", "item", "worker", "both")
TESTS = ("mixed", "ratings-t", "mann-whitney", "item-means-t", "wilcoxon", "worker-means-t")


def _tests(_ctx: click.Context, _option: click.Parameter, text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    unknown = [name for name in names if name not in TESTS]
    if unknown:
        raise click.BadParameter(f"there is no test {unknown[0]!r}; there are {', '.join(TESTS)}.")
    return names


@click.command("resample", cls=StudyCommand, use=Use(adapts=one_table))
@file_argument("ratings", metavar="RATINGS")
@table_options
@click.option(
    "--by",
    type=click.Choice(UNITS),
    default="both",
    show_default=True,
    help="What is drawn with replacement.",
)
@click.option("--workers", metavar="LIST", callback=number_list(int), help="Numbers of workers. [as many]")
@click.option("--items", metavar="LIST", callback=number_list(int), help="Numbers of items. [as many]")
@click.option(
    "--ratings",
    metavar="LIST",
    callback=number_list(int),
    help="Numbers of ratings of each system, with --by rating. [as many]",
)
@click.option(
    "--test",
    "tests",
    metavar="LIST",
    default="mixed",
    show_default=True,
    callback=_tests,
    help=f"Tests: {', '.join(TESTS)}.",
)
@effect_options(
    "True difference B - A on [0, 1] that the studies shall have. [the observed one]",
    option="--shift",
    parameter="shift",
)
@df_option
@alpha_option
@with_run
@with_result()
def command(
    file: str,
    table: TableOptions,
    by: Unit,
    workers: tuple[int, ...] | None,
    items: tuple[int, ...] | None,
    ratings: tuple[int, ...] | None,
    tests: tuple[str, ...],
    shift: TypedEffects | None,
    df: DegreesOfFreedom,
    alpha: float,
    run: Run,
) -> ResampleResult:
    """How often would a test find an effect in studies drawn from these ratings?

    RATINGS is a table as 'check' reads it, of two systems. Each study draws
    ratings, items, workers or workers and items with replacement, of any
    number, and runs each test on them. No model of the ratings is needed; but
    nothing varies that did not vary in RATINGS.
    """
    from humeval_power.api.resample import SIMULATIONS, resample
    from humeval_power.interfaces.cli.loading import load_ratings
    from humeval_power.interfaces.cli.work_ahead import tell_work

    loaded = load_ratings(file, table, tell=False)
    n_simulations = run.simulations(SIMULATIONS)
    return resample(
        loaded,
        by=by,
        tests=tests,
        workers=workers,
        items=items,
        n_ratings=ratings,
        shift=None if shift is None else shift.one(loaded.scale),
        rule=DecisionRule(df=df, alpha=alpha),
        n_simulations=n_simulations,
        seed=run.seed,
        n_jobs=run.n_jobs,
        ahead=partial(tell_work, n_simulations=n_simulations),
    )
