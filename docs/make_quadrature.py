"""Nodes and weights of Gauss and Legendre's quadrature, to the last digit: `humeval_power/quadrature.py`.

python docs/make_quadrature.py      some seconds
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from pathlib import Path
from textwrap import fill

from humeval_power.quadrature import HALVES

MODULE = Path(__file__).resolve().parent.parent / "humeval_power" / "quadrature.py"
START, END = "# fmt: off\n", "# fmt: on\n"
DIGITS = 40  # of the arithmetic; a double has 17
WIDTH = 108  # of a line


def positive_half(n: int) -> tuple[list[float], list[float]]:
    """The nodes above 0 of the rule of n, even, ascending, and their weights."""
    found = [node_and_weight(n, place) for place in range(n // 2, 0, -1)]
    return [node for node, _ in found], [weight for _, weight in found]


def node_and_weight(n: int, place: int) -> tuple[float, float]:
    """The node at this place from the largest, from 1, and its weight: each the nearest double.

    Newton's method on the Legendre polynomial of degree n, from Tricomi's first approximation.
    """
    with localcontext(prec=DIGITS):
        x = Decimal(math.cos(math.pi * (place - 0.25) / (n + 0.5)))
        step = Decimal(1)
        while abs(step) > Decimal(10) ** (5 - DIGITS):
            value, slope = _legendre(n, x)
            step = value / slope
            x -= step
        _, slope = _legendre(n, x)
        return float(x), float(2 / ((1 - x * x) * slope * slope))


def _legendre(n: int, x: Decimal) -> tuple[Decimal, Decimal]:
    """The Legendre polynomial of degree n and its derivative."""
    before, value = Decimal(1), x
    for k in range(2, n + 1):
        before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
    return value, n * (before - x * value) / (1 - x * x)


def source() -> str:
    """The lines between `START` and `END`."""
    lines = ["HALVES: dict[int, tuple[tuple[float, ...], tuple[float, ...]]] = {"]
    for n in HALVES:
        nodes, weights = (fill(", ".join(map(repr, half)), WIDTH) for half in positive_half(n))
        lines += [f"{n}: ((", nodes, "), (", weights, ")),"]
    return "\n".join([*lines, "}", ""])


def main() -> None:
    before, _, rest = MODULE.read_text(encoding="utf-8").partition(START)
    _, _, after = rest.partition(END)
    MODULE.write_text(before + START + source() + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
