"""Values of parameter, power and surface documents, and numbers written as people read them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeAlias

from humeval_power.rules import DecisionRule
from humeval_power.saying.numbers import without_rounding
from humeval_power.scales import RatingScale

JsonRecord: TypeAlias = Mapping[str, Any]
NOTHING: JsonRecord = {}
SHORT_HASH = 8


def part(document: JsonRecord, *path: str) -> JsonRecord:
    """The mapping at `path`, empty where there is none."""
    for name in path:
        inner = document.get(name)
        document = inner if isinstance(inner, Mapping) else NOTHING
    return document


def number(document: JsonRecord, name: str) -> float | None:
    """A finite number, None where the document has none."""
    value = document.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def count(document: JsonRecord, name: str) -> str | None:
    """A whole number with thousands apart, None where there is none."""
    value = number(document, name)
    return None if value is None else f"{value:,.0f}"


def words(document: JsonRecord, name: str) -> str | None:
    """A text that is not blank, None where there is none."""
    value = document.get(name)
    return value if isinstance(value, str) and value.strip() else None


def listed(document: JsonRecord, name: str) -> tuple[Any, ...]:
    """The entries of a list, none where there is no list."""
    value = document.get(name)
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else ()


def bounds(document: JsonRecord, name: str) -> tuple[float, float] | None:
    """Two finite numbers, None where the document has not both."""
    ends = [number({"end": end}, "end") for end in listed(document, name)]
    if len(ends) != 2 or ends[0] is None or ends[1] is None:
        return None
    return ends[0], ends[1]


def cells(document: JsonRecord) -> list[dict[str, Any]]:
    """The cells of a surface or power document, each with its `difference` B - A on [0, 1].

    Cells that a comparison decided as the paper did, not by the document's own rule, are left out.
    """
    rows = [row for row in listed(document, "rows") if isinstance(row, Mapping)] or [document]
    unit = number(document, "effect_unit") or 1.0
    result = []
    for row in rows:
        effect, power = number(row, "effect"), number(row, "power")
        if effect is not None and power is not None and row.get("rule") != "card2020":
            difference = number(row, "difference")
            result.append({**row, "difference": effect * unit if difference is None else difference})
    return result


def rule_of(document: JsonRecord) -> DecisionRule | None:
    """The decision rule that a document states in full, None where it does not."""
    for stated in (part(document, "rule"), part(document, "effect", "rule")):
        if all(stated.get(name) is not None for name in ("estimator", "df", "alternative", "alpha")):
            names = (field.name for field in fields(DecisionRule))
            return DecisionRule(**{name: stated[name] for name in names if name in stated})
    return None


def scale_of(document: JsonRecord) -> RatingScale | None:
    """The rating scale, None where the document has none."""
    stated = part(document, "scale")
    low, high = number(stated, "low"), number(stated, "high")
    if low is None or high is None:
        return None
    points = number(stated, "points")
    return RatingScale(
        low,
        high,
        points=None if points is None else int(points),
        higher_is_better=stated.get("higher_is_better") is not False,
        source="declared" if stated.get("source") == "declared" else "inferred",
    )


def ratings_source(parameters: JsonRecord) -> str:
    """The name of the table of ratings, such as 'pilot.csv'."""
    return words(part(parameters, "data"), "source") or ""


def design_words(cell: JsonRecord) -> str:
    """'10 workers, 100 items, 3 ratings per item and system' for a cell."""
    per_item = number(cell, "ratings_per_item")
    each = "" if per_item is None else f", {per_item:.3g} ratings per item and system"
    return f"{count(cell, 'workers')} workers, {count(cell, 'items')} items{each}"


def plain(value: float) -> str:
    """Four significant digits."""
    return f"{without_rounding(value):.4g}"


def signed(value: float) -> str:
    """A stated difference with its sign, where it has one."""
    return f"{value:+.3g}" if without_rounding(value) else "0"


def estimated(value: float) -> str:
    """An estimate with its sign and three significant digits, trailing zeros kept."""
    return f"{without_rounding(value):+#.3g}".removesuffix(".")


def share(value: float) -> str:
    """A power or rate; the ends are not claimed for what is only close to them."""
    if 0 < value < 0.005:
        return "< 0.01"
    if 0.995 <= value < 1:
        return "> 0.99"
    return f"{math.floor(100 * value + 0.5 + 1e-9) / 100:.2f}"  # halves up, as in so many of 100
