"""Measured against predicted: seconds of one simulated study. python benchmarks/bench_workload.py"""

from __future__ import annotations

import time

from humeval_power.designs import k_per_item
from humeval_power.rules import DecisionRule
from humeval_power.studies.power.files import preset
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.workload import study_workload

SIZES = ((4, 20), (10, 100), (30, 200), (60, 400), (120, 400))
STUDIES = 16


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


if __name__ == "__main__":
    main()
