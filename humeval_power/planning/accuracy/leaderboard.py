"""A leaderboard over time: which submissions were real improvements (Card et al. 2020, App. D, Fig. 10)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from humeval_power.choices import RECOMMENDED, PairedTest
from humeval_power.choices import PowerOn as PowerOn
from humeval_power.errors import InputError, Problem
from humeval_power.planning.accuracy.claims import Claim, compatible, expected_p
from humeval_power.planning.accuracy.pairs import ValidationPairs
from humeval_power.planning.questions import check_target
from humeval_power.scenarios.accuracy.agreement import OVERLAP, Agreement


@dataclass(frozen=True, slots=True)
class Submission:
    """A system's accuracies on the test set and, NaN if not known, on the validation set.

    `key` is what a table of pairs calls it; without one, its name.
    """

    name: str
    date: str
    accuracy: float
    validation: float = math.nan
    key: str = ""

    @property
    def called(self) -> str:
        """Its key, or its name."""
        return self.key or self.name


@dataclass(frozen=True, slots=True)
class JudgedSubmission:
    """A submission beside the best system before it.

    `baseline` is the accuracy of that and `agreement` how often both do alike, known or guessed. `power` is the
    probability of a significant improvement on the test set if the improvement on the validation set is true
    (NaN without one); `is_best` says whether it becomes the best: a significant improvement and, where the
    power is known, one that had the target power.
    """

    submission: Submission
    best_before: str
    baseline: float
    improvement: float
    agreement: float
    power: float
    p_value: float
    is_significant: bool
    is_best: bool


def moment(date: str) -> datetime:
    """When a submission was made; of a day, its beginning.

    Raises
    ------
    InputError
        A date that is none of ISO 8601.
    """
    try:
        return datetime.fromisoformat(date.strip()).replace(tzinfo=None)
    except ValueError:
        rule, remedy = "is no date by which submissions can be put in order.", "Write dates as 2020-05-06."
        raise InputError([Problem(rule, remedy, value=date, has_value=True)]) from None


def judge_leaderboard(
    submissions: Sequence[Submission],
    *,
    n_items: int,
    agreement: Agreement = OVERLAP["squad"],
    pairs: ValidationPairs | None = None,
    power_on: PowerOn = "test",
    test: PairedTest = RECOMMENDED,
    power: float = 0.8,
    alpha: float = 0.05,
) -> tuple[JudgedSubmission, ...]:
    """Compare submissions in order of time with the best before them; the first is where it starts.

    The dates are those of ISO 8601, such as 2020-05-06. With `pairs` the agreement is that counted on the
    validation set, else it is guessed. The power is that of the test set, or that which the validation set would
    have (`power_on`), as Card et al. (2020, App. D) took it.

    Raises
    ------
    InputError
        No submission; a date that is none; a power that is no target; a pair that is compared and not in `pairs`;
        the power on a validation set whose size is not known.
    """
    if not submissions:
        raise InputError("There is no submission to judge.")
    check_target(power, alpha)
    if power_on == "validation" and pairs is None:
        raise InputError("The power on the validation set needs the pairs and the number of its items.")
    ordered = sorted(submissions, key=lambda each: moment(each.date))
    n_power = pairs.n_items if pairs is not None and power_on == "validation" else n_items
    best, judged = ordered[0], []
    for each in ordered[1:]:
        improvement = each.accuracy - best.accuracy
        alike = agreement if pairs is None else pairs.agreement(best.called, each.called)
        claim = Claim("", n_items, best.accuracy, improvement, each.name)
        observed = compatible(claim, improvement, alike, test=test, alpha=alpha)
        p_value = expected_p(observed)
        significant = improvement > 0 and p_value <= alpha
        expected = each.validation - best.validation
        chance = _chance(replace(claim, n_items=n_power), expected, alike, test, alpha)
        accepted = significant and not chance < power
        judged.append(
            JudgedSubmission(
                each,
                best_before=best.name,
                baseline=best.accuracy,
                improvement=improvement,
                agreement=1 - observed.disagreement,
                power=chance,
                p_value=p_value,
                is_significant=significant,
                is_best=accepted,
            )
        )
        if accepted:
            best = each
    return tuple(judged)


def _chance(claim: Claim, expected: float, agreement: Agreement, test: PairedTest, alpha: float) -> float:
    """The probability of a significant improvement if `expected` is true; NaN where that is not known."""
    if math.isnan(expected):
        return math.nan
    computed = compatible(claim, expected, agreement, test=test, alpha=alpha).computed()
    return computed.power if expected >= 0 else computed.rejection_rate - computed.power
