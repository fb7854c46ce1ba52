"""Systems compared by independent ratings, in words: the test, a paragraph for a paper, and the signature."""

from __future__ import annotations

from humeval_power.inference.assessment.pairs import PairTests, RatedOutputs
from humeval_power.reporting.compared import Compared
from humeval_power.reporting.numbers import counted, p_words, significant, significant_interval
from humeval_power.reporting.records import versions
from humeval_power.reporting.signature import DIGITS, NAME, cluster_entry, named, short

_LABELS = {"mann-whitney": "Mann-Whitney U", "welch": "Welch's t", "student": "Student's t"}
_CLUSTERED = {"mann-whitney": "P(B > A) by placements", "welch": "difference of the means"}


def label_of(found: PairTests, rated: RatedOutputs) -> str:
    """The test in words."""
    if rated.cluster is None:
        return _LABELS[found.test]
    return f"{_CLUSTERED[found.test]}, errors robust to {rated.cluster_name} (CR2)"


def lead_of(found: PairTests, rated: RatedOutputs) -> str:
    """What is shown of one pair, or in how many of several a difference is."""
    pair, confidence = found.pairs[0], 1 - found.alpha
    if len(found.pairs) > 1:
        groups = f" in {counted(len(rated.groups), 'group')}" if len(rated.groups) > 1 else ""
        return (
            f"In {found.n_corrected:,} of {counted(len(found.pairs), 'pair')} a difference is shown (alpha "
            f"{found.alpha:g}, corrected by Holm); {found.n_significant:,} without the correction. "
            f"{counted(len(rated.rating), 'rating')} of {counted(len(rated.systems), 'system')}{groups}; "
            f"{label_of(found, rated)}."
        )
    shown = pair.p_value < found.alpha
    if shown and found.test == "mann-whitney" and pair.is_torn:
        more = "more" if pair.superiority > 0.5 else "less"
        return (
            f"A rating of {pair.b} is {more} often higher than one of {pair.a} than lower, which is shown "
            f"({p_words(pair.p_value)}), although the mean is {'higher' if pair.difference > 0 else 'lower'}."
        )
    return str(
        Compared(
            (pair.a, pair.b),
            pair.difference,
            pair.interval,
            pair.p_value,
            shown,
            confidence,
            ("is rated", "was rated"),
            ending=" on average",
        )
    )


def paragraph_of(found: PairTests, rated: RatedOutputs) -> str:
    """How a paper reports it."""
    label, alpha = label_of(found, rated), f"{found.alpha:g}"
    taken = "" if rated.cluster is not None else ", ratings taken as independent"
    if len(found.pairs) == 1:
        pair = found.pairs[0]
        return (
            f"We compared {pair.b} (B) with {pair.a} (A) by {pair.n_b:,} and {pair.n_a:,} ratings. The mean "
            f"rating was {significant(pair.mean_b)} for B and {significant(pair.mean_a)} for A, a difference of "
            f"{significant(pair.difference)} ({100 * (1 - found.alpha):g} % interval "
            f"{significant_interval(*pair.interval)}; {label}, two-sided{taken}, {p_words(pair.p_value)}, "
            f"alpha {alpha})."
        )
    against = "" if found.baseline is None else f" with {found.baseline}"
    return (
        f"We compared {counted(len(rated.systems), 'system')}{against} in {counted(len(found.pairs), 'pair')} "
        f"by {counted(len(rated.rating), 'rating')} ({label}, two-sided{taken}). {found.n_significant:,} of the "
        f"pairs had p < {alpha}; after Holm's correction {found.n_corrected:,} differed significantly."
    )


def signature_of(found: PairTests, rated: RatedOutputs) -> str:
    """The line that says what was tested."""
    n_clusters = None if rated.cluster is None else len(set(rated.cluster.tolist()))
    entries = [
        NAME,
        *named("v", versions()["humeval-power"]),
        "model:independent-ratings",
        "coding:b-a",
        f"test:{found.test}",
        *(["continuity:no"] if found.test == "mann-whitney" and not found.continuity else []),
        f"alpha:{short(found.alpha)}",
        "two",
        f"n:{len(rated.rating)}",
        *cluster_entry(rated.cluster_name or None, n_clusters),
        *named("k", len(rated.systems) if len(rated.systems) > 2 else None),
        *named("corr", "holm" if len(found.pairs) > 1 else None),
        *named("data", f"sha256:{rated.sha256[:DIGITS]}" if rated.sha256 else None),
    ]
    return "|".join(entries)
