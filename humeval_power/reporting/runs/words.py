"""The words of a comparison by repeated runs: verdict, facts, tables."""

from __future__ import annotations

import math
from collections.abc import Iterator

from humeval_power.inference.runs.comparison import MoreRuns, RunsComparison, RunsRule
from humeval_power.inference.runs.kinds import RunsReading
from humeval_power.inference.runs.run_table import RunTable
from humeval_power.reporting.compared import Compared
from humeval_power.reporting.document import Fact, Table
from humeval_power.reporting.numbers import (
    decimals,
    p_words,
    percent,
    significant,
    significant_interval,
)
from humeval_power.reporting.runs.kind import MEANING, other, reason
from humeval_power.rules import WITH_MARGIN


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
