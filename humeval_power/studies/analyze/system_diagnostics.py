"""Diagnostics of a comparison of several systems: sentences, tables, pictures and their record."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

import numpy as np
from numpy.typing import NDArray

from humeval_power.ratings import Ratings
from humeval_power.saying.chart import Axis, Chart, LaterChart, Panels, Series, Upright
from humeval_power.saying.document import Block, Paragraph, Table
from humeval_power.saying.numbers import counted, significant, significant_interval
from humeval_power.saying.result import Record
from humeval_power.saying.stated import table
from humeval_power.studies.analyze.diagnostics import (
    JointDiagnostics,
    WithoutWorker,
    screening_blocks,
    screening_sentence,
)
from humeval_power.studies.analyze.family import Unit
from humeval_power.studies.analyze.figures import later_residuals

_MOST_SHOWN = 10  # workers in a table


def system_diagnostic_blocks(
    diagnostics: JointDiagnostics,
    ratings: Ratings,
    unit: Unit,
    order: Sequence[str],
    called: Mapping[str, str],
) -> Iterator[Block]:
    """Who is worth a look, what the means owe to single workers, and how workers and items differ."""
    yield from screening_blocks(diagnostics.workers)
    yield Paragraph(influence_words(diagnostics, unit))
    most = _by_shift(diagnostics.left_out)[:_MOST_SHOWN]
    if most:
        yield table(
            most,
            {
                "without": lambda one: one.worker,
                "ratings": lambda one: f"{one.n_ratings:,}",
                "largest shift": lambda one: unit.shown(unit.difference(one.shift), more=1, signed=True),
                "of": lambda one: called[one.system],
                "pairs swapped": lambda one: str(one.swapped),
                "best": lambda one: called[one.best],
            },
        )
    yield LaterChart(
        "spread",
        lambda: spread_chart(diagnostics, ratings, unit, order),
        words="What each worker, and each item, gives a system beyond what it gives all, as predicted.",
    )
    yield later_residuals(diagnostics.predictions, ratings)


def influence_words(diagnostics: JointDiagnostics, unit: Unit) -> str:
    """What leaving out single workers changes, in a sentence or two."""
    usable = _by_shift(diagnostics.left_out)
    if not usable:
        return "No worker could be left out."
    most = usable[0]
    shift = unit.shown(unit.difference(most.shift), more=1, signed=True)
    more = ""
    if diagnostics.n_not_tried:
        more = f" ({counted(diagnostics.n_not_tried, 'worker')} with fewer ratings not tried)"
    words = (
        f"Without one of {counted(len(usable), 'worker')} at a time{more}, at the variances of the whole fit, a "
        f"system's mean about that of all systems shifts by at most {shift} ({most.system}, without {most.worker}; "
        f"{unit.words})"
    )
    others = [one for one in usable if one.best != diagnostics.best]
    if not others:
        return f"{words}; {diagnostics.best} keeps the best mean."
    names = ", ".join(f"{one.worker} ({one.best})" for one in others[:3])
    further = f" and {len(others) - 3} more" if len(others) > 3 else ""
    return f"{words}; another system has the best mean without {names}{further}."


def _by_shift(left_out: Sequence[WithoutWorker]) -> list[WithoutWorker]:
    return sorted((one for one in left_out if not one.reason), key=lambda one: -abs(one.shift))


def spread_chart(
    diagnostics: JointDiagnostics, ratings: Ratings, unit: Unit, order: Sequence[str]
) -> Panels:
    """A row for each system in the order of the table: a dot for what each worker, or item, gives it beyond what it
    gives all systems."""
    words = "What each worker, and each item, gives a system beyond what it gives all, as predicted."
    codes = [ratings.system_names.index(name) for name in order]
    rated = ((ratings.worker, ratings.n_workers, "workers"), (ratings.item, ratings.n_items, "items"))
    effects = (diagnostics.predictions.worker_systems, diagnostics.predictions.item_systems)
    charts = []
    for values, (levels, n, noun) in zip(effects, rated, strict=True):
        seen = _seen(levels, ratings, n)
        shown = [[unit.difference(float(value)) for value in values[seen[:, code], code]] for code in codes]
        points = [(value, float(place)) for place, of in enumerate(shown) for value in of]
        strength = float(np.clip(6 / math.sqrt(len(values) + 1), 0.12, 0.7))
        label = f"This system alone, {unit.words}"
        rows = (
            (name, significant(float(np.std(of))), significant_interval(min(of), max(of)))
            for name, of in zip(order, shown, strict=True)
        )
        charts.append(
            Chart(
                "spread",
                f"{n:,} {noun}",
                words,
                Axis.around(label, [0.0, *(value for value, _ in points)]),
                Axis("", 0, len(order), names=tuple(order)),
                (Series.of("points", "", points, strength=strength),),
                (Upright("", 0.0),),
                numbers=Table(("", "SD", "range"), tuple(rows)),
            )
        )
    return Panels("spread", "Do workers or items favour a system?", words, tuple(charts), 1)


def _seen(level: NDArray[np.int64], ratings: Ratings, n: int) -> NDArray[np.bool_]:
    """Which levels rated, or were rated under, which system, shape (n, K)."""
    seen = np.zeros((n, ratings.n_systems), dtype=bool)
    seen[level, ratings.system] = True
    return seen


def diagnostics_content(diagnostics: JointDiagnostics, ratings: Ratings, unit: Unit) -> Record:
    """The checks of workers, what the means owe to each, and what is predicted for each worker, on [0, 1]; and the
    two sentences as they are shown."""
    given = diagnostics.predictions.workers.tolist()
    return {
        "screening": screening_sentence(diagnostics.workers),
        "influence": influence_words(diagnostics, unit),
        "workers": [asdict(one) for one in diagnostics.workers],
        "worker_levels": dict(zip(ratings.worker_names, given, strict=True)),
        "without_worker": [asdict(one) for one in diagnostics.left_out],
        "n_workers_not_left_out": diagnostics.n_not_tried,
    }
