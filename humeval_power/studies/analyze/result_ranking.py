"""What is said of several systems that were compared: findings, ranks, differences, and how they were fitted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from humeval_power.checking.columns import listing, shortened
from humeval_power.comparisons.agreement.result_report import is_about_others
from humeval_power.ratings import Ratings
from humeval_power.rules import FamilyOfTests, claim
from humeval_power.saying.clustered_words import independence_section
from humeval_power.saying.document import Block, Paragraph, Points, Section, Table
from humeval_power.saying.numbers import counted, in_words, interval_words, level_of, p_cell
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record
from humeval_power.saying.rule_words import sds_in_words
from humeval_power.saying.stated import table
from humeval_power.studies.analyze.family import ShownPair, Unit, family_words, shown_pairs
from humeval_power.studies.analyze.figures import (
    MOST_SYSTEMS,
    ceiling_chart,
    ceiling_words,
    heat_map_chart,
    ranking_chart,
)
from humeval_power.studies.analyze.findings import (
    VARIANCES_WORDS,
    CriterionFindings,
    chance_cell,
    check_words,
    criterion_findings,
    findings_table,
    findings_words,
    order_of,
    rank_words,
    ratio_words,
    sds_words,
    system_sds,
)
from humeval_power.studies.analyze.result_conditions import study_independence
from humeval_power.studies.analyze.result_diagnostics import pair_rows
from humeval_power.studies.fit.many_systems import SystemsAnalysis
from humeval_power.studies.fit.ranks import SimulatedRanks

if TYPE_CHECKING:
    from humeval_power.studies.analyze.diagnostics import JointDiagnostics


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
    if not analysis.tests.is_corrected:
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
        error, alpha = analysis.family_error, analysis.results[0].test.rule.alpha
        said = f"With {analysis.joint.n_workers} workers max-t can err up to twice as often as alpha {alpha:g} says"
        if not math.isnan(error.rate):
            low, high = (f"{100 * end:.1f}" for end in error.interval)
            said += (
                f": of {error.n_simulations - error.n_failed} studies of this design without differences, drawn "
                f"with these variances, {100 * error.rate:.1f} % claim one (95 % Monte Carlo interval {low} to "
                f"{high})"
            )
            is_sign = error.interval[0] > alpha
            said += ", so that it does here" if is_sign else ", which is no sign of it here"
        yield f"{said}. Holm's correction keeps its level: --correction holm."
    for check in (analysis.check, analysis.other_model):
        if check is not None:
            yield check_words(check, called)
    ends = [end for one in analysis.means for end in one.interval or ()]
    if ends and (min(ends) < 0 or max(ends) > 1):
        yield "An interval of a mean that passes an end of the scale says that t intervals do not know it."


MOST_PAIRS = 10  # differences that an answer shows without being asked for details
MORE_PAIRS = (
    "they stand under Differences, in a terminal with --details, and in table.csv of a folder (-o FOLDER/)"
)
_NAME = 22  # characters of a difference's name before names give way to numbers
_COLUMNS = {  # of agreement under several criteria, with their heads; others have no room beside them
    "Krippendorff's alpha, ordinal": "alpha, ordinal",
    "share of equal ratings of two workers": "equal",
    "share at most one point apart": "one apart",
}


def rows_called(called: Mapping[str, str]) -> dict[str, str]:
    """The names of rows: where numbers stand for names, number and name."""
    return {name: name if name == short else f"{short} {name}" for name, short in called.items()}


def agreement_blocks(records: Mapping[str, Record]) -> Iterator[Block]:
    """Agreement over all systems: values with their 95 % intervals, of several criteria a row for each."""
    overall: dict[str, dict[str, Measured]] = {
        name: {
            one["measure"]: (one["value"], one["interval"])
            for one in cast(list[dict[str, Any]], record["between"])
            if one["value"] is not None and " within " not in one["measure"]
        }
        for name, record in records.items()
    }
    first = next(iter(overall.values()))
    columns = [measure for measure in _COLUMNS if any(measure in values for values in overall.values())]
    if len(overall) > 1 and columns:
        rows = [(name, *(_value(values.get(each)) for each in columns)) for name, values in overall.items()]
        yield Table(("criterion", *(_COLUMNS[each] for each in columns)), tuple(rows))
        yield Paragraph(
            "Krippendorff's alpha, and shares of pairs of ratings of an output, with 95 % intervals of these "
            "workers on other items; 'agreement report' says how other workers would agree."
        )
    elif len(overall) == 1 and first:
        (record,) = records.values()
        rows = list(_rows(record))
        head: tuple[str, ...] = ("measure", "value", "these workers", "other workers")
        said = "95 % intervals: of these workers on other items, and of other workers like them, within a system."
        if not any(of_others for *_, of_others in rows):
            rows, head = [row[:-1] for row in rows], head[:-1]
            said = "95 % intervals, of these workers on other items; 'agreement report' tells of other workers."
        yield Table(head, tuple(rows))
        yield Paragraph(said)
    else:
        entries = (cast(list[dict[str, Any]], record["between"]) for record in records.values())
        reasons = [one["reason"] for each in entries for one in each if one["reason"]]
        yield Paragraph(f"None is defined for this table{f': {reasons[0]}' if reasons else ''}.")


_MOST_WITHIN = 3  # systems whose agreement is printed
Measured = tuple[float, tuple[float, float] | None]


def _rows(record: Record) -> Iterator[tuple[str, ...]]:
    """A row for each measure; within systems where these are few enough to read."""
    entries = cast(list[dict[str, Any]], record["between"])
    is_short = sum(" within " in one["measure"] for one in entries) <= _MOST_WITHIN
    for one in entries:
        name = short = one["measure"]
        if one["value"] is None or (" within " in name and not is_short):
            continue
        for level in ("ordinal", "interval"):
            short = short.replace(f"Krippendorff's alpha, {level} within ", f"{level} alpha within ")
        short = (
            short.removeprefix("share of ").removeprefix("share ").replace("intraclass correlation", "ICC")
        )
        of_others, other, reach = is_about_others(name), one["value_other"], one["interval_other"]
        yield (
            shortened(short, width=40),
            f"{one['value']:.2f}",
            "" if of_others else _reach(one["interval"]),
            "" if other is None else _reach(reach) if of_others else _value((other, reach)),
        )


def _value(measured: Measured | None) -> str:
    if measured is None:
        return "-"
    reach = _reach(measured[1])
    return f"{measured[0]:.2f}{f' ({reach})' if reach else ''}"


def _reach(interval: tuple[float, float] | None) -> str:
    return "" if interval is None or interval[0] != interval[0] else interval_words(*interval, digits=2)


def several_sections(
    systems: Mapping[str, Ranking], tests: FamilyOfTests, agreement: Mapping[str, Record]
) -> Iterator[Section]:
    """What a paper prints of the comparisons, by criterion; nothing where there are none."""
    if not systems:
        return
    findings = [one.findings for one in systems.values()]
    first = next(iter(systems.values()))
    counts = _once_or_each({name: counts_words(one.ratings) for name, one in systems.items()})
    models = _once_or_each({name: model_words(one.ratings, one.analysis) for name, one in systems.items()})
    words = "The mean of each system under each criterion in the order of the table, with groups and ranks."
    blocks = (
        Paragraph(f"{first.ratings.source}: under each criterion {counts}; {models}."),
        findings_table(findings, called=rows_called(first.called)),
        ranking_chart(findings, words=words),
        Points(tuple(findings_words(findings, tests))),
    )
    yield Section("Findings", blocks)
    of_each = {name: tuple(notes(one.analysis, one.pairs, one.called)) for name, one in systems.items()}
    if said := tuple(once_or_by_criterion(of_each)):
        yield Section("Notes", (Points(said),))
    yield Section("Agreement of workers", tuple(agreement_blocks(agreement)))
    yield independence_section(study_independence(first.ratings))


def once_or_by_criterion(said: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Each text once: of some of the criteria after their names."""
    for text in dict.fromkeys(text for texts in said.values() for text in texts):
        names = [name for name, texts in said.items() if text in texts]
        yield text if len(names) == len(said) else f"{in_words(names)}: {text}"


def _once_or_each(words: Mapping[str, str]) -> str:
    if len(set(words.values())) == 1:
        return next(iter(words.values()))
    return "; ".join(f"{name}: {text}" for name, text in words.items())


@dataclass(frozen=True, eq=False)
class Ranking:
    """What the comparisons of several systems say of all of them: means, groups, ranks, and every difference.

    `ranks` are simulated; `diagnostics` are None where they were not asked for or there is no joint fit. `order` is
    that of the systems in tables and pictures; empty for the order of their means, best first.
    """

    ratings: Ratings
    analysis: SystemsAnalysis
    ranks: SimulatedRanks
    order: tuple[str, ...] = ()
    diagnostics: JointDiagnostics | None = None

    @property
    def decision(self) -> str:
        """Which systems may be the best, or are better than the baseline, and how many differences are shown."""
        results, family = self.analysis.results, self.analysis.family
        after = family_words(self.analysis.tests)
        shown = [one for one in results if one.significant]
        if results[0].test.rule.margin is not None:
            what = claim(results[0].test.rule)
            return f"{what[0].upper()}{what[1:]} is shown in {len(shown)} of {len(results)} comparisons {after}."
        if family.baseline is not None:
            apart = {name for one in shown for name in (one.first, one.second)} - {family.baseline}
            better = self.stand_out
            worse = [name for name in order_of(self.analysis) if name in apart.difference(better)]
            are = "is" if len(better) == 1 else "are"
            of = f"{len(better) or 'None'} of {counted(len(results), 'system')}"
            which, below = (f" ({listing(names, limit=6)})" if names else "" for names in (better, worse))
            other = f"{len(worse) or 'none'} to be worse{below}" if shown else "or to be worse"
            return f"{of} {are} shown to be better than {family.baseline}{which}, {other}, {after}."
        are = "are" if len(shown) > 1 else "is"
        differences = f"{len(shown) or 'none'} of {counted(len(results), 'difference')} {are} shown {after}"
        if self.analysis.tests.drop_result:
            return f"{self.analysis.tests.drop_result} {differences[0].upper()}{differences[1:]}."
        leader, n, n_first = order_of(self.analysis)[0], len(self.findings.rows), len(self.stand_out)
        if not n_first:
            return f"{differences[0].upper()}{differences[1:]}."
        if n_first == 1:
            second = order_of(self.analysis)[1]
            pair = next(one for one in self.pairs if {one.left, one.right} == {leader, second})
            by = f"{self.unit.shown(abs(pair.estimate))} points better than {second}"
            if len(shown) == n - 1 > 1 and all(leader in (one.first, one.second) for one in shown):
                differences += f", none of them among the other {n - 1}"
            return f"{leader} is the best of {n} systems, {by}; {differences}."
        second, means = order_of(self.analysis)[1], {row.system: row.mean for row in self.findings.rows}
        have = f"{leader} has the best mean"
        if math.isclose(means[leader], means[second], rel_tol=1e-9):
            have = f"{leader} and {second} have the best mean"
        of = f"the {n} systems is the best"
        if n_first < n:
            of = f"{n_first} systems is the best ({listing(self.stand_out, limit=6)})"
        return f"{have}, but the tests leave open which of {of}; {differences}."

    @property
    def stand_out(self) -> tuple[str, ...]:
        """The systems that are shown to be better than the baseline, or that the tests leave the first place, best
        mean first; empty where neither was asked."""
        results, family = self.analysis.results, self.analysis.family
        names: set[str] = set()
        if results[0].test.rule.margin is not None or self.analysis.tests.drop_result:
            return ()
        if family.baseline is not None:
            for one in results:
                if one.significant and (one.test.estimate > 0) == (one.first == family.baseline):
                    names |= {one.first, one.second} - {family.baseline}
        elif self.findings.has_ranks:
            names = {row.system for row in self.findings.rows if row.rank_low == 1}
        return tuple(name for name in order_of(self.analysis) if name in names)

    @property
    def shown_order(self) -> tuple[str, ...]:
        """The systems in the order of tables and pictures."""
        known = set(self.ratings.system_names)
        return tuple(name for name in self.order if name in known) or order_of(self.analysis)

    @property
    def unit(self) -> Unit:
        """What differences and means are shown in; records hold [0, 1]."""
        return Unit(self.ratings.scale)

    @cached_property
    def findings(self) -> CriterionFindings:
        """A row for each system, as the table, the picture, the record and the frame show it."""
        return criterion_findings(self.ratings, self.analysis, self.ranks, self.shown_order)

    @cached_property
    def pairs(self) -> tuple[ShownPair, ...]:
        """The comparisons as they are shown."""
        return shown_pairs(self.analysis, self.unit, self.shown_order)

    @property
    def is_long(self) -> bool:
        """Whether the differences are details: where no groups sum them up they are the findings, and a few are
        shown in any case."""
        return bool(self.analysis.groups) and len(self.pairs) > MOST_PAIRS

    def detail_sections(self) -> Iterator[Section]:
        """What stands behind the findings: the differences first."""
        yield Section("Differences", tuple(self._differences()), is_detail=True)
        ranks = (self._ranks(),) if self.findings.n_draws else ()
        yield Section("Ranks", ranks, is_detail=True)
        yield Section("How systems differ", tuple(self._variances()), is_detail=True)
        if self.ratings.n_systems <= MOST_SYSTEMS:
            ends = (Paragraph(ceiling_words(self.ratings)), ceiling_chart(self.ratings))
            yield Section("Where ratings lie", ends, is_detail=True)
        if self.diagnostics is not None:
            from humeval_power.studies.analyze.system_diagnostics import system_diagnostic_blocks

            blocks = system_diagnostic_blocks(
                self.diagnostics, self.ratings, self.unit, self.shown_order, self.called
            )
            yield Section("Diagnostics", tuple(blocks), is_detail=True)

    def blocks(self) -> Iterator[Block]:
        """The findings, with what was rated and fitted."""
        ratings, analysis = self.ratings, self.analysis
        yield Paragraph(
            f"{ratings.source}: {counts_words(ratings)}; {model_words(ratings, analysis)}; "
            f"{correction_words(analysis)}."
        )
        yield findings_table([self.findings], called=rows_called(self.called))
        words = (
            "The mean of each system in the order of the table, with groups that tests do not tell apart."
        )
        yield ranking_chart([self.findings], words=words)
        more = [f"{len(self.pairs)} differences: {MORE_PAIRS}."] if len(self.pairs) > MOST_PAIRS else []
        yield Points((*findings_words([self.findings], self.analysis.tests), *more))

    @property
    def called(self) -> dict[str, str]:
        """What systems are called in differences: where names are long, their numbers in the order."""
        order = self.order or self.shown_order
        if sum(sorted(map(len, order))[-2:]) + len(" - ") <= _NAME:
            return {name: name for name in order}
        return {name: f"[{place}]" for place, name in enumerate(order, start=1)}

    def _differences(self) -> Iterator[Block]:
        unit, called, analysis = self.unit, self.called, self.analysis
        yield Paragraph(f"Differences are {unit.words}.")
        yield table(
            self.pairs,
            {  # with a decimal more than the findings have
                "difference": lambda one: f"{called[one.left]} - {called[one.right]}",
                "estimate": lambda one: unit.shown(one.estimate, more=1),
                "interval": lambda one: "none" if one.reason else unit.interval(*one.interval, more=1),
                "df": lambda one: "" if one.reason else f"{one.df:.1f}",
                "p": lambda one: p_cell(one.p_value),
                "corrected": lambda one: p_cell(one.corrected_p) + (" *" if one.significant else ""),
            },
        )
        how = {"criterion": self.ratings.criterion}
        yield heat_map_chart(analysis, unit, self.shown_order, **how)
        if any(not one.reason for one in self.pairs):
            yield pair_rows(self.pairs, self.unit).chart(
                "intervals",
                title="How large are the differences?",
                words="The differences with their intervals, largest on top.",
            )

    def _ranks(self) -> Table:
        """What the simulation says of each system's rank."""
        called = rows_called(self.called)
        return table(
            [one for one in self.findings.rows if one.best is not None],
            {
                "system": lambda one: called[one.system],
                "expected rank": lambda one: f"{one.expected_rank:.2f}",
                f"{level_of(1 - self.findings.alpha)} of draws": lambda one: rank_words(
                    one.likely_low, one.likely_high
                ),
                "P(best)": lambda one: chance_cell(cast(float, one.best)),
            },
        )

    def _variances(self) -> Iterator[Block]:
        """What one fit of all systems says of the variances."""
        fitted = self.analysis.joint
        if fitted is None:
            return
        said = [sds_words(fitted)]
        if self.analysis.check is not None:
            said += ratio_words(self.analysis.check)
        if fitted.boundary:
            shared = [name for name in fitted.boundary if " of " not in name]
            zeros = [sds_in_words(shared, self.shown_order)] if shared else []
            if own := len(fitted.boundary) - len(shared):  # their table names them
                zeros.append(f"{counted(own, 'SD')} of single systems (see the table)")
            said.append(
                f"Estimated as zero: {', '.join(zeros)}. That is no proof that they are, and Kenward-Roger's df "
                "allow for it."
            )
        if fitted.not_identified:
            unknown = sds_in_words(fitted.not_identified, self.shown_order)
            said.append(
                f"These ratings cannot tell apart {unknown}; differences and means are not affected."
            )
        yield Points(tuple(said))
        if fitted.variances == "own":
            rows = rows_called(self.called)
            yield from system_sds(fitted, {name: rows[name] for name in self.shown_order})

    def content(self) -> Record:
        """The findings, the chances of ranks and the diagnostics."""
        diagnostics: Record | None = None
        if self.diagnostics is not None:
            from humeval_power.studies.analyze.system_diagnostics import diagnostics_content

            diagnostics = diagnostics_content(self.diagnostics, self.ratings, self.unit)
        findings, ranks = self.findings, self.ranks
        return {
            "findings": {
                "unit": findings.unit.words,
                "n_draws": findings.n_draws,
                "reason": findings.reason or None,
                "rows": [asdict(one) for one in findings.rows],
            },
            "ranks": {
                **values(ranks, "n_draws", "seed"),
                "reason": ranks.reason or None,
                "meaning": "chances of ranks in draws of the means and their variances; no p-values",
                "systems": [asdict(one) for one in ranks.systems],
            },
            "diagnostics": diagnostics,
        }
