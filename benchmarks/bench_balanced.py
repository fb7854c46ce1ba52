"""Complete 10 x 100 study: replicates a second from mean squares, against lme4's refit and the full loop.

    python benchmarks/bench_balanced.py [--quick]

One thread. Ours includes the simulation. `fits` is what a replicate keeps: REML estimate, standard error,
Satterthwaite's and Kenward-Roger's df; `draw` adds the p value. refit gives estimate and standard error of
ratings that are already there. The loop (loop.R) simulates ratings, runs lmer() and reads lmerTest's p
value; it stands in for the loop of simr's documentation, because simr is not packaged for Debian.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import statistics
import tempfile
from pathlib import Path

from studies import PARAMETERS, machine, make_study, print_table, run_r, time_of, wait_until_quiet

from humeval_power.designs import crossed
from humeval_power.studies.power.scenario import RatingStudy

NAME = "balanced 10 x 100"
N_OURS = 200_000


def measure(*, rounds: int, n_responses: int, n_loop: int) -> dict[str, float]:
    """Median seconds for each replicate, ours and R's in turn."""
    study = RatingStudy(PARAMETERS, crossed(10, 100))
    study.draw(2048, seed=0)
    seconds: dict[str, list[float]] = {"refit": [], "loop": [], "fits": [], "draw": []}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            path = make_study(NAME, n_responses=n_responses, seed=number).write(Path(folder, "study.json"))
            seconds["refit"] += run_r("refit.R", str(path))["refit"]
            seconds["loop"] += run_r("loop.R", str(path), str(n_loop))["seconds"]
            wait_until_quiet()
            taken = time_of(lambda: study.replication.fits(N_OURS, seed=1))
            seconds["fits"].append(taken / N_OURS)
            seconds["draw"].append(time_of(lambda: study.draw(N_OURS, seed=1)) / N_OURS)
    return {name: statistics.median(values) for name, values in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two rounds instead of seven")
    quick = parser.parse_args().quick
    print(machine())
    print("\ncomplete 10 workers x 100 items, 2,000 ratings; one thread; medians\n")
    found = measure(rounds=2 if quick else 7, n_responses=7, n_loop=3)
    words = {
        "loop": "simulate(), lmer(), lmerTest p value",
        "refit": "lme4 refit()",
        "draw": "ours with p values",
        "fits": "ours: estimate, SE, both df",
    }
    print_table(
        ["", "ms a replicate", "replicates a second", "times refit", "times the loop"],
        [
            [
                words[name],
                f"{found[name] * 1e3:.3g}",
                f"{1 / found[name]:,.0f}" if found[name] < 1e-3 else f"{1 / found[name]:.1f}",
                times(found, "refit", name),
                times(found, "loop", name),
            ]
            for name in words
        ],
    )


def times(found: dict[str, float], slow: str, fast: str) -> str:
    """How many times faster."""
    ratio = found[slow] / found[fast]
    return f"{ratio:,.0f}" if ratio > 10 else f"{ratio:.1f}"


if __name__ == "__main__":
    main()
