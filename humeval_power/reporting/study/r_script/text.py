"""Pieces of scripts of R: comments, numbers, formulas, and the table that they end with."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from humeval_power.safe_text import one_line

_WIDTH = 80


def heading(text: str) -> Iterator[str]:
    """The heading of a part of a script."""
    yield f"# {text} ".ljust(_WIDTH - 1, "-")
    yield ""


def table_lines(expected: Sequence[tuple[str, str, float]]) -> Iterator[str]:
    """A table of names, what R computes of each, and the numbers of the fit."""
    yield "compared <- rbind("
    for place, (name, code, value) in enumerate(expected):
        end = "" if place == len(expected) - 1 else ","
        yield f"  {name} = c(R = {code}, fit = {number(value)}){end}"
    yield ")"
    yield "print(compared, digits = 8)"


def number(value: float) -> str:
    """A number as R writes it, to 10 significant digits."""
    if math.isnan(value):
        return "NA"
    return f"{value:.10g}" if math.isfinite(value) else "Inf" if value > 0 else "-Inf"


def comment(text: str) -> Iterator[str]:
    """Text as lines of comment in ASCII, with codes for other letters; nothing in it that ends a line."""
    line = "#"
    for word in one_line(text).encode("ascii", "backslashreplace").decode().split(" "):
        if len(line) > 1 and len(line) + 1 + len(word) > _WIDTH:
            yield line
            line = "#"
        line += f" {word}"
    yield line


def assigned(name: str, response: str, terms: Sequence[str]) -> Iterator[str]:
    """An assignment of a formula, broken at its terms."""
    line = f"{name} <- {response} ~ {terms[0]}"
    for term in terms[1:]:
        if len(line) + len(term) + 5 > _WIDTH:
            yield f"{line} +"
            line = f"  {term}"
        else:
            line += f" + {term}"
    yield line
