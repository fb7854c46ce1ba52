"""A table of ratings as it is read, as a call of `hp.read_ratings`."""

from __future__ import annotations

from typing import Any

from humeval_power.interfaces.python_code.caller import Caller
from humeval_power.interfaces.python_code.expressions import Code, Value, call
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import Typed

_COLUMNS = ("scale", "worker", "item", "system", "rating", "criterion_column", "criterion", "rejected_rows")


def ratings_of(typed: Typed, calls: Caller | Source, **further: Value) -> Any:
    """The ratings of the file, with further arguments of the reader."""
    path = str(typed["file"])
    if path == "-":
        calls.no_program("standard input is read once")
    systems, missing = typed["systems"], typed["missing"]
    named: dict[str, Value] = {name: typed[name] for name in _COLUMNS}
    named["systems"] = None if systems is None else list(systems)
    named["lower_is_better"] = True if typed["lower_is_better"] else None
    named["missing"] = [Code("*hp.models.MISSING_CODES"), *missing] if missing else None
    return calls.let("ratings", call("hp.read_ratings", path, **named, **further))
