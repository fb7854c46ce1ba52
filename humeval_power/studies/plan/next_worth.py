"""What the next ratings of a study buy: precision, power and price, beside what a new worker would bring."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from humeval_power.designs import Assignment, Design, from_table
from humeval_power.errors import HumevalPowerError, InputError, Problem
from humeval_power.inference.student_t import critical_value
from humeval_power.scales import RatingScale
from humeval_power.studies.plan.under_way import (
    Collecting,
    PairGains,
    StudyUnderWay,
    add_by_gain,
    fewest_first,
    joined_rows,
)
from humeval_power.studies.power.formula import effect_precision
from humeval_power.study_counts import share_of

if TYPE_CHECKING:
    from humeval_power.costs import CostModel
    from humeval_power.studies.plan.plan import Plan

_CENT = Decimal("0.01")
_CONFIDENCE_TAIL = 0.025
_MOST_WORK = 1e8  # steps of choosing by gain, which is shown for comparison alone


@dataclass(frozen=True, slots=True)
class NextWay:
    """A state that a study can be brought to, and what it is worth; NaN where that is not known.

    name : 'stands' (what is given or still expected), 'next' (with the next ratings), 'new' (with as many by new
        workers alone), or 'planned'.
    standard_error, df : of the difference, on [0, 1]; of several systems of the widest comparison. Where looks drop
        systems, at the next look, among those that are left; there is no power of a single look.
    cost : of what it adds; None without prices, and of what adds nothing.
    """

    name: str
    n_ratings: int
    n_workers: int
    n_new: int
    standard_error: float
    df: float
    power: float
    cost: Decimal | None

    def half_width(self, scale: RatingScale | None) -> float:
        """Of the 95 % interval, in points of the scale, or on [0, 1] without one; NaN where there is none."""
        if not self.df > 0:
            return math.nan
        width = 1.0 if scale is None else scale.width
        return width * critical_value(self.df, _CONFIDENCE_TAIL) * self.standard_error


def ways_to_go_on(
    planned: Plan,
    state: StudyUnderWay,
    chosen: Assignment,
    *,
    limit: int | None,
    rates: Sequence[float],
    rng: np.random.Generator,
) -> tuple[NextWay, ...]:
    """What stands, what the chosen ratings make of it, what as many by others would, and what was planned.

    rates : of checks and repeats.
    """
    base, n = state.plan.design, len(chosen.item)
    n_alone = -(-n // state.usual_load)
    n_beside = n_beyond(chosen, state)
    others = {
        "left": state.collecting(0, limit=limit, rates=rates, most=n) if n_beside else None,
        "new": state.collecting(n_alone, limit=limit, rates=rates, most=n, alone=True)
        if n_beside < len(np.unique(chosen.worker))
        else None,
    }
    added: dict[str, Assignment | None] = {"stands": None, "next": chosen}
    for name, values in others.items():
        rows = None if values is None else fewest_first(values, n, rng)
        if rows is not None and len(rows.item) == n:
            added[name] = rows
    ways = []
    for name, more in added.items():
        rows = state.rows if more is None else joined_rows(state.rows, more)
        n_fresh = 0 if more is None else n_beyond(more, state)
        cost = None
        if more is not None and planned.costs is not None:
            cost = cost_of_batch(planned.costs, more, base, rates=rates, n_new=n_fresh)
        sizes, precision = _worth(planned, state, rows)
        ways.append(NextWay(name, *sizes, n_fresh, *precision, cost))
    sizes, precision = _worth(planned, state, None)
    return (*ways, NextWay("planned", *sizes, 0, *precision, None))


def n_beyond(more: Assignment, state: StudyUnderWay) -> int:
    """How many new workers give these ratings."""
    return len(np.unique(more.worker[more.worker >= len(state.slot_of)]))


def _worth(
    planned: Plan, state: StudyUnderWay, rows: Assignment | None
) -> tuple[tuple[int, int], tuple[float, float, float]]:
    """Ratings and workers, and standard error, df and power with them; None: of what was planned."""
    if state.stage is None:
        design = planned.design() if rows is None else _design_of(rows, state.plan.design)
        return _sizes(design), _precision(planned, design)
    rows = state.planned_rows if rows is None else rows
    left = np.isin(rows.system, state.systems)
    sizes = int(left.sum()), len(np.unique(rows.worker[left]))
    widest = math.nan, math.nan
    assert planned.many is not None
    for a, b in combinations(state.systems.tolist(), 2):
        of_both = np.intersect1d(rows.worker[rows.system == a], rows.worker[rows.system == b])
        mine = np.isin(rows.worker, of_both) & np.isin(rows.system, (a, b))
        pair = Assignment(rows.worker[mine], rows.item[mine], (rows.system[mine] == b).astype(np.int64))
        design = _design_of(pair, replace(state.plan.design, n_systems=2))
        if design is None:
            continue
        found = effect_precision(planned.many.parameters.pair(a, b), design)
        if not widest[0] >= found.standard_error:
            widest = found.standard_error, found.df
    return sizes, (*widest, math.nan)


def _sizes(design: Design | None) -> tuple[int, int]:
    return (0, 0) if design is None else (design.n_ratings, design.n_workers)


def _design_of(rows: Assignment, base: Design) -> Design | None:
    """The design of these ratings; None where they are too few to be one."""
    if not len(rows.item):
        return None
    worker, item = (np.unique(codes, return_inverse=True)[1] for codes in (rows.worker, rows.item))
    document = None
    if base.document_of_item is not None:
        document = np.unique(base.document_of_item[rows.item], return_inverse=True)[1]
    try:
        return from_table(worker, item, rows.system, document=document, n_systems=base.n_systems)
    except HumevalPowerError:
        return None


def _precision(planned: Plan, design: Design | None) -> tuple[float, float, float]:
    """Standard error, df and power of one test at the end; of several systems those of the widest comparison, and
    of the goal. NaN where so little is collected that there is no test."""
    from humeval_power.studies.plan.planned_systems import goals_by_formula
    from humeval_power.studies.power.formula import analytic_power
    from humeval_power.studies.power.systems_precision import systems_precision

    if design is None:
        return math.nan, math.nan, math.nan
    try:
        if planned.many is None:
            result = analytic_power(planned.study().parameters, design, rule=planned.rule)
            return result.precision.standard_error, result.precision.df, result.power
        power = goals_by_formula(planned.many, design, planned.rule).power
        widest = systems_precision(planned.many.parameters, design, planned.many.family)
        place = int(widest.standard_error.argmax())
        return float(widest.standard_error[place]), float(widest.df[place]), float(power)
    except (HumevalPowerError, np.linalg.LinAlgError):
        return math.nan, math.nan, math.nan


def cost_of_batch(
    costs: CostModel, more: Assignment, base: Design, *, rates: Sequence[float], n_new: int
) -> Decimal:
    """What these ratings cost, with their checks and repeats, and recruiting so many of their workers; items and
    outputs are paid already. Where a platform charges by the assignment, HITs are priced as those of the plan."""
    from humeval_power.costs import cost_of, fee_on, rewards_of

    recruiting = costs.cost_per_worker * n_new
    recruiting += fee_on(recruiting, costs.fee).fee
    workers, worker = np.unique(more.worker, return_inverse=True)
    if costs.fee.charged_per == "study":
        loads = np.bincount(worker)
        shown = loads + sum(share_of(rate, loads) for rate in rates)
        rewards = rewards_of(shown.tolist(), costs, alike=False)
        return ((rewards.paid + rewards.fee) / (1 - costs.rejected_share) + recruiting).quantize(_CENT)
    rows = Assignment(worker.astype(np.int64), more.item, more.system)
    design = replace(
        base,
        kind="table",
        n_workers=len(workers),
        n_documents=0,
        document_of_item=None,
        explicit=rows,
        ratings_per_item=1.0,
    )
    zero = Decimal(0)
    work = replace(
        costs, cost_per_worker=zero, cost_per_document=zero, cost_per_item=zero, cost_per_output=zero
    )
    return (cost_of(design, work).total + recruiting).quantize(_CENT)


def check_budget(
    planned: Plan, state: StudyUnderWay, chosen: Assignment, budget: Decimal, *, rates: Sequence[float]
) -> None:
    """Refuse ratings that a budget does not pay beside what is given or expected. Raises InputError: a plan
    without prices, or ratings that cost more than is left."""
    from humeval_power.costs import money

    if planned.costs is None:
        raise InputError([Problem("--budget needs prices, and the plan has none.", "Leave it out.")])
    base, paid = state.plan.design, state.paid
    spent = Decimal(0)
    if len(paid.item):
        spent = cost_of_batch(planned.costs, paid, base, rates=rates, n_new=len(np.unique(paid.worker)))
    new = cost_of_batch(planned.costs, chosen, base, rates=rates, n_new=n_beyond(chosen, state))
    if spent + new > budget:
        currency = planned.costs.currency
        left = max(budget - spent, Decimal(0))
        rule = (
            f"These ratings cost {money(new, currency)}, and {money(left, currency)} are left of the budget of "
            f"{money(budget, currency)}: what is given or expected costs {money(spent, currency)}, without "
            "items and outputs."
        )
        raise InputError([Problem(rule, "Ask for fewer, or raise the budget.")])


def errors_by_gain(planned: Plan, collecting: Collecting, chosen: Assignment) -> tuple[float, float] | None:
    """Standard errors of the difference that is planned for with the chosen cells, and with as many of the largest
    gain; None where cells are not pairs alone, or too many."""
    n_systems = collecting.shown.shape[1]
    coded = planned.parameters.recoded()
    n_cells = len(chosen.item) // n_systems
    size = 1 + sum(collecting.seen.shape)
    if collecting.systems is not None:
        return None
    if not collecting.whole or planned.counts.n_documents or n_cells * float(size) ** 2 > _MOST_WORK:
        return None
    rows = collecting.rows
    outputs = np.unique((rows.worker * collecting.seen.shape[1] + rows.item) * n_systems + rows.system)
    meetings, times = np.unique(outputs // n_systems, return_counts=True)
    worker, item = np.divmod(meetings[times == n_systems], collecting.seen.shape[1])
    if not len(worker):
        return None
    gains = PairGains(
        worker,
        item,
        (len(collecting.room), collecting.seen.shape[1]),
        sd_worker=coded.sd_worker_slope,
        sd_item=coded.sd_item_slope,
        sd_residual=coded.sd_residual,
    )
    first = chosen.system == 0
    plain = gains.variance - gains.of_batch(chosen.worker[first], chosen.item[first])
    add_by_gain(gains, ~collecting.seen, collecting.room // n_systems, n_cells)
    return math.sqrt(plain), math.sqrt(gains.variance)
