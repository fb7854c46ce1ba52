"""Errors of strengths where battles of a user go together: a sandwich that is unbiased if they do not (CR2).

At the fit the model is a weighted regression: a battle has the design J^1/2 D and the residual J^-1/2 g, D
being the derivatives of (eta, tie), g the score and J the information about them. Residuals of a cluster are
multiplied by the symmetric (I - H_gg)^-1/2 (Bell and McCaffrey 2002; Pustejovsky and Tipton 2018), which changes
them only along the few directions of the cluster's design. Degrees of freedom are Satterthwaite's, for independent
battles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.clusters import Clusters
from humeval_power.inference.rank.battles import Battles
from humeval_power.inference.rank.bradley_terry import BattleFit

Floats = NDArray[np.float64]
_KEPT = 4_000_000  # numbers, of the part of the df that clusters share; more clusters have no use of it
_TINY = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class BattleErrors:
    """Covariance of the parameters (p, p). `df` (K, K) are of differences of strengths, on the diagonal of a
    strength about the mean of all."""

    covariance: Floats
    df: Floats


def independent_errors(fit: BattleFit) -> BattleErrors:
    """By the information, as if every battle were independent of all others."""
    K = fit.model.n_systems
    return BattleErrors(_inverse(fit.information), np.full((K, K), np.inf))


def clustered_errors(fit: BattleFit, battles: Battles, clusters: Clusters) -> BattleErrors:
    """CR2 covariance and degrees of freedom where battles of a cluster go together."""
    model, K = fit.model, fit.model.n_systems
    bread = _inverse(fit.information)
    half = np.linalg.cholesky(bread).T
    meat = np.zeros_like(bread)
    systems = np.zeros((K, model.n_parameters))  # strengths about their mean
    systems[1:, : K - 1] = np.eye(K - 1)
    systems[:, : K - 1] -= 1 / K
    trace, squares = np.zeros((K, K)), np.zeros((K, K))
    shared: list[Floats] | None = [] if clusters.n_clusters * model.n_parameters * K <= _KEPT else None
    for members in clusters.members():
        rows = model.rows(battles.first[members], battles.second[members])
        law = model.law(rows, fit.parameters)
        slope = np.take_along_axis(law.slope, (1 - battles.outcome[members])[:, None, None], axis=1)[:, 0]
        touched = np.flatnonzero((rows != 0).any(axis=(0, 1)))
        rows = rows[:, :, touched]
        score = np.einsum("na,nap->p", slope, rows)
        own = np.asarray(np.einsum("nap,nab,nbq->pq", rows, law.information, rows, optimize=True))
        adjust = _adjustment(own, bread[np.ix_(touched, touched)])
        moved = bread[:, touched] @ adjust  # A^-1 C_g
        step = moved @ score
        meat += np.outer(step, step)
        by_system = systems @ moved  # (K, touched)
        spread = _contrasts(by_system @ own @ by_system.T)
        weight = half[:, touched] @ own @ by_system.T  # (p, K)
        inner = _contrasts(weight.T @ weight)
        trace += spread - inner
        squares += spread**2 - 2 * spread * inner
        if shared is not None:
            shared.append(weight)
    if shared is not None:
        squares += _shared_squares(np.array(shared))
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.where(squares > 0, trace**2 / squares, 1.0)
    return BattleErrors(meat, np.maximum(df, 1.0))


def _adjustment(own: Floats, bread: Floats) -> Floats:
    """What the score of a cluster with this information is multiplied by.

    With V S^2 V' the information, of which X_g = U S V' is a design, it is V S (I - S V' A^-1 V S)^-1/2 S^-1 V'.
    """
    values, vectors = np.linalg.eigh(own)
    kept = values > _TINY * max(float(values[-1]), 0.0)
    size, along = np.sqrt(values[kept]), vectors[:, kept]
    left = np.eye(len(size)) - size[:, None] * (along.T @ bread @ along) * size
    values, vectors = np.linalg.eigh(left)
    kept = values > _TINY
    root = (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T
    return np.asarray((along * size) @ root @ (along / size).T, dtype=np.float64)


def _inverse(matrix: Floats) -> Floats:
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def _contrasts(matrix: Floats) -> Floats:
    """Squared lengths: of each system on the diagonal, of the differences beside it."""
    own = np.diag(matrix)
    found = own[:, None] + own[None, :] - 2 * matrix
    np.fill_diagonal(found, own)
    return np.asarray(found)


def _shared_squares(weight: Floats) -> Floats:
    """Squared products of different clusters, summed, for every contrast; weight (n_clusters, p, K)."""
    K = weight.shape[2]
    found = np.zeros((K, K))
    for i in range(K):
        for j in range(i, K):
            of = weight[:, :, i] if i == j else weight[:, :, i] - weight[:, :, j]
            product = of.T @ of
            found[i, j] = found[j, i] = float((product**2).sum())
    return found
