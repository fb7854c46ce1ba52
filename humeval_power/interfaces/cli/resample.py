"""`humeval-power resample`: power of any test on studies drawn from a study's own ratings."""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from humeval_power.api.progress import in_steps, progress
from humeval_power.interfaces.cli.effect_options import TypedEffects, effect_options
from humeval_power.interfaces.cli.numbers import number_list
from humeval_power.interfaces.cli.options import (
    TableOptions,
    alpha_option,
    default_jobs,
    df_option,
    result_options,
    run_options,
    table_options,
)
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite, wrapped
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import EXIT_TARGET_MISSED, typed_command
from humeval_power.interfaces.cli.text import text_table
from humeval_power.interfaces.cli.work_ahead import tell_work
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.planning.workload import NOTHING, Workload, table_workload
from humeval_power.reporting.numbers import decimals

if TYPE_CHECKING:
    from humeval_power.planning.power import PowerEstimate
    from humeval_power.ratings import Ratings
    from humeval_power.scenarios.resample import ResampledRatings, Unit

SCHEMA = "humeval_power/resample/1"
SIMULATIONS = 1000
UNITS = ("rating", "item", "worker", "both")
TESTS = ("mixed", "ratings-t", "mann-whitney", "item-means-t", "wilcoxon", "worker-means-t")
POST_HOC = (
    "Without --shift the studies have the difference that was observed. Their power is a function of the "
    "observed p-value and says nothing that the p-value does not (Card et al. 2020, appendix A): give the "
    "difference that would matter with --shift."
)
FEW_WORKERS = 10
_MEANING = {
    "rating": "ratings are drawn one by one, as if all were independent",
    "item": "items are drawn; the workers stay these very people",
    "worker": "workers are drawn; the items stay these very items",
    "both": "workers and items are drawn: another study by other people on other items",
}


@dataclass(frozen=True, slots=True)
class _Row:
    scenario: ResampledRatings
    estimate: PowerEstimate


def _tests(_ctx: click.Context, _option: click.Parameter, text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    unknown = [name for name in names if name not in TESTS]
    if unknown:
        raise click.BadParameter(f"there is no test {unknown[0]!r}; there are {', '.join(TESTS)}.")
    return names


@click.command("resample", cls=Command)
@click.argument("file", metavar="RATINGS")
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
@run_options
@result_options
def command(
    file: str,
    table: TableOptions,
    by: Unit,
    workers: tuple[int, ...] | None,
    items: tuple[int, ...] | None,
    ratings: tuple[int, ...] | None,
    tests: tuple[str, ...],
    shift: TypedEffects | None,
    df: Any,
    alpha: float,
    simulations: int | None,
    seed: int | None,
    jobs: int | None,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """How often would a test find an effect in studies drawn from these ratings?

    RATINGS is a table as 'check' reads it, of two systems. Each study draws
    ratings, items, workers or workers and items with replacement, of any
    number, and runs each test on them. No model of the ratings is needed; but
    nothing varies that did not vary in RATINGS.
    """
    from humeval_power.interfaces.cli.compiling import compiled_kernels
    from humeval_power.interfaces.cli.loading import load_ratings
    from humeval_power.planning.power import DEFAULT_SEED, estimate_power
    from humeval_power.rules import DecisionRule
    from humeval_power.scenarios.resample import ResampledRatings

    if output is not None:
        refuse_to_overwrite([output], force=force)
    rule = DecisionRule(df=df, alpha=alpha)
    loaded = load_ratings(file, table)
    said = None if shift is None else shift.one(loaded.scale)
    moved = None if said is None else said.value
    first = ResampledRatings(
        loaded, by=by, test=tests[0], shift=moved, points=loaded.scale.points, rule=rule
    )
    _warn(loaded, by, moved)
    sizes = itertools.product(workers or (None,), items or (None,), ratings or (None,))
    cells = [
        replace(first, workers=m, items=n, ratings=k, test=test) for m, n, k in sizes for test in tests
    ]
    n_simulations, n_jobs = simulations or SIMULATIONS, jobs or default_jobs()
    work = NOTHING
    for cell in cells:
        work += _work_of(cell, loaded, n_simulations, n_jobs)
    tell_work(work, n_simulations=n_simulations)
    rows = []
    used = DEFAULT_SEED if seed is None else seed
    with compiled_kernels(), progress("Drawing", total=len(cells) * n_simulations) as advance:
        for cell in cells:
            found = estimate_power(
                cell,
                n_simulations=n_simulations,
                seed=used,
                n_jobs=n_jobs,
                progress=in_steps(advance),
            )
            rows.append(_Row(cell, found))
    words = "the observed difference" if said is None else str(said)
    record = {"understood": words, **_record(loaded, rows, used)}
    text = f"{wrapped(words, bullet='Effect   ')}\n\n{_text(loaded, rows)}"
    emit(to_json(record) if as_json else text, output=output, force=force)
    if any(row.estimate.too_many_failed for row in rows):
        sys.exit(EXIT_TARGET_MISSED)


def _work_of(cell: ResampledRatings, ratings: Ratings, n_simulations: int, n_jobs: int) -> Workload:
    """Of drawing and testing studies of a cell."""
    size = cell.size
    m, n = size.get("workers", ratings.n_workers), size.get("items", ratings.n_items)
    share = m * n / (ratings.n_workers * ratings.n_items)
    n_ratings = 2.0 * size["ratings"] if "ratings" in size else ratings.n_ratings * share
    return table_workload(n_ratings, min(m, n), n_simulations=n_simulations, n_jobs=n_jobs)


def _warn(ratings: Ratings, by: Unit, shift: float | None) -> None:
    if shift is None:
        note(POST_HOC)
    else:
        mean = float(ratings.rating[ratings.system == 0].mean())
        if not 0 <= mean + shift <= 1:
            note(
                f"The mean of {ratings.system_names[0]} is {mean:.3f} on [0, 1]: a difference of {shift:g} would "
                "put that of the other system beyond the scale, where no study can find it."
            )
    if by in ("worker", "both") and ratings.n_workers < FEW_WORKERS:
        note(
            f"Drawing from {ratings.n_workers} workers shows little of how workers differ; the power is a "
            "rough guide. 'power' and 'plan' assume a law of workers instead."
        )
    if by in ("item", "rating"):
        note(
            f"By {by}, {_MEANING[by]}: where workers differ in the difference between the systems, a study "
            "with other workers has less power than this."
        )


def _record(ratings: Ratings, rows: list[_Row], seed: int) -> dict[str, object]:
    from humeval_power.reporting.records import versions

    return {
        "schema": SCHEMA,
        "source": ratings.source,
        "systems": list(ratings.system_names),
        "by": rows[0].scenario.by,
        "shift": rows[0].scenario.shift,
        "post_hoc": rows[0].scenario.shift is None,
        "rows": [
            {
                "test": row.scenario.test,
                **row.scenario.size,
                "observed": row.scenario.observed,
                "effect": row.scenario.true_effect,
                "power": row.estimate.power,
                "interval": list(row.estimate.interval),
                "rejection_rate": row.estimate.rejection_rate,
                "type_m": row.estimate.type_m,
                "type_s": row.estimate.type_s,
                "n_simulations": row.estimate.n_simulations,
                "n_failed": row.estimate.n_failed,
            }
            for row in rows
        ],
        "alpha": rows[0].scenario.alpha,
        "seed": seed,
        "versions": versions(),
        "command": typed_command(),
    }


def _text(ratings: Ratings, rows: list[_Row]) -> str:
    first = rows[0].scenario
    a, b = ratings.system_names
    about = "the observed difference"
    if first.shift is not None:
        scale = ratings.scale
        about = f"a difference of {first.shift:g} on [0, 1]"
        if (scale.low, scale.high) != (0, 1):
            raw = abs(scale.effect_to_raw(first.shift))
            about += f", {raw:g} on the scale {scale.low:g} to {scale.high:g}"
    counts = list(first.size)
    observed = sorted({f"{row.scenario.observed:.4f}" for row in rows}, key=float)
    between = observed[0] if len(observed) == 1 else f"{observed[0]} to {observed[-1]}, by the test"
    n_failed = max(row.estimate.n_failed for row in rows)
    lines = [
        wrapped(
            f"{ratings.source}: {ratings.n_ratings:,} ratings, {ratings.n_workers:,} workers, "
            f"{ratings.n_items:,} items; the effect is {b} - {a}, observed {between}; "
            f"the studies have {about}."
        ),
        wrapped(
            f"By {first.by}: {_MEANING[first.by]}. {rows[0].estimate.n_simulations:,} studies for each row, "
            f"two-sided, alpha {first.alpha:g}."
        ),
        "",
    ]
    none = first.true_effect == 0
    header = ["test", *counts, *(["rejects", "interval"] if none else _FOUND)]
    body = [[row.scenario.test, *_sizes(row), *_numbers(row.estimate, none=none)] for row in rows]
    lines.append(text_table(header, body, indent=""))
    if n_failed:
        lines.append(
            wrapped(
                f"In a row up to {n_failed:,} of the studies could not be tested (a single worker or item was "
                "drawn, or nothing varied, or the fit failed); they count as not significant. "
                "Above 20 % no rate is given."
            )
        )
    return "\n".join(lines)


_FOUND = ("power", "interval", "type M", "type S")


def _sizes(row: _Row) -> list[str]:
    return [f"{value:,}" for value in row.scenario.size.values()]


def _numbers(estimate: PowerEstimate, *, none: bool) -> list[str]:
    """What was found: the power and its errors; how often the test rejects, where there is no effect."""
    low, high = estimate.rejection_interval if none else estimate.interval
    value = estimate.rejection_rate if none else estimate.power
    errors = [] if none else [decimals(estimate.type_m, 2), decimals(estimate.type_s, 3)]
    if estimate.too_many_failed:
        return ["none", "", *("" for _ in errors)]
    return [f"{value:.3f}", f"{low:.3f}-{high:.3f}", *errors]
