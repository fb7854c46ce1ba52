"""From the words of a command to the Python program that gives the same result."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import click

from humeval_power.asking.calls import ELSEWHERE, GapError, ProgramSource, TypedValues
from humeval_power.asking.command import WORDS_READ, study_in_use
from humeval_power.asking.command_groups import without_group
from humeval_power.asking.expressions import Value, call
from humeval_power.asking.options import FieldArgument, FieldOption
from humeval_power.study import FIELDS

_SKIPPED = ELSEWHERE | {"study_file", "no_study", "help_all", "dry_run"}
_ARGUMENTS = {"simulations": "n_simulations", "jobs": "n_jobs"}


def python_here() -> str:
    """The shortest program that gives what the command that runs gives; '' where there is none."""
    try:
        return program_of(click.get_current_context())
    except GapError:
        return ""


def program_of(context: click.Context) -> str:
    """The same of a command that has been parsed.
    Raises GapError: a command, or an option, that no program says, and why."""
    writer = getattr(context.command, "program", None)
    if writer is None:
        why = getattr(context.command, "no_program", "") or "is none of those that have one."
        raise GapError(f"There is no program: {' '.join(path_of(context))} {why}")
    typed, source = TypedValues(context), ProgramSource()
    writer(typed, source)
    typed.check()
    return source.text()


def path_of(context: click.Context) -> tuple[str, ...]:
    """The words of a command."""
    return without_group(" ".join(str(one.info_name) for one in _above(context)).split())


def _above(context: click.Context) -> list[click.Context]:
    """The contexts of a command and its groups, without that of the whole program."""
    contexts: list[click.Context] = []
    at: click.Context | None = context
    while at is not None and at.parent is not None:
        contexts.insert(0, at)
        at = at.parent
    return contexts


def study_call(typed: TypedValues, source: ProgramSource) -> None:
    """Write the study that was typed, or its file with what was typed beside it, and the call.
    Raises GapError: options that change files."""
    ctx = typed.context
    words = list(ctx.meta[WORDS_READ])
    raw, _, _ = ctx.command.make_parser(ctx).parse_args(args=words)
    fields: dict[str, Value] = {}
    own: dict[str, Value] = {}
    in_use = study_in_use(ctx)
    from_file = set() if in_use is None else set(in_use.places)
    for one in ctx.command.get_params(ctx):
        name = str(one.name)
        typed.allow(name)
        if ctx.get_parameter_source(name) is not click.core.ParameterSource.COMMANDLINE or name in _SKIPPED:
            continue
        long = max(one.opts, key=len) if isinstance(one, click.Option) else name
        if long in from_file:
            continue
        value = raw[name] if name in raw else ctx.params[name]
        if name == "amend":
            raise GapError("amend: changes the file of a plan, which the command alone does")
        if name in ("outputs", "platforms"):
            raise GapError(f"{name}: writes what platforms take, which the command alone does")
        if name == "all_pairs":
            fields["comparisons"] = "all-pairs"
        elif isinstance(one, FieldOption | FieldArgument):
            fields[one.field] = _field(one.field, one, value)
        else:
            said = long.removeprefix("--")
            own[_ARGUMENTS.get(said, said.replace("-", "_"))] = _plain(one, value)
    verb = ".".join(path_of(ctx))
    path = "" if in_use is None else in_use.path
    study = call("hp.Study.read", path) if path else call("hp.Study", **fields)
    if path and fields:
        study = study.method("with_", **fields)
    source.let("result", call(f"hp.{verb}", source.let("study", study), **own))


def _field(field: str, one: click.Parameter, value: Any) -> Value:
    """The value of a field as Python writes it."""
    kind = FIELDS[field].kind
    if isinstance(one, click.Option) and one.is_flag:
        return bool(value)
    if kind.many or (isinstance(one, click.Option) and one.multiple):
        return [str(each) for each in (value if isinstance(value, list | tuple) else [value])]
    if field == "systems":
        return [name.strip() for name in kind.read(value)]
    if kind.is_number and isinstance(value, str):
        result = kind.read(value) if ":" not in value and "," not in value else value
        return float(result) if isinstance(result, Decimal) and float(result) == result else result
    return str(value)


def _plain(one: click.Parameter, value: Any) -> Value:
    """The value of an option of the command's own."""
    if isinstance(one, click.Option) and one.is_flag:
        return bool(value)
    if isinstance(value, list | tuple):
        return [str(each) for each in value]
    for kind in (int, float):
        try:
            return kind(str(value))
        except ValueError:
            continue
    return str(value)
