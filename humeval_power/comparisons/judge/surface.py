"""Does a judge go by what is no quality: how long an output is, or in which place it was shown?

Length is asked among outputs that people value alike: a judge that likes good outputs likes long ones where the
long ones are good. A person's rating is noisy, and another person's of the same output stands for the truth
(two-stage least squares, `quality.favours`). Place is asked of pairs that were judged in both orders, by the exact
sign test on those whose verdicts follow the place (McNemar 1947).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import DEFAULT_CONFIDENCE
from humeval_power.comparisons.judge.check import (
    LEAST_TWICE,
    kind_of,
    on_one_scale,
    output_clusters,
    ratings_of_two,
)
from humeval_power.comparisons.judge.quality import FEW, Favour, favours
from humeval_power.comparisons.judge.table import JudgedTable
from humeval_power.errors import InputError
from humeval_power.inference.clustered import clustered_mean, student_interval, student_p
from humeval_power.inference.mcnemar import exact_p

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LengthBias:
    """What a judge gives an output for one SD of length, in units of its scores.

    `distortion` : by how much judge less people grows, which is what plain means of the judge carry, and no favour;
        None where they use different scales. `favour` : beyond others that people value alike; None where too few
        outputs (`n_twice`) have ratings of two people. `sd` is that of the lengths.
    """

    distortion: Favour | None
    favour: Favour | None
    sd: float
    n_outputs: int
    n_twice: int
    n_items: int
    confidence: float
    n_clusters: int | None = None


def length_bias(table: JudgedTable, *, confidence: float = DEFAULT_CONFIDENCE) -> LengthBias:
    """Of the first judge of a table that knows the lengths of its outputs. InputError: too few outputs with a
    score, a human value and a length, or lengths that are all alike."""
    score, human, length = table.judge_means, table.human_means, table.lengths
    both = np.isfinite(score) & np.isfinite(human) & np.isfinite(length)
    n = int(both.sum())
    if n < FEW:
        raise InputError(f"{n} outputs have a score, a human value and a length: {FEW} are needed.")
    sd = float(length[both].std(ddof=1))
    if not sd > 0:
        raise InputError("All lengths are alike, so that nothing tells what a judge gives for length.")
    standard = (length - length[both].mean()) / sd
    values = table.human[np.isfinite(table.human)]
    distortion = None
    if on_one_scale(kind_of(score[both]), kind_of(values), score[both], table.human):
        distortion = _distortion(table, standard, both, confidence)
    key, first, second = ratings_of_two(table)
    known = both.ravel()[key]
    key, first, second = key[known], first[known], second[known]
    favour = None
    n_systems = len(table.system_names)
    if len(key) >= LEAST_TWICE:
        present, system = np.unique(key % n_systems, return_inverse=True)
        design = np.column_stack([np.eye(len(present))[system], standard.ravel()[key]])
        item = key // n_systems
        cluster = item if table.clusters is None else table.clusters.codes[item]
        contrast = np.eye(design.shape[1])[-1:]
        found = favours(
            score.ravel()[key], first, second, design, contrast, ("length",), cluster, confidence=confidence
        )
        favour = found[0] if found and found[0].standard_error > 0 else None
    items = np.flatnonzero(both.any(axis=1))
    return LengthBias(
        distortion,
        favour,
        sd,
        n,
        len(key),
        len(items),
        confidence,
        None if table.clusters is None else table.clusters.only(items).n_clusters,
    )


def _distortion(
    table: JudgedTable, standard: Floats, both: NDArray[np.bool_], confidence: float
) -> Favour | None:
    """The slope of judge less people on length within systems, with errors by items or their clusters."""
    error, x, (items, systems) = (
        (table.judge_means - table.human_means)[both],
        standard[both],
        np.nonzero(both),
    )
    if len(np.unique(items if table.clusters is None else table.clusters.codes[items])) < FEW:
        return None
    size = np.bincount(systems)
    x, error = (each - (np.bincount(systems, each) / np.maximum(size, 1))[systems] for each in (x, error))
    square = float(np.mean(x**2))
    if not square > 0:
        return None
    slope = float(np.mean(x * error)) / square
    # the influence of each output on the slope: their mean is its error
    mean = clustered_mean(slope + x * (error - slope * x) / square, output_clusters(table, items))
    if not mean.standard_error > 0:
        return None
    return Favour(
        "length",
        slope,
        mean.standard_error,
        mean.df,
        student_p(slope / mean.standard_error, mean.df),
        student_interval(slope, mean.standard_error, mean.df, confidence),
        len(x),
    )


@dataclass(frozen=True, slots=True)
class PositionBias:
    """Verdicts of pairs that were judged in both orders.

    `first` and `second` are pairs whose verdicts follow the place, to what was shown first or second; `same` those
    with one verdict in both orders; `one_order` those that were left out. `shift` is the mean over pairs of
    verdicts for the first less those for the second, from -1 to 1.
    """

    first: int
    second: int
    same: int
    one_order: int
    shift: float
    interval: tuple[float, float]
    p_value: float
    confidence: float

    @property
    def n_pairs(self) -> int:
        """Judged in both orders."""
        return self.first + self.second + self.same


def position_bias(
    preference: Floats, position: Floats, item: Codes, *, confidence: float = DEFAULT_CONFIDENCE
) -> PositionBias:
    """From verdicts (-1 for A, 0 a tie, 1 for B), the place (+1/2: B was first) and the pair (codes), (n,)
    each. Several verdicts of a pair in one order are averaged. InputError: fewer than two pairs that were
    judged in both orders."""
    size = int(item.max()) + 1 if len(item) else 0
    to_first = preference * np.sign(position)
    means = np.full((2, size), math.nan)
    for order, side in enumerate((-1, 1)):
        chosen = np.sign(position) == side
        count = np.bincount(item[chosen], minlength=size)
        total = np.bincount(item[chosen], to_first[chosen], size)
        means[order, count > 0] = total[count > 0] / count[count > 0]
    known = np.isfinite(means).all(axis=0)
    n, judged = int(known.sum()), int(np.isfinite(means).any(axis=0).sum())
    if n < 2:
        raise InputError(
            f"{n} pairs were judged in both orders: without them a judge's taste for a place cannot be told from "
            "its preference. Have it judge some pairs the other way round."
        )
    shift = means[:, known].mean(axis=0)
    first, second = int((shift > 1e-12).sum()), int((shift < -1e-12).sum())
    mean = clustered_mean(shift, None)
    if mean.standard_error > 0:
        ends = student_interval(mean.estimate, mean.standard_error, mean.df, confidence)
    else:  # all pairs shift alike; if not at all, so do at most so many others
        most = 1 - ((1 - confidence) / 2) ** (1 / n) if not first + second else math.nan
        ends = (-most, most)
    return PositionBias(
        first,
        second,
        n - first - second,
        judged - n,
        mean.estimate,
        (max(-1.0, ends[0]), min(1.0, ends[1])),
        float(exact_p(first, second)),
        confidence,
    )
