"""Differences between systems, as expressions: on [0, 1], or in points of a scale."""

from __future__ import annotations

from dataclasses import dataclass

from humeval_power.interfaces.python_code.expressions import Call, Code, Value, call
from humeval_power.interfaces.python_code.typed import GapError, Typed


@dataclass(frozen=True, slots=True)
class Effect:
    """A difference: its value on [0, 1], and how it was said, where that was in points."""

    value: Value
    said: Value = None

    @property
    def stated(self) -> Value:
        """For a call that takes either."""
        return self.value if self.said is None else self.said


def effect_of(typed: Typed, scale: Code | None, *, name: str = "effect") -> Effect | None:
    """The one difference that was typed; None where there is none."""
    points = typed[f"{name}_raw"]
    if points is not None:
        said = difference_of(points, scale)
        return Effect(said.attribute("value"), said)
    value = typed[name]
    return None if value is None else Effect(value)


def difference_of(points: float, scale: Code | None) -> Call:
    """A difference in points of a scale."""
    if scale is None:
        raise GapError("points of a scale that is not known")
    return call("hp.Difference.of_points", points, scale)
