"""Two systems that are counted or named are asked about as two: the same numbers, under their names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli import run

STUDY = "--no-study --preset high --workers 8 --items 20 --effect 0.2 --seed 3 --simulations 200"
COMMANDS = {
    "power": STUDY,
    "mde": STUDY.replace("--effect 0.2 ", ""),
    "size": f"{STUDY.replace('--workers 8', '')} --find workers --method analytic",
    "surface": STUDY,
    "simulate": STUDY.replace(" --simulations 200", ""),
}


def numbers(record: object) -> object:
    """A record without names of systems and without what was typed."""
    if isinstance(record, dict):
        left = {"command", "created", "systems", "versions", "given", "study", "understood"}
        return {name: numbers(one) for name, one in record.items() if name not in left}
    return [numbers(one) for one in record] if isinstance(record, list) else record


@pytest.mark.parametrize("command", COMMANDS)
def test_two_systems_are_asked_about_as_two(command: str) -> None:
    words = [command, *COMMANDS[command].split()]
    alone, counted, named = (
        json.loads(run(*words, *more, "--json").stdout)
        for more in ((), ("--n-systems", "2"), ("--systems", "old,new"))
    )
    assert alone["schema"] == counted["schema"] == named["schema"]
    assert numbers(alone) == numbers(counted) == numbers(named)


def test_they_go_by_their_names() -> None:
    found = run("power", *STUDY.split(), "--systems", "old,new").stdout
    assert "new - old = 0.2" in found


def test_a_pattern_of_means_is_of_several() -> None:
    found = run("power", *STUDY.split(), "--systems", "old,new", "--goal", "any", "--json")
    assert "systems" in json.loads(found.stdout)["schema"]


def test_the_drawn_table_has_their_names_so_that_the_same_study_reads_it(tmp_path: Path) -> None:
    study, table = tmp_path / "study.toml", tmp_path / "ratings.csv"
    study.write_text(
        'schema = "humeval_power/study/1"\nsystems = ["old", "new"]\nscale = "1:5"\n'
        'preset = "low"\neffect_raw = 0.8\nworkers = 8\nitems = 12\nresponse = "likert"\n'
    )
    run("simulate", study, "--seed", 3, "-o", table)
    assert {line.split(",")[2] for line in table.read_text().splitlines()[1:]} == {"old", "new"}
    found = run("analyze", table, "--study", study).stdout
    assert "new" in found.splitlines()[0]
