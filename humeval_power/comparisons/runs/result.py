"""Systems compared by repeated runs: what is said of them, and the record."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.checking.columns import listing
from humeval_power.comparisons.runs.result_budget import MEANING, contradictions, other, reason
from humeval_power.comparisons.runs.run_table import RunsReading, RunTable
from humeval_power.comparisons.runs.testing import MoreRuns, RunsComparison, RunsComparisons, RunsRule
from humeval_power.inference.clustered import FEW_DF
from humeval_power.rules import WITH_MARGIN
from humeval_power.saying.chart import interval_chart
from humeval_power.saying.clustered_words import (
    Independence,
    assumed_items,
    clustered_items,
    independence_record,
    independence_section,
)
from humeval_power.saying.compared import Compared
from humeval_power.saying.document import Block, Document, Fact, Facts, Paragraph, Section, Table
from humeval_power.saying.numbers import (
    decimals,
    p_cell,
    p_words,
    percent,
    significant,
    significant_interval,
)
from humeval_power.saying.result import (
    DIGITS,
    NAME,
    UNKNOWN,
    Provenance,
    Record,
    Result,
    cluster_entry,
    named,
    short,
    versions,
)

# The words of a comparison by repeated runs: verdict, facts, tables.


def verdict(pair: RunsComparison) -> str:
    """What the test shows, and what is still possible."""
    rule, (a, b) = pair.rule, pair.systems
    if pair.reason:
        return f"There is no test: {pair.reason}."
    confidence = 1 - (rule.alpha if rule.alternative == "two-sided" else 2 * rule.alpha)
    if rule.alternative in WITH_MARGIN:
        claim = f"score alike within {rule.margin:g}"
        who = f"{a} and {b}"
        if rule.alternative == "non-inferior":
            who, claim = b, f"score less than {rule.margin:g} below {a}"
        shown = "is shown" if pair.significant else "is not shown"
        return (
            f"That {who} {claim} {shown} ({p_words(pair.p_value)}): the {100 * confidence:g} % interval of "
            f"{b} - {a} is {significant_interval(*pair.interval)}."
        )
    return str(
        Compared(
            pair.systems,
            pair.estimate,
            pair.interval,
            pair.p_value,
            pair.significant,
            confidence,
            ending=" on average",
            asked="" if rule.alternative == "two-sided" else f"{b} scores higher than {a}",
        )
    )


def pair_facts(pair: RunsComparison, table: RunTable) -> Iterator[Fact]:
    """The means, the test, and what it is beside."""
    for name, mean, runs in zip(pair.systems, pair.means, pair.runs, strict=True):
        yield name, f"mean {significant(mean)}, {number_of(runs)} runs of an item"
    tail = pair.rule.alpha if pair.rule.alternative == "two-sided" else 2 * pair.rule.alpha
    reach = f"{100 * (1 - tail):g} % interval {significant_interval(*pair.interval)}"
    yield f"{pair.systems[1]} - {pair.systems[0]}", f"{significant(pair.estimate)}, {reach}"
    method = {
        ("nested", False): "paired t of the items' means",
        ("nested", True): "paired means of items, CR2 over clusters",
        ("crossed", False): f"crossed {_model(pair)} model of items and {table.run_column}, Kenward-Roger",
        (
            "crossed",
            True,
        ): f"crossed {_model(pair)} model of items in clusters and {table.run_column}, Kenward-Roger",
    }[(pair.rule.kind, pair.clustered)]
    yield "Test", method
    yield (
        "Standard error",
        f"{significant(pair.standard_error)} on {decimals(pair.df, 1)} df, {p_words(pair.p_value)}",
    )
    if pair.odds_ratio is not None:
        ratio, low, high = pair.odds_ratio
        yield (
            "Odds ratio",
            f"{significant(ratio)} ({significant_interval(low, high)}) of one item and {table.run_column}",
        )
    if pair.rule.kind == "crossed":
        alone = pair.items
        yield (
            f"These {pair.n_labels} alone",
            f"{significant(alone.estimate)}, standard error {significant(alone.standard_error)}, "
            f"{p_words(alone.p_value())}: says nothing about another {table.run_column}",
        )


def _model(pair: RunsComparison) -> str:
    return "logit" if pair.rule.family == "binary" else "linear"


def number_of(runs: float) -> str:
    """A number of runs, which may be a mean, or endless."""
    if math.isinf(runs):
        return "endless"
    return f"{runs:,.0f}" if runs == round(runs) else f"{runs:,.1f}"


def read_as(table: RunTable, reading: RunsReading, rule: RunsRule, *, said: bool) -> str:
    """As what the runs were read, by whom, and what that means."""
    why = "as you say" if said else reason(reading)
    ending = "" if said else f" If they are not, say --{other(rule.kind)}."
    return f"Runs ({table.run_column}) are {rule.kind}, {why}: {MEANING[rule.kind]}{ending}"


def parts_table(pair: RunsComparison) -> Table:
    """The error's variance by source."""
    total = sum(part.variance for part in pair.parts)
    rows = [
        (
            part.source,
            significant(math.sqrt(part.variance)),
            percent(part.variance / total) if total > 0 else "-",
            "yes" if part.falls else "no",
        )
        for part in pair.parts
    ]
    return Table(
        ("source", "standard error", "share of variance", "less with more runs"),
        tuple(rows),
        caption="On the scale of log odds:" if pair.odds_ratio is not None else "",
    )


def runs_table(pair: RunsComparison, table: RunTable) -> Table:
    """The standard error with more runs of the same items."""
    name = "runs of an item" if pair.rule.kind == "nested" else table.run_column
    return Table(
        (name, "standard error"),
        tuple((_runs(each, pair.systems), significant(each.standard_error)) for each in pair.more_runs),
        caption="With more runs of the same items:",
    )


def _runs(each: MoreRuns, systems: tuple[str, str]) -> str:
    first, second = (number_of(runs) for runs in each.runs)
    return first if first == second else f"{first} of {systems[0]}, {second} of {systems[1]}"


def more_words(pair: RunsComparison, table: RunTable) -> str:
    """What more runs can do, in a sentence."""
    share = percent(pair.removable)
    if pair.rule.kind == "nested":
        rest = (
            "items, and only more items make it smaller"
            if table.clusters is None
            else "items and clusters, and only more clusters make all of it smaller, not more items of the same"
        )
        return (
            f"{share} of the variance is noise of single generations, which more of them remove; the rest is "
            f"between {rest}."
        )
    runs = f"{table.run_column} values"
    least = (
        ""
        if pair.parts[0].variance == 0
        else f" No number of items removes what {pair.n_labels} {runs} leave."
    )
    return f"{share} of the variance falls with the number of {runs}; the rest is between items.{least}"


# What a reader of a comparison by repeated runs must know: caveats, and what was not independent.

FEW_PROMPTS = 5  # below it the variance between prompts is hardly known


def caveats(pairs: Sequence[RunsComparison]) -> Iterator[str]:
    """What a reader must know before trusting a number, each thing once for all pairs."""
    crossed = pairs[0].rule.kind == "crossed"
    if len(pairs) > 1:
        for reason in dict.fromkeys(pair.reason for pair in pairs if pair.reason):
            which = [f"{pair.systems[1]} - {pair.systems[0]}" for pair in pairs if pair.reason == reason]
            yield f"There is no test of {listing(which, limit=5)}: {reason}."
    yield from dict.fromkeys(remark for pair in pairs for remark in pair.remarks)
    if crossed and min(pair.n_labels for pair in pairs) < FEW_PROMPTS:
        yield (
            f"{min(pair.n_labels for pair in pairs)} runs are few: how much the systems' difference varies between "
            f"them is hardly known, and the test has {_df_range(pairs)} degrees of freedom, however many items "
            "there are."
        )
    if not crossed and pairs[0].items.df < FEW_DF:
        yield f"{_df_range(pairs)} degrees of freedom are too few for more than a hint."
    of_zero = [pair for pair in pairs if ("sd_prompt_slope" if crossed else "sd_item") in pair.at_zero]
    if not of_zero:
        return
    where = "" if len(pairs) == 1 else f" (in {len(of_zero)} of {len(pairs)} pairs)"
    if crossed:
        yield (
            f"The variance between runs of the systems' difference is estimated as zero{where}, which so few runs "
            "do not prove; the degrees of freedom allow for it."
        )
    else:
        yield f"Items' differences vary no more than the noise of generations alone would make them{where}."


def _df_range(pairs: Sequence[RunsComparison]) -> str:
    found = sorted(pair.df for pair in pairs if math.isfinite(pair.df))
    if not found:
        return "no"
    low, high = decimals(found[0], 1), decimals(found[-1], 1)
    return low if low == high else f"{low} to {high}"


def answers(table: RunTable, pairs: Sequence[RunsComparison], rule: RunsRule) -> tuple[Independence, ...]:
    """What was not independent: items, and runs."""
    first = pairs[0]
    items = assumed_items(table.n_items, table.suspects)
    if table.clusters is not None and rule.kind == "nested":
        items = clustered_items(first.items, table.clusters.name)
    elif table.clusters is not None:
        items = Independence(
            "items",
            "accounted",
            f"The {table.n_items:,} items come in {table.clusters.n_clusters:,} clusters "
            f"({table.clusters.name}): the model gives each its own level and its own difference.",
        )
    if rule.kind == "nested":
        text = (
            "Runs of one item share the item: they are averaged first, and do not count as further items. Runs of "
            "different items count as independent; if they are the same prompts or seeds, say --crossed."
        )
        return items, Independence("runs", "accounted", text)
    text = (
        f"All scores of one {table.run_column} share it: the model gives each of the {first.n_labels} its own "
        "level and its own difference of the systems, and the degrees of freedom are theirs."
    )
    return items, Independence("runs", "accounted", text)


# A comparison by repeated runs for a paper: the paragraph, and the signature.

_TESTS = {
    ("nested", False): "t",
    ("nested", True): "cr2",
    ("crossed", False): "kr",
    ("crossed", True): "kr",
}


def for_a_paper(pair: RunsComparison, table: RunTable) -> str:
    """The paragraph of a paper."""
    tail = pair.rule.alpha if pair.rule.alternative == "two-sided" else 2 * pair.rule.alpha
    low, high = (number_of(runs) for runs in pair.runs)
    runs = low if low == high else f"{low} ({pair.systems[0]}) and {high} ({pair.systems[1]})"
    numbers = (
        f"the difference is {significant(pair.estimate)} ({100 * (1 - tail):g} % interval "
        f"{significant_interval(*pair.interval)}; t = {decimals(pair.estimate / pair.standard_error, 2)} on "
        f"{decimals(pair.df, 1)} df, {p_words(pair.p_value)})"
    )
    of_clusters = (
        f" in {table.clusters.n_clusters:,} clusters ({table.clusters.name})" if table.clusters else ""
    )
    if pair.rule.kind == "nested":
        error = (
            "cluster-robust errors (CR2) with Bell and McCaffrey's (2002) degrees of freedom"
            if pair.clustered
            else "a paired t test over items"
        )
        return (
            f"We generated {runs} answers to each of {pair.n_items:,} items{of_clusters} with each system, "
            f"averaged the scores of an item, and compared {pair.systems[1]} with {pair.systems[0]} by {error}: "
            f"{numbers}. {percent(pair.removable)} of its variance is noise of single generations."
        )
    model = (
        "a logit mixed model (restricted Laplace)"
        if pair.rule.family == "binary"
        else "a linear mixed model (REML)"
    )
    runs = f"{table.run_column} values"
    return (
        f"We scored both systems on {pair.n_items:,} items{of_clusters} under {pair.n_labels} {runs} and compared "
        f"{pair.systems[1]} with {pair.systems[0]} by {model} with random intercepts and slopes of items and of "
        f"{runs}, with Kenward and Roger's (1997) degrees of freedom: {numbers}."
    )


def signature(table: RunTable, rule: RunsRule, pairs: Sequence[RunsComparison], version: str) -> str:
    """What was tested, in one line of entries."""
    first = pairs[0]
    low, high = (number_of(runs) for runs in first.runs)
    clusters = table.clusters
    return "|".join(
        [
            NAME,
            "runs",
            f"kind:{rule.kind}",
            f"family:{rule.family}",
            f"test:{_TESTS[rule.kind, first.clustered]}",
            f"alt:{rule.alternative}",
            *named("margin", None if rule.margin is None else short(rule.margin)),
            f"alpha:{short(rule.alpha)}",
            f"items:{first.n_items}",
            f"runs:{low if low == high else f'{low}+{high}'}",
            *(["correction:holm"] if len(pairs) > 1 else []),
            *cluster_entry(
                None if clusters is None else clusters.name,
                None if clusters is None else clusters.n_clusters,
            ),
            *named("data", table.sha256[:DIGITS] or None),
            f"version:{version}",
        ]
    )


_SHOWN = {
    "two-sided": "a difference",
    "greater": "that the later system scores higher",
    "equivalent": "equivalence within the margin",
    "non-inferior": "non-inferiority within the margin",
}
RUNS_SCHEMA = "humeval_power/runs_test/1"


@dataclass(frozen=True, kw_only=True)
class RunsTestResult(Result):
    """Two systems or more compared by repeated runs; the effect is B - A, A being the first of a pair."""

    schema: ClassVar[str] = RUNS_SCHEMA

    table: RunTable
    reading: RunsReading
    rule: RunsRule
    found: RunsComparisons
    said: bool
    provenance: Provenance = UNKNOWN

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was assumed in reading the table, and columns that look like clusters."""
        of_file = f"{self.table.source}: " if self.table.source else ""
        told = [f"{of_file}{notice}" for notice in self.table.notices]
        return (*told, *(suspect.sentence() for suspect in self.table.suspects))

    @property
    def only(self) -> RunsComparison | None:
        """The comparison of two systems; None where there are more."""
        return self.found.pairs[0] if len(self.found.pairs) == 1 else None

    def body(self) -> Document:
        """The test, where its error comes from, what more runs would buy, and what was not independent."""
        only = self.only
        return Document(
            f"Systems compared over several runs ({self.table.run_column})"
            if only is None
            else f"{only.systems[1]} compared with {only.systems[0]}",
            lead=self._overview() if only is None else verdict(only),
            caveats=(
                *contradictions(self.reading, self.rule.kind),
                *caveats(self.found.pairs),
            ),
            sections=tuple(self._sections()),
            provenance=tuple(("Scores", notice) for notice in self.table.notices),
            signature=self.signature,
        )

    def _overview(self) -> str:
        found, n = sum(self.found.significant), len(self.found.pairs)
        return (
            f"In {found} of {n} pairs {_SHOWN[self.rule.alternative]} is shown (alpha "
            f"{self.rule.alpha:g}, corrected by Holm)."
        )

    def _sections(self) -> Iterator[Section]:
        how = Paragraph(read_as(self.table, self.reading, self.rule, said=self.said))
        if self.only is None:
            yield Section("All pairs", (self._pairs(), self._picture()))
            yield Section("How the runs were read", (how,))
        else:
            yield Section(
                "The test", (Facts(tuple(pair_facts(self.only, self.table))), self._picture(), how)
            )
        for pair in self.found.pairs:
            if pair.parts:
                yield self._error(pair)
        yield independence_section(answers(self.table, self.found.pairs, self.rule))
        if self.only is not None and not self.only.reason:
            yield Section("For a paper", (Paragraph(for_a_paper(self.only, self.table)),), is_detail=True)

    def _error(self, pair: RunsComparison) -> Section:
        title = "Where the error comes from"
        if self.only is None:
            title += f": {pair.systems[0]}, {pair.systems[1]}"
        blocks: list[Block] = [parts_table(pair)]
        if pair.more_runs:
            blocks += [runs_table(pair, self.table), Paragraph(more_words(pair, self.table))]
        return Section(title, tuple(blocks), is_detail=self.only is None)

    def _pairs(self) -> Table:
        rows = tuple(
            (
                f"{pair.systems[1]} - {pair.systems[0]}",
                significant(pair.estimate),
                significant_interval(*pair.interval),
                decimals(pair.df, 1),
                p_cell(pair.p_value),
                p_cell(adjusted),
            )
            for pair, adjusted in zip(self.found.pairs, self.found.p_adjusted, strict=True)
        )
        level = f"{100 * (1 - self._tail):g} % interval"
        header = ("systems", "difference", level, "df", "p", "p (Holm)")
        return Table(header, rows, caption="Each interval is that of its pair alone.")

    @property
    def _tail(self) -> float:
        return self.rule.alpha if self.rule.alternative == "two-sided" else 2 * self.rule.alpha

    def _picture(self) -> Block:
        effects = [
            (f"{pair.systems[1]} - {pair.systems[0]}", pair.estimate, pair.interval)
            for pair in self.found.pairs
            if not pair.reason
        ]
        if not effects:
            return Paragraph("There is no interval to show.")
        return interval_chart(
            "differences",
            effects,
            axis=f"difference of {self.table.metric}",
            title="How large are the differences?",
            words=f"Differences with {100 * (1 - self._tail):g} % intervals, about 0.",
        )

    @property
    def signature(self) -> str:
        """What was tested, in one line."""
        return signature(self.table, self.rule, self.found.pairs, versions()["humeval-power"])

    def content(self) -> Record:
        """Each pair with its test, its error's parts, and the parameters that planning reads."""
        only = self.only
        return {
            "systems": list(self.table.system_names),
            "metric": self.table.metric,
            "run_column": self.table.run_column,
            "kind": self.rule.kind,
            "kind_was_said": self.said,
            "family": self.rule.family,
            "alternative": self.rule.alternative,
            "margin": self.rule.margin,
            "alpha": self.rule.alpha,
            "parameters": None if only is None or only.parameters is None else only.parameters.as_dict(),
            "rows": self._rows(),
            "comparisons": [_comparison(pair) for pair in self.found.pairs],
            "contradictions": list(contradictions(self.reading, self.rule.kind)),
            "independence": independence_record(answers(self.table, self.found.pairs, self.rule)),
            "signature": self.signature,
            "notices": list(self.table.notices),
        }

    def _rows(self) -> list[Record]:
        pairs = zip(self.found.pairs, self.found.p_adjusted, strict=True)
        return [_row(pair, adjusted) for pair, adjusted in pairs]


def _row(pair: RunsComparison, adjusted: float) -> Record:
    return {
        "first": pair.systems[0],
        "second": pair.systems[1],
        "n_items": pair.n_items,
        "estimate": pair.estimate,
        "standard_error": pair.standard_error,
        "df": pair.df,
        "low": pair.interval[0],
        "high": pair.interval[1],
        "p_value": pair.p_value,
        "p_adjusted": adjusted,
        "significant": bool(adjusted <= pair.rule.alpha),
    }


def _comparison(pair: RunsComparison) -> Record:
    return {
        "systems": list(pair.systems),
        "means": list(pair.means),
        "reason": pair.reason,
        "n_scores": pair.n_scores,
        "runs": list(pair.runs),
        "n_labels": pair.n_labels,
        "error_parts": [asdict(part) for part in pair.parts],
        "removable_share": pair.removable,
        "more_runs": [asdict(each) for each in pair.more_runs],
        "parameters": None if pair.parameters is None else pair.parameters.as_dict(),
        "at_zero": list(pair.at_zero),
        "odds_ratio": None if pair.odds_ratio is None else list(pair.odds_ratio),
        "these_runs_alone": {
            "estimate": pair.items.estimate,
            "standard_error": pair.items.standard_error,
            "df": pair.items.df,
            "p_value": pair.items.p_value(),
        },
        "remarks": list(pair.remarks),
    }
