"""Does a judge prefer the outputs of its own family?

A judge may score its own family higher because those outputs are better. So its scores are held against what
humans say: bias = (mean score of own - of others) - b (mean human value of own - of others), where b is the slope
of the judge on what humans would say without noise, within systems: Cov(judge, human) over the variance of the
human means less that of their noise (errors in variables; Fuller 1987). Without that correction noise in the
ratings would pass for bias wherever the own family is truly better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Literal

import numpy as np

from humeval_power.checking.columns import listing
from humeval_power.errors import InputError, Problem
from humeval_power.inference.judge.jackknife import Jackknifed, jackknife
from humeval_power.inference.judge.rated import Floats
from humeval_power.inference.judge.table import JudgedTable

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

    bias: Jackknifed
    in_human_units: Jackknifed
    slope: Jackknifed | None
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
    table: JudgedTable, own: tuple[str, ...], *, slope: Slope = "estimated", confidence: float = 0.95
) -> OwnFamilyBias:
    """The bias of the judge towards its `own` systems.

    slope : 'same-scale' takes b = 1: judge and humans scored on the same scale, in the same manner.

    Raises
    ------
    InputError
        Systems that are not there, no others, outputs with one rating each (the noise is then unknown), human
        values that tell outputs apart no better than noise, or a judge that does not go with them.
    """
    is_own = _own(table, own)
    cells, sums, sizes = _sums(table)
    if slope == "estimated" and not (sums.sum(axis=0)[-1] > 0):
        raise InputError(
            "Every output has one rating, so that their noise is unknown: have some outputs rated twice, or say "
            "that judge and humans use the same scale (--same-scale)."
        )

    def statistic(totals: Floats) -> Floats:
        return _statistics(totals, is_own, slope)

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


def _sums(table: JudgedTable) -> tuple[np.ndarray, Floats, Floats]:
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


def _statistics(totals: Floats, is_own: np.ndarray, slope: Slope) -> Floats:
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
