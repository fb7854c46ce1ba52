"""Which of two outputs is preferred: tests of a finished comparison."""

from __future__ import annotations

from collections.abc import Sequence

from humeval_power.comparisons.preference.result import PreferenceTestResult
from humeval_power.comparisons.preference.scenario import Judgements, preference_test
from humeval_power.errors import InputError
from humeval_power.latent import Link
from humeval_power.rules import DEFAULT_RULE


def test(
    comparisons: Judgements | Sequence[Judgements],
    *,
    alpha: float = DEFAULT_RULE.alpha,
    link: Link = DEFAULT_RULE.link,
) -> PreferenceTestResult:
    """Test a preference, with ties excluded, split or kept.

    Parameters
    ----------
    comparisons : wins of B, ties and losses of one comparison or of several; those with a preference, a
        worker and an item for each judgement, and perhaps its position, are tested with crossed workers and
        items where these repeat.
    alpha : 1 minus the confidence of the intervals.
    link : of the latent strength, where workers or items repeat.

    Returns
    -------
    PreferenceTestResult
        For each comparison the share that prefers B and its p-values; `to_frame` has a row for each.

    Raises
    ------
    InputError
        A comparison without judgements, or none at all.
    """
    several = (comparisons,) if isinstance(comparisons, Judgements) else tuple(comparisons)
    if not several:
        raise InputError("There are no judgements.")
    tests = tuple(preference_test(each, alpha=alpha, link=link) for each in several)
    return PreferenceTestResult(found=tests, alpha=alpha)
