"""Raters one by one in words, in a table and as a record; words accuse nobody."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from humeval_power.checking.columns import shortened
from humeval_power.choices import DEFAULT_CONFIDENCE
from humeval_power.comparisons.agreement.agreement import shared_ratings
from humeval_power.comparisons.agreement.raters import ALPHA, FEWEST_RATERS, RaterTests, raters_one_by_one
from humeval_power.comparisons.agreement.result import finite
from humeval_power.ratings import Ratings
from humeval_power.saying.document import Paragraph, Section
from humeval_power.saying.numbers import counted, decimals, level_of, p_words
from humeval_power.saying.result import Record
from humeval_power.saying.stated import table
from humeval_power.scales import RatingScale
from humeval_power.worker_statistics import MIN_ANSWERS

_MOST_SHOWN = 12  # raters in the table
WHAT_TO_DO = (
    "Nobody is left out for it. Look at these ratings: were the instructions the same, and the kind of outputs? "
    "Was the scale read the right way round? There may be a good reason. Rules that leave raters out belong in "
    "the plan, before there are ratings."
)
HOW_TESTED = (
    f"Each rater with {MIN_ANSWERS} ratings or more of outputs that others rated too is compared with all others "
    f"together, {FEWEST_RATERS - 1} or more, by the t of a deleted value, with Holm for all raters. In some "
    "5 of 100 panels of like raters somebody is named for the level, in as many for consistency or for a system. "
    "With few raters it takes a large difference."
)


@dataclass(frozen=True, slots=True, eq=False)
class Raters:
    """Tests of the raters of a table, with their names in the order of the tests."""

    tests: RaterTests
    names: tuple[str, ...]
    scale: RatingScale
    systems: tuple[str, ...]
    is_peaked: bool
    confidence: float

    @classmethod
    def of(cls, ratings: Ratings, *, confidence: float = DEFAULT_CONFIDENCE) -> Raters:
        """Those who share outputs with others."""
        shared = shared_ratings(ratings)
        tests = raters_one_by_one(shared, ratings.n_systems, confidence=confidence)
        names = tuple(ratings.worker_names[code] for code in shared.workers)
        return cls(tests, names, ratings.scale, ratings.system_names, shared.is_peaked, confidence)

    def section(self) -> Section:
        """Who is unlike the others, and a table of the first twelve: those, then who was compared."""
        tests = self.tests
        unlike, n_tested = np.flatnonzero(tests.is_unlike), int(tests.is_tested.sum())
        order = np.lexsort((-np.nan_to_num(np.abs(tests.level)), ~tests.is_tested, ~tests.is_unlike))
        level = f"{level_of(self.confidence)}"
        rows = table(
            order[:_MOST_SHOWN].tolist(),
            {
                "rater": lambda place: shortened(self.names[place]) + " *" * bool(tests.is_unlike[place]),
                "ratings": lambda place: f"{tests.n_ratings[place]:,}",
                "level": lambda place: self._level(place),
                "variance": lambda place: decimals(float(tests.noise[place]), 2),
                "correlation": lambda place: decimals(float(tests.agreement[place]), 2),
            },
            f"Level: points above or below the mean of raters, with {level} intervals that hold for all of them at "
            "once: these raters, other outputs. Variance: about what the others give an output, 1 being usual. "
            "Correlation: with the others, within systems."
            + (f" {len(order) - _MOST_SHOWN:,} more raters." if len(order) > _MOST_SHOWN else ""),
        )
        said = [
            Paragraph(f"{shortened(self.names[place])} {'; '.join(self.unlike(place))}.")
            for place in unlike[:_MOST_SHOWN].tolist()
        ]
        return Section("Raters one by one", (Paragraph(self.lead(n_tested)), *said, rows))

    def lead(self, n_tested: int) -> str:
        """Who is unlike the others, what was compared, and what to do."""
        if not n_tested:
            holds = ""
            if np.isfinite(self.tests.level_reach).any():
                holds = " The intervals of levels hold all the same."
            return (
                f"No rater is compared with the others: it takes {FEWEST_RATERS} raters with {MIN_ANSWERS} ratings "
                f"or more that others gave too, linked by outputs.{holds}"
            )
        n = int(self.tests.is_unlike.sum())
        how = HOW_TESTED
        if self.is_peaked:
            how += (
                " Half of the ratings or more are one answer: levels and correlations are compared, neither "
                "variances nor systems."
            )
        if not n:
            return f"No rater of {n_tested:,} stands out from the others.{self._uneven()} {how}"
        stand = "stands" if n == 1 else "stand"
        return f"{counted(n, 'rater')} of {n_tested:,} {stand} out from the others. {WHAT_TO_DO} {how}"

    def _uneven(self) -> str:
        """That raters have levels of their own, which intervals tell from 0, though nobody stands out."""
        apart = int((np.abs(self.tests.level) > self.tests.level_reach).sum())
        if not apart:
            return ""
        return (
            f" {counted(apart, 'rater')} {'rates' if apart == 1 else 'rate'} higher or lower than all together do "
            "(the interval of the level leaves out 0), but no further than raters of this panel differ."
        )

    def unlike(self, place: int) -> Iterator[str]:
        """Each way in which a rater is unlike the others, with its p-value."""
        return unlike_words(self.tests, place, self.scale, self.systems)

    def _level(self, place: int) -> str:
        width, tests = self.scale.width, self.tests
        level, reach = float(tests.level[place]) * width, float(tests.level_reach[place]) * width
        ends = f" ({level - reach:+z.2f} to {level + reach:+z.2f})" if math.isfinite(reach) else ""
        return f"{level:+z.2f}{ends}"

    def record(self) -> list[Record]:
        """A row for each rater, on [0, 1]; null where there is nothing."""
        names = ("n_ratings", "level", "level_reach", "noise", "agreement")
        tests = ("level_p", "noise_p", "agreement_p", "leaning_p")
        found: list[Record] = []
        for place, name in enumerate(self.names):
            values = {one: finite(float(getattr(self.tests, one)[place])) for one in (*names[1:], *tests)}
            leaning = map(finite, map(float, self.tests.leaning[place]))
            found.append(
                {
                    "rater": name,
                    "n_ratings": int(self.tests.n_ratings[place]),
                    **values,
                    "leaning": dict(zip(self.systems, leaning, strict=True)),
                    "unlike": list(self.unlike(place)),
                }
            )
        return found


def unlike_words(
    tests: RaterTests, place: int, scale: RatingScale, systems: tuple[str, ...]
) -> Iterator[str]:
    """Each way in which a rater is unlike the others, with its p-value."""

    def beside(value: float) -> str:
        return f"{abs(value) * scale.width:.3g} points more {'favourably' if value > 0 else 'strictly'}"

    if tests.level_p[place] <= ALPHA:
        yield f"rates {beside(tests.level[place])} than raters do on average ({p_words(tests.level_p[place])})"
    if tests.noise_p[place] <= ALPHA:
        yield (
            f"lies further from what others give an output than they do: {tests.noise[place]:.3g} times their "
            f"variance ({p_words(tests.noise_p[place])})"
        )
    if tests.agreement_p[place] <= ALPHA:
        value = float(tests.agreement[place])
        more = "more" if value > tests.usual_agreement else "less"
        yield (
            f"goes along with the others {more} than is usual here: correlation {decimals(value, 2)}, usually "
            f"{decimals(tests.usual_agreement, 2)} ({p_words(tests.agreement_p[place])})"
        )
    if tests.leaning_p[place] <= ALPHA:
        leaning = tests.leaning[place]
        most = int(np.argmax(np.abs(leaning)))
        yield (
            f"rates {systems[most]} by {beside(leaning[most])} than the others do, the level aside "
            f"({p_words(tests.leaning_p[place])})"
        )
