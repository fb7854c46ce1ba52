"""Mann-Whitney tests a second: all replicates at once, against a Python loop over scipy.

    python benchmarks/bench_da.py [--quick]

One thread. Both get the same ratings and give the same p-values, which is checked first. `with drawing` adds
the Gamma ratings themselves.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import statistics

import numpy as np
from scipy.stats import mannwhitneyu
from studies import machine, print_table, time_of, wait_until_quiet

from humeval_power.comparisons.assessment.scenario import DirectAssessment, GammaScores, score_tests

SIZES = (100, 600, 3000)
VALUES = 2**21  # ratings in one timing of ours


def loop(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The p-values by calling scipy for one pair of samples after the other."""
    return np.array([mannwhitneyu(y, x, method="asymptotic").pvalue for x, y in zip(a, b, strict=True)])


def measure(n: int, *, rounds: int, decimals: int | None) -> tuple[float, float, float]:
    """Median seconds for a replicate of `n` ratings a system: scipy's loop, ours, ours with drawing."""
    rng = np.random.default_rng(n)
    replicates = max(20, VALUES // (2 * n))
    a, b = (GammaScores(mean, 25).draw(rng, (replicates, n)) for mean in (75, 77))
    if decimals is not None:
        a, b = np.round(a, decimals), np.round(b, decimals)
    few = slice(0, max(20, 20_000 // n))
    ours = score_tests(a[few], b[few], test="mann-whitney").p_value
    np.testing.assert_allclose(ours, loop(a[few], b[few]), rtol=1e-10)
    scenario, drawn = DirectAssessment(n, effect=2), min(2048, replicates)
    seconds: list[list[float]] = [[], [], []]
    for seed in range(rounds):
        wait_until_quiet()
        seconds[0].append(time_of(lambda: loop(a[few], b[few])) / len(a[few]))
        seconds[1].append(time_of(lambda: score_tests(a, b, test="mann-whitney")) / replicates)
        seconds[2].append(time_of(lambda s=seed: scenario.draw(drawn, seed=s)) / drawn)
    slow, fast, drawing = (statistics.median(values) for values in seconds)
    return slow, fast, drawing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two rounds instead of seven")
    rounds = 2 if parser.parse_args().quick else 7
    print(machine())
    print("\nmicroseconds for one Mann-Whitney test of two samples of n ratings; one thread; medians\n")
    rows = []
    for decimals, words in ((None, "no ties"), (0, "whole points")):
        for n in SIZES:
            slow, fast, drawing = measure(n, rounds=rounds, decimals=decimals)
            rows.append(
                [
                    f"{n:,}",
                    words,
                    f"{slow * 1e6:,.0f}",
                    f"{fast * 1e6:,.0f}",
                    f"{slow / fast:.1f}",
                    f"{drawing * 1e6:,.0f}" if decimals is None else "",
                ]
            )
    print_table(["n", "ratings", "scipy loop", "ours", "times faster", "with drawing"], rows)


if __name__ == "__main__":
    main()
