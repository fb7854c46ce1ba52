"""Several options at once: added to a command together, and handed to it as one value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import wraps
from typing import Any, TypeVar, cast

Function = Callable[..., Any]
Collect = Callable[[dict[str, Any]], object]
Record = TypeVar("Record")


def decorated(command: Function, options: Iterable[Function]) -> Function:
    """The command with all options, listed by --help in the order given."""
    for option in reversed(tuple(options)):
        command = option(command)
    return command


def collected(command: Function, options: Iterable[Function], *, name: str, collect: Collect) -> Function:
    """The command with all options; what `collect` takes out of their values it gets as `name`.

    collect : removes what it reads from the values, which are handed on to the command
    """

    @wraps(command)
    def gathered(*args: Any, **values: Any) -> Any:
        found = collect(values)
        return command(*args, **{**values, name: found})

    return decorated(gathered, options)


def fields_of(record: type[Record]) -> Callable[[dict[str, Any]], Record]:
    """What makes such a record out of the values that bear the names of its fields."""
    names = [field.name for field in fields(cast(Any, record))]
    return lambda values: record(**{name: values.pop(name) for name in names})
