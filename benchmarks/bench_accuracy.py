"""Power of McNemar's exact test against a Python loop over statsmodels, as Card et al. (2020) ran it.

python benchmarks/bench_accuracy.py [--quick]

Both draw the same number of comparisons of two systems from the same probabilities, test each and keep
estimate and p-value. The vectorised simulation is timed twice: with the table of all outcomes that a
scenario keeps, and for a scenario that is new each time. Enumeration answers the same question exactly.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import statistics
from importlib.metadata import version

import numpy as np
from statsmodels.stats.contingency_tables import mcnemar
from studies import machine, print_table, time_of, wait_until_quiet

from humeval_power.comparisons.accuracy.agreement import KnownAgreement
from humeval_power.comparisons.accuracy.paired import PairedAccuracy

REPLICATES = 10_000  # as in their notebook
SETTINGS = ((500, 0.06, 0.04), (2000, 0.06, 0.04))  # their appendix C: items, B alone right, A alone right


def loop(n: int, only_b: float, only_a: float) -> tuple[list[float], list[float]]:
    """One comparison at a time."""
    rng = np.random.default_rng(1)
    rest = (1 - only_b - only_a) / 2
    estimates, p_values = [], []
    for _ in range(REPLICATES):
        table = rng.multinomial(n, [rest, only_b, only_a, rest]).reshape(2, 2)
        estimates.append((table[0, 1] - table[1, 0]) / n)
        p_values.append(float(mcnemar(table, exact=True).pvalue))
    return estimates, p_values


def scenario(n: int, only_b: float, only_a: float) -> PairedAccuracy:
    """The same probabilities as a scenario."""
    return PairedAccuracy(
        n, difference=only_b - only_a, agreement=KnownAgreement(1 - only_b - only_a), test="exact"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one run of the loop instead of three")
    runs = 1 if parser.parse_args().quick else 3
    print(f"{machine()}, statsmodels {version('statsmodels')}")
    print(f"\n{REPLICATES:,} comparisons; medians, one core\n")
    rows = []
    for setting in SETTINGS:
        wait_until_quiet()
        slow = statistics.median(time_of(lambda setting=setting: loop(*setting)) for _ in range(runs))
        kept = scenario(*setting)
        kept.draw(REPLICATES, seed=0)
        times = {
            "simulation": [time_of(lambda k=kept: k.draw(REPLICATES, seed=1)) for _ in range(51)],
            "new": [time_of(lambda s=setting: scenario(*s).draw(REPLICATES, seed=1)) for _ in range(21)],
            "enumeration": [time_of(lambda s=setting: scenario(*s).computed()) for _ in range(51)],
        }
        power = [np.mean(np.array(loop(*setting)[1]) <= 0.05), kept.computed().power]
        for name, seconds in times.items():
            fast = statistics.median(seconds)
            rows.append(
                [
                    f"{setting[0]:,} items, {name}",
                    f"{slow:.2f}",
                    f"{1000 * fast:.3f}",
                    f"{slow / fast:,.0f}",
                    f"{power[0]:.3f} / {power[1]:.4f}",
                ]
            )
    print_table(["", "loop, s", "ours, ms", "times", "power: loop / exact"], rows)


if __name__ == "__main__":
    main()
