"""Commands declared once: their fields, and the calls of public functions that answer them.

The options of the terminal, the run itself, the program of `--code python` and the form of the page are derived.
An answer is written once, as calls: a `Caller` makes them when the command runs, a `ProgramSource` writes one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import click

from humeval_power.asking.calls import Caller, ProgramSource, TypedValues
from humeval_power.asking.command import Command, StudyCommand, Use
from humeval_power.asking.expressions import Call, Value, call
from humeval_power.asking.form import Control, Form, FormGroup, Journey, Next
from humeval_power.asking.options import Function, link_of, made_argument, option_of
from humeval_power.asking.output import Beside
from humeval_power.asking.results import with_result
from humeval_power.asking.run import with_run
from humeval_power.asking.study_values import StudyValues
from humeval_power.asking.vocabulary import (
    FURTHER_PRICES,
    FURTHER_PRICES_TITLE,
    ONE_PRICE,
    PRICES,
    PRICES_NOTE,
    SEED,
    SIMULATIONS,
)
from humeval_power.fields import Field
from humeval_power.study import FIELDS, SECTIONS

Fields = Mapping[str, Field]
Calls = Caller | ProgramSource
# What was typed, and the calls to make or to write; the last of them is called "result".
Answer = Callable[[TypedValues, Calls], None]


@dataclass(frozen=True)
class Part:
    """A group of fields on the page; see `form.FormGroup`."""

    title: str
    fields: tuple[str, ...]
    note: str = ""
    folded: bool = False
    one_of: tuple[str, ...] = ()


@dataclass(frozen=True)
class Page:
    """How the page asks, see `form.Form`; fields that no part names stand under "All options".

    Fields of a study are behind them, section by section.
    """

    title: str
    lead: str
    parts: tuple[Part, ...]
    next: tuple[Next, ...] = ()
    journey: Journey = "compare"
    is_quick: bool = False
    live: Mapping[str, str] = field(default_factory=dict)
    hides: tuple[str, ...] = ()


@dataclass(frozen=True)
class Declaration:
    """A command: its words, its help, its fields in the order of help, the calls that answer it, and its page.

    arguments : fields that the terminal takes without an option.
    simulates : it takes --simulations, --seed, --jobs, --on and --dry-run, see `Calls.run`.
    endings, writes, codes : as in `with_result`.
    needs : decorators that say what else it cannot do without, see `command.needs`.
    of_study : its fields of the study are taken from study.toml too, and its program asks the same of a `Study`.
    study_answer : in place of calls, what such a command computes; `run` says how it is run.
    use : what such a command takes from study.toml.
    read_as : what click calls with a value that was typed, by the field: it gives that which the command gets.
    beside : fields that name a file each, and what that holds of the result, as in `with_result`.
    kind : the class of a command that takes its words in a way of its own.
    no_program : why none gives the same, where that is so.
    """

    path: tuple[str, ...]
    help: str
    fields: Fields
    answer: Answer | None = None
    page: Page | None = None
    arguments: tuple[str, ...] = ()
    simulates: bool = False
    endings: tuple[str, ...] = ()
    needs: tuple[Function, ...] = ()
    of_study: bool = False
    study_answer: Callable[..., Any] | None = None
    use: Use | None = None
    no_program: str = ""
    writes: bool = True
    codes: Mapping[str, str] = field(default_factory=dict)
    read_as: Mapping[str, Function] = field(default_factory=dict)
    beside: Beside = field(default_factory=dict)
    kind: type[Command | click.Group] = Command

    def command(self) -> click.Command:
        """The command of the terminal."""

        def called(run: Any = None, **_values: Any) -> Any:
            calls = Caller(run if self.simulates else None)
            assert self.answer is not None
            self.answer(TypedValues(click.get_current_context()), calls)
            return calls.result

        answered: Function = self.study_answer or called
        for need in reversed(self.needs):
            answered = need(answered)
        made: Function = with_result(
            endings=self.endings,
            writes=self.writes,
            beside=self.beside,
            codes=self.codes,
            configured=not (self.of_study or self.no_program),
        )(answered)
        made = with_run(made) if self.simulates else made
        for name, one in reversed(list(self.fields.items())):
            is_argument = name in self.arguments
            how: dict[str, Any] = {"of_study": self.of_study, "callback": self.read_as.get(name)}
            made = (
                made_argument(one, name, field=name if self.of_study and name in FIELDS else "")
                if is_argument
                else option_of(name, one, **how)
            )(made)
        kind = StudyCommand if self.of_study else self.kind
        use: dict[str, Any] = {"use": self.use} if self.of_study else {}
        declared = click.command(
            self.path[-1], cls=kind, help=self.help, no_program=self.no_program, **use
        )(made)
        if isinstance(declared, Command) and not (self.of_study or self.no_program):
            declared.program = self.answer
        declared.form = self.form()  # type: ignore[union-attr]
        return declared

    def form(self) -> Form | None:
        """The form of the page."""
        page = self.page
        if page is None:
            return None
        run = {"simulations": SIMULATIONS, "seed": SEED} if self.simulates else {}
        fields = {**run, **self.fields}
        named = {name for part in page.parts for name in part.fields} | set(page.hides)
        parts = page.parts
        if self.of_study:
            parts = (*parts, *_further(fields, named))
        return Form(
            self.path,
            page.journey,
            page.title,
            page.lead,
            groups_of(parts, fields),
            live=page.live,
            next=page.next,
            hides=page.hides,
            is_quick=page.is_quick,
        )


@dataclass(frozen=True)
class CallStep:
    """One call of a public function, which gets the result of the step before.

    name : what its result is called in a program.
    function : its public name, such as "hp.rank.scores".
    fields : what it takes, by the names of its arguments.
    first : the field that goes first, without its name, such as the files that it reads; "" without one.
    gives_first : what is read is a mapping, of which the next step gets the first value.
    """

    name: str
    function: str
    fields: Fields
    first: str = ""
    gives_first: bool = False


def chain(
    path: tuple[str, ...],
    help: str,
    *steps: CallStep,
    page: Page | None = None,
    simulates: bool = False,
    arguments: tuple[str, ...] | None = None,
) -> Declaration:
    """A command that is a chain of calls, the last of which gives the result.

    arguments : as in `Declaration`. [what goes first in a step]
    """

    def answer(given: TypedValues, calls: Calls) -> None:
        computed: list[Value] = []
        for one in steps:
            files = _files(one, given)
            if "-" in files:
                calls.no_program("standard input is read once")
            names = [each.sets or name for name, each in one.fields.items() if name != one.first]
            named = {name: plain(given.given(name)) for name in names}
            how = calls.run(given) if simulates and one is steps[-1] else {}
            result: Any = calls.let(one.name, call(one.function, *computed, *files, **named, **how))
            computed = [
                call("next", call("iter", Call("values", on=result))) if one.gives_first else result
            ]

    return Declaration(
        path,
        help,
        {name: one for step in steps for name, one in step.fields.items()},
        answer,
        page,
        tuple(step.first for step in steps if step.first) if arguments is None else arguments,
        simulates,
    )


def groups_of(parts: tuple[Part, ...], fields: Fields) -> tuple[FormGroup, ...]:
    """The groups of a form."""
    return tuple(
        FormGroup(
            part.title,
            tuple(control_of(name, fields[name]) for name in part.fields),
            part.note,
            part.folded,
            tuple(link_of(name, fields[name]) for name in part.one_of),
        )
        for part in parts
    )


def control_of(name: str, one: Field) -> Control:
    """How the page asks a field."""
    words = {value: said for value, said in one.words.items() if value in ("", *one.kind.choices)}
    return Control(
        link_of(name, one),
        one.label,
        one.unit,
        one.slider,
        one.step,
        one.start,
        one.page_help,
        words if one.kind.choices else one.words,
        one.rows,
    )


def _further(fields: Fields, named: Collection[str]) -> Iterator[Part]:
    """What no part of a page names of the fields of a study, and how much is simulated."""
    for section, group in SECTIONS.items():
        own = [name for name, one in fields.items() if one.section == section]
        left = tuple(name for name in own if name not in named)
        if left:
            yield Part(group.title if len(left) == len(own) else f"{group.title}: more", left, folded=True)
    if run := tuple(name for name in _RUN if name in fields and name not in named):
        yield Part("The simulation", run, folded=True)


_RUN = ("simulations", "seed", "half_width", "method")  # of those that a command has


def study_command(
    path: tuple[str, ...], fields: Fields, **further: Any
) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a function a command about a study.

    It gets the fields of the study as `study`, those of the command's own by their names, and where the command
    simulates how as `run`; `further` are those of `Declaration`.
    """
    own = [one.sets or name for name, one in fields.items() if name not in (*FIELDS, "all_pairs")]
    run = ("run",) if further.get("simulates") else ()

    def declare(function: Callable[..., Any]) -> click.Command:
        def answer(**values: Any) -> Any:
            study = StudyValues.of(click.get_current_context())
            return function(study=study, **{name: values[name] for name in (*own, *run)})

        return Declaration(
            path, str(function.__doc__), fields, of_study=True, study_answer=answer, **further
        ).command()

    return declare


def plain(value: Any) -> Value:
    """A value as programs write it; a list of nothing is left out."""
    return (list(value) or None) if isinstance(value, tuple) else value


def _files(step: CallStep, given: TypedValues) -> tuple[str, ...]:
    if not step.first:
        return ()
    files = given[step.first]
    return tuple(files) if step.fields[step.first].kind.many else (files,)


# What pages about a study ask first, and where their answers lead.

EFFECTS = ("effect_raw", "effect", "effect_latent")
_WAYS = ("preset", "parameters", "values")
SIZE = Part("The size of the study", ("workers", "items", "ratings_per_item", "n_systems"))
VARIATION = Part(SECTIONS["variation"].title, _WAYS, SECTIONS["variation"].note, one_of=_WAYS)
EFFECT = Part(SECTIONS["effect"].title, ("scale", *EFFECTS), SECTIONS["effect"].note, one_of=EFFECTS)
FURTHER_COSTS = Part(FURTHER_PRICES_TITLE, FURTHER_PRICES, folded=True)
TEST = Part(SECTIONS["test"].title, ("family", "alternative", "margin_raw", "margin", "alpha"))


def costs(*more: str) -> tuple[Part, ...]:
    """Prices, and `more` beside them."""
    return (
        Part(SECTIONS["cost"].title, (*PRICES, *more), PRICES_NOTE, one_of=ONE_PRICE),
        FURTHER_COSTS,
    )


def untouched(fields: Mapping[str, Field], **starts: str) -> dict[str, Field]:
    """The fields without the values with which a page begins, but for `starts`."""
    return {
        name: replace(one, start=starts.get(name, ""), slider=None if one.start else one.slider)
        for name, one in fields.items()
    }


# What goes along from question to question: all but the size, which the next one asks anew.
_SECTIONS = ("ratings", "variation", "effect", "systems", "test", "losses", "cost")
CARRIED = (*(link_of(name, one) for name, one in FIELDS.items() if one.section in _SECTIONS), "power")
TO_PLAN = Next(
    ("plan",),
    "Find the cheapest design, and seal the plan",
    CARRIED,
    sets={"items": "50:300:25", "max-workers": "40", "cost-per-rating": "0.10"},
)
TO_POWER = Next(("power",), "Power of one size")
TO_MDE = Next(("mde",), "What is the smallest difference that it finds?")
TO_SIZE = Next(("size",), "How many workers are enough?", sets={"find": "workers"})
TO_SURFACE = Next(
    ("surface",),
    "A picture over many sizes",
    tuple(name for name in CARRIED if name != "power"),
    sets={"workers": "5:40:5", "items": "50,100,200"},
)
TO_LOOKS = Next(("looks", "study"), "Look at the ratings before the end")
