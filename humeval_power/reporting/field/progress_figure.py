"""How far the slots of a study have come, as a picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from humeval_power.reporting.figure_style import COLOURS, GRID, QUIET, house_style
from humeval_power.safe_text import picture_text

MOST_BARS = 40  # slots that have a bar of their own
_BINS = 10


def progress_figure(
    slots: Sequence[str], done: Sequence[int], expected: Sequence[int], *, width: float = 4.6
) -> Figure:
    """A bar for each slot, filled as far as its work is done; of more than 40 how many have come how far."""
    shares = np.array(done) / np.maximum(np.array(expected), 1)
    with house_style():
        if len(slots) <= MOST_BARS:
            figure = Figure(figsize=(width, 0.6 + 0.19 * len(slots)), layout="constrained")
            axes = figure.subplots()
            at = np.arange(len(slots))
            axes.barh(at, np.ones(len(slots)), height=0.72, color=GRID)
            axes.barh(at, shares, height=0.72, color=COLOURS[0])
            axes.set_yticks(at, [picture_text(slot) for slot in slots])
            axes.invert_yaxis()
            axes.set_xlim(0, 1)
            axes.set_xlabel("Share of the slot's work that is done")
            axes.grid(visible=False, axis="y")
            return figure
        figure = Figure(figsize=(width, 2.2), layout="constrained")
        axes = figure.subplots()
        counts, edges = np.histogram(shares, bins=_BINS, range=(0, 1))
        axes.bar((edges[:-1] + edges[1:]) / 2, counts, width=0.9 / _BINS, color=COLOURS[0])
        axes.set_xlabel("Share of a slot's work that is done")
        axes.set_ylabel("Slots")
        full = int((shares >= 1).sum())
        axes.set_title(f"{full:,} of {len(slots):,} slots are complete", loc="left", color=QUIET)
        return figure
