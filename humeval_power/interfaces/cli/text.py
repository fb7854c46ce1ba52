"""Plain tables for the terminal: aligned columns within 80 columns of the screen."""

from __future__ import annotations

from collections.abc import Sequence

from humeval_power.safe_text import cut, display_width, padded
from humeval_power.safe_text.visible import one_cell

WIDTH = 80


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, indent: str = "  ") -> str:
    """Lines of aligned columns: the first column to the left, the others to the right.

    The first column is shortened where the table would be wider than the screen. An empty header
    leaves the header line out.
    """
    lines = [[one_cell(cell) for cell in line] for line in ([header, *rows] if header else rows)]
    if not lines:
        return ""
    widths = [max(display_width(line[column]) for line in lines) for column in range(len(lines[0]))]
    room = WIDTH - len(indent) - sum(width + 2 for width in widths[1:])
    widths[0] = min(widths[0], max(room, 8))
    return "\n".join(
        (
            indent
            + "  ".join(
                [
                    padded(cut(line[0], widths[0]), widths[0]),
                    *(
                        padded(cell, width, right=True)
                        for cell, width in zip(line[1:], widths[1:], strict=True)
                    ),
                ]
            )
        ).rstrip()
        for line in lines
    )
