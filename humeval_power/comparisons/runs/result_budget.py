"""A budget divided between items and runs: the best split, its neighbours, and what more would buy."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import ClassVar

from humeval_power.comparisons.runs.budget import RunsBudget, Split
from humeval_power.comparisons.runs.run_table import RunsReading, RunTable
from humeval_power.comparisons.runs.wording import (
    WORDING,
    ceiling_words,
    items_words,
    runs_words,
    test_words,
    varying,
)
from humeval_power.runs_parameters import RunsKind
from humeval_power.saying.answer_words import of_hundred
from humeval_power.saying.chart import Axis, Chart, Series, Spot
from humeval_power.saying.clustered_words import Independence, assumed_items
from humeval_power.saying.document import Block, Document, Fact, Facts, Paragraph, Points, Section, Table
from humeval_power.saying.numbers import POWER_LABEL, counted, p_words, power_words, significant
from humeval_power.saying.result import Record, Result
from humeval_power.saying.stated import PaperResult, table

_NO_GAIN = 5e-4  # of power, which is shown with three digits


@dataclass(frozen=True, kw_only=True)
class RunsBudgetResult(Result):
    """The best split of a budget between items and runs; `budget.splits` has every number of runs."""

    schema: ClassVar[str] = "humeval_power/runs_budget/1"

    budget: RunsBudget

    @property
    def _runs(self) -> str:
        return "prompts" if self.budget.parameters.kind == "crossed" else "runs"

    def body(self) -> Document:
        budget, best = self.budget, self.budget.best
        return Document(
            f"How to divide {money(budget.total)} between items and {self._runs}",
            lead=self._lead(),
            headline=(
                ("Items", f"{best.n_items:,}"),
                (self._runs.capitalize(), self._of_each(best)),
                (POWER_LABEL, power_words(best.power)),
                ("Cost", f"{money(best.cost)} of {money(budget.total)}"),
            ),
            sections=(
                Section("What was asked", (Facts(tuple(self._question())),)),
                Section("Splits beside it", tuple(self._beside())),
                Section("What more would buy", (self._more(), Paragraph(self._limits()))),
            ),
        )

    def _lead(self) -> str:
        best = self.budget.best
        runs = f"{best.runs:,} {self._runs}{'' if self._runs == 'prompts' else ' of each'}"
        return (
            f"{best.n_items:,} items with {runs} are the best use of {money(self.budget.total)}: then "
            f"{of_hundred(best.power)} of 100 such studies find {WORDING.found(self.budget.scenario)}. By formula."
        )

    def _of_each(self, split: Split) -> str:
        return (
            f"{split.runs:,}" if self._runs == "prompts" else f"{split.runs:,} of each item by each system"
        )

    def _question(self) -> list[Fact]:
        budget, scenario = self.budget, self.budget.scenario
        prices = budget.prices
        crossed = self._runs == "prompts"
        lines = (
            items_words(scenario.plan),
            runs_words(scenario.plan, budget.parameters),
            test_words(scenario),
            *varying(budget.parameters, scenario.plan),
        )
        costs = f"a call {money(prices.call)}, an item {money(prices.item)}"
        if crossed:
            costs += f", a prompt {money(prices.prompt)}"
        return [
            ("Effect", WORDING.effect(scenario)),
            *(("" if place else "Study", line) for place, line in enumerate(lines)),
            ("Prices", costs),
        ]

    def _beside(self) -> list[Block]:
        neighbours = table(
            self.budget.neighbours,
            {
                self._runs.capitalize(): lambda split: (
                    f"{split.runs:,}{' *' if split == self.budget.best else ''}"
                ),
                "items": lambda split: f"{split.n_items:,}",
                "calls": lambda split: f"{2 * split.runs * split.n_items:,}",
                "cost": lambda split: money(split.cost),
                "standard error": lambda split: significant(split.standard_error),
                "power": lambda split: f"{split.power:.3f}",
            },
            "As many items as the budget pays for; the best is marked *.",
        )
        return [neighbours, *([self._picture()] if len(self.budget.splits) > 1 else [])]

    def _picture(self) -> Chart:
        splits, best = self.budget.splits, self.budget.best
        runs = tuple(float(split.runs) for split in splits)
        return Chart(
            name="budget",
            title=f"How many {self._runs}, if more of them mean fewer items?",
            words=f"Power with each number of {self._runs} and as many items as the budget pays for; the best is "
            f"{best.runs:,} with {best.n_items:,} items.",
            x=Axis(
                self._runs.capitalize(), runs[0], runs[-1], is_log=runs[-1] > 20 * runs[0], is_whole=True
            ),
            y=Axis(POWER_LABEL, 0, 1),
            series=(Series("line", "power by formula", runs, tuple(split.power for split in splits)),),
            marks=(
                Spot(f"best: {best.runs:,}, power {power_words(best.power)}", float(best.runs), best.power),
            ),
        )

    def _more(self) -> Table:
        names = {"item": "one item", "run": "one run of each item by each system", "prompt": "one prompt"}
        return table(
            self.budget.steps,
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

    def _limits(self) -> str:
        runs, items = self.budget.ceilings
        of = self.budget.parameters
        text = f"Without end: {ceiling_words(runs, of)}; {ceiling_words(items, of)}."
        if items.power < 1 - _NO_GAIN and self._runs == "prompts":
            text += " More items cannot exceed the latter: prompts are a sample, too."
        return text

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
        return Document(
            "Are the runs nested in items, or crossed with them?",
            lead=self._lead(),
            caveats=contradictions(self.reading, self.reading.kind),
            sections=(
                Section("What the table shows", (Facts(tuple(reading_facts(self.table, self.reading))),)),
                Section(
                    "What the two kinds are",
                    (Points(tuple(f"{kind.capitalize()}: {text}" for kind, text in MEANING.items())),),
                ),
            ),
        )

    def independence(self) -> tuple[Independence, ...]:
        return (assumed_items(self.table.n_items, self.table.suspects),)

    def _lead(self) -> str:
        kind = self.reading.kind
        if kind is None:
            return ask(self.reading)
        return (
            f"Runs ({self.reading.column}) are read as {kind}: {reason(self.reading)}. If they are "
            f"{other(kind)}, say 'compare runs test --{other(kind)}'."
        )

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


def other(kind: RunsKind) -> RunsKind:
    """The kind that it is not."""
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


def reading_facts(table: RunTable, reading: RunsReading) -> list[Fact]:
    """Counts and evidence."""
    low, high = reading.runs
    each = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    facts = [
        ("Scores", f"{len(table.score):,} of {table.n_items:,} items by {table.n_systems} systems"),
        (
            "Runs",
            f"{each} of an item by a system; {counted(reading.n_labels, 'label')} in column {reading.column!r}",
        ),
        ("Labels", f"{_LAYOUTS[reading.layout]} ({reading.n_complete:,} items have all of them)"),
    ]
    if not math.isnan(reading.p_level):
        facts.append(("Do labels differ in level?", p_words(reading.p_level)))
    if not math.isnan(reading.p_slope):
        facts.append(("Do labels favour a system?", p_words(reading.p_slope)))
    return facts


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
