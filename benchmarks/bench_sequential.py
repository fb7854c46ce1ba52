"""100,000 sequential studies of 10 workers x 100 items with three looks, refitted at every look.

    python benchmarks/bench_sequential.py [--quick]

By mean squares, on one thread and on two: simulation, REML, Kenward-Roger's df and p-values at every look, then
the boundaries. `ratings` simulates the same studies rating by rating and refits them: the slow twin. R's loop is
not run: three lmer() fits with Kenward-Roger's df for each of 100,000 studies would take weeks.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse

from studies import PARAMETERS, machine, print_table, time_of, wait_until_quiet

from humeval_power.choices import LookKind
from humeval_power.designs import crossed
from humeval_power.studies.looks.boundaries import boundaries
from humeval_power.studies.looks.rating_looks import look_rows
from humeval_power.studies.looks.replicates import RatingLooks, equal_looks, stop
from humeval_power.studies.looks.stopping_rule import StoppingRule
from humeval_power.studies.power.scenario import RatingStudy

N_STUDIES = 100_000
N_SLOW = 256


def measure(kind: LookKind, *, rounds: int) -> tuple[float, float, float]:
    """Best seconds for 100,000 studies on one and on two threads, and the slow twin's for as many."""
    study = RatingLooks(PARAMETERS, crossed(12 if kind == "workers" else 10, 100), equal_looks(kind, 3))
    bounds = boundaries(StoppingRule(), [row.information_share for row in look_rows(study)])

    def run(n_jobs: int) -> None:
        stop(study.draw_looks(N_STUDIES, seed=1, n_jobs=n_jobs), bounds)

    def slow() -> None:
        responses = RatingStudy(PARAMETERS, study.nested.final).replication.responses(N_SLOW, seed=2)
        stop(study.from_responses(responses), bounds)

    run(1)
    best = [float("inf")] * 3
    for _ in range(rounds):
        wait_until_quiet()
        taken = (
            time_of(lambda: run(1)),
            time_of(lambda: run(2)),
            time_of(slow) * N_STUDIES / N_SLOW,
        )
        best = [min(one, other) for one, other in zip(best, taken, strict=True)]
    return best[0], best[1], best[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one round instead of five")
    quick = parser.parse_args().quick
    print(machine())
    print(f"\n{N_STUDIES:,} studies with three looks\n")
    rows = []
    for kind in ("items", "workers"):
        one, two, slow = measure(kind, rounds=1 if quick else 5)
        rows.append([kind, f"{one:.2f}", f"{two:.2f}", f"{slow:,.0f}", f"{slow / one:,.0f}"])
    print_table(["looks by", "one thread, s", "two threads, s", "from ratings, s", "ratio"], rows)


if __name__ == "__main__":
    main()
