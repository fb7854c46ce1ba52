"""How scenarios of one kind are put into words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    and its unit are not enough.
    """

    name: str = "scenario"
    words: Callable[[Scenario], Sequence[str]] = plain_words
    unit: str = ""
    said: Callable[[Scenario], str] | None = None

    def effect(self, scenario: Scenario) -> str:
        """The true effect of a scenario, in words."""
        return self.shown(scenario.true_effect) if self.said is None else self.said(scenario)

    def shown(self, effect: float) -> str:
        """An effect as a number with its unit."""
        return f"{effect:.4g} {self.unit}".strip()

    def study(self, scenario: Scenario) -> list[Fact]:
        """The lines that describe a scenario, under one label."""
        return [("" if place else "Study", line) for place, line in enumerate(self.words(scenario))]

    @property
    def axis(self) -> str:
        """The label of an axis of effects."""
        return f"True effect ({self.unit})" if self.unit else "True effect"


PLAIN = Wording()


def share_words(effect: float) -> str:
    """A difference of accuracies, in shares and in points of a hundred."""
    return f"B - A = {effect:.4g} as a share, that is {100 * effect:.4g} points of a hundred"


def points_words(effect: float, low: float, high: float) -> str:
    """A difference in points of a scale, and on [0, 1]."""
    share = effect / (high - low)
    return f"{effect:.4g} points of the scale {low:g} to {high:g}, that is B - A = {share:.4g} on [0, 1]"
