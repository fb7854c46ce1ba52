"""The 48 cells of Card et al. (2020), Fig. 6, at 10,000 replicates each, against lme4's refit.

    python benchmarks/bench_grid.py [--quick]

Two settings, 3 and 10 workers, 50, 100 and 500 items, four effects. lme4's time is extrapolated from
refits of each setting and design (a median for each, times 10,000 replicates and four effects); it does
not count the simulation of ratings. Cells that differ in their effect alone share replicates here; the
time that lme4 would need if it did that too is a quarter.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import statistics
import tempfile
from pathlib import Path

from studies import machine, print_table, run_r, simulated, time_of, wait_until_quiet

from humeval_power.designs import crossed
from humeval_power.parameters import preset
from humeval_power.rules import CARD2020, DEFAULT_RULE, DecisionRule
from humeval_power.studies.power.strategies import list_cells, run_surface

SETTINGS = {name: preset(name) for name in ("high", "low")}
WORKERS, ITEMS, EFFECTS = (3, 10), (50, 100, 500), (0.05, 0.10, 0.15, 0.20)
N_REPLICATES = 10_000
RULES = {"default: REML, Kenward-Roger": DEFAULT_RULE, "card2020: ML, t > 1.96": CARD2020}


def run_grid(rule: DecisionRule, jobs: int) -> None:
    """Cells listed and run."""
    cells = list_cells(SETTINGS, workers=WORKERS, items=ITEMS, effects=EFFECTS, rule=rule)
    run_surface(cells, n_simulations=N_REPLICATES, seed=1, n_jobs=jobs)


def refit_hours(rule: DecisionRule, *, n_responses: int) -> float:
    """Extrapolated hours of lme4 for the grid."""
    seconds = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for setting, parameters in SETTINGS.items():
            for workers in WORKERS:
                for items in ITEMS:
                    rows = crossed(workers, items).assignment
                    coded = parameters.recoded().with_difference(0.1)
                    study = simulated(setting, rows, coded, n_responses=n_responses)
                    path = study.write(Path(folder, "study.json"), reml=rule.estimator == "reml")
                    refits = run_r("refit.R", str(path))["refit"]
                    seconds += statistics.median(refits) * N_REPLICATES * len(EFFECTS)
    return seconds / 3600


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="3 refits for each design instead of 9")
    quick = parser.parse_args().quick
    print(machine())
    print("\n48 cells, 10,000 replicates each; ours: median of 7 runs and the first in the process\n")
    rows = []
    for label, rule in RULES.items():
        hours = refit_hours(rule, n_responses=4 if quick else 10)
        first = time_of(lambda rule=rule: run_grid(rule, 1))
        by_jobs: dict[int, list[float]] = {1: [], 2: []}
        wait_until_quiet()
        for _ in range(7):
            for jobs in by_jobs:
                by_jobs[jobs].append(time_of(lambda rule=rule, jobs=jobs: run_grid(rule, jobs)))
        one, two = (statistics.median(by_jobs[jobs]) for jobs in (1, 2))
        cells = [f"{one:.2f}", f"{two:.2f}", f"{first:.2f}", f"{hours:.1f}", f"{hours * 3600 / one:,.0f}"]
        rows.append([label, *cells])
    head = ["rule", "s, jobs 1", "s, jobs 2", "s, first", "lme4 refit, hours", "times (jobs 1)"]
    print_table(head, rows)


if __name__ == "__main__":
    main()
