"""How precisely a study of several systems knows each of their differences, without a simulation.

In a regular design (equal loads, equally many ratings of every item under every system) generalised least squares
are plain means: the difference of systems j and k has the variance

    (ws_j + ws_k) / m + (is_j + is_k) / n + 2 s2 / (n k r)

with ws, is the variances of worker:system and item:system; items out of d documents add (ds_j + ds_k) / d. Its df
are those of the expected REML information (Kenward and Roger 1997), in which the worker-item pairs fall into
workers, items, planes where a worker's direction meets an item's, and the rest. That is exact for complete designs
and for one rating per item; between, all planes are taken to be alike, as in a balanced incomplete block design.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from humeval_power.designs import Design
from humeval_power.errors import InputError, ParametersError
from humeval_power.estimation.joint.fit import joint_precision
from humeval_power.rules import JOINT_DOCUMENTS, ComparisonFamily
from humeval_power.studies.fit.max_t import contrast_factor, contrasts_of, pair_design
from humeval_power.studies.power.formula import effect_precision
from humeval_power.studies.power.required import Variances, dimensions, pseudo_inverse, regular_precision
from humeval_power.study_counts import ExpectedCounts, StudyCounts
from humeval_power.systems import SystemsParameters

Floats = NDArray[np.float64]
Pairs = tuple[tuple[int, int], ...]
AnyStudy: TypeAlias = StudyCounts | ExpectedCounts | Design
_MOST_PAIRS = 1_000  # comparisons planned for at once
_MOST_KEPT = 64  # precisions, and with them the assignments that they are of


class SystemsPrecision(NamedTuple):
    """What a study knows of the differences second - first of `pairs`.

    `covariance` (K, K) is that of the estimated means, up to what all of them share; `standard_error` and `df`
    (pairs,) are those that its tests use on average; `smallest` is min(workers, items) - 1.
    """

    pairs: Pairs
    covariance: Floats
    standard_error: Floats
    df: Floats
    smallest: int

    @property
    def true_error(self) -> Floats:
        """Standard deviations of the estimated differences, (pairs,): the standard errors where the model holds."""
        first, second = np.array(self.pairs).T
        variance = np.diag(self.covariance)
        return np.asarray(np.sqrt(variance[first] + variance[second] - 2 * self.covariance[first, second]))

    def factor_of(self, pairs: Pairs) -> Floats:
        """Rows of length 1 whose products are the correlations of the differences of pairs (`contrast_factor`)."""
        return contrast_factor(self.covariance, contrasts_of(pairs, len(self.covariance)))


def systems_precision(
    parameters: SystemsParameters, study: AnyStudy, family: ComparisonFamily
) -> SystemsPrecision:
    """Precision of every comparison of a family.

    study : counts, of which a regular design is taken; a design, of which the real assignment is, or its strata
        where every worker rates everything. An unpaired study of which there are only counts is taken to know its
        variances as well as a paired one.
    Raises InputError: a joint model of items in documents, documents that vary where the study has none, no
    residual variance, or more than a thousand comparisons.
    """
    n = len(family.pairs(parameters.names))
    if n > _MOST_PAIRS:
        raise InputError(
            f"{n:,} comparisons of {parameters.n_systems} systems are too many to plan for at once; at most "
            f"{_MOST_PAIRS:,} are taken. Compare every system with a baseline, or plan for fewer systems."
        )
    if parameters.sd_residual == 0:
        raise ParametersError("sd_residual must be above 0 to plan a study: ratings are never exact.")
    check_systems_documents(parameters, study, family)
    # the means do not matter: a search asks for the same study under several of them
    level = replace(parameters, means=(0.0,) * parameters.n_systems, effect=None)
    return _precision(level, study, family)


def check_systems_documents(
    parameters: SystemsParameters, study: AnyStudy, family: ComparisonFamily
) -> None:
    """Refuse documents of a joint model, and those that vary where the study does not say which items share one."""
    if study.n_documents and family.model == "joint":
        raise InputError(JOINT_DOCUMENTS)
    if not study.n_documents and parameters.has_documents:
        raise InputError(
            "The systems vary between documents, and the study has none. Say how many documents the items come "
            "out of: as many as items, if no two share one."
        )


@lru_cache(maxsize=_MOST_KEPT)
def _precision(
    parameters: SystemsParameters, study: AnyStudy, family: ComparisonFamily
) -> SystemsPrecision:
    pairs = family.places(parameters.names)
    assigned = study if isinstance(study, Design) and not study.is_balanced else None
    if family.model == "pairwise":
        covariance = _regular_covariance(parameters, study)
        if assigned is None:
            error, df = _pairs_of_counts(parameters, study, pairs)
        else:
            error, df = _pairs_of_design(parameters, assigned, pairs)
            if (
                assigned.n_documents
            ):  # of unequal ones, or dealt item by item, the means weigh ratings unlike
                covariance = _of_pairs(covariance, error, pairs)
    elif assigned is None:
        covariance, error, df = _joint_of_counts(parameters, study, family, pairs)
    else:
        covariance, error, df = _joint_of_design(parameters, assigned, family, pairs)
    smallest = min(study.n_workers, study.n_documents or study.n_items)
    return SystemsPrecision(pairs, covariance, error, df, int(smallest) - 1)


def _shape(study: AnyStudy) -> tuple[float, float, float, int]:
    """Workers, items, different workers for an item and system, and ratings by each of them."""
    r = study.n_repeats
    k = study.ratings_per_item / r if isinstance(study, Design) else study.ratings_per_item
    return study.n_workers, study.n_items, float(k), r


def _own_variances(parameters: SystemsParameters) -> tuple[Floats, Floats, float]:
    """Variances (1 + K,) of workers and of items, what systems share first; and the residual's."""
    worker, item = np.array(parameters.variances("worker")), np.array(parameters.variances("item"))
    return worker, item, parameters.sd_residual**2


def _regular_covariance(parameters: SystemsParameters, study: AnyStudy) -> Floats:
    """Of the means, without what all share."""
    m, n, k, r = _shape(study)
    worker, item, residual = _own_variances(parameters)
    own = worker[1:] / m + item[1:] / n + residual / (n * k * r)
    if study.n_documents:
        own += np.array(parameters.variances("document"))[1:] / study.n_documents
    return np.diag(own)


def _of_pairs(covariance: Floats, error: Floats, pairs: Pairs) -> Floats:
    """Independent means whose differences have these standard errors, with variances near to the given ones."""
    first, second = np.array(pairs).T
    which = np.abs(contrasts_of(pairs, len(covariance)))
    own = np.diag(covariance)
    missing = np.linalg.lstsq(which, error**2 - own[first] - own[second], rcond=None)[0]
    return np.diag(np.maximum(own + missing, 0.0))


def _pairs_of_counts(parameters: SystemsParameters, study: AnyStudy, pairs: Pairs) -> tuple[Floats, Floats]:
    """Each pair by the formula of two systems."""
    m, n, k, r = _shape(study)
    two = [Variances.of(parameters.pair(*pair)) for pair in pairs]
    if r > 1:
        design = _two_systems(study)
        precisions = [effect_precision(parameters.pair(*pair), design) for pair in pairs]
        return np.array([one.standard_error for one in precisions]), np.array(
            [one.df for one in precisions]
        )
    by_kind = Variances(*(np.array(kind, dtype=float) for kind in zip(*two, strict=True)))
    precision = regular_precision(
        by_kind, workers=m, items=n, ratings_per_item=k, documents=study.n_documents
    )
    return np.sqrt(precision.variance), precision.df


def _two_systems(study: AnyStudy) -> Design:
    from humeval_power.designs import crossed, with_documents

    design = crossed(int(study.n_workers), int(study.n_items), n_repeats=study.n_repeats)
    return with_documents(design, study.n_documents) if study.n_documents else design


def _pairs_of_design(parameters: SystemsParameters, design: Design, pairs: Pairs) -> tuple[Floats, Floats]:
    """Each pair by the formula of two systems for the ratings of the two; pairs of the same SDs once, as the
    assignment of one pair is much like that of another."""
    known: dict[tuple[tuple[float, ...], ...], tuple[float, float]] = {}
    kinds = [_deviations(parameters, pair) for pair in pairs]
    for kind, pair in zip(kinds, pairs, strict=True):
        if kind not in known:
            precision = effect_precision(parameters.pair(*pair), pair_design(design, *pair))
            known[kind] = precision.standard_error, precision.df
    error, df = np.array([known[kind] for kind in kinds]).T
    return error, df


def _deviations(parameters: SystemsParameters, pair: tuple[int, int]) -> tuple[tuple[float, ...], ...]:
    """What tells the precision of one pair from that of another."""
    own = parameters.sd_worker_system, parameters.sd_item_system, parameters.sd_document_system
    return tuple(sorted(tuple(sds[place] for sds in own) for place in pair))


def _joint_of_design(
    parameters: SystemsParameters, design: Design, family: ComparisonFamily, pairs: Pairs
) -> tuple[Floats, Floats, Floats]:
    worker, item, residual = _own_variances(parameters)
    precision = joint_precision(
        design.assignment, worker=worker, item=item, residual=residual, variances=family.variances
    )
    contrasts = contrasts_of(pairs, parameters.n_systems)
    variance = np.einsum("ck,kl,cl->c", contrasts, precision.covariance, contrasts)
    slopes = np.einsum("ck,qkl,cl->cq", contrasts, precision.derivatives, contrasts)
    spread = np.einsum("cq,qr,cr->c", slopes, precision.uncertainty, slopes)
    covariance = precision.covariance
    if (
        family.variances == "common" and not parameters.is_alike
    ):  # what is true, not what the model takes for true
        covariance = joint_precision(
            design.assignment, worker=worker, item=item, residual=residual, variances="own"
        ).covariance
    return covariance, np.sqrt(variance), 2.0 * variance**2 / spread


def _joint_of_counts(
    parameters: SystemsParameters, study: AnyStudy, family: ComparisonFamily, pairs: Pairs
) -> tuple[Floats, Floats, Floats]:
    m, n, k, r = _shape(study)
    worker, item, residual = _own_variances(parameters)
    K, common = parameters.n_systems, family.variances == "common"
    if common:
        worker[1:], item[1:] = worker[1:].mean(), item[1:].mean()
    information = _information(_shape(study), worker, item, residual)
    gradient = np.zeros((len(pairs), 2 * K + 3))
    rows, (first, second) = np.arange(len(pairs)), np.array(pairs).T
    for chosen in (first, second):
        gradient[rows, 1 + chosen], gradient[rows, K + 2 + chosen] = 1.0 / m, 1.0 / n
    gradient[:, -1] = 2.0 / (n * k * r)
    if common:
        together = np.zeros((2 * K + 3, 5))
        together[0, 0] = together[1 : K + 1, 1] = together[K + 1, 2] = together[K + 2 : -1, 3] = together[
            -1, 4
        ] = 1
        information, gradient = together.T @ information @ together, gradient @ together
    own = worker[1:] / m + item[1:] / n + residual / (n * k * r)
    variance = own[first] + own[second]
    spread = np.einsum("cq,qr,cr->c", gradient, pseudo_inverse(information), gradient)
    return _regular_covariance(parameters, study), np.sqrt(variance), 2.0 * variance**2 / spread


def _information(
    shape: tuple[float, float, float, int], worker: Floats, item: Floats, noise: float
) -> Floats:
    """Expected information of the variances: worker (1 + K), item (1 + K), residual; shape (2 K + 3, 2 K + 3).

    In every part of the space V = noise I + load Cov(worker) x e e' + ratings Cov(item) x c c', with unit vectors e
    and c of a worker's and an item's direction.
    """
    m, n, k, r = shape
    parts = dimensions(*(np.array(float(count)) for count in (m, n, k)))
    K = len(worker) - 1
    load, ratings = float(parts.load) * r, k * r
    by_worker = load * (worker[0] + np.diag(worker[1:]))
    by_item = ratings * (item[0] + np.diag(item[1:]))
    q = float(parts.overlap)
    eye, nothing = np.eye(K), np.zeros((K, K))
    cos, sin = np.sqrt(q), np.sqrt(1 - q)
    plane = np.block(
        [
            [noise * eye + by_worker + q * by_item, cos * sin * by_item],
            [cos * sin * by_item, noise * eye + (1 - q) * by_item],
        ]
    )
    wide, one = np.hstack([eye, nothing]), np.hstack([cos * eye, sin * eye])
    free = float(parts.residual) + n * k * (r - 1)
    result = np.zeros((2 * K + 3, 2 * K + 3))
    for count, V, e, c in (
        (float(parts.meeting), plane, wide, one),
        (float(parts.confounded), noise * eye + by_worker + by_item, eye, eye),
        (float(parts.worker), noise * eye + by_worker, eye, nothing),
        (float(parts.item), noise * eye + by_item, nothing, eye),
        (free, noise * eye, nothing, nothing),
    ):
        if count > 0:
            result += 0.5 * count * _part(np.linalg.inv(V), load, ratings, e, c)
    return result


def _part(U: Floats, load: float, ratings: float, e: Floats, c: Floats) -> Floats:
    """tr(U V_a U V_b) of one part; U = V^-1."""
    to_e, to_c = U @ e.T, U @ c.T
    worker, item = _traces(to_e.T @ to_e), _traces(to_c.T @ to_c)
    K = len(e)
    result = np.empty((2 * K + 3, 2 * K + 3))
    half = K + 1
    result[:half, :half] = load**2 * _squares(e @ to_e)
    result[:half, half:-1] = load * ratings * _squares(e @ to_c)
    result[half:-1, :half] = result[:half, half:-1].T
    result[half:-1, half:-1] = ratings**2 * _squares(c @ to_c)
    result[:half, -1] = result[-1, :half] = load * worker
    result[half:-1, -1] = result[-1, half:-1] = ratings * item
    result[-1, -1] = (U * U).sum()
    return result


def _traces(square: Floats) -> Floats:
    """tr(D_t square) for D = all ones and each e e', shape (1 + K,)."""
    return np.append(square.sum(), np.diag(square))


def _squares(U: Floats) -> Floats:
    """tr(D_s U D_t U') for the same D, shape (1 + K, 1 + K)."""
    summed = np.append(U.sum(axis=0, keepdims=True), U, axis=0)
    return np.asarray(np.append(summed.sum(axis=1, keepdims=True), summed, axis=1) ** 2)
