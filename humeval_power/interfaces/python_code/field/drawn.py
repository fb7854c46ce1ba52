"""`simulate`, `calibrate`, `assign` and `parameters` and `start`, as programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import click

from humeval_power.interfaces.formats.study.presets import typical_and_cautious
from humeval_power.interfaces.python_code.designs import design_of
from humeval_power.interfaces.python_code.effects import Effect, effect_of
from humeval_power.interfaces.python_code.expressions import Call, Code, Value, call, quoted
from humeval_power.interfaces.python_code.rules import rule_of
from humeval_power.interfaces.python_code.runs import run_of, seed_of
from humeval_power.interfaces.python_code.settings import Settings, of_preset, settings_of
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.study.cells import (
    family_of,
    in_categories,
    losses_of,
    refuse_latent,
    response_of,
)
from humeval_power.interfaces.python_code.study.systems import at_means as systems_at
from humeval_power.interfaces.python_code.study.systems import is_of_systems, systems_of
from humeval_power.interfaces.python_code.typed import GapError, Typed
from humeval_power.scales import RatingScale


def simulate(typed: Typed, source: Source) -> None:
    """The ratings of one study."""
    if typed["plan"] is not None:
        raise GapError("plan: a rehearsal, whose options are those of the field")
    refuse_latent(typed)
    if is_of_systems(typed):
        _simulate_systems(typed, source)
        return
    settings = settings_of(typed, source)
    shown = settings.scale if typed["scale"] is not None else None
    said = effect_of(typed, shown)
    parameters = _parameters(typed, settings, said, source)
    effect: Value = None
    if said is not None:
        effect = (
            said.stated
            if said.said is not None or shown is None
            else call("hp.Difference", said.value, shown)
        )
    found = call(
        "hp.simulate",
        parameters,
        design_of(typed, typed["workers"], typed["items"]),
        effect=effect,
        scale=shown,
        seed=seed_of(typed),
        **response_of(typed, settings),
        **losses_of(typed),
    )
    source.let("result", found)


def _parameters(typed: Typed, settings: Settings, said: Effect | None, source: Source) -> Value:
    if typed["shares"] is None:
        typed.allow("link")
        return settings.only.parameters
    known = in_categories(typed, settings, None if said is None else said.value)
    return Code(f"{source.let('in_categories', known)}.by_name[{quoted(settings.only.name)}]")


def _simulate_systems(typed: Typed, source: Source) -> None:
    systems = systems_of(typed, source)
    effect = effect_of(typed, systems.settings.scale)
    parameters = systems_at(typed, systems.only, None if effect is None else effect.value)
    design = design_of(typed, typed["workers"], typed["items"], n_systems=systems.n_systems)
    goal = typed.given("goal")
    study = call(
        "hp.study.SystemsStudy",
        source.let("parameters", parameters),
        design,
        goal=goal,
        **response_of(typed, systems.settings),
    )
    seed, scale = seed_of(typed), systems.settings.scale
    source.let("result", call("hp.study.simulate_ratings", study, seed=seed, scale=scale))


def calibrate(typed: Typed, source: Source) -> None:
    """How often tests find an effect where there is none."""
    settings = settings_of(typed, source)
    if not settings.entries:
        usual = typical_and_cautious(None if typed["scale"] is None else RatingScale.parse(typed["scale"]))
        settings = replace(settings, entries=tuple(of_preset(each.name) for each in usual.entries))
        typed.allow("allow_not_identified")
    first, *others = settings.entries
    parameters: Value = settings.by_name if others else first.parameters
    if typed["shares"] is not None:
        known = source.let("in_categories", in_categories(typed, settings, None))
        parameters = Code(f"{known}.by_name" + ("" if others else f"[{quoted(first.name)}]"))
    rule = rule_of(typed, settings.scale, family=family_of(typed, first), link=first.link)
    found = call(
        "hp.calibrate",
        source.named("parameters", parameters),
        design_of(typed, typed["workers"], typed["items"]),
        p=typed["p"],
        rule=rule,
        setting=None if others else first.name,
        scale=settings.scale,
        **response_of(typed, settings),
        **run_of(typed),
    )
    source.let("result", found)


def assign(typed: Typed, source: Source) -> None:
    """Who rates what when."""
    typed.refuse(["amend"], "changes the plan")
    typed.refuse(["outputs", "platforms"], "writes what platforms take")
    typed.refuse(["item_names"], "is a file of names that the command reads")
    study: Value
    if typed["plan"] is not None:
        study = source.let("plan", call("hp.plans.read_plan", typed["plan"]))
    else:
        study = source.named("design", _design(typed))
    takeovers = [
        Code(f"({quoted(spare)}, {quoted(slot)}, {first})") for spare, slot, first in typed["takeovers"]
    ]
    systems = typed["systems"]
    found = call(
        "hp.assign_work",
        study,
        systems=None if systems is None else list(systems),
        documents_together=typed.given("together"),
        batch_size=typed["batch_size"],
        order=typed.given("order"),
        check_rate=typed["checks"],
        repeat_rate=typed["repeats"],
        replacements=typed.given("replacements"),
        takeovers=takeovers or None,
        max_ratings_per_worker=typed["max_ratings_per_worker"],
        **_codes(typed["key"]),
        seed=typed["seed"],
    )
    source.let("result", found)


def _codes(key: str | None) -> Mapping[str, Value]:
    """Codes of a key that is there, or new ones."""
    if key is None:
        return {}
    return {"key": call("hp.exports.read_key", key)} if Path(key).exists() else {"blind": True}


def _design(typed: Typed) -> Call:
    names = typed["systems"]
    count = typed["n_systems"] or (2 if names is None else len(names))
    return design_of(typed, typed["workers"], typed["items"], n_systems=count, kind="kind")


def library(typed: Typed, source: Source) -> None:
    """The library of parameters."""
    source.let("result", _library(typed))


def library_entry(typed: Typed, source: Source) -> None:
    """One entry of the library."""
    source.let("result", _library(typed).method("entry", typed["entry"]))


def _library(typed: Typed) -> Call:
    """What comes along, and the user's own entries, in the folder of their settings where no file is named."""
    own = typed["own"]
    usual = Path(click.get_app_dir("humeval-power")) / "library.json"
    if own is None and usual.exists():
        own = str(usual)
    return call("hp.library", *((own,) if own is not None else ()))


def start(typed: Typed, source: Source) -> None:
    """The commands that answers lead to."""
    typed.refuse(["files"], "are looked at by the command")
    typed.allow("assume_rest")
    said = typed["n_systems"] or typed["systems"]
    answers = {name.replace("_", "-"): typed[name] for name in _ANSWERS if typed[name] is not None}
    if said is not None:
        answers["systems"] = said
    source.let("result", call("hp.study.start", answers))


_ANSWERS = (
    *("judgement", "have", "comparisons", "baseline", "raters", "pay_per_hour", "seconds_per_rating"),
    *("scale", "difference", "sd", "accuracy", "limit"),
)
