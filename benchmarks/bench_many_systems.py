"""Studies of several systems simulated in a second: python benchmarks/bench_many_systems.py"""

from __future__ import annotations

import time
from itertools import combinations

from humeval_power.designs import Design, crossed, k_per_item
from humeval_power.parameters import preset
from humeval_power.rules import DEFAULT_RULE, ComparisonFamily
from humeval_power.studies.power.systems_power import systems_formula
from humeval_power.studies.power.systems_replication import BLOCK, SystemsReplication
from humeval_power.systems import SystemsParameters

FAMILIES = {
    "pairwise": ComparisonFamily(),
    "common": ComparisonFamily(model="joint", variances="common"),
    "own": ComparisonFamily(model="joint"),
}
SIZES = ((3, 10, 50), (8, 10, 50), (16, 20, 100))
COMPLETE, OTHER = 8 * BLOCK, 256  # studies measured


def main() -> None:
    """A line for each number of systems, workers and items, and each model."""
    for n_systems, workers, items in SIZES:
        parameters = SystemsParameters.of_parameters(preset("high"), n_systems).with_pattern("one", 0.2)
        complete = crossed(workers, items, n_systems=n_systems)
        other = k_per_item(workers, items, ratings_per_item=3, n_systems=n_systems)
        for name, family in FAMILIES.items():
            rates = [
                _per_second(parameters, design, family, n)
                for design, n in ((complete, COMPLETE), (other, OTHER))
            ]
            started = time.process_time()
            systems_formula(parameters.with_pattern("one", 0.21), complete, family, DEFAULT_RULE)
            formula = time.process_time() - started
            print(
                f"{n_systems:>3} systems {workers:>3} x {items:<4} {name:9} complete {rates[0]:9,.0f} / s   "
                f"3 per item {rates[1]:7,.1f} / s   formula {1e3 * formula:5.0f} ms"
            )


def _per_second(parameters: SystemsParameters, design: Design, family: ComparisonFamily, n: int) -> float:
    pairs = tuple(combinations(range(parameters.n_systems), 2))
    study = SystemsReplication(parameters, design, family, pairs, DEFAULT_RULE)
    study.fits(1, seed=2)  # compiles
    systems_formula(parameters, design, family, DEFAULT_RULE)
    started = time.process_time()
    study.fits(n, seed=1)
    return n / (time.process_time() - started)


if __name__ == "__main__":
    main()
