"""Tables of a comparison of several systems: differences, simulated ranks, agreement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from humeval_power.reporting.analyze.findings import CriterionFindings, Finding, chance_cell, rank_words
from humeval_power.reporting.analyze.shown_pairs import ShownPair
from humeval_power.reporting.analyze.units import Unit
from humeval_power.reporting.document import Block, Paragraph, Table
from humeval_power.reporting.numbers import interval_words, p_cell
from humeval_power.reporting.records import Record

MOST_PAIRS = 10  # differences that an answer shows without being asked for details
MORE_PAIRS = "--details shows them, and table.csv of a folder (-o FOLDER/) holds them"
_NAME = 22  # characters of a difference's name before names give way to numbers
_MEASURES = {  # of agreement, with the heads of their columns; an empty one has no room beside others
    "Krippendorff's alpha, ordinal": "alpha, ordinal",
    "Krippendorff's alpha, interval": "",
    "share of equal ratings of two workers": "equal",
    "share at most one point apart": "one apart",
}


def names_called(order: Sequence[str]) -> dict[str, str]:
    """What systems are called in differences: numbers in their order where names are too long."""
    if sum(sorted(map(len, order))[-2:]) + len(" - ") <= _NAME:
        return {name: name for name in order}
    return {name: f"[{place}]" for place, name in enumerate(order, start=1)}


def rows_called(called: Mapping[str, str]) -> dict[str, str]:
    """The names of rows: where numbers stand for names, number and name."""
    return {name: name if name == short else f"{short} {name}" for name, short in called.items()}


def differences_table(pairs: Sequence[ShownPair], unit: Unit, called: Mapping[str, str]) -> Table:
    """A row for each comparison, with a decimal more than the findings have."""
    return Table(
        ("difference", "estimate", "interval", "df", "p", "corrected"),
        tuple(
            (
                f"{called[one.left]} - {called[one.right]}",
                unit.shown(one.estimate, more=1),
                "none" if one.reason else unit.interval(*one.interval, more=1),
                "" if one.reason else f"{one.df:.1f}",
                p_cell(one.p_value),
                p_cell(one.corrected_p) + (" *" if one.significant else ""),
            )
            for one in pairs
        ),
    )


def ranks_table(found: CriterionFindings, called: Mapping[str, str]) -> Table:
    """What the simulation says of each system's rank."""
    reach = f"{100 * (1 - found.alpha):g} % of draws"
    rows = tuple(_rank_cells(one, called) for one in found.rows if one.best is not None)
    return Table(("system", "expected rank", reach, "P(best)"), rows)


def _rank_cells(one: Finding, called: Mapping[str, str]) -> tuple[str, ...]:
    return (
        called[one.system],
        f"{one.expected_rank:.2f}",
        rank_words(one.likely_low, one.likely_high),
        chance_cell(cast(float, one.best)),
    )


def agreement_blocks(records: Mapping[str, Record]) -> Iterator[Block]:
    """Agreement over all systems, a row for each criterion: values with their 95 % intervals."""
    found = {name: _overall(record) for name, record in records.items()}
    shown = [measure for measure in _MEASURES if any(measure in values for values in found.values())]
    if not shown:
        yield Paragraph("Not defined for this table.")
    elif len(found) > 1:
        columns = [measure for measure in shown if _MEASURES[measure]]
        rows = [(name, *(_value(values.get(each)) for each in columns)) for name, values in found.items()]
        yield Table(("criterion", *(_MEASURES[each] for each in columns)), tuple(rows))
        yield Paragraph(
            "Krippendorff's alpha, and shares of pairs of ratings of an output, with 95 % intervals."
        )
    else:
        [values] = found.values()
        yield Table(
            ("measure", "value", "95 % interval"),
            tuple((measure, f"{values[measure][0]:.2f}", _reach(values[measure][1])) for measure in shown),
        )


Measured = tuple[float, tuple[float, float] | None]


def _overall(record: Record) -> dict[str, Measured]:
    entries = cast(list[dict[str, Any]], record["between"])
    return {one["measure"]: (one["value"], one["interval"]) for one in entries if one["value"] is not None}


def _value(measured: Measured | None) -> str:
    if measured is None:
        return "-"
    value, interval = measured
    return f"{value:.2f}" if interval is None else f"{value:.2f} ({_reach(interval)})"


def _reach(interval: tuple[float, float] | None) -> str:
    return "" if interval is None or interval[0] != interval[0] else interval_words(*interval, digits=2)
