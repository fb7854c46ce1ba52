"""A picture as plain data: two axes, what is drawn between them, and what is marked.

Pages show it as a small SVG of its own (`render.svg`), files of it are drawn by Matplotlib
(`render.chart_figure`), and those who cannot see it get its numbers as a table: three views of one record.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from humeval_power.errors import InputError
from humeval_power.saying.document import Picture, Table
from humeval_power.saying.numbers import significant, significant_interval, with_minus

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from humeval_power.saying.figure_style import FigureFormat

Number = TypeVar("Number", int, float)
Pair = tuple[float, float]
SeriesKind = Literal["line", "marked", "steps", "points", "band", "bars", "columns", "cells"]
_MOST_TICKS = 6
_MOST_ROWS = 13  # of the table of a curve
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_TINY = 1e-9  # relative: what is rounding in the place of a tick


@dataclass(frozen=True, slots=True)
class Axis:
    """A direction of a chart: what it shows, in which unit, from where to where.

    `is_whole` is for counts; `names` are those of rows of bars or cells, from the top, and the axis then has no
    numbers; `places` are ticks of its own with their texts; `is_reversed`: its numbers run downwards, or to the
    left; `is_of_100`: it has shares, which stand there as so many of 100.
    """

    label: str
    low: float
    high: float
    unit: str = ""
    is_log: bool = False
    is_whole: bool = False
    names: tuple[str, ...] = ()
    places: tuple[tuple[float, str], ...] | None = None
    is_reversed: bool = False
    is_of_100: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise InputError(f"The axis {self.label!r} must run upwards; got {self.low} to {self.high}.")
        if self.is_log and self.low <= 0:
            raise InputError(f"The logarithmic axis {self.label!r} must start above 0; got {self.low}.")

    @classmethod
    def around(cls, label: str, values: Iterable[float], **how: Any) -> Axis:
        """An axis that is a little longer than the values."""
        known = list(values)
        room = 0.04 * (max(known) - min(known) or 1.0)
        return cls(label, min(known) - room, max(known) + room, **how)

    @property
    def title(self) -> str:
        """The label with its unit."""
        return f"{self.label}, {self.unit}" if self.unit else self.label

    def share(self, value: float) -> float:
        """Where a value stands: 0 at the low end, 1 at the high one."""
        if self.is_log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return 1 - share if self.is_reversed else share

    def ticks(self, room: float = math.inf, *, upright: bool = False) -> tuple[float, ...]:
        """Round numbers between the ends, at most six or so, less those that would lie over each other where the
        axis is as long as `room` characters, or as `room` lines if it is upright."""
        if self.names:
            return ()
        if self.places is not None:
            ticks = tuple(place for place, _ in self.places)
        else:
            ticks = _log_ticks(self.low, self.high) if self.is_log else self._even_ticks()
        kept = ticks[:1]
        for tick in ticks[1:]:
            texts = (self.tick_text(kept[-1]), self.tick_text(tick))
            needed = 1.2 if upright else 1 + sum(map(len, texts)) / 2
            if abs(self.share(tick) - self.share(kept[-1])) * room >= needed:
                kept += (tick,)
        return kept

    def _even_ticks(self) -> tuple[float, ...]:
        step = tick_step(self.high - self.low, is_whole=self.is_whole)
        slack = _TINY * (self.high - self.low)
        first, last = math.ceil((self.low - slack) / step), math.floor((self.high + slack) / step)
        return tuple(place * step for place in range(first, last + 1))

    def tick_text(self, value: float) -> str:
        """A tick in words, as exact as its neighbours need."""
        if self.places is not None:
            return dict(self.places).get(value, "")
        if self.is_log:
            return f"{value:,.10g}" if value < 1 else f"{value:,.0f}" if value >= 10 else f"{value:g}"
        if self.is_of_100:
            return f"{100 * value:.0f}"
        step = tick_step(self.high - self.low, is_whole=self.is_whole)
        digits = max(0, -math.floor(math.log10(step) + _TINY))
        if digits and round(step * 10**digits, 6) % 1:
            digits += 1
        elif not digits and step % 1:
            digits = 1
        return with_minus(f"{value + 0.0:,.{digits}f}")

    def cell(self, value: float) -> str:
        """A value in a table."""
        if self.is_whole:
            return f"{value:,.0f}"
        if self.is_of_100:
            return f"{100 * value:.3g}"
        return with_minus(significant(value))


def tick_step(span: float, *, is_whole: bool = False) -> float:
    """The round step (1, 2, 2.5 or 5 times a power of ten) that cuts a span into at most five parts."""
    raw = span / (_MOST_TICKS - 1)
    power = 10.0 ** math.floor(math.log10(raw))
    steps = (factor * power for factor in _STEPS)
    step = next(each for each in steps if each >= raw * (1 - _TINY))
    return float(max(1, math.ceil(step - _TINY))) if is_whole else step


def _log_ticks(low: float, high: float) -> tuple[float, ...]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    ticks: tuple[float, ...] = ()
    for factors in ((1, 2, 5), (1, 3), (1,)):
        ticks = tuple(
            factor * 10.0**place
            for place in range(first, last + 1)
            for factor in factors
            if low * (1 - _TINY) <= factor * 10.0**place <= high * (1 + _TINY)
        )
        if len(ticks) <= _MOST_TICKS + 1:
            return ticks
    return ticks[:: -(-len(ticks) // _MOST_TICKS)]


@dataclass(frozen=True, slots=True)
class Series:
    """Something that is drawn, in one of the eight colours, each with dashes and a marker of its own.

    'line', 'steps' and 'points' go through (x, y), points with their intervals low to high if there are any, and
    'marked' is a line with points; a 'band' lies between low and high at x; 'columns' stand on 0 and are as high as
    y, from low to high along x; 'bars' lie along x from low to high, in the row y of each, from 0 for the first;
    'cells' too, and fill their rows, so that they are a matrix. Without a name it is not in the legend.

    `strength` is how much of the colour bars and cells have; points with less than 1 are small, as they are many.
    `texts` stand in the bars or cells where there is room, or beside the points. `marker`: another than
    that of the colour.
    """

    kind: SeriesKind
    name: str
    x: tuple[float, ...] = ()
    y: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    colour: int = 0
    strength: float = 1.0
    texts: tuple[str, ...] = ()
    marker: int | None = None

    @classmethod
    def of(
        cls, kind: SeriesKind, name: str, points: Iterable[Pair], colour: int = 0, **look: Any
    ) -> Series:
        """The series through points (x, y)."""
        x, y = zip(*points, strict=True)
        return cls(kind, name, x, y, colour=colour, **look)

    def __post_init__(self) -> None:
        needed = {
            "band": ("x", "low", "high"),
            **dict.fromkeys(("bars", "columns", "cells"), ("y", "low", "high")),
        }.get(self.kind, ("x", "y"))
        lengths = {len(getattr(self, name)) for name in needed}
        ends = {len(self.low), len(self.high)} - {0}
        if len(lengths) != 1 or not lengths or not ends <= lengths or 0 in lengths:
            raise InputError(f"The series {self.name!r} needs as many values of {', '.join(needed)}.")
        if not all(map(math.isfinite, (*self.x, *self.y, *self.low, *self.high))):
            raise InputError(f"The series {self.name!r} holds what is no finite number.")


@dataclass(frozen=True, slots=True)
class Spot:
    """A point that is marked: 'you are here'; with its interval where it has one."""

    text: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    colour: int = 1


@dataclass(frozen=True, slots=True)
class Level:
    """A line across at y: a target, a ceiling."""

    text: str
    y: float
    colour: int | None = None


@dataclass(frozen=True, slots=True)
class Upright:
    """A line upwards at x: a budget, a true effect."""

    text: str
    x: float
    colour: int | None = None


Mark: TypeAlias = Spot | Level | Upright


class Drawable(Picture):
    """A picture of plain data: drawn as SVG for a page, whose style sheet has its colours, and by Matplotlib."""

    charts: tuple[Chart, ...]

    @property
    def is_broad(self) -> bool:
        """Whether it needs the width of a page."""
        raise NotImplementedError

    def svg(self) -> str:
        """The picture for a page, without style, script and ids."""
        from humeval_power.saying.render.svg import chart_svg

        return chart_svg(self)

    @cached_property
    def figure(self) -> Figure:
        """The same by Matplotlib."""
        return self.drawn()

    def drawn(self, width: float | None = None) -> Figure:
        """The same of so many inches."""
        from humeval_power.saying.render.chart_figure import chart_figure

        return chart_figure(self, width=width)

    def content(self, format: FigureFormat) -> bytes:
        """The picture as a file of that format; as SVG one that stands by itself."""
        if format != "svg":
            return super().content(format)
        from humeval_power.saying.render.svg import chart_file

        return chart_file(self).encode()


@dataclass(frozen=True)
class Chart(Drawable):
    """A picture of plain data. `title` is the question that it answers, `words` the answer, for everybody;
    `caption` says how it was made. `numbers` are its table, if that should not be made of its series.
    `columns` are texts at the right of its rows, each with a heading; `top` is a second x axis, above."""

    name: str
    title: str
    words: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    marks: tuple[Mark, ...] = ()
    caption: str = ""
    numbers: Table | None = None

    columns: tuple[tuple[str, tuple[str, ...]], ...] = ()
    top: Axis | None = None

    @property
    def is_matrix(self) -> bool:
        """Whether rows are as narrow as columns."""
        return any(each.kind == "cells" for each in self.series)

    @property
    def is_broad(self) -> bool:
        """Whether it needs the width of a page: columns of texts, or cells with texts."""
        return bool(self.columns) or (self.is_matrix and any(each.texts for each in self.series))

    @property
    def chart(self) -> Chart:
        """Itself: media ask every chart for it, those that are made later too."""
        return self

    @property
    def charts(self) -> tuple[Chart, ...]:  # type: ignore[override]
        """Itself alone."""
        return (self,)

    def table(self) -> Table:
        """The numbers of the chart: of curves at most thirteen points, which are spread evenly."""
        if self.numbers is not None:
            return self._with_columns(self.numbers)
        if self.y.names:
            return self._rows_table() if len(self.y.names) > 1 else self._bars_table()
        for each in self.series:
            if each.kind == "columns":
                ends = (
                    f"{self.x.cell(low)} to {self.x.cell(high)}"
                    for low, high in zip(each.low, each.high, strict=True)
                )
                bins = tuple(zip(ends, map(self.y.cell, each.y), strict=True))
                return Table((self.x.title, self.y.title), bins, caption=self._marked)
        shown = [each for each in self.series if each.name]
        columns = [self._column(each) for each in shown]
        places = sorted(set().union(*columns)) if columns else []
        rows = tuple(
            (self.x.cell(place), *(column.get(place, "") for column in columns)) for place in spread(places)
        )
        header = (self.x.title, *(each.name for each in shown))
        return Table(header, rows, caption=self._marked)

    @property
    def _marked(self) -> str:
        return "; ".join(mark.text for mark in self.marks if mark.text)

    def _column(self, series: Series) -> dict[float, str]:
        """What stands in the rows of x; of points with their intervals, of a band its ends."""
        middles = [self.y.cell(value) for value in series.y]
        pairs = zip(series.low, series.high, strict=True)
        ends = [f"{self.y.cell(low)} to {self.y.cell(high)}" for low, high in pairs]
        if middles and ends:
            cells = [f"{middle} ({end})" for middle, end in zip(middles, ends, strict=True)]
        else:
            cells = middles or ends
        return dict(zip(series.x, cells, strict=True))

    def _bars_table(self) -> Table:
        """The parts of the only row."""
        rows = tuple(
            (each.name, self.x.cell(high - low))
            for each in self.series
            for low, high in zip(each.low, each.high, strict=True)
        )
        return Table(("Part", self.x.title), rows)

    def _rows_table(self) -> Table:
        """What stands in each row: the length of bars, the place of points, the texts of cells by their column."""
        cells: dict[int, dict[str, str]] = {row: {} for row in range(len(self.y.names))}
        header = [text for _, text in self.x.places or ()] if self.is_matrix else []
        for each in self.series:
            if each.kind == "cells":
                for y, low, high, text in zip(each.y, each.low, each.high, each.texts, strict=True):
                    cells[int(y)][self.x.tick_text((low + high) / 2)] = text.replace("\n", ", p ")
            elif each.name and each.kind in ("bars", "points"):
                header.append(each.name)
                values = each.x or tuple(b - a for a, b in zip(each.low, each.high, strict=True))
                for y, value in zip(each.y, values, strict=True):
                    cells[int(y)][each.name] = self.x.cell(value)
        rows = (
            (name, *(cells[row].get(head, "") for head in header)) for row, name in enumerate(self.y.names)
        )
        return Table((self.y.title, *header), tuple(rows), caption=self.x.title * (not self.is_matrix))

    def _with_columns(self, table: Table) -> Table:
        """The table with the texts at the right of the rows."""
        rows = (
            (*row, *(texts[place] for _, texts in self.columns)) for place, row in enumerate(table.rows)
        )
        return replace(table, header=(*table.header, *dict(self.columns)), rows=tuple(rows))


@dataclass(frozen=True)
class Panels(Drawable):
    """Charts of one kind, `n_wide` beside each other, with one legend: the title of each says what it shows, and
    its caption stands beside or below that. What their axes show is said once where it is the same. `height` is
    that of a panel between its axes, in the units of a page."""

    name: str
    title: str
    words: str
    charts: tuple[Chart, ...]
    n_wide: int = 2
    height: float = 190.0
    caption: str = ""
    numbers: Table | None = None

    @property
    def is_broad(self) -> bool:
        """Whether it needs the width of a page."""
        return self.n_columns > 1 or any(each.is_broad for each in self.charts)

    @property
    def n_columns(self) -> int:
        """How many stand beside each other."""
        return min(self.n_wide, len(self.charts))

    @property
    def chart(self) -> Panels:
        """Itself, as of a chart."""
        return self

    def table(self) -> Table:
        """The numbers of all panels, each row after the title of its own."""
        if self.numbers is not None:
            return self.numbers
        tables = [(each.title, each.table()) for each in self.charts]
        header = tuple(dict.fromkeys(name for _, one in tables for name in one.header))
        cells = [
            (title, dict(zip(one.header, row, strict=True))) for title, one in tables for row in one.rows
        ]
        rows = tuple((title, *(row.get(name, "") for name in header)) for title, row in cells)
        return Table(("", *header), rows, caption=tables[0][1].caption)


class LaterChart(Picture):
    """A chart that takes time to compute: made when a medium shows it, once."""

    def __init__(
        self, name: str, make: Callable[[], Chart | Panels], *, words: str, caption: str = ""
    ) -> None:
        self._make = cache(make)
        super().__init__(name, lambda: self._make().figure, words=words, caption=caption)

    @property
    def chart(self) -> Chart | Panels:
        """The chart as plain data."""
        return self._make()

    def content(self, format: FigureFormat) -> bytes:
        """The chart as a file of that format."""
        return self.chart.content(format)


def spread(places: Sequence[Number]) -> Sequence[Number]:
    """At most thirteen of them, evenly, with both ends: what a table shows of a curve."""
    if len(places) <= _MOST_ROWS:
        return places
    last = len(places) - 1
    return [places[round(row * last / (_MOST_ROWS - 1))] for row in range(_MOST_ROWS)]


# Rows of estimates with intervals, one for each worker, item or other level: the ends where there are
# many.

ENDS = 30  # rows shown at each end of a long list


@dataclass(frozen=True, slots=True)
class EstimateRow:
    """One row: a value with the ends of its interval, NaN without one, and whether it is marked."""

    name: str
    value: float
    low: float = math.nan
    high: float = math.nan
    marked: bool = False


@dataclass(frozen=True, slots=True)
class EstimateRows:
    """Rows about `null`, where there is no difference, None for values that are none, and around the value of the
    whole study, if there is one.

    `is_ordered`: the largest value on top, and more than 2 x 30 rows cut to the 30 at each end; else as given.
    """

    rows: tuple[EstimateRow, ...]
    nouns: str
    x_label: str
    usual_label: str = ""
    marked_label: str = ""
    null: float | None = 0.0
    whole: float | None = None
    whole_label: str = ""
    whole_interval: tuple[float, float] | None = None
    is_ordered: bool = True

    @property
    def ordered(self) -> tuple[EstimateRow, ...]:
        """All rows in their order."""
        return tuple(sorted(self.rows, key=lambda row: -row.value)) if self.is_ordered else self.rows

    @property
    def shown(self) -> tuple[EstimateRow | None, ...]:
        """The rows that are drawn; None stands for those between the ends."""
        ordered = self.ordered
        if not self.is_ordered or len(ordered) <= 2 * ENDS:
            return ordered
        return (*ordered[:ENDS], None, *ordered[-ENDS:])

    @property
    def gap(self) -> str:
        """What stands in the place of the rows that are not drawn."""
        hidden = self.ordered[ENDS:-ENDS]
        n_marked = sum(row.marked for row in hidden)
        aside = f", {n_marked:,} of them marked" if n_marked else ""
        return f"{len(hidden):,} more {self.nouns} between{aside}"

    def chart(self, name: str, *, title: str, words: str) -> Chart:
        """The picture of these rows: a point for each value, a line for its interval, to the edge where one end
        is open."""
        shown, whole = self.shown, self.whole
        rows = [(float(place), row) for place, row in enumerate(shown) if row is not None]
        marks = [] if self.null is None else [Upright("no difference", self.null)]
        marks += [] if whole is None else [Upright(self.whole_label, whole, 2)]
        known = (end for _, row in rows for end in (row.value, row.low, row.high) if math.isfinite(end))
        ends = [*known, *(mark.x for mark in marks), *(self.whole_interval or ())]
        room = 0.05 * (max(ends) - min(ends) or 1.0)
        low, high = min(ends) - room, max(ends) + room
        series = []
        if self.whole_interval is not None:
            top, bottom = -0.5, len(shown) - 0.5
            series.append(
                Series("band", "", self.whole_interval, low=(top, top), high=(bottom, bottom), colour=7)
            )
        for place, row in rows:
            if not math.isnan(row.low):
                ends_of = (max(row.low, low), min(row.high, high))
                series.append(Series("line", "", ends_of, (place, place), colour=int(row.marked)))
        for colour, label in enumerate((self.usual_label, self.marked_label)):
            of = [
                (row.value, place)
                for place, row in rows
                if row.marked == colour and math.isfinite(row.value)
            ]
            if of:
                series.append(Series.of("points", label, of, colour))
        hidden = len(self.rows) - len(rows)
        names = tuple(f"... {hidden:,} more" if row is None else row.name for row in shown)
        return Chart(
            name,
            title,
            words,
            Axis(self.x_label, low, high),
            Axis("", 0, max(1, len(names)), names=names),
            tuple(series),
            tuple(marks),
            self.gap if hidden else "",
            self.table(),
        )

    def table(self) -> Table:
        """The rows that are drawn in numbers."""
        drawn = [row for row in self.shown if row is not None]
        n_columns = 1 if all(math.isnan(row.low) for row in drawn) else 2
        rows = [
            (row.name, *map(with_minus, (significant(row.value), significant_interval(row.low, row.high))))
            for row in drawn
        ]
        return Table(
            ("", self.x_label, "interval")[: n_columns + 1], tuple(row[: n_columns + 1] for row in rows)
        )


Effect = tuple[str, float, tuple[float, float]]


def interval_chart(
    name: str, effects: Sequence[Effect], *, axis: str, title: str, words: str, null: float | None = 0.0
) -> Chart:
    """Effects with their intervals below each other: name, estimate and the ends, as given."""
    rows = tuple(EstimateRow(each, value, *ends) for each, value, ends in effects)
    return EstimateRows(rows, "", axis, null=null, is_ordered=False).chart(name, title=title, words=words)
