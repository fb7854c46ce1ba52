"""The time left that commands tell after five seconds, against the time that they then took.

One line for each case: how much is left as told and as it was, and their ratio. The time left is right if it is
within a factor of two. A case takes 10 to 40 seconds on two cores.
python benchmarks/bench_estimates.py [part of a name]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from decimal import Decimal

from humeval_power.costs import CostModel
from humeval_power.designs import k_per_item
from humeval_power.saying.progress import watched_by
from humeval_power.simulation.study import Losses
from humeval_power.studies.plan.calls import make_plan
from humeval_power.studies.power.calls import study_power, study_size, study_surface
from humeval_power.studies.power.calls_drawn import calibrate
from humeval_power.studies.power.files import preset
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.strategies import list_cells

MEASURED = 5.0  # seconds of work after which the time left is judged, or half of the work if that is less
HIGH = preset("high").with_difference(0.1)
JOBS = 2


def _power(workers: int, items: int, n: int, losses: Losses | None = None) -> None:
    lost = {} if losses is None else {"losses": losses}
    study = RatingStudy(HIGH, k_per_item(workers, items, ratings_per_item=3), **lost)
    study_power(study, n_simulations=n, n_jobs=JOBS)


def _surface(workers: range, items: range, n: int) -> None:
    cells = list_cells(
        {"high": HIGH},
        workers=list(workers),
        items=list(items),
        effects=(0.05, 0.1),
        ratings_per_item=3,
    )
    study_surface(cells, n_simulations=n, n_jobs=JOBS)


def _plan(workers: range, items: range, effect: float, n: int) -> None:
    make_plan(
        {"high": HIGH},
        effect=effect,
        workers=list(workers),
        items=list(items),
        ratings_per_item=(3,),
        costs=CostModel(price_per_rating=Decimal("0.1")),
        n_simulations=n,
        n_jobs=JOBS,
    )


def _size(workers: int, n: int) -> None:
    study_size(HIGH, "items", effect=0.1, workers=workers, ratings_per_item=3, n_simulations=n, n_jobs=JOBS)


def _calibrate(workers: int, items: int, n: int) -> None:
    calibrate(HIGH, k_per_item(workers, items, ratings_per_item=3), n_simulations=n, n_jobs=JOBS)


CASES: dict[str, Callable[[], None]] = {
    "power, uneven table": lambda: _power(37, 203, 20_000),
    "power, even table": lambda: _power(40, 200, 200_000),
    "power, large table": lambda: _power(150, 4001, 700),
    "power, ratings are lost": lambda: _power(40, 200, 5000, Losses(missing=0.1)),
    "surface, workers 20 to 200": lambda: _surface(range(20, 201, 20), range(71, 404, 66), 80),
    "surface, items 100 to 5000": lambda: _surface(range(30, 31), range(101, 5002, 700), 700),
    "surface, even and uneven": lambda: _surface(range(30, 91, 15), range(90, 400, 75), 1000),
    "plan --workers 20:200:20": lambda: _plan(range(20, 201, 20), range(50, 401, 50), 0.1, 400),
    "plan, many items": lambda: _plan(range(30, 61, 1), range(400, 2001, 1), 0.095, 20_000),
    "size, 41 workers": lambda: _size(41, 3000),
    "size, 47 workers": lambda: _size(47, 10_000),
    "calibrate, 20 workers": lambda: _calibrate(20, 101, 20_000),
    "calibrate, 60 workers": lambda: _calibrate(60, 150, 8000),
}


def told_and_true(work: Callable[[], None]) -> tuple[float, float, float]:
    """Seconds in all, seconds left as told when the work had gone on for five, and as it was then."""
    heard: list[tuple[float, float]] = []

    def watch(_label: str, _share: float, left: float | None) -> None:
        if left is not None:
            heard.append((time.monotonic(), left))

    begun = time.monotonic()
    with watched_by(watch):
        work()
    ended = time.monotonic()
    measured = min(MEASURED, (ended - begun) / 2)  # at the end nothing is left to be told
    at = [(when, left) for when, left in heard if when - begun <= measured] or heard[:1]
    when, left = at[-1]
    return ended - begun, left, ended - when


def main() -> None:
    """Tell of every case, and in how many the time left was within a factor of two."""
    right = 0
    chosen = {name: work for name, work in CASES.items() if not sys.argv[1:] or sys.argv[1] in name}
    for name, work in chosen.items():
        total, left, true = told_and_true(work)
        ratio = left / true
        right += 0.5 <= ratio <= 2
        print(
            f"{name:28} {total:6.1f} s; left {left:6.1f} s as told, {true:6.1f} s as it was: {ratio:5.2f}",
            flush=True,
        )
    print(f"within a factor of two: {right} of {len(chosen)}")


if __name__ == "__main__":
    main()
