"""study.toml: read with every problem at its line, written with what each field is for, schema for editors.

A study file is no program: nothing in it is imported, expanded or fetched.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from textwrap import wrap
from typing import Any

from humeval_power.errors import InputError, Problem
from humeval_power.fields import Kind
from humeval_power.interfaces.formats.file_bytes import read_text
from humeval_power.interfaces.formats.toml_text import toml_lines, toml_values
from humeval_power.study import FIELDS, SCHEMA, SECTIONS, exclusive, near

COMPARISON_SCHEMA = "humeval_power/compare_config/1"
_HINT = "'humeval-power start -o study.toml' writes such a file."
_WIDTH = 100  # of a line of remarks
_WRITTEN = ("plan", "assignment", "key", "ledger", "rehearsal", "findings")  # files that commands write
_MOST_NAMES = 10_000  # of one list: of systems, criteria, files


@dataclass(frozen=True)
class StudyFile:
    """What a file says: values by the names of fields, and where each stands, for errors."""

    path: str
    values: Mapping[str, Any]
    places: Mapping[str, str] = field(default_factory=dict)


# The study that a call of Python is about, for the command that answers it.
ABOUT: ContextVar[StudyFile | None] = ContextVar("about", default=None)


def read_study(path: str | Path) -> StudyFile:
    """A study file, or the study in a record that a command wrote.

    Raises
    ------
    InputError
        Every problem at once, with line, section and key.
    """
    path = str(path)
    written = read_text(path, hint=_HINT)
    if Path(path).suffix.lower() == ".json":
        return _of_record(path, written)
    tables = toml_values(written, place=path, hint=_HINT, parse_float=Decimal)
    lines = toml_lines(written)
    problems = _schema_problems(tables.pop("schema", None), path, lines.get(("schema",)))
    if problems:
        raise InputError(problems)
    values: dict[str, Any] = {}
    places: dict[str, str] = {}
    for section, table in tables.items():
        if not isinstance(table, Mapping):
            place = _place(path, lines.get((section,)), "", section)
            remedy = f"Move it into [{FIELDS[section].section}]." if section in FIELDS else near(section)
            problems.append(Problem("stands in no section.", remedy, place=place))
            continue
        if section not in SECTIONS:
            place = _place(path, lines.get((section,)), section, "")
            problems.append(Problem("there is no such section.", _near_section(section), place=place))
            continue
        for key, value in table.items():
            place = _place(path, lines.get((section, key)) or lines.get((section,)), section, key)
            wrong = _wrong(section, key, value)
            if wrong is not None:
                problems.append(Problem(*wrong, place=place))
                continue
            values[key], places[key] = _beside(path, value, FIELDS[key].kind), place
    problems += [Problem(_in_file(why), "", place=path) for why in exclusive(values)]
    if problems:
        raise InputError(problems)
    return StudyFile(path, values, places)


def _of_record(path: str, written: str) -> StudyFile:
    """The study that a record holds: what a command was asked, every field of it."""
    from humeval_power.interfaces.formats.json_text import parse_json

    found = parse_json(written, place=path)
    values = found.get("study") if isinstance(found, dict) else None
    if not isinstance(values, Mapping):
        rule = "holds no study: only the records of commands that read one do."
        raise InputError([Problem(rule, _HINT, place=path)])
    problems = []
    for key, value in values.items():
        wrong = _wrong(FIELDS[key].section if key in FIELDS else "", key, value)
        if wrong is not None:
            problems.append(Problem(*wrong, place=f"{path}, study.{key}"))
    if problems:
        raise InputError(problems)
    return StudyFile(path, dict(values), {key: f"{path}, study.{key}" for key in values})


def _schema_problems(schema: object, path: str, line: int | None) -> list[Problem]:
    if schema == SCHEMA:
        return []
    place = f"{path}, line {line}, schema" if line else path
    if schema is None:
        return [
            Problem("is no study file.", f'Its first line is schema = "{SCHEMA}". {_HINT}', place=place)
        ]
    if schema == COMPARISON_SCHEMA:
        rule = "holds the options of a comparison of scores, and no study."
        return [Problem(rule, f"'humeval-power compare scores --config {path}' reads it.", place=place)]
    shown = json.dumps(str(schema)[:60])
    return [Problem(f"is {shown}; a study file has {json.dumps(SCHEMA)}.", _HINT, place=place)]


def _place(path: str, line: int | None, section: str, key: str) -> str:
    where = f"[{section}] {key}" if section else key
    return f"{path}, line {line}, {where}".rstrip() if line else f"{path}, {where}".rstrip()


def _near_section(section: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(section, SECTIONS, 1)
    return f"Did you mean [{close[0]}]?" if close else f"The sections are {', '.join(SECTIONS)}."


def _wrong(section: str, key: str, value: Any) -> tuple[str, str] | None:
    """What is wrong with a key and its value: the rule, and the remedy."""
    if key not in FIELDS:
        return "there is no such key.", near(key)
    one = FIELDS[key]
    if one.section != section:
        return f"is a key of [{one.section}].", "Move it there."
    if one.kind.is_number and isinstance(value, str):
        return f"is a text: {json.dumps(value[:40])}.", "Write the number without quotes."
    if isinstance(value, list) and len(value) > _MOST_NAMES:
        return f"is a list of {len(value):,}; at most {_MOST_NAMES:,} are read.", ""
    if one.kind.is_file and any(not _is_name(each) for each in _each(value)):
        return "must be the name of a file, in quotes.", ""
    if key in _WRITTEN and any(os.path.isabs(each) or ".." in Path(each).parts for each in _each(value)):
        return "must lie in the folder of the study, since commands write it.", "Name a file below it."
    try:
        one.kind.read(value)
    except ValueError as error:
        return str(error), ""
    return None


def _each(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list) else [value]


def _is_name(value: Any) -> bool:
    """Whether it can be the name of a file that a study file may name: no standard input, no address."""
    return (
        isinstance(value, str)
        and bool(value.strip())
        and value != "-"
        and "\0" not in value
        and not re.match(r"[a-z][a-z0-9+.-]*://", value, re.IGNORECASE)
    )


def _beside(path: str, value: Any, kind: Kind) -> Any:
    """Files that a file names lie beside it."""
    if not kind.is_file:
        return value
    folder = Path(path).parent
    found = [os.path.normpath(folder / each) for each in _each(value)]
    return found if isinstance(value, list) else found[0]


def _in_file(message: str) -> str:
    """A message about options, in the words of a file."""
    return re.sub(r"--([a-z][a-z-]*[a-z])", lambda found: found[1].replace("-", "_"), message)


# -- writing -------------------------------------------------------------------------------------------------------


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
            lines += _entry(name, values[name], (why or {}).get(name, ""))
    return "\n".join(lines) + "\n"


def _entry(name: str, value: Any, reason: str) -> list[str]:
    one = FIELDS[name]
    choices = f" One of {', '.join(one.kind.choices)}." if one.kind.choices else ""
    unit = f" ({one.unit})" if one.unit else ""
    remark = f"{_in_file(one.help)}{choices}{unit}{f' Here: {reason}' if reason else ''}"
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
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, str):  # a TOML string escapes what JSON does, and the delete character
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def _key(name: Any) -> str:
    return str(name) if re.fullmatch(r"[A-Za-z0-9_-]+", str(name)) else json.dumps(str(name))


def with_values(written: str, values: Mapping[str, Any]) -> str:
    """The text of a study file with these values; the reader's remarks, order and other lines stay.

    A key that is there gets the new value on its line; another is added at the end of its section, or in a new one.
    """
    lines = written.split("\n")
    for name, value in values.items():
        section = FIELDS[name].section
        known = toml_lines("\n".join(lines))
        entry = f"{name} = {toml_value(value)}"
        at = known.get((section, name))
        if at is not None:
            last = _end_of_value(lines, at - 1)
            remark = _remark(lines[last])
            lines[at - 1 : last + 1] = [entry + (f"  {remark}" if remark else "")]
            continue
        here = known.get((section,))
        if here is None:
            while lines and not lines[-1].strip():
                lines.pop()
            lines += ["", f"[{section}]  # {SECTIONS[section].title}", *_entry(name, value, ""), ""]
            continue
        later = [at for path, at in known.items() if len(path) == 1 and at > here]
        end = min(later) - 1 if later else len(lines)
        while end > here and not lines[end - 1].strip():
            end -= 1
        lines[end:end] = _entry(name, value, "")
    return "\n".join(lines)


def _end_of_value(lines: list[str], first: int) -> int:
    """The last line of the value that begins on a line: a list may go over several."""
    import tomllib

    for last in range(first, len(lines)):
        try:
            tomllib.loads("\n".join(lines[first : last + 1]))
        except ValueError:
            continue
        return last
    return first


def _remark(line: str) -> str:
    """The remark at the end of a line whose value is no text with a mark in it."""
    import tomllib

    for found in re.finditer("#", line):
        try:
            tomllib.loads(line[: found.start()])
        except ValueError:
            continue
        return line[found.start() :]
    return ""


# -- for editors ---------------------------------------------------------------------------------------------------


def schema() -> dict[str, Any]:
    """The JSON schema of the file."""
    sections: dict[str, Any] = {
        section: {
            "type": "object",
            "title": group.title,
            "additionalProperties": False,
            "properties": {
                name: {
                    **one.kind.json,
                    "description": _in_file(one.help) + (f" Unit: {one.unit}." if one.unit else ""),
                    **({} if one.usual in (None, "") else {"default": _json(one.usual)}),
                }
                for name, one in FIELDS.items()
                if one.section == section
            },
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


def _json(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


def plain(value: Any) -> Any:
    """A value as a record holds it."""
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return float(value) if isinstance(value, Decimal) else value
