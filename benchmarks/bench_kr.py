"""Kenward-Roger on 2,000 ratings: pbkrtest's test alone against our whole fit, which includes it.

    python benchmarks/bench_kr.py [--quick] [--rounds 3]

The complete table has a closed form here; with one rating left out the general engine does the work.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from studies import Study, machine, make_study, print_table, run_r, wait_until_quiet

from humeval_power.designs import Assignment
from humeval_power.estimation.fit import Fit
from humeval_power.estimation.fitting import fit


def without_last(study: Study) -> Study:
    """The same study with one rating missing."""
    rows = Assignment(study.rows.worker[:-1], study.rows.item[:-1], study.rows.system[:-1])
    return Study(study.name, rows, np.ascontiguousarray(study.responses[:, :-1]))


def timed_fit(study: Study, *, repeats: int = 5) -> tuple[float, Fit]:
    """Median seconds of the whole fit, and the fit."""
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        fitted = fit(study.with_response(0), estimator="reml", engine="native")
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds), fitted


def measure(label: str, study: Study, *, rounds: int) -> list[str]:
    """Alternate R and ours: one row of the table."""
    theirs, ours = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = study.write(Path(folder, "study.json"))
        timed_fit(study, repeats=1)  # loads or compiles the kernels
        for _ in range(rounds):
            r = run_r("kr.R", str(path))
            wait_until_quiet()
            seconds, fitted = timed_fit(study)
            theirs.append(r["seconds"])
            ours.append(seconds)
    slow, fast = statistics.median(theirs), statistics.median(ours)
    return [
        label,
        f"{slow:.1f}",
        f"{fast * 1e3:.2f}",
        f"{slow / fast:,.0f}",
        f"{r['df']:.4f}",
        f"{fitted.df_kenward_roger:.4f}",
        f"{r['standard_error']:.6f}",
        f"{fitted.standard_error_adjusted:.6f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one round")
    parser.add_argument("--rounds", type=int, default=3)
    wanted = parser.parse_args()
    print(machine())
    rounds = 1 if wanted.quick else wanted.rounds
    print("\n10 workers x 100 items, 2,000 ratings; one thread; medians\n")
    study = make_study("balanced 10 x 100", n_responses=1)
    print_table(
        ["table", "pbkrtest s", "our fit ms", "ratio", "df", "ours", "adjusted SE", "ours"],
        [
            measure("complete", study, rounds=rounds),
            measure("one rating missing", without_last(study), rounds=rounds),
        ],
    )


if __name__ == "__main__":
    main()
