"""One's own regression of how often two systems do alike, from pairs of them (Card et al. 2020, App. E.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from humeval_power.errors import InputError
from humeval_power.planning.accuracy.leaderboard import JudgedSubmission, Submission
from humeval_power.planning.accuracy.pairs import ValidationPairs
from humeval_power.planning.accuracy.regression import LeastSquares, least_squares
from humeval_power.scenarios.accuracy.agreement import OverlapRegression


@dataclass(frozen=True, slots=True)
class SystemPair:
    """Two systems on the same items, as shares: the accuracy of the worse, how much better the other is, and on how
    many items both are right or both wrong."""

    worse: float
    difference: float
    agreement: float


@dataclass(frozen=True, slots=True)
class FittedOverlap:
    """The regression of agreement on the worse accuracy and the difference, with the pairs it was fitted to."""

    pairs: tuple[SystemPair, ...]
    fit: LeastSquares
    regression: OverlapRegression


def fit_overlap(pairs: Sequence[SystemPair], *, name: str = "own") -> FittedOverlap:
    """agreement = constant + a * worse accuracy + b * difference, by least squares.

    Raises
    ------
    InputError
        Fewer than four pairs, or accuracies and differences that do not vary apart from each other.
    """
    worse, difference, agreement = (
        np.array([getattr(pair, field) for pair in pairs]) for field in ("worse", "difference", "agreement")
    )
    refusal = (
        f"{len(pairs)} pairs do not determine how agreement depends on accuracy and difference: give pairs whose "
        "accuracies differ, and whose differences do not follow from them."
    )
    if len(pairs) < 4:
        raise InputError(
            f"{len(pairs)} pairs are too few for a regression of three coefficients: give 4 or more."
        )
    fit = least_squares({"accuracy": worse, "difference": difference}, agreement, refusal=refusal)
    constant, per_accuracy, per_difference = (term.estimate for term in fit.terms)
    seen = (float(worse.min()), float(worse.max()))
    regression = OverlapRegression(name, constant, per_accuracy, per_difference, seen)
    return FittedOverlap(tuple(pairs), fit, regression)


def pairs_of_board(submissions: Sequence[Submission], pairs: ValidationPairs) -> list[SystemPair]:
    """Every pair of submissions that was counted, with accuracies on the test set.

    Those on the validation set would do as well where nobody tuned on it.
    """
    found = []
    for one, other in combinations(submissions, 2):
        if frozenset((one.called, other.called)) in pairs.differing:
            share = pairs.agreement(one.called, other.called).share
            low, high = sorted((one.accuracy, other.accuracy))
            found.append(SystemPair(low, high - low, share))
    return found


def pairs_of_best(judged: Sequence[JudgedSubmission]) -> list[SystemPair]:
    """Each new best with the best before it."""
    return [SystemPair(each.baseline, each.improvement, each.agreement) for each in judged if each.is_best]


def fit_improvements(pairs: Sequence[SystemPair]) -> LeastSquares:
    """The difference on the worse accuracy: how much an improvement gains where the best is so good already."""
    worse = np.array([pair.worse for pair in pairs])
    difference = np.array([pair.difference for pair in pairs])
    refusal = f"{len(pairs)} pairs do not determine how improvements depend on accuracy: it must differ."
    return least_squares({"accuracy": worse}, difference, refusal=refusal)
