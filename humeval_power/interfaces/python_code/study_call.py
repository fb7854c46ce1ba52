"""The program of a command about a study: the study, and the call that asks the same of it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import click

from humeval_power.interfaces.asking.command import WORDS_READ, asked_study
from humeval_power.interfaces.asking.options import FieldArgument, FieldOption
from humeval_power.interfaces.python_code.expressions import Value, call
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import ELSEWHERE, GapError, Typed
from humeval_power.study import FIELDS

_SKIPPED = ELSEWHERE | {"study_file", "no_study", "help_all", "dry_run"}
_ARGUMENTS = {"simulations": "n_simulations", "jobs": "n_jobs"}


def study_call(typed: Typed, source: Source) -> None:
    """Write the study that was typed, or its file with what was typed beside it, and the call.

    Raises
    ------
    GapError
        Options that change files.
    """
    ctx = typed.context
    words = list(ctx.meta[WORDS_READ])
    raw, _, _ = ctx.command.make_parser(ctx).parse_args(args=words)
    fields: dict[str, Value] = {}
    own: dict[str, Value] = {}
    asked = asked_study(ctx)
    from_file = set() if asked is None else set(asked.places)
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
    group = "" if ctx.parent is None or ctx.parent.parent is None else f"{ctx.parent.info_name}."
    verb = f"{group}{ctx.info_name}"
    path = "" if asked is None else asked.path
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
        found = kind.read(value) if ":" not in value and "," not in value else value
        return float(found) if isinstance(found, Decimal) and float(found) == found else found
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
