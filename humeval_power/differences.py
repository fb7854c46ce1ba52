"""Differences between two systems as they are said: on [0, 1] or in points of a scale, checked, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from humeval_power.choices import ANONYMOUS
from humeval_power.errors import Problem, refusal, refuse
from humeval_power.scales import RatingScale

LARGEST = 1.0  # difference on [0, 1]: one system at the bottom of the scale, the other at its top


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference B - A on [0, 1], with the scale that its points belong to.

    `points` is what was said where it was said in points; then `scale` is there. `systems` are the names of A and
    B, None where it is one of any two.
    """

    value: float
    scale: RatingScale | None = None
    points: float | None = None
    systems: tuple[str, str] | None = ANONYMOUS

    @classmethod
    def of_points(cls, points: float, scale: RatingScale) -> Difference:
        """What so many points of a scale are on [0, 1].

        Examples
        --------
        >>> Difference.of_points(0.5, RatingScale.parse("1:5")).value
        0.125
        """
        return cls(scale.effect_from_raw(points), scale, points)

    @property
    def direction(self) -> str:
        """Whose difference it is: 'new - baseline'."""
        a, b = self.systems or ANONYMOUS
        return f"{b} - {a}"

    def __str__(self) -> str:
        return understood([self])


def scale_words(scale: RatingScale) -> str:
    """'1 to 5', with its direction where lower is better."""
    return f"{scale.low:g} to {scale.high:g}" + ("" if scale.higher_is_better else ", lower is better")


def understood(differences: Sequence[Difference]) -> str:
    """One or several differences, of one scale and of the same systems, in words."""
    first = differences[0]
    scale = first.scale
    values = ", ".join(f"{each.value:.6g}" for each in differences)
    said = f"{'' if first.systems is None else f'{first.direction} = '}{values} on [0, 1]"
    if scale is None:
        return said
    if first.points is None:
        raw = ", ".join(f"{scale.effect_to_raw(each.value):.6g}" for each in differences)
        return f"{said}, {raw} on the scale {scale_words(scale)}"
    points = ", ".join(f"{each.points:.6g}" for each in differences if each.points is not None)
    return f"{points} points of the scale {scale_words(scale)}, that is {said}"


def on_unit(values: Sequence[float], *, name: str, unit: float = 1.0) -> list[Problem]:
    """What is wrong with differences on [0, 1].

    name : what the user calls them, such as '--effect'.
    unit : the difference that one of them stands for (2 for a coefficient under -1/+1).
    """
    problems = []
    for value in values:
        if not math.isfinite(value):
            problems.append(_problem(name, value, "must be a finite number.", ""))
        elif abs(value * unit) > LARGEST:
            most = LARGEST / unit
            rule = f"a difference of means on [0, 1] lies between {-most:g} and {most:g}."
            if unit != 1:
                rule = f"this coefficient is 1/{unit:g} of the difference, and lies between {-most:g} and {most:g}."
            problems.append(_problem(name, value, rule, _points_instead(name, value, unit)))
    return problems


def in_points(values: Sequence[float], scale: RatingScale, *, name: str) -> list[Problem]:
    """What is wrong with differences in points of a scale."""
    problems = []
    for value in values:
        if not math.isfinite(value):
            problems.append(_problem(name, value, "must be a finite number.", ""))
        elif abs(value) > scale.width * (1 + 1e-12):
            rule = (
                f"on the scale {scale_words(scale)} a difference lies between {-scale.width:g} and "
                f"{scale.width:g} points."
            )
            problems.append(_problem(name, value, rule, "Is --scale the one that you rate on?"))
    return problems


def differences_of(
    values: Sequence[float], scale: RatingScale | None, *, name: str, raw: bool = False
) -> tuple[Difference, ...]:
    """Differences as used, from what was said; `raw` says that they are points of the scale.

    Raises
    ------
    InputError
        Every difference that cannot exist, at once; or points without a scale.
    """
    if not raw:
        refuse(on_unit(values, name=name))
        return tuple(Difference(value, scale) for value in values)
    if scale is None:
        shown = ", ".join(f"{value:g}" for value in values)
        rule = f"{shown} points of which scale? Add --scale LOW:HIGH, such as --scale 1:5."
        raise refusal(rule, "Or give the difference on [0, 1] without '-raw'.", place=name)
    refuse(in_points(values, scale, name=name))
    return tuple(Difference.of_points(value, scale) for value in values)


def margin_of(value: float, scale: RatingScale | None, *, name: str, raw: bool = False) -> float:
    """A margin on [0, 1], a size without a direction, from what was said.

    Raises
    ------
    InputError
        A margin that is not above 0 and at most the whole scale; or points without a scale.
    """
    refuse(
        []
        if value > 0
        else [_problem(name, value, "a margin must be above 0 and at most 1 (the whole scale).", "")]
    )
    differences = differences_of([value], scale, name=name, raw=raw)[0]
    return abs(differences.value)


def beyond_baseline(baseline: float, values: Sequence[float]) -> str:
    """A warning where means of both systems inside [0, 1] leave no room for a difference; '' where they do."""
    room = 2 * min(baseline, 1 - baseline)
    beyond = [value for value in values if abs(value) > room + 1e-9]
    if not beyond:
        return ""
    worst = max(beyond, key=abs)
    return (
        f"Warning: around the mean of both systems that the parameters have, {baseline:.3g}, a difference of "
        f"{worst:g} would put one system outside [0, 1]: there is room for {max(room, 0):.3g}. The power is "
        "that of the model, which knows no ends of the scale."
    )


def _points_instead(name: str, value: float, unit: float) -> str:
    if unit != 1:
        return ""
    return f"Did you mean {name}-raw {value:g}, in points of --scale?"


def _problem(name: str, value: float, rule: str, remedy: str) -> Problem:
    return Problem(rule, remedy, name, value=value, has_value=True)
