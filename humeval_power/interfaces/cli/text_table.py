"""Plain tables for the terminal: aligned columns within 80 characters."""

from __future__ import annotations

from collections.abc import Sequence

WIDTH = 80


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, indent: str = "  ") -> str:
    """Lines of aligned columns: the first column to the left, the others to the right.

    The first column is shortened where the table would be wider than 80 characters. An empty header
    leaves the header line out.
    """
    lines = [list(header), *map(list, rows)] if header else [list(row) for row in rows]
    if not lines:
        return ""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    room = WIDTH - len(indent) - sum(width + 2 for width in widths[1:])
    widths[0] = min(widths[0], max(room, 8))
    return "\n".join(
        (indent + "  ".join([_left(line[0], widths[0]), *map(_right, line[1:], widths[1:])])).rstrip()
        for line in lines
    )


def _left(text: str, width: int) -> str:
    return (text if len(text) <= width else text[: width - 3] + "...").ljust(width)


def _right(text: str, width: int) -> str:
    return text.rjust(width)
