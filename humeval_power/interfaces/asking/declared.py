"""Commands declared once: the public functions that they call, and the fields of what these take.

The options of the terminal, the run itself, the program of `--code python` and the form of the page are derived.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from humeval_power.fields import Field
from humeval_power.interfaces.asking.options import Function, made_option
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.python_code.expressions import Call, Code, Value, call, flat
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import GapError, Typed
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from humeval_power.interfaces.page.forms.form import Form, Journey, Next

Fields = Mapping[str, Field]
# The call that makes a scenario of a size and a true effect; what is given of the options it looks up by name.
Comparison = Callable[[Value, Value, Any], Call]


@dataclass(frozen=True)
class Step:
    """One call of a public function, which gets the result of the step before.

    name : what its result is called in a program.
    function : its public name, such as "hp.rank.scores".
    fields : what it takes, by the names of its arguments.
    files : the field that the terminal takes as an argument and Python first; "" without one.
    gives_first : what is read is a mapping, of which the next step gets the first value.
    """

    name: str
    function: str
    fields: Fields
    files: str = ""
    gives_first: bool = False


@dataclass(frozen=True)
class Part:
    """A group of fields on the page."""

    title: str
    fields: tuple[str, ...]
    folded: bool = False


@dataclass(frozen=True)
class Page:
    """How the page asks; fields that no part names stand under "All options"."""

    title: str
    lead: str
    parts: tuple[Part, ...]
    next: tuple[Next, ...] = ()
    journey: Journey = "compare"


@dataclass(frozen=True)
class Declared:
    """A command: its words, its help, the calls that answer it, and its page."""

    path: tuple[str, ...]
    help: str
    steps: tuple[Step, ...]
    page: Page

    @property
    def fields(self) -> Fields:
        """All fields in the order of help."""
        return {name: one for step in self.steps for name, one in step.fields.items()}

    def command(self) -> click.Command:
        """The command of the terminal."""
        run: Function = with_result()(self._run)
        files = {step.files for step in self.steps}
        for name, one in reversed(self.fields.items()):
            add = _argument(name, one) if name in files else option_of(name, one)
            run = add(run)
        return click.command(self.path[-1], cls=Command, help=self.help)(run)

    def _run(self, **values: Any) -> Any:
        found: list[Any] = []
        for step in self.steps:
            others = {name: values[name] for name in step.fields if name != step.files}
            result = evaluated(call(step.function, *found, *_files(step, values), **others))
            found = [next(iter(result.values())) if step.gives_first else result]
        return found[0]

    def write(self, typed: Typed, source: Source) -> None:
        """Write the same calls as a program, with the arguments that differ from their defaults.

        Raises
        ------
        GapError
            Standard input.
        """
        found: list[Value] = []
        for step in self.steps:
            files = _files(step, typed)
            if "-" in files:
                raise GapError("standard input is read once")
            others = {name: _plain(typed.given(name)) for name in step.fields if name != step.files}
            result = source.let(step.name, call(step.function, *found, *files, **others))
            found = [Code(f"next(iter({flat(result)}.values()))") if step.gives_first else result]

    def form(self) -> Form:
        """The form of the page."""
        from humeval_power.interfaces.page.forms.form import Control, Form, Group

        def control(name: str) -> Control:
            one = self.fields[name]
            link = _link(name, one)
            help = one.page_help or one.help
            return Control(link, one.label, one.unit, one.slider, one.step, one.start, help, one.words)

        page = self.page
        groups = (Group(part.title, tuple(map(control, part.fields)), folded=part.folded) for part in page.parts)
        return Form(self.path, page.journey, page.title, page.lead, tuple(groups), next=page.next)


def option_of(name: str, one: Field) -> Function:
    """A decorator that adds the option of a field."""
    field = name if FIELDS.get(name) is one else ""
    return made_option(one, f"--{_link(name, one)}", name, field=field, shows_zero=True)


def evaluated(written: Call) -> Any:
    """What a call of a public function gives."""
    import humeval_power

    at: Any = humeval_power
    for name in written.function.split(".")[1:]:
        at = getattr(at, name)
    return at(*written.given, **written.named)


def written_for(typed: Typed, made: Call) -> Call:
    """A call for a program: without the arguments that an option of the same name leaves at its default."""
    kept = {name: one for name, one in made.named.items() if name not in typed or typed.given(name) is not None}
    return replace(made, named=kept)


def _argument(name: str, one: Field) -> Function:
    return click.argument(name, nargs=-1 if one.kind.many else 1, required=True, metavar=one.kind.metavar)


def _files(step: Step, values: Any) -> tuple[str, ...]:
    if not step.files:
        return ()
    files = values[step.files]
    return tuple(files) if step.fields[step.files].kind.many else (files,)


def _plain(value: Any) -> Value:
    return list(value) if isinstance(value, tuple) else value


def _link(name: str, one: Field) -> str:
    return (one.option or name).replace("_", "-")
