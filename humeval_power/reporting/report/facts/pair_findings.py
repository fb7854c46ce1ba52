"""What a comparison of two systems found, as sentences of a paper."""

from __future__ import annotations

from humeval_power.reporting.analyze.family import family_words
from humeval_power.reporting.numbers import MINUS, minus_of_numbers, p_words, with_minus
from humeval_power.reporting.report.facts.record import StudyFacts
from humeval_power.reporting.report.sentences import sequential_sentence
from humeval_power.reporting.rule_words import is_too_bold, margin_decision
from humeval_power.reporting.values import bounds, estimated, number, part


def pair_findings(facts: StudyFacts) -> list[str | None]:
    """The difference with its interval and test, its decision, and what there is to mind."""
    if number(part(facts.record, "effect"), "estimate") is None:
        return []
    if not facts.converged:
        return [
            "The model could not be fitted (it did not converge), so that there is no result to report."
        ]
    return [
        _difference(facts),
        _as_rated(facts),
        _no_test(facts) or sequential_sentence(facts.record) or _decision(facts),
        _false_positives(facts),
    ]


def zeros(facts: StudyFacts) -> str | None:
    """The SDs that are zero or not identified, as sentences."""
    said = [f"Estimated as zero: {', '.join(facts.boundary)}."] if facts.boundary else []
    unknown = facts.not_identified
    said += [f"Not identified by this design: {', '.join(unknown)}."] if unknown else []
    return " ".join(said) or None


def p_of_family(facts: StudyFacts, value: float) -> str:
    """'p = 0.012', and after which correction where the test was made with those of other criteria."""
    family = facts.family
    if family is None or family.family.correction == "none":
        return p_words(value)
    return f"{p_words(value)} {family_words(family)}"


def _minus(facts: StudyFacts) -> str:
    """The difference of the two systems by their names."""
    names = facts.systems if len(facts.systems) == 2 else ("A", "B")
    return f"{names[1]} {MINUS} {names[0]}"


def _difference(facts: StudyFacts) -> str:
    effect = part(facts.record, "effect")
    estimate = number(effect, "estimate") or 0.0
    error, df = (number(effect, name) for name in ("standard_error", "df"))
    p_value = facts.comparisons[0].p_value
    test = [] if error is None else [f"standard error {error:#.3g}"]
    test += [_interval(facts, bounds(effect, "interval"))]
    test += [] if df is None else [f"df = {df:.1f}"]
    test += [] if p_value is None else [p_of_family(facts, p_value)]
    return (
        f"The estimated difference {_minus(facts)} is {with_minus(estimated(estimate))} on [0, 1] "
        f"({', '.join(filter(None, test))})."
    )


def _as_rated(facts: StudyFacts) -> str | None:
    raw, scale = part(facts.record, "effect", "raw"), facts.scale
    estimate = number(raw, "estimate")
    if estimate is None or scale is None:
        return None
    interval = _interval(facts, bounds(raw, "interval"))
    between = f" ({interval})" if interval else ""
    low = (
        ""
        if scale.higher_is_better
        else f"; low ratings are good, so that a negative difference favours {facts.systems[1]}"
    )
    return (
        f"On the scale of the ratings, {scale.low:g} to {scale.high:g}, this is "
        f"{with_minus(estimated(estimate))}{between}{low}."
    )


def _interval(facts: StudyFacts, ends: tuple[float, float] | None) -> str:
    if ends is None:
        return ""
    low, high = (with_minus(estimated(end)) for end in ends)
    if facts.rule is None:
        return f"interval {low} to {high}"
    return f"{100 * facts.rule.confidence:g} % interval {low} to {high}"


def _no_test(facts: StudyFacts) -> str | None:
    reason = facts.comparisons[0].reason
    return None if reason is None else f"There is no test of this difference, and no decision: {reason}."


def _decision(facts: StudyFacts) -> str | None:
    """By the rule that the document states."""
    found, rule, systems = facts.comparisons[0], facts.rule, facts.systems
    if rule is None or found.significant is None or found.estimate is None or len(systems) != 2:
        return None
    if rule.margin is not None:
        if found.interval is None:
            return None
        names = systems[0], systems[1]
        return minus_of_numbers(
            margin_decision(
                rule, names, interval=found.interval, shown=found.significant, scale=facts.scale
            )
        )
    if not found.significant:
        return (
            f"At alpha {rule.alpha:g} the study has not shown a difference, which does not show that there is "
            "none: the interval says which differences remain possible."
        )
    better, worse = (systems[1], systems[0]) if found.estimate > 0 else (systems[0], systems[1])
    return f"At alpha {rule.alpha:g} the difference is significant: {better} was rated higher than {worse}."


def _false_positives(facts: StudyFacts) -> str | None:
    """A caution where the test is known to be too bold with so few workers."""
    rule, workers = facts.rule, facts.n_workers
    size = number(part(facts.record, "effect"), "simulated_size")
    if size is not None:
        null = "without a difference"
        if rule is not None and rule.margin is not None:
            null = "with a difference at the margin"
        return (
            f"In studies of this size simulated {null}, the test was significant in a share of {size:.3f}."
        )
    if rule is None or workers is None or not is_too_bold(rule, workers):
        return None
    return f"With {workers:.0f} workers this test is significant more often than alpha says."
