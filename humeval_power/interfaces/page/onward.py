"""What an answer gives to the pages that it leads to: numbers of its record, and links in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from humeval_power.reporting.result import Result

SIZES = {"workers": "workers", "items": "items", "ratings_per_item": "ratings of each item"}


def numbers(command: tuple[str, ...], result: Result) -> tuple[tuple[str, str], ...]:
    """What the next forms can start from, as one would type it."""
    from humeval_power.interfaces.page.forms import FORMS

    form = FORMS.get(command)
    wanted = (
        {place for step in form.next for place in (*step.fills.values(), *step.needs)} if form else set()
    )
    if command == ("size",):
        wanted |= SIZES.keys()
    if not wanted:
        return ()
    content = result.content()
    found = {place: _at(content, place) for place in sorted(wanted)}
    return tuple((place, _typed(value)) for place, value in found.items() if value is not None)


def links(command: tuple[str, ...], result: Result) -> tuple[tuple[str, str], ...]:
    """The links in the rows of a record that need no file of an earlier row, with what they are for."""
    rows = result.content().get("rows") if command == ("start",) else None
    if not isinstance(rows, list):
        return ()
    return tuple(
        (row["link"], row["why"])
        for row in rows
        if isinstance(row, Mapping) and row.get("link") and not row.get("needs")
    )


def ways(command: tuple[str, ...], result: Result) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """The designs that a plan lets one choose among; where none reaches the target, the best there is."""
    if command != ("plan",):
        return ()
    content = result.content()
    rows = content.get("ways")
    found = [
        (row["name"], row["design"]) for row in (rows if isinstance(rows, list) else ()) if row["design"]
    ]
    best = content.get("chosen")
    return tuple(found) if found or not isinstance(best, Mapping) else (("best", best),)


def _typed(value: float) -> str:
    return f"{value:.0f}" if value.is_integer() else f"{value:.6g}"


def _at(content: object, place: str) -> float | None:
    """The number at a place of a record, such as "comparisons.0.n_items"; None where there is none."""
    for part in place.split("."):
        if isinstance(content, Sequence) and part.isdecimal() and int(part) < len(content):
            content = content[int(part)]
        elif isinstance(content, Mapping):
            content = content.get(part)
        else:
            return None
    if isinstance(content, bool) or not isinstance(content, int | float) or not math.isfinite(content):
        return None
    return float(content)
