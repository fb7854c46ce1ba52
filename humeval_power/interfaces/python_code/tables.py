"""How a table of ratings is read, as arguments of `hp.read_ratings` and its like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from humeval_power.interfaces.python_code.caller import Caller
from humeval_power.interfaces.python_code.expressions import Code, Value, call, stated
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import Typed

_COLUMNS = ("worker", "item", "system", "rating", "criterion_column", "criterion")
_STRUCTURE = ("document", "covariates", "order_column")
_NAMED_BY_FORMULA = ("worker", "item", "system", "rating", "document", "covariates")


def reading_of(typed: Typed, scale: Value = None) -> dict[str, Value]:
    """The arguments beside the path; `scale` is the name of the typed one, where it has one."""
    systems, missing = typed["systems"], typed["missing"]
    named: dict[str, Value] = {"scale": typed["scale"] if scale is None else scale}
    named.update({name: typed[name] for name in _COLUMNS})
    named["systems"] = None if systems is None or len(systems) > 2 else list(systems)
    named["lower_is_better"] = True if typed["lower_is_better"] else None
    if missing:
        named["missing"] = [Code("*hp.models.MISSING_CODES"), *missing]
    named["rejected_rows"] = typed["rejected_rows"]
    for name in _STRUCTURE:
        if typed[name]:
            named[name] = typed[name] if isinstance(typed[name], str) else list(typed[name])
    return stated(named)


def ratings_of(
    typed: Typed,
    calls: Caller | Source,
    *,
    reader: str = "hp.read_ratings",
    more: Mapping[str, Value] | None = None,
    named: str = "ratings",
) -> Any:
    """The ratings of the file, under a name; a formula names its columns where there is one.

    more : further arguments of the reader
    """
    path = str(typed["file"])
    if path == "-":
        calls.no_program("standard input is read once")
    arguments = {**reading_of(typed), **(more or {})}
    formula = typed["formula"]
    if formula is None:
        return calls.let(named, call(reader, path, **arguments))
    typed.refuse(["order_column"], "beside a formula, which names the covariates")
    model = calls.let("model", call("hp.model_formula", formula))
    rest = {name: one for name, one in arguments.items() if name not in _NAMED_BY_FORMULA}
    read = replace(call(reader, path, **rest), spread=calls.attribute(model, "columns"))
    return calls.let(named, read)
