"""What a parameter document says about the study, its test and its result."""

from __future__ import annotations

from collections.abc import Mapping

from humeval_power.parameters import PARAMETER_NAMES
from humeval_power.reporting.document import Table
from humeval_power.reporting.numbers import p_words
from humeval_power.reporting.report.power_answers import Answer
from humeval_power.reporting.rule_words import assumptions_of, margin_words, rule_sentence
from humeval_power.reporting.values import (
    Document,
    bounds,
    count,
    estimated,
    listed,
    number,
    part,
    plain,
    rule_of,
    scale_of,
    words,
)


def study_answers(parameters: Document) -> dict[str, Answer | None]:
    """Answers by the key of the item; None where the document does not say."""
    rule = rule_of(parameters)
    return {
        "parameters": _parameters(parameters),
        "test": None if rule is None else Answer(rule_sentence(rule)),
        "assumptions": None if rule is None else Answer(assumptions_of(rule), is_whole=False),
        "effect": _effect(parameters),
        "systems": _systems(parameters),
        "workers": _count(parameters, "n_workers"),
        "items": _count(parameters, "n_items"),
        "ratings_per_item": _ratings_per_item(parameters),
        "ratings_total": _count(parameters, "n_ratings"),
        "assignment": _assignment(parameters),
        "criterion": _criterion(parameters),
        "scale": _scale(parameters),
        "exclusions": _exclusions(parameters),
    }


def _count(parameters: Document, name: str) -> Answer | None:
    text = count(parameters, name)
    return None if text is None else Answer(text)


def _ratings_per_item(parameters: Document) -> Answer | None:
    per_item = number(parameters, "ratings_per_item")
    if per_item is None:
        return None
    mean = "" if per_item == int(per_item) else " on average"
    return Answer(f"{per_item:.3g}{mean} under each system.")


def _assignment(parameters: Document) -> Answer | None:
    """The load is known; who was given which items, and how it was drawn, only the authors know."""
    ratings, workers = number(parameters, "n_ratings"), number(parameters, "n_workers")
    if words(parameters, "design") is not None:
        return Answer(f"{words(parameters, 'design')}.", is_whole=False)
    if ratings is None or not workers:
        return None
    return Answer(f"{ratings / workers:,.4g} ratings per worker on average.", is_whole=False)


def _systems(parameters: Document) -> Answer | None:
    names = listed(parameters, "systems")
    if len(names) != 2:
        return None
    return Answer(f"A = {names[0]}, B = {names[1]}; the difference is B - A.")


def _criterion(parameters: Document) -> Answer | None:
    name = words(parameters, "criterion_name")
    return None if name is None else Answer(name, is_whole=False)


def _scale(parameters: Document) -> Answer | None:
    scale = scale_of(parameters)
    if scale is None:
        return None
    if scale.source == "inferred":
        return Answer(f"{scale}, taken from the ratings themselves and not declared.", is_whole=False)
    return Answer(f"{scale}, as declared.")


def _effect(parameters: Document) -> Answer | None:
    """Estimate, interval and test on [0, 1] and on the scale of the ratings."""
    effect = part(parameters, "effect")
    estimate, interval = number(effect, "estimate"), bounds(effect, "interval")
    if estimate is None or interval is None:
        return None
    rows = [("on [0, 1], 1 is best", *_effect_cells(effect))]
    raw, scale = part(effect, "raw"), scale_of(parameters)
    if number(raw, "estimate") is not None:
        name = "as rated" if scale is None else f"as rated, {scale.low:g} to {scale.high:g}"
        rows.append((name, *_effect_cells(raw)))
    between = f"{estimated(interval[0])} to {estimated(interval[1])}"
    said = f"B - A = {estimated(estimate)} on [0, 1], {_level(parameters)} {between}"
    df, p_value = number(effect, "df"), number(effect, "p_value")
    rule = rule_of(parameters)
    if rule is not None and rule.margin is not None:
        said += f"; margin {margin_words(rule, scale)}"
    test = [] if df is None else [f"df = {df:.1f}"]
    test += [] if p_value is None else [p_words(p_value)]
    return Answer(
        "; ".join([said, *filter(None, [", ".join(test)])]) + ".",
        table=Table(("difference B - A", "estimate", "standard error", _level(parameters)), tuple(rows)),
    )


def _effect_cells(effect: Document) -> tuple[str, str, str]:
    estimate, error, interval = (
        number(effect, "estimate"),
        number(effect, "standard_error"),
        bounds(effect, "interval"),
    )
    return (
        "" if estimate is None else estimated(estimate),
        "" if error is None else f"{error:#.3g}",
        "" if interval is None else f"{estimated(interval[0])} to {estimated(interval[1])}",
    )


def _level(parameters: Document) -> str:
    """'95 % interval'; an interval that goes with a one-sided test leaves alpha on both sides."""
    rule = rule_of(parameters)
    if rule is None:
        return "interval"
    return f"{100 * rule.confidence:g} % interval"


def _parameters(parameters: Document) -> Answer | None:
    """The seven parameters; an SD that the table does not identify is named, not numbered."""
    values = part(parameters, "parameters")
    if any(number(values, name) is None for name in PARAMETER_NAMES):
        return None
    unknown, zero = listed(parameters, "not_identified"), listed(parameters, "boundary")
    errors = part(parameters, "standard_errors")
    rows = []
    for name in PARAMETER_NAMES:
        value, error = number(values, name), number(errors, name)
        shown = "not identified" if name in unknown or value is None else plain(value)
        shown += " (at the boundary)" if name in zero and name not in unknown else ""
        rows.append((name, shown, "" if error is None or name in unknown else f"{error:#.2g}"))
    codes = bounds(values, "coding")
    coding = "" if codes is None else f" under the coding {codes[0]:g}, {codes[1]:g} of systems A, B"
    return Answer(
        f"On [0, 1]{coding}, estimated by {_estimator(parameters)}.",
        is_whole=not unknown,
        table=Table(("parameter", "estimate", "standard error"), tuple(rows)),
    )


def _estimator(parameters: Document) -> str:
    return (words(parameters, "estimator") or "an estimator that the document does not name").upper()


def _exclusions(parameters: Document) -> Answer | None:
    steps = [step for step in listed(parameters, "flow") if isinstance(step, Mapping)]
    if not steps:
        return None
    rows = tuple(
        (words(step, "step") or "", count(step, "rows") or "", words(step, "reason") or "")
        for step in steps
    )
    return Answer(
        "From the table of ratings as it was read. Whatever was left out before is not in it.",
        table=Table(("step", "rows", "reason"), rows),
    )
