"""Effects with their intervals below each other as a chart, about the value without an effect."""

from __future__ import annotations

from collections.abc import Sequence

from humeval_power.reporting.chart import Axis, Chart, Series, Upright
from humeval_power.reporting.document import Table
from humeval_power.reporting.numbers import significant, significant_interval

Effect = tuple[str, float, tuple[float, float]]
_ROOM = 0.05  # of the axis, on each side


def interval_chart(
    name: str, effects: Sequence[Effect], *, axis: str, title: str, words: str, null: float = 0.0
) -> Chart:
    """A bar for the interval of each effect, the first on top, with a point at the estimate.

    effects : name, estimate and the ends of its interval.
    """
    names, estimates, intervals = zip(*effects, strict=True)
    lows, highs = zip(*intervals, strict=True)
    low, high = min((*lows, null)), max((*highs, null))
    room = _ROOM * (high - low or 1.0)
    rows = tuple(float(place) for place in range(len(names)))
    return Chart(
        name=name,
        title=title,
        words=words,
        x=Axis(axis, low - room, high + room),
        y=Axis("", 0, max(1, len(names)), names=names),
        series=(
            Series("bars", "interval", y=rows, low=lows, high=highs),
            Series("points", "estimate", estimates, rows, colour=1),
        ),
        marks=(Upright("no difference", null),),
        numbers=Table(
            ("", axis, "interval"),
            tuple((each, significant(value), significant_interval(*ends)) for each, value, ends in effects),
        ),
    )
