"""How scenarios of one kind are put into words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
