"""Studies drawn with replacement from a study's own ratings: by rating, item, worker, or both of these.

What is drawn again must be what another study would draw again. Drawing items keeps the same workers,
so that the answer is about other items and these very workers; drawing workers and items crosses both
draws (Owen 2007, the pigeonhole bootstrap) and is about another study altogether.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from humeval_power.designs import Assignment, Codes, Design, crossed
from humeval_power.errors import InputError
from humeval_power.estimation.crossed.problem import RatingTable
from humeval_power.inference.common_tests import COMMON_TESTS, mean_differences
from humeval_power.parameters import Parameters
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.scenarios.contract import Replicates, joined
from humeval_power.simulation.study import portions, remaining, replicate_generator
from humeval_power.studies.power.replication import LOST, Replication, StudyFits
from humeval_power.studies.power.scenario import RatingStudy

Floats = NDArray[np.float64]
Unit = Literal["rating", "item", "worker", "both"]

MIXED = "mixed"
RESAMPLED_TESTS = (*COMMON_TESTS, MIXED)
_FEWEST = {"workers": 2, "items": 2, "ratings": 2}
_NEEDS: dict[Unit, tuple[str, ...]] = {
    "rating": ("ratings",),
    "item": ("items",),
    "worker": ("workers",),
    "both": ("workers", "items"),
}


class ResampledTable(NamedTuple):
    """Ratings without anything that drawing them does not need."""

    worker: Codes
    item: Codes
    system: Codes
    rating: Floats

    @classmethod
    def of(cls, ratings: RatingTable) -> ResampledTable:
        """The columns of ratings."""
        return cls(ratings.worker, ratings.item, ratings.system, ratings.rating)


class Drawn(NamedTuple):
    """Rows of the table in one resampled study, and the codes of worker and item there: a worker or an
    item that was drawn twice is two."""

    row: Codes
    worker: Codes
    item: Codes


@dataclass(frozen=True, eq=False)
class ResampledRatings:
    """A study of `workers`, `items` or `ratings` (of each system) drawn from a table of two systems.

    Parameters
    ----------
    table : the ratings on [0, 1].
    by : what is drawn; the sizes that it does not draw must be None, those that it does default to the
        table's own.
    test : a key of COMMON_TESTS, or 'mixed' for the mixed model under `rule`.
    shift : the true difference B - A that the studies shall have: B's ratings are moved by what is
        missing. None keeps the observed one, and the power is then a restatement of the p-value.
    points : of the rating scale, if it has points: moved ratings are rounded to the next point up or
        down at random so that the mean stays, because ratings between the points would never tie.
    """

    table: RatingTable
    by: Unit = "both"
    workers: int | None = None
    items: int | None = None
    ratings: int | None = None
    test: str = MIXED
    shift: float | None = None
    points: int | None = None
    rule: DecisionRule = DEFAULT_RULE

    def __post_init__(self) -> None:
        if self.by not in get_args(Unit):
            raise InputError(f"Ratings are drawn by {', '.join(get_args(Unit))}; got {self.by!r}.")
        if self.test not in RESAMPLED_TESTS:
            raise InputError(f"The tests are {', '.join(RESAMPLED_TESTS)}; got {self.test!r}.")
        if self.rule.is_simulated:
            raise InputError(
                f"A resampled study cannot simulate its own null: df {self.rule.df!r} is not for it."
            )
        for name, fewest in _FEWEST.items():
            given = getattr(self, name)
            if given is not None and name not in _NEEDS[self.by]:
                raise InputError(
                    f"Drawing by {self.by} has no number of {name}: leave it out; got {given}."
                )
            if given is not None and given < fewest:
                raise InputError(f"A resampled study needs at least {fewest} {name}; got {given}.")
        if self.by in ("worker", "both") and self._n_workers < 2:
            raise InputError("Workers can be drawn only from at least 2.")
        if self.shift is not None and not abs(self.shift) <= 1:
            raise InputError(
                f"A difference on [0, 1] lies between -1 and 1; got {self.shift:g}. Divide one in units of the "
                "scale by its width."
            )

    @property
    def true_effect(self) -> float:
        """Difference B - A of the population that is drawn from, as this test estimates it."""
        return self.observed if self.shift is None else self.shift

    @property
    def alpha(self) -> float:
        """The rule's level, for every test."""
        return self.rule.alpha

    def with_effect(self, effect: float) -> ResampledRatings:
        """The same with the ratings moved to a true difference of `effect`."""
        return replace(self, shift=effect)

    @cached_property
    def observed(self) -> float:
        """The table's own difference B - A, by the estimator that belongs to the test."""
        rows = Assignment(self.table.worker, self.table.item, self.table.system)
        if self.test != MIXED:
            return float(estimates(self.table.rating[None], rows, test=self.test)[0])
        return float(self._fitted.estimate[0])

    @property
    def size(self) -> dict[str, int]:
        """What a study consists of, by name."""
        own = {
            "workers": self._n_workers,
            "items": self._n_items,
            "ratings": int(min(np.bincount(self.table.system))),
        }
        return {name: getattr(self, name) or own[name] for name in _NEEDS[self.by]}

    def draw(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> Replicates:
        """Draw and test studies `first` to `first + n - 1`; study i uses child i of the seed."""
        if self.test == MIXED and self._is_complete and self.by != "rating":
            return self._draw_complete(range(first, first + n), seed, n_jobs)

        def one(replicate: int) -> Replicates:
            rng = replicate_generator(seed, replicate)
            drawn = self._drawn(rng)
            return self._tested(drawn, self._moved(rng, drawn.row))

        replicates = range(first, first + n)
        if n_jobs == 1:
            return joined([one(replicate) for replicate in replicates])
        with ThreadPoolExecutor(n_jobs) as pool:
            return joined(list(pool.map(one, replicates)))

    def _tested(self, drawn: Drawn, rating: Floats) -> Replicates:
        system = self.table.system[drawn.row]
        rows = remaining(Assignment(drawn.worker, drawn.item, system), np.ones(len(system), dtype=bool))
        if rows is None:
            return self._lost()
        if self.test == MIXED:
            size = int(rows.worker.max()) + 1, int(rows.item.max()) + 1
            return self._decided(Design("table", *size, 0.0, explicit=rows), rating[None], 1)
        common = COMMON_TESTS[self.test]
        if not common.is_defined(rows):
            return self._lost()
        estimate = estimates(rating[None], rows, test=self.test)
        p_value, claim = common.run(rating[None], rows)
        return Replicates.of_tests(estimate, p_value, status=np.where(np.isnan(p_value), 1, 0), claim=claim)

    def _lost(self) -> Replicates:
        """A study in which this test has nothing to compare."""
        blank = np.full(1, np.nan)
        claim = None if self.test == MIXED else blank
        return Replicates.of_tests(blank, blank, status=np.array([LOST]), claim=claim)

    def _decided(self, design: Design, responses: Floats, n_jobs: int) -> Replicates:
        start = _start(max(float(np.std(self.table.rating)), 1e-3))
        study = RatingStudy(start, design, rule=self.rule)
        fits = study.replication.fit(responses, n_jobs=n_jobs)
        decisions = study.decide(fits)
        return replace(decisions, boundary=np.zeros((len(responses), 0), dtype=np.bool_), boundary_names=())

    def _draw_complete(self, replicates: range, seed: int, n_jobs: int) -> Replicates:
        """All workers rate all items equally often, here and after drawing: one fit for all tables."""
        sizes = self.size
        repeats = len(self.table.rating) // (2 * self._n_workers * self._n_items)
        design = crossed(
            sizes.get("workers", self._n_workers), sizes.get("items", self._n_items), n_repeats=repeats
        )
        rows = design.assignment
        parts = []
        held = portions(replicates.start, len(replicates), n_ratings=design.n_ratings, n_jobs=n_jobs)
        for portion in held:
            responses = []
            for replicate in portion:
                rng = replicate_generator(seed, replicate)
                drawn = self._drawn(rng)
                system = self.table.system[drawn.row]
                order = np.lexsort((system, drawn.item, drawn.worker))
                responses.append(self._moved(rng, drawn.row)[order])
            in_order = np.lexsort((rows.system, rows.item, rows.worker))
            arranged = np.empty((len(responses), len(in_order)))
            arranged[:, in_order] = responses
            parts.append(self._decided(design, arranged, n_jobs))
        return joined(parts)

    def _drawn(self, rng: np.random.Generator) -> Drawn:
        table, size = self.table, self.size
        if self.by == "rating":
            row = np.concatenate(
                [rows[rng.integers(len(rows), size=size["ratings"])] for rows in self._rows_of_system]
            )
            return Drawn(row, table.worker[row], table.item[row])
        row, worker, item = np.arange(len(table.rating)), table.worker, table.item
        if "items" in size:
            chosen = rng.integers(self._n_items, size=size["items"])
            place, item = copies(item, chosen, self._n_items)
            row, worker = row[place], worker[place]
        if "workers" in size:
            chosen = rng.integers(self._n_workers, size=size["workers"])
            place, worker = copies(worker, chosen, self._n_workers)
            row, item = row[place], item[place]
        return Drawn(row, worker, item)

    def _moved(self, rng: np.random.Generator, row: Codes) -> Floats:
        """The ratings of these rows with the difference that is wanted."""
        rating = self.table.rating[row]
        if self.shift is None:
            return rating
        moved = rating + (self.shift - self.observed) * (self.table.system[row] == 1)
        if self.points is None:
            return np.asarray(moved)
        steps = moved * (self.points - 1)
        nearest = np.round(steps)
        steps = np.where(np.abs(steps - nearest) < 1e-9, nearest, steps)  # 0.3 * 10 is no tie of 3 else
        return np.asarray(np.floor(steps + rng.random(len(steps))) / (self.points - 1))

    @cached_property
    def _rows_of_system(self) -> tuple[Codes, Codes]:
        a, b = (np.flatnonzero(self.table.system == system) for system in (0, 1))
        return a, b

    @cached_property
    def _n_workers(self) -> int:
        return int(self.table.worker.max()) + 1

    @cached_property
    def _n_items(self) -> int:
        return int(self.table.item.max()) + 1

    @cached_property
    def _is_complete(self) -> bool:
        cell = (self.table.worker * self._n_items + self.table.item) * 2 + self.table.system
        count = np.bincount(cell, minlength=2 * self._n_workers * self._n_items)
        return bool((count == count[0]).all())

    @cached_property
    def _fitted(self) -> StudyFits:
        rows = Assignment(self.table.worker, self.table.item, self.table.system)
        design = Design("table", self._n_workers, self._n_items, 0.0, explicit=rows)
        return Replication(_start(0.2), design, self.rule.estimator, self.rule.analysis).fit(
            self.table.rating[None]
        )


def _start(sd_residual: float) -> Parameters:
    """Where a fit starts: of no consequence for where it ends."""
    return Parameters(
        baseline=0.5,
        effect=0.0,
        sd_worker_intercept=0.1,
        sd_worker_slope=0.1,
        sd_item_intercept=0.1,
        sd_item_slope=0.1,
        sd_residual=sd_residual,
    )


def copies(code: Codes, chosen: Codes, n_codes: int) -> tuple[Codes, Codes]:
    """Rows of the chosen codes, once for each time a code was chosen, and which choice each belongs to.

    code : (n_rows,) below `n_codes`; chosen : (n_chosen,). Both results have one entry for each copy.
    """
    order = np.argsort(code, kind="stable")
    count = np.bincount(code, minlength=n_codes)
    start = np.cumsum(count) - count
    times = count[chosen]
    choice = np.repeat(np.arange(len(chosen)), times)
    within = np.arange(len(choice)) - np.repeat(np.cumsum(times) - times, times)
    return order[np.repeat(start[chosen], times) + within], choice


def estimates(responses: Floats, rows: Assignment, *, test: str) -> Floats:
    """Difference B - A as each of the COMMON_TESTS sees it, shape (replicates,): of the means of all
    ratings, or the mean of the differences of items or workers that have both."""
    if test in ("ratings-t", "mann-whitney"):
        a, b = (responses[:, rows.system == system].mean(axis=1) for system in (0, 1))
        return np.asarray(b - a)
    group = rows.worker if test == "worker-means-t" else rows.item
    return np.asarray(mean_differences(responses, group, rows.system).mean(axis=1))
