"""A published comparison of two systems, with what its paper tells of it."""

from __future__ import annotations

from dataclasses import dataclass

DETAILS = ("effect", "items", "workers", "ratings_per_item", "p_value", "scale")


@dataclass(frozen=True, slots=True)
class PublishedComparison:
    """One published comparison of two systems; None for what is not reported.

    `effect` is B - A in the units of the scale `low` to `high`; without a scale it is on [0, 1].
    `ratings_per_item` counts the ratings of an item under each system. `paper` is where it was published, `kind`
    what was asked (ratings, a choice), `tested` whether any test is reported, `bold` whether the best number is set
    in bold type or starred.
    """

    name: str
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    items: int | None = None
    workers: int | None = None
    ratings_per_item: int | None = None
    p_value: float | None = None
    paper: str | None = None
    kind: str | None = None
    tested: bool | None = None
    bold: bool | None = None

    @property
    def scaled_effect(self) -> float | None:
        """The effect on [0, 1]."""
        if self.effect is None:
            return None
        if self.low is None or self.high is None:
            return self.effect
        return self.effect / (self.high - self.low)

    def reports(self, detail: str) -> bool:
        """Whether a detail of DETAILS is known."""
        if detail == "scale":
            return self.low is not None and self.high is not None
        return getattr(self, detail) is not None
