"""The questions about several systems, as programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humeval_power.interfaces.python_code.designs import design_of
from humeval_power.interfaces.python_code.effects import effect_of
from humeval_power.interfaces.python_code.expressions import Call, Code, Value, call
from humeval_power.interfaces.python_code.families import family_of
from humeval_power.interfaces.python_code.rules import rule_of
from humeval_power.interfaces.python_code.runs import run_of
from humeval_power.interfaces.python_code.settings import (
    Setting,
    Settings,
    is_analysis,
    look_into,
    settings_of,
)
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.study.cells import response_of
from humeval_power.interfaces.python_code.typed import GapError, Typed

_TO_START = 0.1  # the difference of a pattern from which `mde` finds its answer in proportion
_PATTERN = "one"


def is_of_systems(typed: Typed) -> bool:
    """Whether the question is about several systems."""
    said = [typed[name] for name in ("n_systems", "systems", "system_means")]
    if any(one is not None for one in said):
        return True
    return any(is_analysis(look_into(path)) for path in typed["parameters"])


@dataclass(frozen=True, slots=True)
class Systems:
    """What is assumed of several systems, before their means are stated."""

    by_name: Mapping[str, Value]
    n_systems: int
    settings: Settings
    means_differ: bool

    @property
    def only(self) -> Value:
        """The single one of a command that takes one."""
        if len(self.by_name) != 1:
            raise GapError("several sets of parameters where one is needed")
        return next(iter(self.by_name.values()))


def systems_of(typed: Typed, source: Source) -> Systems:
    """What is assumed, from an analysis of all systems or from parameters of two."""
    fitted = [path for path in typed["parameters"] if is_analysis(look_into(path))]
    typed.refuse(["correct_over"], "is for several criteria")
    if fitted:
        return _of_analysis(typed, fitted, source)
    settings = settings_of(typed, source)
    names, means = typed["systems"], typed["system_means"]
    counted = typed["n_systems"] or len(names or means or ())
    found = {
        entry.name: call(
            "hp.study.SystemsParameters.of_parameters",
            entry.parameters,
            *(() if names else (counted,)),
            names=list(names) if names else None,
        )
        for entry in settings.entries
    }
    return Systems(found, counted, settings, means_differ=False)


def _of_analysis(typed: Typed, fitted: Sequence[str], source: Source) -> Systems:
    if len(typed["parameters"]) > 1 or typed["preset"] or typed["values"] is not None:
        raise GapError("parameters: an analysis of several systems beside other sources")
    record = look_into(fitted[0])
    means: Sequence[Mapping[str, Any]] = record.get("system_means", ())
    pilot = source.let("pilot", call("hp.plans.read_joint", fitted[0]))
    names, count = typed["systems"], typed["n_systems"] or len(typed["system_means"] or means)
    parameters: Value = Code(f"{pilot}.parameters")
    if names is not None:
        parameters, count = call("hp.plans.for_systems", parameters, list(names)), len(names)
    elif count != len(means):
        raise GapError("n_systems: other than those that were analysed")
    scale = Code(f"{pilot}.scale") if record.get("scale") else None
    if typed["scale"] is not None:
        scale = source.let(
            "scale",
            call(
                "hp.RatingScale.parse",
                typed["scale"],
                higher_is_better=False if typed["lower_is_better"] else None,
            ),
        )
    entry = Setting(Path(fitted[0]).stem, parameters, parameters, {})
    differ = len({one["mean"] for one in means}) > 1
    return Systems({entry.name: parameters}, count, Settings((entry,), scale), differ)


def at_means(typed: Typed, parameters: Value, effect: Value) -> Value:
    """The systems with their true means; as they are where nothing states them."""
    means, pattern = typed["system_means"], typed["pattern"]
    if means is not None:
        return Call("with_means", (list(means),), {}, _callable(parameters))
    if effect is None:
        return parameters
    return Call("with_pattern", (pattern or _PATTERN, effect), {}, _callable(parameters))


def _callable(value: Value) -> Code | Call:
    assert isinstance(value, Code | Call)
    return value


def study_call(typed: Typed, systems: Systems, parameters: Value, design: Value, **further: Value) -> Call:
    """A study of several systems, with its tests, its goal and what counts as power."""
    goal = typed.given("goal")
    return call(
        "hp.study.SystemsStudy",
        parameters,
        design,
        family=family_of(typed),
        rule=rule_of(typed, systems.settings.scale, finds_margin=bool(further.get("finds_margin"))),
        goal=None if goal == "pair" else goal,
        **response_of(typed, systems.settings),
    )


def _effect(typed: Typed, systems: Systems) -> Value:
    found = effect_of(typed, systems.settings.scale)
    return None if found is None else found.value


def _one(typed: Typed, source: Source, effect: Value, systems: Systems, design: Value) -> Code:
    base = systems.only
    if isinstance(base, Call):
        base = source.let("systems", base)
    parameters = at_means(typed, base, effect)
    parameters = parameters if parameters is base else source.let("parameters", parameters)
    return source.let("study", study_call(typed, systems, parameters, design))


def systems_power(typed: Typed, source: Source) -> None:
    """How often a study of several systems reaches its goal."""
    systems = systems_of(typed, source)
    design = design_of(typed, typed["workers"], typed["items"], n_systems=systems.n_systems)
    study = _one(typed, source, _effect(typed, systems), systems, design)
    run = run_of(typed, "method", "strict")
    source.let("result", call("hp.study.systems_power", study, **run))


def systems_mde(typed: Typed, source: Source) -> None:
    """The smallest difference with which a study of several systems reaches its goal."""
    systems = systems_of(typed, source)
    design = design_of(typed, typed["workers"], typed["items"], n_systems=systems.n_systems)
    known = systems.means_differ and typed["pattern"] is None
    study = _one(typed, source, None if known else _TO_START, systems, design)
    result = call(
        "hp.study.systems_detectable",
        study,
        power=typed.given("target"),
        scale=systems.settings.scale,
        **run_of(typed, "method"),
    )
    source.let("result", result)


def systems_size(typed: Typed, source: Source) -> None:
    """The fewest workers, items or ratings per item with which a study of several systems reaches its goal."""
    systems = systems_of(typed, source)
    sought, workers, items = typed["sought"], typed["workers"], typed["items"]
    per_item = None if sought == "ratings-per-item" else typed["ratings_per_item"]
    most = workers or (2 if per_item is None else per_item + 1)  # more: not every worker rates every item
    any_size = call("hp.crossed", 2, 2, n_systems=None if systems.n_systems == 2 else systems.n_systems)
    study = _one(typed, source, _effect(typed, systems), systems, any_size)
    counts = call(
        "hp.plans.StudyCounts",
        most,
        items or 2,
        per_item or most,
        typed["paired"],
        n_systems=systems.n_systems,
    )
    result = call(
        "hp.study.systems_size",
        study,
        sought,
        counts,
        power=typed.given("target"),
        method=typed.given("method"),
        **run_of(typed),
    )
    source.let("result", result)


def systems_surface(typed: Typed, source: Source) -> None:
    """Power of several systems over sizes and effects."""
    systems = systems_of(typed, source)
    effects = typed["effect"] or [None]
    if typed["effect_raw"] is not None:
        raise GapError("effect_raw: in points, of several systems over a grid")
    cells = {
        name: [at_means(typed, parameters, effect) for effect in effects]
        for name, parameters in systems.by_name.items()
    }
    known = source.let("systems", [one for each in cells.values() for one in each])
    design = design_of(typed, Code("workers"), Code("items"), n_systems=systems.n_systems)
    study = source.define(
        "study", "parameters, workers, items", study_call(typed, systems, Code("parameters"), design)
    )
    source.let(
        "studies",
        Code(
            f"[\n    {study}(parameters, workers, items)\n    for parameters in {known}\n"
            f"    for workers in {list(typed['workers'])}\n    for items in {list(typed['items'])}\n]"
        ),
    )
    typed.refuse(["precision", "strict"], "is of two systems")
    source.let("result", call("hp.study.systems_surface", Code("studies"), **run_of(typed)))
