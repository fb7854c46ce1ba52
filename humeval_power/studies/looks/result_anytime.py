"""What a confidence sequence over workers says, and its record.

A confidence sequence over workers: an interval that holds after every worker, however many will come.

Workers with items of their own are independent; the mean difference of each is one normal value. The sequence is
the right-Haar mixture of t statistics, the effect in SDs being N(0, g) (Lai 1976; Wang and Ramdas 2023),
whose Bayes factor is that of Gonen et al. (2005). It is exact for normal values, and wide: that is its price.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.errors import InputError, Problem, refuse
from humeval_power.ratings import Ratings
from humeval_power.saying.answer_words import on_scale, possible_words
from humeval_power.saying.document import Document, Fact, Facts, Paragraph, Section
from humeval_power.saying.numbers import counted, interval_words, level_of
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record, Result
from humeval_power.saying.stated import table
from humeval_power.scales import RatingScale

Floats = NDArray[np.float64]
LEAST_TUNED, MOST_TUNED = 3, 1000


def half_width_at(spread: Floats, m: int, g: float, alpha: float = 0.05) -> Floats:
    """Half-width after m workers whose means have this SD; infinite where they are too few."""
    grown = 1 + m * g
    kappa = (grown / alpha**2) ** (1 / m)
    if m < 2 or kappa >= grown:
        return np.full_like(np.asarray(spread, dtype=float), math.inf)
    return np.asarray(spread / math.sqrt(m) * math.sqrt((m - 1) * (kappa - 1) / (1 - kappa / grown)))


def tuned_spread(workers: int, alpha: float = 0.05) -> float:
    """The g at which the sequence is narrowest after so many workers. Raises InputError: fewer than 3
    workers, or more than 1,000."""
    if not LEAST_TUNED <= workers <= MOST_TUNED:
        raise InputError(
            f"The sequence is made narrowest at {LEAST_TUNED} to {MOST_TUNED:,} workers; got {workers:,}."
        )
    from scipy import optimize

    def width(log_g: float) -> float:
        return float(half_width_at(np.array(1.0), workers, math.exp(log_g), alpha))

    grid = np.linspace(-9, 9, 181)
    best = int(np.argmin([width(at) for at in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    optimum = optimize.minimize_scalar(
        width, bounds=(low, high), method="bounded", options={"xatol": 1e-10}
    )
    return math.exp(float(optimum.x))


# What the sequence needs of ratings, and what every other unit would do.

REFUSED = (
    "Sequences over other units are not offered, for they err: with a nominal 5 % and no difference, over workers "
    "who rate the same items in 4 to 18 % of studies, over items in 9 to 53 %, over ratings in 44 to 75 % "
    "(simulated: docs/stop-when.md). Plan looks instead: --looks 3 --stop-when decision."
)
FEWEST = 3  # workers


@dataclass(frozen=True, slots=True)
class SequenceStep:
    """The sequence after so many workers: their mean difference, and the interval that holds after every worker."""

    workers: int
    estimate: float
    half_width: float

    @property
    def interval(self) -> tuple[float, float]:
        """Infinite while workers are too few."""
        return self.estimate - self.half_width, self.estimate + self.half_width


def worker_differences(ratings: Ratings) -> Floats:
    """Mean difference B - A of each worker over his own items, in the order in which workers come in the
    table. Raises InputError: items that several workers rated, items without a rating under both systems, or
    unequal numbers of items."""
    worker, item, system = ratings.worker, ratings.item, ratings.system
    problems = []
    pairs = np.unique(np.stack([worker, item]), axis=1)
    shared = int((np.bincount(pairs[1]) > 1).sum())
    if shared:
        problems.append(
            f"{shared:,} items were rated by several workers: each needs items of his own. {REFUSED}"
        )
    cells = np.zeros((2, ratings.n_workers * ratings.n_items))
    counts = np.zeros_like(cells)
    cell = worker * ratings.n_items + item
    np.add.at(cells, (system, cell), ratings.rating)
    np.add.at(counts, (system, cell), 1)
    there = counts.sum(axis=0) > 0
    alone = int((there & (counts == 0).any(axis=0)).sum())
    if alone:
        problems.append(
            f"{alone:,} items lack a rating under one of the systems: leave them out of the table."
        )
    if not alone:
        own = np.bincount(np.flatnonzero(there) // ratings.n_items, minlength=ratings.n_workers)
        if own.min() != own.max():
            problems.append(
                f"Workers rated {own.min():,} to {own.max():,} items: their means are not equally precise, and the "
                "sequence needs that they are."
            )
    if ratings.n_workers < FEWEST:
        problems.append(f"{ratings.n_workers} workers are too few for a sequence: {FEWEST} at least.")
    refuse([Problem(rule, "", place=ratings.source) for rule in problems])
    places = np.flatnonzero(there)
    differences = cells[1, places] / counts[1, places] - cells[0, places] / counts[0, places]
    of = places // ratings.n_items
    means = np.bincount(of, weights=differences) / np.bincount(of)
    arrived = np.full(ratings.n_workers, len(worker))
    np.minimum.at(arrived, worker, np.arange(len(worker)))
    return np.asarray(means[np.argsort(arrived)])


def sequence(values: Floats, g: float, alpha: float = 0.05) -> tuple[SequenceStep, ...]:
    """The sequence after each worker from the third on."""
    rows = []
    for m in range(FEWEST, len(values) + 1):
        spread = values[:m].std(ddof=1)
        rows.append(SequenceStep(m, float(values[:m].mean()), float(half_width_at(spread, m, g, alpha))))
    return tuple(rows)


def price(workers: int, g: float, alpha: float = 0.05) -> float:
    """Width of the sequence after so many workers over that of the t interval that is looked at once."""
    plain = float(-special.stdtrit(workers - 1, alpha / 2)) / math.sqrt(workers)
    return float(half_width_at(np.array(1.0), workers, g, alpha)) / plain


@dataclass(frozen=True, kw_only=True)
class AnytimeResult(Result):
    """An interval that holds after every worker; `steps` are all of them, from the third worker on.

    narrowest_at, g : how many workers it is made for, and the spread of effects that this means
    """

    schema: ClassVar[str] = "humeval_power/looks_anytime/1"

    systems: tuple[str, str]
    scale: RatingScale
    source: str
    steps: tuple[SequenceStep, ...]
    narrowest_at: int
    g: float
    alpha: float

    @property
    def last(self) -> SequenceStep:
        """After the last worker."""
        return self.steps[-1]

    @property
    def excludes(self) -> bool:
        """Whether the interval excludes no difference."""
        return abs(self.last.estimate) > self.last.half_width

    @property
    def price(self) -> float:
        """Its width over that of a t interval that is looked at once."""
        return price(self.last.workers, self.g, self.alpha)

    def body(self) -> Document:
        (a, b), workers, width = self.systems, counted(self.last.workers, "worker"), self.scale.width
        if math.isinf(self.last.half_width):
            result = f"{workers} are too few to say how {a} and {b} differ."
        else:
            better, worse = (b, a) if self.last.estimate > 0 else (a, b)
            said = f"No difference between {a} and {b} is shown after {workers}: {b} may be"
            if self.excludes:
                said = f"{better} is better than {worse} after {workers}: {b} is"
            reach = possible_words(self.last.interval, self.scale)
            result = f"{said} {reach} {on_scale(self.scale)} ({level_of(1 - self.alpha)} interval)."
        last_steps = table(
            self.steps[-12:],
            {
                "workers": lambda step: str(step.workers),
                f"{b} - {a}": lambda step: f"{width * step.estimate:.3f}",
                "interval": lambda step: (
                    "-"
                    if math.isinf(step.half_width)
                    else interval_words(*(width * end for end in step.interval), digits=3)
                ),
            },
            f"In points {on_scale(self.scale)}.",
        )
        return Document(
            "A sequence over workers",
            lead=f"{result} You may look after every worker, and go on for as long as you like.",
            sections=(
                Section("", (Facts(tuple(self._facts())),)),
                Section("After each worker", (last_steps,)),
                Section("Other units", (Paragraph(REFUSED),), is_detail=True),
            ),
        )

    def _facts(self) -> Iterator[Fact]:
        level, wide = level_of(1 - self.alpha), ""
        yield "Ratings", self.source
        yield "Interval", f"{level}, for all looks together; exact for normal means"
        yield "Made for", f"{self.narrowest_at} workers, where it is narrowest (g {self.g:.4g})"
        if math.isfinite(self.price):
            wide = f"{self.price:.2f} times as wide as a t interval looked at once; "
        yield (
            "Price",
            f"{wide}where one test finds a difference with power 0.80, the sequence does in 0.43 to 0.47 of "
            "studies, and planned looks in 0.76 to 0.79 (simulated)",
        )

    def content(self) -> Record:
        """Every step; an interval without ends is null."""
        return {
            "systems": list(self.systems),
            "excludes_no_difference": self.excludes,
            **values(self, "narrowest_at", "g", "alpha"),
            "price": None if math.isinf(self.price) else self.price,
            "steps": [
                {
                    **values(step, "workers", "estimate"),
                    "interval": None if math.isinf(step.half_width) else list(step.interval),
                }
                for step in self.steps
            ],
        }
