"""What a figure of a surface draws of each cell: its power, or how wrong its significant estimates are.

Type M: how often too large they are on average; type S: the share of them with the wrong sign (Gelman and
Carlin 2014).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Drawn = Literal["power", "type-m", "type-s"]
Along = Literal["n", "effect"]  # what runs along x: of scenarios,
AlongStudy = Literal["items", "effect"]  # and of rating studies
NOTHING_WRONG = "Only a test for a difference that is there can exaggerate it, or turn its sign around."


@dataclass(frozen=True, slots=True)
class Quantity:
    """What is drawn, the columns that hold it and its interval, if it has one, and its words."""

    column: str
    label: str
    words: str
    band: tuple[str, str] | None = None


QUANTITIES: Mapping[Drawn, Quantity] = {
    "power": Quantity("power", "Power", "Power", ("power_low", "power_high")),
    "type-m": Quantity("type_m", "Type M: exaggeration", "Exaggeration of significant estimates (type M)"),
    "type-s": Quantity("type_s", "Type S: wrong sign", "Share of wrong signs among significant estimates"),
}


def level_words(drawn: Drawn, target: float) -> str:
    """The legend of the line to compare with: the target, or no exaggeration; '' where there is none."""
    return {"power": f"power {target:g}", "type-m": "no exaggeration", "type-s": ""}[drawn]


def known_rows(rows: Iterable[Mapping[str, Any]], drawn: Drawn) -> list[Mapping[str, Any]]:
    """The cells that have what is drawn: without an effect there is no exaggeration and no wrong sign."""
    return [row for row in rows if math.isfinite(float(row[QUANTITIES[drawn].column]))]
