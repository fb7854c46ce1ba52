"""Two classifiers compared by F1, MCC and the like with the randomisation test (Card et al. 2020, App. F).

The paired randomisation test of a metric that depends on the whole confusion matrix, such as F1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humeval_power.checking.columns import listing
from humeval_power.choices import DEFAULT_SWAPS, ContingencyMetric
from humeval_power.clusters import Clusters
from humeval_power.errors import InputError, Problem, refusal, refuse
from humeval_power.inference.clustered import ClusteredMean, clustered_mean
from humeval_power.inference.item_bootstrap import (
    Signs,
    drawn_p,
    drawn_swaps,
    listed_swaps,
    monte_carlo_interval,
)
from humeval_power.inference.mcnemar import critical_counts
from humeval_power.kernels.metrics.contingency import OF_A_CLASS, has_slope, metric_slopes, metric_value
from humeval_power.roots import root_between
from humeval_power.scenarios.contract import BlockScenario, ComputedPower, Replicates, normal_power
from humeval_power.scenarios.discordant_counts import enumerated_power
from humeval_power.simulation.study import replicate_generator

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
_CLOSE = 1e-12
_HELD = 2_000_000  # numbers in memory at a time; part of what a seed means


@dataclass(frozen=True, slots=True)
class ContingencyTest:
    """Two-sided paired randomisation test; `difference` is B - A.

    With two classes the p-value is exact and `n_swaps` is 0; else `n_extreme` of `n_swaps` random swaps gave
    a difference at least as large.
    """

    value_a: float
    value_b: float
    p_value: float
    n_swaps: int = 0
    n_extreme: int = 0

    @property
    def difference(self) -> float:
        """B - A."""
        return self.value_b - self.value_a

    @property
    def p_interval(self) -> tuple[float, float] | None:
        """95 % Monte Carlo interval of a p-value that was drawn; None for an exact one."""
        return monte_carlo_interval(self.n_extreme, self.n_swaps) if self.n_swaps else None


def contingency_test(
    counts: Counts,
    *,
    metric: ContingencyMetric,
    positive: int = 1,
    n_swaps: int = DEFAULT_SWAPS,
    seed: int = 1,
) -> ContingencyTest:
    """Test whether two systems differ in a metric.

    counts : (K, K, K) numbers of items by true class, prediction of A and prediction of B.
    positive : the class of F1, precision and recall.
    """
    if n_swaps < 1:
        raise InputError(f"At least one random swap is needed; got {n_swaps}.")
    value_a, value_b = (
        float(metric_value(metric, counts.sum(axis=axis).astype(np.float64), positive=positive))
        for axis in (2, 1)
    )
    if len(counts) == 2:
        p_value = exact_p_values(counts[None], metric=metric, positive=positive)[0]
        return ContingencyTest(value_a, value_b, float(p_value))
    rng = replicate_generator(seed, 0)
    extreme = int(drawn_extremes(counts[None], rng, metric=metric, positive=positive, n_swaps=n_swaps)[0])
    return ContingencyTest(value_a, value_b, drawn_p(extreme, n_swaps), n_swaps, extreme)


def exact_p_values(counts: Counts, *, metric: ContingencyMetric, positive: int) -> Floats:
    """P-values of tables of two classes, (n, 2, 2, 2), over every swap; shape (n,)."""
    from humeval_power.kernels.metrics.contingency import CODES, exact_p

    return np.asarray(exact_p(counts.astype(np.float64), CODES[metric], positive))


def drawn_extremes(
    counts: Counts, rng: np.random.Generator, *, metric: ContingencyMetric, positive: int, n_swaps: int
) -> Counts:
    """How many of `n_swaps` random swaps are at least as extreme as each table (n, K, K, K); shape (n,).

    With two classes the number is binomial with the exact p-value. Otherwise, of the items of one class to
    which the systems give a certain pair of different labels, a swap gives A a binomial number with each.
    """
    if counts.shape[1] == 2:
        chance = np.minimum(exact_p_values(counts, metric=metric, positive=positive), 1.0)
        return rng.binomial(n_swaps, chance).astype(np.int64)
    return np.array([_extremes(table, rng, metric, positive, n_swaps) for table in counts], dtype=np.int64)


def _extremes(
    table: Counts, rng: np.random.Generator, metric: ContingencyMetric, positive: int, n_swaps: int
) -> int:
    k = len(table)
    alike = np.diagonal(table, axis1=1, axis2=2)  # (true class, label of both)
    true, first, second = (
        np.array(
            [
                (c, i, j)
                for c in range(k)
                for i in range(k)
                for j in range(i + 1, k)
                if table[c, i, j] + table[c, j, i]
            ]
        )
        .reshape(-1, 3)
        .T
    )
    moved = table[true, first, second] + table[true, second, first]
    place = np.zeros((2, len(moved), k * k))
    place[0, np.arange(len(moved)), true * k + first] = 1.0
    place[1, np.arange(len(moved)), true * k + second] = 1.0
    fixed = np.zeros((k, k))
    fixed[:] = alike

    def difference(of_a: Floats) -> Floats:
        of_b = moved - of_a
        a = (of_a @ place[0] + of_b @ place[1]).reshape(-1, k, k) + fixed
        b = (of_b @ place[0] + of_a @ place[1]).reshape(-1, k, k) + fixed
        return metric_value(metric, b, positive=positive) - metric_value(metric, a, positive=positive)

    limit = abs(float(difference(table[true, first, second][None].astype(np.float64))[0])) - _CLOSE
    portion = max(1, _HELD // max(len(moved), k * k))
    extremes = 0
    for begin in range(0, n_swaps, portion):
        size = min(portion, n_swaps - begin)
        of_a = rng.binomial(moved, 0.5, size=(size, len(moved))).astype(np.float64)
        extremes += int((np.abs(difference(of_a)) >= limit).sum())
    return extremes


# A metric of the confusion matrix where items come in clusters: whole clusters swapped, and influence
# values.

Codes = NDArray[np.int64]


def cluster_swap_test(
    codes: Codes,
    n_classes: int,
    clusters: Clusters,
    *,
    metric: ContingencyMetric,
    positive: int = 1,
    n_swaps: int = DEFAULT_SWAPS,
    seed: int = 1,
) -> ContingencyTest:
    """Test whether two systems differ in a metric by exchanging all their answers to whole clusters.

    codes : (n_items, 3) true class, prediction of A, prediction of B, counted from 0.
    n_swaps : exchanges that are drawn; where there are no more of them all are counted, and `n_swaps` of the
        result is 0.
    """
    if clusters.n_items != len(codes):
        raise InputError(f"There are {len(codes):,} items, and clusters of {clusters.n_items:,}.")
    if n_swaps < 1:
        raise InputError(f"At least one random swap is needed; got {n_swaps}.")
    cells = codes[:, :1] * n_classes + codes[:, 1:]
    places, half = _exchanged(cells, clusters)
    of_a, of_b = (np.bincount(column, minlength=n_classes**2).astype(np.float64) for column in cells.T)

    def value(flat: Floats) -> Floats:
        return metric_value(metric, flat.reshape(-1, n_classes, n_classes), positive=positive)

    def differences(signs: Signs) -> Floats:
        away = np.zeros((len(signs), n_classes**2))
        away[:, places] = signs.astype(np.float64) @ half
        middle = (of_a + of_b) / 2
        return np.asarray(value(middle + away) - value(middle - away))

    value_a, value_b = (float(value(each)[0]) for each in (of_a, of_b))
    limit = abs(value_b - value_a) - _CLOSE
    if len(half) == 0:
        return ContingencyTest(value_a, value_b, 1.0)
    if len(half) - 1 <= math.log2(n_swaps):
        p_value = float((np.abs(differences(listed_swaps(len(half)))) >= limit).mean())
        return ContingencyTest(value_a, value_b, p_value)
    rng, extreme = replicate_generator(seed, 0), 0
    portion = max(1, _HELD // max(len(half), n_classes**2))
    for begin in range(0, n_swaps, portion):
        signs = drawn_swaps(len(half), min(portion, n_swaps - begin), rng)
        extreme += int((np.abs(differences(signs)) >= limit).sum())
    return ContingencyTest(value_a, value_b, drawn_p(extreme, n_swaps), n_swaps, extreme)


def influence_mean(
    codes: Codes,
    n_classes: int,
    clusters: Clusters | None,
    *,
    metric: ContingencyMetric,
    positive: int = 1,
) -> ClusteredMean | None:
    """The difference B - A of a metric, with the CR2 error of its influence values.

    An item with true class c, to which the systems give a and b, moves the difference by slope_B[c, b] -
    slope_A[c, a], less the mean of these: the first order of the delta method. Without clusters every item is one
    of its own. For accuracy these are the differences themselves. None where the metric is not smooth, or there
    is a single item.
    """
    n_items = len(codes)
    moved = np.zeros(n_items)
    value = np.zeros(2)
    for side, place in enumerate((1, 2)):
        pairs = codes[:, [0, place]]
        cells = np.bincount(pairs[:, 0] * n_classes + pairs[:, 1], minlength=n_classes**2)
        confusion = cells.reshape(n_classes, n_classes).astype(np.float64) / n_items
        if n_items < 2 or not has_slope(metric, confusion):
            return None
        slopes = metric_slopes(metric, confusion, positive=positive)
        moved += (2 * side - 1) * slopes[codes[:, 0], codes[:, place]]
        value[side] = float(metric_value(metric, confusion, positive=positive))
    return clustered_mean(moved - moved.mean() + (value[1] - value[0]), clusters)


def _exchanged(cells: Codes, clusters: Clusters) -> tuple[Codes, Floats]:
    """The cells of the confusion matrix that an exchange changes, (m,), and half of what B has there more than A in
    each cluster where they differ, (G', m)."""
    differ = cells[:, 0] != cells[:, 1]
    of, moved = clusters.codes[differ], cells[differ]
    places = np.unique(moved)
    half = np.zeros((clusters.n_clusters, len(places)))
    np.add.at(half, (of, np.searchsorted(places, moved[:, 1])), 0.5)
    np.subtract.at(half, (of, np.searchsorted(places, moved[:, 0])), 0.5)
    return places, half[(half != 0).any(axis=1)]


# How two systems classify the same items: for each true class, the joint table of their predictions.

_SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class PairedTables:
    """Probabilities (or shares of items) that add up to 1, shape (K, K, K): true class, prediction of A,
    prediction of B (Card et al. 2020, Table 11). `classes` are their names."""

    probability: Floats
    classes: tuple[str, ...]

    def __post_init__(self) -> None:
        shape, k = self.probability.shape, len(self.classes)
        if k < 2 or shape != (k, k, k):
            raise InputError(f"Tables of {k} classes must have the shape (K, K, K), K >= 2; got {shape}.")
        if not (np.isfinite(self.probability).all() and (self.probability >= 0).all()):
            raise InputError("Probabilities must be numbers of at least 0.")
        if abs(self.probability.sum() - 1) > _SLACK:
            raise InputError(f"The probabilities must add up to 1; got {self.probability.sum():g}.")

    @property
    def confusion_a(self) -> Floats:
        """Probability of each true class and prediction of A, (K, K)."""
        return np.asarray(self.probability.sum(axis=2))

    @property
    def confusion_b(self) -> Floats:
        """The same of B."""
        return np.asarray(self.probability.sum(axis=1))

    @property
    def agreement(self) -> float:
        """Share of items to which both systems give the same label."""
        return float(np.trace(self.probability.sum(axis=0)))

    def shifted(self, share: float) -> PairedTables:
        """Give B a share of the items that A alone has right, the same share in every class.

        Item by item the two predictions are exchanged, so agreement stays as it is, and so do the items
        that both systems have right. A negative share gives A items that B alone has right.
        """
        values = self.probability.copy()
        for true in range(len(self.classes)):
            for wrong in range(len(self.classes)):
                if wrong == true:
                    continue
                only_a, only_b = self.probability[true, true, wrong], self.probability[true, wrong, true]
                moved = share * (only_a if share > 0 else only_b)
                values[true, true, wrong] = only_a - moved
                values[true, wrong, true] = only_b + moved
        return replace(self, probability=values)


def correlated_errors(
    shares: ArrayLike, recalls: ArrayLike, *, correlation: float, classes: Sequence[str] | None = None
) -> PairedTables:
    """Two equally good systems whose being right is correlated alike within every class.

    With correlation 0 errors are independent given the class. Of a class with recall r, each system alone
    has (1 - correlation) r (1 - r) right. Both wrong means the same wrong label; wrong labels are equally
    likely.

    Parameters
    ----------
    shares : (K,), of the items, by true class. recalls : (K,), probability of being right, by true class.

    Raises
    ------
    InputError
        Shares that do not add up to 1, recalls outside [0, 1], a correlation outside [0, 1).
    """
    share, right = _checked(shares, recalls)
    if not 0 <= correlation < 1:
        raise InputError(
            f"The correlation of the systems' errors (--correctness-correlation) must lie in [0, 1); "
            f"got {correlation:g}. At 1 they would "
            "never differ."
        )
    return _symmetric(share, right, alone=(1 - correlation) * right * (1 - right), classes=classes)


def equal_agreement(
    shares: ArrayLike, recalls: ArrayLike, *, agreement: float, classes: Sequence[str] | None = None
) -> PairedTables:
    """Two equally good systems that agree on the same share of the items of every class.

    Raises
    ------
    InputError
        As `correlated_errors`, or an agreement that the recalls do not allow: they need 2 min(r, 1 - r) of
        disagreement at most.
    """
    share, right = _checked(shares, recalls)
    least = float(1 - 2 * np.minimum(right, 1 - right).min())
    if not least - _SLACK <= agreement < 1:
        raise InputError(
            f"An agreement of {agreement:g} in every class is impossible with these recalls: it must lie in "
            f"[{least:.4g}, 1). Take a larger one, or give the correlation of the systems' errors instead."
        )
    return _symmetric(share, right, alone=np.full(len(right), (1 - agreement) / 2), classes=classes)


def binary_recalls(*, prevalence: float, recall: float, precision: float) -> Floats:
    """Recalls of the negative and the positive class, (2,), from what is usually reported.

    Raises
    ------
    InputError
        Shares outside (0, 1), or a precision that would need more false positives than there are negatives.
    """
    given = {"prevalence": prevalence, "recall": recall, "precision": precision}
    problems = [
        Problem(f"The {name} must lie between 0 and 1; got {value:g}.", "Divide by 100.")
        for name, value in given.items()
        if not (0 < value < 1 or (value == 1 and name != "prevalence"))
    ]
    refuse(problems)
    false_positives = prevalence * recall * (1 - precision) / precision
    if false_positives > 1 - prevalence:
        least = prevalence * recall / (prevalence * recall + 1 - prevalence)
        raise InputError(
            f"A precision of {precision:g} is impossible: with all items called positive it would be "
            f"{least:.4g}."
        )
    return np.array([1 - false_positives / (1 - prevalence), recall])


def observed_tables(counts: NDArray[np.int64], classes: tuple[str, ...]) -> PairedTables:
    """Observed shares as probabilities of the next test set."""
    return PairedTables(counts / counts.sum(), classes)


def _checked(shares: ArrayLike, recalls: ArrayLike) -> tuple[Floats, Floats]:
    share, right = np.asarray(shares, dtype=np.float64), np.asarray(recalls, dtype=np.float64)
    problems = []
    if share.shape != right.shape or share.ndim != 1 or len(share) < 2:
        problems.append(
            Problem(f"Each class needs a share and a recall; got {share.size} and {right.size}.", "")
        )
    if not ((share > 0).all() and abs(share.sum() - 1) < _SLACK):
        problems.append(Problem(f"Shares must be positive and add up to 1; got {share.tolist()}.", ""))
    if not ((right >= 0) & (right <= 1)).all():
        problems.append(
            Problem(f"Recalls must lie between 0 and 1; got {right.tolist()}.", "Divide by 100.")
        )
    refuse(problems)
    return share, right


def _symmetric(
    share: Floats, right: Floats, *, alone: Floats, classes: Sequence[str] | None
) -> PairedTables:
    """alone : (K,), probability given the class that A alone is right; the same for B."""
    k = len(share)
    values = np.zeros((k, k, k))
    for true in range(k):
        values[true, true, true] = right[true] - alone[true]
        for wrong in range(k):
            if wrong != true:
                values[true, true, wrong] = values[true, wrong, true] = alone[true] / (k - 1)
                values[true, wrong, wrong] = (1 - right[true] - alone[true]) / (k - 1)
    weighted = np.maximum(values, 0.0) * share[:, None, None]
    return PairedTables(weighted, tuple(classes or map(str, range(k))))


COUNTING = ("accuracy", "micro-f1", "recall")
DEFAULT_FLIPS = 1000
METHOD = "normal approximation (delta method) of the metric and its null distribution"
_BLOCK = 256  # studies drawn from one child of the seed


@dataclass(frozen=True, eq=False)
class ContingencyStudy(BlockScenario):
    """A test set of items drawn from joint tables, and the metric B - A that is tested on it.

    `base` are the tables as given. Another effect is made from them by `shift`: B gets this share of the
    items that A alone has right, the same in every class (negative: A those of B). `positive` is the class
    of F1, precision and recall. `n_flips` None gives exact p-values where there are two classes; otherwise
    p-values are (1 + extremes) / (1 + n_flips) with that many random swaps, 1,000 if nothing is said.
    """

    n_items: int
    _: KW_ONLY
    base: PairedTables
    metric: ContingencyMetric = "f1"
    positive: int = 1
    shift: float = 0.0
    n_flips: int | None = None
    alpha: float = 0.05

    def __post_init__(self) -> None:
        k = len(self.base.classes)
        problems = []
        if self.n_items < 2:
            problems.append((f"A test set needs at least 2 items; got {self.n_items}.", ""))
        if self.metric not in get_args(ContingencyMetric):
            known = ", ".join(get_args(ContingencyMetric))
            problems.append((f"There is no metric {self.metric!r}.", f"Choose {known}."))
        if not 0 <= self.positive < k:
            problems.append((f"The positive class is one of 0 to {k - 1}; got {self.positive}.", ""))
        if not -1 <= self.shift <= 1:
            problems.append((f"The shift is a share between -1 and 1; got {self.shift:g}.", ""))
        if not 0 < self.alpha < 1:
            problems.append((f"alpha must lie between 0 and 1; got {self.alpha:g}.", ""))
        elif self.n_flips is not None and 1 / (1 + self.n_flips) > self.alpha:
            rule = f"{self.n_flips} random flips cannot reach a p-value of {self.alpha:g}."
            problems.append((rule, f"Take at least {math.ceil(1 / self.alpha) - 1}."))
        if problems:
            raise InputError([Problem(rule, remedy) for rule, remedy in problems])

    @cached_property
    def tables(self) -> PairedTables:
        """The joint tables with the shift."""
        return self.base.shifted(self.shift)

    @property
    def value_a(self) -> float:
        """True value of the metric for A."""
        return self._value(self.tables.confusion_a)

    @property
    def value_b(self) -> float:
        """True value of the metric for B."""
        return self._value(self.tables.confusion_b)

    @property
    def true_effect(self) -> float:
        """Metric of B minus metric of A."""
        return self.value_b - self.value_a

    def _value(self, confusion: Floats) -> float:
        return float(metric_value(self.metric, confusion, positive=self.positive))

    @property
    def reach(self) -> tuple[float, float]:
        """The smallest and the largest effect that shifts can make at this agreement."""
        return replace(self, shift=-1.0).true_effect, replace(self, shift=1.0).true_effect

    def with_effect(self, effect: float) -> ContingencyStudy:
        """The same test set, agreement and items that both have right, with the shift that has this effect.

        Raises
        ------
        InputError
            An effect out of reach.
        """
        low, high = self.reach
        if not low <= effect <= high:
            raise InputError(
                f"An effect of {effect:+.4g} is impossible where the systems agree on "
                f"{100 * self.base.agreement:.3g} % of the items: it must lie in [{low:.4g}, {high:.4g}]. "
                "Assume less agreement or a smaller effect."
            )
        unmoved = replace(self, shift=0.0)
        if unmoved.true_effect == effect:
            return unmoved
        share = root_between(
            lambda share: replace(self, shift=share).true_effect - effect, -1.0, 1.0, xtol=1e-15
        )
        return replace(self, shift=float(share))

    @property
    def block_size(self) -> int:
        return _BLOCK

    def draw_block(self, rng: np.random.Generator, size: int) -> Replicates:
        chance = self.tables.probability
        drawn = rng.multinomial(self.n_items, (chance / chance.sum()).ravel(), size=size)
        counts = drawn.reshape(size, *chance.shape)
        value_a, value_b = (
            metric_value(self.metric, counts.sum(axis=axis).astype(np.float64), positive=self.positive)
            for axis in (3, 2)
        )
        return Replicates.of_tests(value_b - value_a, self._p_values(counts, rng))

    def _p_values(self, counts: Counts, rng: np.random.Generator) -> Floats:
        if self.is_exact:
            return exact_p_values(counts, metric=self.metric, positive=self.positive)
        n_flips = self.n_flips or DEFAULT_FLIPS
        extremes = drawn_extremes(counts, rng, metric=self.metric, positive=self.positive, n_swaps=n_flips)
        return np.asarray((1 + extremes) / (1 + n_flips))

    @property
    def is_exact(self) -> bool:
        """Whether p-values in simulations are exact."""
        return self.n_flips is None and len(self.base.classes) == 2

    @property
    def null_sd(self) -> float:
        """Standard deviation of the difference when predictions are exchanged at random.

        By the delta method, where the two systems' confusion matrices are averaged: an item in the cell
        (c, a, b) adds slope[c, b] - slope[c, a] with a random sign.
        """
        slope = self._slopes((self.tables.confusion_a + self.tables.confusion_b) / 2)
        part = slope[:, None, :] - slope[:, :, None]
        return math.sqrt(float((self.tables.probability * part**2).sum()) / self.n_items)

    @property
    def standard_error(self) -> float:
        """Standard deviation of the estimated difference over test sets, by the delta method: an item in
        the cell (c, a, b) adds slope_B[c, b] - slope_A[c, a]."""
        chance = self.tables.probability
        slope_a, slope_b = self._slopes(self.tables.confusion_a), self._slopes(self.tables.confusion_b)
        part = slope_b[:, None, :] - slope_a[:, :, None]
        variance = float((chance * part**2).sum() - (chance * part).sum() ** 2)
        return math.sqrt(max(variance, 0.0) / self.n_items)

    def computed(self) -> ComputedPower:
        """Power, Type M and Type S: enumerated where only counts of right items matter (accuracy, recall),
        otherwise with the difference normal around its true value."""
        if self.metric in COUNTING:
            return self._enumerated()
        return normal_power(
            self.true_effect,
            null_sd=self.null_sd,
            standard_error=self.standard_error,
            alpha=self.alpha,
            method=METHOD,
        )

    def _enumerated(self) -> ComputedPower:
        """Swaps then act on the numbers of items that one system alone has right: McNemar's exact test.

        Items of the class vary in number. For Type M, the mean of their reciprocal given the number that
        differ is expanded to the second order.
        """
        chance, n = self.tables.probability, self.n_items
        counted = [self.positive] if self.metric == "recall" else range(len(chance))
        only_a = sum(float(chance[c, c].sum() - chance[c, c, c]) for c in counted)
        only_b = sum(float(chance[c, :, c].sum() - chance[c, c, c]) for c in counted)
        moved, items = only_a + only_b, float(sum(chance[c].sum() for c in counted))

        def weight(total: Counts) -> Floats:
            other = (items - moved) / (1 - moved) if moved < 1 else 0.0
            mean = np.maximum(total + (n - total) * other, 1.0)
            return np.asarray((1 + (n - total) * other * (1 - other) / mean**2) / mean)

        power = enumerated_power(
            n,
            discordant=moved,
            difference=only_b - only_a,
            true_effect=self.true_effect,
            critical=lambda total: critical_counts(total, test="exact", alpha=self.alpha),
            weight=weight,
        )
        return power if self.is_exact else replace(power, exact=False)

    def _slopes(self, confusion: Floats) -> Floats:
        return metric_slopes(self.metric, confusion, positive=self.positive)


# Labels of the same items: the true ones and those of two systems, counted by class.

_LISTED = 12  # classes in a message


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of the same items as codes (n_items, 3): true class, prediction of A, prediction of B, counted from 0
    in the order of `classes`, which is sorted."""

    codes: NDArray[np.int64]
    classes: tuple[str, ...]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Numbers of items, (K, K, K) [true class, prediction of A, of B]."""
        k = len(self.classes)
        true, a, b = self.codes.T
        return np.bincount((true * k + a) * k + b, minlength=k**3).reshape(k, k, k).astype(np.int64)


def coded(gold: Sequence[str], system_a: Sequence[str], system_b: Sequence[str]) -> Labels:
    """Labels as codes."""
    if not len(gold) == len(system_a) == len(system_b):
        raise InputError(
            f"Every item needs a true label and two predictions; got {len(gold)}, {len(system_a)} and "
            f"{len(system_b)}."
        )
    classes, codes = np.unique(np.array([gold, system_a, system_b]), return_inverse=True)
    if len(classes) < 2:
        raise InputError("There is only one class in these labels; a metric needs at least two.")
    return Labels(codes.reshape(3, -1).T.astype(np.int64), tuple(str(name) for name in classes))


def counted(
    gold: Sequence[str], system_a: Sequence[str], system_b: Sequence[str]
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Numbers of items, (K, K, K) [true class, prediction of A, of B], and the classes in sorted order.

    Raises
    ------
    InputError
        What `coded` raises.
    """
    labels = coded(gold, system_a, system_b)
    return labels.counts, labels.classes


def place_of_positive(metric: str, classes: tuple[str, ...], label: str | None) -> int:
    """Where the positive class is; without a label it is '1', and 0 if the metric has none.

    Raises
    ------
    InputError
        A label that is no class, or none where the metric needs one.
    """
    wanted = "1" if label is None else label
    if wanted in classes:
        return classes.index(wanted)
    if label is None and metric not in OF_A_CLASS:
        return 0
    known = listing(classes, limit=_LISTED)
    rule = f"The {metric} of which class? The classes are {known}."
    if label is not None:
        rule = f"There is no class {label!r}; the classes are {known}."
    raise refusal(rule, "Name one with --positive, or take --metric macro-f1.")


def foreign_labels(counts: NDArray[np.int64], classes: tuple[str, ...]) -> tuple[str, ...]:
    """Say which predicted labels no item has: usually a slip, and macro-F1 counts each as a class of 0."""
    foreign = [name for name, items in zip(classes, counts.sum(axis=(1, 2)), strict=True) if not items]
    if not foreign:
        return ()
    return (
        f"No item has the true label {listing(foreign, limit=_LISTED)}, which a system predicts. Each such label "
        "is a class whose F1 is 0 for both systems in macro-F1; if it is a slip, correct it.",
    )
