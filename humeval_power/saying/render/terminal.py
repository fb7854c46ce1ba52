"""A document as lines of a terminal of any width from 60 characters."""

from __future__ import annotations

import re
from collections.abc import Sequence

from humeval_power.safe_text import WIDTH, cut, display_width, one_cell, padded, visible, wrapped
from humeval_power.saying.document import (
    READ_FIRST,
    Block,
    Document,
    Fact,
    Facts,
    FormLine,
    Listing,
    Paragraph,
    Picture,
    Points,
    Section,
    Table,
)

NARROWEST = 60
_INDENT = "  "
_WIDEST_LABEL = 24
_NARROWEST_NAME = 8  # characters to which the first column of a table is cut, at most


def as_terminal(document: Document, *, width: int = WIDTH, details: bool = False) -> str:
    """The document, without pictures and provenance; sections of details only where they are asked for.
    Raises ValueError: a width below 60."""
    if width < NARROWEST:
        raise ValueError(f"width must be at least {NARROWEST}; got {width}.")
    head = "\n".join(wrapped(text, width=width) for text in (document.title, document.lead) if text)
    parts = [head, fact_lines(document.headline, width=width)]
    if document.caveats:
        cautions = (wrapped(text, width=width, bullet=f"{_INDENT}- ") for text in document.caveats)
        parts.append("\n".join([READ_FIRST, *cautions]))
    for section in document.all_sections if details else document.sections:
        if details or not section.is_detail:
            parts.append(_section(section, width))
    if document.signature:
        parts.append(_signature(document.signature, width))
    return "\n\n".join(part for part in parts if part)


def _signature(text: str, width: int) -> str:
    """The line cut between its entries; joined again it is the signature."""
    lines, line = [], ""
    for entry in re.findall(r"[^|]*\|?", visible(text))[:-1]:
        if line and display_width(f"Signature  {line}{entry}") > width:
            lines.append(line)
            line = ""
        line += entry
    return "\n".join(
        ("           " if place else "Signature  ") + each for place, each in enumerate([*lines, line])
    )


def _section(section: Section, width: int) -> str:
    indent = _INDENT if section.title else ""
    shown = [text for block in section.blocks if (text := _block(block, width, indent))]
    if not shown:
        return ""
    # what is alike stands together; a paragraph or a table after something else is set apart
    body = (
        "\n".join(shown)
        if all(isinstance(b, FormLine | Points) for b in section.blocks)
        else "\n\n".join(shown)
    )
    return f"{wrapped(section.title, width=width)}\n{body}" if section.title else body


def _block(block: Block, width: int, indent: str) -> str:
    match block:
        case Facts(lines):
            return fact_lines(lines, width=width, indent=indent)
        case Paragraph(text):
            return wrapped(text, width=width, bullet=indent)
        case Points(points):
            return "\n".join(wrapped(point, width=width, bullet=f"{indent}- ") for point in points)
        case Listing(text):
            return "\n".join(f"{indent}{_INDENT}{visible(line)}" for line in text.split("\n"))
        case Table():
            return table_lines(block, width=width, indent=indent)
        case FormLine():
            return _field(block, width, indent)
        case Picture():
            return ""


def fact_lines(facts: Sequence[Fact], *, width: int = WIDTH, indent: str = "") -> str:
    """Labels to the left and what is said of them beside, below each other."""
    if not facts:
        return ""
    widest = min(max(display_width(one_cell(label)) for label, _ in facts), _WIDEST_LABEL) + 2
    lines = []
    for label, text in facts:
        if display_width(label) + 2 > widest:
            lines.append(indent + one_cell(label))
            label = ""
        lines.append(wrapped(text, width=width, bullet=indent + padded(one_cell(label), widest)))
    return "\n".join(line.rstrip() for line in lines)


def table_lines(table: Table, *, width: int = WIDTH, indent: str = "") -> str:
    """Aligned columns under a header. Where they are too wide the first is cut, and where that is not
    enough each row becomes a list of its cells; labelled columns go one below the other before."""
    if table.spans:
        parts = table.parts(lambda part: _least_width(part) <= width - len(indent))
        if len(parts) > 1:
            return "\n\n".join(table_lines(part, width=width, indent=indent) for part in parts)
    rows = [tuple(map(one_cell, row)) for row in table.rows]
    header = tuple(map(one_cell, table.header))
    caption = [wrapped(table.caption, width=width, bullet=indent)] if table.caption else []
    if table.in_words:
        facts = [(row[0], ". ".join(filter(None, row[1:]))) for row in rows]
        return "\n".join([*caption, fact_lines(facts, width=width, indent=indent)])
    lines = [header, *rows] if header else rows
    if not lines:
        return ""
    widths = _widths(table, lines)
    room = width - len(indent) - sum(each + 2 for each in widths[1:])
    if room < min(widths[0], _NARROWEST_NAME):
        return "\n".join([*caption, _folded(header, rows, width, indent)])
    widths[0] = min(widths[0], room)
    numbers = table.numbers
    body = [_row(line, widths, numbers, indent) for line in lines]
    if table.spans:
        body.insert(0, _labels(table, widths, indent))
    if table.has_total:
        body.insert(-1, indent + "-" * (sum(each + 2 for each in widths) - 2))
    return "\n".join([*caption, *body])


def _least_width(table: Table) -> int:
    """The columns that a table needs if its first one is shown whole."""
    lines = [tuple(map(one_cell, line)) for line in (table.header, *table.rows)]
    return sum(each + 2 for each in _widths(table, lines)) - 2


def _widths(table: Table, lines: Sequence[Sequence[str]]) -> list[int]:
    """What each column takes, those below a label together at least what that takes."""
    widths = [max(map(display_width, column)) for column in zip(*lines, strict=True)]
    last = 0
    for label, n in table.spans:
        first, last = last + 1, last + n
        short = display_width(one_cell(label)) - sum(each + 2 for each in widths[first : last + 1]) + 2
        widths[last] += max(short, 0)
    return widths


def _labels(table: Table, widths: Sequence[int], indent: str) -> str:
    """The labels of columns, each above the first that it is of."""
    line, start, place = indent, display_width(indent) + widths[0] + 2, 1
    for label, n in table.spans:
        room = sum(each + 2 for each in widths[place : place + n]) - 2
        line = padded(line, start) + cut(one_cell(label), room)
        start, place = start + room + 2, place + n
    return line.rstrip()


def _row(cells: Sequence[str], widths: Sequence[int], numbers: frozenset[int], indent: str) -> str:
    """A row; a first cell that is too wide goes on below."""
    names = (
        wrapped(cells[0], width=widths[0]).split("\n") if display_width(cells[0]) > widths[0] else cells[:1]
    )
    shown = [padded(cut(names[0], widths[0]), widths[0])]
    for place, (cell, room) in enumerate(zip(cells[1:], widths[1:], strict=True), start=1):
        left = " " * (room - display_width(cell)) if place in numbers else ""
        shown.append(left + cell if left else padded(cell, room))
    lines = [indent + "  ".join(shown), *(f"{indent}{_INDENT}{cut(name, widths[0])}" for name in names[1:])]
    return "\n".join(line.rstrip() for line in lines)


def _folded(header: Sequence[str], rows: Sequence[Sequence[str]], width: int, indent: str) -> str:
    blocks = []
    for row in rows:
        names = header[1:] if header else [""] * (len(row) - 1)
        facts = [(name, cell) for name, cell in zip(names, row[1:], strict=True) if cell]
        first = f"{header[0]} {row[0]}".strip() if header else row[0]
        blocks.append(
            f"{wrapped(first, width=width, bullet=indent)}\n"
            + fact_lines(facts, width=width, indent=indent + _INDENT)
        )
    return "\n".join(blocks)


def _field(field: FormLine, width: int, indent: str) -> str:
    box = {"filled": "[x]", "check": "[?]", "open": "[ ]"}[field.state]
    answer = f": {field.answer}" if field.answer else ""
    lines = [wrapped(f"{field.question}{answer}", width=width, bullet=f"{indent}{box} ")]
    if field.state != "filled" and field.advice:
        lines.append(wrapped(field.advice, width=width, bullet=f"{indent}    "))
    if field.table is not None:
        lines.append(table_lines(field.table, width=width, indent=f"{indent}    "))
    return "\n".join(lines)
