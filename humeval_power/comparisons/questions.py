"""The questions power, mde, size and surface of a kind of comparison, from its declaration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import click

from humeval_power.asking.calls import Caller, ProgramSource, TypedValues, evaluated
from humeval_power.asking.command import Command
from humeval_power.asking.command_groups import CommandGroup
from humeval_power.asking.declared import Calls, Declaration, Part, groups_of
from humeval_power.asking.expressions import Call, Code, Value, call, flat
from humeval_power.asking.form import Form, Next
from humeval_power.asking.options import Function, decorated, link_of, option_of
from humeval_power.asking.output import note_once
from humeval_power.asking.results import with_result
from humeval_power.asking.run import Run, with_run
from humeval_power.asking.study_file import EffectRange, any_number
from humeval_power.asking.vocabulary import DRAW, METHOD, SEED, SIMULATIONS, TARGET
from humeval_power.choices import DEFAULT_SIMULATIONS, HIGHEST, Method
from humeval_power.errors import InputError, Problem
from humeval_power.fields import Field, listed, number_list, own, whole, word
from humeval_power.saying.document import Along, Drawn

if TYPE_CHECKING:
    from humeval_power.saying.result import Result
    from humeval_power.scenarios.contract import Scenario
    from humeval_power.studies.power.question_results import RequiredResult, SurfaceResult
    from humeval_power.studies.power.questions import By
    from humeval_power.studies.power.wording import Wording

# What was typed, by name: values, or in a program of a surface names that stand for them.
Given = Any
# The call that makes a comparison of a size and a true effect.
Comparison = Callable[[Value, Value, Given], Call]
# Calls that comparisons share, and what they give, by the names under which a comparison finds it.
Before = Callable[[Given, Calls], Mapping[str, Any]]
_BEFORE = f"{__name__}.before"  # where a command keeps what such calls gave
_TYPICAL = 10_000  # size at which a search for one is costed
_WORDS = {
    "power": "Power at this size and effect",
    "mde": "Smallest effect that this size finds",
    "size": "Size that finds this effect",
}
_PAGES = {
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
_HIGHEST = own(whole(2), "Where the search for a size ends.", usual=HIGHEST)
_ALONG = own(word(Along), "What runs along the figure's x axis. [what has more values]", option="x")


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
    before : calls that are made once, before the comparisons; what they give is in `given`.
    effect_range : where a true effect can lie.
    costed_as : the name of the work that the options ask for. [that of the wording]
    most : the largest size that the options allow, if they allow none beyond.
    shows_none : whether what is to be shown is that there is no effect, or none that matters.
    remarks : what a reader should know of what is assumed.
    build : makes a scenario that no public call makes, such as a function of the user's; `no_program` says so.
    """

    group: str
    wording: Wording
    n: Field
    effect: Field
    fields: Mapping[str, Field]
    comparison: Comparison | None = None
    largest_effect: Callable[[Given], float | str] = lambda _given: 1.0
    before: Before = lambda _given, _calls: {}
    lists: tuple[str, ...] = ()
    page: QuestionPage | None = None
    method: Method = "both"
    simulations: int = DEFAULT_SIMULATIONS
    effect_range: Callable[[Given], EffectRange] = any_number
    costed_as: Callable[[Given], str] | None = None
    most: Callable[[Given], int | None] = lambda _given: None
    shows_none: Callable[[Given], bool] = lambda _given: False
    remarks: Callable[[Given], Iterable[str]] = lambda _given: ()
    build: Callable[[int, float, Given], Scenario] | None = None
    no_program: str = ""

    def commands(self) -> list[Command]:
        """The commands power, mde, size and surface."""
        n = option_of("n", replace(self.n, kind=whole(2), needed=True))
        effect = option_of("effect", replace(self.effect, needed=True))
        lists = tuple(
            option_of(name, replace(one, kind=listed(number_list(kind), "LIST"), needed=True, usual=None))
            for name, one, kind in (("n", self.n, int), ("effect", self.effect, float))
        )
        highest, along = option_of("highest", _HIGHEST), option_of("along", _ALONG)
        several = (*lists, option_of("draw", DRAW), along)
        target = option_of("power", TARGET)
        return [
            self._command("power", self._power, self._write_power, (n, effect)),
            self._command("mde", self._mde, self._write_mde, (n, target)),
            self._command("size", self._size, self._write_size, (effect, target, highest)),
            self._command("surface", self._surface, self._write_surface, several, lists=self.lists),
        ]

    def _command(
        self,
        name: str,
        answer: Callable[..., Result],
        write: Callable[[TypedValues, ProgramSource], None],
        functions: Sequence[Function],
        *,
        lists: Sequence[str] = (),
    ) -> Command:
        def run(**values: Any) -> Result:
            return answer(**values)

        options = [
            option_of(each, _one_or_list_of(one) if each in lists else one)
            for each, one in self.fields.items()
        ]
        method = option_of("method", replace(METHOD, usual=self.method))
        command = decorated(with_run(with_result(configured=True)(run)), (*functions, *options, method))
        made = click.command(name, help=answer.__doc__, cls=Command, no_program=self.no_program)(command)
        made.program = None if self.no_program else write
        made.form = self._form(name)
        return made

    def _power(self, n: int, effect: float, method: Method, run: Run, **given: Any) -> Result:
        """How often would a comparison of this size find an effect of this size?"""
        from humeval_power.studies.power import calls
        from humeval_power.studies.power.questions import ways_of

        self._range(given).check([effect])
        scenario = self.scenario(n, effect, given)
        self._announce([n], ways_of(method, scenario), run, given)
        return calls.power(scenario, method=method, **self._how(run, {"n": n, **given}))

    def _mde(self, n: int, power: float, method: Method, run: Run, **given: Any) -> Result:
        """The smallest effect that a comparison of this size finds with the target power."""
        from humeval_power.studies.power import calls
        from humeval_power.studies.power.questions import ways_of
        from humeval_power.studies.power.workload import SEARCH_STEPS

        largest = self.largest_effect(self._prepared(given))
        if isinstance(largest, str):
            largest = float(evaluated(call(largest, self.scenario(n, 0.0, given))))
        scenario = self.scenario(n, largest, given)
        by = ways_of(method, scenario, is_search=True)
        self._announce([n], by, run, given, times=SEARCH_STEPS)
        options = self._how(run, {"n": n, **given})
        return calls.detectable_effect(scenario, largest=largest, power=power, method=method, **options)

    def _size(
        self, effect: float, power: float, highest: int, method: Method, run: Run, **given: Any
    ) -> RequiredResult:
        """The smallest size that finds this effect with the target power."""
        if effect == 0 and not self.shows_none(given):
            raise InputError("--effect 0: no size finds it. Give the smallest effect that would matter.")
        from humeval_power.studies.power import calls
        from humeval_power.studies.power.questions import ways_of
        from humeval_power.studies.power.workload import SEARCH_STEPS

        self._range(given).check([effect])
        most = self.most(given)
        highest = highest if most is None else min(highest, most)
        typical = min(highest, _TYPICAL)
        by = ways_of(method, self.scenario(typical, effect, given), is_search=True)
        self._announce([typical], by, run, given, times=SEARCH_STEPS)
        return calls.required(
            lambda n: self.scenario(n, effect, given),
            power=power,
            highest=highest,
            method=method,
            **self._how(run, {"effect": effect, **given}),
        )

    def _surface(
        self,
        n: tuple[int, ...],
        effect: tuple[float, ...],
        draw: Drawn,
        along: Along | None,
        method: Method,
        run: Run,
        **given: Any,
    ) -> SurfaceResult:
        """Power over many sizes and effects, with a figure."""
        from humeval_power.studies.power import calls
        from humeval_power.studies.power.questions import ways_of

        cells = self._cells(n, effect, given)
        sizes = [int(labels["n"]) for labels, _ in cells]
        self._announce(sizes, ways_of(method, cells[0][1], is_search=True), run, given)
        single = {name: one[0] for name, one in self._typed_lists(given).items() if len(one) == 1}
        options = self._how(run, {**given, **single})
        return calls.surface(cells, method=method, draw=draw, along=along, **options)

    def scenario(self, n: int, effect: float, given: Given) -> Any:
        """The scenario of a size and a true effect."""
        if self.build is not None:
            return self.build(n, effect, given)
        given = self._prepared(given)
        for said in self.remarks(given):
            note_once(said)
        assert self.comparison is not None
        return evaluated(self.comparison(n, effect, given))

    def _prepared(self, given: Given) -> dict[str, Any]:
        """What is assumed, and what the calls before give of it; a command makes them once."""
        context = click.get_current_context(silent=True)
        known = {} if context is None else context.meta.setdefault(_BEFORE, {})
        assumed = tuple(given[one.sets or name] for name, one in self.fields.items())
        if assumed not in known:
            known[assumed] = self.before(given, Caller())
        return {**given, **known[assumed]}

    def _range(self, given: Given) -> EffectRange:
        return self.effect_range(self._prepared(given))

    def _announce(
        self, sizes: Sequence[int], by: Sequence[By], run: Run, given: Given, *, times: int = 1
    ) -> None:
        """Say how long comparisons of these sizes will take to simulate, or refuse them; where nothing is
        simulated, refuse only numbers of simulations that make no sense."""
        from humeval_power.studies.power.typed import MOST, tell_work
        from humeval_power.studies.power.workload import NOTHING, comparison_workload

        n_simulations = run.simulations(self.simulations)
        if "simulation" not in by and n_simulations <= MOST:
            return
        kind = self.wording.name if self.costed_as is None else self.costed_as(self._prepared(given))
        work, drawn = NOTHING, times * n_simulations
        for n in sizes:
            flips = given.get("n_flips")
            work += comparison_workload(kind, n, n_simulations=drawn, n_jobs=run.n_jobs, flips=flips)
        tell_work(
            work,
            n_simulations=n_simulations,
            way_out="--method analytic" if "computed" in by else "",
        )

    def _how(self, run: Run, given: Given) -> dict[str, Any]:
        """What every question is asked with; of what was typed, what JSON can hold."""
        return {
            "n_simulations": run.simulations(self.simulations),
            "seed": run.seed,
            "n_jobs": run.n_jobs,
            "wording": self.wording,
            "given": {
                name: list(value) if isinstance(value, tuple) else value for name, value in given.items()
            },
        }

    def _typed_lists(self, given: Given) -> dict[str, tuple[float, ...]]:
        return {name: given[name] for name in self.lists if given[name] is not None}

    def _cells(
        self, sizes: Sequence[int], effects: Sequence[float], given: Given
    ) -> list[tuple[Mapping[str, Any], Scenario]]:
        """Each scenario with its labels: `n`, and what is assumed where several values of it were given; of every
        combination that cannot be, the problems at once."""
        cells: list[tuple[Mapping[str, Any], Scenario]] = []
        problems: list[Problem] = []
        for labels, one in self._combinations(given):
            self._range(one).check(effects)
            for n, effect in product(sizes, effects):
                try:
                    cells.append(({**labels, "n": n}, self.scenario(n, effect, one)))
                except InputError as error:
                    problems += error.problems
        if problems:
            raise InputError(list(dict.fromkeys(problems)))
        return cells

    def _combinations(self, given: Given) -> Iterator[tuple[dict[str, float], dict[str, Any]]]:
        """Labels, and the options with one value each."""
        lists = self._typed_lists(given)
        for values in product(*lists.values()):
            one = dict(zip(lists, values, strict=True))
            yield {name: one[name] for name in lists if len(lists[name]) > 1}, {**given, **one}

    def _write_power(self, typed: TypedValues, source: ProgramSource) -> None:
        comparison = source.let("comparison", self._written(typed["n"], typed["effect"], typed, source))
        options = {"method": typed.given("method"), **source.run(typed)}
        source.let("result", call("hp.power", comparison, **options))

    def _write_mde(self, typed: TypedValues, source: ProgramSource) -> None:
        largest: Value = self.largest_effect(self._prepared(typed.context.params))
        comparison = source.let("comparison", self._written(typed["n"], 0.0, typed, source))
        if isinstance(largest, str):
            largest = call(largest, comparison)
        options = {"power": typed.given("power"), "method": typed.given("method"), **source.run(typed)}
        source.let("result", call("hp.mde", comparison, largest=largest, **options))

    def _write_size(self, typed: TypedValues, source: ProgramSource) -> None:
        built = self._written(Code("n"), typed["effect"], typed, source)
        comparison, most = source.define("comparison", "n", built), self.most(typed)
        highest = typed.given("highest") if most is None or most >= typed["highest"] else most
        options = {"power": typed.given("power"), "highest": highest, "method": typed.given("method")}
        source.let("result", call("hp.size", comparison, **options, **source.run(typed)))

    def _write_surface(self, typed: TypedValues, source: ProgramSource) -> None:
        lists = {name: list(typed[name]) for name in self.lists if typed[name] is not None}
        many = [name for name, values in lists.items() if len(values) > 1]
        for name, values in lists.items():
            typed.stand_in(name, Code(name) if name in many else values[0])
        arguments = ", ".join(("n", "effect", *many))
        built = self._written(Code("n"), Code("effect"), typed, source)
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

    def _written(self, n: Value, effect: Value, typed: TypedValues, source: ProgramSource) -> Call:
        """The calls before, then that of a comparison."""
        for name, value in self.before(typed, source).items():
            typed.stand_in(name, value)
        assert self.comparison is not None
        return _shortened(self.comparison(n, effect, typed), typed)

    def _form(self, question: str) -> Form | None:
        """The form of power, detectable effect or size, with the way to the other two."""
        page = self.page
        if page is None or question not in _PAGES:
            return None
        fields = {**self.fields, **_SIMULATION_FIELDS, "n": self.n, "effect": self.effect, "power": TARGET}
        carries = tuple(link_of(name, fields[name]) for part in page.parts for name in part.fields)
        title, lead, own = _PAGES[question]
        steps = tuple(
            Next(
                (self.group, there),
                _WORDS[there],
                (*carries, *(one for one in _own(there) if one in _own(question))),
                fills={one: place for one, place in _FINDS[question].items() if one in _own(there)},
            )
            for there in _WORDS
            if there != question
        )
        return Form(
            (self.group, question),
            "compare",
            title.format(page.name),
            lead,
            groups_of((Part("The comparison", own), *page.parts, _SIMULATION), fields),
            live={"method": "analytic"},
            next=(*steps, *page.after),
        )


def _own(question: str) -> tuple[str, ...]:
    """What a question asks of size and effect."""
    return tuple(name for name in _PAGES[question][2] if name != "power")


def _one_or_list_of(one: Field) -> Field:
    return replace(one, kind=listed(number_list(float), "LIST"), note=f"{one.note} One or a list.".strip())


def _shortened(made: Call, typed: TypedValues) -> Call:
    """A call, and those within it, without the arguments that an option leaves at its default."""

    def is_kept(name: str, value: Value) -> bool:
        return name not in typed or value != typed[name] or typed.given(name) is not None

    def inner(value: Value) -> Value:
        return _shortened(value, typed) if isinstance(value, Call) else value

    named = {name: inner(one) for name, one in made.named.items() if is_kept(name, one)}
    on = _shortened(made.on, typed) if isinstance(made.on, Call) else made.on
    return replace(made, given=tuple(map(inner, made.given)), named=named, on=on)


# A subject: a group of declared commands.


@dataclass(frozen=True)
class Subject:
    """Commands that stand under one word.

    parts : its commands, in the order of the page; of comparisons their four questions are one part.
    """

    name: str
    help: str
    parts: tuple[Declaration | Questions | click.Command, ...]
    group: type[click.Group] = CommandGroup

    def command(self) -> click.Group:
        """The group of the terminal."""
        group = self.group(self.name, help=self.help)
        for part in self.parts:
            for command in self._commands(part):
                group.add_command(command)
        return group

    @staticmethod
    def _commands(part: Declaration | Questions | click.Command) -> Iterator[click.Command]:
        if isinstance(part, Questions):
            yield from part.commands()
        else:
            yield part.command() if isinstance(part, Declaration) else part
