"""Whether a comparison of several systems can be trusted: predictions, and the means without each worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import FitError
from humeval_power.estimation.joint.fit import JointFit
from humeval_power.inference.analyze.influence import MOST_REFITS
from humeval_power.inference.analyze.screening import WorkerCheck, screen_workers
from humeval_power.ratings import Ratings

if TYPE_CHECKING:
    from scipy import sparse

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class JointPredictions:
    """What a joint fit predicts, on [0, 1].

    `workers` (n_workers,) is what a worker gives all systems, `worker_systems` (n_workers, K) what each system
    gets beyond that; `items` and `item_systems` likewise. Zero where nothing was rated. `fitted` and `residual`
    are those of each rating.
    """

    workers: Floats
    worker_systems: Floats
    items: Floats
    item_systems: Floats
    fitted: Floats
    residual: Floats


@dataclass(frozen=True, slots=True)
class WithoutWorker:
    """The means without one worker at the variances of the whole fit.

    `shift` is the largest change of a system's mean about the average of all systems, of `system`. `best` is
    then the system of the highest mean; `swapped` counts the pairs of systems that change places. `reason` says
    why there are no means, and then the others say nothing.
    """

    worker: str
    n_ratings: int
    shift: float
    system: str
    best: str
    swapped: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class JointDiagnostics:
    """Predictions of a joint fit, workers worth a look, and the means without each of the busiest workers;
    `n_not_tried` workers were not left out. `best` is the system of the highest mean of the whole fit."""

    best: str
    predictions: JointPredictions
    workers: tuple[WorkerCheck, ...]
    left_out: tuple[WithoutWorker, ...]
    n_not_tried: int


class _Solution(NamedTuple):
    means: Floats
    effects: tuple[Floats, Floats, Floats, Floats]


def diagnose_jointly(
    ratings: Ratings,
    fitted: JointFit,
    *,
    largest: int = MOST_REFITS,
    advance: Callable[[int], None] | None = None,
) -> JointDiagnostics:
    """Predict, leave out each of the `largest` busiest workers, and screen; `advance` is called after each of them.

    Raises
    ------
    FitError
        Ratings that do not determine the means.
    """
    everything = np.ones(ratings.n_ratings, dtype=bool)
    whole = _solved(ratings, fitted, everything)
    worker, worker_system, item, item_system = whole.effects
    predicted = (
        whole.means[ratings.system]
        + worker[ratings.worker]
        + worker_system[ratings.worker, ratings.system]
        + item[ratings.item]
        + item_system[ratings.item, ratings.system]
    )
    count = np.bincount(ratings.worker)
    chosen = np.sort(np.argsort(-count, kind="stable")[:largest])
    left_out = []
    for code in chosen:
        left_out.append(_without(ratings, fitted, int(code), whole.means))
        if advance is not None:
            advance(1)
    return JointDiagnostics(
        ratings.system_names[int(np.argmax(whole.means))],
        JointPredictions(*whole.effects, fitted=predicted, residual=ratings.rating - predicted),
        screen_workers(ratings),
        tuple(left_out),
        ratings.n_workers - len(chosen),
    )


def _without(ratings: Ratings, fitted: JointFit, code: int, means: Floats) -> WithoutWorker:
    kept = ratings.worker != code
    name, n = ratings.worker_names[code], int((~kept).sum())
    lost = np.flatnonzero(np.bincount(ratings.system[kept], minlength=ratings.n_systems) == 0)
    if len(lost):
        reason = f"nobody else rated {ratings.system_names[lost[0]]}"
        return WithoutWorker(name, n, np.nan, "", "", 0, reason)
    try:
        others = _solved(ratings, fitted, kept).means
    except FitError as error:
        return WithoutWorker(name, n, np.nan, "", "", 0, str(error))
    change = (others - others.mean()) - (means - means.mean())
    most = int(np.argmax(np.abs(change)))
    before, after = (np.sign(np.subtract.outer(each, each)) for each in (means, others))
    return WithoutWorker(
        name,
        n,
        float(change[most]),
        ratings.system_names[most],
        ratings.system_names[int(np.argmax(others))],
        int((before * after < 0).sum()) // 2,
    )


def _solved(ratings: Ratings, fitted: JointFit, kept: NDArray[np.bool_]) -> _Solution:
    """Means and predicted effects at the variances of the fit, by Henderson's (1975) equations of the kept rows."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    worker, item, system = ratings.worker[kept], ratings.item[kept], ratings.system[kept]
    K, n_workers, n_items = ratings.n_systems, ratings.n_workers, ratings.n_items
    variances = _variances(fitted, ratings)
    residual = fitted.standard_deviations["sd_residual"] ** 2
    codes = (worker, worker * K + system, item, item * K + system)
    sizes = (n_workers, n_workers * K, n_items, n_items * K)
    columns, ratios, places = [_indicators(system, K)], [np.zeros(K)], []
    for code, size, variance in zip(codes, sizes, variances, strict=True):
        occurring = np.unique(code)
        occurring = occurring[variance[occurring] > 0]
        place = np.full(size, -1, dtype=np.int64)
        place[occurring] = np.arange(len(occurring))
        columns.append(_indicators(place[code], len(occurring)))
        ratios.append(residual / variance[occurring])
        places.append(occurring)
    matrix = sparse.hstack(columns, format="csc")
    equations = (matrix.T @ matrix + sparse.diags(np.concatenate(ratios))).tocsc()
    options = {"SymmetricMode": True}
    try:
        factor = splu(equations, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    except RuntimeError as error:
        raise FitError("the ratings do not determine the means") from error
    solution = factor.solve(matrix.T @ ratings.rating[kept])
    effects, start = [], K
    for occurring, size in zip(places, sizes, strict=True):
        whole = np.zeros(size)
        whole[occurring] = solution[start : start + len(occurring)]
        effects.append(whole)
        start += len(occurring)
    return _Solution(
        solution[:K], (effects[0], effects[1].reshape(-1, K), effects[2], effects[3].reshape(-1, K))
    )


def _indicators(code: Codes, size: int) -> sparse.csr_matrix:
    """A column for each level, rows of ones; negative codes have none."""
    from scipy import sparse

    rows = np.flatnonzero(code >= 0)
    return sparse.csr_matrix((np.ones(len(rows)), (rows, code[rows])), shape=(len(code), size))


def _variances(fitted: JointFit, ratings: Ratings) -> tuple[Floats, Floats, Floats, Floats]:
    """The variance of every level of the four random effects, in the order of their codes."""
    sds = fitted.standard_deviations

    def of(noun: str, n: int) -> tuple[Floats, Floats]:
        name = f"sd_{noun}_system"
        if fitted.variances == "common":
            each = np.full(ratings.n_systems, sds[name] ** 2)
        else:
            each = np.array([sds[f"{name} of {system}"] ** 2 for system in ratings.system_names])
        return np.full(n, sds[f"sd_{noun}"] ** 2), np.tile(each, n)

    return (*of("worker", ratings.n_workers), *of("item", ratings.n_items))
