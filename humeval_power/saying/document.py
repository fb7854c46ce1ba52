"""What a result says, before anyone decides how it looks: one record that four renderers turn into text.

A document knows nothing of terminals, tags or commands. `saying.render` has one function a medium:
`as_terminal`, `as_markdown`, `as_html`, `as_latex`.

Prose that stands in templates: passages of whole sentences, each a macro of a file `templates/*.md.j2`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, TypeVar

from humeval_power.saying.numbers import POWER_LABEL, in_words, with_minus
from humeval_power.saying.values import estimated, plain, share, signed

if TYPE_CHECKING:
    from jinja2 import Environment
    from matplotlib.figure import Figure

    from humeval_power.saying.figure_style import FigureFormat


Fact: TypeAlias = tuple[str, str]
FieldState = Literal["filled", "check", "open"]
_NUMBER = re.compile(r"[+\-\u2212<>]?\s?[\d.,]*\d(\s?%)?( |$)")  # also "66 to 68", but no date and no 3x
_NUMBER_OR_NONE = re.compile(rf"{_NUMBER.pattern}|-?$|none\b")


@dataclass(frozen=True, slots=True)
class Facts:
    """Lines of a label and what is said of it; an empty label goes on with the line before."""

    lines: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences that belong together."""

    text: str


@dataclass(frozen=True, slots=True)
class Points:
    """Sentences that stand side by side."""

    points: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines to copy as they are: a command, Python, a signature."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table; every row has one cell for each name in `header`. An empty header leaves that line out.

    `has_total` sets the last row apart. `in_words`: the cells are sentences, the first of a row is what
    the others speak of. `spans` label the columns after the first, so many of them each; what is too narrow
    for all shows them one below the other. `searchable`: a page finds rows by their first cell.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    has_total: bool = False
    in_words: bool = False
    spans: tuple[tuple[str, int], ...] = ()
    searchable: bool = False

    def of_spans(self, first: int, end: int) -> Table:
        """The first column, and those of the spans from `first` to before `end`, the caption with the first."""
        start = 1 + sum(n for _, n in self.spans[:first])
        stop = start + sum(n for _, n in self.spans[first:end])
        header, *rows = ((line[0], *line[start:stop]) for line in (self.header, *self.rows))
        caption = self.caption if first == 0 else ""
        return replace(self, header=header, rows=tuple(rows), caption=caption, spans=self.spans[first:end])

    def parts(self, fits: Callable[[Table], bool] | None = None) -> tuple[Table, ...]:
        """The table cut between its spans so that each part fits, or is of one span; None: all are of one."""
        tables: list[Table] = []
        first = 0
        for end in range(1, len(self.spans) + 1):
            if end == len(self.spans) or fits is None or not fits(self.of_spans(first, end + 1)):
                tables.append(self.of_spans(first, end))
                first = end
        return tuple(tables) or (self,)

    @property
    def is_sortable(self) -> bool:
        """Whether a page may put its rows into another order by a click on a heading."""
        return bool(self.header) and len(self.rows) > 2 and not self.in_words

    @property
    def numbers(self) -> frozenset[int]:
        """The columns of cells that start with a number, or say that there is none: they are set to the right."""
        columns = list(zip(*self.rows, strict=True))
        return frozenset(
            place
            for place, cells in enumerate(columns)
            if any(map(_NUMBER.match, cells)) and all(map(_NUMBER_OR_NONE.match, cells))
        )


Row = TypeVar("Row")


def table(
    rows: Iterable[Row], columns: Mapping[str, Callable[[Row], str]], caption: str = "", **how: Any
) -> Table:
    """A table with a row for each of `rows`: columns by their names, each with what it shows of a row."""
    cells = tuple(tuple(cell(row) for cell in columns.values()) for row in rows)
    return Table(tuple(columns), cells, caption, **how)


class Picture:
    """A figure, drawn when a medium asks for it: most show none.

    `words` say what is to be seen to those who cannot see it; its numbers stand in a table as well.
    `name` is that of its file, without an ending.
    """

    def __init__(self, name: str, draw: Callable[[], Figure], *, words: str, caption: str = "") -> None:
        self.name, self.words, self.caption = name, words, caption
        self._draw = draw

    def named(self, name: str) -> Self:
        """The same picture under another name."""
        other = copy(self)
        object.__setattr__(other, "name", name)  # a chart is frozen
        return other

    @cached_property
    def figure(self) -> Figure:
        """The Matplotlib figure."""
        return self._draw()

    @cached_property
    def _contents(self) -> dict[FigureFormat, bytes]:
        return {}

    def content(self, format: FigureFormat) -> bytes:
        """The picture as a file of that format; drawn once, however many pages and files have it."""
        from humeval_power.saying.figure_style import figure_bytes

        if format not in self._contents:
            self._contents[format] = figure_bytes(self.figure, format)
        return self._contents[format]


@dataclass(frozen=True, slots=True)
class FormLine:
    """One thing that a form asks. An open one may hold what is known so far; `advice` says what to add,
    `source` where an answer came from. 'check': the answer follows from something, and a person confirms it."""

    key: str
    question: str
    state: FieldState
    answer: str = ""
    source: str = ""
    advice: str = ""
    table: Table | None = None


Block: TypeAlias = Facts | Paragraph | Points | Listing | Table | Picture | FormLine


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a title; one without a title goes on with what stands before it.

    `is_detail`: for pages and those who ask for details; a terminal leaves it out.
    """

    title: str
    blocks: tuple[Block, ...]
    is_detail: bool = False


@dataclass(frozen=True)
class Document:
    """A title, the answer in a few sentences, its figures, what must be read first, the sections,
    where the numbers come from, and a line that sums the study up for a paper.

    `pages` makes the sections that a terminal leaves out unless it shows details: pictures and what goes with them.
    """

    title: str
    lead: str = ""
    headline: tuple[Fact, ...] = ()
    caveats: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    provenance: tuple[Fact, ...] = ()
    signature: str = ""
    pages: Callable[[], Iterable[Section]] = tuple

    @cached_property
    def all_sections(self) -> tuple[Section, ...]:
        """Those of a terminal, then those of pages."""
        return (*self.sections, *self.pages())

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """All pictures in order."""
        return tuple(
            block for section in self.all_sections for block in section.blocks if isinstance(block, Picture)
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        """All tables in order, those of form fields left out."""
        return tuple(
            block for section in self.all_sections for block in section.blocks if isinstance(block, Table)
        )


READ_FIRST = "Read this first"
NUMBERS_FROM = "Where the numbers come from"


# A picture that has a small SVG of its own for pages; files of it are drawn by Matplotlib.


class Drawing(Picture):
    """A picture with a `title`, drawn twice: `svg` for a page, `draw` for files; one that `is_tall` scrolls in a
    frame of its own. Its numbers stand elsewhere, or are too many.

    The SVG holds presentation attributes and classes alone, as that of a chart: a page's style sheet has the say.
    """

    def __init__(
        self,
        name: str,
        draw: Callable[[], Figure],
        svg: Callable[[], str],
        *,
        title: str,
        words: str,
        caption: str = "",
        is_tall: bool = False,
    ) -> None:
        super().__init__(name, draw, words=words, caption=caption)
        self.title, self.svg, self.is_tall = title, svg, is_tall


# What a figure of a surface draws of each cell: its power, or how wrong its significant estimates are.

Drawn = Literal["power", "type-m", "type-s"]
Along = Literal["n", "effect"]  # what runs along x: of scenarios,
AlongStudy = Literal["items", "effect"]  # and of rating studies
NOTHING_WRONG = "Only a test for a difference that is there can exaggerate it, or turn its sign around."


@dataclass(frozen=True, slots=True)
class DrawnQuantity:
    """What is drawn, the columns that hold it and its interval, if it has one, and its words."""

    column: str
    label: str
    words: str
    band: tuple[str, str] | None = None


QUANTITIES: Mapping[Drawn, DrawnQuantity] = {
    "power": DrawnQuantity("power", POWER_LABEL, POWER_LABEL, ("power_low", "power_high")),
    "type-m": DrawnQuantity(
        "type_m", "Type M: exaggeration", "Exaggeration of significant estimates (type M)"
    ),
    "type-s": DrawnQuantity(
        "type_s", "Type S: wrong sign", "Share of wrong signs among significant estimates"
    ),
}


def level_words(drawn: Drawn, target: float) -> str:
    """The legend of the line to compare with: the target, or no exaggeration; '' where there is none."""
    return {"power": f"power {target:g}", "type-m": "no exaggeration", "type-s": ""}[drawn]


def known_rows(rows: Iterable[Mapping[str, Any]], drawn: Drawn) -> list[Mapping[str, Any]]:
    """The cells that have what is drawn: without an effect there is no exaggeration and no wrong sign."""
    return [row for row in rows if math.isfinite(float(row[QUANTITIES[drawn].column]))]


Prose = Callable[[str], str]
_BREAK = "\x1f"  # a line break of a template; in a name it would be a space

# Around what opens and ends a passage nothing breaks, so that one may stand within a sentence of another.
_NO_BREAK = re.compile(rf"{{% (?:macro|set) [^%]*%}}{_BREAK}|{_BREAK}{{% endmacro %}}")


def prose_of(package: str, template: str, **facts: object) -> Prose:
    """What writes a passage of the template by its name.

    A line break of a template is a space, as in Markdown; what is missing in it is an error. Names are written as
    they are: what renders the passage escapes them.
    """
    passages = _environment(package).get_template(template).make_module(facts)

    def written(passage: str) -> str:
        text = str(getattr(passages, passage)())
        return re.sub(f"{_BREAK}+", " ", text.strip(_BREAK))

    return written


@cache
def _environment(package: str) -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    def source(template: str) -> str:
        text = files(package).joinpath("templates", template).read_text(encoding="utf-8")
        lines = _BREAK.join(filter(None, map(str.strip, text.splitlines())))
        return _NO_BREAK.sub(lambda match: match[0].strip(_BREAK), lines)

    environment = Environment(loader=FunctionLoader(source), undefined=StrictUndefined, autoescape=False)
    filters: dict[str, Callable[..., str]] = {
        "n": "{:,}".format,
        "g": "{:g}".format,
        "estimated": lambda value: with_minus(estimated(value)),
        "in_words": in_words,
        "plain": plain,
        "share": share,
        "signed": signed,
        "with_minus": with_minus,
    }
    environment.filters |= filters
    return environment
