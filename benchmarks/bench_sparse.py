"""Sparse studies, k = 3, paired: simulated power on one and two cores against lme4's refit.

    python benchmarks/bench_sparse.py [--quick]

Ours simulates the ratings, fits them by REML from the generating values, and gives Satterthwaite's and
Kenward-Roger's df, the adjusted standard error and the p value. refit, at its default settings and on one
thread, gets ratings that are already there and gives estimate and standard error.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import statistics
import tempfile
from pathlib import Path

from studies import PARAMETERS, machine, make_study, print_table, run_r, time_of, wait_until_quiet

from humeval_power.designs import k_per_item
from humeval_power.studies.power.scenario import RatingStudy

SIZES = {"sparse 10 x 100, k = 3": (10, 100), "sparse 50 x 500, k = 3": (50, 500)}
N_OURS = 4096
JOBS = (1, 2)


def measure(name: str, *, rounds: int, n_responses: int) -> tuple[float, dict[int, float]]:
    """Median seconds for each replicate: refit's, and ours by number of jobs; in turn."""
    study = RatingStudy(PARAMETERS, k_per_item(*SIZES[name], ratings_per_item=3))
    study.draw(256, seed=0)  # loads or compiles the kernels
    refits: list[float] = []
    ours: dict[int, list[float]] = {jobs: [] for jobs in JOBS}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            path = make_study(name, n_responses=n_responses, seed=number).write(Path(folder, "study.json"))
            refits += run_r("refit.R", str(path))["refit"]
            for jobs in JOBS:
                wait_until_quiet()
                taken = time_of(lambda jobs=jobs: study.draw(N_OURS, seed=1, n_jobs=jobs))
                ours[jobs].append(taken / N_OURS)
    return statistics.median(refits), {jobs: statistics.median(ours[jobs]) for jobs in JOBS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="three rounds instead of nine")
    quick = parser.parse_args().quick
    print(machine())
    for name, (n_workers, n_items) in SIZES.items():
        print(
            f"\n{n_workers} workers x {n_items} items, 3 ratings per item and system, paired: "
            f"{6 * n_items:,} ratings; medians\n"
        )
        refit, ours = measure(name, rounds=3 if quick else 9, n_responses=11)
        rows = [["lme4 refit()", f"{refit * 1e3:.2f}", f"{1 / refit:,.0f}", "1"]]
        for jobs, seconds in ours.items():
            label = f"ours, simulation included, {jobs} {'core' if jobs == 1 else 'cores'}"
            rows.append([label, f"{seconds * 1e3:.3f}", f"{1 / seconds:,.0f}", f"{refit / seconds:.0f}"])
        print_table(["", "ms a replicate", "replicates a second", "times refit"], rows)


if __name__ == "__main__":
    main()
