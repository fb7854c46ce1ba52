"""How long simulated studies take and how much memory they need, known before the first is drawn.

The constants were measured on one core of a 2020s server (`benchmarks/bench_workload.py` measures them anew);
they are right within a factor of about three, which is enough to warn of hours and to refuse years.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from humeval_power.designs import Design
from humeval_power.scenarios.contract import Scenario
from humeval_power.simulation.study import tables_at_once

if TYPE_CHECKING:
    from humeval_power.studies.power.scenario import RatingStudy

SEARCH_STEPS = 20  # simulated studies that a search for an effect or a size compares, about

_PER_FIT, _PER_RATING, _PER_CUBE = 2.5e-4, 1.1e-6, 5.4e-9  # seconds: of a fit, its ratings, its factor
_PER_CATEGORIES, _PER_CATEGORY = 8e-3, 8e-6  # seconds: of a fit of categories, for each rating
_PER_CLOSED_FORM = 1e-6  # seconds of a study that is drawn by its mean squares
_PER_TABLE_RATING = 44  # bytes of a rating of each study that is in memory, and of the next that are drawn
_PER_PLANNED_RATING = 220  # bytes of the design itself
_PER_SQUARE = 220  # bytes of the factor and its derivatives, for each core
_SECONDS = {  # of a comparison, and of each of its items; what has another name is like a scenario
    "accuracy": (5e-7, 0.0),
    "preference": (5e-7, 0.0),
    "panel": (5e-3, 2e-5),  # of preferences, fitted
    "corpus": (5e-7, 2e-8),
    "contingency": (3e-6, 1e-8),
    "assessment": (2e-6, 2e-7),
    "compare": (2e-6, 6e-8),
    "runs": (5e-6, 6e-8),
    "runs-answers": (1e-4, 8e-7),  # right or wrong, drawn one by one
    "runs-crossed": (2e-6, 0.0),  # by mean squares
    "runs-unequal": (2e-3, 2e-5),  # crossed, fitted
    "runs-logit": (1e-2, 4e-4),
    "rank": (2e-3, 0.0),  # of battles, fitted
    "scenario": (2e-4, 1e-7),
}
_PER_ITEM = 48  # bytes of an item of one comparison
_MEASURED_FROM, _MEASURING = 10.0, 4.0  # seconds of work that is worth measuring, and of measuring
_SHORT, _MOST_MEASURED = 0.05, 1024  # seconds that tell, and replicates that do where they are short


@dataclass(frozen=True, slots=True)
class Workload:
    """What a computation needs: seconds on the cores that it has, and bytes of memory at once."""

    seconds: float
    n_bytes: float

    def __add__(self, other: Workload) -> Workload:
        """One after the other: times add up, memory is that of the larger."""
        return Workload(self.seconds + other.seconds, max(self.n_bytes, other.n_bytes))


NOTHING = Workload(0.0, 0.0)
_MEASURED: WeakKeyDictionary[RatingStudy, float] = WeakKeyDictionary()
Ahead = Callable[[Workload], None]  # is told of work before it begins, and may refuse it by raising


def study_workload(
    design: Design, *, n_simulations: int, n_jobs: int = 1, closed_form: bool = False
) -> Workload:
    """Of simulated rating studies of a design: fitted, or drawn by their mean squares."""
    if closed_form:
        return Workload(_PER_CLOSED_FORM * n_simulations, 0.0)
    sizes = (design.n_workers, design.n_items, design.n_documents)
    smaller = sum(sizes) - max(sizes)  # all but the factor with most levels, which is eliminated
    return table_workload(design.n_ratings, smaller, n_simulations=n_simulations, n_jobs=n_jobs)


def table_workload(n_ratings: float, smaller: float, *, n_simulations: int, n_jobs: int = 1) -> Workload:
    """Of fits to tables with so many ratings; `smaller` is their number of workers or items, if that is less."""
    each = _PER_FIT + _PER_RATING * n_ratings + _PER_CUBE * smaller**3
    tables = min(n_simulations, tables_at_once(math.ceil(n_ratings), n_jobs=n_jobs))
    in_memory = n_ratings * (_PER_PLANNED_RATING + _PER_TABLE_RATING * tables)
    return Workload(each * n_simulations / n_jobs, in_memory + _PER_SQUARE * smaller**2 * n_jobs)


def categories_workload(n_ratings: float, *, n_simulations: int, n_jobs: int) -> Workload:
    """Of fits of categories to tables with so many ratings, beyond that of drawing them."""
    return Workload((_PER_CATEGORIES + _PER_CATEGORY * n_ratings) * n_simulations / n_jobs, 0.0)


def rating_study_workload(study: RatingStudy, *, n_simulations: int, n_jobs: int = 1) -> Workload:
    """Of simulations of a rating study, by its mean squares where that is how it is drawn."""
    if study.rule.is_latent:
        work = study_workload(study.design, n_simulations=n_simulations, n_jobs=n_jobs)
        fits = categories_workload(study.design.n_ratings, n_simulations=n_simulations, n_jobs=n_jobs)
        return work + fits
    replication, by_reml = study.replication, study.rule.estimator == "reml"
    return study_workload(
        study.design,
        n_simulations=n_simulations,
        n_jobs=n_jobs,
        closed_form=replication.by_mean_squares or (replication.closed_form and by_reml),
    )


def measured_workload(studies: Sequence[RatingStudy], *, n_simulations: int, n_jobs: int = 1) -> Workload:
    """Of simulations of each of these studies, whose seconds are measured where they may be many."""
    each = measured_seconds(studies, n_simulations=n_simulations)
    memory = max(
        rating_study_workload(study, n_simulations=n_simulations, n_jobs=n_jobs).n_bytes
        for study in studies
    )
    return Workload(sum(each) * n_simulations / n_jobs, memory)


def measured_seconds(scenarios: Sequence[Scenario], *, n_simulations: int) -> list[float]:
    """About how long one replicate of each takes on one core: where all of them may take long, as measured.

    Fits of tables of one size differ by a factor of hundreds, by how the table lies. Rating studies are measured
    for some seconds, large and small ones first; the others are off by as much as those next to them in size.
    """
    from humeval_power.studies.power.scenario import RatingStudy

    expected = [seconds_each(scenario) for scenario in scenarios]
    if sum(expected) * n_simulations < _MEASURED_FROM:
        return expected
    order = [place for place in np.argsort(expected) if isinstance(scenarios[place], RatingStudy)]
    ends = time.monotonic() + _MEASURING
    off: dict[int, float] = {}  # how much longer it takes than expected, by the place in the order
    for rank in _ends_first(len(order)):
        study = scenarios[order[rank]]
        assert isinstance(study, RatingStudy)
        if study not in _MEASURED:
            if time.monotonic() > ends:
                break
            _MEASURED[study] = _measured(study)
        off[rank] = _MEASURED[study] / expected[order[rank]]
    if not off:
        return expected
    factor = np.exp(
        np.interp(np.arange(len(order)), sorted(off), [math.log(off[rank]) for rank in sorted(off)])
    )
    for rank, place in enumerate(order):
        expected[place] *= float(factor[rank])
    return expected


def _measured(study: RatingStudy) -> float:
    """Seconds of a replicate, once what its design needs is there."""
    study.prepare()
    study.draw(1, seed=0)
    n, took = 1, 0.0
    while took < _SHORT and n < _MOST_MEASURED:
        n *= 4
        before = time.monotonic()
        study.draw(n, seed=0)
        took = time.monotonic() - before
    return took / n


def _ends_first(n: int) -> list[int]:
    """Places 0 to n - 1: the last, the first, and then always the middle of the widest gap."""
    places = [n - 1, 0][:n]
    gaps = [(0, n - 1)]
    while gaps:
        low, high = gaps.pop(0)
        if high - low > 1:
            middle = (low + high) // 2
            places.append(middle)
            gaps += [(low, middle), (middle, high)]
    return places


def seconds_each(scenario: Scenario) -> float:
    """About how long one replicate takes on one core. Blocks are cut by it: it depends on the question alone."""
    from humeval_power.studies.power.scenario import RatingStudy

    if isinstance(scenario, RatingStudy):
        return rating_study_workload(scenario, n_simulations=1).seconds
    return _SECONDS["scenario"][0]


def comparison_workload(
    family: str, n: int, *, n_simulations: int, n_jobs: int = 1, flips: int | None = None
) -> Workload:
    """Of simulated comparisons with `n` items, judgements or scores each; `flips` are drawn for each p-value."""
    fixed, per_item = _SECONDS.get(family, _SECONDS["scenario"])
    per_item += 5e-10 * (flips or 0)
    memory = 0.0 if per_item == 0 else float(_PER_ITEM) * n * n_jobs
    return Workload((fixed + per_item * n) * n_simulations / n_jobs, memory)


def simulations_within(seconds: float, work: Workload, *, n_simulations: int) -> int:
    """How many simulations of this kind take about so long, in round numbers; 0 where one takes longer."""
    affordable = seconds / work.seconds * n_simulations if work.seconds else float(n_simulations)
    if affordable < 1:
        return 0
    digit = 10 ** math.floor(math.log10(affordable))
    return int(affordable // digit) * int(digit)
