"""What limits a replicate of a sparse study: operations and bytes of each part, beside what the machine can do.

    python benchmarks/bench_roofline.py [--rounds 5]

Operations and bytes are counted from the algorithm: each array that a step of NumPy reads or writes once, whether
it comes from memory or from a cache. The ceilings are a product of two matrices of order 768 and a triad
a = b + c d, of arrays beyond all caches and of arrays of the size that the replicates use, measured in the same
run. One thread; times are the processor's.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from studies import PARAMETERS, machine, print_table

from humeval_power.designs import k_per_item
from humeval_power.estimation.crossed import fits
from humeval_power.estimation.crossed.problem import CrossedProblem
from humeval_power.kernels.crossed.even_designs import EvenDesign, evaluate, sums_of
from humeval_power.simulation.study import generators
from humeval_power.studies.power.replication import Replication

LANES = 256
_POINT = 36  # arrays of (strands, eigenvectors) that an evaluation works out, an operation each
_RATINGS = 9  # the same of ratings that the model makes of normal numbers
_CHEAP = 3 * 8  # bytes of an operation: two numbers read and one written


class Part(NamedTuple):
    """One part of a replicate: seconds, floating-point operations and bytes."""

    name: str
    seconds: float
    flops: float
    bytes: float

    def row(self, peak: float, stream: float) -> list[str]:
        """Time, intensity, rates, and shares of the ceilings."""
        speed, moved = self.flops / self.seconds, self.bytes / self.seconds
        return [
            self.name,
            f"{self.seconds * 1e6:.1f}",
            f"{self.flops / 1e3:.1f}",
            f"{self.bytes / 1e3:.0f}",
            f"{speed / 1e9:.2f}",
            f"{speed / peak:.1%}",
            f"{moved / 1e9:.1f}",
            f"{moved / stream:.0%}",
        ]


def best(run: Callable[[], object], rounds: int) -> float:
    """Processor seconds of the quickest of some calls."""
    taken = []
    for _ in range(rounds):
        started = time.process_time()
        run()
        taken.append(time.process_time() - started)
    return min(taken)


def ceilings(rounds: int) -> tuple[float, float, float]:
    """Operations a second of a matrix product; bytes a second of a triad from memory and from the caches."""
    a = np.random.default_rng(0).random((768, 768))
    peak = 2 * 768**3 / best(lambda: a @ a, rounds)
    rates = []
    for size in (1 << 24, 1 << 13):
        b, c = np.random.default_rng(1).random((2, size))
        out = np.empty(size)
        times = max((1 << 24) // size, 1)

        def triad(out=out, b=b, c=c, times=times) -> None:
            for _ in range(times):
                np.multiply(c, 3.0, out=out)
                np.add(out, b, out=out)

        rates.append(5 * 8 * size * times / best(triad, rounds))
    return peak, rates[0], rates[1]


def parts(n_workers: int, n_items: int, rounds: int) -> list[Part]:
    """The parts of a replicate, three ratings per item and system."""
    replication = Replication(PARAMETERS, k_per_item(n_workers, n_items, ratings_per_item=3))
    rows, n = replication.design.assignment, replication.design.n_ratings
    problem = CrossedProblem.of_design(rows.worker, rows.item, rows.system)
    design = problem.even
    assert isinstance(design, EvenDesign)  # loads are equal in both
    ratings = replication.responses(LANES, seed=1)
    coded = PARAMETERS.recoded()
    deviations = [
        coded.sd_worker_intercept,
        coded.sd_worker_slope,
        coded.sd_item_intercept,
        coded.sd_item_slope,
    ]
    start = problem.to_kernel((np.array(deviations) / coded.sd_residual) ** 2)
    centred = ratings - ratings.mean(axis=1)[:, None]
    turned = np.ascontiguousarray(centred.T)

    numbers = np.empty(n + 2 * (n_workers + n_items))

    def fill() -> None:
        for rng in generators(1, 0, LANES):
            rng.standard_normal(out=numbers)

    evaluations = 0

    def counted(*arguments):
        nonlocal evaluations
        evaluations += arguments[2].shape[1]
        return evaluate(*arguments)

    fits.evaluate = counted
    fits.fit_even(design, centred, start, True, 1e-8, 200)
    fits.evaluate = evaluate
    passes = evaluations / LANES
    whole = best(lambda: replication.fits(LANES, seed=1), rounds) / LANES
    drawing = best(lambda: replication.responses(LANES, seed=1), rounds) / LANES
    normal = best(fill, rounds) / LANES
    summing = best(lambda: sums_of(design, turned), rounds) / LANES
    fitting = best(lambda: fits.fit_even(design, centred, start, True, 1e-8, 200), rounds) / LANES
    matrices = (design.to_inner, design.to_outer, design.from_inner, design.cross, design.turn, design.x)
    entries = sum(matrix.nnz for matrix in matrices) + design.inner_x.nnz
    point = _POINT * design.met.size * passes
    return [
        Part("normal numbers and their streams", normal, 0.0, 8.0 * len(numbers)),
        Part("ratings of them", drawing - normal, _RATINGS * n, _CHEAP * _RATINGS * n),
        Part("sums of the ratings", summing, 2.0 * entries, _CHEAP * entries),
        Part(f"search, {passes:.1f} evaluations", fitting - summing, point, _CHEAP * point),
        Part("standard errors and df, the rest", whole - drawing - fitting, 0.0, 0.0),
        Part("a replicate", whole, _RATINGS * n + 2.0 * entries + point, 0.0),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="calls of which the quickest counts")
    rounds = parser.parse_args().rounds
    print(machine())
    peak, memory, cache = ceilings(rounds)
    print(
        f"\nmatrix product {peak / 1e9:.1f} GFlop/s; triad {memory / 1e9:.1f} GB/s from memory, "
        f"{cache / 1e9:.1f} from the caches\n"
    )
    head = ["part", "us", "kFlop", "kB", "GFlop/s", "of the product", "GB/s", "of the triad in the caches"]
    for n_workers, n_items in ((10, 100), (50, 500)):
        print(
            f"{n_workers} workers x {n_items} items, k = 3, paired; a replicate of {LANES} side by side\n"
        )
        print_table(head, [part.row(peak, cache) for part in parts(n_workers, n_items, rounds)])
        print()


if __name__ == "__main__":
    main()
