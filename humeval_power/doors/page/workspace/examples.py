"""Worked examples: studies that are copied into a folder of their own, to be looked at and changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

_PILOT = "pilot.csv"


@dataclass(frozen=True)
class Example:
    """One example.

    name : of its folder. values : of its study file. contents : makes its other files.
    stage : at which it opens; or `opens`, the link of the page of a command that it is about instead.
    """

    name: str
    title: str
    text: str
    values: Mapping[str, Any]
    contents: Callable[[], Mapping[str, bytes]] = dict
    stage: str = "size"
    opens: str = ""


def _pilot() -> Mapping[str, bytes]:
    """The simulated pilot that comes with the program: 10 workers, 60 items, two systems."""
    shipped = Path(__file__).with_name(_PILOT)  # in a wheel; else in the checkout
    places = (shipped, Path(__file__).parents[4] / "data" / _PILOT)
    return {_PILOT: next(place for place in places if place.is_file()).read_bytes()}


def _seeds() -> Mapping[str, bytes]:
    """Simulated scores of two systems, each trained with five seeds, on 60 items."""
    draw = Random(1)
    seeds = {(system, seed): draw.gauss(0, 0.01) for system in ("baseline", "new") for seed in range(1, 6)}
    lines = ["item,system,seed,score"]
    for item in range(1, 61):
        level = draw.gauss(0.6, 0.1)
        for (system, seed), shift in seeds.items():
            gain = 0.02 if system == "new" else 0.0
            lines.append(f"i{item:02d},{system},{seed},{level + shift + gain + draw.gauss(0, 0.03):.4f}")
    return {"scores.csv": "\n".join([*lines, ""]).encode()}


EXAMPLES: Mapping[str, Example] = {
    "summarisers": Example(
        "two summarisers",
        "Two summarisers, with a pilot",
        "Is the new one rated higher? Ten people have rated sixty summaries of each (simulated).",
        {
            "question": "Is the new summariser rated higher than the old one?",
            "systems": ["baseline", "new"],
            "pilot": _PILOT,
            "scale": "1:5",
            "effect_raw": 0.4,
            "workers": 12,
            "items": 100,
            "ratings_per_item": 3,
            "cost_per_rating": 0.12,
            "cost_per_worker": 3,  # a quarter of an hour of instructions and training
            "budget": 300,
            "max_workers": 60,
        },
        _pilot,
    ),
    "eight": Example(
        "eight systems",
        "Eight systems, three criteria",
        "Which of eight systems differ in fluency, adequacy and style? No pilot: as in published studies.",
        {
            "question": "Which of eight systems differ?",
            "systems": list("ABCDEFGH"),
            "criteria": ["fluency", "adequacy", "style"],
            "preset": ["typical"],
            "scale": "1:5",
            "effect_raw": 0.4,
            "workers": 30,
            "items": 120,
            "ratings_per_item": 2,
            "cost_per_rating": 0.12,
            "cost_per_worker": 3,  # a quarter of an hour of instructions and training
            "budget": 3000,
            "max_workers": 60,
        },
    ),
    "seeds": Example(
        "a metric with seeds",
        "A metric, five seeds each",
        "Does a new system score higher, or only by chance? Scores of 60 items by five seeds (simulated).",
        {"question": "Does the new system score higher?", "systems": ["baseline", "new"]},
        _seeds,
        opens="/runs/test?table={folder}/scores.csv",
    ),
}
