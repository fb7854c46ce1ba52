"""Diagnostics of a comparison of several systems: sentences, tables, pictures and their record."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from humeval_power.checking.columns import shortened
from humeval_power.ratings import Ratings
from humeval_power.safe_text import picture_text
from humeval_power.saying.document import Block, Paragraph, Picture
from humeval_power.saying.figure_style import COLOURS, INK, house_style
from humeval_power.saying.numbers import counted
from humeval_power.saying.result import Record
from humeval_power.saying.stated import table
from humeval_power.studies.analyze.diagnostics import (
    JointDiagnostics,
    WithoutWorker,
    screening_blocks,
    screening_sentence,
)
from humeval_power.studies.analyze.family import Unit
from humeval_power.studies.analyze.figures import residual_figure

_MOST_SHOWN = 10  # workers in a table
_ROW, _PANEL, _NAME = 0.2, 2.3, 24  # inches, inches, characters


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
    words = "What each worker, and each item, gives a system beyond what it gives all, as predicted."
    yield Picture("spread", lambda: spread_figure(diagnostics, ratings, unit, order), words=words)
    words = "Residuals against fitted ratings, with the SD of each tenth."
    predicted = diagnostics.predictions
    yield Picture("residuals", lambda: residual_figure(predicted, ratings, width=4.6)[0], words=words)


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


def spread_figure(
    diagnostics: JointDiagnostics, ratings: Ratings, unit: Unit, order: Sequence[str]
) -> Figure:
    """A row for each system in the order of the table: a dot for what each worker, or item, gives it beyond what it
    gives all systems."""
    names = [shortened(picture_text(name), width=_NAME) for name in order]
    codes = [ratings.system_names.index(name) for name in order]
    rated = ((ratings.worker, ratings.n_workers, "workers"), (ratings.item, ratings.n_items, "items"))
    effects = (diagnostics.predictions.worker_systems, diagnostics.predictions.item_systems)
    with house_style():
        width = 0.085 * max(map(len, names)) + 2 * _PANEL
        figure = Figure(figsize=(width, _ROW * max(len(names), 3) + 0.75), layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        for axes, values, (levels, n, noun) in zip(panels, effects, rated, strict=True):
            _draw_spread(axes, unit, values, codes, _seen(levels, ratings, n))
            axes.set_title(f"{n:,} {noun}", weight="bold", loc="left")
        panels[0].set_yticks(range(len(names)), names)
        panels[0].set_ylim(len(names) - 0.4, -0.6)
        figure.supxlabel(f"Predicted for this system alone, {unit.words}", fontsize=7)
    return figure


def _seen(level: NDArray[np.int64], ratings: Ratings, n: int) -> NDArray[np.bool_]:
    """Which levels rated, or were rated under, which system, shape (n, K)."""
    seen = np.zeros((n, ratings.n_systems), dtype=bool)
    seen[level, ratings.system] = True
    return seen


def _draw_spread(
    axes: Axes, unit: Unit, values: NDArray[np.float64], codes: Sequence[int], seen: NDArray[np.bool_]
) -> None:
    strength = float(np.clip(6 / math.sqrt(len(values) + 1), 0.12, 0.7))
    axes.axvline(0.0, color=INK, linewidth=0.7, zorder=1.5)
    for place, code in enumerate(codes):
        shown = [unit.difference(float(value)) for value in values[seen[:, code], code]]
        look = {"color": COLOURS[0], "alpha": strength, "markersize": 3.2, "markeredgewidth": 0}
        axes.plot(shown, [place] * len(shown), "o", **look)  # type: ignore[arg-type]
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))


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
