"""The mean of a million differences in clusters, with its error: CR2 here beside CR1 of statsmodels.

    python benchmarks/bench_clusters.py [--quick]

The clusters are given as codes to both. statsmodels has neither CR2 nor degrees of freedom for few clusters: its
time is that of the simpler answer. Its CR1 is checked against ours first. --quick takes two rounds, not seven.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable

import numpy as np
import statsmodels.api as sm
from studies import machine

from humeval_power.clusters import Clusters
from humeval_power.inference.clustered import Floats, clustered_mean

SIZES = ((1_000, 100), (100_000, 5_000), (1_000_000, 50_000))  # items, clusters


def taken(work: Callable[[], object]) -> float:
    """Seconds that some work takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def peer(values: Floats, clusters: Clusters) -> float:
    """The clustered error of statsmodels, with G / (G - 1)."""
    found = sm.OLS(values, np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": clusters.codes, "df_correction": False}
    )
    return float(found.bse[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two rounds instead of seven")
    rounds = 2 if parser.parse_args().quick else 7
    rng = np.random.default_rng(1)
    print(machine())
    print(f"\n{'items':>10} {'clusters':>9} {'statsmodels':>12} {'here':>9} {'ratio':>6}")
    for n_items, n_clusters in SIZES:
        codes = np.concatenate([np.arange(n_clusters), rng.integers(n_clusters, size=n_items - n_clusters)])
        clusters = Clusters(codes, tuple(map(str, range(n_clusters))))
        values = rng.normal(size=n_items) + rng.normal(size=n_clusters)[codes]
        ours, theirs = clustered_mean(values, clusters).cr1_error, peer(values, clusters)
        assert math.isclose(ours, theirs, rel_tol=1e-9), (ours, theirs)
        pairs = [
            (taken(lambda: peer(values, clusters)), taken(lambda: clustered_mean(values, clusters)))  # noqa: B023
            for _ in range(rounds)
        ]
        slow, fast = (statistics.median(times) for times in zip(*pairs, strict=True))
        print(
            f"{n_items:>10,} {n_clusters:>9,} {slow * 1e3:>9.2f} ms {fast * 1e3:>6.2f} ms {slow / fast:>6.1f}"
        )


if __name__ == "__main__":
    main()
