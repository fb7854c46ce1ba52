"""Who rated what as SVG: the cells of a level in one path, neighbours in a row put together."""

from __future__ import annotations

import numpy as np

from humeval_power.reporting.render.svg import COLOURS, WIDTH, svg_element, svg_text, svg_width
from humeval_power.reporting.study.tables.cell_map import CellMap
from humeval_power.safe_text import cut

_SIZE, _NAME_SIZE = 13.0, 10.0
_MOST_NAMES = 24  # workers whose names stand at their rows
_LONGEST = 16  # characters of a name
_TOP, _RIGHT = 24.0, 6.0
_SHADES = ("0.28", "0.5", "0.75", "1")  # how much of a colour, of how much is rated
_TWO = (1, 2, 0)  # colours of A alone, B alone, both


def assignment_svg(grid: CellMap, worker_names: tuple[str, ...], title: str, words: str) -> str:
    """A row for each worker or group of workers, a column for each item or group of items."""
    n_rows, n_columns = grid.levels.shape
    named = n_rows <= _MOST_NAMES and not grid.is_binned
    names = [cut(worker_names[code], _LONGEST) for code in grid.worker_order] if named else []
    left = 8 + max((svg_width(name, _NAME_SIZE) for name in names), default=0.0)
    tall = min(max(12.0 * n_rows, 40.0), 260.0) / n_rows
    wide = (WIDTH - left - _RIGHT) / n_columns
    bottom = _TOP + tall * n_rows
    legend, height = _legend(grid, bottom + 40)
    parts = [
        _words(axis_words("workers", len(grid.worker_order), grid.workers_in_row.tolist()), 4, 14, _SIZE),
        *(
            _words(name, left - 4, _TOP + tall * (place + 0.5) + 3.5, _NAME_SIZE, anchor="end")
            for place, name in enumerate(names)
        ),
        *(
            f'<path transform="translate({left:.1f} {_TOP:.1f}) scale({wide:.4f} {tall:.4f})" '
            f'd="{_path(grid, level)}" {_look(grid, level)}/>'
            for level in range(1, len(grid.labels) + 1)
            if (grid.levels == level).any()
        ),
        f'<rect x="{left:.1f}" y="{_TOP:.1f}" width="{wide * n_columns:.1f}" height="{tall * n_rows:.1f}" '
        'stroke="currentColor" stroke-opacity="0.5"/>',
        _words(
            axis_words("items", len(grid.item_order), grid.items_in_column.tolist()),
            left,
            bottom + 18,
            _SIZE,
        ),
        *legend,
    ]
    return svg_element(title, words, height, "".join(parts))


def axis_words(noun: str, n: int, in_each: list[int]) -> str:
    """'5,000 items, 52 to 53 a column'."""
    low, high = min(in_each), max(in_each)
    if high == 1:
        return f"{n:,} {noun}"
    line = "row" if noun == "workers" else "column"
    return f"{n:,} {noun}, {low:,}{'' if low == high else f' to {high:,}'} a {line}"


def _path(grid: CellMap, level: int) -> str:
    """The cells of a level, of side 1: a rectangle for each run in a row."""
    found = []
    for row, line in enumerate(grid.levels == level):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], line.astype(np.int8), [0]))))
        for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            found.append(f"M{start} {row}h{end - start}v1H{start}z")
    return "".join(found)


def _look(grid: CellMap, level: int) -> str:
    if grid.is_pair:
        colour, shade = _TWO[level - 1], "1"
    else:
        colour, shade = 0, _SHADES[len(_SHADES) - len(grid.labels) + level - 1]
    return f'class="f{colour}" fill="{COLOURS[colour]}" fill-opacity="{shade}"'


def _legend(grid: CellMap, top: float) -> tuple[list[str], float]:
    """What the levels mean, side by side as far as they fit."""
    found: list[str] = []
    x, y = 4.0, top
    for level, label in enumerate(grid.labels, start=1):
        if not (grid.levels == level).any():
            continue
        text = cut(label, 40)
        width = 20 + svg_width(text, _SIZE) + 12
        if x > 4 and x + width > WIDTH:
            x, y = 4.0, y + 18
        found.append(f'<rect x="{x:.1f}" y="{y - 10:.1f}" width="12" height="12" {_look(grid, level)}/>')
        found.append(_words(text, x + 18, y, _SIZE))
        x += width
    return found, y + 8


def _words(text: str, x: float, y: float, size: float, *, anchor: str = "") -> str:
    return f'<g fill="currentColor">{svg_text(text, x, y, anchor=anchor, size=size)}</g>'
