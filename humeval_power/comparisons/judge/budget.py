"""The most precise study that a budget buys: people, items, ratings, judged items, judges and runs at once.

The variance of a difference is a sum v_t / x_t over raters m, items n, pairs of ratings q = n k and judged items T,
and the cost is a sum c_t x_t: by Cauchy and Schwarz x_t = C sqrt(v_t / c_t) / sum sqrt(v_s c_s) has the least
variance, (sum sqrt(v_s c_s))^2 / C. Few raters cost degrees of freedom, which this does not see, and sizes are
whole: a search around it by the power of the t-test decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_UP, Decimal
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import DEFAULT_JUDGE_RUNS
from humeval_power.comparisons.judge.plan import LEAST_ITEMS
from humeval_power.costs import CostModel, cost_of
from humeval_power.errors import Problem, field_problem, refuse
from humeval_power.inference.clustered import sum_of_variances
from humeval_power.parameters import Parameters
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.studies.power.formula import AnalyticPower, EffectPrecision, power_at
from humeval_power.studies.power.required import Variances, counts_precision, regular_precision
from humeval_power.study_counts import StudyCounts

Floats = NDArray[np.float64]

MOST_JUDGES = 4  # of which every set and number of runs is tried
_CENT = Decimal("0.01")
_AROUND = np.array([0.6, 0.75, 0.85, 0.92, 1.0, 1.08, 1.18, 1.35, 1.6])  # times the best number of items
_RUN_CHOICES = 8  # of the numbers of runs that are searched with everything else
_FINALISTS = 2  # of each number of workers, whose power is computed
_MOST_ITEMS = 10_000  # that people rate: more money than these cost is left over
_MOST_STEPS = 400  # items taken away until what is bought keeps to the budget


@dataclass(frozen=True, slots=True)
class JudgePanel:
    """Judges whose scores vary by 1 from item to item, without the noise of their runs.

    correlations : of each with the items' true differences. between : of any two judges with each other, which
        several need: judges err alike, and as if they did not, several would seem to be worth too much.
    reliabilities : the correlation of two runs of each. prices : of one score of each.
    """

    correlations: tuple[float, ...]
    reliabilities: tuple[float, ...]
    prices: tuple[Decimal, ...]
    between: float | None = None

    def __post_init__(self) -> None:
        n = len(self.correlations)
        problems = []
        if not 0 < n <= MOST_JUDGES:
            rule = f"1 to {MOST_JUDGES} judges can be planned."
            problems.append(field_problem("--correlation", n, rule))
        if len(self.reliabilities) != n or len(self.prices) != n:
            rule = f"{n} judges need one reliability and one price, or {n} of each."
            problems.append(field_problem("--cost-per-score", len(self.prices), rule))
        if not all(0 < one <= 1 for one in self.reliabilities):
            problems.append(
                field_problem("--reliability", min(self.reliabilities), "lies above 0, at most 1.")
            )
        if not all(-1 <= one <= 1 for one in self.correlations):
            problems.append(field_problem("--correlation", self.correlations, "must lie between -1 and 1."))
        if n > 1 and self.between is None:
            rule = "several judges need their correlation with each other, which 'judge check' gives."
            problems.append(Problem(rule, "", place="--between"))
        if not problems and np.linalg.eigvalsh(self._joint()).min() < -1e-9:
            rule = "no judges go so with the truth and so little, or so much, with each other."
            problems.append(field_problem("--between", self.between, rule))
        refuse(problems)

    @property
    def n_judges(self) -> int:
        """How many there are."""
        return len(self.correlations)

    def among(self) -> Floats:
        """Correlations of the judges with each other, (J, J)."""
        result = np.full((self.n_judges, self.n_judges), self.between or 0.0)
        np.fill_diagonal(result, 1.0)
        return result

    def _joint(self) -> Floats:
        with_truth = np.array([self.correlations])
        return np.block([[np.ones((1, 1)), with_truth], [with_truth.T, self.among()]])

    def noise(self) -> Floats:
        """Variances of single runs within an item, (J,)."""
        reliability = np.array(self.reliabilities)
        return np.asarray((1 - reliability) / reliability)

    def r_squared(self, runs: tuple[int, ...]) -> float:
        """Share of the items' variance that the means of so many runs of each explain together; 0 runs leave
        one out."""
        return _r_squared(self, runs)

    def price(self, runs: Sequence[int], n_systems: int = 2) -> Decimal:
        """Of an item judged under all systems by so many runs of each."""
        return sum(
            (n_systems * each * price for each, price in zip(runs, self.prices, strict=True)), Decimal(0)
        )

    def scores(self, truth: Floats, runs: Sequence[int], rng: np.random.Generator) -> Floats:
        """What the judges say of items whose true differences, standardised, are given, (T, judges used)."""
        used = [place for place, each in enumerate(runs) if each]
        joint = self._joint()[
            np.ix_([0, *(place + 1 for place in used)], [0, *(place + 1 for place in used)])
        ]
        left = joint[1:, 1:] - np.outer(joint[1:, 0], joint[0, 1:])
        values, vectors = np.linalg.eigh(left)
        root = vectors * np.sqrt(np.clip(values, 0.0, None))
        own = rng.standard_normal((len(truth), len(used))) @ root.T
        noise = np.sqrt(self.noise()[used] / np.array(runs)[used])
        return np.asarray(
            truth[:, None] * joint[0, 1:] + own + noise * rng.standard_normal((len(truth), len(used)))
        )


@cache
def _r_squared(panel: JudgePanel, runs: tuple[int, ...]) -> float:
    used = [place for place, each in enumerate(runs) if each]
    if not used:
        return 0.0
    with_truth = np.array(panel.correlations)[used]
    spread = panel.among()[np.ix_(used, used)] + np.diag(panel.noise()[used] / np.array(runs)[used])
    return float(np.clip(with_truth @ np.linalg.pinv(spread) @ with_truth, 0.0, 1.0))


@dataclass(frozen=True, slots=True)
class UnitPrices:
    """What one more of each costs: a rater, an item, a pair of ratings (one for each system)."""

    worker: float
    item: float
    pair: float

    @classmethod
    def of(cls, costs: CostModel) -> UnitPrices:
        """From what studies cost that differ in one of them."""

        def cost(workers: int, items: int, ratings: int) -> float:
            return float(cost_of(StudyCounts(workers, items, ratings), costs).total)

        base = cost(20, 1000, 2)
        pair = (cost(20, 1000, 4) - base) / 2000
        return cls((cost(40, 1000, 2) - base) / 20, (cost(20, 2000, 2) - base) / 1000 - 2 * pair, pair)


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """The sizes of least variance for real numbers: raters, items, pairs of ratings, judged items (0: no judge)."""

    standard_error: float
    workers: float
    items: float
    pairs: float
    judged: float


def closed_form(
    variances: tuple[float, float, float],
    r_squared: float,
    prices: UnitPrices,
    judged: float,
    budget: float,
) -> ClosedForm:
    """The sizes by Cauchy and Schwarz.

    variances : of raters' and of items' true differences, and of the noise of a pair of ratings. judged : the
    price of
        an item judged by all runs.
    """
    of_worker, of_item, noise = variances
    items, alone = of_item * (1 - r_squared), of_item * r_squared
    v, c = [of_worker, items, noise, alone], [prices.worker, prices.item, prices.pair, judged]
    single = prices.item <= 0 or noise * prices.item < items * prices.pair  # one rating of an item
    if single:
        v[1], c[1], v[2], c[2] = items + noise, max(prices.item, 0.0) + prices.pair, 0.0, 0.0
    roots = [math.sqrt(each * price) for each, price in zip(v, c, strict=True)]
    total = sum(roots)

    def size(place: int) -> float:
        if v[place] <= 0:
            return 0.0
        return math.inf if c[place] <= 0 else budget * math.sqrt(v[place] / c[place]) / total

    n = size(1)
    return ClosedForm(total / math.sqrt(budget), size(0), n, n if single else size(2), size(3))


@dataclass(frozen=True, slots=True)
class BudgetRequest:
    """What is asked: the amount, prices, judges, and the limits of the search.

    extra : the most items that the judges may score beside those that people rate. workers : fewest and most.
    most_ratings : of an item under each system. most_per_worker : ratings of one worker; None sets no limit.
    """

    parameters: Parameters
    panel: JudgePanel
    budget: Decimal
    costs: CostModel
    extra: int
    workers: tuple[int, int] = (2, 40)
    most_ratings: int = 5
    most_per_worker: int | None = None
    most_runs: int = DEFAULT_JUDGE_RUNS
    rule: DecisionRule = DEFAULT_RULE

    @property
    def variances(self) -> tuple[float, float, float]:
        """Of raters' and of items' true differences, and of the noise of a pair of ratings."""
        coded = self.parameters.recoded()
        return coded.sd_worker_slope**2, coded.sd_item_slope**2, 2 * coded.sd_residual**2


@dataclass(frozen=True, slots=True)
class BudgetOption:
    """One study that the budget buys; `runs` of each judge, `judged` items in all (0: no judge).

    `shares` are those of raters, items, ratings and the judges' mean in the variance.
    """

    counts: StudyCounts
    judged: int
    runs: tuple[int, ...]
    r_squared: float
    power: AnalyticPower
    price: Decimal
    judge_price: Decimal
    shares: tuple[float, float, float, float]

    @property
    def extra(self) -> int:
        """Items that judges alone score, of a study with judges."""
        return self.judged - self.counts.n_items

    @property
    def total(self) -> Decimal:
        """What people and judges cost."""
        return self.price + self.judge_price


@dataclass(frozen=True, slots=True)
class BudgetSearch:
    """The best with judges and without, None where the budget buys none; the closed form with the runs of the best.

    `by_workers` are the best with judges for each number of workers.
    """

    request: BudgetRequest
    judged: BudgetOption | None
    alone: BudgetOption | None
    closed: ClosedForm | None
    by_workers: tuple[BudgetOption, ...]

    @property
    def best(self) -> BudgetOption | None:
        """The more powerful one."""
        return self.judged if self.helps else self.alone

    @property
    def helps(self) -> bool:
        """Whether judges add power."""
        if self.judged is None or self.alone is None:
            return self.judged is not None
        return self.judged.power.power > self.alone.power.power


def search_budget(request: BudgetRequest) -> BudgetSearch:
    """The most powerful study with judges and without; of equally powerful ones the one with fewer workers."""
    prices = UnitPrices.of(request.costs)
    none = (0,) * request.panel.n_judges
    alone = _best(request, prices, [none])
    choices = _runs(request, prices)
    designs = list(_bests(request, prices, choices)) if choices and request.extra >= 2 else []
    best = max(designs, key=lambda one: (one.power.power, -one.counts.n_workers), default=None)
    closed = None
    if best is not None:
        judged = float(request.panel.price(best.runs))
        closed = closed_form(request.variances, best.r_squared, prices, judged, float(request.budget))
    return BudgetSearch(request, best, alone, closed, tuple(designs))


def _runs(request: BudgetRequest, prices: UnitPrices) -> list[tuple[int, ...]]:
    """Numbers of runs in the order of the least variance that the closed form gives them."""
    panel, (_, of_item, noise) = request.panel, request.variances
    single, pair = max(prices.item, 0.0) + prices.pair, max(prices.item, 0.0)

    def cost(runs: tuple[int, ...]) -> float:
        r_squared, judged = panel.r_squared(runs), float(panel.price(runs))
        people = min(
            math.sqrt((of_item * (1 - r_squared) + noise) * single),
            math.sqrt(of_item * (1 - r_squared) * pair) + math.sqrt(noise * prices.pair),
        )
        return people + math.sqrt(of_item * r_squared * judged)

    every = product(range(request.most_runs + 1), repeat=panel.n_judges)
    useful = [runs for runs in every if any(runs) and panel.r_squared(runs) > 0]
    return sorted(useful, key=cost)[:_RUN_CHOICES]


def _best(
    request: BudgetRequest, prices: UnitPrices, choices: Sequence[tuple[int, ...]]
) -> BudgetOption | None:
    result = _bests(request, prices, choices)
    return max(result, key=lambda one: (one.power.power, -one.counts.n_workers), default=None)


def _bests(
    request: BudgetRequest, prices: UnitPrices, choices: Sequence[tuple[int, ...]]
) -> Iterator[BudgetOption]:
    """The best study of each number of workers."""
    sizes = [size for runs in choices for size in _sizes(request, prices, runs)]
    if not sizes:
        return
    widths = _widths(request, sizes)
    of_workers: dict[int, list[int]] = {}
    for place in np.argsort(widths, kind="stable").tolist():
        of_workers.setdefault(sizes[place].workers, []).append(place)
    for workers in sorted(of_workers):
        options = [_bought(request, prices, sizes[place]) for place in of_workers[workers][:_FINALISTS]]
        bought = [option for option in options if option is not None]
        if bought:
            yield max(bought, key=lambda one: (one.power.power, -one.total))


class _Size(NamedTuple):
    """Raters, items, ratings of an item and system, items judged in all, runs of each judge."""

    workers: int
    items: int
    ratings: int
    judged: int
    runs: tuple[int, ...]


def _sizes(request: BudgetRequest, prices: UnitPrices, runs: tuple[int, ...]) -> Iterator[_Size]:
    """Sizes that may be best, for every number of workers and of ratings of an item."""
    _, of_item, noise = request.variances
    r_squared, judged = request.panel.r_squared(runs), float(request.panel.price(runs))
    for workers in range(request.workers[0], request.workers[1] + 1):
        left = float(request.budget) - workers * prices.worker
        for ratings in range(1, min(workers, request.most_ratings) + 1 if left > 0 else 1):
            each = max(prices.item, 0.0) + ratings * prices.pair
            items_part, judged_part = of_item * (1 - r_squared) + noise / ratings, of_item * r_squared
            whole = left / each
            if any(runs):
                whole = _share(left, each, judged, items_part, judged_part, request.extra)
            most = _MOST_ITEMS
            if request.most_per_worker is not None:
                most = min(most, workers * request.most_per_worker // (2 * ratings))
            whole = min(whole, most)
            for items in sorted({min(math.floor(whole * times), most) for times in _AROUND}):
                total = _judged(request, prices, workers, items, ratings, runs)
                if total is not None and items >= max(LEAST_ITEMS, -(-workers // ratings)):
                    yield _Size(workers, items, ratings, total, runs)


def _widths(request: BudgetRequest, sizes: Sequence[_Size]) -> Floats:
    """About the widths of the intervals, by the formula of many designs at once."""
    coded = request.parameters.recoded()
    helped = [_helped(request, size.items, size.judged, size.runs) for size in sizes]
    left, known = (np.array(each) for each in zip(*helped, strict=True))
    workers, items, ratings, judged = (np.array([size[place] for size in sizes]) for place in range(4))
    precision = regular_precision(
        Variances.of(coded)._replace(item_slope=coded.sd_item_slope**2 * left),
        workers=workers,
        items=items,
        ratings_per_item=ratings,
    )
    variance, df = sum_of_variances(precision.variance, precision.df, known, np.maximum(judged - 1.0, 1.0))
    return np.asarray(np.sqrt(variance) * -special.stdtrit(np.maximum(df, 0.5), request.rule.alpha / 2))


def _share(
    left: float, each: float, judged: float, items_part: float, judged_part: float, extra: int
) -> float:
    """Items that people rate where the rest of the money goes to the judges, at least as many and `extra` more
    at most."""
    if judged <= 0:
        return left / each
    ratio = math.sqrt(judged_part * each / (items_part * judged))  # judged items for each rated one
    ratio = max(1.0, ratio)
    n = left / (each + ratio * judged)
    if (ratio - 1) * n > extra:
        n = max(1.0, (left - extra * judged) / (each + judged))
    return n


def _judged(
    request: BudgetRequest,
    prices: UnitPrices,
    workers: int,
    items: int,
    ratings: int,
    runs: tuple[int, ...],
) -> int | None:
    """How many items the rest of the budget has judged; 0 without judges, None where it does not buy the study."""
    per_worker = 2 * items * ratings / workers
    if request.most_per_worker is not None and per_worker > request.most_per_worker:
        return None
    each = max(prices.item, 0.0) + ratings * prices.pair
    left = float(request.budget) - workers * prices.worker - items * each
    if left < -1e-9:
        return None
    if not any(runs):
        return 0
    judged = float(request.panel.price(runs))
    most = items + request.extra
    total = most if judged <= 0 else min(most, math.floor(left / judged + 1e-9))
    return total if total >= items + 2 else None


def _helped(request: BudgetRequest, items: int, judged: int, runs: tuple[int, ...]) -> tuple[float, float]:
    """Share of the items' variance that is left beside the judges, with what estimating their weights costs,
    and the variance with which their mean over all judged items is known."""
    n_used = sum(1 for each in runs if each)
    free = items - n_used - 2
    if not judged or free <= 0:
        return 1.0, 0.0
    r_squared = request.panel.r_squared(runs)
    left = (1 - r_squared) * (1 + n_used / free * (judged - items) / judged)
    return left, request.variances[1] * r_squared / judged


def _bought(request: BudgetRequest, prices: UnitPrices, size: _Size) -> BudgetOption | None:
    """The study with its exact price, a little smaller where that is needed to keep to the budget."""
    workers, items, ratings, _, runs = size
    for _ in range(_MOST_STEPS):
        judged = _judged(request, prices, workers, items, ratings, runs)
        if judged is None or items < max(LEAST_ITEMS, -(-workers // ratings)):
            return None
        counts = StudyCounts(workers, items, ratings)
        price = cost_of(counts, request.costs).total
        each = request.panel.price(runs)
        if judged and each:
            judged = (
                min(judged, math.floor((request.budget - price) / each)) if request.budget > price else 0
            )
        judge_price = (judged * each).quantize(_CENT, ROUND_UP)
        if price + judge_price <= request.budget and (judged >= items + 2 or not any(runs)):
            return option_of(request, counts, judged, runs)
        items -= 1
    return None


def option_of(
    request: BudgetRequest, counts: StudyCounts, judged: int, runs: tuple[int, ...]
) -> BudgetOption:
    """A study of this size with its power by formula, its price and the parts of its variance."""
    left, known = _helped(request, counts.n_items, judged, runs)
    coded = request.parameters.recoded()
    precision = counts_precision(
        replace(coded, sd_item_slope=coded.sd_item_slope * math.sqrt(left)), counts
    )
    variance, df = sum_of_variances(precision.variance, precision.df, known, max(judged - 1.0, 1.0))
    whole = EffectPrecision(float(variance), float(df), precision.smallest, precision.n_workers)
    of_worker, of_item, noise = request.variances
    pairs = counts.n_items * counts.ratings_per_item
    parts = (
        of_worker / counts.n_workers,
        of_item * left / counts.n_items,
        noise / pairs,
        known,
    )
    shares = tuple(part / sum(parts) for part in parts)
    return BudgetOption(
        counts,
        judged,
        runs,
        request.panel.r_squared(runs),
        power_at(request.parameters.difference, whole, rule=request.rule),
        cost_of(counts, request.costs).total,
        (judged * request.panel.price(runs, counts.n_systems)).quantize(_CENT, ROUND_UP),
        (shares[0], shares[1], shares[2], shares[3]),
    )
