"""Comparisons of several systems, pair by pair."""

from __future__ import annotations

from collections.abc import Mapping

from humeval_power.reporting.checklist_items import ReportTable
from humeval_power.reporting.document_values import (
    NO_P,
    Document,
    bounds,
    estimated,
    listed,
    number,
    p_cell,
    p_words,
    words,
)
from humeval_power.reporting.minus_signs import MINUS, with_minus


def pairs_sentences(study: Document) -> list[str | None]:
    """Which pairs differ, which do not, and by which correction."""
    pairs = compared_pairs(study)
    apart = [pair for pair in pairs if pair.get("significant") is True]
    correction = words(study, "correction")
    how = "" if correction in (None, "none") else f" after {str(correction).capitalize()}'s correction"
    if correction == "max-t":
        how = " by the single-step max-t test"
    fits = "all systems fitted together" if study.get("model") == "joint" else "each pair fitted by itself"
    said: list[str | None] = [
        f"{len(apart)} of {len(pairs)} pairs of systems differ significantly{how}, {fits}."
    ]
    said += [_pair(pair) for pair in apart]
    said += [
        f"{pair.get('second')} {MINUS} {pair.get('first')} has no test: {words(pair, 'reason')}."
        for pair in pairs
        if words(pair, "reason") is not None
    ]
    groups = [
        group for group in listed(study, "groups") if isinstance(group, list | tuple) and len(group) > 1
    ]
    if groups:
        told = "; ".join(", ".join(map(str, group)) for group in groups)
        said.append(f"Not told apart: {told}.")
    return said


def pairs_table(study: Document) -> ReportTable:
    """One row for each pair."""
    rows = []
    for pair in compared_pairs(study):
        estimate, ends = number(pair, "estimate"), bounds(pair, "interval")
        p_value, corrected = number(pair, "p_value"), number(pair, "corrected_p_value")
        rows.append(
            (
                f"{pair.get('second')} {MINUS} {pair.get('first')}",
                "" if estimate is None else with_minus(estimated(estimate)),
                "" if ends is None else " to ".join(with_minus(estimated(end)) for end in ends),
                NO_P if p_value is None else p_cell(p_value),
                NO_P if corrected is None else p_cell(corrected),
            )
        )
    return ReportTable(("pair", "difference", "interval", "p", "corrected p"), tuple(rows))


def compared_pairs(study: Document) -> list[Document]:
    """The pairs of a comparison, none in an analysis of two systems."""
    return [pair for pair in listed(study, "pairs") if isinstance(pair, Mapping)]


def _pair(pair: Document) -> str | None:
    estimate, corrected = number(pair, "estimate"), number(pair, "corrected_p_value")
    if estimate is None:
        return None
    test = "" if corrected is None else f", corrected {p_words(corrected)}"
    return f"{pair.get('second')} {MINUS} {pair.get('first')}: {with_minus(estimated(estimate))} on [0, 1]{test}."
