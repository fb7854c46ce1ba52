"""The findings of a comparison of several systems: systems by criteria, as a table, a record and a frame."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from humeval_power.ratings import Ratings
from humeval_power.rules import FamilyOfTests
from humeval_power.safe_text import table_csv
from humeval_power.saying.document import Block, Paragraph, Table
from humeval_power.saying.numbers import counted, level_of, p_words
from humeval_power.saying.stated import table
from humeval_power.studies.analyze.family import Unit
from humeval_power.studies.fit.many_systems import (
    ModelCheck,
    SystemsAnalysis,
    VariancesCheck,
    group_letters,
)
from humeval_power.studies.fit.ranks import SimulatedRanks, rank_intervals

if TYPE_CHECKING:
    import pandas as pd

    from humeval_power.estimation.joint.fit import JointFit

NOTHING = "-"


@dataclass(frozen=True, slots=True)
class Finding:
    """One system under one criterion, as every medium shows it; means and intervals in the units of the findings.

    `groups` are letters, None where tests tell no groups apart. `rank_low` to `rank_high` are the ranks that the
    tests leave. `best` is the simulated chance of being best, `expected_rank` the mean rank, and `likely_low` to
    `likely_high` hold all but alpha of the draws. None where there is none.
    """

    criterion: str | None
    system: str
    n_ratings: int
    mean: float
    low: float | None = None
    high: float | None = None
    groups: str | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    best: float | None = None
    expected_rank: float | None = None
    likely_low: int | None = None
    likely_high: int | None = None


@dataclass(frozen=True, slots=True)
class CriterionFindings:
    """The findings under one criterion, in the order of the systems; `reason` says why there are no chances."""

    criterion: str | None
    unit: Unit
    alpha: float
    rows: tuple[Finding, ...]
    letters: tuple[tuple[str, ...], ...]
    n_draws: int = 0
    reason: str = ""

    @property
    def has_intervals(self) -> bool:
        """Whether means have intervals."""
        return any(one.low is not None for one in self.rows)

    @property
    def has_ranks(self) -> bool:
        """Whether tests give intervals of ranks."""
        return any(one.rank_low is not None for one in self.rows)


def criterion_findings(
    ratings: Ratings, analysis: SystemsAnalysis, ranks: SimulatedRanks, order: Sequence[str]
) -> CriterionFindings:
    """The findings of one criterion."""
    unit = Unit(ratings.scale)
    letters, places = group_letters(analysis.groups), rank_intervals(analysis)
    simulated = {one.system: one for one in ranks.systems}
    means = {one.system: one for one in analysis.means}
    n = np.bincount(ratings.system, minlength=ratings.n_systems)
    n_of = dict(zip(ratings.system_names, n.tolist(), strict=True))
    rows = []
    for name in order:
        mean, rank = means[name], simulated.get(name)
        low, high = (None, None) if mean.interval is None else unit.mean_interval(*mean.interval)
        first, last = places.get(name, (None, None))
        known = (ratings.criterion, name, n_of[name], unit.mean(mean.mean))
        chances = () if rank is None else (rank.best, rank.expected, rank.low, rank.high)
        rows.append(Finding(*known, low, high, letters.get(name), first, last, *chances))
    alpha = analysis.results[0].test.rule.alpha
    return CriterionFindings(
        ratings.criterion, unit, alpha, tuple(rows), analysis.groups, ranks.n_draws, ranks.reason
    )


def order_of(analysis: SystemsAnalysis) -> tuple[str, ...]:
    """Systems from the best mean to the worst."""
    return tuple(one.system for one in sorted(analysis.means, key=lambda one: -one.mean))


def common_order(analyses: Sequence[SystemsAnalysis]) -> tuple[str, ...]:
    """Systems by their means under the first criterion; those that it lacks follow, by the next ones."""
    return tuple(dict.fromkeys(name for analysis in analyses for name in order_of(analysis)))


def findings_table(findings: Sequence[CriterionFindings], *, called: Mapping[str, str]) -> Table:
    """A row for each system, a group of columns for each criterion."""
    names = tuple(dict.fromkeys(one.system for each in findings for one in each.rows))
    columns = [_columns(each) for each in findings]
    rows = []
    for name in names:
        cells = [called[name]]
        for each, of_each in zip(findings, columns, strict=True):
            mine = next((one for one in each.rows if one.system == name), None)
            cells += [NOTHING if mine is None else cell(mine) for cell in of_each.values()]
        rows.append(tuple(cells))
    spans = [(each.criterion or "", len(of_each)) for each, of_each in zip(findings, columns, strict=True)]
    header = ("system", *(column for of_each in columns for column in of_each))
    return Table(header, tuple(rows), spans=tuple(spans) if len(findings) > 1 else ())


def _columns(findings: CriterionFindings) -> dict[str, Callable[[Finding], str]]:
    """What a criterion shows of a system, by heading."""
    unit = findings.unit
    columns: dict[str, Callable[[Finding], str]] = {"mean": lambda one: unit.shown(one.mean)}
    if findings.has_intervals:
        columns[f"{level_of(1 - findings.alpha)} interval"] = lambda one: (
            "none" if one.low is None or one.high is None else unit.interval(one.low, one.high)
        )
    if findings.letters:
        columns["group"] = lambda one: one.groups or NOTHING
    if findings.has_ranks:
        columns["rank"] = lambda one: rank_words(one.rank_low, one.rank_high)
    if findings.n_draws:
        columns["P(best)"] = lambda one: NOTHING if one.best is None else chance_cell(one.best)
    return columns


def rank_words(low: int | None, high: int | None) -> str:
    """'2 to 4', or '2' for a single rank."""
    if low is None or high is None:
        return NOTHING
    return f"{low}" if low == high else f"{low} to {high}"


def chance_cell(chance: float) -> str:
    """A simulated chance with two decimals; its ends are never certain."""
    if chance < 0.005:
        return "< 0.01"
    return "> 0.99" if chance > 0.995 else f"{chance:.2f}"


def findings_frame(findings: Sequence[CriterionFindings]) -> pd.DataFrame:
    """A row for each system under each criterion."""
    import pandas as pd

    return pd.DataFrame(
        [{**asdict(one), "unit": each.unit.words} for each in findings for one in each.rows]
    )


def findings_files(
    findings: Sequence[CriterionFindings], tests: FamilyOfTests, *, notices: tuple[str, ...]
) -> dict[str, str]:
    """The findings as a spreadsheet, and as a table to put into a paper, whose caption begins with the notices."""
    from humeval_power.saying.render.latex import latex_float

    caption = " ".join([*notices, *findings_words(findings, tests)])
    called = {row.system: row.system for each in findings for row in each.rows}
    as_table = findings_table(findings, called=called)
    return {
        "findings.csv": table_csv(findings_frame(findings), digits=10),
        "findings.tex": latex_float(as_table, caption=caption, label="tab:findings"),
    }


def findings_words(findings: Sequence[CriterionFindings], tests: FamilyOfTests) -> Iterator[str]:
    """What the columns are, each said once."""
    first = findings[0]
    units = "; ".join(f"of {each.criterion} {each.unit.words}" for each in findings)
    if len({each.unit.words for each in findings}) == 1:
        units = first.unit.words
    of = "estimated for new workers and items" if tests.family.model == "joint" else "those of the ratings"
    yield f"Means are {of}, {units}."
    if any(each.letters for each in findings):
        yield (
            "Systems that share a letter are not told apart by these tests; that does not show that they "
            "are equal."
        )
    if any(each.has_ranks for each in findings):
        yield f"Rank: the places that the tests leave a system; {_together(tests, first.alpha)}."
    drawn = next((each for each in findings if each.n_draws), None)
    if drawn is not None:
        yield (
            f"P(best): how often a system comes first in {drawn.n_draws:,} draws of the means and of their "
            "variances, which is no p-value. Among systems that are alike it favours the one that leads here."
            + (
                " A small one makes a system unlikely to be the best; only the tests rule it out."
                * drawn.has_ranks
            )
        )
    yield from dict.fromkeys(
        f"There are no chances of ranks: {each.reason}." for each in findings if each.reason
    )


def _together(tests: FamilyOfTests, alpha: float) -> str:
    """How sure the intervals of ranks are."""
    family = tests.family
    if not tests.is_corrected or family.correction == "bh":
        return "with these p-values they do not hold together"
    which = "all of them"
    if family.over == "criterion" and len(tests.criteria) > 1:
        which = "those of a criterion"
    if family.correction == "max-t" and family.variances == "own":
        return f"{which} hold together with {level_of(1 - alpha)} confidence, with few workers with less"
    return f"{which} hold together with at least {level_of(1 - alpha)} confidence"


# Variances of several systems in one fit: their words, their table, and the check by the other kind.

_BY_MODEL = {"pairwise": "By fits in pairs", "joint": "By one fit of all systems"}
VARIANCES_WORDS = {
    "common": "which takes it that workers and items differ alike between any two systems",
    "own": "in which each system has its own variances of workers and of items",
}
WARNING = "WARNING: "
_MOST_LISTED = 6


def sds_words(fitted: JointFit) -> str:
    """The SDs that are not of one system."""
    sds = ", ".join(
        f"{name.removeprefix('sd_').replace('_', ' x ')} {value:.4f}"
        for name, value in fitted.standard_deviations.items()
        if " of " not in name
    )
    difference = (
        "is 1.41 times worker x system"
        if fitted.variances == "common"
        else "is the root of the sum of their two squared SDs worker x system"
    )
    return f"SDs on [0, 1]: {sds}. That of a worker's difference between two systems {difference}."


def system_sds(fitted: JointFit, called: Mapping[str, str]) -> Iterator[Block]:
    """How much workers and items differ about each system, from a fit with its own variances.

    called : what each system is called here, by its name
    """
    sds = fitted.standard_deviations
    yield Paragraph(
        "SDs on [0, 1] of what a worker, or an item, gives one system beyond what it gives all."
    )
    yield table(
        called,
        {
            "system": lambda name: called[name],
            "worker x system": lambda name: f"{sds[f'sd_worker_system of {name}']:.4f}",
            "item x system": lambda name: f"{sds[f'sd_item_system of {name}']:.4f}",
        },
    )


def check_words(check: VariancesCheck | ModelCheck, called: Mapping[tuple[str, str], str]) -> str:
    """What the other kind of variances, or the other model, makes of the comparisons, which are `called` by first
    and second; and what to do where it is something else."""
    how = _BY_MODEL[check.model] if isinstance(check, ModelCheck) else f"With {_kind(check)} variances"
    if check.reason:
        by = how[0].lower() + how[1:]
        return f"The comparisons were not checked {by}: {check.reason.removesuffix('.')}."
    if not check.parted:
        return f"{how} every comparison comes out the same."
    corrected = {(one.first, one.second): one.corrected_p for one in check.results}
    pairs = [f"{called[pair]} ({p_words(corrected[pair])})" for pair in check.parted]
    of, verbs = counted(len(check.results), "comparison"), ("come", "these depend")
    if len(pairs) == 1:
        verbs = "comes", "this one depends"
    return (
        f"{how} {len(pairs)} of {of} {verbs[0]} out differently (corrected p): {listed(pairs)}. The findings stay "
        f"those of the model that was asked for: report that {verbs[1]} on it."
    )


def ratio_words(check: VariancesCheck) -> Iterator[str]:
    """Whether the ratings tell own from common variances."""
    if not math.isnan(check.p_value):
        yield (
            f"Likelihood ratio of own against common variances: {check.statistic:.1f} on {check.df} df, "
            f"{p_words(check.p_value)}; asymptotic, and rough with few workers. It does not choose the model: "
            "chosen on the same ratings, the tests err more often than they say."
        )


def check_remarks(check: VariancesCheck | ModelCheck | None) -> tuple[str, ...]:
    """A warning where decisions depend on the kind of variances, or on the model."""
    if check is None or not check.parted:
        return ()
    if isinstance(check, VariancesCheck):
        what = f"variances: with {_kind(check)} ones"
    else:
        what = f"model: by {'fits in pairs' if check.model == 'pairwise' else 'one fit of all systems'}"
    of = counted(len(check.results), "comparison")
    depend = f"{len(check.parted)} of {of} {'depends' if len(check.parted) == 1 else 'depend'}"
    return (f"{WARNING}{depend} on the {what} it would be decided otherwise. See the notes.",)


def listed(names: Sequence[str]) -> str:
    """Names in a row, the first of many."""
    more = len(names) - _MOST_LISTED
    return ", ".join(names) if more <= 1 else f"{', '.join(names[:_MOST_LISTED])} and {more} more"


def _kind(check: VariancesCheck) -> str:
    return "common" if check.variances == "common" else "each system's own"
