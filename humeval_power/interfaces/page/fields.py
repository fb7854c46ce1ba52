"""The fields of a form: what stands in each, in which words, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import click

from humeval_power.interfaces.asking.declared import control_of
from humeval_power.interfaces.asking.form import Control, Form, Group
from humeval_power.interfaces.asking.options import DeclaredArgument, DeclaredOption
from humeval_power.interfaces.page.answers import Wrong
from humeval_power.interfaces.page.asked import WRITES, Asked, link_name, may_read_files, offered
from humeval_power.interfaces.page.forms import FORMS
from humeval_power.interfaces.page.words import on_page

Kind = Literal["text", "number", "choice", "switch", "file"]
MORE = "All options"


@cache
def labels_of(path: tuple[str, ...]) -> dict[str, str]:
    """The labels of the fields of a form, by their options."""
    groups = field_groups(FORMS[path], Asked(path), ())
    return {field.name: field.label.removeprefix("Or ") for group in groups for field in group.fields}


@dataclass(frozen=True, slots=True)
class Field:
    """One field as it is shown: `values` as they were typed, `choices` with their words, `wrong` beside it."""

    name: str
    label: str
    kind: Kind
    values: tuple[str, ...]
    choices: tuple[tuple[str, str], ...] = ()
    unit: str = ""
    help: str = ""
    slider: tuple[float, float] | None = None
    step: float = 1
    default: str = ""
    nothing: str = ""
    many: bool = False
    wrong: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """What its label, its help and its errors are tied to."""
        return f"field-{self.name}"


@dataclass(frozen=True, slots=True)
class FieldGroup:
    """Fields under a title; `is_open` tells a folded one whether to show itself."""

    title: str
    fields: tuple[Field, ...]
    note: str = ""
    folded: bool = False
    one_of: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether something in it is set or wrong."""
        return not self.folded or any(any(field.values) or field.wrong for field in self.fields)


def field_groups(form: Form, asked: Asked, problems: Sequence[Wrong]) -> tuple[FieldGroup, ...]:
    """The groups of a form with what is asked, and behind them all options that no group names."""
    options = offered(form.command, form.hides)
    named = {control.option for group in form.groups for control in group.controls}
    rest = tuple(_control(name, option) for name, option in options.items() if name not in named)
    groups = [*form.groups, Group(MORE, rest, folded=True)] if rest else form.groups
    by_option = _by_option(problems, options)
    return tuple(
        FieldGroup(
            group.title,
            tuple(
                _field(control, options[control.option], asked, by_option.get(control.option, ()))
                for control in group.controls
            ),
            group.note,
            group.folded,
            group.one_of,
        )
        for group in groups
    )


def _control(name: str, option: click.Parameter) -> Control:
    """How an option is asked that no group names."""
    if isinstance(option, DeclaredOption | DeclaredArgument):
        return replace(control_of(name, option.about), option=name)
    return Control(name)


def can_begin(form: Form) -> bool:
    """Whether a form that nobody has touched asks something that can be answered."""
    begun = {name for name, _ in form.start}
    options = offered(form.command, form.hides)
    return bool(begun) and all(name in begun for name, option in options.items() if option.required)


def problems_elsewhere(form: Form, problems: Sequence[Wrong]) -> tuple[str, ...]:
    """What is wrong and stands beside no field."""
    options = offered(form.command, form.hides)
    return tuple(problem.text for problem in problems if _about(problem, options) is None)


def wrong_fields(form: Form, problems: Sequence[Wrong]) -> tuple[tuple[str, str], ...]:
    """The fields that something stands beside: their ids and labels."""
    options = offered(form.command, form.hides)
    labels = {control.option: control.label for group in form.groups for control in group.controls}
    names = dict.fromkeys(name for problem in problems if (name := _about(problem, options)) is not None)
    return tuple((f"field-{name}", labels.get(name) or _words(name)) for name in names)


def _by_option(
    problems: Iterable[Wrong], options: Mapping[str, click.Parameter]
) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for problem in problems:
        name = _about(problem, options)
        if name is not None:
            found[name] = (*found.get(name, ()), problem.text)
    return found


def _about(problem: Wrong, options: Mapping[str, click.Parameter]) -> str | None:
    """The option that a problem is about, if the page has it."""
    if problem.option in options:
        return problem.option
    sides = {side.lstrip("-"): name for name, option in options.items() for side in option.secondary_opts}
    return sides.get(problem.option)


def _field(control: Control, option: click.Parameter, asked: Asked, wrong: tuple[str, ...]) -> Field:
    kind = _kind(asked.command, control, option)
    label = control.label or _words(control.option)
    help = control.help or on_page(getattr(option, "help", "") or "")
    if help.rstrip(".").casefold() == label.casefold():
        help = ""
    return Field(
        name=control.option,
        label=label,
        kind=kind,
        values=_padded(asked.values(control.option), max(1, control.rows)),
        choices=_choices(control, option),
        unit=control.unit,
        help=help,
        slider=control.slider,
        step=control.step,
        default=control.labels.get(_default(option), _default(option)) if _default(option) else "",
        nothing=control.labels.get("")
        or (_where_nothing_is_chosen(control, option) if kind == "choice" else ""),
        many=bool(getattr(option, "multiple", False)) or option.nargs != 1,
        wrong=wrong,
    )


def _padded(values: tuple[str, ...], rows: int) -> tuple[str, ...]:
    """The values, and empty ones up to so many rows."""
    return (*values, *("",) * (rows - len(values)))


def _kind(command: tuple[str, ...], control: Control, option: click.Parameter) -> Kind:
    if (command, control.option) in WRITES:
        return "switch"
    if may_read_files(command, option):
        return "file"
    if isinstance(option, click.Option) and option.is_flag:
        return "choice" if option.secondary_opts else "switch"
    if isinstance(option.type, click.Choice) or control.labels:
        return "choice"
    is_number = isinstance(option.type, click.types.IntParamType | click.types.FloatParamType)
    return "number" if is_number or type(option.type).__name__ in _NUMBERS else "text"


_NUMBERS = ("WholeNumber", "RealNumber", "Money")


def _choices(control: Control, option: click.Parameter) -> tuple[tuple[str, str], ...]:
    if isinstance(option.type, click.Choice):
        values = [str(value) for value in option.type.choices]
    elif option.secondary_opts:
        return (
            ("1", control.labels.get("1", _words(link_name(option)))),
            ("0", control.labels.get("0", _words(max(option.secondary_opts, key=len).lstrip("-")))),
        )
    else:
        values = [value for value in control.labels if value]
    return tuple((value, control.labels.get(value, value)) for value in values)


def _default(option: click.Parameter) -> str:
    """What holds where nothing is typed, where the command says it."""
    default = option.default
    is_said = isinstance(option, click.Option) and bool(option.show_default)
    return str(default) if is_said and isinstance(default, str | int | float) else ""


def _where_nothing_is_chosen(control: Control, option: click.Parameter) -> str:
    """What holds where nothing of a choice is chosen: the default, or what the help says in brackets."""
    words = dict(_choices(control, option)) if isinstance(option, click.Option) else {}
    if isinstance(option, click.Option) and option.secondary_opts and isinstance(option.default, bool):
        return f"as usual: {words['1' if option.default else '0']}"
    if _default(option):
        return f"as usual: {words.get(_default(option), _default(option))}"
    if option.required:
        return "choose one"
    said = re.findall(r"\[([^\]]+)\]", on_page(getattr(option, "help", "") or ""))
    if not said:
        return "not chosen"
    return f"as usual: {words[said[-1]]}" if said[-1] in words else str(said[-1])


def _words(name: str) -> str:
    text = name.replace("-", " ")
    return text[:1].upper() + text[1:]
