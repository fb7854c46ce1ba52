"""`judge`, as programs."""

from __future__ import annotations

from humeval_power.interfaces.python_code.effects import Effect, effect_of
from humeval_power.interfaces.python_code.expressions import Call, Code, Value, call
from humeval_power.interfaces.python_code.field.costs import amount, costs_of
from humeval_power.interfaces.python_code.rules import rule_of
from humeval_power.interfaces.python_code.runs import seed_of
from humeval_power.interfaces.python_code.settings import settings_of
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import Typed


def mean(typed: Typed, source: Source) -> None:
    """How precise a mean is with a judge's help."""
    asked = {name: typed[name] for name in ("n", "extra", "correlation")}
    kept = {"sd": typed.given("sd"), "sd_judge": typed["sd_judge"]}
    source.let("result", call("hp.judge.mean", **asked, **kept))


def study(typed: Typed, source: Source) -> None:
    """How many human ratings a judge saves."""
    settings = settings_of(typed, source)
    said = effect_of(typed, settings.scale)
    assert said is not None  # asked for
    rule = rule_of(typed, settings.scale)
    found = call(
        "hp.judge.study",
        settings.only.parameters,
        workers=typed["workers"],
        items=typed["items"],
        effect=_told(said, settings.scale),
        extra=typed["extra"],
        correlation=typed["correlation"],
        ratings_per_item=typed["ratings_per_item"],
        rule=rule,
    )
    source.let("result", found)


def _told(said: Effect, scale: Code | None) -> Value:
    """The difference with its scale, where there is one."""
    if said.said is not None or scale is None:
        return said.stated
    return call("hp.Difference", said.value, scale)


def estimate(typed: Typed, source: Source) -> None:
    """Means and differences from human values and a judge's scores."""
    found = call(
        "hp.judge.estimate_table",
        source.let("table", _table(typed)),
        systems=_names(typed["systems"]),
        baseline=typed["baseline"],
        own=_names(typed["own"]),
        confidence=typed.given("confidence"),
        seed=seed_of(typed),
    )
    source.let("result", found)


def plan(typed: Typed, source: Source) -> None:
    """How many human labels, by whom, at what price."""
    settings = settings_of(typed, source)
    said = effect_of(typed, settings.scale)
    assert said is not None  # asked for
    costs = costs_of(typed, source)
    low, high = typed["min_workers"], typed["max_workers"]
    ranged = typed.given("min_workers") is not None or typed.given("max_workers") is not None
    n_simulations = Code("0") if typed.given("no_proof") else typed.given("simulations")
    found = call(
        "hp.judge.plan",
        settings.only.parameters,
        effect=_told(said, settings.scale),
        extra=typed["extra"],
        correlation=typed["correlation"],
        costs=None if costs is None else source.let("costs", costs),
        power=typed.given("target"),
        price_per_score=amount(typed.given("cost_per_score"), source),
        workers=Code(f"({low}, {high})") if ranged else None,
        max_ratings_per_item=typed.given("max_ratings_per_item"),
        max_ratings_per_worker=typed["max_ratings_per_worker"],
        rule=rule_of(typed, settings.scale),
        n_simulations=n_simulations,
        seed=seed_of(typed),
    )
    source.let("result", found)


def agreement(typed: Typed, source: Source) -> None:
    """How well a judge agrees with people, beside how well they agree with each other."""
    found = call(
        "hp.judge.agreement",
        source.let("table", _table(typed)),
        systems=_names(typed["systems"]),
        confidence=typed.given("confidence"),
    )
    source.let("result", found)


def bias(typed: Typed, source: Source) -> None:
    """Whether a judge prefers the outputs of its own family."""
    found = call(
        "hp.judge.bias",
        source.let("table", _table(typed)),
        _names(typed["own"]),
        same_scale=typed.given("same_scale"),
        confidence=typed.given("confidence"),
    )
    source.let("result", found)


def _table(typed: Typed) -> Call:
    """The table as it is read; who rated is asked by commands that can do without."""
    average = typed.given("average_workers") if "average_workers" in typed else None
    return call(
        "hp.judge.read_judged",
        typed["file"],
        worker=typed["worker"],
        cluster=typed["cluster"],
        average_workers=average,
        rejected_rows=typed["rejected_rows"],
    )


def _names(systems: str | None) -> list[str] | None:
    return None if systems is None else [name.strip() for name in systems.split(",")]
