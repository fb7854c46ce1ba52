"""Published comparisons as a picture: scaled effect against number of items (Card et al. 2020, Fig. 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from humeval_power.errors import InputError
from humeval_power.planning.survey.comparison import Comparison
from humeval_power.planning.survey.survey import Survey
from humeval_power.reporting.figure_style import COLOURS, DASHES, INK, MARKERS, QUIET, house_style
from humeval_power.reporting.numbers import p_words
from humeval_power.safe_text import picture_text

Crew = tuple[int | None, int | None]  # workers, ratings per item
BySize = Mapping[int, float]


def survey_figure(comparisons: Sequence[Comparison], found: Survey, *, width: float = 4.6) -> Figure:
    """A point for each comparison that reports effect and items; x is logarithmic.

    For each setting marks at what each comparison could find with power 0.8, above and below 0: effects between
    the two would not be found. A line joins those with the same workers and ratings per item, and no others.

    Raises
    ------
    InputError
        No comparison reports both its effect and its items.
    """
    points = [
        (each.items, each.scaled_effect)
        for each in comparisons
        if each.items is not None and each.scaled_effect is not None
    ]
    if not points:
        raise InputError("No comparison reports both its effect and its number of items.")
    with house_style():
        figure = Figure(figsize=(width, 0.66 * width), layout="constrained")
        axes = figure.subplots()
        axes.axhline(0, color=QUIET, linewidth=0.8)
        items, effects = zip(*points, strict=True)
        axes.scatter(items, effects, s=16, color=INK, alpha=0.55, linewidth=0, label="comparison", zorder=3)
        most = max(1.1 * max(abs(effect) for effect in effects), 0.1)
        for place, (setting, crews) in enumerate(_detectable(found).items()):
            _draw_setting(axes, place, setting, crews, most=most)
        axes.set_xscale("log")
        ticks = _ticks(items)
        axes.xaxis.set_major_locator(FixedLocator(ticks))
        axes.xaxis.set_major_formatter(FixedFormatter([f"{tick:,}" for tick in ticks]))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_ylim(-most, most)
        axes.set_xlabel("Number of items")
        axes.set_ylabel("Effect B - A on [0, 1]")
        if found.signed is not None:
            tau = f"Kendall's tau {found.signed.tau:.2f}, {p_words(found.signed.p_value)}"
            axes.set_title(f"{len(points)} comparisons; {tau}", loc="left", color=QUIET)
        figure.legend(loc="outside lower center", ncols=1)
    return figure


def _draw_setting(
    axes: Axes, place: int, setting: str, crews: Mapping[Crew, BySize], *, most: float
) -> None:
    """What could be found under one setting, a line for each crew of workers."""
    smallest = min(min(by_size.values()) for by_size in crews.values())
    outside = ": beyond this picture" if smallest > most else ""
    label: str | None = f"found with power 0.8 ({picture_text(setting)}){outside}"
    for by_size in crews.values():
        sizes = sorted(by_size)
        for sign in (1, -1):
            axes.plot(
                sizes,
                [sign * by_size[size] for size in sizes],
                color=COLOURS[place],
                linestyle=DASHES[place],
                linewidth=0.8,
                marker=MARKERS[place],
                markersize=2.6,
                alpha=0.8,
                label=label,
            )
            label = None


def _ticks(items: Sequence[int]) -> list[int]:
    """Round numbers that cover the items: 1, 2 or 5 times a power of ten."""
    known = [step * 10**power for power in range(8) for step in (1, 2, 5)]
    below = max(tick for tick in known if tick <= max(min(items), 1))
    above = min((tick for tick in known if tick >= max(items)), default=known[-1])
    return [tick for tick in known if below <= tick <= above]


def _detectable(found: Survey) -> Mapping[str, Mapping[Crew, BySize]]:
    """For each setting and crew the detectable effect at each number of items."""
    values: dict[str, dict[Crew, dict[int, float]]] = {}
    for each in found.powers:
        if not each.reason and each.comparison.items is not None:
            crews = values.setdefault(each.setting, {})
            crews.setdefault((each.workers, each.ratings_per_item), {})[each.comparison.items] = each.mde
    return values
