"""How a comparison over repeated runs is planned: how many of everything, and what it is to show."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.designs import Design, crossed, with_documents
from humeval_power.errors import InputError, Problem, refusal, refuse
from humeval_power.inference.clustered import bell_mccaffrey_df
from humeval_power.latent import Latent
from humeval_power.parameters import Parameters
from humeval_power.roots import root_between
from humeval_power.rules import Alternative, DecisionRule
from humeval_power.runs_parameters import RunsParameters
from humeval_power.scenarios.contract import BLOCK, BlockScenario, ComputedPower, Replicates
from humeval_power.studies.fit.wald import wald_p
from humeval_power.studies.power.formula import (
    EffectPrecision,
    effect_precision,
    power_at,
    rule_critical_value,
)
from humeval_power.studies.power.scenario import RatingStudy

# Items' own chances of a right answer under two systems, with given variances and clusters.

Floats = NDArray[np.float64]
_CELLS = 256  # equally likely values that stand for a distribution of chances
_WITHIN = 8  # quantiles averaged in each
_STEPS = 30  # of a bisection
_NEVER_MIXED = 0.02  # a + b of a beta distribution below which items are right always or never


@dataclass(frozen=True)
class ItemShares:
    """Chances of items: means and variances over items of A and B, the SD of true differences that is wanted,
    and their intra-cluster correlation. `sd_item` is the SD that they can have nearest to it."""

    mean_a: float
    mean_b: float
    variance_a: float
    variance_b: float
    sd_wanted: float
    icc: float = 0.0

    @cached_property
    def values(self) -> tuple[Floats, Floats]:
        """The equally likely chances under A and B, ascending."""
        return _chances(self.mean_a, self.variance_a), _chances(self.mean_b, self.variance_b)

    @cached_property
    def reach(self) -> tuple[float, float]:
        """The smallest and the largest SD of true differences."""
        return self._sd(1.0), self._sd(-1.0)

    @property
    def sd_item(self) -> float:
        """SD of the items' true differences."""
        low, high = self.reach
        return min(max(self.sd_wanted, low), high)

    @cached_property
    def correlation(self) -> float:
        """Of the normal scores of an item under A and B."""
        low, high = self.reach
        if not low < self.sd_item < high:
            return 1.0 if self.sd_item <= low else -1.0
        return -_root(lambda minus: self._sd(-minus) - self.sd_item, -1.0, 1.0)

    @cached_property
    def within_cluster(self) -> float:
        """Correlation of the normal scores of two items of a cluster."""
        if self.icc == 0 or self.sd_item == 0:
            return 0.0
        wanted = self.icc * self._sd(self.correlation) ** 2
        return 1.0 if self.icc >= 1 else _root(lambda r: self._shared(r) - wanted, 0.0, 1.0)

    def draw(
        self, rng: np.random.Generator, size: int, cluster: NDArray[np.int64]
    ) -> tuple[Floats, Floats]:
        """Chances under A and B of items in these clusters, each of shape (size, n_items)."""
        first, other = (self._scores(rng, size, cluster) for _ in range(2))
        tied = self.correlation
        second = tied * first + np.sqrt(max(1 - tied**2, 0.0)) * other
        at_a, at_b = self.values
        return at_a[_places(first)], at_b[_places(second)]

    def _scores(self, rng: np.random.Generator, size: int, cluster: NDArray[np.int64]) -> Floats:
        own = rng.standard_normal((size, len(cluster)))
        shared = self.within_cluster
        if shared == 0:
            return own
        of_cluster = rng.standard_normal((size, int(cluster.max()) + 1))[:, cluster]
        return np.asarray(np.sqrt(shared) * of_cluster + np.sqrt(1 - shared) * own)

    def _sd(self, correlation: float) -> float:
        a, b = self.values
        product = _mean_product(a, b, correlation) - float(a.mean() * b.mean())
        return float(np.sqrt(max(a.var() + b.var() - 2 * product, 0.0)))

    def _shared(self, within: float) -> float:
        """Covariance of the true differences of two items of a cluster."""
        a, b = self.values
        products = _mean_product(a, a, within) + _mean_product(b, b, within)
        return (
            products - 2 * _mean_product(a, b, within * self.correlation) - float(b.mean() - a.mean()) ** 2
        )


def _chances(mean: float, variance: float) -> Floats:
    """Equally likely values of a beta distribution, their mean exact."""
    most = mean * (1 - mean)
    if variance <= 1e-12 * max(most, 1e-300) or most <= 0:
        return np.full(_CELLS, mean)
    total = most / variance - 1
    places = (np.arange(_CELLS * _WITHIN) + 0.5) / (_CELLS * _WITHIN)
    if total < _NEVER_MIXED:
        fine = (places > 1 - mean).astype(np.float64)
    else:
        fine = special.betaincinv(mean * total, (1 - mean) * total, places)
    values = fine.reshape(_CELLS, _WITHIN).mean(axis=1)
    value = float(values.mean())
    if value > mean:
        return np.asarray(values * (mean / value))
    return np.asarray(1 - (1 - values) * ((1 - mean) / (1 - value)))


def _places(scores: Floats) -> NDArray[np.int64]:
    return np.minimum((special.ndtr(scores) * _CELLS).astype(np.int64), _CELLS - 1)


_MIDDLES = special.ndtri((np.arange(_CELLS) + 0.5) / _CELLS)


def _mean_product(first: Floats, second: Floats, correlation: float) -> float:
    """E[first second] where the normal scores that choose the values have this correlation."""
    scores = correlation * _MIDDLES[:, None] + np.sqrt(max(1 - correlation**2, 0.0)) * _MIDDLES
    return float(first @ second[_places(scores)].mean(axis=1) / _CELLS)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that grows passes zero."""
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if function(middle) > 0 else (middle, high)
    return (low + high) / 2


# How many items are in each cluster of a study that is only planned.

Sizes = NDArray[np.int64]


def check_clusters(size: float, cv: float) -> None:
    """Refuse sizes of clusters that there cannot be."""
    problems = []
    if not (np.isfinite(size) and size >= 1):
        rule = f"a cluster has at least one item; got {size:g} on average."
        problems.append(Problem(rule, "1 is no clusters.", "--cluster-size"))
    if not (np.isfinite(cv) and 0 <= cv <= 5):
        rule = f"a coefficient of variation of sizes lies between 0 and 5; got {cv:g}."
        problems.append(Problem(rule, "", "--cluster-cv"))
    elif cv > 0 and size == 1:
        rule = "clusters of one item do not vary in size."
        problems.append(Problem(rule, "Give their mean size too: --cluster-size.", "--cluster-cv"))
    refuse(problems)


def cluster_sizes(n_items: int, *, size: float, cv: float = 0.0) -> Sizes:
    """Sizes of clusters, the smallest first, that add up to `n_items`: two clusters at least.

    size : mean number of items in a cluster. cv : coefficient of variation of the sizes, which then are 1 and
    quantiles of a gamma distribution, rounded; 0 makes them as equal as whole numbers can be.
    """
    count = min(max(2, round(n_items / size)), n_items)
    if cv == 0 or count == n_items:
        each, rest = divmod(n_items, count)
        return np.repeat([each, each + 1], [count - rest, rest]).astype(np.int64)
    mean = n_items / count
    shape = ((mean - 1) / (cv * mean)) ** 2  # of what a cluster has beyond its first item
    weight = special.gammaincinv(shape, (np.arange(count) + 0.5) / count)
    spare = (n_items - count) * weight / weight.sum()
    whole = np.floor(spare).astype(np.int64)
    by_rest = np.argsort(whole - spare, kind="stable")
    whole[by_rest[: n_items - count - int(whole.sum())]] += 1
    return np.sort(whole + 1)


def mean_partners(sizes: Sizes) -> float:
    """Items in the cluster of an item, itself among them, on average over items: sum of squared sizes over n."""
    of = sizes.astype(np.float64)
    return float(of @ of / of.sum())


MOST_ITEMS = 10_000_000  # each has its cluster in memory


@dataclass(frozen=True, kw_only=True)
class RunsPlan:
    """Items, runs and clusters, and the test, `margin` being a difference of scores in their unit.

    `runs_a` and `runs_b` are generations of each item by A and B; of crossed runs both are the number of prompts
    or seeds. `cluster_size` is the mean number of items in a cluster, `cluster_cv` its coefficient of variation.
    """

    n_items: int
    runs_a: int
    runs_b: int
    cluster_size: float = 1.0
    cluster_cv: float = 0.0
    alternative: Alternative = "two-sided"
    margin: float | None = None
    alpha: float = 0.05

    def __post_init__(self) -> None:
        check_clusters(self.cluster_size, self.cluster_cv)
        problems = []
        if not 2 <= self.n_items <= MOST_ITEMS:
            rule = f"at least 2 items are needed, and {MOST_ITEMS:,} at most; got {self.n_items:,}."
            problems.append(Problem(rule, "", "--n"))
        for name, runs in (("A", self.runs_a), ("B", self.runs_b)):
            if runs < 1:
                rule = f"each item has at least 1 run of {name}; got {runs}."
                problems.append(Problem(rule, "", "--runs"))
        if self.margin is not None and not (self.margin > 0 and math.isfinite(self.margin)):
            rule = f"a margin is a difference of scores above 0; got {self.margin:g}."
            problems.append(Problem(rule, "", "--margin"))
        refuse(problems)

    @cached_property
    def sizes(self) -> Sizes:
        """Items in each cluster."""
        return cluster_sizes(self.n_items, size=self.cluster_size, cv=self.cluster_cv)

    @property
    def has_clusters(self) -> bool:
        """Whether items come in clusters of more than one."""
        return self.cluster_size > 1 and len(self.sizes) < self.n_items

    def rule(self, unit: float, *, is_latent: bool = False) -> DecisionRule:
        """The rule for scores that are divided by `unit`; `is_latent` of right and wrong by a logit model."""
        return DecisionRule(
            alternative=self.alternative,
            margin=None if self.margin is None else self.margin / unit,
            alpha=self.alpha,
            family="binary" if is_latent else "gaussian",
            link="logit" if is_latent else "probit",
        )


def computed_power(
    effect: float, precision: EffectPrecision, *, rule: DecisionRule, method: str, exact: bool = False
) -> ComputedPower:
    """Power of a t test whose precision is known; nothing varies where the variance is zero."""
    if precision.variance <= 0:
        sure = float(rule.can_show(effect))
        return ComputedPower(sure, sure, math.nan, math.nan, "nothing varies", exact=True)
    power = power_at(effect, precision, rule=rule)
    return ComputedPower(power.power, power.rejection_rate, power.type_m, power.type_s, method, exact=exact)


@dataclass(frozen=True)
class _PlannedRuns(BlockScenario):
    """A plan, what scores vary by, and a true difference B - A, all in the unit of the scores."""

    parameters: RunsParameters
    plan: RunsPlan
    _: KW_ONLY
    effect: float

    @property
    def alpha(self) -> float:
        """The level of the test."""
        return self.plan.alpha

    @property
    def is_latent(self) -> bool:
        """Whether answers are right or wrong, and analysed so: those of crossed runs."""
        return self.parameters.kind == "crossed" and self.parameters.family == "binary"

    @property
    def unit(self) -> float:
        """What scores are divided by so that they and a margin are of the size of shares; 1 where they are."""
        of = self.parameters
        if of.family == "binary":
            return 1.0
        deviations = (of.sd_item, of.sd_run_a, of.sd_run_b, of.sd_prompt_slope, of.sd_residual)
        return max(1.0, 2 * max(deviations), self.plan.margin or 0.0)

    @cached_property
    def rule(self) -> DecisionRule:
        """The test, of scores that are divided by the unit."""
        return self.plan.rule(self.unit, is_latent=self.is_latent)


# Two systems whose answers are generated anew for each item: power of the test of the items' mean
# difference.

_CELLS_NESTED = 2_000_000  # numbers in memory at once
_ALIKE = 1  # status: differences without spread, of which there is no test
_SLACK = 1e-12


@dataclass(frozen=True)
class NestedRuns(_PlannedRuns):
    """A plan, what scores vary by, and a true difference B - A, all in the unit of the scores.

    Of answers that are right or wrong the items' chances are drawn, and answers from them; the test is the same.
    """

    def __post_init__(self) -> None:
        if self.parameters.kind != "nested":
            raise InputError("These parameters are of crossed runs: take CrossedRuns.")
        self.plan.rule(self.unit)  # refuses what is no test
        low, high = self.means if self.parameters.family == "binary" else (0.5, 0.5)
        if not (min(low, high) >= -_SLACK and max(low, high) <= 1 + _SLACK):
            raise refusal(
                f"A difference of {self.effect:g} around a share of {self.parameters.baseline:g} leaves "
                f"[0, 1]: A would be right in {low:.4g}, B in {high:.4g} of the answers.",
                "The baseline is halfway between both systems.",
            )

    @property
    def means(self) -> tuple[float, float]:
        """Mean scores of A and B, about 0 where no baseline is known."""
        middle = self.parameters.baseline or 0.0
        return middle - self.effect / 2, middle + self.effect / 2

    @cached_property
    def realised(self) -> RunsParameters:
        """The parameters that studies with this effect have: of right and wrong answers a share and the variances
        within and between items bound each other, and the nearest possible ones are taken."""
        if self.parameters.family != "binary":
            return self.parameters
        shares = self.shares
        noise = [
            math.sqrt(max(mean * (1 - mean) - variance, 0.0))
            for mean, variance in ((shares.mean_a, shares.variance_a), (shares.mean_b, shares.variance_b))
        ]
        return replace(self.parameters, sd_item=shares.sd_item, sd_run_a=noise[0], sd_run_b=noise[1])

    @cached_property
    def shares(self) -> ItemShares:
        """Items' chances of a right answer."""
        of, (mean_a, mean_b) = self.parameters, (min(max(mean, 0.0), 1.0) for mean in self.means)
        return ItemShares(
            mean_a,
            mean_b,
            max(mean_a * (1 - mean_a) - of.sd_run_a**2, 0.0),
            max(mean_b * (1 - mean_b) - of.sd_run_b**2, 0.0),
            of.sd_item,
            of.icc,
        )

    @property
    def variance(self) -> float:
        """Of the estimated difference: the sizes of the clusters are those of the plan, not of an endless one."""
        plan = self.plan
        size = mean_partners(plan.sizes)
        return self.realised.error_variance(
            n_items=plan.n_items, runs_a=plan.runs_a, runs_b=plan.runs_b, cluster_size=size
        )

    @cached_property
    def df(self) -> float:
        """Bell and McCaffrey's degrees of freedom; clusters of equal size have one less than there are."""
        sizes = self.plan.sizes
        equal = int(sizes[0]) == int(sizes[-1])
        return float(len(sizes) - 1) if equal else bell_mccaffrey_df(sizes.astype(np.float64))

    @property
    def precision(self) -> EffectPrecision:
        """Variance and df of the difference, over the unit."""
        return EffectPrecision(self.variance / self.unit**2, self.df, len(self.plan.sizes) - 1, sys.maxsize)

    def computed(self) -> ComputedPower:
        """By the noncentral t."""
        equal = self.plan.sizes[0] == self.plan.sizes[-1]
        normal = self.parameters.family == "gaussian"
        return computed_power(
            self.effect / self.unit,
            self.precision,
            rule=self.rule,
            method="noncentral t" if normal and equal else "noncentral t (approximate)",
            exact=bool(normal and equal),
        )

    @property
    def block_size(self) -> int:
        width = self.plan.n_items if self.parameters.family == "binary" else len(self.plan.sizes)
        return min(BLOCK, 1 << max(2, int(math.log2(max(4, _CELLS_NESTED // width)))))

    def draw_block(self, rng: np.random.Generator, size: int) -> Replicates:
        drawn = self._binary_sums if self.parameters.family == "binary" else self._gaussian_sums
        return self.decide(drawn(rng, size))

    def decide(self, sums: Floats) -> Replicates:
        """Test comparisons by the sums of their items' differences in each cluster, shape (size, n_clusters)."""
        sizes, n = self.plan.sizes.astype(np.float64), self.plan.n_items
        estimate = sums.sum(axis=1) / n
        left = sums - sizes * estimate[:, None]
        error = np.sqrt((left**2) @ (1 / (1 - sizes / n))) / n
        flat = ~(error > _SLACK * np.abs(estimate)) | (error == 0)
        df = np.full(len(estimate), self.df)
        unit = self.unit
        p_value = wald_p(
            estimate / unit,
            np.where(flat, np.nan, error / unit),
            df,
            self.rule.alternative,
            margin=self.rule.margin,
        )
        nothing = flat & (estimate == 0) & (self.plan.margin is None)
        return Replicates.of_tests(
            estimate,
            np.where(nothing, 1.0, p_value),
            standard_error=error,
            df=df,
            status=np.where(flat & ~nothing, _ALIKE, 0).astype(np.int64),
            directed=self.plan.margin is None,
        )

    def _gaussian_sums(self, rng: np.random.Generator, size: int) -> Floats:
        of, plan, sizes = self.parameters, self.plan, self.plan.sizes.astype(np.float64)
        own = of.sd_item**2 * (1 - of.icc) + of.sd_run_a**2 / plan.runs_a + of.sd_run_b**2 / plan.runs_b
        spread = np.sqrt(sizes**2 * of.sd_item**2 * of.icc + sizes * own)
        return np.asarray(sizes * self.effect + spread * rng.standard_normal((size, len(sizes))))

    def _binary_sums(self, rng: np.random.Generator, size: int) -> Floats:
        plan, sizes = self.plan, self.plan.sizes
        cluster = np.repeat(np.arange(len(sizes)), sizes)
        chance_a, chance_b = self.shares.draw(rng, size, cluster)
        right_a = rng.binomial(plan.runs_a, np.clip(chance_a, 0, 1)) / plan.runs_a
        right_b = rng.binomial(plan.runs_b, np.clip(chance_b, 0, 1)) / plan.runs_b
        starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
        return np.asarray(np.add.reduceat(right_b - right_a, starts, axis=1))


# Two systems under the same prompts or seeds for all items: the rating study with a prompt for each
# worker.


@dataclass(frozen=True)
class CrossedRuns(_PlannedRuns):
    """A plan, what scores vary by, and a true difference B - A in the unit of the scores.

    Prompts and items are both samples; the test is that of the crossed mixed model with Kenward and Roger's
    (1997) degrees of freedom, of answers that are right or wrong by a logit model.
    """

    def __post_init__(self) -> None:
        if self.parameters.kind != "crossed":
            raise InputError("These parameters are of nested runs: take NestedRuns.")
        if self.plan.runs_a != self.plan.runs_b or self.plan.runs_a < 2:
            raise InputError(
                f"Both systems have the same prompts, at least 2 of them; got {self.plan.runs_a} and "
                f"{self.plan.runs_b}."
            )
        self.plan.rule(self.unit)  # refuses what is no test

    @property
    def n_prompts(self) -> int:
        """Prompts or seeds."""
        return self.plan.runs_a

    @cached_property
    def ratings(self) -> Parameters:
        """The same model with a prompt for each worker, in scores that are divided by their unit.

        Raises
        ------
        ParametersError
            No effect on the log odds makes the difference.
        """
        return _ratings(self.parameters, self.effect, self.unit, clustered=self.plan.has_clusters)

    @cached_property
    def design(self) -> Design:
        """Every prompt with every item; clusters of items are documents."""
        plain = crossed(self.n_prompts, self.plan.n_items)
        if not self.plan.has_clusters:
            return plain
        sizes = self.plan.sizes
        codes = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
        return replace(plain, n_documents=len(sizes), document_of_item=codes)

    @cached_property
    def study(self) -> RatingStudy:
        """The rating study that is simulated."""
        return RatingStudy(self.ratings, self.design, rule=self.rule)

    @cached_property
    def precision(self) -> EffectPrecision:
        """Variance and df of the difference, over the unit. Clusters of unequal size: those of the complete study
        with clusters as large as an item's own is on average, and the variance of the sizes there are."""
        sizes = self.plan.sizes
        if not self.plan.has_clusters or sizes[0] == sizes[-1]:
            return effect_precision(self.ratings, self.design)
        size = max(round(mean_partners(sizes)), 2)
        count = max(round(self.plan.n_items / size), 2)
        near = effect_precision(self.ratings, with_documents(crossed(self.n_prompts, count * size), count))
        ratio = self._variance(self.plan.n_items, mean_partners(sizes)) / self._variance(count * size, size)
        return replace(near, variance=near.variance * ratio)

    def computed(self) -> ComputedPower:
        """By the crossed model's variance, its expected df and the noncentral t."""
        method = "crossed model, noncentral t"
        if self.is_latent:
            method = "crossed logit model, noncentral t (too high with few prompts: see the simulation)"
        return computed_power(self.effect / self.unit, self.precision, rule=self.rule, method=method)

    def draw(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> Replicates:
        """Simulate and test comparisons `first` to `first + n - 1`."""
        drawn = self.study.draw(n, seed=seed, first=first, n_jobs=n_jobs)
        unit = self.unit
        return replace(drawn, estimate=unit * drawn.estimate, standard_error=unit * drawn.standard_error)

    def _variance(self, n_items: float, size: float) -> float:
        """Of the mean difference in a complete table, clusters having `size` items."""
        of = self.ratings
        between = of.sd_item_slope**2 + of.sd_document_slope**2 * size
        noise = 2 * of.sd_residual**2 / self.n_prompts
        return of.sd_worker_slope**2 / self.n_prompts + (between + noise) / n_items


@lru_cache(maxsize=64)
def _ratings(of: RunsParameters, effect: float, unit: float, *, clustered: bool) -> Parameters:
    shared = of.icc if clustered else 0.0
    deviations = {
        "sd_worker_intercept": of.sd_prompt_level / unit,
        "sd_worker_slope": of.sd_prompt_slope / unit,
        "sd_item_intercept": of.sd_item_level / unit,
        "sd_item_slope": of.sd_item * (1 - shared) ** 0.5 / unit,
        "sd_document_slope": of.sd_item * shared**0.5 / unit,
    }
    if of.family == "binary":
        share, reach = of.baseline, 40.0  # without an effect this share is right; log odds of a threshold
        assert share is not None

        def at(threshold: float) -> Latent:
            return Latent(thresholds=(threshold,), link="logit").with_deviations(**deviations)

        threshold = root_between(lambda value: at(value).mean(0) - share, -reach, reach, xtol=1e-12)
        return Parameters.of_latent(at(float(threshold)).with_difference(effect))
    middle = (of.baseline or 0.0) / unit
    residual = of.sd_residual / unit
    return Parameters(baseline=middle, effect=effect / unit, sd_residual=residual, **deviations)


# The scenario of a plan, by the kind of its runs.

RunsScenario = NestedRuns | CrossedRuns


def runs_scenario(parameters: RunsParameters, plan: RunsPlan, *, effect: float) -> RunsScenario:
    """What is simulated or computed for a plan and a true difference B - A, in the unit of the scores."""
    if parameters.kind == "nested":
        return NestedRuns(parameters, plan, effect=effect)
    return CrossedRuns(parameters, plan, effect=effect)


# What a plan cannot exceed: its power with runs, or with items, without end; and the effects worth a
# search.

_ENDLESS = 10**9  # generations of an item: their noise is gone


@dataclass(frozen=True, slots=True)
class RunsCeiling:
    """The power with `endless` runs (or prompts), or with endless items, everything else as it is."""

    endless: Literal["runs", "prompts", "items"]
    power: float


def ceilings(scenario: RunsScenario) -> tuple[RunsCeiling, RunsCeiling]:
    """With endless runs of the same items; and with endless items under the same runs.

    Prompts that are few are few however many items there are: their variance stays, and t has one df less than
    there are prompts. Endless prompts leave the items' (and clusters') variance.
    """
    if isinstance(scenario, NestedRuns):
        plan = replace(scenario.plan, runs_a=_ENDLESS, runs_b=_ENDLESS)
        endless = replace(scenario, plan=plan).computed().power
        return RunsCeiling("runs", endless), RunsCeiling(
            "items", float(scenario.rule.can_show(scenario.effect))
        )
    of, m, n = scenario.ratings, scenario.n_prompts, scenario.plan.n_items
    few = len(scenario.plan.sizes) if scenario.plan.has_clusters else n
    partners = n / few if scenario.plan.has_clusters else 1.0
    between = (of.sd_item_slope**2 + partners * of.sd_document_slope**2) / n
    prompts, items = (
        EffectPrecision(between, few - 1.0, few - 1, m),
        EffectPrecision(of.sd_worker_slope**2 / m, m - 1.0, m - 1, m),
    )
    effect = scenario.effect / scenario.unit
    of_prompts, of_items = (
        computed_power(effect, limit, rule=scenario.rule, method="").power for limit in (prompts, items)
    )
    return RunsCeiling("prompts", of_prompts), RunsCeiling("items", of_items)


def farthest_effect(scenario: RunsScenario) -> float:
    """Where a search for a detectable effect can end, however few items there are: as far as shares go, or where
    everything is found."""
    of = scenario.parameters
    if of.family == "binary":
        assert of.baseline is not None
        if isinstance(scenario, CrossedRuns):
            latent = scenario.with_effect(0.0).ratings.latent
            assert latent is not None
            return latent.largest_difference
        return 2 * min(of.baseline, 1 - of.baseline)
    precision = replace(scenario, plan=replace(scenario.plan, n_items=2)).precision
    reach = 2 * rule_critical_value(scenario.rule, precision) + 6
    effect = reach * math.sqrt(precision.variance) * scenario.unit
    return effect if effect > 0 else 1.0
