"""Systems compared by repeated runs: what is said of them, and the record.

A budget divided between items and runs: the best split, its neighbours, and what more would buy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import ClassVar

from humeval_power.checking.columns import listing
from humeval_power.comparisons.runs.budget import RunsBudget, Split
from humeval_power.comparisons.runs.testing import (
    RunsComparison,
    RunsComparisons,
    RunsReading,
    RunsRule,
    RunTable,
)
from humeval_power.comparisons.runs.wording import (
    WORDING,
    ceiling_words,
    items_words,
    runs_words,
    test_words,
    varying,
)
from humeval_power.inference.clustered import FEW_DF
from humeval_power.rules import WITH_MARGIN
from humeval_power.runs_parameters import RunsKind
from humeval_power.saying.answer_words import TestedDifference, of_hundred
from humeval_power.saying.chart import Axis, Chart, Series, Spot, interval_chart
from humeval_power.saying.clustered_words import (
    Independence,
    assumed_items,
    clustered_items,
    in_clusters,
)
from humeval_power.saying.document import Block, Document, Fact, Facts, Paragraph, Points, Section
from humeval_power.saying.numbers import (
    POWER_LABEL,
    counted,
    decimals,
    level_of,
    p_cell,
    p_words,
    percent,
    power_words,
    significant,
    significant_interval,
)
from humeval_power.saying.quantities import values
from humeval_power.saying.result import (
    DIGITS,
    NAME,
    Record,
    Result,
    cluster_entry,
    named,
    short,
    versions,
)
from humeval_power.saying.stated import PaperResult, above, pairs_lead, table

_NO_GAIN = 5e-4  # of power, which is shown with three digits


@dataclass(frozen=True, kw_only=True)
class RunsBudgetResult(Result):
    """The best split of a budget between items and runs; `budget.splits` has every number of runs."""

    schema: ClassVar[str] = "humeval_power/runs_budget/1"

    budget: RunsBudget

    def body(self) -> Document:
        budget, best, scenario = self.budget, self.budget.best, self.budget.scenario
        prices, total = budget.prices, money(budget.total)
        crossed = budget.parameters.kind == "crossed"
        runs = "prompts" if crossed else "runs"
        study = (
            items_words(scenario.plan),
            runs_words(scenario.plan, budget.parameters),
            test_words(scenario),
            *varying(budget.parameters, scenario.plan),
        )
        costs = f"a call {money(prices.call)}, an item {money(prices.item)}"
        if crossed:
            costs += f", a prompt {money(prices.prompt)}"
        asked = (
            ("Effect", WORDING.effect(scenario)),
            *(("" if place else "Study", line) for place, line in enumerate(study)),
            ("Prices", costs),
        )
        neighbours = table(
            budget.neighbours,
            {
                runs.capitalize(): lambda split: f"{split.runs:,}{' *' if split == best else ''}",
                "items": lambda split: f"{split.n_items:,}",
                "calls": lambda split: f"{2 * split.runs * split.n_items:,}",
                "cost": lambda split: money(split.cost),
                "standard error": lambda split: significant(split.standard_error),
                "power": lambda split: f"{split.power:.3f}",
            },
            "As many items as the budget pays for; the best is marked *.",
        )
        names = {"item": "one item", "run": "one run of each item by each system", "prompt": "one prompt"}
        more = table(
            budget.steps,
            {
                "One more": lambda step: names[step.what],
                "costs": lambda step: money(step.cost),
                "power": lambda step: f"{step.split.power:.4f}",
                "gain": lambda step: f"{step.gain:+z.4f}",
                "gain for 1 of money": lambda step: (
                    significant(step.gain / float(step.cost)) if step.cost else "-"
                ),
            },
        )
        of_runs, of_items = (ceiling_words(ceiling, budget.parameters) for ceiling in budget.ceilings)
        limits = f"Without end: {of_runs}; {of_items}."
        if budget.ceilings[1].power < 1 - _NO_GAIN and crossed:
            limits += " More items cannot exceed the latter: prompts are a sample, too."
        return Document(
            f"How to divide {total} between items and {runs}",
            lead=f"{best.n_items:,} items with {best.runs:,} {runs}{'' if crossed else ' of each'} are the best "
            f"use of {total}: then {of_hundred(best.power)} of 100 such studies find {WORDING.found(scenario)}. By "
            "formula.",
            headline=(
                ("Items", f"{best.n_items:,}"),
                (runs.capitalize(), f"{best.runs:,}{'' if crossed else ' of each item by each system'}"),
                (POWER_LABEL, power_words(best.power)),
                ("Cost", f"{money(best.cost)} of {total}"),
            ),
            sections=(
                Section("What was asked", (Facts(asked),)),
                Section("Splits beside it", (neighbours, *self._picture(runs))),
                Section("What more would buy", (more, Paragraph(limits))),
            ),
        )

    def _picture(self, runs: str) -> Iterator[Chart]:
        splits, best = self.budget.splits, self.budget.best
        if len(splits) == 1:
            return
        x = tuple(float(split.runs) for split in splits)
        yield Chart(
            name="budget",
            title=f"How many {runs}, if more of them mean fewer items?",
            words=f"Power with each number of {runs} and as many items as the budget pays for; the best is "
            f"{best.runs:,} with {best.n_items:,} items.",
            x=Axis(runs.capitalize(), x[0], x[-1], is_log=x[-1] > 20 * x[0], is_whole=True),
            y=Axis(POWER_LABEL, 0, 1),
            series=(Series("line", "power by formula", x, tuple(split.power for split in splits)),),
            marks=(
                Spot(f"best: {best.runs:,}, power {power_words(best.power)}", float(best.runs), best.power),
            ),
        )

    def content(self) -> Record:
        budget = self.budget
        return {
            "effect": budget.effect,
            "total": float(budget.total),
            "prices": {name: float(price) for name, price in asdict(budget.prices).items()},
            "parameters": budget.parameters.as_dict(),
            "best": _split(budget.best),
            "splits": [_split(split) for split in budget.splits],
            "steps": [
                {"what": step.what, **_split(step.split), "added_cost": float(step.cost), "gain": step.gain}
                for step in budget.steps
            ],
            "ceilings": [asdict(ceiling) for ceiling in budget.ceilings],
        }

    def table_rows(self) -> list[Record]:
        return [_split(split) for split in self.budget.splits]


def _split(split: Split) -> Record:
    return {**asdict(split), "cost": float(split.cost)}


def money(amount: Decimal) -> str:
    """An amount as people write it: exact, without zeros behind."""
    text = f"{amount:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


# Which kind of runs a table holds: what is said of it, and the record.

MEANING: dict[RunsKind, str] = {
    "nested": "generations of each item's answer; run 1 of an item has nothing in common with run 1 of another. "
    "Items are the sample: more generations only make each item's mean more precise.",
    "crossed": "prompts or seeds, the same ones for all items and systems. They are a sample too, as raters "
    "are: with few of them no number of items makes up for it.",
}
_LAYOUTS = {
    "own labels": "items have labels of their own",
    "shared labels": "the same words under every item",
    "shared numbers": "the same numbers under every item",
}


@dataclass(frozen=True, kw_only=True)
class RunsKindResult(PaperResult):
    """What a table says of its runs."""

    schema: ClassVar[str] = "humeval_power/runs_check/1"

    table: RunTable
    reading: RunsReading

    @property
    def remarks(self) -> tuple[str, ...]:
        return tuple(f"{self.table.source}: {notice}" for notice in self.table.notices)

    def answer(self) -> Document:
        runs, reading = self.table, self.reading
        low, high = reading.runs
        each = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        labels = f"{counted(reading.n_labels, 'label')} in column {reading.column!r}"
        tests = (
            ("Do labels differ in level?", reading.p_level),
            ("Do labels favour a system?", reading.p_slope),
        )
        shown = (
            ("Scores", f"{len(runs.score):,} of {runs.n_items:,} items by {runs.n_systems} systems"),
            ("Runs", f"{each} of an item by a system; {labels}"),
            ("Labels", f"{_LAYOUTS[reading.layout]} ({reading.n_complete:,} items have all of them)"),
            *((label, p_words(p)) for label, p in tests if not math.isnan(p)),
        )
        kinds = tuple(f"{kind.capitalize()}: {text}" for kind, text in MEANING.items())
        lead = ask(reading)
        if reading.kind is not None:
            other = _other(reading.kind)
            lead = (
                f"Runs ({reading.column}) are read as {reading.kind}: {reason(reading)}. If they are {other}, say "
                f"'compare runs test --{other}'."
            )
        return Document(
            "Are the runs nested in items, or crossed with them?",
            lead=lead,
            caveats=contradictions(reading, reading.kind),
            sections=(
                Section("What the table shows", (Facts(shown),)),
                Section("What the two kinds are", (Points(kinds),)),
            ),
        )

    def independence(self) -> tuple[Independence, ...]:
        return (assumed_items(self.table.n_items, self.table.suspects),)

    def numbers(self) -> Record:
        table, reading = self.table, self.reading
        return {
            "systems": list(table.system_names),
            **asdict(reading),
            "looks_shared": reading.looks_shared,
            "n_scores": len(table.score),
            "binary": table.is_binary,
            "contradictions": list(contradictions(reading, reading.kind)),
        }


def _other(kind: RunsKind) -> RunsKind:
    return "crossed" if kind == "nested" else "nested"


def reason(reading: RunsReading) -> str:
    """Why runs are of a kind, in half a sentence."""
    layout = _LAYOUTS[reading.layout]
    if reading.named is not None and reading.kind == reading.named:
        return f"the column is called {reading.column!r}, with {layout}"
    return f"{layout} (column {reading.column!r})"


def ask(reading: RunsReading) -> str:
    """What to decide where the table does not say."""
    if reading.layout == "own labels":
        why = (
            f"column {reading.column!r} sounds like prompts or seeds, but only {reading.n_complete:,} of "
            f"{reading.n_items:,} items have all its labels"
        )
    else:
        why = f"column {reading.column!r} holds {_LAYOUTS[reading.layout]}, which both kinds may have"
    return (
        f"The table does not say which kind its runs are: {why}. If each item was answered anew, say --nested; if "
        "a label means one prompt or seed for all items, say --crossed."
    )


def contradictions(reading: RunsReading, kind: RunsKind | None) -> tuple[str, ...]:
    """What the scores or labels say against a kind; nothing where all agrees."""
    if kind == "nested" and reading.looks_shared:
        return (
            "Runs of one label differ from those of others over all items, which generations of their own would "
            "not: the labels seem to stand for prompts or seeds. If they do, say --crossed; as nested runs the "
            "interval is too short.",
        )
    if kind == "crossed" and reading.layout == "own labels":
        return (
            f"Only {reading.n_complete:,} of {reading.n_items:,} items have all {reading.n_labels:,} labels: if "
            "items have runs of their own, say --nested.",
        )
    return ()


# The words of a comparison by repeated runs: verdict, facts, tables.


def verdict(pair: RunsComparison) -> str:
    """What the test shows, and what is still possible."""
    rule, (a, b) = pair.rule, pair.systems
    if pair.reason:
        return f"There is no test: {pair.reason}."
    if rule.alternative not in WITH_MARGIN:
        return str(
            TestedDifference(
                pair.systems,
                pair.estimate,
                pair.interval,
                pair.p_value,
                pair.significant,
                1 - _tail(rule),
                ending=" on average",
                hypothesis="" if rule.alternative == "two-sided" else f"{b} scores higher than {a}",
            )
        )
    claim = f"{a} and {b} score alike within {rule.margin:g}"
    if rule.alternative == "non-inferior":
        claim = f"{b} scores less than {rule.margin:g} below {a}"
    said = f"{claim}, which is shown" if pair.significant else f"It is not shown that {claim}"
    return (
        f"{said} ({p_words(pair.p_value)}): the {_confidence(rule)} interval of {b} - {a} is "
        f"{significant_interval(*pair.interval)}."
    )


def pair_facts(pair: RunsComparison, table: RunTable) -> Iterator[Fact]:
    """The means, the test, and what it is beside."""
    for name, mean, runs in zip(pair.systems, pair.means, pair.runs, strict=True):
        yield name, f"mean {significant(mean)}, {number_of(runs)} runs of an item"
    reach = f"{_confidence(pair.rule)} interval {significant_interval(*pair.interval)}"
    yield f"{pair.systems[1]} - {pair.systems[0]}", f"{significant(pair.estimate)}, {reach}"
    method = (
        "paired means of items, CR2 over clusters" if pair.clustered else "paired t of the items' means"
    )
    if pair.rule.kind == "crossed":
        of = "items in clusters" if pair.clustered else "items"
        model = "logit" if pair.rule.family == "binary" else "linear"
        method = f"crossed {model} model of {of} and {table.run_column}, Kenward-Roger"
    yield "Test", method
    df, p = decimals(pair.df, 1), p_words(pair.p_value)
    yield "Standard error", f"{significant(pair.standard_error)} on {df} df, {p}"
    if pair.odds_ratio is not None:
        ratio, *ends = pair.odds_ratio
        interval = significant_interval(*ends)
        yield "Odds ratio", f"{significant(ratio)} ({interval}) of one item and {table.run_column}"
    if pair.rule.kind == "crossed":
        alone = pair.items
        yield (
            f"These {pair.n_labels} alone",
            f"{significant(alone.estimate)}, the plain difference of means, standard error "
            f"{significant(alone.standard_error)}, {p_words(alone.p_value())}: says nothing about another "
            f"{table.run_column}",
        )


def _tail(rule: RunsRule) -> float:
    """Of both sides of the interval that belongs to the test."""
    return rule.alpha if rule.alternative == "two-sided" else 2 * rule.alpha


def _confidence(rule: RunsRule) -> str:
    return level_of(1 - _tail(rule))


def number_of(runs: float) -> str:
    """A number of runs, which may be a mean, or endless."""
    if math.isinf(runs):
        return "endless"
    return f"{runs:,.0f}" if runs == round(runs) else f"{runs:,.1f}"


def _runs_of(runs: tuple[float, float], systems: tuple[str, str], apart: str) -> str:
    """How many both systems have; where they differ, of each in the words of `apart`."""
    first, second = map(number_of, runs)
    return first if first == second else apart.format(first, systems[0], second, systems[1])


def more_words(pair: RunsComparison, table: RunTable) -> str:
    """What more runs can do, in a sentence."""
    share, runs = percent(pair.removable), f"{table.run_column} values"
    if pair.rule.kind == "nested":
        rest = "items, and only more items make it smaller"
        if table.clusters is not None:
            rest = "items and clusters, and only more clusters make all of it smaller, not more items of the same"
        return (
            f"{share} of the variance is noise of single generations, which more of them remove; the rest is "
            f"between {rest}."
        )
    least = (
        f" No number of items removes what {pair.n_labels} {runs} leave." if pair.parts[0].variance else ""
    )
    return f"{share} of the variance falls with the number of {runs}; the rest is between items.{least}"


# What a reader of a comparison by repeated runs must know: caveats, and what was not independent.

FEW_PROMPTS = 5  # below it the variance between prompts is hardly known


def caveats(pairs: Sequence[RunsComparison]) -> Iterator[str]:
    """What a reader must know before trusting a number, each thing once for all pairs."""
    crossed, fewest = pairs[0].rule.kind == "crossed", min(pair.n_labels for pair in pairs)
    if len(pairs) > 1:
        for reason in dict.fromkeys(pair.reason for pair in pairs if pair.reason):
            which = [f"{pair.systems[1]} - {pair.systems[0]}" for pair in pairs if pair.reason == reason]
            yield f"There is no test of {listing(which, limit=5)}: {reason}."
    yield from dict.fromkeys(remark for pair in pairs for remark in pair.remarks)
    if crossed and fewest < FEW_PROMPTS:
        yield (
            f"{fewest} runs are few: how much the systems' difference varies between them is hardly known, and the "
            f"test has {_df_range(pairs)} degrees of freedom, however many items there are."
        )
    if not crossed and pairs[0].items.df < FEW_DF:
        yield f"{_df_range(pairs)} degrees of freedom are too few for more than a hint."
    at_zero = sum(("sd_prompt_slope" if crossed else "sd_item") in pair.at_zero for pair in pairs)
    where = "" if len(pairs) == 1 else f" (in {at_zero} of {len(pairs)} pairs)"
    if at_zero and crossed:
        yield (
            f"The variance between runs of the systems' difference is estimated as zero{where}, which so few runs "
            "do not prove; the degrees of freedom allow for it."
        )
    elif at_zero:
        yield f"Items' differences vary no more than the noise of generations alone would make them{where}."


def _df_range(pairs: Sequence[RunsComparison]) -> str:
    dfs = sorted(pair.df for pair in pairs if math.isfinite(pair.df))
    ends = dict.fromkeys(decimals(df, 1) for df in dfs[:1] + dfs[-1:])
    return " to ".join(ends) or "no"


def answers(table: RunTable, pairs: Sequence[RunsComparison], rule: RunsRule) -> tuple[Independence, ...]:
    """What was not independent: items, and runs."""
    items = assumed_items(table.n_items, table.suspects)
    if table.clusters is not None and rule.kind == "nested":
        items = clustered_items(pairs[0].items, table.clusters.name)
    elif table.clusters is not None:
        text = (
            f"The {table.n_items:,} items come in {table.clusters.n_clusters:,} clusters "
            f"({table.clusters.name}): the model gives each its own level and its own difference."
        )
        items = Independence("items", "accounted", text)
    text = (
        "Runs of one item share the item: they are averaged first, and do not count as further items. Runs of "
        "different items count as independent; if they are the same prompts or seeds, say --crossed."
    )
    if rule.kind == "crossed":
        text = (
            f"All scores of one {table.run_column} share it: the model gives each of the {pairs[0].n_labels} its "
            "own level and its own difference of the systems, and the degrees of freedom are theirs."
        )
    return items, Independence("runs", "accounted", text)


# A comparison by repeated runs for a paper: the paragraph, and the signature.


def for_a_paper(pair: RunsComparison, table: RunTable) -> str:
    """The paragraph of a paper."""
    a, b = pair.systems
    numbers = (
        f"the difference is {significant(pair.estimate)} ({_confidence(pair.rule)} interval "
        f"{significant_interval(*pair.interval)}; t = {decimals(pair.estimate / pair.standard_error, 2)} on "
        f"{decimals(pair.df, 1)} df, {p_words(pair.p_value)})"
    )
    items = f"{pair.n_items:,} items{in_clusters(table.clusters)}"
    if pair.rule.kind == "nested":
        error = "a paired t test over items"
        if pair.clustered:
            error = "cluster-robust errors (CR2) with Bell and McCaffrey's (2002) degrees of freedom"
        return (
            f"We generated {_runs_of(pair.runs, pair.systems, '{} ({}) and {} ({})')} answers to each of {items} "
            f"with each system, averaged the scores of an item, and compared {b} with {a} by {error}: {numbers}. "
            f"{percent(pair.removable)} of its variance is noise of single generations."
        )
    model = "a linear mixed model (REML)"
    if pair.rule.family == "binary":
        model = "a logit mixed model (restricted Laplace)"
    runs = f"{table.run_column} values"
    return (
        f"We scored both systems on {items} under {pair.n_labels} {runs} and compared {b} with {a} by {model} with "
        f"random intercepts and slopes of items and of {runs}, with Kenward and Roger's (1997) degrees of freedom: "
        f"{numbers}."
    )


_SHOWN = {
    "two-sided": "a difference",
    "greater": "that the later system scores higher",
    "equivalent": "equivalence within the margin",
    "non-inferior": "non-inferiority within the margin",
}
RUNS_SCHEMA = "humeval_power/runs_test/1"


@dataclass(frozen=True, kw_only=True)
class RunsTestResult(PaperResult):
    """Two systems or more compared by repeated runs; the effect is B - A, A being the first of a pair."""

    schema: ClassVar[str] = RUNS_SCHEMA

    table: RunTable
    reading: RunsReading
    rule: RunsRule
    found: RunsComparisons
    said: bool

    @property
    def remarks(self) -> tuple[str, ...]:
        of_file = f"{self.table.source}: " if self.table.source else ""
        notices = [f"{of_file}{notice}" for notice in self.table.notices]
        return (*notices, *(suspect.sentence() for suspect in self.table.suspects))

    @property
    def only(self) -> RunsComparison | None:
        """The comparison of two systems; None where there are more."""
        return self.found.pairs[0] if len(self.found.pairs) == 1 else None

    def answer(self) -> Document:
        only = self.only
        title = f"Systems compared over several runs ({self.table.run_column})"
        return Document(
            title if only is None else f"{only.systems[1]} compared with {only.systems[0]}",
            lead=self._overview() if only is None else verdict(only),
            caveats=(*contradictions(self.reading, self.rule.kind), *caveats(self.found.pairs)),
            sections=tuple(self._sections()),
            provenance=tuple(("Scores", notice) for notice in self.table.notices),
        )

    def _overview(self) -> str:
        rule, pairs = self.rule, zip(self.found.pairs, self.found.significant, strict=True)
        has_side = rule.alternative in ("two-sided", "greater")
        shown = [
            above(*pair.systems, pair.estimate) if has_side else " and ".join(pair.systems)
            for pair, is_significant in pairs
            if is_significant
        ]
        how = f"alpha {rule.alpha:g}, corrected by Holm"
        return pairs_lead(shown, len(self.found.pairs), how, _SHOWN[rule.alternative])

    def _sections(self) -> Iterator[Section]:
        kind, why, ending = self.rule.kind, "as you say", ""
        if not self.said:
            why = reason(self.reading)
            ending = f" If the runs are {_other(kind)}, say --{_other(kind)}."
        how = Paragraph(f"Runs ({self.table.run_column}) are {kind}, {why}: {MEANING[kind]}{ending}")
        if self.only is None:
            pairs = table(
                zip(self.found.pairs, self.found.p_adjusted, strict=True),
                {
                    "systems": lambda row: f"{row[0].systems[1]} - {row[0].systems[0]}",
                    "difference": lambda row: significant(row[0].estimate),
                    f"{_confidence(self.rule)} interval": lambda row: significant_interval(
                        *row[0].interval
                    ),
                    "df": lambda row: decimals(row[0].df, 1),
                    "p": lambda row: p_cell(row[0].p_value),
                    "p (Holm)": lambda row: p_cell(row[1]),
                },
                "Each interval is that of its pair alone.",
            )
            yield Section("All pairs", (pairs, self._picture()))
            yield Section("How the runs were read", (how,))
        else:
            facts = Facts(tuple(pair_facts(self.only, self.table)))
            yield Section("The test", (facts, self._picture(), how))
        yield from (self._error(pair) for pair in self.found.pairs if pair.parts)

    def _error(self, pair: RunsComparison) -> Section:
        title = "Where the error comes from"
        if self.only is None:
            title += f": {pair.systems[0]}, {pair.systems[1]}"
        total = sum(part.variance for part in pair.parts)
        blocks: list[Block] = [
            table(
                pair.parts,
                {
                    "source": lambda part: part.source,
                    "standard error": lambda part: significant(math.sqrt(part.variance)),
                    "share of variance": lambda part: percent(part.variance / total) if total > 0 else "-",
                    "less with more runs": lambda part: "yes" if part.falls else "no",
                },
                "On the scale of log odds:" if pair.odds_ratio is not None else "",
            )
        ]
        if pair.more_runs:
            named = "runs of an item" if pair.rule.kind == "nested" else self.table.run_column
            more = table(
                pair.more_runs,
                {
                    named: lambda each: _runs_of(each.runs, pair.systems, "{} of {}, {} of {}"),
                    "standard error": lambda each: significant(each.standard_error),
                },
                "With more runs of the same items:",
            )
            blocks += [more, Paragraph(more_words(pair, self.table))]
        return Section(title, tuple(blocks), is_detail=self.only is None)

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
            words=f"Differences with {_confidence(self.rule)} intervals, about 0.",
        )

    def independence(self) -> tuple[Independence, ...]:
        return answers(self.table, self.found.pairs, self.rule)

    def paper(self) -> tuple[str, ...]:
        return () if self.only is None or self.only.reason else (for_a_paper(self.only, self.table),)

    @property
    def signature(self) -> str:
        rule, pairs, clusters = self.rule, self.found.pairs, self.table.clusters
        low, high = (number_of(runs) for runs in pairs[0].runs)
        digest = self.table.sha256[:DIGITS]
        entries = [
            NAME,
            "runs",
            f"kind:{rule.kind}",
            f"family:{rule.family}",
            f"test:{'kr' if rule.kind == 'crossed' else 'cr2' if pairs[0].clustered else 't'}",
            f"alt:{rule.alternative}",
            *named("margin", None if rule.margin is None else short(rule.margin)),
            f"alpha:{short(rule.alpha)}",
            f"items:{pairs[0].n_items}",
            f"runs:{low if low == high else f'{low}+{high}'}",
            *(["correction:holm"] if len(pairs) > 1 else []),
            *([] if clusters is None else cluster_entry(clusters.name, clusters.n_clusters)),
            *named("data", digest or None),
            f"version:{versions()['humeval-power']}",
        ]
        return "|".join(entries)

    def numbers(self) -> Record:
        only = self.only
        return {
            "systems": list(self.table.system_names),
            **values(self.table, "metric", "run_column", "notices"),
            **values(self.rule, "kind", "family", "alternative", "margin", "alpha"),
            "kind_was_said": self.said,
            "parameters": None if only is None or only.parameters is None else only.parameters.as_dict(),
            "rows": [
                {
                    "first": pair.systems[0],
                    "second": pair.systems[1],
                    **values(pair, "n_items", "estimate", "standard_error", "df"),
                    "low": pair.interval[0],
                    "high": pair.interval[1],
                    "p_value": pair.p_value,
                    "p_adjusted": adjusted,
                    "significant": bool(adjusted <= pair.rule.alpha),
                }
                for pair, adjusted in zip(self.found.pairs, self.found.p_adjusted, strict=True)
            ],
            "comparisons": [_comparison(pair) for pair in self.found.pairs],
            "contradictions": list(contradictions(self.reading, self.rule.kind)),
        }


def _comparison(pair: RunsComparison) -> Record:
    items = pair.items
    return {
        **values(
            pair, "systems", "means", "reason", "n_scores", "runs", "n_labels", "at_zero", "odds_ratio"
        ),
        "error_parts": [asdict(part) for part in pair.parts],
        "removable_share": pair.removable,
        "more_runs": [asdict(each) for each in pair.more_runs],
        "parameters": None if pair.parameters is None else pair.parameters.as_dict(),
        "these_runs_alone": {
            **values(items, "estimate", "standard_error", "df"),
            "p_value": items.p_value(),
        },
        "remarks": list(pair.remarks),
    }
