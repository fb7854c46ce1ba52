"""A chart as SVG: small, of presentation attributes and classes only, so that a page's style sheet has the say.

What is drawn follows `PlotArea`, which turns values into places. Nothing has an id, so that any number of charts
can stand on one page, and a chart without a style sheet is drawn in the colours for white paper.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace

from humeval_power.safe_text import cut, display_width, html_text
from humeval_power.saying.chart import Axis, Chart, Drawable, Level, Mark, Panels, Series, Spot, Upright

# Okabe and Ito's colours as in `figure_style`, three of them a little darker: 3:1 on white paper.
COLOURS = ("#0072B2", "#D55E00", "#00875F", "#B8588F", "#2B8CC4", "#B07A00", "#000000", "#767676")
DASHES = ("", "6 2", "2 2", "6 2 2 2", "10 3", "4 2 1 2 1 2", "3 1.5", "10 2 2 2")
_QUIET_DASHES = "3 3"
WIDTH, _BROAD = 400.0, 640.0
_TEXT, _SMALL, _SMALLER = 14.0, 13.0, 11.0  # sizes of letters; of panels beside each other
_EM = 0.56  # mean width of a letter, in its size
_NAME = 0.87  # the most of a row that the letters of its name take
_HEIGHT = 190.0  # of what lies between the axes
_ROW, _DENSE_ROW, _DENSEST_ROW, _NARROW_ROW = 30.0, 20.0, 13.0, 15.0  # few rows, more than 12, 30; of cells
_NAMELESS = 260.0  # the most that rows without names take together
_RIGHT = 16.0
_SAMPLE = 26.0  # width of a sample in the legend
_LINE = 19.0  # of the legend
_FADED = "0.2"  # how much a band covers
_DARK = 0.7  # strength from which on texts are light
_DOT, _THIN = 2.6, 0.5  # size of one of many points, the least that is seen of it
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
    edge: float = 0.0  # of its panel, at the left
    room: float = WIDTH  # of its panel
    size: float = _SMALL  # of letters

    def across(self, value: float) -> float:
        """The place of a value of x."""
        return self.left + self.width * self.x.share(value)

    def down(self, value: float) -> float:
        """The place of a value of y, from the top; of bars the middle of a row."""
        if self.y.names:
            return self.top + self.row * (value + 0.5)
        return self.top + self.height * (1 - self.y.share(value))

    @property
    def x_ticks(self) -> tuple[float, ...]:
        """Those whose numbers do not lie over each other."""
        return self.x.ticks(self.width / (_EM * self.size))

    @property
    def y_ticks(self) -> tuple[float, ...]:
        """Those whose numbers do not lie over each other."""
        return self.y.ticks(self.height / self.size, upright=True)

    @property
    def row(self) -> float:
        """The height of a row of bars or cells."""
        return self.height / (len(self.y.names) or self.y.high - self.y.low)

    @property
    def bottom(self) -> float:
        """The place of the x axis."""
        return self.top + self.height


def frame_of(
    chart: Chart, *, edge: float = 0.0, top: float = 0.0, room: float = 0.0, height: float = _HEIGHT
) -> PlotArea:
    """The frame of a chart, from `edge` and `top` on and `room` wide: its margin holds the longest number, or name,
    of the y axis."""
    room = room or width_of(chart)
    letters = _SMALL if room >= WIDTH else _SMALLER
    is_few = len(chart.y.names) <= 12 and (not chart.is_matrix or chart.is_broad)
    longest = _LONGEST_OF_CELLS if chart.is_matrix and not chart.is_broad else _LONGEST
    names = tuple(_in_lines(name, longest, 2 if is_few else 1) for name in chart.y.names)
    y = replace(chart.y, names=names)
    labels = [line for name in y.names for line in name.split("\n")] or [
        y.tick_text(tick) for tick in y.ticks()
    ]
    rows = len(y.names) or len(labels)
    row = _ROW if rows <= 12 or chart.is_broad else _DENSE_ROW if rows <= 30 else _DENSEST_ROW
    row = _NARROW_ROW if chart.is_matrix and not chart.is_broad else row
    row = row if any(names) else min(row, _NAMELESS / rows)
    size = min(letters, _NAME * row) if y.names else letters
    left = 10 + max((svg_width(label, size) for label in labels), default=0.0)
    beside = sum(_column_width(column) for column in chart.columns)
    wide = room - left - _RIGHT - beside
    if y.names:
        top, height = top + (6.0 if chart.top is None and not beside else 22.0), row * rows
    else:
        top, height = top + (26.0 if y.title else 8.0), wide if chart.is_matrix else height
    if chart.top is not None:
        top += 18.0
    ticks = chart.x.ticks()
    last = 0.0  # the last number may stand at the very end
    if ticks and not chart.x.is_reversed and not beside:
        last = max(svg_width(chart.x.tick_text(ticks[-1]), letters) / 2 + 2 - _RIGHT, 0.0)
    return PlotArea(edge + left, top, wide - last, height, chart.x, y, edge, room, letters)


def width_of(picture: Drawable) -> float:
    """How wide a picture is."""
    return _BROAD if picture.is_broad else WIDTH


def _in_lines(name: str, longest: int, n_lines: int) -> str:
    """A name in so many lines; cut where it is longer still."""
    if n_lines == 1 or display_width(name) <= longest:
        return cut(name, longest)
    lines = textwrap.wrap(name, longest, break_long_words=False)
    shown = (*lines[: n_lines - 1], " ".join(lines[n_lines - 1 :]))
    return "\n".join(cut(line, longest) for line in shown if line)


def _column_width(column: tuple[str, tuple[str, ...]]) -> float:
    head, texts = column
    return 12 + max(svg_width(text, _SMALL) for text in (head, *texts))


def chart_file(picture: Drawable) -> str:
    """The picture as a file that stands by itself, on white paper."""
    style = "<style>svg{font-family:'DejaVu Sans',Verdana,sans-serif;color:#222222}</style>"
    ground = '<rect width="100%" height="100%" fill="#ffffff"/>'
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + chart_svg(picture, style + ground) + "\n"


def chart_svg(picture: Drawable, inside: str = "") -> str:
    """The picture as an element of a page; `inside` comes first."""
    width = width_of(picture)
    if isinstance(picture, Panels):
        drawn, bottom = _panels(picture, width)
    else:
        (chart,) = picture.charts
        frame = frame_of(chart)
        drawn = [*_grid(frame, has_lines=not chart.is_matrix), *_beside(chart, frame), *_data(chart, frame)]
        bottom = frame.bottom + (46 if chart.x.title else 28)
    legend, height = _legend(picture, bottom, width)
    title, words = getattr(picture, "title", ""), picture.words
    return svg_element(title, words, height, inside + "".join((*drawn, *legend)), width)


def _panels(panels: Panels, width: float) -> tuple[list[str], float]:
    """The panels in their rows, and where they end; what all axes show is said once."""
    charts, n_wide = panels.charts, panels.n_columns
    x, y = charts[0].x, charts[0].y
    x_is_one = all(each.x == x for each in charts)
    y_title = y.title if all(each.y.title == y.title for each in charts) else ""
    drawn = [svg_words(_fitting(y_title, width - 8, _TEXT), 4, 14, _TEXT)] if y_title else []
    top, room = 20.0 if y_title else 0.0, width / n_wide
    for start in range(0, len(charts), n_wide):
        of_row = charts[start : start + n_wide]
        beside = all(svg_width(each.caption, _SMALL) < 0.4 * room for each in charts)
        head = 18.0 if beside else 33.0
        bottom = top
        for place, chart in enumerate(of_row):
            shown = replace(chart, y=replace(chart.y, label="", unit="")) if y_title else chart
            is_last = start + place + n_wide >= len(charts) or not x_is_one
            if x_is_one and len(charts) > 1:
                shown = replace(shown, x=replace(x, label="", unit=""))
            edge = room * place
            frame = frame_of(shown, edge=edge, top=top + head, room=room, height=panels.height)
            caption = _fitting(chart.caption, room - 12, _SMALL)
            title = _fitting(chart.title, room - 12 - beside * svg_width(caption, _SMALL), _TEXT)
            drawn.append(svg_words(title, edge + 4, top + 14, _TEXT))
            if caption and beside:
                drawn.append(svg_words(caption, edge + room - _RIGHT, top + 14, _SMALL, anchor="end"))
            elif caption:
                drawn.append(svg_words(caption, edge + 4, top + 29, _SMALL))
            drawn += [*_grid(frame, has_numbers=is_last), *_beside(shown, frame), *_data(shown, frame)]
            bottom = max(bottom, frame.bottom + (46 if shown.x.title else 24 if is_last else 8))
        top = bottom
    if x_is_one and len(charts) > 1 and x.title:
        title = _fitting(x.title, width - 8, _TEXT)
        drawn.append(svg_words(title, width / 2, top + 14, _TEXT, anchor="middle"))
        top += 24
    return drawn, top


def svg_element(title: str, words: str, height: float, inside: str, width: float = WIDTH) -> str:
    """An SVG of the width of a chart, that says what it shows."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width:g} {height:g}" '
        f'font-size="{_SMALL:g}" color="#222222" fill="none" stroke-linejoin="round">'
        f"<title>{html_text(title)}</title><desc>{html_text(words)}</desc>{inside}</svg>"
    )


def _grid(frame: PlotArea, *, has_lines: bool = True, has_numbers: bool = True) -> Iterator[str]:
    """The lines of the ticks, their numbers and what the axes show; both of x where it has them."""
    left, right, bottom, letters = frame.left, frame.left + frame.width, frame.bottom, frame.size
    x_ticks, y_ticks = frame.x_ticks, frame.y_ticks
    yield '<g stroke="currentColor" stroke-opacity="0.16">'
    for tick in x_ticks if has_lines else ():
        yield f'<path d="M{frame.across(tick):.1f} {frame.top:.1f}V{bottom:.1f}"/>'
    for tick in y_ticks:
        yield f'<path d="M{left:.1f} {frame.down(tick):.1f}H{right:.1f}"/>'
    yield f'</g><g fill="currentColor" font-size="{letters:g}">'
    for tick in x_ticks if has_numbers else ():
        yield svg_text(frame.x.tick_text(tick), frame.across(tick), bottom + 16, anchor="middle")
    for tick in y_ticks:
        yield svg_text(frame.y.tick_text(tick), left - 6, frame.down(tick) + 4, anchor="end")
    for place, name in enumerate(frame.y.names):
        lines = name.split("\n")
        size = min(letters, _NAME * frame.row / len(lines))
        for line, text in enumerate(lines):
            y = frame.down(place) + 0.3 * size + (line - (len(lines) - 1) / 2) * 1.05 * size
            yield svg_text(text, left - 6, y, anchor="end", size=size)
    if not frame.y.names and frame.y.title:
        title = _fitting(frame.y.title, frame.room - 8, letters + 1)
        yield svg_text(title, frame.edge + 4, frame.top - 12, size=letters + 1)
    if frame.x.title:
        title = _fitting(frame.x.title, frame.room - 8, letters + 1)
        half = svg_width(title, letters + 1) / 2
        middle = max(min(left + frame.width / 2, frame.edge + frame.room - 4 - half), frame.edge + 4 + half)
        yield svg_text(title, middle, bottom + 35, anchor="middle", size=letters + 1)
    yield "</g>"
    yield (
        f'<path d="M{left:.1f} {frame.top:.1f}V{bottom:.1f}H{right:.1f}" stroke="currentColor" '
        'stroke-opacity="0.6"/>'
    )


def _beside(chart: Chart, frame: PlotArea) -> Iterator[str]:
    """The columns of texts at the right of the rows, and the axis above."""
    right = frame.left + frame.width
    at = right
    for column in chart.columns:
        head, texts = column
        yield svg_words(head, at + 10, frame.top - 6, frame.size - 1)
        for place, text in enumerate(texts):
            yield svg_words(text, at + 10, frame.down(place) + 4, frame.size)
        at += _column_width(column)
    if chart.top is not None:
        above = replace(frame, x=chart.top)
        for tick in above.x_ticks:
            x = above.across(tick)
            yield f'<path d="M{x:.1f} {frame.top:.1f}v-4" stroke="currentColor" stroke-opacity="0.6"/>'
            yield svg_words(chart.top.tick_text(tick), x, frame.top - 8, frame.size, anchor="middle")
        title = _fitting(chart.top.title, frame.room - 8, _TEXT)
        yield svg_words(title, frame.left + frame.width / 2, frame.top - 25, _TEXT, anchor="middle")


def _data(chart: Chart, frame: PlotArea) -> Iterator[str]:
    """Series and lines, cut at the frame, and on top of them what is marked."""
    yield (
        f'<svg x="{frame.left:.1f}" y="{frame.top:.1f}" width="{frame.width:.1f}" height="{frame.height:.1f}" '
        f'viewBox="{frame.left:.1f} {frame.top:.1f} {frame.width:.1f} {frame.height:.1f}">'
    )
    for series in chart.series:
        if series.kind != "points" or series.strength < 1:
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
        if series.kind == "marked":
            yield from _series(replace(series, kind="points"), frame)
        elif series.kind == "points" and series.strength == 1:
            yield from _series(series, frame)
    for mark in chart.marks:
        if isinstance(mark, Spot):
            yield from _spot(mark, frame)


def _series(series: Series, frame: PlotArea) -> Iterator[str]:
    across, down = frame.across, frame.down
    if series.kind == "band":
        there = _path(series.x, series.high, frame)
        back = _path(series.x[::-1], series.low[::-1], frame)
        yield f'<path d="{there}L{back[1:]}Z" {_fill(series.colour, float(_FADED))}/>'
    elif series.kind in ("bars", "columns"):
        for value, low, high in zip(series.y, series.low, series.high, strict=True):
            left, right = sorted((across(low), across(high)))
            if series.kind == "bars":
                y, tall = down(value) - 0.36 * frame.row, 0.72 * frame.row
            else:
                y, tall = down(value), frame.bottom - down(value)
            size = f'width="{max(right - left - 1, 0):.1f}" height="{tall:.1f}"'
            yield f'<rect x="{left:.1f}" y="{y:.1f}" {size} {_fill(series.colour, series.strength)}/>'
    elif series.kind == "cells":
        cells = zip(series.y, series.low, series.high, strict=True)
        path = "".join(
            f"M{across(low):.1f} {down(row - 0.5):.1f}H{across(high):.1f}V{down(row + 0.5):.1f}H{across(low):.1f}Z"
            for row, low, high in cells
        )
        edge = ' stroke="#ffffff"' if series.texts else ""
        look = _fill(series.colour, series.strength, "edged" if edge else "")
        yield f'<path d="{path}" {look}{edge}/>'
    elif series.kind == "points" and series.strength < 1:
        # one path for all of them, and of those at one place a single dot: they may be tens of thousands
        places = dict.fromkeys(
            f"{across(x):.0f} {down(y):.0f}" for x, y in zip(series.x, series.y, strict=True)
        )
        dots = "".join(f"M{place}h0" for place in places)
        cap = ("round", "square")[(series.colour if series.marker is None else series.marker) % 2]
        look = f'class="s{series.colour}" stroke="{COLOURS[series.colour]}" stroke-width="{_DOT:g}"'
        opacity = max(series.strength, _THIN)
        yield f'<path d="{dots}" {look} stroke-opacity="{opacity:g}" stroke-linecap="{cap}"/>'
    elif series.kind == "points":
        nothing = (None,) * len(series.x)
        ends = (series.low or nothing, series.high or nothing)
        for at, value, lowest, highest in zip(series.x, series.y, *ends, strict=True):
            spot = Spot("", at, value, lowest, highest, series.colour)
            yield from _spot(spot, frame, size=3.2, marker=series.marker)
    else:
        path = _path(series.x, series.y, frame, is_steps=series.kind == "steps")
        yield f'<path d="{path}" {_stroke(series.colour)}/>'
    yield from _texts(series, frame)


def _texts(series: Series, frame: PlotArea) -> Iterator[str]:
    """What stands in bars and cells, in a line or two, and beside points."""
    if not series.texts:
        return
    if series.kind == "points":
        for x, y, text in zip(series.x, series.y, series.texts, strict=True):
            at = frame.across(x)
            is_right = at > frame.left + 0.6 * frame.width  # there is more room at the left of it
            room = (at - frame.left if is_right else frame.left + frame.width - at) - 10
            anchor = "end" if is_right else ""
            shown = _fitting(text, room, _SMALLER)
            yield svg_words(shown, at + (-6 if is_right else 6), frame.down(y) - 4, _SMALLER, anchor=anchor)
        return
    look = ' class="on" fill="#ffffff"' if series.strength > _DARK else ' fill="currentColor"'
    yield f'<g text-anchor="middle"{look}>'
    for row, low, high, text in zip(series.y, series.low, series.high, series.texts, strict=True):
        middle, (first, *rest) = (frame.across(low) + frame.across(high)) / 2, text.split("\n")
        if svg_width(max((first, *rest), key=len), _SMALLER) + 3 > abs(
            frame.across(high) - frame.across(low)
        ):
            continue
        yield svg_text(first, middle, frame.down(row) + (-1 if rest else 4), size=_SMALLER)
        for line in rest:
            yield svg_text(line, middle, frame.down(row) + 10, size=_SMALLER - 1)
    yield "</g>"


def _path(x: tuple[float, ...], y: tuple[float, ...], frame: PlotArea, *, is_steps: bool = False) -> str:
    places = [(f"{frame.across(a):.1f}", f"{frame.down(b):.1f}") for a, b in zip(x, y, strict=True)]
    if is_steps:
        first, *rest = places
        return f"M{first[0]} {first[1]}" + "".join(f"H{a}V{b}" for a, b in rest)
    return "M" + "L".join(f"{a} {b}" for a, b in places)


def _spot(mark: Spot, frame: PlotArea, *, size: float = 5.0, marker: int | None = None) -> Iterator[str]:
    x, y = frame.across(mark.x), frame.down(mark.y)
    if mark.low is not None and mark.high is not None:
        low, high = frame.down(mark.low), frame.down(mark.high)
        yield (
            f'<path d="M{x:.1f} {low:.1f}V{high:.1f}M{x - 4:.1f} {low:.1f}h8M{x - 4:.1f} {high:.1f}h8" '
            f"{_stroke(mark.colour, dashed=False)}/>"
        )
    yield svg_marker(mark.colour, x, y, size, marker)


def svg_marker(colour: int, x: float, y: float, size: float, marker: int | None = None) -> str:
    """A marker of its own for each colour, or the given one, in an edge of the paper's."""
    shape = (colour if marker is None else marker) % 4
    look = f'class="f{colour} edged" fill="{COLOURS[colour]}" stroke="#ffffff"'
    if shape == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:g}" {look}/>'
    if shape == 1:
        s = 0.9 * size
        return f'<rect x="{x - s:.1f}" y="{y - s:.1f}" width="{2 * s:.1f}" height="{2 * s:.1f}" {look}/>'
    s = 1.25 * size
    if shape == 2:
        return f'<path d="M{x:.1f} {y - s:.1f}l{s:.1f} {1.8 * s:.1f}h{-2 * s:.1f}Z" {look}/>'
    return f'<path d="M{x:.1f} {y - s:.1f}l{s:.1f} {s:.1f}l{-s:.1f} {s:.1f}l{-s:.1f} {-s:.1f}Z" {look}/>'


def _legend(picture: Drawable, top: float, room: float) -> tuple[list[str], float]:
    """The legend below the axes, in as many lines as it needs, and where the drawing ends; the first of a name
    has it."""
    entries: dict[str, Series | Mark] = {}
    for series in (each for chart in picture.charts for each in chart.series if each.name):
        entries.setdefault(series.name, series)
    for mark in (each for chart in picture.charts for each in chart.marks if each.text):
        entries.setdefault(mark.text, mark)
    parts, x, y = [], 4.0, top + 8
    for name, each in entries.items():
        text = _fitting(name, room - _SAMPLE - 10, _SMALL)
        width = _SAMPLE + 6 + svg_width(text, _SMALL) + 12
        if x > 4 and x + width > room + 12:
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
    is_cloud = each.kind == "points" and each.strength < 1
    marker = svg_marker(each.colour, x + _SAMPLE / 2, y, 3.2, each.colour % 2 if is_cloud else each.marker)
    if each.kind == "points":
        return marker
    if each.kind in ("band", "bars", "columns", "cells"):
        look = _fill(each.colour, float(_FADED) if each.kind == "band" else each.strength)
        return f'<rect x="{x + 6:.1f}" y="{y - 6:.1f}" width="{_SAMPLE - 6:g}" height="12" {look}/>'
    line = f"<path {across} {_stroke(each.colour)}/>"
    return line + marker if each.kind == "marked" else line


def _stroke(colour: int, *, dashed: bool = True) -> str:
    dashes = f' stroke-dasharray="{DASHES[colour]}"' if dashed and DASHES[colour] else ""
    return f'class="s{colour}" stroke="{COLOURS[colour]}" stroke-width="2"{dashes}'


def _fill(colour: int, strength: float = 1.0, also: str = "") -> str:
    faded = f' fill-opacity="{strength:g}"' if strength < 1 else ""
    return f'class="f{colour}{f" {also}" if also else ""}" fill="{COLOURS[colour]}"{faded}'


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
