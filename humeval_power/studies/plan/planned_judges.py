"""The judges of a plan: which they are, what their scores cost, and what they add to the study by formula."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from humeval_power.comparisons.judge.budget import BudgetOption, BudgetRequest, JudgePanel, option_of
from humeval_power.comparisons.judge.plan import LEAST_EXTRA, LEAST_ITEMS
from humeval_power.costs import money
from humeval_power.errors import InputError, Problem
from humeval_power.saying.document import Paragraph, Section
from humeval_power.saying.numbers import decimals
from humeval_power.saying.stated import table
from humeval_power.studies.power.questions import smallest_true

if TYPE_CHECKING:
    from humeval_power.studies.plan.plan import Plan

_SEALED = (
    "By formula, if the judges' correlations are as said. The power that the plan promises, and its test, are of "
    "people alone; 'judge estimate --plan' uses these judges, and no others."
)


@dataclass(frozen=True, slots=True)
class PlannedJudges:
    """Judges by name, what is known of them, the `runs` of each on an output, and the `extra` items that they score
    beside those that people rate."""

    names: tuple[str, ...]
    panel: JudgePanel
    runs: tuple[int, ...]
    extra: int

    def __post_init__(self) -> None:
        n, problems = len(self.names), []
        if n != self.panel.n_judges or len(set(self.names)) < n:
            rule = f"must name each of {self.panel.n_judges} judges once."
            problems.append(Problem(rule, "", place="judges"))
        if len(self.runs) != self.panel.n_judges:
            problems.append(Problem("must be one number, or one of each judge.", "", place="judge_runs"))
        if self.extra < LEAST_EXTRA:
            rule = f"must be {LEAST_EXTRA} or more: judges add nothing without further items."
            problems.append(Problem(rule, "", place="judged_extra"))
        if problems:
            raise InputError(problems)

    def said(self) -> Mapping[str, Any]:
        """By the fields of a study."""
        return {
            "judges": self.names,
            "judge_correlation": self.panel.correlations,
            "judge_reliability": self.panel.reliabilities,
            "judges_between": self.panel.between,
            "judge_runs": self.runs,
            "judged_extra": self.extra,
            "cost_per_score": self.panel.prices,
        }


def planned_judges(
    names: tuple[str, ...],
    correlation: tuple[float, ...],
    *,
    extra: int,
    reliability: tuple[float, ...] | None,
    between: float | None,
    runs: tuple[int, ...] | None,
    prices: tuple[Decimal, ...] | None,
) -> PlannedJudges:
    """From the fields of a study, of which one number stands for all judges. Raises InputError: what does not
    go together."""
    n = len(names)

    def of_each(values: tuple[Any, ...] | None, usual: Any) -> tuple[Any, ...]:
        given = (usual,) if values is None else values
        return given * n if len(given) == 1 else given

    try:
        panel = JudgePanel(
            of_each(correlation, 0.0), of_each(reliability, 1.0), of_each(prices, Decimal(0)), between
        )
    except InputError as error:
        raise InputError([_of_study(one) for one in error.problems]) from None
    return PlannedJudges(names, panel, of_each(runs, 1), extra)


_FIELDS = {
    "--correlation": "--judge-correlation",
    "--reliability": "--judge-reliability",
    "--between": "--judges-between",
}


def _of_study(problem: Problem) -> Problem:
    """A problem of a panel by the fields of the study."""
    place, column = (_FIELDS.get(name or "", name) for name in (problem.place, problem.column))
    return replace(problem, place=place, column=column)


def check_judges(plan: Plan) -> None:
    """Refuse judges in a plan whose power with them has no formula. Raises InputError: several systems or
    criteria, categories, looks, documents or workers who see one system each."""
    has = {
        "several systems or criteria": plan.many is not None,
        "ratings as categories": plan.parameters.latent is not None,
        "looks": plan.looks is not None,
        "documents": bool(plan.counts.n_documents),
        "workers who see one system each": not plan.counts.paired,
    }
    if wrong := [name for name, holds in has.items() if holds]:
        raise InputError(
            "Judges are planned beside two systems, rated as numbers by workers who see both; not with "
            f"{' or '.join(wrong)}. Leave them out of this plan."
        )


def beside_judges(plan: Plan) -> Iterator[tuple[str, BudgetOption]]:
    """The planned study without the judges and with them, and with as few items as keep its power."""
    judges, costs = plan.judges, plan.costs
    if judges is None or costs is None:
        return
    request = BudgetRequest(
        parameters=plan.parameters.with_difference(plan.effect),
        panel=judges.panel,
        budget=Decimal(0),
        costs=costs,
        extra=judges.extra,
        rule=plan.rule,
    )
    counts, none = plan.counts, (0,) * len(judges.names)
    alone = option_of(request, counts, 0, none)
    total = counts.n_items + judges.extra

    def judged(items: int) -> BudgetOption:
        return option_of(request, replace(counts, n_items=items), total, judges.runs)

    yield "people alone", alone
    yield "with judges", judged(counts.n_items)
    least = max(LEAST_ITEMS, -(-counts.n_workers // counts.ratings_per_item))
    if least <= counts.n_items:
        fewer = smallest_true(
            lambda items: judged(items).power.power >= alone.power.power, least, counts.n_items
        )
        if fewer is not None and fewer < counts.n_items:
            yield "with judges, fewer items", judged(fewer)


def judges_section(plan: Plan) -> Section:
    """The same study with the judges and without."""
    judges = plan.judges
    assert judges is not None
    currency = "" if plan.costs is None else plan.costs.currency
    rows = table(
        beside_judges(plan),
        {
            "": lambda row: row[0],
            "people": lambda row: f"{row[1].counts.n_workers:,}",
            "items": lambda row: f"{row[1].counts.n_items:,}",
            "ratings": lambda row: f"{2 * row[1].counts.n_items * row[1].counts.ratings_per_item:,}",
            "judged": lambda row: f"{row[1].judged:,}",
            "cost": lambda row: money(row[1].total, currency),
            "power": lambda row: decimals(row[1].power.power, 3),
            "interval": lambda row: f"+-{row[1].power.precision.half_width(plan.rule.alpha):.3g}",
        },
    )
    named = ", ".join(
        f"{name} ({'1 run' if runs == 1 else f'{runs} runs'})"
        for name, runs in zip(judges.names, judges.runs, strict=True)
    )
    said = f"Judges: {named}, of {judges.extra:,} items beside those that people rate."
    return Section("With judges and without", (Paragraph(said), rows, Paragraph(_SEALED)))


def judges_record(plan: Plan) -> dict[str, Any]:
    """The same for the record; nothing without judges."""
    if plan.judges is None:
        return {}
    rows = [
        {
            "study": name,
            "workers": one.counts.n_workers,
            "items": one.counts.n_items,
            "ratings": 2 * one.counts.n_items * one.counts.ratings_per_item,
            "judged": one.judged,
            "cost": str(one.total),
            "power": one.power.power,
            "half_width": one.power.precision.half_width(plan.rule.alpha),
        }
        for name, one in beside_judges(plan)
    ]
    return {"judges": {"names": list(plan.judges.names), "runs": list(plan.judges.runs), "rows": rows}}
