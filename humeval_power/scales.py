"""The scale that ratings were given on, and the way to and from [0, 1]."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Literal

from humeval_power.errors import ScaleError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

ScaleSource = Literal["declared", "inferred"]
_MOST_POINTS = 1_000_000
_LARGEST, _NARROWEST = 1e9, 1e-6  # beyond, ratings on [0, 1] lose their digits


@dataclass(frozen=True, slots=True)
class RatingScale:
    """Bounds and direction of a rating scale.

    `points` is the number of categories of a Likert scale, None for a continuous one.
    `source` says whether the user declared the scale or it was taken from the data.

    Examples
    --------
    >>> scale = RatingScale.parse("1:5")
    >>> scale.points, scale.effect_from_raw(0.5)
    (5, 0.125)
    """

    low: float
    high: float
    _: KW_ONLY
    points: int | None = None
    higher_is_better: bool = True
    source: ScaleSource = "declared"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ScaleError(
                f"A scale needs a lower and a larger upper bound; got {self.low:g}:{self.high:g}."
            )
        if max(abs(self.low), abs(self.high)) > _LARGEST or self.width < _NARROWEST:
            raise ScaleError(
                f"The bounds of a scale lie between -{_LARGEST:g} and {_LARGEST:g}, and at least "
                f"{_NARROWEST:g} apart; got {self.low:g}:{self.high:g}."
            )
        if self.points is not None and self.points < 2:
            raise ScaleError(f"A scale needs at least 2 points; got {self.points}.")

    @classmethod
    def parse(cls, text: str, *, higher_is_better: bool = True) -> RatingScale:
        """Read '1:5' (low:high) or '1:5:5' (low:high:points); '0:100' and '1:5:0' are continuous.

        Whole-number bounds at most 10 apart mean one point for each whole number.
        """
        try:
            parts = [float(part) for part in text.split(":")]
        except ValueError:
            parts = []
        whole = len(parts) != 3 or (parts[2].is_integer() and parts[2] <= _MOST_POINTS)
        if len(parts) not in (2, 3) or not whole:
            raise ScaleError(f"A scale is written low:high, for example 1:5 or 0:100; got {text!r}.")
        low, high = parts[0], parts[1]
        points = int(parts[2]) or None if len(parts) == 3 else likert_points(low, high)
        return cls(low, high, points=points, higher_is_better=higher_is_better)

    @classmethod
    def of(cls, scale: RatingScale | str | Sequence[float]) -> RatingScale:
        """A scale from its record, from text as `parse` reads it, or from its bounds (low, high)."""
        if isinstance(scale, RatingScale):
            return scale
        return cls.parse(scale if isinstance(scale, str) else ":".join(f"{bound}" for bound in scale))

    @property
    def bounds(self) -> str:
        """What `parse` reads as this scale, but for its direction."""
        low, high = (
            short if float(short := f"{bound:g}") == bound else repr(bound)
            for bound in (self.low, self.high)
        )
        usual = self.points == likert_points(self.low, self.high)
        return f"{low}:{high}" + ("" if usual else f":{self.points or 0}")

    @property
    def width(self) -> float:
        """Distance between the bounds, in raw units."""
        return self.high - self.low

    def to_unit(self, rating: NDArray[np.float64]) -> NDArray[np.float64]:
        """Move raw ratings to [0, 1], 1 being best."""
        share = (rating - self.low) / self.width
        return share if self.higher_is_better else 1.0 - share

    def from_unit(self, rating: NDArray[np.float64]) -> NDArray[np.float64]:
        """Move ratings on [0, 1] back to raw units."""
        share = rating if self.higher_is_better else 1.0 - rating
        return self.low + share * self.width

    def effect_to_raw(self, effect: float) -> float:
        """A difference on [0, 1] (positive: B is better) as a difference in raw ratings."""
        return effect * self.width * (1.0 if self.higher_is_better else -1.0)

    def effect_from_raw(self, effect: float) -> float:
        """A difference in raw ratings as a difference on [0, 1] (positive: B is better)."""
        return effect / self.width * (1.0 if self.higher_is_better else -1.0)

    def __str__(self) -> str:
        kind = f"{self.points} points" if self.points else "continuous"
        direction = "" if self.higher_is_better else ", lower is better"
        return f"{self.low:g} to {self.high:g} ({kind}{direction})"


def likert_points(low: float, high: float) -> int | None:
    """Number of points of a short whole-number scale; None where it is better called continuous."""
    if float(low).is_integer() and float(high).is_integer() and high - low <= 10:
        return int(high - low) + 1
    return None
