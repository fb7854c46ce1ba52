"""Power by formula around an answer, as a chart: what a page can show while one drags."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from humeval_power.errors import HumevalPowerError
from humeval_power.reporting.chart import Axis, Chart, Level, Mark, Series, Spot
from humeval_power.scenarios.computed import is_computable
from humeval_power.scenarios.contract import Scenario

_POINTS = 41
_SAW = 100  # sizes up to which every size is drawn, because the power of an exact test is a saw


@dataclass(frozen=True, slots=True)
class Found:
    """Where an answer lies, an effect or a size, and the power there; `target` is the one that was aimed at."""

    place: float
    power: float
    target: float | None = None
    is_size: bool = False

    @property
    def words(self) -> str:
        """The answer, to be marked."""
        if self.is_size:
            return f"here: {self.place:,.0f}, power {self.power:.3f}"
        return f"here: {self.place:.4g}, power {self.power:.3f}"


def computed_chart(power_of: Callable[[float], float | None], found: Found, *, label: str) -> Chart | None:
    """Power by formula from nothing to twice where the answer lies, which is marked; None where there is no curve.

    Parameters
    ----------
    power_of : the power at an effect, or a size; None where there can be none.
    label : what the axis of effects or sizes shows.
    """
    points = [(x, power) for x in _places(found) if (power := power_of(x)) is not None]
    if len(points) < 2:
        return None
    x, powers = zip(*points, strict=True)
    marks: list[Mark] = [Spot(found.words, found.place, found.power)]
    if found.target is not None:
        marks.append(Level(f"target {found.target:g}", found.target))
    return Chart(
        name="power",
        title="How does power grow with the size?"
        if found.is_size
        else "Which effects are found how often?",
        words=f"Power by formula, from 0 to twice the answer, which is marked; {found.words}.",
        x=Axis(label, x[0], x[-1], is_whole=found.is_size),
        y=Axis("Power", 0, 1),
        series=(Series("line", "power by formula", x, powers),),
        marks=tuple(marks),
    )


def _places(found: Found) -> list[float]:
    """Where the curve is computed, from low to high."""
    count = _POINTS
    if found.is_size and found.place <= _SAW:
        count = max(round(2 * found.place) + 1, _POINTS)
    step = 2 * found.place / (count - 1)
    places = (place * step for place in range(count))
    return sorted({float(round(each)) if found.is_size else round(each, 12) for each in places})


def scenario_power(make: Callable[[float], Scenario], x: float) -> float | None:
    """The power of the scenario of an effect or a size by formula; None where there can be none."""
    try:
        scenario = make(x)
        return scenario.computed().power if is_computable(scenario) else None
    except HumevalPowerError:
        return None
