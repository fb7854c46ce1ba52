"""A document as one HTML file: works offline, on a phone, on paper, in the dark, by keyboard and screen reader."""

from __future__ import annotations

import base64
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from humeval_power.safe_text import one_line, visible
from humeval_power.saying.document import NUMBERS_FROM, READ_FIRST, Document, Picture, Section

_MOST_COLUMNS = 9  # of a table with labelled columns that still fits a page
_LONGEST_FIRST = 12  # characters of what is set as large as a first number: "82 of 100", "57.60 USD"


def as_html(document: Document) -> str:
    """The document as a page without links or requests; its pictures are inside.

    Only a page with a table has scripts: a few lines that sort its rows by a click and find one in a long table;
    nothing else needs them.
    """
    return _environment().get_template("page.html").render(document=document)


def as_html_part(document: Document) -> str:
    """The same without head and style, for a page that has a style of its own."""
    return _environment().get_template("part.html").render(document=document)


def as_html_beside(document: Document) -> str:
    """The same with its first number in front, what would change the answer in sight, and the rest folded below."""
    # in sight are the charts of sections without a title, and the first with one
    titled = [section for section in document.all_sections if section.title]
    blocks = [block for section in document.all_sections if not section.title for block in section.blocks]
    charts = tuple(block for block in blocks if isinstance(block, Picture))
    shown = [Section("", charts)] if charts else []
    numbers = tuple(block for block in blocks if not isinstance(block, Picture))
    folded = [Section("Numbers and method", numbers)] if numbers else []
    template = _environment().get_template("beside.html")
    return template.render(document=document, shown=[*shown, *titled[:1]], folded=[*titled[1:], *folded])


def _shows(section: Section) -> str:
    """What a folded section shows: the words of its first chart, which are its headline; not those of a picture,
    which describe it to who cannot see it."""
    pictures = (each for each in section.blocks if isinstance(each, Picture))
    return next((each.words for each in pictures if type(each) is not Picture), "")


def _data_uri(picture: Picture) -> str:
    """As an image: what stands in it cannot act on the page."""
    return f"data:image/svg+xml;base64,{base64.b64encode(picture.content('svg')).decode()}"


def as_notebook(document: Document) -> str:
    """The same as the output of a cell: small, with a style that reaches nothing else in the notebook."""
    return _environment().get_template("notebook.html").render(document=document)


@cache
def _environment() -> Environment:
    environment = safe_environment("humeval_power.saying.render")
    environment.globals |= {"read_first": READ_FIRST, "numbers_from": NUMBERS_FROM}
    environment.filters["data_uri"] = _data_uri
    environment.filters["svg"] = lambda chart: Markup(chart.svg())
    environment.filters["parts"] = lambda table: table.parts(lambda part: len(part.header) <= _MOST_COLUMNS)
    environment.filters["joined"] = ". ".join
    environment.filters["shows"] = _shows
    environment.tests["first_number"] = lambda text: len(text) <= _LONGEST_FIRST
    environment.tests["drawn"] = lambda block: hasattr(block, "svg")
    environment.tests["block"] = lambda block, kind: type(block).__name__ == kind
    return environment


# Templates that escape all text: one environment for documents and for the pages around them.


def safe_environment(package: str) -> Environment:
    """The templates of a package, in which all text is escaped, on one line, with what cannot be seen as a code.

    What was marked as safe stays as it is; the filter `lines` keeps the lines of a text.
    """
    environment = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["lines"] = lambda text: Markup("\n").join(map(visible, text.split("\n")))
    return environment


def _shown(value: Any) -> Any:
    return one_line(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
