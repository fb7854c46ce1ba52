"""Who rated what, as a picture: a grid of workers and items, ordered so that blocks and gaps show."""

from __future__ import annotations

from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from humeval_power.checking.columns import shortened
from humeval_power.reporting.figure_style import COLOURS, GRID, QUIET, house_style
from humeval_power.reporting.study.tables.assignment_svg import axis_words
from humeval_power.reporting.study.tables.cell_map import CellMap
from humeval_power.safe_text import picture_text

_SHADES = ("#C6DBEF", "#6BAED6", "#2F7FBC", "#08407E")
_TWO = (COLOURS[1], COLOURS[2], COLOURS[0])  # A only, B only, both
_MOST_NAMES = 24  # workers whose names stand at their rows


def assignment_figure(grid: CellMap, worker_names: tuple[str, ...], *, width: float = 5.2) -> Figure:
    """A row for each worker, or each group of workers, and a column for each item, or group of items.

    Parameters
    ----------
    grid : levels, shape (rows, columns).
    worker_names : of all workers, by code; shown at the rows where there are few.
    """
    n_rows = len(grid.levels)
    colours = _TWO if grid.is_pair else _SHADES[-len(grid.labels) :]
    with house_style():
        height = 0.85 + min(max(0.11 * n_rows, 0.5), 3.6)
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots()
        shown = ListedColormap(["white", *colours])
        axes.imshow(grid.levels, cmap=shown, vmin=0, vmax=len(colours), aspect="auto", interpolation="none")
        axes.grid(False)
        axes.tick_params(length=0)
        axes.set_xticks([])
        if n_rows <= _MOST_NAMES and not grid.is_binned:
            names = [shortened(picture_text(worker_names[code]), width=20) for code in grid.worker_order]
            axes.set_yticks(range(n_rows), names, fontsize=6)
        else:
            axes.set_yticks([])
        axes.set_ylabel(axis_words("workers", len(grid.worker_order), grid.workers_in_row.tolist()))
        axes.set_xlabel(axis_words("items", len(grid.item_order), grid.items_in_column.tolist()))
        figure.legend(
            handles=[
                Patch(facecolor=colour, edgecolor=GRID, label=shortened(picture_text(label), width=30))
                for colour, label in zip(colours, grid.labels, strict=False)
            ],
            loc="outside upper center",
            ncols=4,
            fontsize=6.5,
            labelcolor=QUIET,
        )
    return figure
