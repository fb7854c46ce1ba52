"""`parameters` and `start`, as programs."""

from __future__ import annotations

from pathlib import Path

import click

from humeval_power.interfaces.python_code.expressions import Call, call
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import Typed


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
