"""How precisely a panel will know the strength of B: expected information at assumed values.

With W the expected information of the judgements about their thresholds and strengths, the estimate has the
variance Phi of generalised least squares, and a study estimates that variance on as many degrees of
freedom as the expected restricted information of the variances of workers and items gives (Kenward and Roger
1997, of the linearised model). Items are eliminated one kind at a time, so that a million cost no more than
a thousand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.inference.preference.latent_scale import FIRST, LatentPreference
from humeval_power.inference.preference.panel import Panel

Floats = NDArray[np.float64]
_STRENGTH = 1  # place among the fixed columns: threshold, strength, position
_N_FIXED = 3


@dataclass(frozen=True, slots=True)
class StrengthPrecision:
    """Standard error of the estimated strength, and the degrees of freedom on which a study knows it."""

    standard_error: float
    df: float


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """Information about threshold, strength, position and workers (`dense`), that `shared` by an item of each
    kind with those, shape (kinds, columns), its `own`, and how `many` items of the kind there are."""

    dense: Floats
    shared: Floats
    own: Floats
    many: Floats


def strength_precision(panel: Panel, truth: LatentPreference) -> StrengthPrecision:
    """Standard error and df of the strength that a panel will estimate, its position in the model."""
    counted = _counted(panel, truth)
    used = np.flatnonzero(np.diag(counted.dense) > 0)  # no threshold without ties
    dense, shared = counted.dense[np.ix_(used, used)], counted.shared[:, used]
    n_fixed, column = int((used < _N_FIXED).sum()), int(np.flatnonzero(used == _STRENGTH)[0])
    is_item, is_worker = panel.items_repeat, panel.workers_repeat
    item_variance = truth.sd_item**2 if is_item else 0.0
    remains = 1 / (1 + item_variance * counted.own)  # of an item's information beside its own variance
    removed = (shared * (counted.many * item_variance * remains)[:, None]).T @ shared
    marginal = dense - removed
    scale = np.ones(len(used))
    scale[n_fixed:] = truth.sd_worker if is_worker else 0.0
    inner = scale[:, None] * marginal * scale
    inner[range(n_fixed, len(used)), range(n_fixed, len(used))] += 1.0
    inverse = scale[:, None] * np.linalg.inv(inner) * scale
    phi = float(inverse[column, column])
    slope, information = _of_variances(
        marginal, inverse, shared * remains[:, None], counted, remains, n_fixed, column
    )
    kept = np.flatnonzero([is_worker, is_item])
    slope, information = slope[kept], information[np.ix_(kept, kept)]
    uncertainty = float(slope @ np.linalg.solve(information, slope)) if len(kept) else 0.0
    return StrengthPrecision(math.sqrt(phi), 2 * phi**2 / uncertainty if uncertainty > 0 else math.inf)


def _of_variances(
    marginal: Floats,
    inverse: Floats,
    rows: Floats,
    counted: _Counted,
    remains: Floats,
    n_fixed: int,
    column: int,
) -> tuple[Floats, Floats]:
    """How Phi changes with the variances of workers and items, and their expected information.

    `rows` are an item's shared information after its own variance; with Z'PZ in blocks, workers: M - M C M;
    worker and item: rows - rows C M; items: diagonal(own remains) - rows C rows'.
    """
    many, single = counted.many, counted.own * remains
    workers = marginal[n_fixed:]
    projected = workers[:, n_fixed:] - workers @ inverse @ workers.T
    crossed = rows[:, n_fixed:] - rows @ inverse @ workers.T
    within = inverse @ (rows.T * many) @ rows
    own = np.einsum("ja,ab,jb->j", rows, inverse, rows)
    items = float(many @ (single**2 - 2 * single * own)) + float(np.trace(within @ within))
    between = float((many[:, None] * crossed**2).sum())
    information = np.array([[float((projected**2).sum()), between], [between, items]]) / 2
    by_worker, by_item = workers @ inverse[:, column], rows @ inverse[:, column]
    return np.array([float(by_worker @ by_worker), float(many @ by_item**2)]), information


def _counted(panel: Panel, truth: LatentPreference) -> _Counted:
    """Sums over the judgements of each kind of item."""
    of_position = {x: truth.information(x, ties=truth.threshold > 0) for x in FIRST}
    size = _N_FIXED + (panel.n_workers if panel.workers_repeat else 0)
    dense = np.zeros((size, size))
    shared, own, number = [], [], []
    for worker, position, several in panel.kinds:
        row = np.zeros(size)
        for one, x in zip(worker, position, strict=True):
            columns = np.array([0, 1, 2, *([_N_FIXED + one] if panel.workers_repeat else [])])
            by_eta = np.array([0.0, 1.0, x, *([1.0] if panel.workers_repeat else [])])
            by_threshold = np.zeros(len(columns))
            by_threshold[0] = 1.0
            both = np.stack([by_threshold, by_eta])
            dense[np.ix_(columns, columns)] += several * both.T @ of_position[float(x)] @ both
            row[columns] += of_position[float(x)][1] @ both
        shared.append(row)
        own.append(sum(of_position[float(x)][1, 1] for x in position))
        number.append(several)
    return _Counted(dense, np.array(shared), np.array(own), np.array(number, dtype=np.float64))
