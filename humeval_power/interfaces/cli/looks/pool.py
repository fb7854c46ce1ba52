"""`humeval-power looks pool`: what looks would have saved on a pool of comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import click
import numpy as np

from humeval_power.api.progress import in_steps, progress
from humeval_power.checking.submissions import Rejected
from humeval_power.errors import InputError
from humeval_power.interfaces.cli.looks.text import facts_text, pool_text
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber, number_list
from humeval_power.interfaces.cli.options import (
    rejected_rows_option,
    result_options,
    seed_option,
    simulations_option,
)
from humeval_power.interfaces.cli.output import emit, refuse_to_overwrite
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.cli.work_ahead import tell_work
from humeval_power.planning.looks.pool import PoolStudy, pool_study, wei_rules
from humeval_power.planning.power import DEFAULT_SEED
from humeval_power.planning.workload import Workload, comparison_workload
from humeval_power.reporting.looks.records import pool_record
from humeval_power.scenarios.looks.pools import ScorePair, pair_of_samples, simulated_pool

DEFAULT_BUDGETS = (300, 600, 900, 1200, 1800, 2400, 3600, 5400)
POOL_SIMULATIONS = 1000
_PER_PAIR = 1000  # bytes of a pair of systems in memory
FILES = ("budget.png", "budget.svg", "spending.png", "spending.svg")


@click.command("pool", cls=Command)
@click.argument("file", required=False)
@click.option(
    "--system", metavar="COLUMN", default="system", show_default=True, help="Column of the system."
)
@click.option(
    "--rating", metavar="COLUMN", default="rating", show_default=True, help="Column of the score."
)
@rejected_rows_option
@click.option(
    "--simulated",
    type=WholeNumber(min=2),
    help="Instead of FILE: this many pairs with Gamma scores and Laplace differences.",
)
@click.option(
    "--typical-difference",
    type=RealNumber(0, 20, min_open=True),
    default=1.5,
    show_default=True,
    help="Mean absolute true difference of the simulated pairs, in points.",
)
@click.option(
    "--mean", type=RealNumber(), default=75.0, show_default=True, help="Mean score of simulated A."
)
@click.option("--sd", type=RealNumber(), default=25.0, show_default=True, help="SD of simulated scores.")
@click.option(
    "--budgets",
    metavar="LIST",
    callback=number_list(int),
    help="Planned judgements of a comparison, both systems together. "
    f"[{','.join(map(str, DEFAULT_BUDGETS))}]",
)
@click.option(
    "--at",
    metavar="LIST",
    callback=number_list(int),
    help="Budgets of a single look at which savings are told. [1200,3600]",
)
@click.option("--looks", type=WholeNumber(2, 10), default=3, show_default=True, help="Equal looks, Pocock.")
@simulations_option
@seed_option
@click.option("--figures", metavar="DIR", help="Directory for the pictures.")
@result_options
def pool(
    file: str | None,
    system: str,
    rating: str,
    rejected_rows: Rejected | None,
    simulated: int | None,
    typical_difference: float,
    mean: float,
    sd: float,
    budgets: tuple[int, ...] | None,
    at: tuple[int, ...] | None,
    looks: int,
    simulations: int | None,
    seed: int | None,
    figures: str | None,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """Average power against budget over many pairs of systems.

    Scores are drawn with replacement from those in FILE (a table with a column
    for the system and one for the score) for every pair of its systems, and
    tested by Mann and Whitney's U once, at Pocock's looks, and with a stop for
    futility at p > 0.5, as Wei, Kocmi and Federmann (2022) did.
    """
    written = [] if output is None else [Path(output)]
    written += [] if figures is None else [Path(figures) / name for name in FILES]
    refuse_to_overwrite(written, force=force)
    if (file is None) == (simulated is None):
        raise click.UsageError("Give a FILE of past scores, or --simulated with a number of pairs.")
    used = DEFAULT_SEED if seed is None else seed
    planned, n_simulations = budgets or DEFAULT_BUDGETS, simulations or POOL_SIMULATIONS
    if file is not None:
        pairs = read_pool(file, system=system, rating=rating, rejected_rows=rejected_rows)
        _tell_work(len(pairs), planned, n_simulations)
    else:
        assert simulated is not None
        _tell_work(simulated, planned, n_simulations)
        pairs = simulated_pool(simulated, typical=typical_difference, mean=mean, sd=sd)
    with progress("Pairs and budgets", total=len(pairs) * len(planned)) as advance:
        study = pool_study(
            pairs,
            budgets=planned,
            rules=wei_rules(looks),
            n_simulations=n_simulations,
            seed=used,
            progress=in_steps(advance),
        )
    told = at or (1200, 3600)
    pictures: dict[str, str | bytes] = {}
    if figures is not None:
        pictures = _figures(study, told[0])
    if as_json:
        from humeval_power.interfaces.formats.documents.reading import to_json

        names = [pair.name for pair in pairs]
        text = to_json(pool_record(study, names=names, at=told, seed=used, command=typed_command()))
    else:
        size = np.abs(study.differences)
        facts = [
            ("Pool", f"{len(pairs):,} pairs, {file or 'simulated'}"),
            ("Truth", f"differences of means 0 to {size.max():.2f} points, median {np.median(size):.2f}"),
            ("Looks", f"{looks}, Pocock; futility at p > 0.5"),
            ("Studies", f"{study.n_simulations:,} of each pair at each budget"),
        ]
        text = facts_text(facts) + "\n\nAverage power, and judgements spent:\n" + pool_text(study, at=told)
    emit(text, output=output, force=force, beside=pictures, folder=figures)


def _tell_work(n_pairs: int, budgets: Sequence[int], n_simulations: int) -> None:
    """Say how long the pool will take, or refuse it, before its pairs are made."""
    work = Workload(0.0, float(_PER_PAIR * n_pairs))
    for budget in budgets:
        each = comparison_workload("da", max(budget, 0), n_simulations=n_simulations)
        drawn = each.n_bytes * n_simulations  # they are drawn together
        work += Workload(each.seconds * n_pairs, drawn)
    tell_work(work, n_simulations=n_simulations)


def read_pool(
    path: str, *, system: str, rating: str, rejected_rows: Rejected | None = None
) -> list[ScorePair]:
    """Every pair of the systems in a table of scores.

    Raises
    ------
    InputError
        A file without the columns, with fewer than two systems, or with a system of fewer than two scores.
    """
    import pandas as pd

    from humeval_power.interfaces.cli.loading import read_decided

    frame = read_decided(path, rejected_rows).frame
    missing = [name for name in (system, rating) if name not in frame.columns]
    if missing:
        raise InputError(
            f"{path} has no column {', '.join(map(repr, missing))}; it has "
            f"{', '.join(map(str, frame.columns))}. Name them with --system and --rating."
        )
    scores = pd.to_numeric(frame[rating], errors="coerce")
    bad = scores.isna() & frame[rating].notna() & (frame[rating].astype(str).str.strip() != "")
    if bad.any():
        row = int(np.flatnonzero(bad.to_numpy())[0])
        raise InputError(
            f"{path}: row {frame.index[row]}, column {rating!r}: {frame[rating].iloc[row]!r} is not a number."
        )
    kept = scores.notna()
    by_system = {str(name): part.to_numpy() for name, part in scores[kept].groupby(frame[system][kept])}
    if len(by_system) < 2:
        raise InputError(f"{path} has scores of {len(by_system)} systems; a pool needs at least two.")
    return [
        pair_of_samples(by_system[one], by_system[other], name=f"{one} - {other}")
        for one, other in combinations(sorted(by_system), 2)
    ]


def _figures(study: PoolStudy, budget: int) -> dict[str, str | bytes]:
    from humeval_power.reporting.figure_style import figure_bytes
    from humeval_power.reporting.looks.pool_figures import budget_figure, spending_figure

    drawn = {"budget": budget_figure(study), "spending": spending_figure(study, budget=budget)}
    files: dict[str, str | bytes] = {}
    for name, figure in drawn.items():
        files[f"{name}.png"] = figure_bytes(figure, "png")
        files[f"{name}.svg"] = figure_bytes(figure, "svg")
    return files
