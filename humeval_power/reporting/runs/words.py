"""The words of a comparison by repeated runs: verdict, facts, tables, caveats, paragraph, signature."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from humeval_power.checking.columns import listing
from humeval_power.inference.clustered import FEW_DF
from humeval_power.inference.runs.comparison import MoreRuns, RunsComparison, RunsRule
from humeval_power.inference.runs.kinds import RunsReading
from humeval_power.inference.runs.run_table import RunTable
from humeval_power.reporting.document import Fact, Table
from humeval_power.reporting.independence import Independence, assumed_items, clustered_items
from humeval_power.reporting.numbers import (
    decimals,
    p_words,
    percent,
    significant,
    significant_interval,
)
from humeval_power.reporting.runs.kind import MEANING, other, reason
from humeval_power.reporting.signature import DIGITS, NAME, cluster_entry, named, short
from humeval_power.rules import WITH_MARGIN

FEW_PROMPTS = 5  # below it the variance between prompts is hardly known


def verdict(pair: RunsComparison) -> str:
    """What the test says, in a sentence or two."""
    rule = pair.rule
    if pair.reason:
        return f"There is no test: {pair.reason}."
    b, a = pair.systems[1], pair.systems[0]
    said = f"B - A = {significant(pair.estimate)}, {p_words(pair.p_value)}"
    if rule.alternative in WITH_MARGIN:
        claim = (
            "as good within the margin" if rule.alternative == "equivalent" else "not worse by the margin"
        )
        shown = f"is {claim}" if pair.significant else f"is not shown to be {claim}"
        return f"{b} {shown} of {rule.margin:g} ({said}, alpha {rule.alpha:g})."
    if not pair.significant:
        return f"No significant difference between {b} and {a} at alpha {rule.alpha:g} ({said})."
    where = "better" if pair.estimate > 0 else "worse"
    return f"{b} scores {where} than {a}, significantly so at alpha {rule.alpha:g} ({said})."


def headline(pair: RunsComparison) -> Iterator[Fact]:
    """Difference and interval."""
    tail = pair.rule.alpha if pair.rule.alternative == "two-sided" else 2 * pair.rule.alpha
    yield "B - A", significant(pair.estimate)
    yield f"{100 * (1 - tail):g} % interval", significant_interval(*pair.interval)


def pair_facts(pair: RunsComparison, table: RunTable) -> Iterator[Fact]:
    """The means, the test, and what it is beside."""
    for name, letter, mean, runs in zip(pair.systems, "AB", pair.means, pair.runs, strict=True):
        yield f"{letter}: {name}", f"mean {significant(mean)}, {_number(runs)} runs of an item"
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


def _number(runs: float) -> str:
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
        tuple((_runs(each), significant(each.standard_error)) for each in pair.more_runs),
        caption="With more runs of the same items:",
    )


def _runs(each: MoreRuns) -> str:
    first, second = (_number(runs) for runs in each.runs)
    return first if first == second else f"{first} of A, {second} of B"


def more_words(pair: RunsComparison, table: RunTable) -> str:
    """What more runs can do, in a sentence."""
    share = percent(pair.removable)
    if pair.rule.kind == "nested":
        return (
            f"{share} of the variance is noise of single generations, which more of them remove; the rest is "
            "between items, and only more items make it smaller."
        )
    runs = f"{table.run_column} values"
    least = (
        ""
        if pair.parts[0].variance == 0
        else f" No number of items removes what {pair.n_labels} {runs} leave."
    )
    return f"{share} of the variance falls with the number of {runs}; the rest is between items.{least}"


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


def for_a_paper(pair: RunsComparison, table: RunTable) -> str:
    """The paragraph of a paper."""
    tail = pair.rule.alpha if pair.rule.alternative == "two-sided" else 2 * pair.rule.alpha
    low, high = (_number(runs) for runs in pair.runs)
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
    low, high = (_number(runs) for runs in first.runs)
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


_TESTS = {
    ("nested", False): "t",
    ("nested", True): "cr2",
    ("crossed", False): "kr",
    ("crossed", True): "kr",
}
