"""Rows of estimates with intervals as SVG, in the look of charts: names on the left, a line of zero, a legend."""

from __future__ import annotations

import math
from collections.abc import Iterator

from humeval_power.reporting.chart import Axis
from humeval_power.reporting.estimate_rows import EstimateRow, EstimateRows
from humeval_power.reporting.render.svg import COLOURS, WIDTH, svg_element, svg_marker, svg_text, svg_width
from humeval_power.safe_text import cut

_SIZE, _DENSE_SIZE = 13.0, 10.0  # of letters
_ROW, _DENSE_ROW, _DENSE = 20.0, 13.0, 30  # heights, and rows
_LONGEST = 20  # characters of a name
_TOP, _RIGHT = 6.0, 14.0
_LINE = 18.0  # of the legend


def rows_svg(rows: EstimateRows, title: str, words: str) -> str:
    """The rows as an element of a page."""
    shown = rows.shown
    dense = len(shown) > _DENSE
    size, step = (_DENSE_SIZE, _DENSE_ROW) if dense else (_SIZE, _ROW)
    names = [cut(row.name, _LONGEST) if row else "" for row in shown]
    left = 10 + max(svg_width(name, size) for name in names)
    bottom = _TOP + step * len(shown)
    axis = _axis(rows)

    def across(value: float) -> float:
        return left + (WIDTH - left - _RIGHT) * axis.share(value)

    parts = [*_ground(rows, axis, across, bottom)]
    for place, (row, name) in enumerate(zip(shown, names, strict=True)):
        y = _TOP + step * (place + 0.5)
        if row is None:
            middle = left + (WIDTH - left - _RIGHT) / 2
            parts.append(_words(rows.gap, middle, y + 3.5, size, anchor="middle"))
        else:
            parts.append(_words(name, left - 6, y + 0.35 * size, size, anchor="end"))
            parts += _row(row, across, y, size=2.4 if dense else 3.2)
    title_width = svg_width(rows.x_label, _SIZE)
    at = max(4.0, min(left + (WIDTH - left) / 2 - title_width / 2, WIDTH - 4 - title_width))
    parts.append(_words(cut(rows.x_label, 54), at, bottom + 34, _SIZE))
    legend, height = _legend(rows, bottom + 54)
    return svg_element(title, words, height, "".join((*parts, *legend)))


def _axis(rows: EstimateRows) -> Axis:
    drawn = [row for row in rows.shown if row is not None]
    ends = [0.0, *(rows.whole_interval or ())]
    ends += [end for row in drawn for end in (row.low, row.high, row.value) if math.isfinite(end)]
    low, high = min(ends), max(ends)
    edge = 0.04 * (high - low or 1.0)
    return Axis(rows.x_label, low - edge if low < 0 else low, high + edge)


def _ground(rows: EstimateRows, axis: Axis, across, bottom: float) -> Iterator[str]:  # type: ignore[no-untyped-def]
    if rows.whole_interval is not None:
        low, high = map(across, rows.whole_interval)
        yield (
            f'<rect x="{low:.1f}" y="{_TOP:.1f}" width="{high - low:.1f}" height="{bottom - _TOP:.1f}" '
            'fill="currentColor" fill-opacity="0.1"/>'
        )
    yield '<g stroke="currentColor" stroke-opacity="0.16">'
    for tick in axis.ticks():
        yield f'<path d="M{across(tick):.1f} {_TOP:.1f}V{bottom:.1f}"/>'
    yield "</g>"
    for tick in axis.ticks():
        yield _words(axis.tick_text(tick), across(tick), bottom + 16, _SIZE, anchor="middle")
    yield f'<path d="M{across(0):.1f} {_TOP:.1f}V{bottom:.1f}" stroke="currentColor" stroke-opacity="0.8"/>'
    if rows.whole is not None:
        yield f'<path d="M{across(rows.whole):.1f} {_TOP:.1f}V{bottom:.1f}" {_WHOLE}/>'


_WHOLE = 'stroke="currentColor" stroke-opacity="0.75" stroke-width="1.4" stroke-dasharray="6 2"'


def _row(row: EstimateRow, across, y: float, *, size: float) -> Iterator[str]:  # type: ignore[no-untyped-def]
    colour = int(row.marked)
    if math.isfinite(row.low) and math.isfinite(row.high):
        yield (
            f'<path d="M{across(row.low):.1f} {y:.1f}H{across(row.high):.1f}" class="s{colour}" '
            f'stroke="{COLOURS[colour]}" stroke-width="1.6"/>'
        )
    if math.isfinite(row.value):
        yield svg_marker(colour, across(row.value), y, size)


def _legend(rows: EstimateRows, top: float) -> tuple[list[str], float]:
    """What marks mean, below each other, and where the drawing ends."""
    found, y = [], top
    for marked, label in ((False, rows.usual_label), (True, rows.marked_label)):
        if label and any(row is not None and row.marked is marked for row in rows.shown):
            found += [svg_marker(int(marked), 14.0, y - 4, 3.2), _words(cut(label, 48), 32, y, _SIZE)]
            y += _LINE
    if rows.whole is not None:
        found += [
            f'<path d="M4 {y - 4:.1f}h22" {_WHOLE}/>',
            _words(cut(rows.whole_label, 48), 32, y, _SIZE),
        ]
        y += _LINE
    return found, y - 10


def _words(text: str, x: float, y: float, size: float, *, anchor: str = "") -> str:
    return f'<g fill="currentColor">{svg_text(text, x, y, anchor=anchor, size=size)}</g>'
