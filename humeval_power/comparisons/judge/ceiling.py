"""How well a judge agrees with people, beside how well people agree with each other.

Each worker is left out in turn: on the outputs of that worker, the mean rating of all others is compared with the
worker's ratings and with the judge's scores. The judge is so held against the same reference as a person is.
People are noisy: even a perfect judge reaches no more than sqrt(R) with the mean of k others,
R = k r / (1 + (k - 1) r) for a correlation r of two workers (Spearman 1910; Brown 1910), which is found from how
people agree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Literal

import numpy as np

from humeval_power.checking.columns import listing
from humeval_power.choices import DEFAULT_CONFIDENCE
from humeval_power.clusters import Clusters
from humeval_power.comparisons.judge.assisted import Codes, Floats
from humeval_power.comparisons.judge.means import JackknifeEstimate, jackknife
from humeval_power.comparisons.judge.table import JudgedTable
from humeval_power.errors import InputError, Problem

LEAST_OUTPUTS = 5  # that a worker shares with others, to be counted


@dataclass(frozen=True, slots=True)
class WorkerAgreement:
    """Of one worker: the correlation with the mean of the others, and the judge's on the same outputs."""

    worker: str
    n_outputs: int
    human: float
    judge: float


@dataclass(frozen=True, slots=True)
class JudgeCeiling:
    """Mean correlations over workers, weighted by their outputs.

    `human` : of a worker with the mean of the others; `judge` : of the judge with the same; `difference` : judge -
    human; `ceiling` : what a perfect judge would reach with the mean of the others; `share` : judge / ceiling, the
    judge's correlation with what people would say without noise. `others` : workers in that mean, on average
    (harmonic). `of` says what is correlated; `left_out` are workers who share too few outputs with others.
    """

    human: JackknifeEstimate
    judge: JackknifeEstimate
    difference: JackknifeEstimate
    ceiling: JackknifeEstimate
    share: JackknifeEstimate
    workers: tuple[WorkerAgreement, ...]
    left_out: tuple[str, ...]
    n_items: int
    n_outputs: int
    others: float
    of: str
    confidence: float
    n_clusters: int | None = None

    @property
    def n_beaten(self) -> int:
        """Workers with whose colleagues the judge agrees better than they do."""
        return sum(one.judge > one.human for one in self.workers)


def judge_ceiling(
    table: JudgedTable, pair: tuple[str, str] | None = None, *, confidence: float = DEFAULT_CONFIDENCE
) -> JudgeCeiling:
    """Agreement about all outputs, or where a pair is given about the items' differences B - A. InputError: a
    table without workers, or too few outputs that several of them rated."""
    if not table.is_rated_by_workers or table.worker is None:
        raise InputError(
            "How well people agree needs to be known: a column of workers, and outputs that several of them rated."
        )
    cells = _Cells.of_pair(table, pair) if pair is not None else _Cells.of_outputs(table)
    worker, unit, own, others, count = cells.left_out()
    judge = cells.judge[unit]
    n_workers = len(table.worker_names)
    enough = np.bincount(worker, minlength=n_workers) >= LEAST_OUTPUTS
    kept = enough[worker]
    if enough.sum() < 2:
        raise InputError(
            f"Fewer than 2 workers share {LEAST_OUTPUTS} outputs with others: nothing says how well people agree."
        )
    worker, unit = worker[kept], unit[kept]
    own, others, judge, count = (part[kept] for part in (own, others, judge, count))
    present, place = np.unique(worker, return_inverse=True)
    cluster, sizes = _clusters(cells.item[unit], table.clusters)
    sums = _sums(place, cluster, len(present), len(sizes), own, others, judge)
    harmonic = float(len(count) / np.sum(1 / count))

    def statistic(totals: Floats) -> Floats:
        return _statistics(totals, harmonic)

    estimates = jackknife(statistic, sums.reshape(len(sizes), -1), sizes, confidence=confidence)
    each = _correlations(sums.sum(axis=0))
    human, of_the_judge, difference, ceiling, share = estimates
    return JudgeCeiling(
        human=human,
        judge=of_the_judge,
        difference=difference,
        ceiling=ceiling,
        share=share,
        workers=tuple(
            WorkerAgreement(table.worker_names[code], int(n), float(own_r), float(judge_r))
            for code, n, own_r, judge_r in zip(present, np.bincount(place), *each, strict=True)
        ),
        left_out=tuple(name for name, has in zip(table.worker_names, enough, strict=True) if not has),
        n_items=len(np.unique(cells.item[unit])),
        n_outputs=len(np.unique(unit)),
        others=harmonic,
        of="outputs" if pair is None else f"differences {pair[1]} - {pair[0]}",
        confidence=confidence,
        n_clusters=None if table.clusters is None else len(sizes),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """Values that workers gave to units (outputs, or items' differences), (n,) each; of each unit the judge's score
    and its item."""

    worker: Codes
    unit: Codes
    value: Floats
    judge: Floats
    item: Codes

    @classmethod
    def of_outputs(cls, table: JudgedTable) -> _Cells:
        n_systems = len(table.system_names)
        judge = table.judge_means.ravel()
        unit = table.item * n_systems + table.system
        assert table.worker is not None  # checked by the caller
        kept = np.isfinite(table.human) & np.isfinite(judge[unit])
        worker, unit, value = _means(table.worker[kept], unit[kept], table.human[kept], len(judge))
        return cls(worker, unit, value, judge, np.arange(len(judge)) // n_systems)

    @classmethod
    def of_pair(cls, table: JudgedTable, pair: tuple[str, str]) -> _Cells:
        codes = table.codes_of(pair)
        scores = table.judge_means
        judge = scores[:, codes[1]] - scores[:, codes[0]]
        assert table.worker is not None  # checked by the caller
        parts = []
        for code in codes:
            kept = np.isfinite(table.human) & (table.system == code) & np.isfinite(judge[table.item])
            parts.append(_means(table.worker[kept], table.item[kept], table.human[kept], len(judge)))
        keys = [worker * len(judge) + item for worker, item, _ in parts]
        first = np.flatnonzero(np.isin(keys[0], keys[1]))
        second = np.searchsorted(keys[1], keys[0][first])
        worker, item = parts[0][0][first], parts[0][1][first]
        return cls(worker, item, parts[1][2][second] - parts[0][2][first], judge, np.arange(len(judge)))

    def left_out(self) -> tuple[Codes, Codes, Floats, Floats, Floats]:
        """Worker, unit, value, mean of the others and their number, for each value that has others."""
        size = len(self.judge)
        total, count = np.bincount(self.unit, self.value, size), np.bincount(self.unit, minlength=size)
        kept = count[self.unit] > 1
        unit, value = self.unit[kept], self.value[kept]
        n_others = count[unit] - 1.0
        others = np.asarray((total[unit] - value) / n_others)
        return self.worker[kept], unit, value, others, np.asarray(n_others)


def _means(worker: Codes, unit: Codes, value: Floats, n_units: int) -> tuple[Codes, Codes, Floats]:
    """One value of each worker and unit: repeated ratings are averaged."""
    keys, place = np.unique(worker * n_units + unit, return_inverse=True)
    return keys // n_units, keys % n_units, np.bincount(place, value) / np.bincount(place)


def _clusters(item: Codes, clusters: Clusters | None) -> tuple[Codes, Floats]:
    """The cluster of each value, and the items of each: an item is one of its own where nobody said otherwise."""
    codes = item if clusters is None else clusters.codes[item]
    present, place = np.unique(codes, return_inverse=True)
    if len(present) < 3:
        raise InputError(
            "Agreement needs at least 3 items, or clusters of items, with ratings of several workers."
        )
    pairs = np.unique(np.stack([place, item]), axis=1)
    return place, np.bincount(pairs[0]).astype(np.float64)


def _sums(
    worker: Codes,
    cluster: Codes,
    n_workers: int,
    n_clusters: int,
    own: Floats,
    others: Floats,
    judge: Floats,
) -> Floats:
    """Of each cluster and worker the count and the sums of products of (1, own, others, judge), (G, m, 4, 4)."""
    centred = [part - part.mean() for part in (own, others, judge)]
    columns = np.column_stack([np.ones(len(own)), *centred])
    products = columns[:, :, None] * columns[:, None, :]
    values = np.zeros((n_clusters, n_workers, 4, 4))
    np.add.at(values, (cluster, worker), products)
    return values


def _correlations(sums: Floats) -> tuple[Floats, Floats]:
    """Correlations of others with own values and with the judge, from sums (..., m, 4, 4)."""
    n = sums[..., 0, 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        cross = sums[..., 1:, 1:] - sums[..., 1:, :1] * sums[..., :1, 1:] / n[..., None, None]
        size = np.sqrt(np.einsum("...ii->...i", cross))
        human = cross[..., 0, 1] / (size[..., 0] * size[..., 1])
        judge = cross[..., 2, 1] / (size[..., 2] * size[..., 1])
    return np.nan_to_num(human), np.nan_to_num(judge)  # who gives the same value to all agrees with nobody


def _statistics(totals: Floats, others: float) -> Floats:
    """Human, judge, their difference, the ceiling and the judge's share of it, (..., 5)."""
    sums = totals.reshape(*totals.shape[:-1], -1, 4, 4)
    weight = sums[..., 0, 0]
    human, judge = ((each * weight).sum(axis=-1) / weight.sum(axis=-1) for each in _correlations(sums))
    ceiling = _ceiling(human, others)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.stack([human, judge, judge - human, ceiling, judge / ceiling], axis=-1)


def _ceiling(human: Floats, others: float) -> Floats:
    """sqrt(R) of the mean of k others, from the correlation h of one worker with it: h^2 = r R."""
    square = np.where(human > 0, human, np.nan) ** 2
    part = square * (others - 1)
    single = (part + np.sqrt(part**2 + 4 * others * square)) / (2 * others)
    return np.asarray(np.sqrt(others * single / (1 + (others - 1) * single)))


# Does a judge prefer the outputs of its own family?

Slope = Literal["estimated", "same-scale"]
NAME = "Own-family bias"
_MOST_ASSIGNMENTS = 200_000
_SUMS = 6  # of each system: outputs, judge, human, human^2, judge x human, 1 / ratings


@dataclass(frozen=True, slots=True)
class SystemBias:
    """Mean judge and human values of a system, and the `excess` of the judge over what the humans' values make one
    expect, in their units, against the mean of all systems."""

    system: str
    is_own: bool
    judge: float
    human: float
    excess: float
    n_outputs: int


@dataclass(frozen=True, slots=True)
class OwnFamilyBias:
    """`bias` in units of the judge, and over the slope `in_human_units`; errors are by items or by their clusters.

    `p_systems` : share of all choices of as many systems that show as large a bias, which asks whether the family
    differs from other systems as systems differ; `n_choices` of them.
    """

    bias: JackknifeEstimate
    in_human_units: JackknifeEstimate
    slope: JackknifeEstimate | None
    reliability: float
    systems: tuple[SystemBias, ...]
    own: tuple[str, ...]
    p_systems: float
    n_choices: int
    n_items: int
    confidence: float
    n_clusters: int | None = None

    @property
    def is_found(self) -> bool:
        """Whether the judge favours its family beyond chance at 1 - confidence."""
        return self.bias.p_value <= 1 - self.confidence and self.bias.estimate > 0


def own_family_bias(
    table: JudgedTable,
    own: tuple[str, ...],
    *,
    slope: Slope = "estimated",
    confidence: float = DEFAULT_CONFIDENCE,
) -> OwnFamilyBias:
    """The bias of the judge towards its `own` systems.

    slope : 'same-scale' takes b = 1: judge and humans scored on the same scale, in the same manner. InputError:
    systems that are not there, no others, outputs with one rating each (the noise is then unknown), human
    values that tell outputs apart no better than noise, or a judge that does not go with them.
    """
    is_own = _own(table, own)
    cells, sums, sizes = _sums_of_own_family(table)
    if slope == "estimated" and not (sums.sum(axis=0)[-1] > 0):
        raise InputError(
            "Every output has one rating, so that their noise is unknown: have some outputs rated twice, or say "
            "that judge and humans use the same scale (--same-scale)."
        )

    def statistic(totals: Floats) -> Floats:
        return _statistics_of_own_family(totals, is_own, slope)

    bias, human_units, b, reliability = jackknife(statistic, sums, sizes, confidence=confidence)
    if not (b.estimate > 0 and math.isfinite(b.estimate)):
        raise InputError(
            "Within systems the judge does not go with the humans, or their ratings tell outputs apart no better "
            "than noise: its scores cannot be put on their scale."
        )
    means = _system_means(sums.sum(axis=0), len(is_own))
    residual = means[0] - b.estimate * means[1]
    excess = (residual - residual.mean()) / b.estimate
    p_systems, n_choices = _by_choice(residual, is_own)
    return OwnFamilyBias(
        bias=bias,
        in_human_units=human_units,
        slope=b if slope == "estimated" else None,
        reliability=reliability.estimate,
        systems=tuple(
            SystemBias(name, bool(mine), float(j), float(h), float(e), int(n))
            for name, mine, j, h, e, n in zip(
                table.system_names, is_own, *means, excess, cells, strict=True
            )
        ),
        own=own,
        p_systems=p_systems,
        n_choices=n_choices,
        n_items=int((np.isfinite(table.human_means) & np.isfinite(table.judge_means)).any(axis=1).sum()),
        confidence=confidence,
        n_clusters=None if table.clusters is None else len(sizes),
    )


def _own(table: JudgedTable, own: tuple[str, ...]) -> np.ndarray:
    names = table.system_names
    absent = [name for name in own if name not in names]
    if absent or not own or len(set(own)) >= len(names):
        rule = f"the systems are {listing(names)}; one of them or more are the judge's own, and others are not."
        raise InputError(
            [Problem(rule, "Name the judge's own family: --own A", value=",".join(own), has_value=True)]
        )
    return np.array([name in own for name in names])


def _sums_of_own_family(table: JudgedTable) -> tuple[np.ndarray, Floats, Floats]:
    """Outputs of each system (K,), sums of each cluster (G, 6 K + 2) and its items (G,).

    The last two are the squares within outputs and their degrees of freedom. Ratings are first freed of how high
    each worker rates.
    """
    value = table.human.copy()
    rated = np.isfinite(value)
    if table.worker is not None and table.is_rated_by_workers:
        worker = table.worker[rated]
        level = np.bincount(worker, value[rated]) / np.bincount(worker)
        value[rated] += value[rated].mean() - level[worker]
    n_systems = len(table.system_names)
    key = (table.item * n_systems + table.system)[rated]
    size = len(table.item_names) * n_systems
    count = np.bincount(key, minlength=size)
    shape = len(table.item_names), n_systems
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(key, value[rated], size) / count
        squares = np.bincount(key, (value[rated] - mean[key]) ** 2, size).reshape(shape)
        human, share = mean.reshape(shape), (1 / count).reshape(shape)
    judge, count = table.judge_means, count.reshape(shape)
    known = (count > 0) & np.isfinite(judge)
    if known.sum(axis=0).min() < 2:
        lacking = table.system_names[int(known.sum(axis=0).argmin())]
        raise InputError(
            f"{lacking!r} has fewer than 2 outputs with a human value and a score of the judge."
        )
    human, judge = human - human[known].mean(), judge - judge[known].mean()
    parts = np.stack([np.ones(shape), judge, human, human**2, judge * human, share], axis=2)
    parts = np.where(known[:, :, None], parts, 0.0).reshape(shape[0], -1)
    within = np.where(known, squares, 0.0).sum(axis=1), np.where(known, count - 1, 0).sum(axis=1)
    rows = np.column_stack([parts, *within])[known.any(axis=1)]
    items = np.flatnonzero(known.any(axis=1))
    codes = np.arange(len(items)) if table.clusters is None else table.clusters.only(items).codes
    sums = np.zeros((int(codes.max()) + 1, rows.shape[1]))
    np.add.at(sums, codes, rows)
    return known.sum(axis=0), sums, np.bincount(codes).astype(np.float64)


def _system_means(totals: Floats, n_systems: int) -> Floats:
    """Mean judge and human values of each system, (2, ..., K)."""
    parts = totals[..., :-2].reshape(*totals.shape[:-1], n_systems, _SUMS)
    return np.stack([parts[..., 1] / parts[..., 0], parts[..., 2] / parts[..., 0]])


def _statistics_of_own_family(totals: Floats, is_own: np.ndarray, slope: Slope) -> Floats:
    """Bias, the same over b, b, and the reliability of the human means within systems, (..., 4)."""
    n_systems = len(is_own)
    parts = totals[..., :-2].reshape(*totals.shape[:-1], n_systems, _SUMS)
    with np.errstate(invalid="ignore", divide="ignore"):
        judge, human = parts[..., 1] / parts[..., 0], parts[..., 2] / parts[..., 0]
        free = parts[..., 0].sum(axis=-1) - n_systems
        covariance = (parts[..., 4] - parts[..., 0] * judge * human).sum(axis=-1) / free
        variance = (parts[..., 3] - parts[..., 0] * human**2).sum(axis=-1) / free
        noise = totals[..., -2] / totals[..., -1]
        mean_share = parts[..., 5].sum(axis=-1) / parts[..., 0].sum(axis=-1)
        true_variance = variance - noise * mean_share
        b = np.where(true_variance > 0, covariance / true_variance, np.nan)
        if slope == "same-scale":
            b = np.ones_like(b)
        weights = np.where(is_own, 1 / is_own.sum(), -1 / (~is_own).sum())
        bias = ((judge - b[..., None] * human) * weights).sum(axis=-1)
        return np.stack([bias, bias / b, b, true_variance / variance], axis=-1)


def _by_choice(residual: Floats, is_own: np.ndarray) -> tuple[float, int]:
    """Share of all choices of as many systems whose bias is at least as large, and how many there are."""
    n, k = len(residual), int(is_own.sum())
    n_choices = math.comb(n, k)
    if n_choices > _MOST_ASSIGNMENTS:
        return math.nan, n_choices
    observed = residual[is_own].sum()
    sums = np.array([residual[list(one)].sum() for one in islice(combinations(range(n), k), n_choices)])
    return float(np.mean(sums >= observed - 1e-12 * max(1.0, np.abs(residual).sum()))), n_choices
