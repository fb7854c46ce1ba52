"""Direct assessment in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from humeval_power.studies.power.wording import Wording, points_words

if TYPE_CHECKING:
    from humeval_power.comparisons.assessment.scenario import DirectAssessment

_BELOW_WORDS = {"leave": "left as they are", "clip": "set to it", "truncate": "drawn again"}
TEST_WORDS = {"mann-whitney": "Mann-Whitney U", "welch": "Welch's t", "student": "Student's t"}


def _words(scenario: DirectAssessment) -> list[str]:
    a, b = scenario.a, scenario.b
    spread = f"SD {a.sd:g}" if a.sd == b.sd else f"SD {a.sd:g} and {b.sd:g}"
    return [
        f"{2 * scenario.n:,} independent ratings from {a.low:g} to {a.high:g}, {scenario.n:,} of each system",
        f"mean {a.mean:g} for A and {b.mean:.6g} for B, {spread}: {a.high:g} minus a Gamma error",
        f"{100 * a.share_below:.2g} % of A's and {100 * b.share_below:.2g} % of B's fall below {a.low:g}: "
        f"{_BELOW_WORDS[scenario.below]}",
        f"{TEST_WORDS[scenario.test]}, two-sided, alpha {scenario.alpha:g}",
    ]


WORDING = Wording(
    "assessment",
    _words,
    "points",
    lambda scenario: points_words(scenario.true_effect, scenario.low, scenario.high),
    verb="is rated",
    sized="ratings of each system",
)
