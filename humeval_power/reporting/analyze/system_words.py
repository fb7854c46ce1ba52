"""Sentences about a comparison of several systems: what was fitted, corrected and left out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from humeval_power.inference.study.many_systems import FamilyError, SystemsAnalysis
from humeval_power.ratings import Ratings
from humeval_power.reporting.analyze.family import family_words
from humeval_power.reporting.analyze.shown_pairs import ShownPair
from humeval_power.reporting.analyze.variances import (
    VARIANCES_WORDS,
    check_words,
    listed,
    other_model_words,
    ratio_words,
    sds_words,
    zeros_words,
)
from humeval_power.reporting.numbers import counted


def counts_words(ratings: Ratings) -> str:
    """'1,920 ratings of 8 systems by 15 workers, 40 items'."""
    return (
        f"{counted(ratings.n_ratings, 'rating')} of {counted(ratings.n_systems, 'system')} by "
        f"{counted(ratings.n_workers, 'worker')}, {counted(ratings.n_items, 'item')}"
    )


def model_words(ratings: Ratings, analysis: SystemsAnalysis) -> str:
    """Which fits there are, and the rule of their tests."""
    rule = analysis.results[0].test.rule
    if analysis.joint is not None:
        return f"all systems in one fit, {VARIANCES_WORDS[analysis.joint.variances]} ({rule})"
    more = [f"{ratings.n_documents:,} documents"] if ratings.n_documents else []
    more += [one.name for one in ratings.covariates]
    adjusted = f", adjusted for {', '.join(more)}" if more else ""
    return f"each pair by its own fit, with its own variances{adjusted} ({rule})"


def correction_words(analysis: SystemsAnalysis) -> str:
    """What the corrected p-values and the intervals of differences are."""
    words = family_words(analysis.tests)
    if analysis.family.correction == "none":
        return f"p {words}"
    if not any(one.simultaneous_interval for one in analysis.results):
        return f"p {words}, intervals of differences not corrected"
    if analysis.common_df is None:
        return f"p and intervals of differences {words}, each on its own df"
    df = "the normal distribution" if math.isinf(analysis.common_df) else f"{analysis.common_df:.1f} df"
    return f"p and intervals of differences {words}, on {df}, the fewest of any of them"


def notes(analysis: SystemsAnalysis, pairs: Sequence[ShownPair], names: Mapping[str, str]) -> Iterator[str]:
    """What a reader of the findings must know; comparisons and names as they are shown."""
    reasons: dict[str, list[str]] = {}
    called = {}
    for one in pairs:
        difference = f"{names[one.left]} - {names[one.right]}"
        called[one.left, one.right] = called[one.right, one.left] = difference
        if one.reason:
            reasons.setdefault(one.reason, []).append(difference)
    yield from (f"No test of {', '.join(names)}: {why}." for why, names in reasons.items())
    if analysis.family_error is not None and analysis.joint is not None:
        yield _family_error_words(
            analysis.family_error, analysis.joint.n_workers, analysis.results[0].test.rule.alpha
        )
    if analysis.check is not None:
        yield check_words(analysis.check, called)
    if analysis.other_model is not None:
        yield other_model_words(analysis.other_model, called)
    ends = [end for one in analysis.means for end in one.interval or ()]
    if ends and (min(ends) < 0 or max(ends) > 1):
        yield "An interval of a mean that passes an end of the scale says that t intervals do not know it."


def _family_error_words(found: FamilyError, n_workers: int, alpha: float) -> str:
    """That max-t errs more often with few workers than it says, and how often here."""
    said = f"With {n_workers} workers max-t can err up to twice as often as alpha {alpha:g} says"
    if not math.isnan(found.rate):
        low, high = (f"{100 * end:.1f}" for end in found.interval)
        n = found.n_simulations - found.n_failed
        said += (
            f": of {n} studies of this design without differences, drawn with these variances, "
            f"{100 * found.rate:.1f} % claim one (95 % Monte Carlo interval {low} to {high})"
        )
    return f"{said}. Holm's correction keeps its level: --correction holm."


def variance_notes(analysis: SystemsAnalysis) -> Iterator[str]:
    """What one fit of all systems says of the variances."""
    fitted = analysis.joint
    if fitted is None:
        return
    yield sds_words(fitted)
    if analysis.check is not None:
        yield from ratio_words(analysis.check)
    if fitted.boundary:
        yield (
            f"Estimated as zero: {zeros_words(fitted.boundary)}. That is no proof that they are, and "
            "Kenward-Roger's df allow for it."
        )
    if fitted.not_identified:
        yield (
            f"This table cannot tell {listed(fitted.not_identified)} apart; differences and means are "
            "not affected."
        )
