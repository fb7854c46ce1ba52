"""Looks before the end of a study, as calls and as programs."""

from __future__ import annotations

from humeval_power.interfaces.python_code.expressions import Call, Code, Value, call, quoted
from humeval_power.interfaces.python_code.runs import run_of
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import Typed


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
