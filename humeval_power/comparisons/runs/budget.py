"""A budget divided between items and runs: generations of each item, or prompts for all items."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from humeval_power.comparisons.runs.scenario import (
    RunsCeiling,
    RunsPlan,
    RunsScenario,
    ceilings,
    runs_scenario,
)
from humeval_power.errors import Problem, refusal, refuse
from humeval_power.runs_parameters import RunsParameters

MOST_RUNS = 100  # generations of an item, or prompts, that are looked at
MOST_ITEMS = 1_000_000
_ALIKE = 1e-9  # of power: the cheaper of two splits is then the better
_WAYS = ("call", "item", "prompt")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsPrices:
    """What one call of a system costs, an item (to write, or to grade), and a prompt (to write)."""

    call: Decimal
    item: Decimal = Decimal(0)
    prompt: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        problems = [
            Problem(
                "A price cannot be negative.",
                "",
                place=f"--cost-per-{way}",
                value=f"{price}",
                has_value=True,
            )
            for way in _WAYS
            if (price := getattr(self, way)) < 0
        ]
        refuse(problems)

    def of(self, n_items: int, runs: int, *, crossed: bool) -> Decimal:
        """What so many items cost with so many runs of each by both systems."""
        prompts = runs * self.prompt if crossed else Decimal(0)
        return prompts + n_items * self.for_an_item(runs)

    def for_an_item(self, runs: int) -> Decimal:
        """An item with its calls of both systems."""
        return self.item + 2 * runs * self.call

    def items_for(self, total: Decimal, runs: int, *, crossed: bool) -> int:
        """How many items a total pays for; `MOST_ITEMS` where they cost nothing."""
        left, each = total - (runs * self.prompt if crossed else 0), self.for_an_item(runs)
        if left < 0:
            return 0
        return MOST_ITEMS if each == 0 else min(int(left // each), MOST_ITEMS)


@dataclass(frozen=True, slots=True)
class Split:
    """Items and runs (of each item by each system, or prompts), their cost and how often they find an effect."""

    n_items: int
    runs: int
    cost: Decimal
    power: float
    standard_error: float


@dataclass(frozen=True, slots=True)
class BudgetStep:
    """What one more of something buys, beyond the budget: `what` is 'item', 'run' or 'prompt'."""

    what: str
    split: Split
    cost: Decimal
    gain: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsBudget:
    """The best split of a total, all others by their number of runs, and what limits it."""

    parameters: RunsParameters
    effect: float
    total: Decimal
    prices: RunsPrices
    best: Split
    splits: tuple[Split, ...]
    steps: tuple[BudgetStep, ...]
    ceilings: tuple[RunsCeiling, RunsCeiling]
    scenario: RunsScenario

    @property
    def neighbours(self) -> tuple[Split, ...]:
        """The best split and up to three with fewer and with more runs."""
        place = self.splits.index(self.best)
        return self.splits[max(place - 3, 0) : place + 4]


def divide_budget(
    parameters: RunsParameters,
    plan: RunsPlan,
    *,
    effect: float,
    total: Decimal,
    prices: RunsPrices,
    most_items: int | None = None,
    most_runs: int | None = None,
) -> RunsBudget:
    """The split of a total with the most power; of splits with the same the cheapest.

    plan : its clusters, test and level count, its numbers of items and runs do not. most_items, most_runs : how
    many items there are at all, and how many runs (or prompts) are thought of.

    For each number of runs as many items as can be paid are taken: no other split is worth a thought.
    """
    crossed = parameters.kind == "crossed"
    _check(total, prices, most_items, most_runs)

    def scenario(n_items: int, runs: int) -> RunsScenario:
        sized = replace(plan, n_items=n_items, runs_a=runs, runs_b=runs)
        return runs_scenario(parameters, sized, effect=effect)

    def split(n_items: int, runs: int) -> Split:
        made = scenario(n_items, runs)
        error = made.unit * math.sqrt(made.precision.variance)
        cost = prices.of(n_items, runs, crossed=crossed)
        return Split(n_items, runs, cost, made.computed().power, error)

    splits = tuple(_splits(split, total, prices, crossed, most_items or MOST_ITEMS, most_runs or MOST_RUNS))
    if not splits:
        least = prices.of(2, 2 if crossed else 1, crossed=crossed)
        raise refusal(
            f"A total of {total} does not pay for two items.",
            f"The smallest study costs {least}: raise the total.",
            place="--budget",
        )
    most = max(each.power for each in splits)
    best = min(
        (each for each in splits if each.power >= most - _ALIKE), key=lambda each: (each.cost, each.runs)
    )
    return RunsBudget(
        parameters=parameters,
        effect=effect,
        total=total,
        prices=prices,
        best=best,
        splits=splits,
        steps=tuple(_steps(split, best, crossed, most_items)),
        ceilings=ceilings(scenario(best.n_items, best.runs)),
        scenario=scenario(best.n_items, best.runs),
    )


def _splits(
    split: Callable[[int, int], Split],
    total: Decimal,
    prices: RunsPrices,
    crossed: bool,
    most_items: int,
    most_runs: int,
) -> Iterator[Split]:
    for runs in range(2 if crossed else 1, most_runs + 1):
        n_items = min(prices.items_for(total, runs, crossed=crossed), most_items)
        if n_items < 2:
            return
        yield split(n_items, runs)


def _steps(
    split: Callable[[int, int], Split], best: Split, crossed: bool, most_items: int | None
) -> Iterator[BudgetStep]:
    """One more item with its calls; one more generation of every item by each system, or one more prompt."""
    further = [("prompt" if crossed else "run", split(best.n_items, best.runs + 1))]
    if most_items is None or best.n_items < most_items:
        further.insert(0, ("item", split(best.n_items + 1, best.runs)))
    for what, more in further:
        yield BudgetStep(what, more, more.cost - best.cost, more.power - best.power)


def _check(total: Decimal, prices: RunsPrices, most_items: int | None, most_runs: int | None) -> None:
    problems = []
    if total <= 0:
        problems.append(
            Problem("A budget is above 0.", "", place="--budget", value=f"{total}", has_value=True)
        )
    if prices.call == 0 and prices.item == 0:
        rule = "Neither calls nor items cost anything, so that there is nothing to divide."
        problems.append(Problem(rule, "Give --cost-per-call or --cost-per-item."))
    for name, most in (("--max-items", most_items), ("--max-runs", most_runs)):
        if most is not None and most < 2:
            problems.append(Problem("must be at least 2.", "", place=name, value=most, has_value=True))
    refuse(problems)
