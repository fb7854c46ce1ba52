"""Incomplete studies of several systems fitted in a second of CPU, together and one by one; and a plan of them.

python benchmarks/bench_systems.py [--quick]
"""

from __future__ import annotations

import io
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from itertools import combinations

from humeval_power.designs import Design, k_per_item
from humeval_power.families import ComparisonFamily
from humeval_power.parameters import preset
from humeval_power.rules import DEFAULT_RULE
from humeval_power.studies.power.systems_replication import SystemsReplication
from humeval_power.studies.power.systems_study import systems_workload
from humeval_power.systems import SystemsParameters

FAMILIES = {
    "pairwise": ComparisonFamily(),
    "common": ComparisonFamily(model="joint", variances="common"),
    "own": ComparisonFamily(model="joint"),
}
DESIGNS = {
    "20 x 100, equal loads": partial(k_per_item, 20, 100, ratings_per_item=3),
    "19 x 100, unequal loads": partial(k_per_item, 19, 100, ratings_per_item=3),
    "20 x 100, not together": partial(k_per_item, 20, 100, ratings_per_item=3, paired=False),
}
STUDIES, FEW, ROUNDS = 256, {"pairwise": 64, "joint": 8}, 3


def main() -> None:
    """A line for each number of systems, design and model: before, after, and predicted."""
    rounds = 1 if "--quick" in sys.argv else ROUNDS
    for n_systems in (3, 8):
        parameters = SystemsParameters.of_parameters(preset("low"), n_systems).with_pattern("one", 0.1)
        pairs = tuple(combinations(range(n_systems), 2))
        for shape, design_of in DESIGNS.items():
            design: Design = design_of(n_systems=n_systems)
            for name, family in FAMILIES.items():
                study = SystemsReplication(parameters, design, family, pairs, DEFAULT_RULE)
                few = FEW[family.model]
                before = _each(partial(one_by_one, study), few, rounds)
                after = _each(
                    lambda n, s=study: s.fits(n, seed=1), STUDIES if study.together else few, rounds
                )
                predicted = systems_workload(
                    parameters, design, family, DEFAULT_RULE, n_simulations=1
                ).seconds
                print(
                    f"{n_systems} systems {shape:24} {name:9} before {1 / before:7,.0f} / s   after "
                    f"{1 / after:7,.0f} / s   {before / after:5.1f} times   predicted {1 / predicted:7,.0f} / s",
                    flush=True,
                )
    from humeval_power.doors.terminal.main import main as command

    words = "plan --preset low --n-systems 8 --effect .1 --items 30:300:30 --max-workers 20 --cost-per-rating .1"
    started, used = time.perf_counter(), time.process_time()
    with redirect_stdout(io.StringIO()):
        command([*words.split(), "--simulations", "2000", "--quiet"], standalone_mode=False)
    print(f"plan: {time.perf_counter() - started:.0f} s, {time.process_time() - used:.0f} s of CPU")


def one_by_one(study: SystemsReplication, n: int) -> None:
    """Draw and fit n studies pair by pair, or table by table."""
    ratings = study.ratings(range(n), seed=1)
    if study.family.model == "joint":
        study.fit_tables(ratings)
        return
    for place in range(len(study.pairs)):
        study.fit_pair(place, ratings)


def _each(work: Callable[[int], object], n: int, rounds: int) -> float:
    """Median seconds of CPU of one study."""
    work(n)
    found = []
    for _ in range(rounds):
        started = time.process_time()
        work(n)
        found.append((time.process_time() - started) / n)
    return statistics.median(found)


if __name__ == "__main__":
    main()
