"""Seconds per fit, side by side in one run: lme4's refit against the native fitter, one thread.

    python benchmarks/bench_fit.py [--quick] [--rounds 5] [--loop 3] [--only NAME]

R and this package take turns on the same responses; medians are shown. `fit` is the public function
on one table (several starts, identification, standard errors of all parameters); `batch` is what a
power simulation runs for each replicate. Both give Satterthwaite's and Kenward-Roger's df as well,
which lmer and refit do not. `lmer` is lme4's own first fit of a table, `loop` simulates, runs lmer()
and reads lmerTest's p value. The peak memory is that of the whole Python process.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from studies import (
    DESIGNS,
    PARAMETERS,
    Floats,
    Study,
    machine,
    make_study,
    peak_mb,
    print_table,
    read_study,
    run_python,
    run_r,
    wait_until_quiet,
)

# Responses a round for R (the first only warms up), and how often the batch repeats them.
N_RESPONSES = {"WMT19-like 176 x 1,997": 3}
DEFAULT_RESPONSES = 6
BATCH = {"WMT19-like 176 x 1,997": 8}
DEFAULT_BATCH = 512


def ours_single(study: Study) -> dict[str, list[float]]:
    """Fit each response but the first with the public function; seconds and estimates."""
    from humeval_power.estimation.fitting import fit

    fit(study.with_response(0), estimator="reml", engine="native")  # loads or compiles the kernels
    seconds, effects, errors = [], [], []
    for index in range(1, len(study.responses)):
        ratings = study.with_response(index)
        started = time.perf_counter()
        fitted = fit(ratings, estimator="reml", engine="native")
        seconds.append(time.perf_counter() - started)
        effects.append(fitted.parameters.effect)
        errors.append(fitted.standard_error)
    return {"seconds": seconds, "effect": effects, "standard_error": errors}


def ours_batch(study: Study, responses: Floats) -> float:
    """Seconds per replicate for many responses to one design, started at the generating values."""
    from humeval_power.estimation.crossed.fits import fit_batch
    from humeval_power.estimation.crossed.problem import COMPONENTS, CrossedProblem

    relative = np.array([getattr(PARAMETERS, name) for name in COMPONENTS]) / PARAMETERS.sd_residual
    started = time.perf_counter()
    problem = CrossedProblem.of_design(study.rows.worker, study.rows.item, study.rows.system)
    fit_batch(problem, responses, start=relative**2, n_jobs=1)
    return (time.perf_counter() - started) / len(responses)


def report_ours(path: Path, n_batch: int) -> None:
    """What the measured subprocess does: fit, and print times and its own peak memory."""
    study = read_study(path)
    single = ours_single(study)
    responses = np.resize(study.responses, (n_batch, study.n_ratings))
    batch = ours_batch(study, responses)
    print(json.dumps({**single, "batch": batch, "peak_mb": peak_mb()}))


def ours_of(path: Path, n_batch: int) -> list[str]:
    """Arguments that make this script the measured process."""
    return ["--ours", str(path), "--batch", str(n_batch)]


def measure(name: str, *, rounds: int, loop: int) -> dict[str, float]:
    """Medians over all responses of alternating rounds."""
    lmers, refits, singles, batches, peaks, loops, apart = [], [], [], [], [], [], 0.0
    n_batch = BATCH.get(name, DEFAULT_BATCH)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            n_responses = N_RESPONSES.get(name, DEFAULT_RESPONSES)
            study = make_study(name, n_responses=n_responses, seed=number)
            path = study.write(Path(folder, "study.json"))
            wait_until_quiet()
            r, ours = run_r("refit.R", str(path)), run_python(__file__, *ours_of(path, n_batch))
            lmers.append(r["lmer"])
            refits += r["refit"]
            singles += ours["seconds"]
            batches.append(ours["batch"])
            peaks.append(ours["peak_mb"])
            apart = max(apart, float(np.max(np.abs(np.subtract(r["effect"], ours["effect"])))))
        if loop:
            loops = run_r("loop.R", str(path), str(loop))["seconds"]
    return {
        "ratings": study.n_ratings,
        "lmer": statistics.median(lmers),
        "refit": statistics.median(refits),
        "fit": statistics.median(singles),
        "batch": statistics.median(batches),
        "loop": statistics.median(loops) if loops else float("nan"),
        "peak": max(peaks),
        "apart": apart,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two rounds, two replicates of the loop")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--loop", type=int, default=3, help="replicates of the lmerTest loop; 0 leaves it out"
    )
    parser.add_argument("--only", choices=tuple(DESIGNS))
    parser.add_argument("--ours", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--batch", type=int, default=DEFAULT_BATCH, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.ours:
        report_ours(wanted.ours, wanted.batch)
        return
    rounds, loop = (2, 2) if wanted.quick else (wanted.rounds, wanted.loop)
    print(machine())
    print("\none thread, REML, medians; ms per fit\n")
    names = [wanted.only] if wanted.only else list(DESIGNS)
    found = {name: measure(name, rounds=rounds, loop=loop) for name in names}
    print_times(found)


def print_times(found: dict[str, dict[str, float]]) -> None:
    """Two tables: milliseconds, and ratios with what else was seen."""
    columns = ("loop", "lmer", "refit", "fit", "batch")
    print_table(
        ["design", "ratings", *columns],
        [
            [name, f"{row['ratings']:,}", *(f"{row[column] * 1e3:.3g}" for column in columns)]
            for name, row in found.items()
        ],
    )
    print()
    print_table(
        ["design", "lmer/fit", "refit/fit", "refit/batch", "peak MB", "effects differ by"],
        [
            [
                name,
                f"{row['lmer'] / row['fit']:.0f}",
                f"{row['refit'] / row['fit']:.0f}",
                f"{row['refit'] / row['batch']:.0f}",
                f"{row['peak']:.0f}",
                f"{row['apart']:.0e}",
            ]
            for name, row in found.items()
        ],
    )


if __name__ == "__main__":
    main()
