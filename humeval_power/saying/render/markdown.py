"""A document as GitHub-flavoured Markdown, which shows any name as it is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from humeval_power.safe_text import markdown_code, markdown_text, visible
from humeval_power.saying.document import (
    NUMBERS_FROM,
    READ_FIRST,
    Block,
    Document,
    Facts,
    FormLine,
    Listing,
    Paragraph,
    Picture,
    Points,
    Table,
)


def as_markdown(document: Document, *, pictures: bool = False) -> str:
    """The document, without its pictures: their numbers are in its tables.

    pictures : show them, as files beside it: the name of each and .png.
    """
    return "\n\n".join(block for block in _blocks(document, pictures) if block) + "\n"


def _blocks(document: Document, pictures: bool) -> Iterator[str]:
    yield f"# {markdown_text(document.title)}"
    yield markdown_text(document.lead)
    yield "\n".join(
        f"- {markdown_text(label)}: **{markdown_text(text)}**" for label, text in document.headline
    )
    if document.caveats:
        yield f"## {READ_FIRST}"
        yield _points(document.caveats)
    for section in document.all_sections:
        blocks = [each for each in section.blocks if pictures or not isinstance(each, Picture)]
        shown = [text for text in map(_block, blocks) if text]
        if shown and section.title:
            yield f"## {markdown_text(section.title)}"
        yield from shown
    if document.signature:
        yield "## Signature"
        yield markdown_code(document.signature)
    if document.provenance:
        yield f"## {NUMBERS_FROM}"
        yield _facts(document.provenance)


def _block(block: Block) -> str:
    match block:
        case Facts(lines):
            return _facts(lines)
        case Paragraph(text):
            return markdown_text(text)
        case Points(points):
            return _points(points)
        case Listing(text):
            return "\n".join(f"    {visible(line)}" for line in text.split("\n"))
        case Table():
            return markdown_table(block)
        case FormLine():
            return _field(block)
        case Picture(name=name, words=words, caption=caption):
            image = f"![{markdown_text(words)}]({name}.png)"
            return f"{image}\n\n{markdown_text(caption)}" if caption else image


def markdown_table(table: Table) -> str:
    """A table under its caption; numbers are set to the right, a total in bold."""
    if table.spans:  # there are no labels above columns: each has a table of its own
        parts = table.parts()
        named = [
            f"**{markdown_text(part.spans[0][0])}**\n\n{markdown_table(replace(part, spans=()))}"
            for part in parts
        ]
        return "\n\n".join(named)
    numbers = table.numbers
    width = len(table.header) or max(map(len, table.rows), default=0)
    marks = ["--:" if column in numbers else "---" for column in range(width)]
    rows = [[markdown_text(cell) for cell in row] for row in table.rows]
    if table.has_total and rows:
        rows[-1] = [f"**{cell}**" if cell else "" for cell in rows[-1]]
    header = [markdown_text(name) for name in table.header] or [""] * width
    lines = "\n".join(f"| {' | '.join(line)} |" for line in (header, marks, *rows))
    return f"{markdown_text(table.caption)}\n\n{lines}" if table.caption else lines


def _facts(lines: tuple[tuple[str, str], ...]) -> str:
    texts: list[str] = []
    for label, text in lines:
        if label or not texts:
            texts.append(
                f"- {markdown_text(label)}: {markdown_text(text)}" if label else f"- {markdown_text(text)}"
            )
        else:
            end = "" if texts[-1].endswith((".", ":", ";", ",")) else ";"
            texts[-1] += f"{end} {markdown_text(text)}"
    return "\n".join(texts)


def _points(points: tuple[str, ...]) -> str:
    return "\n".join(f"- {markdown_text(point)}" for point in points)


def _field(field: FormLine) -> str:
    box = "[x]" if field.state == "filled" else "[ ]"
    text = f"- {box} **{markdown_text(field.question)}**"
    if field.answer:
        text += f": {markdown_text(field.answer)}"
    if field.source:
        text += f" *({markdown_text(field.source)})*"
    if field.state != "filled":
        text += f"\\\n  **{field.state.capitalize()}.** {markdown_text(field.advice)}".rstrip()
    if field.table is not None:
        lines = markdown_table(field.table).split("\n")
        text += "\n\n" + "\n".join(f"  {line}" if line else line for line in lines)
    return text
