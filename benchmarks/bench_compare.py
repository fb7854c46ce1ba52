"""All 120 pairs of 16 systems on 2,000 items, 10,000 resamples: shared resamples against a loop over pairs.

    python benchmarks/bench_compare.py [--quick]

Two cores. Ours gives the bootstrap-t of every pair with its interval, max-t and Romano and Wolf's corrections.
The peers are timed on one pair and multiplied by 120: scipy.stats.bootstrap (BCa and percentile intervals of
the mean difference) and scipy.stats.permutation_test (signs flipped), vectorised over resamples as they offer.
--quick takes one round instead of five. --false-positives prints instead how often each test rejects where
the null hypothesis of its own question holds, which takes some minutes.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
from scipy import stats

from humeval_power.comparisons.scores.advice import analyse, nlpstattest_advice
from humeval_power.comparisons.scores.bootstrap import joint_bootstrap
from humeval_power.comparisons.scores.effect_sizes import TestSettings
from humeval_power.comparisons.scores.scenario import ResampledScores
from humeval_power.comparisons.scores.score_table import all_pairs
from humeval_power.comparisons.scores.tests import run_test
from humeval_power.studies.power.estimate import estimate_power

N_ITEMS, N_SYSTEMS, N_RESAMPLES = 2000, 16, 10_000
ONE_BY_ONE = {"bootstrap-t": np.mean, "permutation": np.mean, "bootstrap": np.mean, "sign": np.median}


def taken(work: Callable[[], object]) -> float:
    """Seconds that some work takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def timing(rounds: int) -> None:
    rng = np.random.default_rng(1)
    scores = rng.random((N_ITEMS, 1)) + 0.3 * rng.random((N_ITEMS, N_SYSTEMS))
    pairs, settings = all_pairs(N_SYSTEMS), TestSettings(n_resamples=N_RESAMPLES)
    joint_bootstrap(scores[:50], pairs, TestSettings(n_resamples=300))

    def ours() -> None:
        joint = joint_bootstrap(scores, pairs, settings, n_jobs=2)
        joint.p_values(), joint.intervals(0.95), joint.max_t(), joint.romano_wolf()

    d = (scores[:, 1] - scores[:, 0],)
    peers = {
        f"scipy.stats.bootstrap, {method}": lambda method=method: stats.bootstrap(
            d, np.mean, n_resamples=N_RESAMPLES, method=method, batch=500, rng=np.random.default_rng(1)
        )
        for method in ("percentile", "BCa")
    }
    peers["scipy.stats.permutation_test"] = lambda: stats.permutation_test(
        d,
        np.mean,
        permutation_type="samples",
        n_resamples=N_RESAMPLES,
        batch=500,
        vectorized=True,
        rng=np.random.default_rng(1),
    )
    mine = statistics.median(taken(ours) for _ in range(rounds))
    print(f"ours, all {len(pairs)} pairs: {mine:.2f} s")
    for name, work in peers.items():
        one = statistics.median(taken(work) for _ in range(rounds))
        print(
            f"{name}: {one:.2f} s a pair, {len(pairs) * one:.0f} s for all, {len(pairs) * one / mine:.0f} times"
        )


def false_positives(n_studies: int) -> None:
    """Rejection rates without an effect: t and Wilcoxon by the scenarios, 20 times as many, the rest one by
    one. The pool stands for the population; each test is given its own centre."""
    middle = (np.arange(50_000) + 0.5) / 50_000
    shapes = {"normal": stats.norm.ppf(middle), "uniform": middle, "exponential": stats.expon.ppf(middle)}
    settings = TestSettings(n_resamples=1000)
    print(f"{n_studies:,} studies, t and Wilcoxon {20 * n_studies:,}; share with p <= 0.05")
    for shape, pool in shapes.items():
        for n in (30, 100):
            rates = {
                name: estimate_power(
                    ResampledScores(n, pool, 0.0, name), n_simulations=20 * n_studies, n_jobs=2
                ).rejection_rate
                for name in ("t", "wilcoxon")
            }
            for name, centre in ONE_BY_ONE.items():
                rng, moved = np.random.default_rng(n), pool - centre(pool)
                rates[name] = _rate(lambda _, name=name: name, rng, moved, n, n_studies, settings)
            rng, moved = np.random.default_rng(n), pool - pool.mean()
            rates["NLPStatTest's choice, equal means"] = _rate(
                lambda d: nlpstattest_advice(analyse(np.zeros(len(d)), d))[0].name,
                rng,
                moved,
                n,
                n_studies,
                settings,
            )
            print(f"{shape}, n = {n}: " + ", ".join(f"{name} {rate:.3f}" for name, rate in rates.items()))


def _rate(
    choose: Callable[[np.ndarray], str],
    rng: np.random.Generator,
    pool: np.ndarray,
    n: int,
    n_studies: int,
    settings: TestSettings,
) -> float:
    studies = (pool[rng.integers(len(pool), size=n)] for _ in range(n_studies))
    return sum(run_test(choose(d), d, settings).p_value <= 0.05 for d in studies) / n_studies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one round, or 500 studies")
    parser.add_argument("--false-positives", action="store_true", help="error rates instead of seconds")
    chosen = parser.parse_args()
    if chosen.false_positives:
        false_positives(100 if chosen.quick else 1000)
    else:
        timing(1 if chosen.quick else 5)


if __name__ == "__main__":
    main()
