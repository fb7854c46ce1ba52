"""What a command is asked in a TOML file: read with --config, written with --write-config."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from textwrap import wrap
from typing import Any

import click

from humeval_power.asking.calls import ELSEWHERE
from humeval_power.asking.command_groups import new_name
from humeval_power.asking.options import UNSET, names_file
from humeval_power.errors import InputError, Problem
from humeval_power.fields import Field, of_answer, parts_of, text, typed_list

SCHEMA = "humeval_power/config/1"
_HINT = "--write-config FILE writes such a file."
_ASKED = "humeval_power.asked"  # what was typed, and what the file says besides
_WIDTH = 100  # of a line of remarks
_TOML_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)

CONFIG: Mapping[str, Field] = {
    "config": of_answer(
        text("FILE"), "Take what is not typed from a TOML file; its files lie beside it.", further=True
    ),
    "write_config": of_answer(text("FILE"), "Write all that was asked to a TOML file.", further=True),
}


def with_config(ctx: click.Context, args: list[str]) -> list[str]:
    """The words that were typed, behind those that the file of --config says and nobody typed."""
    if ctx.resilient_parsing:
        return args
    typed = _raw(ctx, args)
    if {"help", "help_all"} & typed.keys():
        return args
    if "config" in typed:
        args = [*_words(Path(typed["config"]), ctx, typed), *args]
    if "write_config" in typed:
        ctx.meta[_ASKED] = _raw(ctx, args)
    return args


def _raw(ctx: click.Context, args: list[str]) -> dict[str, Any]:
    options, _, _ = ctx.command.make_parser(ctx).parse_args(args=list(args))
    return {name: value for name, value in options.items() if value not in (None, (), UNSET)}


def note_config(ctx: click.Context) -> None:
    """Read the file for the record of what was read; refuse to write what cannot be read again.
    Raises InputError: a configuration that would read standard input."""
    from humeval_power.files.file_bytes import read_text

    if ctx.params["config"] is not None:
        read_text(ctx.params["config"])
    if ctx.params["write_config"] is None:
        return
    for one in _known(ctx.command).values():
        if any(
            each == "-" and names_file(one, each) for each in _parts(ctx.meta[_ASKED].get(str(one.name)))
        ):
            raise InputError(
                "--write-config: standard input is read once; name files, which can be read again."
            )


def config_text(ctx: click.Context) -> str:
    """What the command that runs was asked, every option with what it is for; those not given as remarks."""
    from humeval_power.asking.output import PROGRAM
    from humeval_power.asking.program import path_of
    from humeval_power.study_text import toml_value

    typed, place = ctx.meta[_ASKED], Path(ctx.params["write_config"]).parent
    words = ctx.command_path.partition(" ")[2]
    lines = [
        f"# Options that are typed go before what stands here: {PROGRAM} {words} --config THIS_FILE",
        f"schema = {toml_value(SCHEMA)}",
        f"command = {toml_value(' '.join(path_of(ctx)))}",
    ]
    for key, one in _known(ctx.command).items():
        help = str(getattr(one, "help", "") or one.about.full_help)
        said = _written(one, typed.get(str(one.name)), place)
        usual = one.default if isinstance(one.default, bool | int | float | str) else None
        remark = f"# {key} = {'' if usual is None else toml_value(usual)}".rstrip()
        lines += [
            "",
            *wrap(help, _WIDTH, initial_indent="# ", subsequent_indent="# "),
            f"{key} = {said}" if said else remark,
        ]
    return "\n".join(lines) + "\n"


WRITES_CONFIG = {"write_config": lambda _result: config_text(click.get_current_context())}


def _known(command: click.Command) -> dict[str, Any]:
    """What a file may say: arguments and options, by their names as typed without the dashes."""
    return {
        max(one.opts, key=len).lstrip("-").replace("_", "-"): one
        for one in command.params
        if one.name not in ELSEWHERE and one.name != "dry_run"
    }


def _parts(raw: Any) -> list[Any]:
    return list(raw) if isinstance(raw, tuple | list) else [raw]


def _written(one: Any, raw: Any, place: Path) -> str:
    """What was typed as a value of TOML; "" where nothing was."""
    from humeval_power.study_text import toml_value

    if raw is None:
        return ""
    if getattr(one, "is_flag", False):
        on = True if one.flag_value is UNSET else one.flag_value
        return "true" if raw == on else "false" if one.secondary_opts else ""
    is_number = isinstance(one.type, click.types.IntParamType | click.types.FloatParamType)
    texts = []
    for each in _parts(raw):
        if is_number and _TOML_NUMBER.fullmatch(each):
            texts.append(each)
        elif names_file(one, each):
            texts.append(toml_value(each if os.path.isabs(each) else os.path.relpath(each, place)))
        else:
            texts.append(toml_value(_names(each) if _takes_list(one) else each))
    return f"[{', '.join(texts)}]" if isinstance(raw, tuple | list) else texts[0]


def _names(typed: str) -> str | tuple[str, ...]:
    """The names of a list, where they can be typed again as they were."""
    try:
        names = parts_of(typed)
    except ValueError:
        return typed
    return names if len(names) > 1 and typed_list(names) == typed else typed


def _takes_list(one: click.Parameter) -> bool:
    """Whether a value is a list or a table in one text."""
    about = getattr(one, "about", None)
    return about is not None and "anyOf" in about.kind.json and not about.kind.many


def _words(path: Path, ctx: click.Context, typed: Mapping[str, Any]) -> list[str]:
    """What to type for what the file says and nobody typed; every problem of the file at once."""
    from humeval_power.asking.program import path_of
    from humeval_power.files.file_bytes import read_text, toml_lines, toml_values

    text = read_text(path, hint=_HINT)
    said, lines = toml_values(text, place=str(path), hint=_HINT), toml_lines(text)
    _check_head(said, lines, path, ctx)
    known = _known(ctx.command)
    words: list[str] = []
    problems: list[Problem] = []
    for key, value in said.items():
        name = key.replace("_", "-")
        try:
            if name not in known:
                new = new_name(" ".join(path_of(ctx)), name)
                remedy = _remedy(name, known) if new is None else f"It is now called {new!r}."
                raise _NotSoError("is no option of this command.", remedy)
            result = list(_said(name, known[name], value, path.parent, ctx))
            words += [] if str(known[name].name) in typed else result
        except _NotSoError as error:
            problems.append(_problem(path, lines, key, value, error.rule, error.remedy))
    if problems:
        raise InputError(problems)
    return words


def _check_head(
    said: dict[str, Any], lines: Mapping[tuple[str, ...], int], path: Path, ctx: click.Context
) -> None:
    """Take schema and command out of what is said; refuse the file of another command."""
    from humeval_power.asking.program import path_of

    here = " ".join(path_of(ctx))
    for key, right in (("schema", SCHEMA), ("command", here)):
        value = said.pop(key, right)
        if value != right:
            rule = f"must be {right!r}."
            remedy = (
                f"{_HINT} Or say {key} = {right!r}."
                if key == "schema"
                else "Give this file to its command."
            )
            raise InputError([_problem(path, lines, key, value, rule, remedy)])


def _problem(
    path: Path, lines: Mapping[tuple[str, ...], int], key: str, value: object, rule: str, remedy: str
) -> Problem:
    return Problem(rule, remedy, str(path), lines.get((key,)), key, value, True, "field")


class _NotSoError(Exception):
    """What must hold of a value, and what to do."""

    def __init__(self, rule: str, remedy: str = "") -> None:
        super().__init__(rule)
        self.rule, self.remedy = rule, remedy


def _remedy(name: str, known: Mapping[str, object]) -> str:
    close = get_close_matches(name, known, n=1)
    return f"Do you mean {close[0]!r}?" if close else f"Take {', '.join(known)}."


def _said(name: str, one: Any, value: object, folder: Path, ctx: click.Context) -> Iterator[str]:
    """What to type for one value, once it is known to be good."""
    if getattr(one, "is_flag", False):
        if not isinstance(value, bool):
            raise _NotSoError("must be true or false.")
        if value or one.secondary_opts:
            yield f"--{name}" if value else max(one.secondary_opts, key=len)
        return
    many = one.nargs != 1 or bool(getattr(one, "multiple", False))
    texts = [_placed(one, typed, folder) for typed in _texts(one, value, many=many)]
    try:
        one.process_value(ctx, tuple(texts) if many else texts[0])
    except click.UsageError as error:
        raise _NotSoError(error.message) from None
    for typed in texts:
        if isinstance(one, click.Option):
            yield f"--{name}={typed}"
        else:
            yield f".{os.sep}{typed}" if typed.startswith("-") else typed


def _texts(one: click.Parameter, value: object, *, many: bool) -> list[str]:
    """The value as it would be typed: once, or several times for what repeats."""
    if many and isinstance(value, list):
        if not value:
            raise _NotSoError("is an empty list.", "Leave the line out.")
        return [_plain(each) for each in value]
    if _takes_list(one) and isinstance(value, list | dict):
        if not value:
            raise _NotSoError("is an empty list.", "Leave the line out.")
        try:
            return [typed_list(value)]
        except ValueError as error:
            raise _NotSoError(str(error)) from None
    return [_plain(value)]


def _plain(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _NotSoError("must be a text in quotes or a number.")
    return str(value)


def _placed(one: click.Parameter, text: str, folder: Path) -> str:
    """A file as seen from here; names are relative to the folder of the configuration."""
    if not names_file(one, text):
        return text
    if not text.strip() or "\0" in text:
        raise _NotSoError("must be names of files in quotes.")
    if text == "-":
        raise _NotSoError("cannot be standard input.", "Name a file.")
    return str(folder / text)
