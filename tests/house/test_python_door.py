"""Every command has its call in Python, and the page on Python names every one of them."""

from __future__ import annotations

import inspect
import re

from cases import each_case
from option_tree import leaves
from places import ROOT

import humeval_power as hp

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| (`[^|]*) \| (.*) \|$", PAGE, re.MULTILINE))
# What warm-up does the first call does by itself; the page is a way to all calls; shells complete no Python.
NO_CALL = {"warm-up", "page", "completion"}
QUESTIONS = ("power", "mde", "size", "surface")


def _told() -> dict[str, str]:
    """The commands of the table, and the calls beside them."""
    told = {}
    for commands, calls in ROWS.items():
        if " of `accuracy`" in commands:
            families = [name for name in re.findall(r"`([^`]+)`", commands) if name not in QUESTIONS]
            told.update({f"{family} {word}": calls for family in families for word in QUESTIONS})
        else:
            told.update(dict.fromkeys(re.findall(r"`([^`]+)`", commands), calls))
    return told


def _called(path: str) -> object:
    value: object = hp
    for name in path.split("."):
        value = getattr(value, name)
    return value


def test_every_command_has_its_call() -> None:
    commands = {" ".join(word for word in words.split() if word.islower()) for words, _ in leaves()}
    assert commands - NO_CALL - set(_told()) - {"report check"} == set()


@each_case("path", sorted(set(re.findall(r"hp\.([a-z_.]+[a-z_])\(", PAGE))))
def test_every_call_of_the_page_is_there(path: str) -> None:
    assert callable(_called(path))


def test_every_public_call_is_on_the_page() -> None:
    calls = {name for name in hp.__all__ if inspect.isfunction(getattr(hp, name))}
    assert {name for name in calls if f"hp.{name}" not in PAGE} == set()
