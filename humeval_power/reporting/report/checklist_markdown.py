"""A checklist as Markdown that survives any name in it."""

from __future__ import annotations

from humeval_power.reporting.report.items import Checklist, ChecklistItem
from humeval_power.reporting.tables import markdown_table
from humeval_power.safe_text import markdown_text

_LEGEND = (
    "`[x]` is filled from the documents named; `[ ]` is **open**: only the authors can answer it. "
    "Items follow the recommendations of Card et al. (2020), section 6."
)


def as_markdown(checklist: Checklist) -> str:
    """The checklist as GitHub-flavoured Markdown: task lists, and a table where an item has one."""
    blocks = [
        f"# {markdown_text(checklist.title)}",
        f"{_LEGEND}\n\n{_score(checklist)}",
    ]
    if checklist.caveats:
        blocks.append(
            "## Read this first\n\n" + "\n".join(f"- {markdown_text(text)}" for text in checklist.caveats)
        )
    for section in checklist.sections:
        items = [_item(item) for item in checklist.items if item.section == section]
        blocks.append(f"## {markdown_text(section)}\n\n" + "\n".join(items))
    if checklist.provenance:
        lines = [f"- {markdown_text(name)}: {markdown_text(value)}" for name, value in checklist.provenance]
        blocks.append("## Where the numbers come from\n\n" + "\n".join(lines))
    return "\n\n".join(block.strip() for block in blocks) + "\n"


def _score(checklist: Checklist) -> str:
    n_items = len(checklist.items)
    return f"**{n_items - checklist.n_open} of {n_items} items filled, {checklist.n_open} open.**"


def _item(item: ChecklistItem) -> str:
    box = "[x]" if item.state == "filled" else "[ ]"
    text = f"- {box} **{markdown_text(item.question)}**"
    if item.answer:
        text += f": {markdown_text(item.answer)}"
    if item.source:
        text += f" *({markdown_text(item.source)})*"
    if item.state == "open":
        text += f"\\\n  **Open.** {markdown_text(item.advice or '')}".rstrip()
    if item.table is not None:
        text += "\n\n" + _indented(markdown_table(item.table)) + "\n"
    return text


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else line for line in text.split("\n"))
