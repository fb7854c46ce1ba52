"""Incomplete studies of several systems fitted in a second of CPU: one by one and together; the precision of pairs,
and a plan.

python benchmarks/bench_systems.py [--quick]
"""

from __future__ import annotations

import io
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from functools import partial
from itertools import combinations
from unittest.mock import patch

import numpy as np

from humeval_power.designs import Design, k_per_item
from humeval_power.estimation.joint.any_design import AnyDesign
from humeval_power.estimation.joint.strands import Together
from humeval_power.parameters import preset
from humeval_power.rules import DEFAULT_RULE, ComparisonFamily
from humeval_power.simulation.study import NO_LOSSES, Losses
from humeval_power.studies.power.systems_replication import SystemsReplication
from humeval_power.studies.power.systems_study import systems_workload
from humeval_power.systems import SystemsParameters

FAMILIES = {
    "pairwise": ComparisonFamily(),
    "common": ComparisonFamily(model="joint", variances="common"),
    "own": ComparisonFamily(model="joint"),
}
EVEN = partial(k_per_item, 20, 100, ratings_per_item=3)
DESIGNS: dict[str, tuple[Callable[..., Design], Losses]] = {
    "20 x 100, equal loads": (EVEN, NO_LOSSES),
    "19 x 100, unequal loads": (partial(k_per_item, 19, 100, ratings_per_item=3), NO_LOSSES),
    "20 x 100, not together": (partial(EVEN, paired=False), NO_LOSSES),
    "20 x 100, 5 % missing": (EVEN, Losses(missing=0.05)),
    "20 x 100, 20 % drop out": (EVEN, Losses(quitting=0.2)),
}
STUDIES, FEW, ROUNDS = 128, 8, 3


def main() -> None:
    """A line for each number of systems, design and model: before, after and predicted."""
    rounds = 1 if "--quick" in sys.argv else ROUNDS
    for n_systems in (3, 8):
        parameters = SystemsParameters.of_parameters(preset("low"), n_systems).with_pattern("one", 0.1)
        pairs = tuple(combinations(range(n_systems), 2))
        for shape, (design_of, losses) in DESIGNS.items():
            design = design_of(n_systems=n_systems)
            for name, family in FAMILIES.items():
                study = SystemsReplication(parameters, design, family, pairs, DEFAULT_RULE, losses=losses)
                with one_by_one():
                    before = _each(replace(study), FEW, rounds)
                after = _each(study, STUDIES, rounds)
                predicted = systems_workload(
                    parameters, design, family, DEFAULT_RULE, n_simulations=1, one_by_one=losses.loses_rows
                ).seconds
                print(
                    f"{n_systems} systems {shape:24} {name:9} before {1 / before:7,.0f} / s   "
                    f"after {1 / after:7,.0f} / s   "
                    f"{before / after:5.1f} times   predicted {1 / predicted:7,.0f} / s",
                    flush=True,
                )
    _precision(rounds)
    from humeval_power.doors.terminal.main import main as command

    words = "plan --preset low --n-systems 8 --effect .1 --items 30:300:30 --max-workers 20 --cost-per-rating .1"
    started, used = time.perf_counter(), time.process_time()
    with redirect_stdout(io.StringIO()):
        command([*words.split(), "--simulations", "2000", "--quiet"], standalone_mode=False)
    print(f"plan: {time.perf_counter() - started:.0f} s, {time.process_time() - used:.0f} s of CPU")


@contextmanager
def one_by_one() -> Iterator[None]:
    """Fit pair by pair, or table by table, as a single study of these rows is."""
    with (
        patch.object(Together, "of_rows", return_value=None),
        patch.object(AnyDesign, "of_rows", return_value=None),
    ):
        yield


def _precision(rounds: int) -> None:
    """Standard errors and df of fits of two systems, by NumPy and in lanes."""
    from humeval_power.estimation.joint.any_design import Patterns
    from humeval_power.kernels.crossed.information import precision
    from humeval_power.kernels.crossed.information_lanes import precision_of_many

    design = EVEN(n_systems=2, paired=False)
    rows, contrast = design.assignment, np.array([-1.0, 1.0])
    parts = AnyDesign.of_rows(rows.worker, rows.item, rows.system, 2)
    assert parts is not None
    y = np.random.default_rng(1).standard_normal((2048, design.n_ratings))
    fitted = parts.fit(y, Patterns.of_two(), np.full(4, 0.2), tolerance=1e-8, max_steps=100).fitted
    times: dict[str, list[float]] = {"NumPy": [], "lanes": []}
    precision_of_many(fitted, contrast, n=design.n_ratings)
    for _ in range(rounds):
        started = time.process_time()
        precision(fitted, contrast, n=design.n_ratings, restricted=True)
        middle = time.process_time()
        precision_of_many(fitted, contrast, n=design.n_ratings)
        times["NumPy"].append(middle - started)
        times["lanes"].append(time.process_time() - middle)
    each = {name: statistics.median(values) / len(y) * 1e6 for name, values in times.items()}
    print(f"precision of a pair: NumPy {each['NumPy']:.1f} us, lanes {each['lanes']:.2f} us")


def _each(study: SystemsReplication, n: int, rounds: int) -> float:
    """Median seconds of CPU of one study."""
    study.fits(2, seed=2)
    found = []
    for _ in range(rounds):
        started = time.process_time()
        study.fits(n, seed=1)
        found.append((time.process_time() - started) / n)
    return statistics.median(found)


if __name__ == "__main__":
    main()
