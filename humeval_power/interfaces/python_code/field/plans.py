"""`plan` as a program: of two systems, and of several systems or criteria."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from humeval_power.interfaces.python_code.effects import Effect, difference_of
from humeval_power.interfaces.python_code.expressions import Call, Code, Value, call, flat, quoted
from humeval_power.interfaces.python_code.families import family_of as tests_of
from humeval_power.interfaces.python_code.field.costs import amount, costs_of
from humeval_power.interfaces.python_code.field.looks import schedule_of
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
from humeval_power.interfaces.python_code.study.cells import (
    assumptions,
    family_of,
    losses_of,
    refuse_latent,
)
from humeval_power.interfaces.python_code.tables import ratings_of
from humeval_power.interfaces.python_code.typed import GapError, Typed

_LISTS = ("workers", "items", "documents", "ratings_per_item")


def plan(typed: Typed, source: Source) -> None:
    """The cheapest design that finds the effect, or the best that a budget buys."""
    refuse_latent(typed)
    typed.refuse(["observed_power"], "takes the pilot's own estimate, which is no plan")
    if _is_many(typed):
        _many(typed, source)
        return
    settings, pilot = _settings(typed, source)
    assumed = _assumed(typed, settings, pilot, source)
    effect = _effect(typed, assumed)
    shares, family, link = typed["shares"], "gaussian", "probit"
    if shares is not None:
        within = call("hp.study.in_categories", assumed, list(shares), link=typed.given("link"))
        difference = {} if effect.value == 0 else {"difference": effect.value}
        assumed = source.let("assumed", Call(within.function, within.given, {**within.named, **difference}))
    if settings.entries:
        families = {family_of(typed, entry) for entry in settings.entries}
        family = families.pop() if len(families) == 1 and not pilot else "gaussian"
        link = settings.entries[0].link
        if pilot and families - {"gaussian"}:
            raise GapError("parameters: categories beside a pilot")
    if shares is not None:
        family = "binary" if len(shares) == 2 else "ordinal"
    rule = rule_of(typed, _margin_scale(typed, assumed), family=family, link=link)
    costs = costs_of(typed, source)
    if costs is None:
        raise GapError("no price of a rating")
    found = call(
        "hp.make_plan",
        assumed,
        effect=effect.stated,
        costs=source.let("costs", costs),
        **_limits(typed, source),
        target=typed.given("target"),
        rule=rule,
        looks=schedule_of(typed),
        **losses_of(typed),
        **{name: typed.given(name) for name in ("robust", "confidence", "safe")},
        **_stated(typed, source),
        **run_of(typed),
    )
    source.let("result", found)


def _is_many(typed: Typed) -> bool:
    said = [typed[name] for name in ("n_systems", "system_means", "criteria")]
    named = typed["systems"]
    fitted = any(is_analysis(look_into(path)) for path in typed["parameters"])
    return any(said) or fitted or (named is not None and len(named) > 2)


@dataclass(frozen=True, slots=True)
class Pilot:
    """The table to plan from: its ratings' name."""

    ratings: Code


def _settings(typed: Typed, source: Source) -> tuple[Settings, Pilot | None]:
    """What was named, and the pilot that comes before it."""
    pilot = None
    if typed["file"] is not None:
        pilot = Pilot(ratings_of(typed, source))
    else:
        typed.allow("worker", "item", "system", "rating", "criterion_column", "criterion", "missing")
        typed.allow("rejected_rows", "document", "covariates", "order_column")
    return settings_of(typed, source), pilot


def _assumed(typed: Typed, settings: Settings, pilot: Pilot | None, source: Source) -> Code:
    """Everything that is assumed, under a name; the usual where nothing was named."""
    systems = typed["systems"]
    named: Value = None if systems is None else Code(f"({', '.join(map(quoted, systems))})")
    if not settings.entries and pilot is None:
        scale = settings.scale
        usual = call("hp.plans.usual_assumptions", *(() if scale is None else (scale,)), systems=named)
        typed.allow("allow_not_identified")
        return source.let("assumed", usual)
    rest = assumptions(settings, named)
    entries = [*_own(typed, pilot), *_sequence(rest.given[0])]
    return source.let(
        "assumptions" if _is_taken(settings) else "assumed", Call(rest.function, (entries,), rest.named)
    )


def _is_taken(settings: Settings) -> bool:
    return any(isinstance(entry.assumed, Code) for entry in settings.entries)


def _own(typed: Typed, pilot: Pilot | None) -> list[Value]:
    if pilot is None:
        return []
    rule = None
    if typed["shares"] is None and typed.given("family") is not None:
        rule = call("hp.DecisionRule", family=typed.given("family"), link=typed.given("link"))
    allow = True if typed.given("allow_not_identified") else None
    return [call("hp.pilot", pilot.ratings, rule=rule, allow_not_identified=allow)]


def _sequence(value: Value) -> Sequence[Value]:
    assert isinstance(value, Sequence)
    assert not isinstance(value, str)
    return value


def _effect(typed: Typed, assumed: Code) -> Effect:
    points, value = typed["effect_raw"], typed["effect"]
    if points is not None:
        said = difference_of(points, Code(f"{assumed}.scale"))
        return Effect(Code(f"{flat(said)}.value"), said)
    return Effect(0.0 if value is None else value)


def _margin_scale(typed: Typed, assumed: Code) -> Code | None:
    return None if typed["margin_raw"] is None else Code(f"{assumed}.scale")


def _limits(typed: Typed, source: Source) -> dict[str, Value]:
    """What may vary, and what may be spent."""
    return {
        **{name: None if typed[name] is None else listed(typed[name]) for name in _LISTS},
        "budget": amount(typed["budget"], source),
        **{name: typed.given(name) for name in ("spend_budget", "max_workers", "max_documents", "pairing")},
        "max_ratings_per_worker": typed["max_ratings_per_worker"],
    }


def listed(values: Sequence[int]) -> Value:
    """Numbers as a range where they are one, else as a list."""
    steps = {after - before for before, after in pairwise(values)}
    if len(values) > 3 and len(steps) == 1 and (step := steps.pop()) > 0:
        return range(values[0], values[-1] + 1, step)
    return list(values)


def _stated(typed: Typed, source: Source) -> dict[str, Value]:
    """What the plan is to say."""
    created: datetime.date | None = typed["created"]
    rules = typed.given("exclude_if")
    date: Value = None
    if created is not None:
        source.imports("import datetime")
        date = Code(f"datetime.date({created.year}, {created.month}, {created.day})")
    return {
        "question": typed.given("question"),
        "exclusions": list(typed["exclusions"]) or None,
        "exclude_if": exclusion_rules(rules.limits) if rules else None,
        "created": date,
    }


def exclusion_rules(limits: Mapping[str, float]) -> Call:
    """The rules by which workers are left out."""
    text = ",".join(f"{name}={limit!r}" for name, limit in limits.items())
    return call("hp.plans.ExclusionRules.parse", text)


def _many(typed: Typed, source: Source) -> None:
    """A plan of several systems, or of several criteria."""
    if typed["file"] is not None:
        raise GapError("file: how many systems a pilot has is known when it is read")
    typed.allow("worker", "item", "system", "rating", "criterion_column", "criterion", "missing")
    typed.allow("rejected_rows", "document", "covariates", "order_column")
    if not (typed["parameters"] or typed["preset"] or typed["values"]):
        raise GapError("no parameters: the usual ones of several systems")
    if any(is_analysis(look_into(path)) for path in typed["parameters"]):
        raise GapError("parameters: an analysis of several systems")
    settings = settings_of(typed, source)
    scale = settings.scale
    known = source.let("known", assumptions(settings, None))
    points, value = typed["effect_raw"], typed["effect"]
    said: Value = None
    effect: Value = value
    if points is not None:
        said = source.let("effect", difference_of(points, scale))
        effect = Code(f"{said}.value")
    elif value is not None and scale is not None:
        said = call("hp.Difference", value, scale)
    systems = {entry.name: _systems(typed, entry, effect, known) for entry in settings.entries}
    goal, costs = typed.given("goal"), costs_of(typed, source)
    limits = {name: one for name, one in _limits(typed, source).items() if "documents" not in name}
    typed.allow("documents", "max_documents")
    found = call(
        "hp.plans.make_systems_plan",
        source.let("systems", systems),
        costs=None if costs is None else source.let("costs", costs),
        **limits,
        family=tests_of(typed),
        goal=None if goal == "pair" else goal,
        criteria=list(typed["criteria"]) or None,
        target=typed.given("target"),
        rule=rule_of(typed, scale),
        robust=typed.given("robust"),
        sources=known,
        said=said,
        **_stated(typed, source),
        **run_of(typed),
    )
    source.let("result", found)


def _systems(typed: Typed, entry: Setting, effect: Value, known: Code) -> Call:
    names, means = typed["systems"], typed["system_means"]
    count = typed["n_systems"] or len(names or means or (1, 2))
    given: tuple[Value, ...] = (entry.parameters,)
    named: dict[str, Value] = {}
    if names is not None:
        named = {"names": list(names)}
    elif count == 2:
        named = {"names": Code(f"{known}.systems")}
    else:
        given = (*given, count)
    base = Call("hp.study.SystemsParameters.of_parameters", given, named)
    if means is not None:
        return base.method("with_means", list(means))
    return base.method("with_pattern", typed["pattern"] or "one", effect)
