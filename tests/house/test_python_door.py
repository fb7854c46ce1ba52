"""Every command has its call in Python, and the page on Python names every one of them."""

import inspect
import itertools
import re
from pathlib import Path

import pytest
from cases import each_case
from cli import run
from option_tree import leaves
from places import ROOT

import humeval_power as hp
from humeval_power.asking.command_groups import without_group
from humeval_power.errors import as_arguments

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| (`[^|]*) \| (.*) \|$", PAGE, re.MULTILINE))
# What warm-up does the first call does by itself; page and tools are ways to all calls; shells complete no Python.
NO_CALL = {"warm-up", "page", "mcp", "completion"}
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
    named = {" ".join(without_group(words.split())) for words in _told()}
    assert commands - NO_CALL - named - {"report check"} == set()


@each_case("path", sorted(set(re.findall(r"hp\.([a-z_.]+[a-z_])\(", PAGE))))
def test_every_call_of_the_page_is_there(path: str) -> None:
    assert callable(_called(path))


def test_every_public_call_is_on_the_page() -> None:
    calls = {name for name in hp.__all__ if inspect.isfunction(getattr(hp, name))}
    assert {name for name in calls if f"hp.{name}" not in PAGE} == set()


def _three_systems(path: Path) -> Path:
    cells = itertools.product(range(4), range(6), "ABC")
    rows = [f"w{w},i{i},{s},{1 + (w + 2 * i + ord(s)) % 5}" for w, i, s in cells]
    path.write_text("\n".join(["worker,item,system,rating", *rows]) + "\n", encoding="utf-8")
    return path


def test_an_error_names_arguments_in_python_and_options_in_a_terminal(tmp_path: Path) -> None:
    path = _three_systems(tmp_path / "ratings.csv")
    with pytest.raises(hp.InputError) as caught:
        hp.read_ratings(path)
    assert "require_pair=False" in str(caught.value)
    assert "systems=('A', 'B')" in str(caught.value)
    assert "--" not in str(caught.value)
    assert "--systems A,B" in " ".join(run("fit", path, code=2).output.split())


SAID = {
    "name it with --item.": "name it with `item`.",
    "name the column: --cluster COLUMN.": "name the column: cluster=COLUMN.",
    "add --df min or --df normal": "add df='min' or df='normal'",
    "Add --scale LOW:HIGH, such as --scale 1:5.": "Add scale='LOW:HIGH', such as scale='1:5'.",
    "leave --unit-size or --cluster out.": "leave `unit_size` or `cluster` out.",
    "take --covariate POSITION": "take covariates=('POSITION',)",
    "a table: humeval-power import x.csv --draft.": "a table: humeval-power import x.csv --draft.",
}


@each_case("said", SAID)
def test_options_in_a_message_become_arguments(said: str) -> None:
    assert as_arguments(said) == SAID[said]


def test_several_systems_are_analysed_by_the_same_call(tmp_path: Path) -> None:
    ratings = hp.read_ratings(_three_systems(tmp_path / "ratings.csv"), scale="1:5", require_pair=False)
    found = hp.analyze(ratings, diagnostics=False)
    assert len(found.to_frame()) == 3
    with pytest.raises(hp.InputError, match=r"^effect: for two systems.*ratings.pair"):
        hp.analyze(ratings, effect=0.1)
