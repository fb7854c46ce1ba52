"""The questions power, mde, size and surface of a kind of comparison, from its declaration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import click

from humeval_power.choices import DEFAULT_SIMULATIONS, Method
from humeval_power.fields import Field
from humeval_power.interfaces.asking.declared import Calls, Part, control_of, groups_of, link_of, option_of
from humeval_power.interfaces.asking.form import Form, Group, Next
from humeval_power.interfaces.asking.vocabulary import METHOD, SEED, SIMULATIONS, TARGET
from humeval_power.interfaces.cli.family import Assumed, EffectRange, Family, any_number, no_limit
from humeval_power.interfaces.cli.output import note_once
from humeval_power.interfaces.cli.questions import question_commands
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.python_code.caller import Caller, evaluated
from humeval_power.interfaces.python_code.expressions import Call, Code, Value, call, flat
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import Typed

if TYPE_CHECKING:
    from humeval_power.reporting.questions.wording import Wording

# What was typed, by name: values, or in a program of a surface names that stand for them.
Given = Any
_FIRST = f"{__name__}.first"  # where a command keeps what its first calls gave
# The call that makes a comparison of a size and a true effect.
Comparison = Callable[[Value, Value, Given], Call]
_WORDS = {
    "power": "Power at this size and effect",
    "mde": "Smallest effect that this size finds",
    "size": "Size that finds this effect",
}
_ASKS = {
    "power": (
        "Power of {}",
        "How often would a comparison of this size find a difference of this size?",
        ("n", "effect"),
    ),
    "mde": ("Smallest effect of {}", "What is the smallest difference that it finds?", ("n", "power")),
    "size": ("Size of {}", "How large must it be to find this difference?", ("effect", "power")),
}
_FINDS = {"power": {}, "mde": {"effect": "found.0.effect"}, "size": {"n": "found.n"}}
_SIMULATION = Part("The simulation", ("method", "simulations", "seed"), folded=True)
_SIMULATION_FIELDS = {"method": METHOD, "simulations": SIMULATIONS, "seed": SEED}


@dataclass(frozen=True)
class QuestionPage:
    """How the page asks: what it calls a comparison, the parts that all questions have, where else to go."""

    name: str
    parts: tuple[Part, ...]
    after: tuple[Next, ...] = ()


@dataclass(frozen=True)
class Questions:
    """A kind of comparison, as four commands.

    group : the command that they stand under.
    wording : puts its scenarios into words.
    n, effect : the size and the true effect.
    fields : what a comparison assumes, in the order of help; a surface takes lists of those of `lists`.
    comparison : the call that makes one of a size and an effect.
    largest_effect : where the search for a detectable effect ends, or the public function that says it of a
        comparison.
    first : calls that are made once, for all comparisons of a command; what they give is in `given`, by these
        names.
    effect_range : where a true effect can lie.
    costed_as, most, shows_none : as in `Family`.
    remarks : what a reader should know of what is assumed.
    """

    group: str
    wording: Wording
    n: Field
    effect: Field
    fields: Mapping[str, Field]
    comparison: Comparison
    largest_effect: Callable[[Given], float | str]
    first: Mapping[str, Callable[[Given, Calls], Value]] = field(default_factory=dict)
    lists: tuple[str, ...] = ()
    page: QuestionPage | None = None
    method: Method = "both"
    simulations: int = DEFAULT_SIMULATIONS
    effect_range: Callable[[Given], EffectRange] = any_number
    costed_as: Callable[[Given], str] | None = None
    most: Callable[[Given], int | None] = no_limit
    shows_none: Callable[[Given], bool] = lambda _given: False
    remarks: Callable[[Given], Iterable[str]] = field(default=lambda _given: ())

    def commands(self) -> list[Command]:
        """The commands power, mde, size and surface."""

        def knowing(asked: Callable[[Given], Any]) -> Callable[[Given], Any]:
            return lambda given: asked(self._with_first(given))

        def build(n: int, effect: float, given: Given) -> Any:
            known = self._with_first(given)
            for said in self.remarks(known):
                note_once(said)
            return evaluated(self.comparison(n, effect, known))

        def largest_effect(given: Given) -> float:
            found = self.largest_effect(given)
            return found if not isinstance(found, str) else evaluated(call(found, build(2, 0.0, given)))

        options = tuple(
            Assumed(f"--{link_of(name, one)}", one.help, one.kind.metavar)
            if name in self.lists
            else option_of(name, one)
            for name, one in self.fields.items()
        )
        commands = question_commands(
            Family(
                wording=self.wording,
                options=options,
                build=build,
                size_help=self.n.help,
                effect_help=self.effect.help,
                largest_effect=knowing(largest_effect),
                method=self.method,
                simulations=self.simulations,
                effect_range=knowing(self.effect_range),
                costed_as=None if self.costed_as is None else knowing(self.costed_as),
                most=self.most,
                shows_none=self.shows_none,
            )
        )
        for one, writer in zip(commands, (self._power, self._mde, self._size, self._surface), strict=True):
            one.program = writer
        return commands

    def _with_first(self, given: Given) -> Given:
        """What was typed, with what the first calls give: a search asks again and again."""
        if not self.first:
            return given
        context = click.get_current_context(silent=True)
        kept = {} if context is None else context.meta.setdefault(_FIRST, {})
        if not kept:
            kept.update({name: made(given, Caller()) for name, made in self.first.items()})
        return {**given, **kept}

    def _write_first(self, typed: Typed, source: Source) -> None:
        for name, made in self.first.items():
            typed.stand_in(name, made(typed, source))

    def _power(self, typed: Typed, source: Source) -> None:
        self._write_first(typed, source)
        comparison = source.let("comparison", self._written(typed["n"], typed["effect"], typed))
        asked = {"method": typed.given("method"), **source.run(typed)}
        source.let("result", call("hp.power", comparison, **asked))

    def _mde(self, typed: Typed, source: Source) -> None:
        self._write_first(typed, source)
        largest: Value = self.largest_effect(typed)
        comparison = source.let("comparison", self._written(typed["n"], 0.0, typed))
        if isinstance(largest, str):
            largest = call(largest, comparison)
        asked = {"power": typed.given("target"), "method": typed.given("method"), **source.run(typed)}
        source.let("result", call("hp.mde", comparison, largest=largest, **asked))

    def _size(self, typed: Typed, source: Source) -> None:
        self._write_first(typed, source)
        comparison = source.define("comparison", "n", self._written(Code("n"), typed["effect"], typed))
        most = self.most(typed)
        highest = typed.given("highest") if most is None or most >= typed["highest"] else most
        asked = {"power": typed.given("target"), "highest": highest, "method": typed.given("method")}
        source.let("result", call("hp.size", comparison, **asked, **source.run(typed)))

    def _surface(self, typed: Typed, source: Source) -> None:
        self._write_first(typed, source)
        lists = {name: list(typed[name]) for name in self.lists if typed[name] is not None}
        many = [name for name, values in lists.items() if len(values) > 1]
        for name, values in lists.items():
            typed.stand_in(name, Code(name) if name in many else values[0])
        arguments = ", ".join(("n", "effect", *many))
        built = self._written(Code("n"), Code("effect"), typed)
        comparison = source.define("comparison", arguments, built)
        labels = ", ".join(f'"{name}": {name}' for name in (*many, "n"))
        cells = source.text_of(
            "cells",
            "[",
            f"    ({{{labels}}}, {comparison}({arguments}))",
            *(f"    for {name} in {flat(lists[name])}" for name in many),
            f"    for n in {flat(list(typed['n']))}",
            f"    for effect in {flat(list(typed['effect']))}",
            "]",
        )
        shown = {name: typed.given(name) for name in ("method", "draw", "along")}
        source.let("result", call("hp.surface", cells, **shown, **source.run(typed)))

    def _written(self, n: Value, effect: Value, typed: Typed) -> Call:
        """The call without the arguments that an option of the same name leaves at its default."""
        return _shortened(self.comparison(n, effect, typed), typed)

    def forms(self) -> tuple[Form, ...]:
        """The forms of power, detectable effect and size, each with the way to the other two."""
        page = self.page
        if page is None:
            return ()
        fields = {**self.fields, **_SIMULATION_FIELDS, "n": self.n, "effect": self.effect, "power": TARGET}
        parts = groups_of((*page.parts, _SIMULATION), fields)
        carries = tuple(link_of(name, fields[name]) for part in page.parts for name in part.fields)

        def steps(here: str) -> tuple[Next, ...]:
            return tuple(
                Next(
                    (self.group, there),
                    _WORDS[there],
                    (*carries, *(one for one in _own(there) if one in _own(here))),
                    fills={one: place for one, place in _FINDS[here].items() if one in _own(there)},
                )
                for there in _WORDS
                if there != here
            )

        return tuple(
            Form(
                (self.group, question),
                "compare",
                title.format(page.name),
                lead,
                (Group("The comparison", tuple(control_of(name, fields[name]) for name in own)), *parts),
                live={"method": "analytic"},
                next=(*steps(question), *page.after),
            )
            for question, (title, lead, own) in _ASKS.items()
        )


def _own(question: str) -> tuple[str, ...]:
    """What a question asks of size and effect."""
    return tuple(name for name in _ASKS[question][2] if name != "power")


def _shortened(made: Call, typed: Typed) -> Call:
    def is_kept(name: str, value: Value) -> bool:
        return name not in typed or value != typed[name] or typed.given(name) is not None

    def inner(value: Value) -> Value:
        return _shortened(value, typed) if isinstance(value, Call) else value

    named = {name: inner(one) for name, one in made.named.items() if is_kept(name, one)}
    return replace(made, given=tuple(map(inner, made.given)), named=named)
