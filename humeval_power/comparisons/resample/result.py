"""Power of tests on studies drawn from a study's own ratings: what it says, and its record."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from humeval_power.comparisons.resample.scenario import ResampledRatings, Unit
from humeval_power.differences import Difference
from humeval_power.ratings import Ratings
from humeval_power.saying.answer_words import (
    as_points,
    as_points_interval,
    better_words,
    of_hundred,
    on_scale,
    points_words,
    share_words,
)
from humeval_power.saying.chart import Axis, Chart, Level, Series, Upright, interval_chart
from humeval_power.saying.document import Document, Fact, Section, Table
from humeval_power.saying.numbers import POWER_LABEL, counted, decimals, interval_words
from humeval_power.saying.quantities import values
from humeval_power.saying.result import NO_POWER, Record, Result
from humeval_power.saying.stated import table
from humeval_power.studies.power.estimate import PowerEstimate

OBSERVED = "the observed difference"
MEANING: dict[Unit, str] = {
    "rating": "ratings are drawn one by one, as if all were independent",
    "item": "items are drawn; the workers stay these very people",
    "worker": "workers are drawn; the items stay these very items",
    "both": "workers and items are drawn: another study by other people on other items",
}


@dataclass(frozen=True, slots=True)
class ResampledCell:
    """One test of studies of one size."""

    scenario: ResampledRatings
    estimate: PowerEstimate


@dataclass(frozen=True, kw_only=True)
class ResampleResult(Result):
    """Every test at every size; `shift` is the difference that the studies have, None for the observed one."""

    schema: ClassVar[str] = "humeval_power/resample/1"

    ratings: Ratings
    cells: tuple[ResampledCell, ...]
    shift: Difference | None

    @property
    def missed(self) -> str:
        return NO_POWER if any(cell.estimate.too_many_failed for cell in self.cells) else ""

    @property
    def remarks(self) -> tuple[str, ...]:
        return tuple(f"{self.ratings.source}: {notice}" for notice in self.ratings.notices)

    @property
    def _is_none(self) -> bool:
        """Whether there is no effect to be found: how often the tests reject is shown then."""
        return self.cells[0].scenario.true_effect == 0

    def _share(self, estimate: PowerEstimate) -> tuple[float, tuple[float, float]]:
        """How many of the studies find an effect, with the Monte Carlo interval."""
        if self._is_none:
            return estimate.rejection_rate, estimate.rejection_interval
        return estimate.power, estimate.interval

    def body(self) -> Document:
        return Document(
            f"Power from the ratings in {self.ratings.source}",
            lead=self._lead(),
            headline=tuple(self._facts()),
            caveats=tuple(self._caveats()),
            sections=(Section("Found", (self._table(), *self._pictures())),),
        )

    def _lead(self) -> str:
        known = [cell.estimate for cell in self.cells if not cell.estimate.too_many_failed]
        if not known:
            return "No power can be given: too many of the studies could not be tested."
        shares = sorted(map(self._share, known))
        (low, interval), (high, _) = shares[0], shares[-1]
        chance = of_hundred(low, interval)
        if low < high and not self._is_none:
            chance = f"{of_hundred(low)} to {of_hundred(high)}, by the row,"
        if self.shift is None:
            what = OBSERVED
        elif self._is_none:
            what = "a difference where there is none"
        else:
            a, b = self.ratings.system_names
            what = f"that {better_words(self.shift.value, self.shift.scale, (a, b))}"
        n = known[0].n_simulations
        return f"Of 100 such studies, {chance} would find {what}; {n:,} were simulated for each row."

    def _facts(self) -> Iterator[Fact]:
        ratings, first = self.ratings, self.cells[0].scenario
        a, b = ratings.system_names
        scale = ratings.scale
        observed = [cell.scenario.observed for cell in self.cells]
        low, high = min(observed), max(observed)
        said = f"{as_points(low, scale)} points ({low:.4f} on [0, 1])"
        if f"{low:.4f}" != f"{high:.4f}":
            inner = f"{low:.4f} to {high:.4f} on [0, 1]"
            said = f"{as_points_interval((low, high), scale)} points, by the test ({inner})"
        yield "Effect", OBSERVED if self.shift is None else str(self.shift)
        yield "Observed", f"{b} - {a}: {said}"
        yield (
            "Ratings",
            f"{counted(ratings.n_ratings, 'rating')}, {counted(ratings.n_workers, 'worker')}, "
            f"{counted(ratings.n_items, 'item')}",
        )
        yield "Drawn", f"by {first.by}: {MEANING[first.by]}"
        yield "Test", f"two-sided, alpha {first.alpha:g}"

    def _caveats(self) -> Iterator[str]:
        ratings, by = self.ratings, self.cells[0].scenario.by
        mean = float(ratings.rating[ratings.system == 0].mean())
        if self.shift is None:
            yield (
                "The studies have the difference that was observed. Their power is a function of the observed "
                "p-value and says nothing that the p-value does not (Card et al. 2020, appendix A): give the "
                "difference that would matter instead."
            )
        elif not 0 <= mean + self.shift.value <= 1:
            scale, a = ratings.scale, ratings.system_names[0]
            level = float(scale.from_unit(np.array(mean)))
            yield (
                f"The mean of {a} is {level:.4g} {on_scale(scale)}: a difference of "
                f"{points_words(self.shift.value, scale)} would put that of the other system beyond it, where no "
                "study can find it."
            )
        if by in ("worker", "both") and ratings.n_workers < 10:
            yield (
                f"Drawing from {ratings.n_workers} workers shows little of how workers differ; the power is a "
                "rough guide. Power and plans of a model assume a law of workers instead."
            )
        if by in ("item", "rating"):
            yield (
                f"By {by}, {MEANING[by]}: where workers differ in the difference between the systems, a study "
                "with other workers has less power than this."
            )
        failed = max(cell.estimate.n_failed for cell in self.cells)
        if failed:
            yield (
                f"In a row up to {failed:,} of the studies could not be tested (a single worker or item was "
                "drawn, or nothing varied, or the fit failed); they count as not significant. Above 20 % no "
                "rate is given."
            )

    def _table(self) -> Table:
        first, is_none = self.cells[0].scenario, self._is_none
        sizes = {name: lambda cell, name=name: f"{cell.scenario.size[name]:,}" for name in first.size}

        def known(
            shown: Callable[[PowerEstimate], str], failed: str = ""
        ) -> Callable[[ResampledCell], str]:
            return lambda cell: failed if cell.estimate.too_many_failed else shown(cell.estimate)

        share = known(lambda each: f"{self._share(each)[0]:.3f}", "none")
        interval = known(lambda each: interval_words(*self._share(each)[1], digits=3))
        errors = {
            "type M": known(lambda each: decimals(each.type_m, 2)),
            "type S": known(lambda each: share_words(each.type_s) if math.isfinite(each.type_s) else "-"),
        }
        return table(
            self.cells,
            {
                "test": lambda cell: cell.scenario.test,
                **sizes,
                "rejects" if is_none else "power": share,
                "interval": interval,
                **({} if is_none else errors),
            },
        )

    def _pictures(self) -> Iterator[Chart]:
        rows: list[dict[str, Any]] = []
        for cell in self.cells:
            if not cell.estimate.too_many_failed:
                share = dict(zip(("power", "interval"), self._share(cell.estimate), strict=True))
                rows.append({"test": cell.scenario.test, **cell.scenario.size, **share})
        if rows:
            yield resample_chart(rows, is_none=self._is_none)

    def content(self) -> Record:
        first = self.cells[0].scenario
        return {
            "understood": OBSERVED if self.shift is None else str(self.shift),
            "source": self.ratings.source,
            "systems": list(self.ratings.system_names),
            "by": first.by,
            "shift": first.shift,
            "post_hoc": first.shift is None,
            "rows": [
                {
                    "test": cell.scenario.test,
                    **cell.scenario.size,
                    "observed": cell.scenario.observed,
                    "effect": cell.scenario.true_effect,
                    **values(cell.estimate, "power", "interval", "rejection_rate", "type_m", "type_s"),
                    **values(cell.estimate, "n_simulations", "n_failed"),
                }
                for cell in self.cells
            ],
            "alpha": first.alpha,
        }


_SIZES = ("workers", "items", "ratings")
_LABELS = {"workers": "Workers", "items": "Items", "ratings": "Ratings of each system"}
_MOST_ROWS, _MOST_CURVES = 30, 8
_TARGET = 0.8


def resample_chart(rows: Sequence[Mapping[str, Any]], *, is_none: bool = False) -> Chart:
    """Power of each row with its interval; where there `is_none` of an effect, how often the test rejects.

    Where a size varies it is x and each test, with the other sizes, is a curve; where none does, each test
    is a row. Of more than 30 rows or 8 curves the first are shown.
    """
    share = Axis("Studies that find an effect (there is none)" if is_none else POWER_LABEL, 0, 1)
    title = "How often do the tests find it?"
    words = "The power of each test, with its Monte Carlo interval, at each size of the studies."
    varied = [name for name in _SIZES if len({row[name] for row in rows if name in row}) > 1]
    if not varied:
        each = [(str(row["test"]), row["power"], row["interval"]) for row in rows[:_MOST_ROWS]]
        chart = interval_chart("power", each, axis=share.label, title=title, words=words, null=None)
        return replace(chart, x=share, marks=() if is_none else (Upright(f"power {_TARGET:g}", _TARGET),))
    x = max(varied, key=lambda name: len({row[name] for row in rows}))
    curves: dict[str, list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: row[x]):
        sizes = [f"{row[name]:,} {name}" for name in varied if name != x]
        curves.setdefault(", ".join([str(row["test"]), *sizes]), []).append(row)
    series = []
    for colour, (name, points_of) in enumerate(list(curves.items())[:_MOST_CURVES]):
        line = Series.of("line", name, [(row[x], row["power"]) for row in points_of], colour)
        low, high = zip(*(row["interval"] for row in points_of), strict=True)
        series += [Series("band", "", line.x, low=low, high=high, colour=colour), line]
    ends = [row[x] for row in rows]
    along = Axis(_LABELS[x], min(ends), max(ends), is_whole=True)
    marks = () if is_none else (Level(f"power {_TARGET:g}", _TARGET),)
    return Chart("power", title, words, along, share, tuple(series), marks)
