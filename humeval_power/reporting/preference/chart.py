"""Judgements of comparisons as a chart: how many prefer A, B or neither."""

from __future__ import annotations

from collections.abc import Sequence

from humeval_power.choices import ANONYMOUS
from humeval_power.inference.preference.judgements import Judgements
from humeval_power.reporting.chart import Axis, Chart, Series, Upright
from humeval_power.reporting.document import Table
from humeval_power.reporting.pair_names import with_names

SHOWN = 30  # comparisons; a record holds all
_COLOURS = (0, 7, 1)  # the tie is grey


def preference_chart(comparisons: Sequence[Judgements]) -> Chart:
    """A bar for each comparison, in the shares that prefer A, are ties and prefer B."""
    shown = comparisons[:SHOWN]
    named = {each.systems for each in comparisons}
    systems = (named.pop() if len(named) == 1 else None) or ANONYMOUS
    sides = tuple(with_names(side, systems) for side in ("prefers A", "tie", "prefers B"))
    rows = tuple(float(place) for place in range(len(shown)))
    shares = [
        (100 * each.losses / each.n, 100 * each.ties / each.n, 100 * each.wins / each.n) for each in shown
    ]
    lows, series = (0.0,) * len(shown), []
    for part, (label, colour) in enumerate(zip(sides, _COLOURS, strict=True)):
        highs = tuple(low + share[part] for low, share in zip(lows, shares, strict=True))
        series.append(Series("bars", label, y=rows, low=lows, high=highs, colour=colour))
        lows = highs
    hidden = len(comparisons) - len(shown)
    names = tuple(each.name or "judgements" for each in shown)
    return Chart(
        name="preference",
        title="Which output is preferred?",
        words=with_names(
            "For each comparison the shares of judgements that prefer A, are ties and prefer B.", systems
        ),
        x=Axis("Share of judgements", 0, 100, unit="%"),
        y=Axis("", 0, len(shown), names=names),
        series=tuple(series),
        marks=(Upright("half", 50),),
        caption=f"{hidden:,} more comparisons are not shown." if hidden else "",
        numbers=Table(
            ("", *sides),
            tuple(
                (name, *(f"{share:.1f} %" for share in parts))
                for name, parts in zip(names, shares, strict=True)
            ),
        ),
    )
