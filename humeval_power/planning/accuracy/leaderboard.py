"""A leaderboard over time: which submissions were real improvements (Card et al. 2020, App. D, Fig. 10)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from humeval_power.inference.mcnemar import RECOMMENDED, PairedTest
from humeval_power.planning.accuracy.claims import Claim, compatible, expected_p
from humeval_power.scenarios.accuracy.agreement import OVERLAP, Agreement


@dataclass(frozen=True, slots=True)
class Submission:
    """A system's accuracies on the test set and, NaN if not known, on the validation set."""

    name: str
    date: str
    accuracy: float
    validation: float = math.nan


@dataclass(frozen=True, slots=True)
class JudgedSubmission:
    """A submission beside the best system before it.

    `power` is the probability of a significant improvement on the test set if the improvement on the
    validation set is true (NaN without one); `is_best` says whether it becomes the best: a significant
    improvement and, where the power is known, one that had the target power.
    """

    submission: Submission
    best_before: str
    improvement: float
    power: float
    p_value: float
    is_significant: bool
    is_best: bool


def judge_leaderboard(
    submissions: Sequence[Submission],
    *,
    n_items: int,
    agreement: Agreement = OVERLAP["squad"],
    test: PairedTest = RECOMMENDED,
    power: float = 0.8,
    alpha: float = 0.05,
) -> tuple[JudgedSubmission, ...]:
    """Compare submissions in order of time with the best before them; the first is where it starts.

    The dates are compared as text: write them as 2020-05-06.
    """
    ordered = sorted(submissions, key=lambda each: each.date)
    best, judged = ordered[0], []
    for each in ordered[1:]:
        improvement = each.accuracy - best.accuracy
        claim = Claim("", n_items, best.accuracy, improvement, each.name)
        p_value = expected_p(compatible(claim, improvement, agreement, test=test, alpha=alpha))
        significant = improvement > 0 and p_value <= alpha
        chance = _chance(each, best, claim, agreement, test, alpha)
        accepted = significant and not chance < power
        judged.append(
            JudgedSubmission(each, best.name, improvement, chance, p_value, significant, accepted)
        )
        if accepted:
            best = each
    return tuple(judged)


def _chance(
    each: Submission, best: Submission, claim: Claim, agreement: Agreement, test: PairedTest, alpha: float
) -> float:
    expected = each.validation - best.validation
    if math.isnan(expected):
        return math.nan
    computed = compatible(claim, expected, agreement, test=test, alpha=alpha).computed()
    return computed.power if expected >= 0 else computed.rejection_rate - computed.power
