"""How scenarios of one kind are put into words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from humeval_power.errors import InputError
from humeval_power.saying.document import NOTHING_WRONG, Along

if TYPE_CHECKING:
    from humeval_power.saying.document import Fact
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


# How the cells of a surface become small multiples: what runs along x, what is a line, what is a panel.

_MANY = "Ask for fewer of them, or draw several figures."


@dataclass(frozen=True, slots=True)
class CurveFacets:
    """The column of the cells that each visual variable shows; None where a variable is not needed."""

    x: str
    line: str | None
    column: str | None
    row: str | None

    @property
    def panels(self) -> list[str]:
        """What panels are of, in words."""
        return [_said(name) for name in (self.column, self.row) if name is not None]

    @property
    def line_words(self) -> str:
        """What lines are of, in words."""
        return "set of assumptions" if self.line is None else _said(self.line)


def choose_curve_facets(
    rows: Sequence[Mapping[str, Any]], lists: Sequence[str], along: Along | None
) -> CurveFacets:
    """Sizes and effects as x and lines, and panels for the values of what is assumed. Raises InputError:
    nothing to draw, or more lines or panels than can be told apart."""
    if not rows:
        raise InputError(NOTHING_WRONG)
    counts = {name: len({row[name] for row in rows}) for name in ("effect", "n", *lists)}
    x = along or ("n" if counts["n"] > counts["effect"] else "effect")
    others = [name for name in ("effect", "n", *lists) if name != x and counts[name] > 1]
    if len(others) > 3:
        raise InputError(f"A figure can show three of {', '.join(others)} beside x. {_MANY}")
    line, column, row = (*others, None, None, None)[:3]
    limits = ((line, 8, "lines"), (row, 5, "rows of panels"), (column, 4, "panels side by side"))
    for name, most, what in limits:
        if name is not None and counts[name] > most:
            said = {"n": "sizes", "effect": "effects"}.get(name, f"values of {_said(name)}")
            raise InputError(f"A figure can tell {most} {what} apart; got {counts[name]} {said}. {_MANY}")
    return CurveFacets(x, line, column, row)


def _said(name: str) -> str:
    return "size" if name == "n" else name.replace("_", " ")


def value_words(name: str, value: Any) -> str:
    """A value with what it is of."""
    if name == "n":
        return f"n = {value:,}"
    return f"effect {value:g}" if name == "effect" else f"{_said(name)} {value:g}"
