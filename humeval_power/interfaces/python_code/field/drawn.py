"""`assign`, `parameters` and `start`, as programs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from humeval_power.interfaces.python_code.designs import design_of
from humeval_power.interfaces.python_code.expressions import Call, Code, Value, call, quoted
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import Typed


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
        "hp.assign",
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
    source.let("result", call("hp.models.start", answers))


_ANSWERS = (
    *("judgement", "have", "comparisons", "baseline", "raters", "pay_per_hour", "seconds_per_rating"),
    *("scale", "difference", "sd", "accuracy", "limit"),
)
