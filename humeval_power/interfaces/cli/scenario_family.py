"""What a family of scenarios says of itself, so that the question commands can be made for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from humeval_power.planning.comparison import Method
from humeval_power.planning.power import DEFAULT_SIMULATIONS
from humeval_power.scenarios.scenario import Scenario

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


Given = Mapping[str, Any]


@dataclass(frozen=True)
class Family:
    """A kind of scenario as the command line sees it.

    `build` makes the scenario of a size, a true effect and the values of `options` by name;
    `largest_effect` is where the search for a detectable effect ends, `words` describe a scenario in
    lines of at most 80 characters, `unit` follows effects ('' for shares).
    """

    name: str
    options: tuple[Decorator, ...]
    build: Callable[[int, float, Given], Scenario]
    size_help: str
    effect_help: str
    largest_effect: Callable[[Given], float]
    words: Callable[[Scenario], list[str]]
    unit: str = ""
    method: Method = "both"
    simulations: int = DEFAULT_SIMULATIONS
