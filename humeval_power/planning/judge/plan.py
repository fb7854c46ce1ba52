"""How many human labels, by how many workers, and how many judged items: the cheapest study that is powerful.

Every number of workers and of ratings of an item is tried; the number of items is the smallest that has the power
by formula, with the judge and without. More judged items are tried in steps, as they cost something too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal

from humeval_power.costs import CostModel, cost_of
from humeval_power.errors import DesignError, InputError
from humeval_power.inference.study.formula import AnalyticPower, power_at
from humeval_power.parameters import Parameters
from humeval_power.planning.judge.efficiency import finite_share
from humeval_power.planning.judge.study import with_judge
from humeval_power.planning.questions import smallest_true
from humeval_power.planning.study.required import counts_precision
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.study_counts import StudyCounts

MOST_ITEMS = 20_000  # of a study that is searched
LEAST_EXTRA = 2  # items that the judge scores beside them
LEAST_ITEMS = 6  # that people rate: the model with a judge needs them
_CENT = Decimal("0.01")
_STEPS = (1, 2, 4, 8)  # parts of the further items that are tried


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """What a plan asks: power `target` for the parameters' effect, and the limits of the search.

    correlation : of the judge's difference on an item with the item's true difference.
    extra : the most items that the judge may score beside those that workers rate.
    price_per_score : of one score of the judge, in the currency of `costs`; an item needs one for each system.
    workers : the fewest and the most. most_ratings : of an item under each system, by different workers.
    most_per_worker : ratings of one worker; None sets no limit.
    """

    parameters: Parameters
    correlation: float
    extra: int
    costs: CostModel
    target: float = 0.8
    price_per_score: Decimal = Decimal(0)
    workers: tuple[int, int] = (5, 20)
    most_ratings: int = 5
    most_per_worker: int | None = None
    rule: DecisionRule = DEFAULT_RULE

    def __post_init__(self) -> None:
        finite_share(self.correlation, 1, self.extra)
        if self.parameters.difference == 0:
            raise InputError(
                "Without an effect there is no power to reach: give the difference to find; got 0."
            )
        if not 0 < self.target < 1:
            raise InputError(f"The power to reach must lie between 0 and 1; got {self.target:g}.")
        low, high = self.workers
        if not 2 <= low <= high:
            raise InputError(f"The numbers of workers must be at least 2, and go up; got {low} to {high}.")
        if self.most_ratings < 1:
            raise InputError(f"An item needs at least 1 rating; got {self.most_ratings}.")
        if self.price_per_score < 0:
            raise InputError(f"A price cannot be negative; got {self.price_per_score}.")

    @property
    def has_judge(self) -> bool:
        """Whether the judge can help at all: it goes with people, and scores items that they do not rate."""
        return self.correlation != 0 and self.extra >= LEAST_EXTRA


@dataclass(frozen=True, slots=True)
class JudgeOption:
    """One study: its size, what the judge scores beside it (0: no judge), its power by formula and its price."""

    counts: StudyCounts
    extra: int
    power: AnalyticPower
    price: Decimal
    judge_price: Decimal

    @property
    def n_labels(self) -> int:
        """Ratings by people."""
        counts = self.counts
        return counts.n_items * counts.ratings_per_item * counts.n_systems

    @property
    def total(self) -> Decimal:
        """What people and the judge cost."""
        return self.price + self.judge_price


@dataclass(frozen=True, slots=True)
class JudgeSearch:
    """The cheapest study with the judge and without; None where none within the limits has the power.

    `by_workers` are the cheapest with the judge for each number of workers that has any.
    """

    request: JudgeRequest
    judged: JudgeOption | None
    alone: JudgeOption | None
    by_workers: tuple[JudgeOption, ...]

    @property
    def saving(self) -> Decimal | None:
        """What the judge saves; negative where it costs more than it spares."""
        if self.judged is None or self.alone is None:
            return None
        return self.alone.total - self.judged.total


def search_plan(request: JudgeRequest) -> JudgeSearch:
    """The cheapest studies within the limits; of equally cheap ones the one with fewer workers."""
    extras = sorted({request.extra // part for part in _STEPS} - set(range(LEAST_EXTRA)))
    with_it = list(_options(request, extras)) if request.has_judge else []
    without = list(_options(request, (0,)))
    best: dict[int, JudgeOption] = {}
    for option in with_it:
        m = option.counts.n_workers
        if m not in best or option.total < best[m].total:
            best[m] = option
    return JudgeSearch(
        request, _cheapest(with_it), _cheapest(without), tuple(best[m] for m in sorted(best))
    )


def option_of(request: JudgeRequest, counts: StudyCounts, extra: int) -> JudgeOption:
    """A study of this size with its power and price."""
    price = cost_of(counts, request.costs).total
    scores = (counts.n_items + extra) * counts.n_systems if extra else 0
    judge_price = (scores * request.price_per_score).quantize(_CENT, ROUND_UP)
    return JudgeOption(counts, extra, _power(request, counts, extra), price, judge_price)


def _options(request: JudgeRequest, extras: Sequence[int]) -> Iterator[JudgeOption]:
    for m in range(request.workers[0], request.workers[1] + 1):
        for k in range(1, min(m, request.most_ratings) + 1):
            for extra in extras:
                counts = _smallest(request, m, k, extra)
                if counts is not None:
                    yield option_of(request, counts, extra)


def _smallest(request: JudgeRequest, m: int, k: int, extra: int) -> StudyCounts | None:
    """The fewest items with the power, None where none will do or workers would rate too much."""

    def enough(items: int) -> bool:
        try:
            return _power(request, StudyCounts(m, items, k), extra).power >= request.target
        except DesignError:
            return False

    least = max(LEAST_ITEMS, -(-m // k))
    most = MOST_ITEMS
    if request.most_per_worker is not None:
        most = min(most, request.most_per_worker * m // (2 * k))
    if most < least:
        return None
    items = smallest_true(enough, least, most)
    return None if items is None else StudyCounts(m, items, k)


def _power(request: JudgeRequest, counts: StudyCounts, extra: int) -> AnalyticPower:
    parameters = request.parameters
    if extra:
        parameters = with_judge(
            parameters, correlation=request.correlation, n_items=counts.n_items, extra=extra
        )
    return power_at(parameters.difference, counts_precision(parameters, counts), rule=request.rule)


def _cheapest(options: Sequence[JudgeOption]) -> JudgeOption | None:
    return min(options, key=lambda one: (one.total, one.counts.n_workers), default=None)
