"""The one number of agreement that is said beside other things: alpha of other workers, within each system."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from humeval_power.checking.columns import shortened
from humeval_power.choices import DEFAULT_CONFIDENCE, DEFAULT_SEED
from humeval_power.comparisons.agreement.agreement import (
    Level,
    alpha_of_many,
    leading_level,
    shared_ratings,
)
from humeval_power.comparisons.agreement.strata import NO_PAIRS
from humeval_power.inference.item_bootstrap import Measure
from humeval_power.ratings import Ratings
from humeval_power.saying.numbers import decimals, interval_words
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record


@dataclass(frozen=True, slots=True)
class LeadingAlpha:
    """Alpha of one system with the interval for other workers, of the level that the scale has."""

    system: str
    level: Level
    n_workers: int
    n_outputs: int
    value: Measure

    def record(self) -> Record:
        """As plain values; null where there is no number."""
        one = self.value
        return {
            **values(self, "system", "level", "n_workers", "n_outputs"),
            "alpha": one.value if math.isfinite(one.value) else None,
            "interval": [one.low, one.high] if math.isfinite(one.low) else None,
            "reason": one.reason,
        }


@dataclass(frozen=True, eq=False)
class LeadingAlphas:
    """Those of a table, found when they are wanted; interval and draws are those of an analysis and of `agreement
    report`."""

    ratings: Ratings

    @cached_property
    def rows(self) -> tuple[LeadingAlpha, ...]:
        """Of each system."""
        level = leading_level(shared_ratings(self.ratings))

        def of(system: int) -> LeadingAlpha:
            shared = shared_ratings(self.ratings, system=system)
            value = alpha_of_many(shared, level, DEFAULT_CONFIDENCE, DEFAULT_SEED)
            name = self.ratings.system_names[system]
            return LeadingAlpha(name, level, shared.n_workers, len(shared.size), value)

        return tuple(map(of, range(self.ratings.n_systems)))

    @property
    def _known(self) -> list[LeadingAlpha]:
        """Those with an interval, the least first."""
        known = (one for one in self.rows if math.isfinite(one.value.low))
        return sorted(known, key=lambda one: one.value.value)

    @property
    def ends(self) -> str:
        """'-0.10 to 0.10', alpha of the systems with the least and the most; a dash where nothing is known."""
        ends = [decimals(one.value.value, 2) for one in self._known]
        return " to ".join(dict.fromkeys((ends[0], ends[-1]))) if ends else "-"

    @property
    def sentence(self) -> str:
        """How far other workers would agree, and what that means."""
        known = self._known
        if not known:
            shared = [one for one in self.rows if one.n_outputs]
            why = shared[0].value.reason if shared else NO_PAIRS
            return f"Nothing is known of how other workers would agree: {why}."
        several = len(self.rows) > 1
        ends = [
            f"{decimals(one.value.value, 2)}{f' on {shortened(one.system)}' if several else ''} "
            f"({interval_words(one.value.low, one.value.high, digits=2)})"
            for one in dict.fromkeys((known[0], known[-1]))
        ]
        said = f"from {' to '.join(ends)}" if len(known) > 2 else f"at {' and '.join(ends)}"
        within = "Within a system other" if several else "Other"
        return (
            f"{within} workers like these would agree {said}: Krippendorff's {known[0].level} alpha with 95 % "
            "intervals, 1 being perfect and 0 chance. 'agreement report' says more."
        )

    def record(self) -> list[Record]:
        """A row for each system."""
        return [one.record() for one in self.rows]
