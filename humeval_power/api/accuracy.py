"""Right and wrong answers of two systems on the same items: what a finished comparison shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from humeval_power.inference.accuracy.answers import Answers
    from humeval_power.inference.accuracy.counts import PairedCounts
    from humeval_power.reporting.accuracy.comparison import AccuracyTestsResult
    from humeval_power.reporting.accuracy.estimated import AccuracyEstimateResult


def estimate(answers: PairedCounts | Answers, *, remarks: Sequence[str] = ()) -> AccuracyEstimateResult:
    """Accuracies, difference and agreement of two systems on the same items.

    Parameters
    ----------
    answers : items by which system got them right, such as from `paired_counts`, or what `read_answers` reads.
    remarks : what was noticed in reading.

    Returns
    -------
    AccuracyEstimateResult
        Shares; the difference is B - A, with its 95 % interval (Bonett and Price 2012; with clusters Student's by
        CR2).

    Raises
    ------
    InputError
        Answers of more than two systems.
    """
    from humeval_power.errors import InputError, Problem
    from humeval_power.inference.accuracy.comparison import all_comparisons, compared
    from humeval_power.inference.accuracy.counts import PairedCounts
    from humeval_power.reporting.accuracy.estimated import AccuracyEstimateResult

    if isinstance(answers, PairedCounts):
        return AccuracyEstimateResult(comparison=compared("", answers), remarks=tuple(remarks))
    if len(answers.systems) > 2:
        rule = f"two systems are estimated; the table has {len(answers.systems)}: {', '.join(answers.systems)}."
        remedy = "Name two of them: --systems A,B. `accuracy test` compares all of them."
        raise InputError([Problem(rule, remedy)])
    return AccuracyEstimateResult(
        comparison=all_comparisons(answers)[0], answers=answers, remarks=(*_noticed(answers), *remarks)
    )


def test(
    comparisons: PairedCounts | Answers | Sequence[tuple[str, PairedCounts]],
    *,
    alpha: float = 0.05,
    remarks: Sequence[str] = (),
) -> AccuracyTestsResult:
    """Test differences of accuracy in several ways, the recommended one first.

    Parameters
    ----------
    comparisons : items by which system got them right, or several of them with their names; or the answers of two
        systems or more, as `read_answers` reads them, of which every pair is compared (Holm's correction). Items in
        clusters are tested by Student's t with CR2 and by swapping whole clusters.
    alpha : level of the tests; the interval has the confidence 1 - alpha.
    remarks : what was noticed in reading.

    Returns
    -------
    AccuracyTestsResult
        Counts, the difference B - A with its interval and the p-values; `to_frame` has a row for each
        comparison.

    Raises
    ------
    InputError
        Clusters of other items.
    """
    from humeval_power.inference.accuracy.answers import Answers
    from humeval_power.inference.accuracy.comparison import all_comparisons, compared
    from humeval_power.inference.accuracy.counts import PairedCounts
    from humeval_power.reporting.accuracy.comparison import AccuracyTestsResult

    if isinstance(comparisons, Answers):
        said = (*_noticed(comparisons), *remarks)
        tested = all_comparisons(comparisons)
        return AccuracyTestsResult(comparisons=tested, answers=comparisons, alpha=alpha, remarks=said)
    named = [("", comparisons)] if isinstance(comparisons, PairedCounts) else comparisons
    tested = tuple(compared(name, counts) for name, counts in named)
    return AccuracyTestsResult(comparisons=tested, alpha=alpha, remarks=tuple(remarks))


def _noticed(answers: Answers) -> tuple[str, ...]:
    """What was noticed in reading, and columns that look like clusters."""
    return (*answers.notices, *(each.sentence() for each in answers.suspects))
