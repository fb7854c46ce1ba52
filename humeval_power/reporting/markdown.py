"""A checklist as Markdown that survives any name in it."""

from __future__ import annotations

import re

from humeval_power.reporting.checklist_items import Checklist, ChecklistItem, ReportTable

# Whatever Markdown, or the HTML inside it, could read as more than a character. An interval such as
# [0, 1] and the underscores inside a name are left as they are: nothing acts on them.
_SPECIAL = re.compile(
    r"(?P<plain>\[0, 1\](?![\[(:])|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9]))"
    r"|[\\`*_\[\]<|~$]|&(?=[#A-Za-z0-9]+;)|^(?:[#>]|[+=-](?=[\s=-]|$)|\d+(?=[.)](?:\s|$)))"
)
_LEGEND = (
    "`[x]` is filled from the documents named; `[ ]` is **open**: only the authors can answer it. "
    "Items follow the recommendations of Card et al. (2020), section 6."
)


def as_markdown(checklist: Checklist) -> str:
    """The checklist as GitHub-flavoured Markdown: task lists, and a table where an item has one."""
    blocks = [
        f"# {escaped(checklist.title)}",
        f"{_LEGEND}\n\n{_score(checklist)}",
    ]
    if checklist.caveats:
        blocks.append(
            "## Read this first\n\n" + "\n".join(f"- {escaped(text)}" for text in checklist.caveats)
        )
    for section in checklist.sections:
        items = [_item(item) for item in checklist.items if item.section == section]
        blocks.append(f"## {escaped(section)}\n\n" + "\n".join(items))
    if checklist.provenance:
        lines = [f"- {escaped(name)}: {escaped(value)}" for name, value in checklist.provenance]
        blocks.append("## Where the numbers come from\n\n" + "\n".join(lines))
    return "\n\n".join(block.strip() for block in blocks) + "\n"


def escaped(text: str) -> str:
    """Text on one line, with every character that Markdown could act on made plain."""
    return _SPECIAL.sub(_backslashed, " ".join(text.split()))


def _backslashed(found: re.Match[str]) -> str:
    if found["plain"] is not None:
        return found[0]
    return f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}"


def _score(checklist: Checklist) -> str:
    n_items = len(checklist.items)
    return f"**{n_items - checklist.n_open} of {n_items} items filled, {checklist.n_open} open.**"


def _item(item: ChecklistItem) -> str:
    box = "[x]" if item.state == "filled" else "[ ]"
    text = f"- {box} **{escaped(item.question)}**"
    if item.answer:
        text += f": {escaped(item.answer)}"
    if item.source:
        text += f" *({escaped(item.source)})*"
    if item.state == "open":
        text += f"\\\n  **Open.** {escaped(item.advice or '')}".rstrip()
    if item.table is not None:
        text += "\n\n" + _indented(markdown_table(item.table)) + "\n"
    return text


def markdown_table(table: ReportTable) -> str:
    """A table of GitHub-flavoured Markdown under its caption."""
    header = tuple(map(escaped, table.header))
    lines = [_row(header), _row(("---",) * len(table.header)), *map(_row, _escaped_rows(table))]
    return "\n".join([*([f"{escaped(table.caption)}\n"] if table.caption else []), *lines])


def _escaped_rows(table: ReportTable) -> list[tuple[str, ...]]:
    return [tuple(escaped(cell) for cell in row) for row in table.rows]


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cells) + " |"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else line for line in text.split("\n"))
