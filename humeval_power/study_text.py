"""A study as text: the file with what each field is for, its schema for editors, plain values for records."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import date, time
from decimal import Decimal
from textwrap import wrap
from typing import Any

from humeval_power.study import FIELDS, SCHEMA, SECTIONS, in_file

_WIDTH = 100  # of a line of remarks


def study_text(values: Mapping[str, Any], *, why: Mapping[str, str] | None = None) -> str:
    """The file that says these values: section by section, each with what it is for.

    why : where the value of a field comes from, for its remark.
    """
    lines = [f'schema = "{SCHEMA}"']
    for section, group in SECTIONS.items():
        mine = [name for name in values if FIELDS[name].section == section and values[name] is not None]
        if not mine:
            continue
        lines += ["", f"[{section}]  # {group.title}"]
        for name in sorted(mine, key=list(FIELDS).index):
            lines += entry(name, values[name], (why or {}).get(name, ""))
    return "\n".join(lines) + "\n"


def entry(name: str, value: Any, reason: str = "") -> list[str]:
    """The lines of one field: what it is for, and its value."""
    one = FIELDS[name]
    choices = f" One of {', '.join(one.kind.choices)}." if one.kind.choices else ""
    unit = f" ({one.unit})" if one.unit else ""
    remark = f"{in_file(one.full_help)}{choices}{unit}{f' Here: {reason}' if reason else ''}"
    return [
        *wrap(remark, _WIDTH, initial_indent="# ", subsequent_indent="# "),
        f"{name} = {toml_value(value)}",
    ]


def toml_value(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(name)} = {toml_value(one)}" for name, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, str):  # a TOML string escapes what JSON does, and the delete character
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def _key(name: Any) -> str:
    return str(name) if re.fullmatch(r"[A-Za-z0-9_-]+", str(name)) else toml_value(str(name))


def schema() -> dict[str, Any]:
    """The JSON schema of the file."""
    sections: dict[str, Any] = {
        section: {
            "type": "object",
            "title": group.title,
            "additionalProperties": False,
            "properties": field_schemas(name for name, one in FIELDS.items() if one.section == section),
        }
        for section, group in SECTIONS.items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA,
        "title": "study.toml of humeval_power",
        "type": "object",
        "required": ["schema"],
        "additionalProperties": False,
        "properties": {"schema": {"const": SCHEMA}, **sections},
    }


def field_schemas(names: Iterable[str]) -> dict[str, Any]:
    """The JSON schemas of fields, by their names."""
    schemas = {}
    for name in names:
        one = FIELDS[name]
        schemas[name] = {
            **one.kind.json,
            "description": in_file(one.full_help) + (f" Unit: {one.unit}." if one.unit else ""),
            **({} if one.usual in (None, "") else {"default": _json(one.usual)}),
        }
    return schemas


def _json(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


def plain(value: Any) -> Any:
    """A value as a record holds it; an amount that a number of 64 bits cannot hold stays a text."""
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, Decimal):
        number = float(value)
        return number if Decimal(repr(number)) == value else f"{value:f}"
    return value
