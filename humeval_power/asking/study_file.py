"""study.toml: read with every problem at its line, written with what each field is for, schema for editors.

A study file is no program: nothing in it is imported, expanded or fetched.
"""

from __future__ import annotations

import json
import math
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from humeval_power.asking.config import SCHEMA as CONFIG_SCHEMA
from humeval_power.errors import InputError, Problem, StudyFileError
from humeval_power.fields import MONEY, Kind, shortened
from humeval_power.files.file_bytes import STANDARD_INPUT, read_text, toml_lines, toml_values
from humeval_power.study import FIELDS, SCHEMA, SECTIONS, exclusive, in_file, near
from humeval_power.study_text import entry, toml_value

_HINT = "'humeval-power start -o study.toml' writes such a file."
_WRITTEN = ("plan", "assignment", "key", "ledger", "rehearsal", "findings")  # files that commands write
WRITERS = {  # the command that writes a file of the study, where it is missing
    "plan": "plan",
    "assignment": "assign",
    "key": "assign",
    "ratings": "import",
    "parameters": "fit",
}
_MOST_NAMES = 10_000  # of one list: of systems, criteria, files
_MOST_PROBLEMS = 99  # that are told: of more a reader mends these first


@dataclass(frozen=True)
class StudyFile:
    """What a file says: values by the names of fields, and where each stands, for errors."""

    path: str
    values: Mapping[str, Any]
    places: Mapping[str, str] = field(default_factory=dict)
    text: str = ""


# The study that a call of Python is about, for the command that answers it.
ABOUT: ContextVar[StudyFile | None] = ContextVar("about", default=None)


def read_study(path: str | Path) -> StudyFile:
    """A study file, or the study in a record that a command wrote.
    Raises InputError: every problem at once, with line, section and key."""
    return parsed_study(str(path), read_text(path, hint=_HINT))


def parsed_study(path: str, written: str) -> StudyFile:
    """What the text of a study file, or of a record, says; `path` names it in errors, and its files lie beside it.
    Raises InputError: every problem at once, with line, section and key."""
    if Path(path).suffix.lower() == ".json":
        return _of_record(path, written)
    tables = toml_values(written, place=path, hint=_HINT, parse_float=Decimal)
    lines = toml_lines(written)
    problems = _schema_problems(tables.pop("schema", None), path, lines.get(("schema",)))
    if problems:
        raise StudyFileError(problems)
    values: dict[str, Any] = {}
    places: dict[str, str] = {}
    for section, key, value in _entries(tables):
        at = lines.get((section, key) if section else (key,)) or lines.get((section,))
        place = _place(path, at, section, key)
        if not key and section not in SECTIONS:
            problems.append(Problem("there is no such section.", _near_section(section), place=place))
        elif key in places:
            problems.append(
                Problem(
                    "stands twice in this file.",
                    f"Keep one; see {places[key].removeprefix(f'{path}, ')}.",
                    place=place,
                )
            )
        elif key:
            wrong = _wrong(section, key, value) or _itself(path, key, value)
            if wrong is None:
                values[key], places[key] = _beside(path, value, FIELDS[key].kind), place
            else:
                problems.append(Problem(*wrong, place=place))
        if len(problems) > _MOST_PROBLEMS:
            raise StudyFileError(
                [*problems[:_MOST_PROBLEMS], Problem("there may be more.", "", place=path)]
            )
    problems += [
        Problem(in_file(why), "", place=f"{places[name]}") for why, name in exclusive(values).items()
    ]
    if problems:
        raise StudyFileError(problems)
    return StudyFile(path, values, places, written)


def _entries(tables: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Section, key and value of every entry: sections only group keys, and a key may stand before all of them. A
    section that is none, or is empty, has no key."""
    for section, table in tables.items():
        if not isinstance(table, Mapping):
            yield "", section, table
        elif section not in SECTIONS or not table:
            yield section, "", None
        else:
            for key, value in table.items():
                yield section, key, value


def _itself(path: str, key: str, value: Any) -> tuple[str, str] | None:
    """What is wrong with a file that the study names and that is the study itself."""
    if not FIELDS[key].kind.is_file or path == STANDARD_INPUT:
        return None
    here = os.path.normpath(path)
    if any(os.path.normpath(Path(path).parent / each) == here for each in _each(value)):
        return "names this study file itself.", "Name another file."
    return None


def _of_record(path: str, written: str) -> StudyFile:
    """The study that a record holds: what a command was asked, every field of it."""
    from humeval_power.files.file_bytes import parse_json

    document = parse_json(written, place=path)
    values = document.get("study") if isinstance(document, dict) else None
    if not isinstance(values, Mapping):
        rule = "holds no study: only the records of commands that read one do."
        raise StudyFileError([Problem(rule, _HINT, place=path)])
    problems = []
    for key, value in values.items():
        wrong = _wrong(FIELDS[key].section if key in FIELDS else "", key, value, exact=True)
        if wrong is not None:
            problems.append(Problem(*wrong, place=f"{path}, study.{shortened(key)}"))
    places = {key: f"{path}, study.{key}" for key in values}
    if not problems:
        problems = [
            Problem(in_file(why), "", place=places[name]) for why, name in exclusive(values).items()
        ]
    if problems:
        raise StudyFileError(problems[:_MOST_PROBLEMS])
    return StudyFile(path, dict(values), places)


def _schema_problems(schema: object, path: str, line: int | None) -> list[Problem]:
    if schema == SCHEMA:
        return []
    place = f"{path}, line {line}, schema" if line else path
    if schema is None:
        return [
            Problem("is no study file.", f'Its first line is schema = "{SCHEMA}". {_HINT}', place=place)
        ]
    if schema == CONFIG_SCHEMA:
        rule = "holds what another command is asked, and no study."
        return [Problem(rule, f"The command that it names reads it: --config {path}.", place=place)]
    shown = json.dumps(str(schema)[:60])
    return [Problem(f"is {shown}; a study file has {json.dumps(SCHEMA)}.", _HINT, place=place)]


def _place(path: str, line: int | None, section: str, key: str) -> str:
    where = f"[{shortened(section)}] {shortened(key)}" if section else shortened(key)
    return f"{path}, line {line}, {where}".rstrip() if line else f"{path}, {where}".rstrip()


def _near_section(section: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(section[:60], SECTIONS, 1)
    return f"Did you mean [{close[0]}]?" if close else f"The sections are {', '.join(SECTIONS)}."


def _near_key(section: str, key: str) -> str:
    """The key of a section that was perhaps meant."""
    from difflib import get_close_matches

    close = get_close_matches(key, [name for name, one in FIELDS.items() if one.section == section], 1)
    return f"Did you mean {close[0]}?" if close else ""


def _wrong(section: str, key: str, value: Any, *, exact: bool = False) -> tuple[str, str] | None:
    """What is wrong with a key and its value: the rule, and the remedy; `exact` amounts may be texts. Of a key in
    another section than its own another one was perhaps meant."""
    is_table = isinstance(value, list) and any(isinstance(each, Mapping) for each in value)
    if not section and key in SECTIONS and (key not in FIELDS or is_table):
        return "is a section, and stands here as something else.", f"Write [{key}] on a line of its own."
    if key not in FIELDS:
        return "there is no such key.", near(key)
    wrong, own = _wrong_value(key, value, exact=exact), FIELDS[key].section
    if wrong is None or section in ("", own):
        return wrong
    return f"is a key of [{own}], and its value cannot be that.", _near_key(section, key) or wrong[0]


def _wrong_value(key: str, value: Any, *, exact: bool) -> tuple[str, str] | None:
    one = FIELDS[key]
    if one.kind.is_number and isinstance(value, str) and not (exact and one.kind is MONEY):
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
        return in_file(str(error)), ""
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
    paths = [os.path.normpath(folder / each) for each in _each(value)]
    return paths if isinstance(value, list) else paths[0]


def updated(path: str, before: str, values: Mapping[str, Any]) -> str | None:
    """The text of a study file with these values; None where it says them already.
    Raises InputError: a file that was changed since it was read as `before`."""
    now = read_text(path)
    made = with_values(now, values)
    if made == now:
        return None
    fields = ", ".join(
        f"{name} = {toml_value(value)}" for name, value in values.items() if value is not None
    )
    remedy = f"Say there yourself: {fields}."
    if now != before:
        rule = "was changed since it was read, and is left as it is."
        raise InputError([Problem(rule, remedy, place=path)])
    if made is None:
        raise InputError([Problem("is left as it is.", remedy, place=path)])
    return made


def with_values(written: str, values: Mapping[str, Any]) -> str | None:
    """The text of a study file with these values; the reader's remarks, order and other lines stay.

    A key that is there gets the new value on its line; another is added at the end of its section, or in a new one.
    One whose value is None goes, with the remark that this program wrote above it. None where the file is written
    so that this would change what else it says.
    """
    end = "\r\n" if "\r\n" in written else "\n"
    lines = written.replace("\r\n", "\n").split("\n")
    said = tomllib.loads(written)
    for name, value in values.items():
        section = _section(said, name)
        table = said.get(section) if section else said
        plain = list(value) if isinstance(value, tuple) else value
        if isinstance(table, Mapping) and name in table and table[name] == plain:
            continue
        known = toml_lines("\n".join(lines))
        line = f"{name} = {toml_value(value)}"
        at = known.get((section, name) if section else (name,))
        if value is None:
            if at is not None:
                del lines[_start_of_remark(lines, at - 1, name) : _end_of_value(lines, at - 1) + 1]
            continue
        if at is not None:
            last = _end_of_value(lines, at - 1)
            remark = _remark(lines[at - 1 : last + 1])
            lines[at - 1 : last + 1] = [line + (f"  {remark}" if remark else "")]
            continue
        here = known.get((section,))
        if here is None:
            while lines and not lines[-1].strip():
                lines.pop()
            lines += ["", f"[{section}]  # {SECTIONS[section].title}", *entry(name, value, ""), ""]
            continue
        later = [at for path, at in known.items() if len(path) == 1 and at > here]
        last = min(later) - 1 if later else len(lines)
        while last > here and not lines[last - 1].strip():
            last -= 1
        lines[last:last] = entry(name, value, "")
    made = "\n".join(lines)
    return made.replace("\n", end) if _says(made, written, values) else None


def _section(tables: Mapping[str, Any], name: str) -> str:
    """The section in which a key stands, "" before all of them; its own where it does not stand yet."""
    if name in tables and not isinstance(tables[name], Mapping):
        return ""
    there = (key for key, table in tables.items() if isinstance(table, Mapping) and name in table)
    return next(there, FIELDS[name].section)


def _says(made: str, written: str, values: Mapping[str, Any]) -> bool:
    """Whether a text says these values, and all else as the other text does."""
    wanted = tomllib.loads(written)
    for name, value in values.items():
        if value is None:
            (wanted[section] if (section := _section(wanted, name)) in wanted else wanted).pop(name, None)
            continue
        plain: Any = tomllib.loads(f"it = {toml_value(value)}")["it"]
        section = _section(wanted, name)
        (wanted.setdefault(section, {}) if section else wanted)[name] = plain
    try:
        return bool(tomllib.loads(made) == wanted)
    except ValueError:
        return False


def _start_of_remark(lines: list[str], at: int, name: str) -> int:
    """The first line of the remark that `entry` writes above a key; the key's own line where there is none."""
    wanted = " ".join(line[2:] for line in entry(name, "")[:-1])
    for first in range(at - 1, -1, -1):
        if not lines[first].startswith("# "):
            break
        if " ".join(line[2:] for line in lines[first:at]).startswith(wanted):
            return first
    return at


def _end_of_value(lines: list[str], first: int) -> int:
    """The last line of the value that begins on a line: a list may go over several."""
    for last in range(first, len(lines)):
        try:
            tomllib.loads("\n".join(lines[first : last + 1]))
        except ValueError:
            continue
        return last
    return first


def _remark(lines: list[str]) -> str:
    """The remark behind a value that ends on the last of these lines; a mark within a text is none."""
    *before, line = lines
    for match in re.finditer("#", line):
        try:
            tomllib.loads("\n".join([*before, line[: match.start()]]))
        except ValueError:
            continue
        return line[match.start() :]
    return ""


# What a true effect can be, by what is compared.


@dataclass(frozen=True, slots=True)
class EffectRange:
    """What a true effect can be, `rule` says why, and `remedy` what was perhaps meant."""

    low: float
    high: float
    rule: str
    remedy: str = ""

    def check(self, effects: Iterable[float], *, name: str = "--effect") -> None:
        """Refuse every effect that cannot exist, by the name of its option."""
        problems = []
        for effect in effects:
            if not math.isfinite(effect):
                problems.append(Problem("must be a finite number.", "", name, value=effect, has_value=True))
            elif not self.low <= effect <= self.high:
                problems.append(Problem(self.rule, self.remedy, name, value=effect, has_value=True))
        if problems:
            raise InputError(problems)


def any_number(_given: Any) -> EffectRange:
    """The range of an effect whose units only the user knows."""
    return EffectRange(-math.inf, math.inf, "")


PREFERENCES = EffectRange(
    -0.5,
    0.5,
    "the share that prefers B, minus 1/2, lies between -0.5 and 0.5.",
    "If 65 % prefer B the effect is 0.15.",
)
ACCURACIES = EffectRange(
    -1.0,
    1.0,
    "accuracies are shares, so that their difference lies between -1 and 1.",
    "Points of a hundred are hundredths: 2 points are 0.02.",
)


def score_range(mean: float, low: float, high: float) -> EffectRange:
    """Where the difference of mean scores can lie if A's mean is `mean` on a scale."""
    return EffectRange(
        low - mean,
        high - mean,
        f"the mean of B must lie inside the scale too: with a mean of A of {mean:g} on {low:g} to {high:g} the "
        f"difference B - A lies between {low - mean:g} and {high - mean:g} points.",
        "The effect is in points of the scale.",
    )
