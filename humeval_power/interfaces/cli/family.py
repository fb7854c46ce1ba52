"""What a family of scenarios says of itself, so that the question commands can be made for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from humeval_power.choices import DEFAULT_SIMULATIONS, Method
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.cli.numbers import RealNumber, number_list

if TYPE_CHECKING:
    from humeval_power.reporting.questions.wording import Wording
    from humeval_power.scenarios.contract import Scenario


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


Given = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Assumed:
    """An option for a number that scenarios assume: one of them, and in a surface a list."""

    flag: str
    help: str
    metavar: str | None = None

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The option for one number, as a decorator."""
        one = click.option(self.flag, type=RealNumber(), metavar=self.metavar, help=self.help)
        return one(function)

    def many(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The option for a list, as a decorator."""
        many = click.option(
            self.flag, metavar="LIST", callback=number_list(float), help=f"{self.help} One or a list."
        )
        return many(function)

    @property
    def name(self) -> str:
        """What the option is called among the values of a command."""
        return self.flag.removeprefix("--").replace("-", "_")


@dataclass(frozen=True, slots=True)
class EffectRange:
    """What a true effect can be, `rule` says why, and `remedy` what was perhaps meant."""

    low: float
    high: float
    rule: str
    remedy: str = ""

    def check(self, effects: Iterable[float], *, name: str = "--effect") -> None:
        """Refuse every effect that cannot exist, by the name of its option."""
        problems = []
        for effect in effects:
            if not math.isfinite(effect):
                problems.append(Problem("must be a finite number.", "", name, value=effect, has_value=True))
            elif not self.low <= effect <= self.high:
                problems.append(Problem(self.rule, self.remedy, name, value=effect, has_value=True))
        if problems:
            raise InputError(problems)


def any_number(_given: Given) -> EffectRange:
    """The range of an effect whose units only the user knows."""
    return EffectRange(-math.inf, math.inf, "")


def no_limit(_given: Given) -> int | None:
    """No size is too large for the options."""
    return None


PREFERENCES = EffectRange(
    -0.5,
    0.5,
    "the share that prefers B, minus 1/2, lies between -0.5 and 0.5.",
    "If 65 % prefer B the effect is 0.15.",
)
ACCURACIES = EffectRange(
    -1.0,
    1.0,
    "accuracies are shares, so that their difference lies between -1 and 1.",
    "Points of a hundred are hundredths: 2 points are 0.02.",
)


def score_range(mean: float, low: float, high: float) -> EffectRange:
    """Where the difference of mean scores can lie if A's mean is `mean` on a scale."""
    return EffectRange(
        low - mean,
        high - mean,
        f"the mean of B must lie inside the scale too: with a mean of A of {mean:g} on {low:g} to {high:g} the "
        f"difference B - A lies between {low - mean:g} and {high - mean:g} points.",
        "The effect is in points of the scale.",
    )


@dataclass(frozen=True)
class Family:
    """A kind of scenario as the command line sees it.

    `wording` puts its scenarios into words. `build` makes the scenario of a size, a true effect and the values of
    `options` by name (a surface takes lists of those that are `Assumed`); `largest_effect` is where the search for
    a detectable effect ends, `effect_range` where a true effect can lie. `costed_as` names the kind of work that
    the options ask for, and `most` the largest size that they allow, if they allow none beyond. `shows_none` says
    whether what is to be shown is that there is no effect, or none that matters.
    """

    wording: Wording
    options: tuple[Decorator, ...]
    build: Callable[[int, float, Given], Scenario]
    size_help: str
    effect_help: str
    largest_effect: Callable[[Given], float]
    method: Method = "both"
    simulations: int = DEFAULT_SIMULATIONS
    effect_range: Callable[[Given], EffectRange] = any_number
    costed_as: Callable[[Given], str] | None = None
    most: Callable[[Given], int | None] = no_limit
    shows_none: Callable[[Given], bool] = lambda _given: False
