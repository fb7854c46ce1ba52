"""The options of a comparison in a TOML file: read with --config, written with --write-config."""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from textwrap import wrap
from typing import Any

import click

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.cli.required_options import Command

SCHEMA = "humeval_power/compare_config/1"
FILES = "files"
_HINT = "--write-config FILE writes such a file."
_LISTS = ("LIST", "A,B")  # options whose value is a list with commas
# Where the result goes and how it is shown: no part of what is asked.
_ELSEWHERE = ("as_json", "format", "details", "output", "force", "code", "quiet", "jobs", "on", "dry_run")
_OWN = ("config", "write_config")
_WIDTH = 100  # of a line of remarks


class ConfiguredCommand(Command):
    """A command that takes options from a file too: what is typed goes before what the file says."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put what the file says of options that were not typed in front of the words that were."""
        if not ctx.resilient_parsing:
            typed, _, _ = self.make_parser(ctx).parse_args(args=list(args))
            if typed.get("config") is not None and not typed.get("help"):
                args = [*_words(Path(typed["config"]), ctx, typed), *args]
        return super().parse_args(ctx, args)


def config_options(command: Any) -> Any:
    """Add --config and --write-config."""
    read = click.option(
        "--config",
        metavar="FILE",
        help="Take what is not typed from a TOML file; its files lie beside it.",
    )
    write = click.option("--write-config", metavar="FILE", help="Write all that was asked to a TOML file.")
    return read(write(command))


def note_config(ctx: click.Context) -> None:
    """Read the file for the record of what was read; refuse to write what cannot be read again.

    Raises
    ------
    InputError
        A configuration that would read standard input.
    """
    from humeval_power.interfaces.formats.file_bytes import read_text

    if ctx.params["config"] is not None:
        read_text(ctx.params["config"])
    if ctx.params["write_config"] is not None and "-" in ctx.params[FILES]:
        raise InputError(
            "--write-config: standard input is read once; name files, which can be read again."
        )


def config_text(ctx: click.Context) -> str:
    """What the command that runs was asked, every option with what it is for; those not given as remarks."""
    place = Path(ctx.params["write_config"]).parent
    lines = [
        "# What a comparison is asked: humeval-power compare scores --config THIS_FILE",
        "# Options that are typed go before what stands here.",
        f"schema = {_quoted(SCHEMA)}",
        f"{FILES} = {_toml([_from_folder(name, place) for name in ctx.params[FILES]])}",
    ]
    for name, option in _known(ctx.command).items():
        value = ctx.params[str(option.name)]
        is_given = value is not None and value not in ((), [])
        said = f"{name} = {_toml(value)}" if is_given else f"# {name} ="
        remarks = wrap(str(option.help), _WIDTH, initial_indent="# ", subsequent_indent="# ")
        lines += ["", *remarks, said]
    return "\n".join(lines) + "\n"


WRITES_CONFIG = {"write_config": lambda _result: config_text(click.get_current_context())}


def _known(command: click.Command) -> dict[str, click.Option]:
    """The options that a file may have, by their names as typed without the dashes."""
    return {
        max(option.opts, key=len).removeprefix("--"): option
        for option in command.params
        if isinstance(option, click.Option) and option.name not in (*_ELSEWHERE, *_OWN)
    }


def _words(path: Path, ctx: click.Context, typed: Mapping[str, Any]) -> list[str]:
    """What to type for what the file says and nobody typed; every problem of the file at once."""
    from humeval_power.interfaces.formats.file_bytes import read_text
    from humeval_power.interfaces.formats.toml_text import toml_lines, toml_values

    text = read_text(path, hint=_HINT)
    said, lines = toml_values(text, place=str(path), hint=_HINT), toml_lines(text)
    known = _known(ctx.command)
    words: list[str] = []
    problems: list[Problem] = []
    for key, value in said.items():
        name = key.replace("_", "-")
        try:
            if name == "schema":
                _check_schema(value)
            elif name == FILES:
                found = _files(value, path.parent)
                words += [] if isinstance(typed.get(FILES), tuple) else found
            elif name in known:
                found = _option_words(name, known[name], value, ctx)
                words += [] if typed.get(str(known[name].name)) is not None else found
            else:
                raise _NotSoError("is no option of the comparison.", _remedy(name, known))
        except _NotSoError as error:
            row = lines.get((key,))
            problems.append(Problem(error.rule, error.remedy, str(path), row, key, value, True, "field"))
    if problems:
        raise InputError(problems)
    return words


class _NotSoError(Exception):
    """What must hold of a value, and what to do."""

    def __init__(self, rule: str, remedy: str = "") -> None:
        super().__init__(rule)
        self.rule, self.remedy = rule, remedy


def _remedy(name: str, known: Mapping[str, click.Option]) -> str:
    close = get_close_matches(name, [*known, FILES], n=1)
    return f"Do you mean {close[0]!r}?" if close else f"Take {FILES}, {', '.join(known)}."


def _check_schema(value: object) -> None:
    if value != SCHEMA:
        raise _NotSoError(f"must be {SCHEMA!r}.")


def _files(value: object, folder: Path) -> list[str]:
    """The files, as seen from here; names are relative to the folder of the configuration."""
    listed = value if isinstance(value, list) else [value]
    names = [name for name in listed if isinstance(name, str) and name.strip() and "\0" not in name]
    if not names or len(names) < len(listed):
        raise _NotSoError("must be names of files in quotes.")
    if "-" in names:
        raise _NotSoError("cannot be standard input.", "Name a file.")
    found = [str(folder / name) for name in names]
    return [f".{os.sep}{name}" if name.startswith("-") else name for name in found]


def _option_words(name: str, option: click.Option, value: object, ctx: click.Context) -> list[str]:
    """What to type for one option, once its value is known to be good."""
    if option.is_flag:
        if not isinstance(value, bool):
            raise _NotSoError("must be true or false.")
        return [f"--{name}"] if value else []
    parts = _parts(option, value)
    try:
        option.process_value(ctx, tuple(parts) if option.multiple else parts[0])
    except click.UsageError as error:
        raise _NotSoError(error.message) from None
    return [f"--{name}={part}" for part in parts]


def _parts(option: click.Option, value: object) -> list[str]:
    """The value as it would be typed: once, or several times for an option that repeats."""
    if not isinstance(value, list):
        return [_plain(value)]
    if not value:
        raise _NotSoError("is an empty list.", "Leave the line out.")
    texts = [_plain(each) for each in value]
    if option.multiple:
        return texts
    if option.metavar not in _LISTS:
        raise _NotSoError("must be one value, not a list.")
    if any("," in text for text in texts):
        raise _NotSoError("must be names without commas.")
    return [",".join(texts)]


def _plain(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _NotSoError("must be a text in quotes or a number.")
    return str(value)


def _from_folder(name: str, folder: Path) -> str:
    """A file as seen from the folder of the configuration; one with an absolute path stays."""
    return name if os.path.isabs(name) else os.path.relpath(name, folder or ".")


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return _quoted(value) if isinstance(value, str) else str(value)


def _quoted(text: str) -> str:
    """A TOML string: what it escapes, JSON escapes alike, but for the delete character."""
    import json

    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
