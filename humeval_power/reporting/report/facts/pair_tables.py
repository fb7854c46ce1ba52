"""The tables of a comparison of two systems: the difference on both scales, and the parameters."""

from __future__ import annotations

from humeval_power.parameters import PARAMETER_NAMES
from humeval_power.reporting.document import Table
from humeval_power.reporting.numbers import MINUS, with_minus
from humeval_power.reporting.pair_names import with_names
from humeval_power.reporting.plan.words import SD_WORDS
from humeval_power.reporting.report.facts.record import StudyFacts
from humeval_power.reporting.values import Document, bounds, estimated, listed, number, part, plain


def result_table(facts: StudyFacts) -> Table | None:
    """Estimate, standard error and interval of each quantity; None where nothing was estimated."""
    if not facts.has_result:
        return None
    study, scale = facts.record, facts.scale
    pair = facts.systems[0], facts.systems[-1]
    minus = with_names(f"B {MINUS} A", pair)
    rows = [_row(f"{minus}, on [0, 1]", part(study, "effect"), sign=True)]
    if scale is not None:
        name = f"{minus}, as rated, {scale.low:g} to {scale.high:g}"
        rows.append(_row(name, part(study, "effect", "raw"), sign=True))
    return Table(
        ("quantity", "estimate", "standard error", "interval"), (*rows, *_parameter_rows(study, pair))
    )


def _parameter_rows(study: Document, pair: tuple[str, str]) -> list[tuple[str, ...]]:
    """The baseline and the SDs, on [0, 1]; one that is not identified has no number."""
    values, errors = part(study, "parameters"), part(study, "standard_errors")
    intervals, unknown = part(study, "intervals"), listed(study, "not_identified")
    rows: list[tuple[str, ...]] = []
    for name in PARAMETER_NAMES:
        if name == "effect" or number(values, name) is None:
            continue
        label = "mean of both systems" if name == "baseline" else _sd(name, pair)
        if name in unknown:
            rows.append((label, "not identified", "", ""))
            continue
        shown = {
            "estimate": values[name],
            "standard_error": errors.get(name),
            "interval": intervals.get(name),
        }
        rows.append(_row(label, shown, sign=False))
    return rows


def parameters_table(facts: StudyFacts) -> Table | None:
    """The seven parameters with their standard errors; None where one of them is not there."""
    values = part(facts.record, "parameters")
    if any(number(values, name) is None for name in PARAMETER_NAMES):
        return None
    unknown, zero = listed(facts.record, "not_identified"), listed(facts.record, "boundary")
    errors = part(facts.record, "standard_errors")
    rows = []
    for name in PARAMETER_NAMES:
        value, error = number(values, name), number(errors, name)
        shown = "not identified" if name in unknown or value is None else plain(value)
        shown += " (at the boundary)" if name in zero and name not in unknown else ""
        rows.append((name, shown, "" if error is None or name in unknown else f"{error:#.2g}"))
    return Table(("parameter", "estimate", "standard error"), tuple(rows))


def _sd(name: str, pair: tuple[str, str]) -> str:
    said = SD_WORDS[name].replace("B - A", f"B {MINUS} A")
    return with_names(f"SD: {said[0].lower()}{said[1:]}", pair)


def _row(label: str, values: Document, *, sign: bool) -> tuple[str, ...]:
    estimate, error, ends = (
        number(values, "estimate"),
        number(values, "standard_error"),
        bounds(values, "interval"),
    )
    return (
        label,
        "" if estimate is None else _shown(estimate, sign),
        "" if error is None else f"{error:#.2g}",
        "" if ends is None else " to ".join(_shown(end, sign) for end in ends),
    )


def _shown(value: float, sign: bool) -> str:
    text = estimated(value) if sign else f"{value:#.3g}".removesuffix(".")
    return with_minus(text)
