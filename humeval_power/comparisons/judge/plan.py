"""How many human labels, by how many workers, and how many judged items: the cheapest study that is powerful.

Every number of workers and of ratings of an item is tried; the number of items is the smallest that has the power
by formula, with the judge and without. More judged items are tried in steps, as they cost something too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_UP, Decimal

import numpy as np

from humeval_power.choices import DEFAULT_POWER, MOST_WORKERS
from humeval_power.comparisons.judge.assisted import RatedItems, rated_estimate
from humeval_power.costs import CostModel, cost_of
from humeval_power.designs import Design
from humeval_power.errors import DesignError, FitError, InputError
from humeval_power.inference.item_bootstrap import monte_carlo_interval
from humeval_power.parameters import Parameters
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.simulation.study import Normals, rating_values, replicate_generator
from humeval_power.studies.power.formula import AnalyticPower, analytic_power, power_at
from humeval_power.studies.power.questions import smallest_true
from humeval_power.studies.power.required import build_design, counts_precision
from humeval_power.studies.power.workload import Workload
from humeval_power.study_counts import StudyCounts

# Studies with a judge, drawn and analysed as `judge estimate` does: the proof of a plan.

_PER_STUDY, _PER_RATING = 6e-3, 1.2e-5  # seconds: of two fits from several starts, and of each rating
_PER_EXTRA = 1.5e-7  # seconds: of an item that the judge alone scores
_PER_RATING_BYTES, _PER_EXTRA_BYTES = 500, 120
Scores = Callable[[np.ndarray, np.random.Generator], np.ndarray]  # of items' true differences, (T, J)
MONTE_CARLO = 0.99  # confidence of the interval of a simulated rate


@dataclass(frozen=True, slots=True, eq=False)
class JudgedReplicates:
    """p-values and estimates of n studies with the judge, NaN where the model could not be fitted."""

    p_values: np.ndarray
    estimates: np.ndarray
    seed: int

    @property
    def n_failed(self) -> int:
        """Studies to which the model could not be fitted."""
        return int(np.isnan(self.p_values).sum())

    def power(self, alpha: float) -> float:
        """Share of studies that are significant with a difference of the right sign; failed ones are not."""
        return float(np.mean((self.p_values <= alpha) & (self.estimates > 0)))

    def interval(self, alpha: float) -> tuple[float, float]:
        """Clopper-Pearson interval of the power, at MONTE_CARLO."""
        n, hits = len(self.p_values), round(self.power(alpha) * len(self.p_values))
        return monte_carlo_interval(hits, n, MONTE_CARLO)


def simulate_judged(
    parameters: Parameters,
    design: Design,
    *,
    correlation: float,
    extra: int,
    n_simulations: int,
    seed: int,
    scores: Scores | None = None,
) -> JudgedReplicates:
    """Draw studies of workers with a judge's scores, and test each; study i draws from child i of the seed.
    `scores` draws those of several judges, or of runs, in the place of one judge of this correlation."""
    coded = parameters.recoded()
    turned = coded if coded.effect >= 0 else replace(coded, effect=-coded.effect)
    values = np.full((2, n_simulations), math.nan)
    for replicate in range(n_simulations):
        rng = replicate_generator(seed, replicate)
        rated = draw_judged(turned, design, correlation=correlation, extra=extra, rng=rng, scores=scores)
        try:
            judged = rated_estimate(rated)
        except FitError:
            continue
        values[:, replicate] = judged.p_value, judged.estimate
    p_values, estimates = values
    return JudgedReplicates(p_values, estimates, seed)


def judged_workload(design: Design, *, extra: int, n_simulations: int) -> Workload:
    """What so many studies of a design need."""
    each = _PER_STUDY + _PER_RATING * design.n_ratings + _PER_EXTRA * extra
    in_memory = _PER_RATING_BYTES * design.n_ratings + _PER_EXTRA_BYTES * extra + 24 * n_simulations
    return Workload(n_simulations * each, float(in_memory))


def draw_judged(
    parameters: Parameters,
    design: Design,
    *,
    correlation: float,
    extra: int,
    rng: np.random.Generator,
    scores: Scores | None = None,
) -> RatedItems:
    """One study: ratings of the design, and a judge's scores of its items and of others, whose differences have
    this correlation with the items' true ones. Parameters are in difference coding."""
    rows, n = design.assignment, design.n_items
    worker, item = (rng.standard_normal((2, size)) for size in (design.n_workers, n))
    rating = rating_values(parameters, rows, Normals(worker, item, rng.standard_normal(design.n_ratings)))
    truth = np.concatenate([item[1], rng.standard_normal(extra)])
    if scores is None:
        noise = rng.standard_normal(n + extra)
        judged = correlation * truth + math.sqrt(1 - correlation**2) * noise
    else:
        judged = scores(truth, rng)
    return RatedItems(rows.worker, rows.item, rows.system, rating, np.stack([-judged, judged], axis=1) / 2)


# What a metric or an automatic judge is worth in ratings: control variates and prediction-powered
# inference.


def data_efficiency(
    gamma: float, correlation: float, *, n: int | None = None, extra: int | None = None
) -> float:
    """How many times as many ratings the plain mean would need: (1 + gamma) / (1 - rho^2 + gamma).

    Wei et al. (2022, eq. 2), after Chaganty et al. (2018); `correlation` rho is that of the metric with
    the true quality, without annotators' noise. With `n` rated items and `extra` others the metric's
    mean is itself uncertain: rho^2 becomes rho^2 extra / (extra + n).

    Raises
    ------
    InputError
        A negative gamma, a correlation outside [-1, 1], or impossible numbers of items.
    """
    if gamma < 0 or math.isnan(gamma):
        raise InputError(f"gamma is a ratio of variances and cannot be negative; got {gamma:g}.")
    explained = correlation**2 * finite_share(correlation, n, extra)
    if gamma == 0 and explained == 1:
        return math.inf
    return (1 + gamma) / (1 - explained + gamma) if math.isfinite(gamma) else 1.0


def finite_share(correlation: float, n: int | None, extra: int | None) -> float:
    """extra / (extra + n), the part of a judge's use that `extra` items leave; 1 where it is unlimited."""
    if not -1 <= correlation <= 1:
        raise InputError(f"A correlation lies between -1 and 1; got {correlation:g}.")
    if (n is None) != (extra is None):
        raise InputError("Give both the rated and the extra items, or neither.")
    if n is None or extra is None:
        return 1.0
    if n < 1 or extra < 0:
        raise InputError(
            f"There must be rated items and no negative number of others; got {n} and {extra}."
        )
    return extra / (extra + n)


def observed_correlation(gamma: float, correlation: float) -> float:
    """Correlation of a metric with single noisy ratings, from that with the true quality: rho sqrt(phi)."""
    return correlation / math.sqrt(1 + gamma)


@dataclass(frozen=True, slots=True)
class PredictionPower:
    """A mean of `n` human values with a judge's scores of those items and of `extra` others.

    `variance` is that of the estimate with the best weight (`weight`) of the judge, `plain_variance`
    with weight 1, `human_variance` without the judge. Source: Angelopoulos, Duchi and Zrnic (2023),
    PPI++.
    """

    n: int
    extra: int
    correlation: float
    sd: float
    sd_judge: float

    def __post_init__(self) -> None:
        finite_share(self.correlation, self.n, self.extra)
        if not (self.sd > 0 and self.sd_judge > 0):
            raise InputError("Standard deviations of human values and of the judge must be above 0.")

    @property
    def human_variance(self) -> float:
        """Variance of the mean of the human values alone."""
        return self.sd**2 / self.n

    @property
    def weight(self) -> float:
        """The weight of the judge that makes the variance smallest: Cov(Y, f) / ((1 + n/N) Var f)."""
        if self.extra == 0:
            return 0.0
        return self.correlation * self.sd / self.sd_judge / (1 + self.n / self.extra)

    def variance_at(self, weight: float) -> float:
        """Variance for any weight: Var(Y - w f) / n + w^2 Var(f) / N."""
        of_difference = (
            self.sd**2
            - 2 * weight * self.correlation * self.sd * self.sd_judge
            + (weight * self.sd_judge) ** 2
        )
        if weight == 0:
            return self.human_variance
        if self.extra == 0:
            return math.inf
        return of_difference / self.n + (weight * self.sd_judge) ** 2 / self.extra

    @property
    def variance(self) -> float:
        """Variance with the best weight: Var(Y) / n (1 - rho^2 N / (N + n))."""
        return self.variance_at(self.weight)

    @property
    def plain_variance(self) -> float:
        """Variance with weight 1, plain prediction-powered inference: it can exceed the human one."""
        return self.variance_at(1.0)

    @property
    def effective_n(self) -> float:
        """Human values without a judge that would be as precise."""
        return self.n * self.human_variance / self.variance if self.variance > 0 else math.inf

    @property
    def plain_effective_n(self) -> float:
        """The same for weight 1."""
        return self.n * self.human_variance / self.plain_variance if self.plain_variance > 0 else math.inf


# A study of workers and items that a judge's scores of further items help.


@dataclass(frozen=True, slots=True)
class JudgedStudy:
    """Power of a study without and with a judge, and the smallest one with it that is as powerful.

    `fewer` is that study's design and `fewer_power` its power; None where no smaller one will do.
    """

    alone: AnalyticPower
    judged: AnalyticPower
    design: Design
    fewer: Design | None
    fewer_power: AnalyticPower | None

    @property
    def efficiency(self) -> float:
        """Variance without over variance with the judge: times the data, as far as it goes."""
        return self.alone.precision.variance / self.judged.precision.variance

    @property
    def ratings_saved(self) -> int:
        """Human ratings that the judge spares for the same power."""
        return 0 if self.fewer is None else self.design.n_ratings - self.fewer.n_ratings


def with_judge(parameters: Parameters, *, correlation: float, n_items: int, extra: int) -> Parameters:
    """Parameters of a study in which a judge that correlates with the items' own differences has scored
    `n_items` items of the study and `extra` others."""
    left = 1 - correlation**2 * finite_share(correlation, n_items, extra)
    return replace(parameters, sd_item_slope=parameters.sd_item_slope * math.sqrt(left))


def judged_study(
    parameters: Parameters,
    *,
    n_workers: int,
    n_items: int,
    correlation: float,
    extra: int,
    ratings_per_item: int | None = None,
    rule: DecisionRule = DEFAULT_RULE,
) -> JudgedStudy:
    """What a judge adds to a study at the parameters' effect, and how many items it spares. The smaller study
    has the same workers and ratings per item and at least two items; the judge scores `extra` further items in
    each case. InputError: an impossible design or correlation, or parameters without an effect."""
    if parameters.difference == 0:
        raise InputError("Without an effect there is no power to keep: give the difference to find; got 0.")

    def design(items: int) -> Design:
        return build_design(n_workers, items, ratings_per_item)

    def power(items: int) -> AnalyticPower:
        helped = with_judge(parameters, correlation=correlation, n_items=items, extra=extra)
        return analytic_power(helped, design(items), rule=rule)

    full = design(n_items)
    alone, judged = analytic_power(parameters, full, rule=rule), power(n_items)

    def enough(items: int) -> bool:
        try:
            return power(items).power >= alone.power
        except DesignError:
            return False

    low, high = 2, n_items
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    if high == n_items:
        return JudgedStudy(alone, judged, full, None, None)
    return JudgedStudy(alone, judged, full, design(high), power(high))


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
    target: float = DEFAULT_POWER
    price_per_score: Decimal = Decimal(0)
    workers: tuple[int, int] = (5, MOST_WORKERS)
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
