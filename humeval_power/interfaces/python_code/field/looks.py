"""Looks before the end of a study, as calls and as programs."""

from __future__ import annotations

from collections.abc import Sequence

from humeval_power.interfaces.python_code.designs import design_of
from humeval_power.interfaces.python_code.effects import Effect, effect_of
from humeval_power.interfaces.python_code.expressions import Call, Code, Value, call, quoted
from humeval_power.interfaces.python_code.field.costs import costs_of
from humeval_power.interfaces.python_code.rules import family_rule
from humeval_power.interfaces.python_code.runs import run_of
from humeval_power.interfaces.python_code.settings import settings_of
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.study.cells import (
    NONE,
    at_effect,
    family_of,
    named_effect,
    refuse_latent,
    response_of,
)
from humeval_power.interfaces.python_code.typed import GapError, Typed


def _looks(text: str, kind: str) -> Call:
    if text.strip().isdecimal():
        return call("hp.looks.equal_looks", kind, int(text))
    return call("hp.looks.Looks", kind, _shares(text))


def _shares(text: str) -> Code:
    return Code(repr(tuple(float(part) + 0.0 for part in text.split(","))))


def _stopping(typed: Typed) -> Call:
    efficacy, futility = typed["efficacy"], typed["futility"]
    return call(
        "hp.looks.StoppingRule",
        efficacy=call("hp.looks.efficacy_of", efficacy),
        futility=None if futility == "none" else call("hp.looks.futility_of", futility),
        alpha=typed.given("alpha"),
        alternative=typed.given("alternative"),
    )


def study(typed: Typed, source: Source) -> None:
    """A rating study with looks."""
    refuse_latent(typed)
    settings = settings_of(typed, source)
    setting = settings.only
    said = named_effect(effect_of(typed, settings.scale) or NONE, source)
    if typed["effects_raw"] is not None:
        raise GapError("effects_raw: in points, for the table of the long run")
    effects: Sequence[float] | None = typed["effects"]
    cost = costs_of(typed, source)
    rating_looks = call(
        "hp.looks.RatingLooks",
        source.let("parameters", at_effect(typed, settings, said, source)),
        design_of(typed, typed["workers"], typed["items"]),
        _looks(typed["looks"], typed["looks_by"]),
        rule=family_rule(typed, family_of(typed, setting), setting.link),
        **response_of(typed, settings),
    )
    asked = source.let("study", rating_looks)
    rule = source.let("rule", _stopping(typed))
    found = call(
        "hp.looks.study",
        asked,
        rule,
        effects=None if effects is None else list(effects),
        cost=cost,
        calibration=typed.given("calibrate"),
        setting=setting.name,
        understood=_understood(said, settings.scale),
        **run_of(typed),
    )
    source.let("result", found)


def _understood(said: Effect, scale: Code | None) -> Value:
    """The effect in words, where there is a scale to tell it on too."""
    if said.said is not None:
        return call("str", said.said)
    return None if scale is None else call("str", call("hp.Difference", said.value, scale))


def scores(typed: Typed, source: Source) -> None:
    """Independent scores with looks."""
    kept = {name: typed.given(name) for name in ("mean", "sd", "alpha")}
    made = call("hp.assessment.DirectAssessment", typed["n"], effect=typed["effect"], **kept)
    _judgements(typed, source, "hp.looks.AssessmentLooks", made)


def preference(typed: Typed, source: Source) -> None:
    """Independent judgements with looks."""
    kept = {name: typed.given(name) for name in ("tie_share", "ties", "alpha")}
    test = typed.given("test_name")
    made = call("hp.preference.Preference", typed["n"], preference=typed["effect"], **kept, test=test)
    _judgements(typed, source, "hp.looks.PairedLooks", made)


def accuracy(typed: Typed, source: Source) -> None:
    """Two systems' answers with looks."""
    made = call(
        "hp.accuracy.PairedAccuracy",
        typed["n"],
        difference=typed["effect"],
        agreement=call("hp.accuracy.KnownAgreement", typed["agreement"]),
        test=typed["test_name"],
        alpha=typed.given("alpha"),
    )
    _judgements(typed, source, "hp.looks.PairedLooks", made)


def _judgements(typed: Typed, source: Source, kind: str, made: Call) -> None:
    text: str = typed["looks"]
    shares: Value = Code(f'hp.looks.equal_looks("items", {text}).shares')
    if not text.strip().isdecimal():
        shares = _shares(text)
    looks = source.let("looks", call(kind, made, shares))
    effects, systems, created = typed["effects"], typed.given("systems"), typed["created"]
    date: Value = None
    if created is not None:
        source.imports("import datetime")
        date = Code(f"datetime.date({created.year}, {created.month}, {created.day})")
    found = call(
        "hp.looks.judgements",
        looks,
        source.let("rule", _stopping(typed)),
        effect=typed["effect"],
        effects=None if effects is None else list(effects),
        systems=None if systems is None else Code(f"({quoted(systems[0])}, {quoted(systems[1])})"),
        created=date,
        **run_of(typed),
    )
    source.let("result", found)
