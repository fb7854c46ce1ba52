"""Expressions of Python, written so that every line fits a page and every text is quoted safely."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeAlias

WIDTH = 88
_INDENT = 4
_SHORTEST = 16  # a piece of a text that is broken over lines


@dataclass(frozen=True, slots=True)
class Code:
    """An expression that stands as it is: a name, an attribute, a sum."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function, or where there is an `on` of that object's method; `spread` is a mapping of further
    arguments by name."""

    function: str
    given: tuple[Value, ...] = ()
    named: Mapping[str, Value] = field(default_factory=dict)
    on: Code | Call | None = None
    spread: Value = None

    def method(self, name: str, *given: Value, **named: Value) -> Call:
        """A call of a method of what this gives."""
        return Call(name, given, stated(named), self)

    def attribute(self, name: str) -> Code:
        """What this gives has such an attribute; for calls that fit into a line."""
        return Code(f"{flat(self)}.{name}")


_Number: TypeAlias = "int | float | Decimal | range"
Value: TypeAlias = (
    "Code | Call | str | datetime.date | _Number | Sequence[Value] | Mapping[str, Value] | None"
)


def call(function: str, *given: Value, **named: Value) -> Call:
    """A call; arguments by name that are None are left to their default."""
    return Call(function, given, stated(named))


def stated(named: Mapping[str, Value]) -> dict[str, Value]:
    """The arguments that are stated: those that are not None."""
    return {name: value for name, value in named.items() if value is not None}


def quoted(text: str) -> str:
    """A text as a literal, in double quotes where it has none itself."""
    shown = ascii(text) if any("\ud800" <= one <= "\udfff" for one in text) else repr(text)
    if shown[0] == "'" and '"' not in shown:
        return f'"{shown[1:-1]}"'
    return shown


def flat(value: Value) -> str:
    """The expression on one line."""
    match value:
        case Code():
            return value.text
        case Call():
            return f"{_called(value)}({', '.join(_arguments(value))})"
        case str():
            return quoted(value)
        case Decimal():
            return quoted(f"{value:f}")
        case Mapping():
            return "{" + ", ".join(f"{quoted(name)}: {flat(one)}" for name, one in value.items()) + "}"
        case range():
            return repr(value)
        case datetime.date():
            return f"datetime.date({value.year}, {value.month}, {value.day})"
        case tuple():
            return "(" + ", ".join(map(flat, value)) + ("," if len(value) == 1 else "") + ")"
        case Sequence():
            return "[" + ", ".join(map(flat, value)) + "]"
    return repr(value)


def written(value: Value, *, indent: int = 0, before: int = 0, after: int = 0) -> str:
    """The expression over as many lines as it needs; `before` and `after` are how much of its first and last line
    is taken, beside the indent."""
    line = flat(value)
    if indent + before + len(line) + after <= WIDTH:
        return line
    if isinstance(value, Call) and isinstance(value.on, Call):
        method, inside = f".{value.function}(", ", ".join(_arguments(value))
        behind = len(method) + len(inside) + 1 + after
        return f"{written(value.on, indent=indent, before=before, after=behind)}{method}{inside})"
    parts, ends = list(_parts(value, indent + _INDENT)), _ends(value)
    if not parts:
        return _text_lines(value, indent) if isinstance(value, str) else line
    margin = " " * (indent + _INDENT)
    inner = line[len(ends[0]) : -len(ends[1])]
    if len(margin) + len(inner) <= WIDTH:
        return f"{ends[0]}\n{margin}{inner}\n{' ' * indent}{ends[1]}"
    inside = "".join(f"{margin}{part}\n" for part in parts)
    return f"{ends[0]}\n{inside}{' ' * indent}{ends[1]}"


def _called(value: Call) -> str:
    return value.function if value.on is None else f"{flat(value.on)}.{value.function}"


def _arguments(value: Call) -> Iterator[str]:
    yield from map(flat, value.given)
    for name, one in value.named.items():
        yield f"{name}={flat(one)}"
    if value.spread is not None:
        yield f"**{flat(value.spread)}"


def _ends(value: Value) -> tuple[str, str]:
    if isinstance(value, Call):
        return f"{_called(value)}(", ")"
    if isinstance(value, tuple):
        return "(", ")"
    return ("{", "}") if isinstance(value, Mapping) else ("[", "]")


def _parts(value: Value, indent: int) -> Iterator[str]:
    """What stands between the ends, a line or more each, with the comma behind it."""
    inside: list[tuple[str, Value]] = []
    if isinstance(value, Call):
        inside = [("", one) for one in value.given] + [
            (f"{name}=", one) for name, one in value.named.items()
        ]
        inside += [] if value.spread is None else [("**", value.spread)]
    elif isinstance(value, Mapping):
        inside = [(f"{written(name, indent=indent, after=2)}: ", one) for name, one in value.items()]
    elif isinstance(value, Sequence) and not isinstance(value, str | range):
        inside = [("", one) for one in value]
    for name, one in inside:
        before = len(name.rpartition("\n")[2])
        yield f"{name}{written(one, indent=indent, before=before, after=1)},"


def _text_lines(text: str, indent: int) -> str:
    """A long text as pieces that Python joins."""
    room = max(WIDTH - indent - _INDENT, _SHORTEST)
    pieces, start = [], 0
    while start < len(text):
        end = min(len(text), start + room)
        while end > start + 1 and len(quoted(text[start:end])) > room:
            end -= 1
        pieces.append(quoted(text[start:end]))
        start = end
    margin = " " * (indent + _INDENT)
    return "(\n" + "".join(f"{margin}{piece}\n" for piece in pieces) + " " * indent + ")"
