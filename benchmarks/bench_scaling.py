"""How time per fit grows with items and workers, and how memory grows with replicates.

    python benchmarks/bench_scaling.py [--quick] [--picture PATH]

Sparse paired designs with k = 3. `fit` is the public function on one table, `replicate` one of a batch
that starts at the generating values, both on one thread, with Satterthwaite's and Kenward-Roger's df;
`refit` is lme4's. lme4 is left out beyond the first size at which refit takes more than 30 s.
Memory is the peak of a process of its own that runs estimate_power. PATH is written as .png and .svg.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from studies import (
    PARAMETERS,
    Study,
    machine,
    peak_mb,
    print_table,
    run_python,
    run_r,
    simulated,
    time_of,
    wait_until_quiet,
)

from humeval_power.designs import crossed, k_per_item
from humeval_power.estimation.crossed.fits import fit_batch
from humeval_power.estimation.crossed.problem import COMPONENTS, CrossedProblem
from humeval_power.estimation.fitting import fit
from humeval_power.studies.power.estimate import estimate_power
from humeval_power.studies.power.scenario import RatingStudy

LIMIT = 30.0  # seconds of one refit beyond which lme4 is not tried on larger tables
GIVE_UP = 300.0  # seconds for a whole R script
ITEM_SWEEP = [(10, n_items) for n_items in (100, 300, 1000, 3000, 10_000, 16_667)]
WORKER_SWEEP = [(n_workers, 2000) for n_workers in (10, 30, 100, 300, 1000)]
MEMORY = {"complete 10 x 100": (10**4, 10**5, 10**6), "sparse 10 x 100, k = 3": (10**3, 10**4)}


@dataclass(frozen=True)
class Point:
    """Median seconds on one table; `refit` is None where lme4 was not run."""

    workers: int
    items: int
    ratings: int
    fit: float
    replicate: float
    refit: float | None


def measure(workers: int, items: int, *, repeats: int, with_lme4: bool) -> Point:
    """Time one size."""
    rows = k_per_item(workers, items, ratings_per_item=3).assignment
    study = simulated(f"{workers} x {items}", rows, PARAMETERS, n_responses=repeats + 1)
    wait_until_quiet()
    singles = [time_of(lambda r=r: fit(study.with_response(r))) for r in range(1, repeats + 1)]
    return Point(
        workers,
        items,
        study.n_ratings,
        statistics.median(singles),
        replicate_seconds(study),
        refit_seconds(study) if with_lme4 else None,
    )


def replicate_seconds(study: Study) -> float:
    """Seconds for each fit of a batch, the design's own part included once."""
    n = max(2, min(256, 400_000 // study.n_ratings))
    responses = np.resize(study.responses, (n, study.n_ratings))
    start = np.array([getattr(PARAMETERS, name) for name in COMPONENTS]) / PARAMETERS.sd_residual

    def run() -> None:
        problem = CrossedProblem.of_design(study.rows.worker, study.rows.item, study.rows.system)
        fit_batch(problem, responses, start=start**2)

    return time_of(run) / n


def refit_seconds(study: Study) -> float | None:
    """Median seconds of lme4's refit, None if the script takes too long."""
    with tempfile.TemporaryDirectory() as folder:
        path = study.write(Path(folder, "study.json"))
        try:
            return statistics.median(run_r("refit.R", str(path), timeout=GIVE_UP)["refit"])
        except subprocess.TimeoutExpired:
            return None


def sweep(sizes: Sequence[tuple[int, int]], *, repeats: int) -> list[Point]:
    """All sizes, with lme4 for as long as it is quick enough."""
    points: list[Point] = []
    for workers, items in sizes:
        last = points[-1].refit if points else 0.0
        with_lme4 = last is not None and last < LIMIT
        points.append(measure(workers, items, repeats=repeats, with_lme4=with_lme4))
    return points


def print_points(points: Sequence[Point]) -> None:
    """One row for each size."""
    rows = [
        [
            f"{point.workers:,} x {point.items:,}",
            f"{point.ratings:,}",
            f"{point.fit * 1e3:,.1f}",
            f"{point.replicate * 1e3:,.2f}",
            f"{point.refit * 1e3:,.0f}" if point.refit else "-",
            f"{point.refit / point.fit:,.0f}" if point.refit else "-",
            f"{point.refit / point.replicate:,.0f}" if point.refit else "-",
        ]
        for point in points
    ]
    head = ["workers x items", "ratings", "fit ms", "replicate ms", "refit ms", "refit/fit"]
    print_table([*head, "refit/replicate"], rows)


def print_memory(sizes: dict[str, tuple[int, ...]]) -> None:
    """Peak size of a process by number of replicates."""
    rows = []
    for name, counts in sizes.items():
        for count in counts:
            answer = run_python(__file__, "--memory", name, str(count))
            rows.append([name, f"{count:,}", f"{answer['seconds']:.2f}", f"{answer['peak_mb']:.0f}"])
    print_table(["estimate_power", "replicates", "s", "peak MB"], rows)


def report_memory(name: str, count: int) -> None:
    """What the measured process does."""
    sparse = name.startswith("sparse")
    design = k_per_item(10, 100, ratings_per_item=3) if sparse else crossed(10, 100)
    study = RatingStudy(PARAMETERS, design)
    estimate_power(study, n_simulations=64)
    seconds = time_of(lambda: estimate_power(study, n_simulations=count))
    print(json.dumps({"seconds": seconds, "peak_mb": peak_mb()}))


def draw(path: Path, by_items: Sequence[Point], by_workers: Sequence[Point]) -> None:
    """Two panels, both axes logarithmic, as PATH.png and PATH.svg."""
    from matplotlib.figure import Figure

    from humeval_power.saying.figure_style import COLOURS, DASHES, MARKERS, figure_bytes, house_style

    labels = {
        "refit": "lme4 refit",
        "fit": "ours: fit of one table",
        "replicate": "ours: one replicate of many",
    }
    with house_style():
        figure = Figure(figsize=(6.6, 2.9), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        panels = (
            (left, by_items, "ratings", "ratings (10 workers, 6 ratings an item)"),
            (right, by_workers, "workers", "workers (2,000 items, 12,000 ratings)"),
        )
        for axes, points, across, label in panels:
            for place, (name, words) in enumerate(labels.items()):
                shown = [p for p in points if getattr(p, name) is not None]
                axes.plot(
                    [getattr(p, across) for p in shown],
                    [getattr(p, name) for p in shown],
                    color=COLOURS[place],
                    marker=MARKERS[place],
                    linestyle=DASHES[place],
                    label=words,
                )
            axes.set_xscale("log")
            axes.set_yscale("log")
            for axis in (axes.xaxis, axes.yaxis):  # plain numbers: the house style parses no powers
                axis.set_major_formatter(lambda value, _: f"{value:,g}" if value < 1e4 else f"{value:,.0f}")
                axis.set_minor_formatter(lambda *_: "")
            axes.set_xlabel(label)
        left.set_ylabel("seconds")
        figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=3)
        for format in ("png", "svg"):
            path.with_suffix(f".{format}").write_bytes(figure_bytes(figure, format))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one fit for each size, fewer sizes")
    parser.add_argument("--picture", type=Path, help="where to write the picture, without ending")
    parser.add_argument("--memory", nargs=2, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.memory:
        report_memory(wanted.memory[0], int(wanted.memory[1]))
        return
    print(machine())
    measure(10, 10, repeats=1, with_lme4=False)  # loads or compiles the kernels
    repeats = 1 if wanted.quick else 3
    print("\nitems grow: 10 workers, k = 3, paired; one thread; medians\n")
    by_items = sweep(ITEM_SWEEP[::2] if wanted.quick else ITEM_SWEEP, repeats=repeats)
    print_points(by_items)
    print("\nworkers grow: 2,000 items, k = 3, paired, 12,000 ratings; one thread; medians\n")
    by_workers = sweep(WORKER_SWEEP[:4] if wanted.quick else WORKER_SWEEP, repeats=repeats)
    print_points(by_workers)
    print("\nmemory where only summaries are kept\n")
    print_memory(MEMORY)
    if wanted.picture:
        draw(wanted.picture, by_items, by_workers)


if __name__ == "__main__":
    main()
