"""A methods and a results paragraph in plain words; every number in them is one of the documents.

Negative numbers have a real minus sign. Nothing is said of what the documents do not know: how workers were
found, paid and instructed remains to be written.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from humeval_power.planning.plan.plan import Plan
from humeval_power.reporting.numbers import MINUS, minus_of_numbers, p_words, with_minus
from humeval_power.reporting.report.documents import Documents
from humeval_power.reporting.report.sentences import pairs_sentences, sequential_sentence
from humeval_power.reporting.report.study_words import (
    flow_sentence,
    interest_sentence,
    n_dropped,
    scores_sentence,
    size_sentence,
)
from humeval_power.reporting.rule_words import (
    estimator_words,
    is_too_bold,
    margin_decision,
    margin_test,
    model_words,
    reference_of,
    reported_words,
)
from humeval_power.reporting.values import (
    SHORT_HASH,
    Document,
    bounds,
    estimated,
    listed,
    number,
    part,
    rule_of,
    scale_of,
    share,
    signed,
    words,
)
from humeval_power.rules import DecisionRule, claim


def methods_paragraph(documents: Documents) -> str:
    """What was compared by whom, how it was analysed, and the power it was planned with."""
    study = documents.study
    rule = rule_of(study) or (documents.plan.rule if documents.plan else None)
    sentences = [
        _compared(documents),
        size_sentence(study) if study else _planned_size(documents.plan),
        _scale(documents),
        flow_sentence(study) if n_dropped(study) else None,
        (scores_sentence(study) or "").replace("B - A", f"B {MINUS} A"),
        None if rule is None else _test(rule),
        _planned(documents),
        _software(documents),
    ]
    return _joined(sentences)


def results_paragraph(documents: Documents) -> str:
    """The difference with its interval and test, what it is worth, and what departs from the plan.

    Empty without an analysis or fit; a fit that did not converge has no result.
    """
    study = documents.study
    if listed(study, "pairs"):
        return _joined(pairs_sentences(study))
    if number(part(study, "effect"), "estimate") is None:
        return ""
    if study.get("converged") is False:
        return "The model could not be fitted (it did not converge), so that there is no result to report."
    return _joined(
        [
            _difference(study),
            _as_rated(study),
            _no_test(study) or sequential_sentence(study) or _decision(study),
            _false_positives(study),
            interest_sentence(study),
            _boundary(study),
            *_deviations(study),
        ]
    )


def _joined(sentences: list[str | None]) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


def _compared(documents: Documents) -> str | None:
    plan = documents.plan
    systems = [str(name) for name in listed(documents.study, "systems") or (plan.systems if plan else ())]
    on = f" for {documents.criterion}" if documents.criterion else ""
    if len(systems) == 2:
        return f"We compared {systems[0]} (A) with {systems[1]} (B){on} in a human evaluation."
    if len(systems) > 2:
        return f"We compared {', '.join(systems[:-1])} and {systems[-1]}{on} in a human evaluation."
    return None


def _planned_size(plan: Plan | None) -> str | None:
    if plan is None:
        return None
    design = plan.design()
    return (
        f"{design.n_workers:,} workers are to give {design.n_ratings:,} ratings of {design.items_in_words}, "
        f"{design.ratings_per_item:g} for each item and system."
    )


def _scale(documents: Documents) -> str | None:
    scale = scale_of(documents.study) or (documents.plan.scale if documents.plan else None)
    if scale is None:
        return None
    inferred = " (taken from the ratings)" if scale.source == "inferred" else ""
    return f"The scale ran from {scale}{inferred}."


def _test(rule: DecisionRule) -> str:
    """The model and the test as sentences of a paper."""
    model = model_words(rule).replace("B - A", f"B {MINUS} A")
    fitted = f"We fitted a {model[0].lower()}{model[1:]}, by {estimator_words(rule)}"
    if rule.margin is not None:
        return f"{fitted}. {minus_of_numbers(margin_test(rule))}{reported_words(rule)}"
    sides = "two-sided" if rule.alternative == "two-sided" else f"one-sided (B {MINUS} A above zero)"
    scale = "latent " if rule.is_latent else ""
    return (
        f"{fitted}, and compared the "
        f"{scale}difference over its standard error with {reference_of(rule)} ({sides}, alpha "
        f"{rule.alpha:g}).{reported_words(rule)}"
    )


def _planned(documents: Documents) -> str | None:
    """The promise of the plan, made before collection."""
    plan = documents.plan
    if plan is None:
        return None
    predicted = plan.predicted
    if math.isnan(predicted.simulated):
        power = f"{share(predicted.analytic)} by formula"
    else:
        low, high = predicted.interval
        power = (
            f"{share(predicted.simulated)} in {predicted.n_simulations:,} simulated studies (95 % Monte Carlo "
            f"interval {low:.3f} to {high:.3f})"
        )
    digest = documents.plan_checksum
    seal = f" The SHA-256 of the plan starts with {digest[:SHORT_HASH]}." if digest else ""
    left_out = f" Planned exclusions: {' '.join(plan.exclusions)}" if plan.exclusions else ""
    return (
        f"The study was planned with {plan.counts.n_workers:,} workers and {plan.design().items_in_words} to "
        f"{_goal(plan)}, with a power of {plan.target_power:g}; the power computed was {power}, with variances "
        f"from {plan.source.name}.{left_out}{seal}"
    )


def _goal(plan: Plan) -> str:
    effect = with_minus(signed(plan.effect))
    if plan.rule.margin is not None:
        return f"show {claim(plan.rule)} on [0, 1] where the true difference B {MINUS} A is {effect}"
    return f"find a difference B {MINUS} A of {effect} on [0, 1], the smallest of interest"


def _software(documents: Documents) -> str | None:
    study = documents.study
    version = words(part(study, "versions"), "humeval-power")
    if version is None:
        return None
    return f"Computed with humeval-power {version}."


def _difference(study: Document) -> str:
    effect = part(study, "effect")
    estimate = number(effect, "estimate") or 0.0
    error, df, p_value = (number(effect, name) for name in ("standard_error", "df", "p_value"))
    test = [] if error is None else [f"standard error {error:#.3g}"]
    test += [_interval(study, bounds(effect, "interval"))]
    test += [] if df is None else [f"df = {df:.1f}"]
    test += [] if p_value is None else [p_words(p_value)]
    return (
        f"The estimated difference B {MINUS} A is {with_minus(estimated(estimate))} on [0, 1] "
        f"({', '.join(filter(None, test))})."
    )


def _as_rated(study: Document) -> str | None:
    raw, scale = part(study, "effect", "raw"), scale_of(study)
    estimate = number(raw, "estimate")
    if estimate is None or scale is None:
        return None
    interval = _interval(study, bounds(raw, "interval"))
    between = f" ({interval})" if interval else ""
    low = (
        "" if scale.higher_is_better else "; low ratings are good, so that a negative difference favours B"
    )
    return (
        f"On the scale of the ratings, {scale.low:g} to {scale.high:g}, this is "
        f"{with_minus(estimated(estimate))}{between}{low}."
    )


def _interval(study: Document, ends: tuple[float, float] | None) -> str:
    if ends is None:
        return ""
    rule = rule_of(study)
    low, high = (with_minus(estimated(end)) for end in ends)
    if rule is None:
        return f"interval {low} to {high}"
    return f"{100 * rule.confidence:g} % interval {low} to {high}"


def _no_test(study: Document) -> str | None:
    reason = words(part(study, "effect"), "reason")
    return None if reason is None else f"There is no test of this difference, and no decision: {reason}."


def _decision(study: Document) -> str | None:
    """By the rule that the document states."""
    effect, rule, systems = part(study, "effect"), rule_of(study), listed(study, "systems")
    significant, estimate = effect.get("significant"), number(effect, "estimate")
    if rule is None or not isinstance(significant, bool) or estimate is None or len(systems) != 2:
        return None
    ends = bounds(effect, "interval")
    if rule.margin is not None:
        if ends is None:
            return None
        names = str(systems[0]), str(systems[1])
        return minus_of_numbers(
            margin_decision(rule, names, interval=ends, shown=significant, scale=scale_of(study))
        )
    if not significant:
        return (
            f"At alpha {rule.alpha:g} the study has not shown a difference, which does not show that there is "
            "none: the interval says which differences remain possible."
        )
    better, worse = (systems[1], systems[0]) if estimate > 0 else (systems[0], systems[1])
    return f"At alpha {rule.alpha:g} the difference is significant: {better} was rated higher than {worse}."


def _false_positives(study: Document) -> str | None:
    """A caution where the test is known to be too bold with so few workers."""
    rule, workers = rule_of(study), number(study, "n_workers")
    size = number(part(study, "effect"), "simulated_size")
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


def _boundary(study: Document) -> str | None:
    names = [str(name) for name in listed(study, "boundary")]
    unknown = [str(name) for name in listed(study, "not_identified")]
    said = [f"Estimated as zero: {', '.join(names)}."] if names else []
    said += [f"Not identified by this design: {', '.join(unknown)}."] if unknown else []
    return " ".join(said) or None


def _deviations(study: Document) -> list[str | None]:
    """Every departure from the plan; that there was none is said only where it was looked at."""
    if study.get("deviations") is None:
        return []
    found = [entry for entry in listed(study, "deviations") if isinstance(entry, Mapping)]
    if not found:
        return ["The study was carried out and analysed as planned."]
    said = "; ".join(
        f"{one.get('what')}: {one.get('actual')} (planned: {str(one.get('planned')).rstrip('.')})"
        for one in found
    )
    return [f"Departures from the plan: {said}."]


def paragraphs(documents: Documents) -> dict[str, str]:
    """Both by their headings; one that nothing is known for is left out."""
    found = {"Methods": methods_paragraph(documents), "Results": results_paragraph(documents)}
    return {heading: text for heading, text in found.items() if text}
