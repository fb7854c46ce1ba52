"""The results of a study as its record holds them, in tables: findings, differences and estimated parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from statistics import median

from humeval_power.parameters import PARAMETER_NAMES
from humeval_power.saying.answer_words import with_names
from humeval_power.saying.document import Table
from humeval_power.saying.numbers import MINUS, with_minus
from humeval_power.saying.values import Document, bounds, estimated, listed, number, part, plain, words
from humeval_power.studies.analyze.family import ShownPair, Unit
from humeval_power.studies.analyze.findings import (
    CriterionFindings,
    Finding,
    findings_table,
    findings_words,
)
from humeval_power.studies.plan.result_words import SD_WORDS
from humeval_power.studies.report.fact_record import ComparisonFacts, StudyFacts, reported_effect


def findings_of(facts: StudyFacts) -> CriterionFindings | None:
    """The rows of one criterion; None where the record has none."""
    said = part(facts.record, "findings")
    known = {each.name for each in fields(Finding)}
    rows = tuple(
        Finding(**{name: value for name, value in row.items() if name in known})
        for row in listed(said, "rows")
        if isinstance(row, Mapping)
    )
    if not rows or facts.scale is None or facts.rule is None:
        return None
    return CriterionFindings(
        facts.criterion,
        Unit(facts.scale),
        facts.rule.alpha,
        rows,
        facts.groups,
        round(number(said, "n_draws") or 0),
        words(said, "reason") or "",
    )


def findings_over(criteria: Sequence[StudyFacts], caption: str) -> Table | None:
    """Systems by criteria, as `analyze` shows them; None where a criterion has no findings."""
    findings = [known for facts in criteria if (known := findings_of(facts)) is not None]
    tests = criteria[0].family
    if not findings or len(findings) < len(criteria) or tests is None:
        return None
    table = findings_table(findings, called={name: name for each in criteria for name in each.systems})
    notes = " ".join([caption, *findings_words(findings, tests)])
    return Table(table.header, table.rows, caption=notes, spans=table.spans)


def shown_comparisons(facts: StudyFacts, unit: Unit) -> tuple[ShownPair, ...]:
    """The comparisons in the order, with the sign and in the unit of the findings."""
    return tuple(_shown(one, unit) for one in facts.ranked_comparisons if one.estimate is not None)


def _shown(one: ComparisonFacts, unit: Unit) -> ShownPair:
    none = float("nan")
    low, high = one.interval or (none, none)
    return ShownPair(
        one.second,
        one.first,
        unit.difference(one.estimate or 0.0),
        unit.difference_interval(low, high),
        none if one.df is None else one.df,
        none,
        none if one.p_value is None else one.p_value,
        one.significant is True,
        one.reason or "",
    )


def result_table(facts: StudyFacts) -> Table | None:
    """Estimate, standard error and interval of each quantity; None where nothing was estimated."""
    if not facts.has_result:
        return None
    study, scale = facts.record, facts.scale
    pair = facts.systems[0], facts.systems[-1]
    minus = with_names(f"B {MINUS} A", pair)
    effect = reported_effect(study)
    rows = [_row(f"{minus}, on [0, 1]", effect, sign=True)]
    if scale is not None and part(effect, "raw"):
        name = f"{minus}, as rated, {scale.low:g} to {scale.high:g}"
        rows.append(_row(name, part(effect, "raw"), sign=True))
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
        "" if estimate is None else _number(estimate, sign),
        "" if error is None else f"{error:#.2g}",
        "" if ends is None else " to ".join(_number(end, sign) for end in ends),
    )


def _number(value: float, sign: bool) -> str:
    text = estimated(value) if sign else f"{value:#.3g}".removesuffix(".")
    return with_minus(text)


# The estimated parameters, for planning later studies.


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


def estimated_parameters(facts: StudyFacts) -> tuple[str, Table] | None:
    """Where they come from, and a table of them; None where the record has none."""
    rows = joint_parameters(facts)
    if rows:
        zero = set(facts.boundary)
        shown = tuple(
            (name, "not identified" if name in facts.not_identified else plain(value) + _at(name, zero))
            for name, value in rows.items()
        )
        return "On [0, 1], from one fit of all systems.", Table(("parameter", "estimate"), shown)
    of_pairs = pair_parameters(facts)
    if not of_pairs:
        return None
    n = max(map(len, of_pairs.values()))
    table = tuple(
        (name, plain(median(values)), plain(min(values)), plain(max(values)))
        for name, values in of_pairs.items()
    )
    said = (
        f"On [0, 1], over the fits of {n:,} pairs of systems; the slopes are those of the difference second - "
        "first."
    )
    return said, Table(("parameter", "median", "smallest", "largest"), table)


def _at(name: str, zero: set[str]) -> str:
    return " (at the boundary)" if name in zero else ""


def joint_parameters(facts: StudyFacts) -> dict[str, float]:
    """The mean of each system and the SDs of a joint fit, by name; empty for fits in pairs."""
    sds = part(facts.record, "joint_fit", "standard_deviations")
    deviations = {name: value for name in sds if (value := number(sds, name)) is not None}
    return (
        {**{f"mean of {one.system}": one.mean for one in facts.means}, **deviations} if deviations else {}
    )


def pair_parameters(facts: StudyFacts) -> dict[str, list[float]]:
    """The parameters of the fits in pairs, by name; empty for a joint fit."""
    fits = [part(pair, "parameters") for pair in listed(facts.record, "pairs") if isinstance(pair, Mapping)]
    by_name = {
        name: [value for fit in fits if (value := number(fit, name)) is not None]
        for name in PARAMETER_NAMES
    }
    return {name: values for name, values in by_name.items() if values}
