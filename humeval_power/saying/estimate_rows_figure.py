"""Rows of estimates with intervals by Matplotlib."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from humeval_power.checking.columns import shortened
from humeval_power.safe_text import picture_text
from humeval_power.saying.chart import EstimateRow, EstimateRows
from humeval_power.saying.figure_style import COLOURS, INK, QUIET, house_style
from humeval_power.saying.panels import SINGLE_COLUMN, add_header

NAME_WIDTH = 24
_ROW_HEIGHT, _DENSE_ROW_HEIGHT, _DENSE = 0.165, 0.128, 30  # inches, inches, rows
LOOKS = {False: (COLOURS[0], "o"), True: (COLOURS[1], "D")}  # usual rows, and those marked


def estimate_rows_figure(
    all_rows: EstimateRows, *, title: str | None = None, width: float = SINGLE_COLUMN
) -> Figure:
    """The rows with their legend, around the value of the whole study if there is one."""
    with house_style():
        return _figure(all_rows, title=title, width=width)


def _figure(all_rows: EstimateRows, *, title: str | None, width: float) -> Figure:
    shown, whole = all_rows.shown, all_rows.whole
    row_height = _ROW_HEIGHT if len(shown) <= _DENSE else _DENSE_ROW_HEIGHT
    figure = Figure(figsize=(width, 0.6 + row_height * max(len(shown), 3)), layout="constrained")
    axes = figure.subplots()
    if all_rows.whole_interval is not None:
        axes.axvspan(*all_rows.whole_interval, color=QUIET, alpha=0.18, linewidth=0, gid="whole interval")
    axes.axvline(0.0, color=INK, linewidth=0.7, zorder=1.5, gid="zero")
    if whole is not None:
        axes.axvline(whole, color=QUIET, linewidth=0.9, linestyle=(0, (5, 1.5)), zorder=1.6, gid="whole")
    for place, row in enumerate(shown):
        if row is None:
            axes.annotate(
                all_rows.gap,
                (0.5, place),
                xycoords=("axes fraction", "data"),
                ha="center",
                va="center",
                size=6.5,
                color=QUIET,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
            )
        else:
            ends, colour, marker = (row.low, row.high), *LOOKS[row.marked]
            axes.plot(ends, (place, place), color=colour, linewidth=1.0, solid_capstyle="butt", zorder=3)
            axes.plot([row.value], [place], marker, color=colour, markersize=3.0, zorder=4, gid="value")
    _frame(axes, shown, dense=len(shown) > _DENSE, x_label=all_rows.x_label)
    drawn = [row for row in shown if row is not None]
    labels = {False: all_rows.usual_label, True: all_rows.marked_label}
    handles = [
        Line2D([], [], color=colour, marker=marker, label=labels[marked])
        for marked, (colour, marker) in LOOKS.items()
        if labels[marked] and any(row.marked is marked for row in drawn)
    ]
    if whole is not None:
        handles.append(
            Line2D([], [], color=QUIET, linewidth=0.9, linestyle=(0, (5, 1.5)), label=all_rows.whole_label)
        )
    if handles or title:
        add_header(figure, title, [handles] if handles else [])
    return figure


def _frame(axes: Axes, shown: Sequence[EstimateRow | None], *, dense: bool, x_label: str) -> None:
    names = ["" if row is None else shortened(picture_text(row.name), width=NAME_WIDTH) for row in shown]
    axes.set_yticks(range(len(shown)), names, fontsize=5.8 if dense else 7.0)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.figure.supxlabel(x_label, fontsize=8)
