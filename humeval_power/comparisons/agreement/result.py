"""Measures of agreement as the plain values that an analysis document holds and the forms read."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from humeval_power.comparisons.agreement.agreement import Agreement, Level, Repeatability
from humeval_power.comparisons.agreement.reliability import IntraclassCorrelation
from humeval_power.inference.item_bootstrap import Measure
from humeval_power.safe_text import picture_text
from humeval_power.saying.numbers import interval_words
from humeval_power.saying.values import JsonRecord, bounds, listed, number, part, words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Entry = dict[str, object]


def finite(value: float | None) -> float | None:
    """The number; None where there is none, or no end of it."""
    return value if value is not None and math.isfinite(value) else None


def agreement_record(
    between: Sequence[Agreement],
    repeats: Sequence[Repeatability] = (),
    correlations: Sequence[IntraclassCorrelation] = (),
    *,
    level: Level = "ordinal",
) -> dict[str, object]:
    """'between' and 'within' workers: lists of {measure, value, interval, reason, value_other, interval_other}; and
    `n_repeated`, the outputs that a worker rated more than once, None where nobody looked.

    `interval` is about these workers and other items, `value_other` and `interval_other` are about other workers:
    within a system, None elsewhere. Intraclass correlations are about other workers. The further measures are given
    for all systems together, Krippendorff's alpha of the `level` that leads also within each.
    """
    entries: list[Entry] = []
    for one in between:
        of_level = {
            "ordinal": (one.alpha_ordinal, one.many_ordinal),
            "interval": (one.alpha_interval, one.many_interval),
        }
        if one.system is not None:
            entries.append(_entry(f"Krippendorff's alpha, {level} within {one.system}", *of_level[level]))
            continue
        entries += [
            *(_entry(f"Krippendorff's alpha, {name}", *both) for name, both in of_level.items()),
            _entry("share of equal ratings of two workers", one.exact),
            _entry("share at most one point apart", one.within_one),
        ]
    for icc in correlations:
        of = "single rating" if icc.n_ratings == 1 else f"mean of {icc.n_ratings:.3g} ratings"
        name = f"intraclass correlation, {icc.definition}, {of}"
        entries.append(_entry(name, icc.measure, icc.measure))
    overall = [one for one in repeats if one.system is None]
    within = [
        _entry(name, value)
        for one in overall
        if one.n_cells
        for name, value in (
            ("share of equal ratings of an output by the same worker", one.equal),
            ("mean absolute difference in points of the scale", one.mean_difference_raw),
            ("mean absolute difference on [0, 1]", one.mean_difference),
            ("correlation of first and second rating", one.correlation),
            ("intraclass correlation ICC(1,1)", one.icc),
        )
    ]
    n_repeated = overall[0].n_cells if overall else None
    return {"between": entries, "within": within, "n_repeated": n_repeated}


def _entry(name: str, value: Measure, other: Measure | None = None) -> Entry:
    others = other if other is not None and math.isfinite(other.low) else None
    return {
        "measure": name,
        "value": value.value if value.is_defined else None,
        "interval": [value.low, value.high] if value.is_defined else None,
        "reason": value.reason,
        "value_other": others and others.value,
        "interval_other": others and [others.low, others.high],
    }


# Agreement of workers with each other and with themselves, as an analysis document states it: in the
# shape of `agreement_record`.

Between = Literal["between", "within"]


def agreement_measures(study: JsonRecord, whose: Between) -> str | None:
    """The names of the measures, None where none was computed."""
    return _of_entries(study, whose, lambda entry: words(entry, "measure"))


def agreement_values(study: JsonRecord, whose: Between) -> str | None:
    """The values with their intervals, None where none was computed."""
    return _of_entries(study, whose, _value)


def _of_entries(study: JsonRecord, whose: Between, say: Callable[[JsonRecord], str | None]) -> str | None:
    """What is said of the entries; of repeats the table shows whether there were any."""
    agreement = part(study, "agreement")
    entries = [entry for entry in listed(agreement, whose) if isinstance(entry, Mapping)]
    if said := [text for entry in entries if (text := say(entry))]:
        return "; ".join(said) + "."
    if whose == "within" and number(agreement, "n_repeated") == 0:
        return "Not assessed: no worker rated the same output twice."
    return None


def _value(entry: JsonRecord) -> str | None:
    name, value, interval = words(entry, "measure"), number(entry, "value"), bounds(entry, "interval")
    if name is None:
        return None
    if value is None:
        reason = words(entry, "reason")
        return f"{name}: not defined" + (f" ({reason})" if reason else "")
    said = (
        []
        if interval is None or is_about_others(name)
        else [f"these workers, interval {interval_words(*interval, digits=3)}"]
    )
    of_other, value_other = bounds(entry, "interval_other"), number(entry, "value_other")
    if of_other is not None and value_other is not None:
        other = "" if is_about_others(name) else f" {value_other:.3f}"
        said.append(f"other workers{other}, interval {interval_words(*of_other, digits=3)}")
    elif interval is not None and is_about_others(name):
        said = [f"interval {interval_words(*interval, digits=3)}"]
    return f"{name}: {value:.3f}" + (f" ({'; '.join(said)})" if said else "")


def is_about_others(name: str) -> bool:
    """Whether a measure speaks of other workers alone."""
    return name.startswith("intraclass correlation")


# Measures of agreement with their intervals, as a picture.

_LINE = 34  # characters of a name in a line


def agreement_figure(
    rows: Sequence[tuple[str, float, tuple[float, float]]], *, width: float = 4.6
) -> Figure:
    """A row for each measure, in the order given: its name, its value and the ends of its interval."""
    from matplotlib.figure import Figure

    from humeval_power.saying.figure_style import COLOURS, INK, house_style

    names = ["\n".join(textwrap.wrap(picture_text(name), _LINE)) for name, _, _ in rows]
    n_lines = sum(name.count("\n") + 1 for name in names)
    with house_style():
        figure = Figure(figsize=(width, 0.55 + 0.14 * n_lines + 0.06 * len(rows)), layout="constrained")
        axes = figure.subplots()
        for place, (_, value, (low, high)) in enumerate(rows):
            axes.plot([low, high], [place, place], color=COLOURS[0], linewidth=1.4, zorder=3)
            axes.plot([value], [place], "o", color=COLOURS[0], markersize=4, zorder=4)
        lowest = min(low for _, _, (low, _) in rows)
        axes.set_xlim(min(-0.02, lowest - 0.05), 1.02)
        axes.axvline(0.0, color=INK, linewidth=0.7)
        axes.set_yticks(range(len(rows)), names, fontsize=7)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("Agreement; 1 is perfect")
    return figure
