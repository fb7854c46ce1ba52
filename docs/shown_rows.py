"""What a page shows of a long table: the rows that decide something. The script of the table prints them all."""

from __future__ import annotations

import re


def shown_rows(table: str, rows: str) -> str:
    """The Markdown table, with what stands around it, without the rows that the pattern `rows` does not find."""
    lines = table.split("\n")
    heads = [number for number, line in enumerate(lines) if re.fullmatch(r"\|[\s|:-]*-[\s|:-]*\|", line)]
    first = heads[0] + 1
    return "\n".join(
        line
        for number, line in enumerate(lines)
        if number < first or not line.startswith("|") or re.search(rows, line)
    )
