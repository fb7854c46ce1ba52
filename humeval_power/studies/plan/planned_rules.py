"""Rules for leaving workers out, as a plan seals them, and what they cost in power; and planned judges."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from humeval_power.choices import Exclusion
from humeval_power.comparisons.judge.budget import BudgetOption, BudgetRequest, JudgePanel, option_of
from humeval_power.comparisons.judge.plan import LEAST_EXTRA, LEAST_ITEMS
from humeval_power.costs import money
from humeval_power.errors import InputError, Problem
from humeval_power.exclusions import ExclusionRules
from humeval_power.saying.document import Paragraph, Section
from humeval_power.saying.numbers import decimals
from humeval_power.saying.stated import table
from humeval_power.simulation.losses import CAREFUL, Losses
from humeval_power.simulation.quality_control import QualityControl
from humeval_power.studies.power.estimate import PowerEstimate, estimate_power
from humeval_power.studies.power.questions import smallest_true
from humeval_power.studies.power.replication import Replication
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.workload import study_workload
from humeval_power.sweep.blocks import Block, run_blocks
from humeval_power.sweep.versions import spans

if TYPE_CHECKING:
    from humeval_power.studies.plan.plan import Plan


# Which share of the workers is left out of a study.


@dataclass(frozen=True, slots=True)
class WorkersOut:
    """Shares of workers whom rules leave out, of the careful and of the careless ones; NaN where there are none."""

    careful: float
    careless: float

    def of_all(self, careless: float) -> float:
        """Of all workers, of whom the share `careless` does not care."""
        out = 0.0 if careless == 0 else careless * self.careless
        return out + (1 - careless) * self.careful


NOBODY_OUT = WorkersOut(0.0, 0.0)


def expected_out(exclusion: Exclusion) -> WorkersOut:
    """Shares without knowing more: careless workers are found wherever somebody is left out."""
    return NOBODY_OUT if exclusion == "none" else WorkersOut(0.0, 1.0)


_COUNTED = 400  # studies in which workers are counted; their ratings need no fit
_COUNTED_TOGETHER = 100


@dataclass(frozen=True, slots=True)
class RulesCost:
    """What rules cost, by simulation at the effect of interest.

    `out` are the workers left out. `power` is that of the study with the rules, `without` the same if nobody
    were left out, and `all_careful` if moreover nobody were careless; NaN where it was not simulated.
    """

    out: WorkersOut
    power: float = math.nan
    without: float = math.nan
    all_careful: float = math.nan
    n_simulations: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRules:
    """Rules as they are sealed, with what was assumed to say what they cost: attention `checks` and outputs shown
    again (`repeats`) as shares of a worker's ratings, and the share of `careless` workers."""

    rules: ExclusionRules
    checks: float = 0.0
    repeats: float = 0.0
    careless: float = 0.0
    cost: RulesCost


@dataclass(frozen=True, slots=True)
class _ExclusionCounts:
    """Workers of simulated studies, and how many of them are left out."""

    careful: int = 0
    careful_out: int = 0
    careless: int = 0
    careless_out: int = 0

    def __add__(self, other: _ExclusionCounts) -> _ExclusionCounts:
        return _ExclusionCounts(
            self.careful + other.careful,
            self.careful_out + other.careful_out,
            self.careless + other.careless,
            self.careless_out + other.careless_out,
        )


def workers_out(study: RatingStudy, *, seed: int, n: int = _COUNTED, n_jobs: int = 1) -> WorkersOut:
    """Shares of workers whom the rules of a study leave out, over simulated studies."""
    each = study_workload(study.design, n_simulations=1).seconds
    blocks = [
        Block(count_workers_out, (study.replication, seed, *part), each * part.n, part.n)
        for part in spans(n, _COUNTED_TOGETHER)
    ]
    counts = sum(run_blocks(blocks, n_jobs=n_jobs), start=_ExclusionCounts())
    return WorkersOut(
        counts.careful_out / counts.careful if counts.careful else math.nan,
        counts.careless_out / counts.careless if counts.careless else math.nan,
    )


def count_workers_out(
    replication: Replication, seed: int, first: int, n: int, *, n_jobs: int = 1
) -> _ExclusionCounts:
    """The work of a block: who is left out of studies `first` to `first + n - 1`."""
    with ThreadPoolExecutor(n_jobs) as pool:
        back = list(pool.map(partial(replication.collected, seed), range(first, first + n)))
    out = np.concatenate([one.excluded for one in back])
    careful = np.concatenate([one.kind for one in back]) == CAREFUL
    return _ExclusionCounts(
        int(careful.sum()), int(out[careful].sum()), int((~careful).sum()), int(out[~careful].sum())
    )


def planned_rules(
    study: RatingStudy, estimate: PowerEstimate | None, *, seed: int, n_jobs: int = 1
) -> PlannedRules | None:
    """The rules of a study with what they cost; None without rules.

    found : simulated power with the rules; None where only the workers are counted whom they leave out.
    """
    control, losses = study.exclusion, study.losses
    if not isinstance(control, QualityControl):
        return None
    cost = RulesCost(workers_out(study, seed=seed, n_jobs=n_jobs))
    if estimate is not None:
        cost = _with_power(cost, study, estimate, seed=seed, n_jobs=n_jobs)
    return PlannedRules(
        rules=control.rules,
        checks=control.checks,
        repeats=control.repeats,
        careless=losses.careless,
        cost=cost,
    )


def _with_power(
    cost: RulesCost, study: RatingStudy, estimate: PowerEstimate, *, seed: int, n_jobs: int
) -> RulesCost:
    def power(losses: Losses) -> float:
        return estimate_power(
            replace(study, losses=losses, exclusion="none"),
            n_simulations=estimate.n_simulations,
            seed=seed,
            n_jobs=n_jobs,
        ).power

    careful = replace(study.losses, at_random=0.0, straight_lining=0.0)
    all_careful = power(careful)
    without = all_careful if careful == study.losses else power(study.losses)
    return replace(
        cost,
        power=estimate.power,
        without=without,
        all_careful=all_careful,
        n_simulations=estimate.n_simulations,
    )


# The judges of a plan: which they are, what their scores cost, and what they add to the study by formula.

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
