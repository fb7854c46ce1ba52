"""`humeval-power resample`: power of any test on studies drawn from a study's own ratings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from humeval_power.interfaces.asking.command import StudyCommand, Use
from humeval_power.interfaces.asking.options import file_argument
from humeval_power.interfaces.asking.resolve import EffectInput
from humeval_power.interfaces.asking.study_values import StudyValues, study_fields
from humeval_power.interfaces.cli.adapting import one_table
from humeval_power.interfaces.cli.numbers import RealNumber, number_list
from humeval_power.interfaces.cli.options import COLUMNS_OF_MODEL, TABLE, TABLE_OPTIONS
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.run import Run, with_run
from humeval_power.rules import DecisionRule

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
@study_fields(*TABLE, "df", "alpha", but=COLUMNS_OF_MODEL, **TABLE_OPTIONS)
@click.option(
    "--unit",
    type=click.Choice(UNITS),
    default="both",
    show_default=True,
    help="What is drawn with replacement.",
)
@click.option("--workers", metavar="LIST", callback=number_list(int), help="Numbers of workers. [as many]")
@click.option("--items", metavar="LIST", callback=number_list(int), help="Numbers of items. [as many]")
@click.option(
    "--ratings-per-system",
    "n_ratings",
    metavar="LIST",
    callback=number_list(int),
    help="Numbers of ratings of each system, with --unit rating. [as many]",
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
@click.option(
    "--shift",
    type=RealNumber(),
    help="True difference B - A on [0, 1] that the studies shall have. [the observed one]",
)
@click.option("--shift-raw", type=RealNumber(), help="The same in points of the scale; see --scale.")
@with_run
@with_result()
def command(
    study: StudyValues,
    unit: Unit,
    workers: tuple[int, ...] | None,
    items: tuple[int, ...] | None,
    n_ratings: tuple[int, ...] | None,
    tests: tuple[str, ...],
    shift: float | None,
    shift_raw: float | None,
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

    if shift is not None and shift_raw is not None:
        raise click.UsageError("Give --shift on [0, 1] or --shift-raw in points of the scale; one of them.")
    moved = None if shift is None else EffectInput("--shift", (shift,))
    if shift_raw is not None:
        moved = EffectInput("--shift-raw", (shift_raw,), raw=True)
    loaded = load_ratings(study.ratings, study, tell=False)
    n_simulations = run.simulations(SIMULATIONS)
    return resample(
        loaded,
        unit=unit,
        tests=tests,
        workers=workers,
        items=items,
        n_ratings=n_ratings,
        shift=None if moved is None else moved.one(loaded.scale),
        rule=DecisionRule(df=study.df, alpha=study.alpha),
        n_simulations=n_simulations,
        seed=run.seed,
        n_jobs=run.n_jobs,
        ahead=partial(tell_work, n_simulations=n_simulations),
    )
