"""Studies with a judge before anybody rates: the labels that they need, their cost, and what a budget buys."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.comparisons.judge.budget import BudgetOption, BudgetSearch
from humeval_power.comparisons.judge.plan import (
    MONTE_CARLO,
    JudgedReplicates,
    JudgeOption,
    JudgeSearch,
)
from humeval_power.comparisons.judge.result_answers import ASSUMED
from humeval_power.costs import money
from humeval_power.differences import Difference
from humeval_power.saying.answer_words import finding_words, of_hundred
from humeval_power.saying.document import Document, Fact, Facts, Listing, Paragraph, Section, Table
from humeval_power.saying.numbers import counted, decimals, percent
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record, Result
from humeval_power.saying.stated import table
from humeval_power.studies.power.formula import AnalyticPower

_RESTS = (
    "A correlation is that of a judge's difference on an item with the item's true difference; 'judge estimate' "
    "reports it where a pilot says who rated. A judge that is worth less needs more labels, or has less power: "
    "plan for the low end."
)
_DRAWN = "A random part of all that the judge scores; in strata by its scores they say as much or more:"


@dataclass(frozen=True, kw_only=True)
class _SearchResult(Result):
    """The best study with the judge and without, and its proof by simulation, None where none was asked for."""

    found: JudgeSearch | BudgetSearch
    effect: Difference
    simulated: JudgedReplicates | None = None
    setting: str = ""

    def _proof_facts(self) -> Iterator[Fact]:
        if self.simulated is not None:
            alpha = self.found.request.rule.alpha
            low, high = self.simulated.interval(alpha)
            yield (
                "Simulated",
                f"power {self.simulated.power(alpha):.3f} ({low:.3f} to {high:.3f}) in "
                f"{len(self.simulated.p_values):,} studies, analysed as 'judge estimate' does",
            )

    def _proof_notes(self, power: AnalyticPower, *, is_judged: bool = True) -> Iterator[str]:
        """What is to be known of a power by formula, and of its proof, which only studies with a judge have."""
        rule, simulated = self.found.request.rule, self.simulated
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

    def _who_is_rated(self) -> Iterator[Section]:
        """The command that draws the items that people rate, of a study with a judge."""
        if (judged := self.found.judged) is not None:
            line = f"humeval-power judge sample SCORES.csv --n {judged.counts.n_items} -o sample.csv"
            yield Section("Which items people rate", (Paragraph(_DRAWN), Listing(line)), is_detail=True)

    def _rests_on(self, effect: str, *judges: Fact, people: str, more: str = "") -> Section:
        request = self.found.request
        searched = (
            f"{request.workers[0]} to {request.workers[1]} {people}, up to "
            f"{counted(request.most_ratings, 'rating')} of an item and system{more}"
        )
        asked = (("Effect", f"{self.effect}; {effect}"), ("Setting", self.setting or "parameters"))
        facts = Facts((*asked, *judges, ("Searched", searched)))
        return Section("What it rests on", (facts, Paragraph(_RESTS), Paragraph(ASSUMED)))

    def _record(self, **numbers: object) -> Record:
        """What was asked, these numbers, and the proof."""
        request, simulated = self.found.request, self.simulated
        alpha = request.rule.alpha
        return {
            "understood": str(self.effect),
            "setting": self.setting,
            "parameters": request.parameters.as_dict(),
            "rule": asdict(request.rule),
            "effect": request.parameters.difference,
            "costs": request.costs.as_dict(),
            "extra": request.extra,
            **numbers,
            "simulated": simulated
            and {
                "power": simulated.power(alpha),
                "interval": list(simulated.interval(alpha)),
                "confidence": MONTE_CARLO,
                "n_simulations": len(simulated.p_values),
                "n_failed": simulated.n_failed,
            },
        }


def _option(option: JudgeOption | BudgetOption, **judge: object) -> Record:
    """A study as plain values, with what the judge does in it."""
    return {
        "workers": option.counts.n_workers,
        "items": option.counts.n_items,
        "ratings_per_item": option.counts.ratings_per_item,
        "power": option.power.power,
        "standard_error": option.power.precision.standard_error,
        "df": option.power.precision.df,
        **judge,
        "human_cost": str(option.price),
        "judge_cost": str(option.judge_price),
        "cost": str(option.total),
    }


@dataclass(frozen=True, kw_only=True)
class JudgePlan(_SearchResult):
    """The cheapest study with the judge and without."""

    schema: ClassVar[str] = "humeval_power/judge_plan/1"

    found: JudgeSearch

    @property
    def missed(self) -> str:
        has_one = self.found.judged is not None or self.found.alone is not None
        return "" if has_one else "No study within the limits has the power."

    def body(self) -> Document:
        search, request = self.found, self.found.request
        by_workers = table(
            search.by_workers,
            {
                "workers": lambda option: str(option.counts.n_workers),
                "items": lambda option: f"{option.counts.n_items:,}",
                "ratings": lambda option: str(option.counts.ratings_per_item),
                "labels": lambda option: f"{option.n_labels:,}",
                "judged more": lambda option: f"{option.extra:,}",
                "df": lambda option: decimals(option.power.precision.df, 1),
                "cost": lambda option: money(option.total, request.costs.currency),
            },
            caption="The cheapest study with the judge for each number of workers.",
        )
        judge = f"correlation {request.correlation:g}, at most {request.extra:,} further items"
        effect = f"power {request.target:g} at alpha {request.rule.alpha:g}"
        return Document(
            "Human labels for a study with a judge",
            lead=self._lead(),
            headline=tuple(self._facts()),
            caveats=tuple(self._caveats()),
            sections=(
                Section("By number of workers", (by_workers,) if search.by_workers else ()),
                *self._who_is_rated(),
                self._rests_on(effect, ("Judge", judge), people="workers"),
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

    def _facts(self) -> Iterator[Fact]:
        search, currency = self.found, self.found.request.costs.currency
        yield "With the judge", self._said(search.judged)
        yield "Humans alone", self._said(search.alone)
        if search.saving is not None and search.alone is not None:
            share = percent(float(search.saving / search.alone.total)) if search.alone.total else "-"
            word = "The judge saves" if search.saving >= 0 else "The judge costs"
            yield word, f"{money(abs(search.saving), currency)} ({share})"
        yield from self._proof_facts()

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

    def _caveats(self) -> Iterator[str]:
        search = self.found
        if search.saving is not None and search.saving <= 0:
            yield "The judge does not pay here: people alone are as cheap."
        if search.judged is not None:
            yield from self._proof_notes(search.judged.power)

    def content(self) -> Record:
        search, request = self.found, self.found.request

        def plain(option: JudgeOption) -> Record:
            return _option(option, labels=option.n_labels, extra=option.extra)

        return self._record(
            **values(request, "target", "correlation"),
            price_per_score=str(request.price_per_score),
            judged=search.judged and plain(search.judged),
            alone=search.alone and plain(search.alone),
            saving=None if search.saving is None else str(search.saving),
            rows=list(map(plain, search.by_workers)),
        )


# What a budget buys.

_MUCH = 0.5  # of the variance that raters carry, from which a judge cannot help much


@dataclass(frozen=True, kw_only=True)
class JudgeBudget(_SearchResult):
    """The most powerful study that the budget buys, with judges and without."""

    schema: ClassVar[str] = "humeval_power/judge_budget/1"

    found: BudgetSearch

    @property
    def missed(self) -> str:
        return "" if self.found.best is not None else "The budget buys no study within the limits."

    def body(self) -> Document:
        return Document(
            "What a budget buys with a judge",
            lead=self._lead(),
            headline=tuple(self._facts()),
            caveats=tuple(self._caveats()),
            sections=tuple(self._sections()),
        )

    def _sections(self) -> Iterator[Section]:
        search, request, panel = self.found, self.found.request, self.found.request.panel
        if search.best is not None:
            header = ("share of", "raters", "items", "ratings", "the judge's mean")
            rows = ((name.lower(), *map(percent, option.shares)) for name, option in self._options)
            yield Section("Where the variance lies", (Table(header, tuple(rows)),))
        if search.by_workers:
            by_workers = table(
                search.by_workers,
                {
                    "raters": lambda option: str(option.counts.n_workers),
                    "items": lambda option: f"{option.counts.n_items:,}",
                    "ratings": lambda option: str(option.counts.ratings_per_item),
                    "judged": lambda option: f"{option.judged:,}",
                    "runs": lambda option: " + ".join(map(str, option.runs)),
                    "df": lambda option: decimals(option.power.precision.df, 1),
                    "power": lambda option: decimals(option.power.power, 3),
                },
                caption="The most powerful study with the judge for each number of raters.",
            )
            yield Section("By number of raters", (by_workers,), is_detail=len(by_workers.rows) > 20)
        if search.helps:
            yield from self._who_is_rated()
        correlations = ", ".join(f"{one:g}" for one in panel.correlations)
        between = "" if panel.between is None else f", {panel.between:g} with each other"
        reliabilities = ", ".join(f"{one:g}" for one in panel.reliabilities)
        yield self._rests_on(
            f"alpha {request.rule.alpha:g}",
            (
                "Judge" if panel.n_judges == 1 else "Judges",
                f"correlation {correlations} with the truth but for the noise of runs{between}",
            ),
            ("Runs", f"correlate {reliabilities}; up to {request.most_runs} tried"),
            people="raters",
            more=f", at most {request.extra:,} further items",
        )

    def _lead(self) -> str:
        search, best = self.found, self.found.best
        amount = money(search.request.budget, search.request.costs.currency)
        if best is None:
            return f"{amount} buy no study of {search.request.workers[0]} raters or more."
        if best.total < search.request.budget / 2:
            amount = f"{money(best.total, search.request.costs.currency)} of {amount}"
        said = f"{amount} buy {self._said(best)}. Then {of_hundred(best.power.power)} of 100 such studies "
        said += f"{finding_words(self.effect, search.request.rule)}; by formula."
        if best is search.judged and search.alone is not None:
            return f"{said} Without a judge {of_hundred(search.alone.power.power)} would."
        if search.judged is None:
            return f"{said} They buy no study with a judge within the limits."
        return f"{said} A judge does not pay here: with it {of_hundred(search.judged.power.power)} would."

    def _said(self, option: BudgetOption) -> str:
        counts = option.counts
        people = (
            f"{counted(counts.n_workers, 'rater')}, {counted(counts.n_items, 'item')} with "
            f"{counted(counts.ratings_per_item, 'rating')} for each system"
        )
        if not option.judged:
            return people
        runs = " + ".join(map(str, option.runs))
        many = "run" if option.runs == (1,) else "runs"
        return f"{people}, and {option.judged:,} judged items ({runs} {many})"

    @property
    def _options(self) -> list[tuple[str, BudgetOption]]:
        options = (("With the judge", self.found.judged), ("Humans alone", self.found.alone))
        return [(name, option) for name, option in options if option is not None]

    def _facts(self) -> Iterator[Fact]:
        search, rule = self.found, self.found.request.rule
        currency = search.request.costs.currency
        for label, option in self._options:
            half_width = option.power.precision.half_width(rule.alpha)
            yield (
                label,
                f"power {option.power.power:.3f}, interval +-{half_width:.4g}; {money(option.total, currency)}, "
                f"{money(option.judge_price, currency)} of it for scores",
            )
        yield from self._proof_facts()
        if search.closed is not None and search.judged is not None:
            closed, best = search.closed, search.judged
            yield (
                "Closed form",
                f"standard error {closed.standard_error:.4g} at {_many(closed.workers)} raters, "
                f"{_many(closed.items)} items, {_many(closed.judged)} judged; "
                f"{best.power.precision.standard_error:.4g} as searched, which minds whole numbers and "
                "degrees of freedom",
            )

    def _caveats(self) -> Iterator[str]:
        request, best = self.found.request, self.found.best
        if best is None:
            return
        if best.shares[0] >= _MUCH:
            yield (
                f"Raters carry {percent(best.shares[0])} of the variance: no judge takes that away, only "
                "more raters do."
            )
        highest = request.workers[1]
        if best.counts.n_workers == highest:
            yield f"More than {highest} raters were not tried and may be better: --max-workers."
        yield from self._proof_notes(best.power, is_judged=self.found.helps)

    def content(self) -> Record:
        search, request, panel = self.found, self.found.request, self.found.request.panel

        def plain(option: BudgetOption) -> Record:
            parts = ("raters", "items", "ratings", "judge_mean")
            return _option(
                option,
                **values(option, "judged", "runs", "r_squared"),
                half_width=option.power.precision.half_width(request.rule.alpha),
                variance_shares=dict(zip(parts, option.shares, strict=True)),
            )

        return self._record(
            budget=str(request.budget),
            judges={
                **values(panel, "correlations", "reliabilities", "between"),
                "prices": list(map(str, panel.prices)),
            },
            helps=search.helps,
            judged=search.judged and plain(search.judged),
            alone=search.alone and plain(search.alone),
            closed_form=search.closed and asdict(search.closed),
            rows=list(map(plain, search.by_workers)),
        )


def _many(size: float) -> str:
    """A number of the closed form, which has no limit where the price is nothing."""
    return "endless" if math.isinf(size) else f"{size:,.0f}"
