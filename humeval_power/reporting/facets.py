"""How a table of power becomes small multiples: what runs along x, what is a line, what is a panel."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import pandas as pd

from humeval_power.errors import InputError
from humeval_power.reporting.drawn import NOTHING_WRONG, QUANTITIES, AlongStudy, Quantity
from humeval_power.safe_text import picture_text

COLUMNS = (
    "setting",
    "workers",
    "items",
    "ratings_per_item",
    "effect",
    "power",
    "power_low",
    "power_high",
)
CREW = "crew"  # workers with their ratings per item, in words
CHARACTER = 0.078  # inches that a bold character of the titles takes, on the safe side


@dataclass(frozen=True, slots=True)
class Facets:
    """The column of the table that each visual variable shows; None where a variable is not needed."""

    x: str
    line: str | None
    column: str | None
    row: str | None


def prepared(table: pd.DataFrame, quantity: Quantity = QUANTITIES["power"]) -> pd.DataFrame:
    """The table with a column `crew`, sorted along every axis; settings keep the order they came in. Cells that
    do not have what is drawn are left out.

    Raises
    ------
    InputError
        Where the table is empty or lacks columns.
    """
    missing = [name for name in (*COLUMNS, quantity.column) if name not in table.columns]
    if missing:
        raise InputError(f"A table of power needs the columns {', '.join(COLUMNS)}; {_lacks(missing)}.")
    if table.empty:
        raise InputError("The table of power has no rows, so there is nothing to draw.")
    table = table[table[quantity.column].notna()]
    if table.empty:
        raise InputError(NOTHING_WRONG)
    order = {setting: rank for rank, setting in enumerate(dict.fromkeys(table["setting"]))}
    ranked = table.assign(_rank=table["setting"].map(order))
    ranked = ranked.sort_values(["_rank", "workers", "ratings_per_item", "items", "effect"], kind="stable")
    return ranked.drop(columns="_rank").assign(crew=_crews(ranked)).reset_index(drop=True)


def choose_facets(table: pd.DataFrame, along: AlongStudy | None = None) -> Facets:
    """Lines over effects in a panel for each setting and number of workers, as in Card et al.'s
    Figure 6; where there is one effect only, x is the next thing that varies. Along items, lines are effects."""
    varies = {name: table[name].nunique() > 1 for name in ("effect", "items", CREW, "setting")}
    column = "setting" if varies["setting"] else None
    if along == "items" and varies["effect"]:
        return Facets("items", "effect", *((CREW, column) if varies[CREW] else (column, None)))
    if varies["effect"]:
        if not varies[CREW]:
            return Facets("effect", "items", column, None)
        return Facets("effect", "items", CREW, column)
    if varies["items"]:
        return Facets("items", CREW, column, None)
    if varies[CREW]:
        return Facets(CREW, None, column, None)
    return Facets("setting", None, None, None)


def levels(table: pd.DataFrame, name: str | None) -> list[object]:
    """The different values of a column in the order of the table; items in rising order."""
    if name is None:
        return [None]
    values = list(dict.fromkeys(table[name].tolist()))
    return sorted(values) if name in ("items", "effect") else values


def pick(table: pd.DataFrame, **wanted: object) -> pd.DataFrame:
    """The rows in which each named column has the wanted value; None asks for nothing."""
    for name, value in wanted.items():
        if value is not None:
            table = table[table[name] == value]
    return table


def constants(table: pd.DataFrame, facets: Facets) -> str:
    """What is the same in every panel and must still be said, such as '10 workers, 100 items'."""
    shown = {facets.x, facets.line, facets.column, facets.row}
    said = []
    if CREW not in shown and table[CREW].nunique() == 1:
        said.append(str(table[CREW].iloc[0]))
    if "items" not in shown and table["items"].nunique() == 1:
        said.append(f"{table['items'].iloc[0]:,} items")
    if "effect" not in shown and table["effect"].nunique() == 1:
        said.append(f"difference {table['effect'].iloc[0]:g}")
    return ", ".join(said)


def fitted(name: object, room: float) -> str:
    """A name in at most two lines of `room` inches, shortened where it is longer still."""
    n_characters = max(8, int(room / CHARACTER))
    line = picture_text(str(name))
    return "\n".join(textwrap.wrap(line, n_characters, max_lines=2, placeholder="…")) or line


def _crews(table: pd.DataFrame) -> list[str]:
    """'10 workers' where everyone rates everything (k = workers), else '10 workers, 3 per item'."""
    return [
        f"{workers:,} workers"
        + ("" if workers == per_item else f", {per_item:g}\N{NO-BREAK SPACE}per\N{NO-BREAK SPACE}item")
        for workers, per_item in zip(table["workers"], table["ratings_per_item"], strict=True)
    ]


def _lacks(missing: list[str]) -> str:
    return f"this one lacks {', '.join(missing)}"
