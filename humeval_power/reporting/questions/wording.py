"""How scenarios of one kind are put into words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from humeval_power.reporting.document import Fact
    from humeval_power.scenarios.contract import Scenario


def plain_words(scenario: Scenario) -> Sequence[str]:
    """A scenario of which no more is known than its fields."""
    return (str(scenario),)


@dataclass(frozen=True)
class Wording:
    """What is said of scenarios: their `name` in records, lines that describe one, and its true effect.

    `unit` follows effects ('' for shares); `said` puts the effect of a scenario into words, where a number
    and its unit are not enough. A study finds 'that B' `verb` 'so much higher than A' `ending`, or what `finding`
    says; `sized` is what its size counts ('items'; '' where nobody knows).
    """

    name: str = "scenario"
    words: Callable[[Any], Sequence[str]] = plain_words
    unit: str = ""
    said: Callable[[Any], str] | None = None
    finding: Callable[[Any], str] | None = None
    verb: str = ""
    ending: str = ""
    sized: str | Callable[[Any], str] = ""

    def effect(self, scenario: Scenario) -> str:
        """The true effect of a scenario, in words."""
        return self.shown(scenario.true_effect) if self.said is None else self.said(scenario)

    def found(self, scenario: Scenario) -> str:
        """What a study of the scenario is to find, after 'find'."""
        effect = scenario.true_effect
        if not effect:
            return "a difference where there is none"
        if self.finding is not None:
            return self.finding(scenario)
        if not self.verb:
            return f"an effect of {self.shown(effect)}"
        return f"that B {self.verb} {self.shown(abs(effect))} {higher(effect)} than A{self.ending}"

    def shown(self, effect: float) -> str:
        """An effect as a number with its unit."""
        unit = self.unit.removesuffix("s") if abs(effect) == 1 else self.unit
        return f"{effect:.4g} {unit}".strip()

    def study(self, scenario: Scenario) -> list[Fact]:
        """The lines that describe a scenario, under one label."""
        return [("" if place else "Study", line) for place, line in enumerate(self.words(scenario))]

    @property
    def axis(self) -> str:
        """The label of an axis of effects."""
        return f"True effect ({self.unit})" if self.unit else "True effect"


PLAIN = Wording()


def higher(effect: float) -> str:
    """'higher' or 'lower'."""
    return "higher" if effect > 0 else "lower"


def right_on(effect: float) -> str:
    """A difference of accuracies as what a study finds: 'that B is right on 2 more of 100 items than A'."""
    return f"that B is right on {100 * abs(effect):.4g} {'more' if effect > 0 else 'fewer'} of 100 items than A"


def accuracy_words(effect: float) -> str:
    """A difference of accuracies, as a share and in points of a hundred."""
    return f"B - A = {effect:.4g} as a share, that is {100 * effect:.4g} points of a hundred"


def points_words(effect: float, low: float, high: float) -> str:
    """A difference in points of a scale, and on [0, 1]."""
    share = effect / (high - low)
    return f"{effect:.4g} points of the scale {low:g} to {high:g}, that is B - A = {share:.4g} on [0, 1]"
