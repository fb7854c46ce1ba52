"""What is recommended at each of the four steps of a comparison, and what the numbers mean."""

from __future__ import annotations

from humeval_power.choices import MOST_NEEDED
from humeval_power.inference.compare.advice import STANDINGS, Standing, TestAdvice
from humeval_power.inference.compare.tests import TESTS
from humeval_power.planning.compare.pair import PairComparison
from humeval_power.reporting.document import Fact, Paragraph, Points, Table
from humeval_power.reporting.numbers import counted, significant
from humeval_power.reporting.pair_names import with_names
from humeval_power.reporting.values import share

_STANDING_WORDS: dict[Standing, str] = {
    "preferred": "Recommended",
    "allowed": "As good",
    "less preferred": "Less good",
    "inappropriate": "Not for this question",
}
_HEDGES = "Hedges' g is the same without its bias in small samples"
_NO_HEDGES = "Hedges' g is left out, for its factor counts items"
_EFFECT_ADVICE = {
    "mean": "Report the mean difference with its interval, in the metric's own units. Cohen's d compares it with "
    f"other metrics; {_HEDGES}.",
    "median": "Report the median difference with its interval, in the metric's own units.",
    "pseudomedian": "Report the Hodges-Lehmann estimate with its interval, in the metric's own units; Wilcoxon's r "
    "compares it with other metrics.",
    "better": "Report the share of items on which B is better, with its interval.",
}
_EFFECT_WORDS = {
    "mean": "by how much B's mean is higher",
    "mean_bca": "the same, its interval without assuming a distribution",
    "median": "half of the items differ by more than this",
    "hodges_lehmann": "the middle of all means of two differences",
    "hodges_lehmann_as_published": "the middle of all means of two differences",
    "share_better": "on which share of items B is better, ties counted half",
    "cohens_d": "the mean difference in SDs of the differences",
    "hedges_g": "Cohen's d without its bias in small samples",
    "hedges_g_as_published": "Cohen's d by Zhu et al.'s (2020) factor",
    "wilcoxon_r": "-1 to 1: how consistently B's ranks are higher",
}


def advice_facts(comparison: PairComparison) -> tuple[Fact, ...]:
    """The test that was run and what speaks for it, then the others by how well they suit."""
    advice = comparison.advice
    used = next((one for one in advice if one.name == comparison.test.name), None)
    why = "" if used is None else f". {with_names(used.reason, comparison.names)}"
    lines: list[Fact] = [("Used", comparison.test.label + why)]
    for standing in STANDINGS:
        names = [_label(one) for one in advice if one.standing == standing]
        if names:
            lines.append((_STANDING_WORDS[standing], "; ".join(names)))
    return tuple(lines)


def _label(advice: TestAdvice) -> str:
    label = TESTS[advice.name].label
    return f"{label} ({advice.name})"


def advice_table(comparison: PairComparison) -> Table:
    """Which tests suit the question, with reasons."""
    rows = tuple(
        (one.name, one.standing, with_names(one.reason, comparison.names)) for one in comparison.advice
    )
    return Table(("test", "standing", "reason"), rows, in_words=True)


def effect_advice(comparison: PairComparison) -> Paragraph:
    """Which effect size answers the question."""
    said = _EFFECT_ADVICE[comparison.question]
    if comparison.table.clusters is not None:
        said = said.replace(_HEDGES, _NO_HEDGES)
    return Paragraph(with_names(said, comparison.names))


def method_table(comparison: PairComparison) -> Table:
    """What each effect size says, and how its interval was made."""
    names = comparison.names
    rows = tuple(
        (with_names(one.label, names), with_names(_EFFECT_WORDS[one.name], names), one.method)
        for one in comparison.effects
    )
    return Table(("effect size", "what it says", "interval by"), rows, in_words=True)


def power_advice(comparison: PairComparison) -> Points:
    """What the next study needs, and which effect the power should be for."""
    power = comparison.power
    assert power is not None
    effect = f"{'the observed' if power.is_observed else 'this'} effect of {significant(power.effect)}"
    if power.needed is None:
        most = f"No number of {power.unit} up to {MOST_NEEDED:,}"
        needed = f"{most} gives a power of {share(power.target)} for {effect}."
    else:
        about = counted(power.needed, power.unit.removesuffix("s"))
        needed = f"By formula, about {about} give a power of {share(power.target)} for {effect}."
    said = [needed]
    if power.is_observed:
        said.append("For the next study, name the smallest difference that would matter instead.")
    return Points(tuple(said))
