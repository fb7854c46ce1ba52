"""A study said in the fields of a command: which table it reads, which systems it can compare."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from humeval_power.study import FIELDS


def one_table(said: dict[str, Any], _typed: Mapping[str, Any]) -> dict[str, Any]:
    """Of `check` and `fit`: the ratings where they are there, else the pilot; of more than two systems none."""
    values = two_systems(said, _typed)
    ratings, pilot = values.get("ratings"), values.get("pilot")
    if pilot is not None and (ratings is None or not Path(ratings).exists()):
        values["ratings"] = pilot
    return values


def two_systems(said: dict[str, Any], _typed: Mapping[str, Any]) -> dict[str, Any]:
    """Names of more than two systems are left to the table."""
    many = not isinstance(said.get("systems", "A,B"), str) and len(said["systems"]) > 2
    return {name: value for name, value in said.items() if not (many and name == "systems")}


def all_that_were_planned(said: dict[str, Any], typed: Mapping[str, Any]) -> dict[str, Any]:
    """Of `analyze`: several systems are compared with each other where nothing else is said; the ratings of a
    rehearsal as long as there are no others; the effect is that of interest."""
    result = two_systems(said, typed)
    if "systems" in said and "systems" not in result and not {"comparisons", "baseline"} & result.keys():
        result["comparisons"] = "all-pairs"
    ratings, rehearsal = result.get("ratings"), result.get("rehearsal")
    if (
        rehearsal is not None
        and Path(rehearsal).exists()
        and (ratings is None or not Path(ratings).exists())
    ):
        result["ratings"] = rehearsal  # 'simulate' names its columns itself
        result = {name: value for name, value in result.items() if FIELDS[name].section != "columns"}
        if "document" in _columns(rehearsal):
            result["document"] = "document"
    return result


def _columns(path: str) -> list[str]:
    """Names of the columns of a table that 'simulate' wrote."""
    with Path(path).open(encoding="utf-8", errors="replace") as table:
        return table.readline().strip().split(",")


def searched(said: dict[str, Any], _typed: Mapping[str, Any]) -> dict[str, Any]:
    """Of `plan`: the items that there are, where no range of them is said; it finds the rest."""
    values = dict(said)
    if "items_range" not in values and "items" in values:
        values["items_range"] = values["items"]
    if "pairing" not in values and values.get("paired") is False:
        values["pairing"] = "unpaired"
    return values


def rehearsed_or_drawn(said: dict[str, Any], _typed: Mapping[str, Any]) -> dict[str, Any]:
    """Of `simulate`: a rehearsal where plan and assignment are there, by what the plan assumes and not by the pilot
    again; else a study drawn from what is said."""
    tables = said.get("assignment") or ()
    files = [said.get("plan"), *([tables] if isinstance(tables, str) else tables)]
    if len(files) > 1 and all(path is not None and Path(path).exists() for path in files):
        return {name: value for name, value in said.items() if name != "pilot"}
    return {name: value for name, value in said.items() if name not in ("plan", "assignment", "key")}
