"""The model of several systems and the family of its tests, in the words of a methods section."""

from __future__ import annotations

from collections.abc import Mapping

from humeval_power.comparisons import ComparisonFamily, Correction, FamilyOfTests, SystemVariances
from humeval_power.reporting.analyze.family import family_words
from humeval_power.reporting.numbers import counted
from humeval_power.reporting.rule_words import estimator_words, model_words, reference_of, reported_words
from humeval_power.rules import DecisionRule

_VARIANCES: Mapping[SystemVariances, str] = {
    "own": "with variances of each system's own",
    "common": "with variances common to all systems",
}
_CITED: Mapping[Correction, str] = {
    "holm": " (Holm 1979)",
    "max-t": " (Hothorn, Bretz and Westfall 2008)",
    "bh": " (Benjamini and Hochberg 1995)",
}


def in_words(names: tuple[str, ...]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def family_model(rule: DecisionRule, family: ComparisonFamily, n_systems: int) -> str:
    """The model that was fitted, as the start of a sentence."""
    if family.model != "joint":
        model = model_words(rule).replace("B - A", "of its systems")
        return f"{model}, fitted to the ratings of each pair of systems by itself"
    return (
        f"Linear mixed model of the ratings of all {n_systems} systems together, with a mean for each system, "
        "crossed random intercepts of workers and of items, and random deviations of workers and of items for each "
        f"system, {_VARIANCES[family.variances]}, all uncorrelated"
    )


def tested_words(family: ComparisonFamily, n_comparisons: int) -> str:
    """'all 28 pairs of systems', '7 systems against base'."""
    if family.comparisons == "baseline":
        return f"{counted(n_comparisons, 'system')} against {family.baseline}"
    return "the one pair of systems" if n_comparisons == 1 else f"all {n_comparisons:,} pairs of systems"


def family_tests(rule: DecisionRule, tests: FamilyOfTests, n_comparisons: int) -> str:
    """What was compared with what, and how the family of tests was corrected, as a sentence."""
    cited = _CITED.get(tests.family.correction, "")
    looks = (
        " The error was spent over looks and comparisons: one that was shown passed its share of alpha to the "
        "others at the same look (Maurer and Bretz 2013)."
        if tests.n_looks
        else ""
    )
    side = {
        "two-sided": "two-sided",
        "greater": "one-sided (the second of a pair above the first)",
        "non-inferior": f"one-sided (the second of a pair not below the first by {rule.margin} or more)",
        "equivalent": f"two one-sided tests each (equivalence within {rule.margin}; Schuirmann 1987)",
    }[rule.alternative]
    return (
        f"Wald tests of the differences of {tested_words(tests.family, n_comparisons)} against "
        f"{reference_of(rule)}, {side}; p-values {family_words(tests)}{cited}, alpha {rule.alpha:g}.{looks}"
    )


def family_sentences(
    rule: DecisionRule, tests: FamilyOfTests, *, n_systems: int, n_comparisons: int
) -> str:
    """The model and its tests."""
    model = f"{family_model(rule, tests.family, n_systems)}, by {estimator_words(rule)}."
    return f"{model}{reported_words(rule)} {family_tests(rule, tests, n_comparisons)}"


def paper_sentences(rule: DecisionRule, tests: FamilyOfTests, *, n_systems: int, n_comparisons: int) -> str:
    """The same as sentences of a paper."""
    model = family_model(rule, tests.family, n_systems)
    return (
        f"We fitted a {model[0].lower()}{model[1:]}, by {estimator_words(rule)}.{reported_words(rule)} We made "
        f"{family_tests(rule, tests, n_comparisons)}"
    )
