"""What is said of several systems that were compared, of all criteria: model, notes, tables and agreement."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from humeval_power.comparisons import FamilyOfTests
from humeval_power.inference.study.many_systems import FamilyError, SystemsAnalysis
from humeval_power.ratings import Ratings
from humeval_power.reporting.analyze.family import family_words
from humeval_power.reporting.analyze.findings import (
    CriterionFindings,
    Finding,
    chance_cell,
    findings_table,
    findings_words,
    rank_words,
)
from humeval_power.reporting.analyze.independence import study_independence_section
from humeval_power.reporting.analyze.shown_pairs import ShownPair
from humeval_power.reporting.analyze.units import Unit
from humeval_power.reporting.analyze.variances import (
    VARIANCES_WORDS,
    check_words,
    listed,
    other_model_words,
    ratio_words,
    sds_words,
    zeros_words,
)
from humeval_power.reporting.document import Block, Paragraph, Picture, Points, Section, Table
from humeval_power.reporting.numbers import counted, interval_words, p_cell
from humeval_power.reporting.records import Record

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure

    from humeval_power.reporting.analyze.systems import SystemsResult


def counts_words(ratings: Ratings) -> str:
    """'1,920 ratings of 8 systems by 15 workers, 40 items'."""
    return (
        f"{counted(ratings.n_ratings, 'rating')} of {counted(ratings.n_systems, 'system')} by "
        f"{counted(ratings.n_workers, 'worker')}, {counted(ratings.n_items, 'item')}"
    )


def model_words(ratings: Ratings, analysis: SystemsAnalysis) -> str:
    """Which fits there are, and the rule of their tests."""
    rule = analysis.results[0].test.rule
    if analysis.joint is not None:
        return f"all systems in one fit, {VARIANCES_WORDS[analysis.joint.variances]} ({rule})"
    more = [f"{ratings.n_documents:,} documents"] if ratings.n_documents else []
    more += [one.name for one in ratings.covariates]
    adjusted = f", adjusted for {', '.join(more)}" if more else ""
    return f"each pair by its own fit, with its own variances{adjusted} ({rule})"


def correction_words(analysis: SystemsAnalysis) -> str:
    """What the corrected p-values and the intervals of differences are."""
    words = family_words(analysis.tests)
    if analysis.family.correction == "none":
        return f"p {words}"
    if not any(one.simultaneous_interval for one in analysis.results):
        return f"p {words}, intervals of differences not corrected"
    if analysis.common_df is None:
        return f"p and intervals of differences {words}, each on its own df"
    df = "the normal distribution" if math.isinf(analysis.common_df) else f"{analysis.common_df:.1f} df"
    return f"p and intervals of differences {words}, on {df}, the fewest of any of them"


def notes(analysis: SystemsAnalysis, pairs: Sequence[ShownPair], names: Mapping[str, str]) -> Iterator[str]:
    """What a reader of the findings must know; comparisons and names as they are shown."""
    reasons: dict[str, list[str]] = {}
    called = {}
    for one in pairs:
        difference = f"{names[one.left]} - {names[one.right]}"
        called[one.left, one.right] = called[one.right, one.left] = difference
        if one.reason:
            reasons.setdefault(one.reason, []).append(difference)
    yield from (f"No test of {', '.join(names)}: {why}." for why, names in reasons.items())
    if analysis.family_error is not None and analysis.joint is not None:
        yield _family_error_words(
            analysis.family_error, analysis.joint.n_workers, analysis.results[0].test.rule.alpha
        )
    if analysis.check is not None:
        yield check_words(analysis.check, called)
    if analysis.other_model is not None:
        yield other_model_words(analysis.other_model, called)
    ends = [end for one in analysis.means for end in one.interval or ()]
    if ends and (min(ends) < 0 or max(ends) > 1):
        yield "An interval of a mean that passes an end of the scale says that t intervals do not know it."


def _family_error_words(found: FamilyError, n_workers: int, alpha: float) -> str:
    """That max-t errs more often with few workers than it says, and how often here."""
    said = f"With {n_workers} workers max-t can err up to twice as often as alpha {alpha:g} says"
    if not math.isnan(found.rate):
        low, high = (f"{100 * end:.1f}" for end in found.interval)
        n = found.n_simulations - found.n_failed
        said += (
            f": of {n} studies of this design without differences, drawn with these variances, "
            f"{100 * found.rate:.1f} % claim one (95 % Monte Carlo interval {low} to {high})"
        )
    return f"{said}. Holm's correction keeps its level: --correction holm."


def variance_notes(analysis: SystemsAnalysis) -> Iterator[str]:
    """What one fit of all systems says of the variances."""
    fitted = analysis.joint
    if fitted is None:
        return
    yield sds_words(fitted)
    if analysis.check is not None:
        yield from ratio_words(analysis.check)
    if fitted.boundary:
        yield (
            f"Estimated as zero: {zeros_words(fitted.boundary)}. That is no proof that they are, and "
            "Kenward-Roger's df allow for it."
        )
    if fitted.not_identified:
        yield (
            f"This table cannot tell {listed(fitted.not_identified)} apart; differences and means are "
            "not affected."
        )


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


def several_sections(systems: Mapping[str, SystemsResult], tests: FamilyOfTests) -> Iterator[Section]:
    """What a paper prints of the comparisons, by criterion; nothing where there are none."""
    if not systems:
        return
    yield Section("Findings", tuple(_findings(systems, tests)))
    said = tuple(_notes(systems))
    if said:
        yield Section("Notes", (Points(said),))
    records = {name: one.agreement for name, one in systems.items()}
    yield Section("Agreement of workers", tuple(agreement_blocks(records)))
    yield study_independence_section(next(iter(systems.values())).ratings)


def _findings(systems: Mapping[str, SystemsResult], tests: FamilyOfTests) -> Iterator[Block]:
    found = [one.findings for one in systems.values()]
    yield Paragraph(_head(systems))
    called = rows_called(next(iter(systems.values())).called)
    yield findings_table(found, called=called)

    def ranking() -> Figure:
        from humeval_power.reporting.analyze.ranking_figure import ranking_figure

        return ranking_figure(found)

    words = "The mean of each system under each criterion in the order of the table, with groups and ranks."
    yield Picture("ranking", ranking, words=words)
    yield Points(tuple(findings_words(found, tests)))


def _head(systems: Mapping[str, SystemsResult]) -> str:
    """What was rated and fitted, once where it is the same under all criteria."""
    first = next(iter(systems.values()))
    counts = _once_or_each({name: counts_words(one.ratings) for name, one in systems.items()})
    models = _once_or_each({name: model_words(one.ratings, one.analysis) for name, one in systems.items()})
    return f"{first.ratings.source}: under each criterion {counts}; {models}."


def _once_or_each(words: Mapping[str, str]) -> str:
    if len(set(words.values())) == 1:
        return next(iter(words.values()))
    return "; ".join(f"{name}: {text}" for name, text in words.items())


def _notes(systems: Mapping[str, SystemsResult]) -> Iterator[str]:
    """Notes of each criterion; what is the same under all stands once."""
    of_each = {name: list(notes(one.analysis, one.pairs, one.called)) for name, one in systems.items()}
    for text in dict.fromkeys(text for texts in of_each.values() for text in texts):
        names = [name for name, texts in of_each.items() if text in texts]
        yield text if len(names) == len(systems) else f"{', '.join(names)}: {text}"
