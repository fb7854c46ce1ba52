"""Measured against predicted: seconds of one simulated study. python benchmarks/bench_workload.py"""

from __future__ import annotations

import time

from humeval_power.blas import one_blas_thread
from humeval_power.designs import Design, crossed, k_per_item
from humeval_power.rules import DEFAULT_RULE, ComparisonFamily, DecisionRule
from humeval_power.simulation.quality_control import own_rows
from humeval_power.simulation.study import NO_LOSSES, Losses
from humeval_power.studies.power.files import preset
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.systems_replication import SystemsReplication
from humeval_power.studies.power.systems_study import systems_workload
from humeval_power.studies.power.workload import study_workload
from humeval_power.systems import SystemsParameters

SIZES = ((4, 20), (10, 100), (30, 200), (60, 400), (120, 400))
STUDIES = 16
FAMILIES = {
    "pairs": ComparisonFamily(),
    "common": ComparisonFamily(model="joint", variances="common"),
    "own": ComparisonFamily(model="joint"),
}


def main() -> None:
    """One line for each design: measured, predicted, and their ratio."""
    for workers, items in SIZES:
        design = k_per_item(workers, items, ratings_per_item=min(3, workers // 2))
        study = RatingStudy(preset("high"), design, rule=DecisionRule())
        study.draw(2, seed=1)
        started = time.process_time()
        study.draw(STUDIES, seed=1)
        measured = (time.process_time() - started) / STUDIES
        predicted = study_workload(design, n_simulations=STUDIES).seconds / STUDIES
        print(
            f"{workers:>4} x {items:<4} {1e3 * measured:8.2f} ms measured {1e3 * predicted:8.2f} ms predicted "
            f"ratio {predicted / measured:.2f}"
        )
    for n_systems in (3, 8):
        for design in (
            crossed(8, 40, n_systems=n_systems),
            k_per_item(10, 50, ratings_per_item=2, n_systems=n_systems),
            k_per_item(9, 50, ratings_per_item=2, n_systems=n_systems),
            k_per_item(20, 150, ratings_per_item=1, n_systems=n_systems),
            k_per_item(40, 200, ratings_per_item=3, n_systems=n_systems),
        ):
            for losses in (NO_LOSSES, Losses(missing=0.05)):
                of_several(design, losses)


def of_several(design: Design, losses: Losses) -> None:
    """One line for each model of several systems."""
    parameters = SystemsParameters.of_parameters(preset("low"), design.n_systems)
    for name, family in FAMILIES.items():
        one = systems_workload(
            parameters,
            design,
            family,
            DEFAULT_RULE,
            n_simulations=1,
            one_by_one=own_rows(losses, "none"),
        ).seconds
        pairs = family.places(parameters.names)
        study = SystemsReplication(parameters, design, family, pairs, DEFAULT_RULE, losses=losses)
        n = 64 * round(min(max(1 / one, 64), 2048) / 64)
        with one_blas_thread():
            study.fits(64, seed=1)
            started = time.process_time()
            study.fits(n, seed=1)
        measured = (time.process_time() - started) / n
        lacking = "" if losses == NO_LOSSES else ", 5 % missing"
        print(
            f"{design.n_systems} systems {design.n_workers} x {design.n_items}{lacking}, {name}: "
            f"{1e3 * measured:.2f} ms measured, {1e3 * one:.2f} ms predicted, ratio {one / measured:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
