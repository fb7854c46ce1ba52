"""Judgements of comparisons as a picture: how many prefer A, B or neither."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from humeval_power.checking.columns import shortened
from humeval_power.inference.preference.judgements import Judgements
from humeval_power.reporting.figure_style import COLOURS, QUIET, house_style
from humeval_power.safe_text import picture_text

SHOWN = 30  # comparisons; a record holds all
_NAME_WIDTH = 24
_TOO_NARROW = 0.06  # a share whose bar has no room for its number


def preference_figure(comparisons: Sequence[Judgements], *, width: float = 6.0) -> Figure:
    """A bar for each comparison, in the shares that prefer A, are ties and prefer B."""
    shown = comparisons[:SHOWN]
    with house_style():
        figure = Figure(figsize=(width, 0.8 + 0.3 * len(shown)), layout="constrained")
        axes = figure.subplots()
        shares = [(each.losses / each.n, each.ties / each.n, each.wins / each.n) for each in shown]
        start = [0.0] * len(shown)
        looks = (("prefers A", COLOURS[0]), ("tie", QUIET), ("prefers B", COLOURS[1]))
        for part, (label, colour) in enumerate(looks):
            wide = [share[part] for share in shares]
            bars = axes.barh(range(len(shown)), wide, left=start, height=0.66, color=colour, label=label)
            texts = [f"{share:.0%}" if share >= _TOO_NARROW else "" for share in wide]
            axes.bar_label(bars, texts, label_type="center", color="white", fontsize=7)
            start = [left + share for left, share in zip(start, wide, strict=True)]
        names = [shortened(picture_text(each.name), width=_NAME_WIDTH) for each in shown]
        axes.set_yticks(range(len(shown)), names)
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
        axes.grid(visible=False)
        hidden = len(comparisons) - len(shown)
        more = f" ({hidden:,} more comparisons are not shown)" if hidden else ""
        axes.set_xlabel(f"Share of judgements{more}")
        figure.legend(loc="outside upper center", ncols=3)
    return figure
