"""False positives of many tests as a picture: one dot for each test, against the level it promises."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from humeval_power.errors import InputError
from humeval_power.reporting.figure_style import COLOURS, INK, QUIET, house_style
from humeval_power.reporting.panels import SINGLE_COLUMN, add_header
from humeval_power.safe_text import picture_text

ROW_HEIGHT = 0.175  # inches
LOOKS = {  # colour, marker and fill, so that a grey print says the same
    "calibrated": (COLOURS[0], "o", COLOURS[0]),
    "too bold": (COLOURS[1], "D", COLOURS[1]),
    "too careful": (COLOURS[4], "o", "white"),
    "unclear": (QUIET, "s", "white"),
}
X_LABELS = {
    "two-sided": "Studies without an effect that find one",
    "greater": "Studies without an effect that claim B is better",
    "non-inferior": "Studies at the margin that claim non-inferiority",
    "equivalent": "Studies at the margin that claim equivalence",
}


def calibration_figure(
    table: pd.DataFrame, *, title: str | None = None, width: float = SINGLE_COLUMN
) -> Figure:
    """Rejection rates under no effect, drawn without pyplot and ready for `figure_bytes`.

    One row for each test, the boldest at the bottom: a dot at its rate, a bar over its 99 % Monte Carlo
    interval, which the verdict follows from, the rate itself at the margin. The line is alpha, the shaded
    band what counts as calibrated. Tests that the design does not allow are listed without a dot.

    Parameters
    ----------
    table : rows as `planning.calibration.calibration_table` gives them, all of one alpha and alternative.
    width : inches; a text column by default.
    """
    if table.empty or table[["alpha", "alternative"]].drop_duplicates().shape[0] != 1:
        raise InputError("A figure of calibration shows tests of one alpha and one alternative.")
    ready = _prepared(table)
    with house_style():
        figure = Figure(figsize=(width, 0.45 + ROW_HEIGHT * len(ready)), layout="constrained")
        axes = figure.subplots()
        _draw_level(axes, ready)
        for place, row in enumerate(ready.to_dict("records")):
            _draw_test(axes, place, row)
        _frame(axes, ready)
        legend_title = "Planned test in bold" if ready["is_rule"].any() else ""
        add_header(figure, title, [_handles(ready)], legend_title=legend_title)
    return figure


def _prepared(table: pd.DataFrame) -> pd.DataFrame:
    """The rate that counts as `rate`, `low`, `high`; sorted, tests without one last."""
    side = "upper" if table["alternative"].iloc[0] == "greater" else "rejection"
    rates = {"rate": table[f"{side}_rate"], "low": table["judged_low"], "high": table["judged_high"]}
    return table.assign(**rates).sort_values("rate", kind="stable", na_position="last")


def _draw_level(axes: Axes, table: pd.DataFrame) -> None:
    bands = table.dropna(subset=["rate"])
    if not bands.empty:
        low, high = bands["band_low"].min(), bands["band_high"].max()
        axes.axvspan(low, high, color=QUIET, alpha=0.18, linewidth=0, gid="band")
    axes.axvline(table["alpha"].iloc[0], color=QUIET, linewidth=0.9, zorder=1.5, gid="alpha")


def _draw_test(axes: Axes, place: int, row: Mapping[Hashable, Any]) -> None:
    if row["verdict"] not in LOOKS:
        _write_at_margin(axes, place, "not defined", color=QUIET)
        return
    colour, marker, fill = LOOKS[row["verdict"]]
    line = [row["low"], row["high"]]
    axes.plot(line, [place, place], color=colour, linewidth=1.2, solid_capstyle="butt", zorder=3)
    axes.plot([row["rate"]], [place], marker, color=colour, markerfacecolor=fill, zorder=4, clip_on=False)
    _write_at_margin(axes, place, f"{100 * row['rate']:.1f} %", color=INK)


def _write_at_margin(axes: Axes, place: int, text: str, *, color: str) -> None:
    """Percentages end at the same place; words start at the axis."""
    is_word = text[0].isalpha()
    axes.annotate(
        text,
        (1, place),
        xytext=(3 if is_word else 28, 0),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        ha="left" if is_word else "right",
        va="center_baseline",
        size=7,
        color=color,
    )


def _frame(axes: Axes, table: pd.DataFrame) -> None:
    axes.set_yticks(range(len(table)), list(map(picture_text, table["label"])))
    for text, is_rule in zip(axes.get_yticklabels(), table["is_rule"], strict=True):
        text.set_fontweight("bold" if is_rule else "normal")
        text.set_color(INK)
    axes.set_ylim(len(table) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    highest = table[["high", "band_high", "alpha"]].max().max()
    axes.set_xlim(0, min(1.0, 1.06 * float(highest)))
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(lambda rate, _: f"{100 * rate:g} %")
    axes.figure.supxlabel(X_LABELS[str(table["alternative"].iloc[0])], fontsize=8)


def _handles(table: pd.DataFrame) -> list[Line2D]:
    handles = [
        Line2D([], [], color=colour, marker=marker, markerfacecolor=fill, linestyle="", label=verdict)
        for verdict, (colour, marker, fill) in LOOKS.items()
        if (table["verdict"] == verdict).any()
    ]
    alpha = float(table["alpha"].iloc[0])
    return [*handles, Line2D([], [], color=QUIET, linewidth=0.9, label=f"promised: {100 * alpha:g} %")]
