"""One table, and how Markdown, HTML and LaTeX write it."""

from __future__ import annotations

from dataclasses import dataclass

from humeval_power.safe_text import html_text, markdown_text
from humeval_power.safe_text.latex import latex_text


@dataclass(frozen=True, slots=True)
class Table:
    """A small table that belongs to an item; every row has one cell for each name in `header`."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""


def html_table(table: Table, name: str) -> str:
    """A table that scrolls by itself where it is wide; `name` is for screen readers."""
    head = "".join(f'<th scope="col">{html_text(cell)}</th>' for cell in table.header)
    rows = "".join("<tr>" + "".join(map(_html_cell, row)) + "</tr>" for row in table.rows)
    caption = f"<caption>{html_text(table.caption)}</caption>" if table.caption else ""
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{html_text(name)}"><table>{caption}'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _html_cell(text: str) -> str:
    is_number = text[:1].isdigit() or text[:1] in ("+", "-", "<", ">")
    return f'<td class="number">{html_text(text)}</td>' if is_number else f"<td>{html_text(text)}</td>"


def markdown_table(table: Table) -> str:
    """A table of GitHub-flavoured Markdown under its caption."""
    header = tuple(map(markdown_text, table.header))
    lines = [
        _markdown_row(header),
        _markdown_row(("---",) * len(table.header)),
        *map(_markdown_row, _escaped_rows(table)),
    ]
    return "\n".join([*([f"{markdown_text(table.caption)}\n"] if table.caption else []), *lines])


def _escaped_rows(table: Table) -> list[tuple[str, ...]]:
    return [tuple(markdown_text(cell) for cell in row) for row in table.rows]


def _markdown_row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cells) + " |"


def latex_table(table: Table, *, caption: str, label: str) -> str:
    """A floating table with the first column to the left and the others to the right."""
    columns = "l" + "r" * (len(table.header) - 1)
    lines = [_latex_row(table.header), "\\midrule", *map(_latex_row, table.rows)]
    body = "\n".join(lines)
    return (
        f"\\begin{{table}}[htbp]\n\\centering\n\\small\n\\begin{{tabular}}{{@{{}}{columns}@{{}}}}\n\\toprule\n"
        f"{body}\n\\bottomrule\n\\end{{tabular}}\n\\caption{{{latex_text(caption)}}}\n\\label{{{label}}}\n"
        "\\end{table}"
    )


def _latex_row(cells: tuple[str, ...]) -> str:
    return " & ".join(map(latex_text, cells)) + r" \\"
