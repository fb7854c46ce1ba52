"""Agreement of workers with each other and with themselves, as an analysis document states it: in the shape
of `agreement_record`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from humeval_power.reporting.values import Document, bounds, listed, number, part, words

Between = Literal["between", "within"]


def agreement_measures(study: Document, whose: Between) -> str | None:
    """The names of the measures, None where none was computed."""
    named = [name for entry in _entries(study, whose) if (name := words(entry, "measure"))]
    if named:
        return "; ".join(named) + "."
    return _not_assessed(study, whose)


def agreement_values(study: Document, whose: Between) -> str | None:
    """The values with their intervals, None where none was computed."""
    said = [text for entry in _entries(study, whose) if (text := _value(entry))]
    if said:
        return "; ".join(said) + "."
    return _not_assessed(study, whose)


def _entries(study: Document, whose: Between) -> list[Document]:
    return [entry for entry in listed(part(study, "agreement"), whose) if isinstance(entry, Mapping)]


def _value(entry: Document) -> str:
    name, value, interval = words(entry, "measure"), number(entry, "value"), bounds(entry, "interval")
    if name is None:
        return ""
    if value is None:
        reason = words(entry, "reason")
        return f"{name}: not defined" + (f" ({reason})" if reason else "")
    between = "" if interval is None else f" (interval {interval[0]:.3f} to {interval[1]:.3f})"
    return f"{name}: {value:.3f}{between}"


def _not_assessed(study: Document, whose: Between) -> str | None:
    """Known only of repeats: the table shows whether there were any."""
    if whose == "within" and number(part(study, "agreement"), "n_repeated") == 0:
        return "Not assessed: no worker rated the same output twice."
    return None
