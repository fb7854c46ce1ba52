"""How many human labels a study with a judge needs, by whom, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.comparisons.judge.plan import MONTE_CARLO, JudgedReplicates, JudgeOption, JudgeSearch
from humeval_power.comparisons.judge.result_answers import ASSUMED
from humeval_power.costs import money
from humeval_power.differences import Difference
from humeval_power.rules import DecisionRule
from humeval_power.saying.answer_words import finding_words, of_hundred
from humeval_power.saying.document import Document, Fact, Facts, Listing, Paragraph, Section, Table
from humeval_power.saying.numbers import counted, decimals, percent
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record, Result
from humeval_power.saying.stated import table
from humeval_power.studies.power.formula import AnalyticPower

RESTS = Paragraph(
    "A correlation is that of a judge's difference on an item with the item's true difference; 'judge estimate' "
    "reports it where a pilot says who rated. A judge that is worth less needs more labels, or has less power: "
    "plan for the low end."
)


def who_is_rated(n_items: int) -> Section:
    """The command that draws the items that people rate."""
    line = f"humeval-power judge sample SCORES.csv --n {n_items} -o sample.csv"
    return Section(
        "Which items people rate",
        (
            Paragraph(
                "A random part of all that the judge scores; in strata by its scores they say as much or more:"
            ),
            Listing(line),
        ),
        is_detail=True,
    )


@dataclass(frozen=True, kw_only=True)
class JudgePlan(Result):
    """The cheapest study with the judge and without, and the proof by simulation, None where none was asked for."""

    schema: ClassVar[str] = "humeval_power/judge_plan/1"

    found: JudgeSearch
    effect: Difference
    simulated: JudgedReplicates | None = None
    setting: str = ""

    @property
    def missed(self) -> str:
        return (
            "No study within the limits has the power."
            if self.found.judged is None and self.found.alone is None
            else ""
        )

    def body(self) -> Document:
        search = self.found
        return Document(
            "Human labels for a study with a judge",
            lead=self._lead(),
            headline=self._facts(),
            caveats=self._caveats(),
            sections=(
                Section("By number of workers", (self._table(),) if search.by_workers else ()),
                *(() if search.judged is None else (who_is_rated(search.judged.counts.n_items),)),
                Section("What it rests on", (Facts(self._assumed()), RESTS, Paragraph(ASSUMED))),
            ),
        )

    def _lead(self) -> str:
        search, request = self.found, self.found.request
        best = search.judged if search.saving is None or search.saving > 0 else search.alone
        best = best or search.alone
        if best is None:
            return (
                f"No study of up to {counted(request.workers[1], 'worker')} and "
                f"{counted(request.most_ratings, 'rating')} of each item and system would do, with the judge or "
                "without."
            )
        counts, by = best.counts, "with the judge's help" if best is search.judged else "by people alone"
        said = (
            f"{counted(best.n_labels, 'label')} {by} would do, for {money(best.total, request.costs.currency)}: "
            f"{counted(counts.n_workers, 'worker')}, {counted(counts.n_items, 'item')}, "
            f"{counted(counts.ratings_per_item, 'rating')} of each item and system. Then "
            f"{of_hundred(best.power.power)} "
            f"of 100 such studies {finding_words(self.effect, request.rule)}; by formula."
        )
        if best is search.judged and search.alone is not None:
            said += f" People alone would need {counted(search.alone.n_labels, 'label')}."
        return said

    def _facts(self) -> tuple[Fact, ...]:
        search, currency = self.found, self.found.request.costs.currency
        facts = [("With the judge", self._said(search.judged)), ("Humans alone", self._said(search.alone))]
        if search.saving is not None and search.alone is not None:
            share = percent(float(search.saving / search.alone.total)) if search.alone.total else "-"
            word = "The judge saves" if search.saving >= 0 else "The judge costs"
            facts.append((word, f"{money(abs(search.saving), currency)} ({share})"))
        return (*facts, *proof_facts(self.simulated, search.request.rule))

    def _said(self, option: JudgeOption | None) -> str:
        if option is None and not self.found.request.has_judge and self.found.alone is not None:
            return "no help: it needs a correlation, and 2 further items"
        if option is None:
            return "none within these limits has the power"
        counts = option.counts
        judge = f"; the judge scores {option.extra + counts.n_items:,} items" if option.extra else ""
        return (
            f"{option.n_labels:,} labels: {counts.n_workers} workers, {counts.n_items:,} items, "
            f"{counted(counts.ratings_per_item, 'rating')} of an item and system{judge}; "
            f"{money(option.total, self.found.request.costs.currency)}, power {option.power.power:.3f}"
        )

    def _caveats(self) -> tuple[str, ...]:
        search, said = self.found, []
        if search.saving is not None and search.saving <= 0:
            said.append("The judge does not pay here: people alone are as cheap.")
        if search.judged is not None:
            said += proof_notes(search.judged.power, search.request.rule, self.simulated)
        return tuple(said)

    def _table(self) -> Table:
        currency = self.found.request.costs.currency
        return table(
            self.found.by_workers,
            {
                "workers": lambda option: str(option.counts.n_workers),
                "items": lambda option: f"{option.counts.n_items:,}",
                "ratings": lambda option: str(option.counts.ratings_per_item),
                "labels": lambda option: f"{option.n_labels:,}",
                "judged more": lambda option: f"{option.extra:,}",
                "df": lambda option: decimals(option.power.precision.df, 1),
                "cost": lambda option: money(option.total, currency),
            },
            caption="The cheapest study with the judge for each number of workers.",
        )

    def _assumed(self) -> tuple[Fact, ...]:
        request = self.found.request
        return (
            ("Effect", f"{self.effect}; power {request.target:g} at alpha {request.rule.alpha:g}"),
            ("Setting", self.setting or "parameters"),
            ("Judge", f"correlation {request.correlation:g}, at most {request.extra:,} further items"),
            (
                "Searched",
                f"{request.workers[0]} to {request.workers[1]} workers, up to "
                f"{counted(request.most_ratings, 'rating')} of an item and system",
            ),
        )

    def content(self) -> Record:
        search, request = self.found, self.found.request
        return {
            "understood": str(self.effect),
            "setting": self.setting,
            "parameters": request.parameters.as_dict(),
            "rule": asdict(request.rule),
            "effect": request.parameters.difference,
            **values(request, "target", "correlation", "extra"),
            "costs": request.costs.as_dict(),
            "price_per_score": str(request.price_per_score),
            "judged": None if search.judged is None else _plain(search.judged),
            "alone": None if search.alone is None else _plain(search.alone),
            "saving": None if search.saving is None else str(search.saving),
            "simulated": proof_record(self.simulated, request.rule),
            "rows": [_plain(option) for option in search.by_workers],
        }


# The proof by simulation, of the cheapest study or of what a budget buys.


def proof_facts(simulated: JudgedReplicates | None, rule: DecisionRule) -> tuple[Fact, ...]:
    """The simulated power, where there is one."""
    if simulated is None:
        return ()
    low, high = simulated.interval(rule.alpha)
    said = (
        f"power {simulated.power(rule.alpha):.3f} ({low:.3f} to {high:.3f}) in {len(simulated.p_values):,} "
        "studies, analysed as 'judge estimate' does"
    )
    return (("Simulated", said),)


def proof_notes(
    power: AnalyticPower, rule: DecisionRule, simulated: JudgedReplicates | None, *, is_judged: bool = True
) -> Iterator[str]:
    """What is to be known of a power by formula, and of its proof, which only studies with a judge have."""
    if simulated is None and is_judged and rule.alternative != "two-sided":
        yield "The plan is by formula alone: only two-sided tests are proved by simulation."
    if power.is_rough:
        said = "With fewer than 5 people the formula is rough"
        yield f"{said}." if simulated is None else f"{said}: trust the simulation."
    if simulated is None:
        return
    low, high = simulated.interval(rule.alpha)
    if not low <= power.power <= high:
        yield f"Formula ({power.power:.3f}) and simulation disagree: trust the simulation."
    if simulated.n_failed:
        yield f"{simulated.n_failed:,} simulated studies could not be fitted; they count as not significant."


def proof_record(simulated: JudgedReplicates | None, rule: DecisionRule) -> Record | None:
    """The simulated power, plain."""
    if simulated is None:
        return None
    return {
        "power": simulated.power(rule.alpha),
        "interval": list(simulated.interval(rule.alpha)),
        "confidence": MONTE_CARLO,
        "n_simulations": len(simulated.p_values),
        "n_failed": simulated.n_failed,
    }


def _plain(option: JudgeOption) -> Record:
    counts = option.counts
    return {
        "workers": counts.n_workers,
        "items": counts.n_items,
        "ratings_per_item": counts.ratings_per_item,
        "labels": option.n_labels,
        "extra": option.extra,
        "power": option.power.power,
        "standard_error": option.power.precision.standard_error,
        "df": option.power.precision.df,
        "human_cost": str(option.price),
        "judge_cost": str(option.judge_price),
        "cost": str(option.total),
    }
