"""What a budget buys with judges and without: the study, its power, and where judges cannot help."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.comparisons.judge.budget import BudgetOption, BudgetSearch
from humeval_power.comparisons.judge.plan import JudgedReplicates
from humeval_power.comparisons.judge.result_answers import ASSUMED
from humeval_power.comparisons.judge.result_plan import (
    RESTS,
    proof_facts,
    proof_notes,
    proof_record,
    who_is_rated,
)
from humeval_power.costs import money
from humeval_power.differences import Difference
from humeval_power.saying.answer_words import finding_words, of_hundred
from humeval_power.saying.document import Document, Fact, Facts, Paragraph, Section, Table
from humeval_power.saying.numbers import counted, decimals, percent
from humeval_power.saying.result import Record, Result
from humeval_power.saying.stated import table

_MUCH = 0.5  # of the variance that raters carry, from which a judge cannot help much
_MOST_ROWS = 20  # numbers of raters that a terminal shows
_PARTS = ("raters", "items", "ratings", "the judge's mean")


@dataclass(frozen=True, kw_only=True)
class JudgeBudget(Result):
    """The most powerful study that the budget buys, with judges and without, and its proof by simulation."""

    schema: ClassVar[str] = "humeval_power/judge_budget/1"

    found: BudgetSearch
    effect: Difference
    simulated: JudgedReplicates | None = None
    setting: str = ""

    @property
    def missed(self) -> str:
        """Why no study is given; '' where one is."""
        return "" if self.found.best is not None else "The budget buys no study within the limits."

    def body(self) -> Document:
        search = self.found
        rows = (self._table(),) if search.by_workers else ()
        return Document(
            "What a budget buys with a judge",
            lead=self._lead(),
            headline=self._facts(),
            caveats=self._caveats(),
            sections=(
                *(
                    (Section("Where the variance lies", (self._variance(),)),)
                    if search.best is not None
                    else ()
                ),
                *(
                    (Section("By number of raters", rows, is_detail=len(search.by_workers) > _MOST_ROWS),)
                    if rows
                    else ()
                ),
                *(
                    (who_is_rated(search.judged.counts.n_items),)
                    if search.helps and search.judged is not None
                    else ()
                ),
                Section("What it rests on", (Facts(self._assumed()), RESTS, Paragraph(ASSUMED))),
            ),
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

    def _facts(self) -> tuple[Fact, ...]:
        search, facts = self.found, []
        for label, option in (("With the judge", search.judged), ("Humans alone", search.alone)):
            if option is not None:
                cost = money(option.total, search.request.costs.currency)
                facts.append(
                    (
                        label,
                        f"power {option.power.power:.3f}, interval "
                        f"+-{option.power.precision.half_width(search.request.rule.alpha):.4g}; {cost}, "
                        f"{money(option.judge_price, search.request.costs.currency)} of it for scores",
                    )
                )
        facts += proof_facts(self.simulated, search.request.rule)
        if search.closed is not None and search.judged is not None:
            closed, best = search.closed, search.judged
            facts.append(
                (
                    "Closed form",
                    f"standard error {closed.standard_error:.4g} at {_many(closed.workers)} raters, "
                    f"{_many(closed.items)} items, {_many(closed.judged)} judged; "
                    f"{best.power.precision.standard_error:.4g} as searched, which minds whole numbers and "
                    "degrees of freedom",
                )
            )
        return tuple(facts)

    def _caveats(self) -> tuple[str, ...]:
        request, best, said = self.found.request, self.found.best, []
        if best is None:
            return ()
        if best.shares[0] >= _MUCH:
            said.append(
                f"Raters carry {percent(best.shares[0])} of the variance: no judge takes that away, only "
                "more raters do."
            )
        highest = request.workers[1]
        if best.counts.n_workers == highest:
            said.append(f"More than {highest} raters were not tried and may be better: --max-workers.")
        said += proof_notes(best.power, request.rule, self.simulated, is_judged=self.found.helps)
        return tuple(said)

    def _variance(self) -> Table:
        options = [("with the judge", self.found.judged), ("humans alone", self.found.alone)]
        named = [(name, option) for name, option in options if option is not None]
        columns: dict[str, Callable[[tuple[str, BudgetOption]], str]] = {"share of": lambda row: row[0]}
        for place, part in enumerate(_PARTS):
            columns[part] = lambda row, place=place: percent(row[1].shares[place])  # type: ignore[misc]
        return table(named, columns)

    def _table(self) -> Table:
        rows = self.found.by_workers
        return table(
            rows,
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

    def _assumed(self) -> tuple[Fact, ...]:
        request, panel = self.found.request, self.found.request.panel
        correlations = ", ".join(f"{one:g}" for one in panel.correlations)
        between = "" if panel.between is None else f", {panel.between:g} with each other"
        reliabilities = ", ".join(f"{one:g}" for one in panel.reliabilities)
        return (
            ("Effect", f"{self.effect}; alpha {request.rule.alpha:g}"),
            ("Setting", self.setting or "parameters"),
            (
                "Judge" if panel.n_judges == 1 else "Judges",
                f"correlation {correlations} with the truth but for the noise of runs{between}",
            ),
            ("Runs", f"correlate {reliabilities}; up to {request.most_runs} tried"),
            (
                "Searched",
                f"{request.workers[0]} to {request.workers[1]} raters, up to "
                f"{counted(request.most_ratings, 'rating')} of an item and system, at most "
                f"{request.extra:,} further items",
            ),
        )

    def content(self) -> Record:
        search, request = self.found, self.found.request
        panel = request.panel
        return {
            "understood": str(self.effect),
            "setting": self.setting,
            "parameters": request.parameters.as_dict(),
            "rule": asdict(request.rule),
            "effect": request.parameters.difference,
            "budget": str(request.budget),
            "costs": request.costs.as_dict(),
            "judges": {
                "correlations": list(panel.correlations),
                "reliabilities": list(panel.reliabilities),
                "prices": [str(one) for one in panel.prices],
                "between": panel.between,
            },
            "extra": request.extra,
            "helps": search.helps,
            "judged": None if search.judged is None else _plain(search.judged, request.rule.alpha),
            "alone": None if search.alone is None else _plain(search.alone, request.rule.alpha),
            "closed_form": None if search.closed is None else asdict(search.closed),
            "simulated": proof_record(self.simulated, request.rule),
            "rows": [_plain(option, request.rule.alpha) for option in search.by_workers],
        }


def _plain(option: BudgetOption, alpha: float) -> Record:
    counts = option.counts
    return {
        "workers": counts.n_workers,
        "items": counts.n_items,
        "ratings_per_item": counts.ratings_per_item,
        "judged": option.judged,
        "runs": list(option.runs),
        "r_squared": option.r_squared,
        "power": option.power.power,
        "standard_error": option.power.precision.standard_error,
        "df": option.power.precision.df,
        "half_width": option.power.precision.half_width(alpha),
        "variance_shares": dict(
            zip(("raters", "items", "ratings", "judge_mean"), option.shares, strict=True)
        ),
        "human_cost": str(option.price),
        "judge_cost": str(option.judge_price),
        "cost": str(option.total),
    }


def _many(size: float) -> str:
    """A number of the closed form, which has no limit where the price is nothing."""
    return "endless" if math.isinf(size) else f"{size:,.0f}"
