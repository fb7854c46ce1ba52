"""A chart as SVG: small, of presentation attributes and classes only, so that a page's style sheet has the say.

What is drawn follows `PlotArea`, which turns values into places. Nothing has an id, so that any number of charts
can stand on one page, and a chart without a style sheet is drawn in the colours for white paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from humeval_power.safe_text import cut, display_width, html_text
from humeval_power.saying.chart import Axis, Chart, Level, Mark, Series, Spot, Upright

# Okabe and Ito's colours as in `figure_style`, three of them a little darker: 3:1 on white paper.
COLOURS = ("#0072B2", "#D55E00", "#00875F", "#B8588F", "#2B8CC4", "#B07A00", "#000000", "#767676")
DASHES = ("", "6 2", "2 2", "6 2 2 2", "10 3", "4 2 1 2 1 2", "3 1.5", "10 2 2 2")
_QUIET_DASHES = "3 3"
WIDTH = 400.0
_TEXT, _SMALL = 14.0, 13.0  # sizes of letters
_EM = 0.56  # mean width of a letter, in its size
_NAME = 0.87  # the most of a row that the letters of its name take
_HEIGHT = 190.0  # of what lies between the axes
_ROW, _DENSE_ROW, _DENSEST_ROW, _NARROW_ROW = 30.0, 20.0, 13.0, 15.0  # few rows, more than 12, 30; of cells
_RIGHT = 16.0
_SAMPLE = 26.0  # width of a sample in the legend
_LINE = 19.0  # of the legend
_FADED = "0.2"  # how much a band covers
_LONGEST, _LONGEST_OF_CELLS = 28, 20  # characters of the name of a row


@dataclass(frozen=True, slots=True)
class PlotArea:
    """Where the space between the axes lies in the drawing, and where values lie in it."""

    left: float
    top: float
    width: float
    height: float
    x: Axis
    y: Axis

    def across(self, value: float) -> float:
        """The place of a value of x."""
        return self.left + self.width * self.x.share(value)

    def down(self, value: float) -> float:
        """The place of a value of y, from the top; of bars the middle of a row."""
        if self.y.names:
            return self.top + self.row * (value + 0.5)
        return self.top + self.height * (1 - self.y.share(value))

    @property
    def row(self) -> float:
        """The height of a row of bars or cells."""
        return self.height / (len(self.y.names) or self.y.high - self.y.low)

    @property
    def bottom(self) -> float:
        """The place of the x axis."""
        return self.top + self.height


def frame_of(chart: Chart) -> PlotArea:
    """The frame of a chart: its margin holds the longest number, or name, of the y axis."""
    longest = _LONGEST_OF_CELLS if chart.is_matrix else _LONGEST
    x, y = chart.x, replace(chart.y, names=tuple(cut(name, longest) for name in chart.y.names))
    labels = y.names or [y.tick_text(tick) for tick in y.ticks()]
    rows = len(labels)
    row = _ROW if rows <= 12 else _DENSE_ROW if rows <= 30 else _DENSEST_ROW
    row = _NARROW_ROW if chart.is_matrix else row
    size = min(_SMALL, _NAME * row) if y.names else _SMALL
    left = 10 + max((svg_width(label, size) for label in labels), default=0.0)
    top = 6.0 if y.names else 26.0
    height = row * rows if y.names else WIDTH - left - _RIGHT if chart.is_matrix else _HEIGHT
    ticks = x.ticks()
    last = svg_width(x.tick_text(ticks[-1]), _SMALL) / 2 if ticks else 0.0  # it may stand at the very end
    return PlotArea(left, top, WIDTH - left - max(_RIGHT, last + 2), height, x, y)


def chart_file(chart: Chart) -> str:
    """The chart as a file that stands by itself, on white paper."""
    style = "<style>svg{font-family:'DejaVu Sans',Verdana,sans-serif;color:#222222}</style>"
    ground = '<rect width="100%" height="100%" fill="#ffffff"/>'
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + chart_svg(chart, style + ground) + "\n"


def chart_svg(chart: Chart, inside: str = "") -> str:
    """The chart as an element of a page; `inside` comes first."""
    frame = frame_of(chart)
    legend, height = _legend(chart, frame.bottom + (46 if chart.x.title else 28))
    drawn = "".join((*_grid(frame), *_data(chart, frame), *legend))
    return svg_element(chart.title, chart.words, height, inside + drawn)


def svg_element(title: str, words: str, height: float, inside: str) -> str:
    """An SVG of the width of all charts, that says what it shows."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {WIDTH:g} {height:g}" '
        f'font-size="{_SMALL:g}" color="#222222" fill="none" stroke-linejoin="round">'
        f"<title>{html_text(title)}</title><desc>{html_text(words)}</desc>{inside}</svg>"
    )


def _grid(frame: PlotArea) -> Iterator[str]:
    """The lines of the ticks, their numbers and what the axes show."""
    left, right, bottom = frame.left, frame.left + frame.width, frame.bottom
    yield '<g stroke="currentColor" stroke-opacity="0.16">'
    for tick in frame.x.ticks():
        yield f'<path d="M{frame.across(tick):.1f} {frame.top:.1f}V{bottom:.1f}"/>'
    for tick in frame.y.ticks():
        yield f'<path d="M{left:.1f} {frame.down(tick):.1f}H{right:.1f}"/>'
    yield '</g><g fill="currentColor">'
    for tick in frame.x.ticks():
        yield svg_text(frame.x.tick_text(tick), frame.across(tick), bottom + 16, anchor="middle")
    for tick in frame.y.ticks():
        yield svg_text(frame.y.tick_text(tick), left - 6, frame.down(tick) + 4, anchor="end")
    for place, name in enumerate(frame.y.names):
        size = min(_SMALL, _NAME * frame.row)
        y = frame.down(place) + 0.3 * size
        yield svg_text(name, left - 6, y, anchor="end", size=size)
    if not frame.y.names:
        yield svg_text(_fitting(frame.y.title, WIDTH - 8, _TEXT), 4, 14, size=_TEXT)
    title = _fitting(frame.x.title, WIDTH - 8, _TEXT)
    middle = min(left + frame.width / 2, WIDTH - 4 - svg_width(title, _TEXT) / 2)
    yield svg_text(title, middle, bottom + 35, anchor="middle", size=_TEXT)
    yield "</g>"
    yield (
        f'<path d="M{left:.1f} {frame.top:.1f}V{bottom:.1f}H{right:.1f}" stroke="currentColor" '
        'stroke-opacity="0.6"/>'
    )


def _data(chart: Chart, frame: PlotArea) -> Iterator[str]:
    """Series and lines, cut at the frame, and on top of them what is marked."""
    yield (
        f'<svg x="{frame.left:.1f}" y="{frame.top:.1f}" width="{frame.width:.1f}" height="{frame.height:.1f}" '
        f'viewBox="{frame.left:.1f} {frame.top:.1f} {frame.width:.1f} {frame.height:.1f}">'
    )
    for series in chart.series:
        if series.kind != "points":
            yield from _series(series, frame)
    for mark in chart.marks:
        if isinstance(mark, Level):
            y = frame.down(mark.y)
            yield f'<path d="M{frame.left:.1f} {y:.1f}h{frame.width:.1f}" {_mark_stroke(mark)}/>'
        elif isinstance(mark, Upright):
            x = frame.across(mark.x)
            yield f'<path d="M{x:.1f} {frame.top:.1f}v{frame.height:.1f}" {_mark_stroke(mark)}/>'
    yield "</svg>"
    for series in chart.series:
        if series.kind == "points":
            yield from _series(series, frame)
    for mark in chart.marks:
        if isinstance(mark, Spot):
            yield from _spot(mark, frame)


def _series(series: Series, frame: PlotArea) -> Iterator[str]:
    across, down = frame.across, frame.down
    if series.kind == "band":
        there = _path(series.x, series.high, frame)
        back = _path(series.x[::-1], series.low[::-1], frame)
        yield f'<path d="{there}L{back[1:]}Z" {_fill(series.colour)} fill-opacity="{_FADED}"/>'
    elif series.kind == "bars":
        for row, low, high in zip(series.y, series.low, series.high, strict=True):
            x, width = across(low), across(high) - across(low)
            y = down(row) - 0.36 * frame.row
            size = f'width="{max(width - 1, 0):.1f}" height="{0.72 * frame.row:.1f}"'
            yield f'<rect x="{x:.1f}" y="{y:.1f}" {size} {_fill(series.colour)}/>'
    elif series.kind == "cells":
        cells = zip(series.y, series.low, series.high, strict=True)
        path = "".join(
            f"M{across(low):.1f} {down(row - 0.5):.1f}H{across(high):.1f}V{down(row + 0.5):.1f}H{across(low):.1f}Z"
            for row, low, high in cells
        )
        yield f'<path d="{path}" {_fill(series.colour)}/>'
    elif series.kind == "points":
        nothing = (None,) * len(series.x)
        ends = (series.low or nothing, series.high or nothing)
        for at, value, lowest, highest in zip(series.x, series.y, *ends, strict=True):
            yield from _spot(Spot("", at, value, lowest, highest, series.colour), frame, size=3.2)
    else:
        path = _path(series.x, series.y, frame, is_steps=series.kind == "steps")
        yield f'<path d="{path}" {_stroke(series.colour)}/>'


def _path(x: tuple[float, ...], y: tuple[float, ...], frame: PlotArea, *, is_steps: bool = False) -> str:
    places = [(f"{frame.across(a):.1f}", f"{frame.down(b):.1f}") for a, b in zip(x, y, strict=True)]
    if is_steps:
        first, *rest = places
        return f"M{first[0]} {first[1]}" + "".join(f"H{a}V{b}" for a, b in rest)
    return "M" + "L".join(f"{a} {b}" for a, b in places)


def _spot(mark: Spot, frame: PlotArea, *, size: float = 5.0) -> Iterator[str]:
    x, y = frame.across(mark.x), frame.down(mark.y)
    if mark.low is not None and mark.high is not None:
        low, high = frame.down(mark.low), frame.down(mark.high)
        yield (
            f'<path d="M{x:.1f} {low:.1f}V{high:.1f}M{x - 4:.1f} {low:.1f}h8M{x - 4:.1f} {high:.1f}h8" '
            f"{_stroke(mark.colour, dashed=False)}/>"
        )
    yield svg_marker(mark.colour, x, y, size)


def svg_marker(colour: int, x: float, y: float, size: float) -> str:
    """A marker of its own for each colour, in an edge of the paper's."""
    look = f'class="f{colour} edged" fill="{COLOURS[colour]}" stroke="#ffffff"'
    if colour % 4 == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:g}" {look}/>'
    if colour % 4 == 1:
        s = 0.9 * size
        return f'<rect x="{x - s:.1f}" y="{y - s:.1f}" width="{2 * s:.1f}" height="{2 * s:.1f}" {look}/>'
    s = 1.25 * size
    if colour % 4 == 2:
        return f'<path d="M{x:.1f} {y - s:.1f}l{s:.1f} {1.8 * s:.1f}h{-2 * s:.1f}Z" {look}/>'
    return f'<path d="M{x:.1f} {y - s:.1f}l{s:.1f} {s:.1f}l{-s:.1f} {s:.1f}l{-s:.1f} {-s:.1f}Z" {look}/>'


def _legend(chart: Chart, top: float) -> tuple[list[str], float]:
    """The legend below the axes, in as many lines as it needs, and where the drawing ends."""
    entries: list[tuple[str, Series | Mark]] = [
        *((each.name, each) for each in chart.series if each.name),
        *((each.text, each) for each in chart.marks if each.text),
    ]
    parts, x, y = [], 4.0, top + 8
    for name, each in entries:
        text = _fitting(name, WIDTH - _SAMPLE - 10, _SMALL)
        width = _SAMPLE + 6 + svg_width(text, _SMALL) + 12
        if x > 4 and x + width > WIDTH + 12:
            x, y = 4.0, y + _LINE
        parts.append(_sample(each, x, y - 4))
        parts.append(f'<g fill="currentColor">{svg_text(text, x + _SAMPLE + 6, y)}</g>')
        x += width
    return parts, y + 8 if entries else top


def _sample(each: Series | Mark, x: float, y: float) -> str:
    across = f'd="M{x:.1f} {y:.1f}h{_SAMPLE:g}"'
    if isinstance(each, Spot):
        return svg_marker(each.colour, x + _SAMPLE / 2, y, 4.5)
    if isinstance(each, Level):
        return f"<path {across} {_mark_stroke(each)}/>"
    if isinstance(each, Upright):
        return f'<path d="M{x + _SAMPLE / 2:.1f} {y - 7:.1f}v14" {_mark_stroke(each)}/>'
    if each.kind == "points":
        return svg_marker(each.colour, x + _SAMPLE / 2, y, 3.2)
    if each.kind in ("band", "bars", "cells"):
        faded = f' fill-opacity="{_FADED}"' if each.kind == "band" else ""
        return (
            f'<rect x="{x + 6:.1f}" y="{y - 6:.1f}" width="{_SAMPLE - 6:g}" height="12" '
            f"{_fill(each.colour)}{faded}/>"
        )
    return f"<path {across} {_stroke(each.colour)}/>"


def _stroke(colour: int, *, dashed: bool = True) -> str:
    dashes = f' stroke-dasharray="{DASHES[colour]}"' if dashed and DASHES[colour] else ""
    return f'class="s{colour}" stroke="{COLOURS[colour]}" stroke-width="2"{dashes}'


def _fill(colour: int) -> str:
    return f'class="f{colour}" fill="{COLOURS[colour]}"'


def _mark_stroke(mark: Level | Upright) -> str:
    if mark.colour is not None:
        return _stroke(mark.colour)
    return (
        f'stroke="currentColor" stroke-opacity="0.75" stroke-width="1.4" stroke-dasharray="{_QUIET_DASHES}"'
    )


def _fitting(text: str, room: float, size: float) -> str:
    """The text, cut where it would not fit; how wide letters are is not known but guessed."""
    return cut(text, max(int(room / (_EM * size)), 1))


def svg_width(text: str, size: float) -> float:
    """About how wide a text is in letters of that size."""
    return _EM * size * display_width(text)


def svg_text(text: str, x: float, y: float, *, anchor: str = "", size: float = 0.0) -> str:
    """A text at a place, in the colour of what it stands in."""
    placed = f' text-anchor="{anchor}"' if anchor else ""
    sized = f' font-size="{size:g}"' if size else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{placed}{sized}>{html_text(text)}</text>'


def svg_words(text: str, x: float, y: float, size: float, *, anchor: str = "") -> str:
    """Words in the colour of the text around."""
    return f'<g fill="currentColor">{svg_text(text, x, y, anchor=anchor, size=size)}</g>'
