"""Errors of strengths where battles of a user go together: a sandwich that is unbiased if they do not (CR2).

At the fit the model is a weighted regression: a battle has the design J^1/2 D and the residual J^-1/2 g, D
being the derivatives of (eta, tie), g the score and J the information about them. Residuals of a cluster are
multiplied by the symmetric (I - H_gg)^-1/2 (Bell and McCaffrey 2002; Pustejovsky and Tipton 2018), which changes
them only along the few directions of the cluster's design. Degrees of freedom are Satterthwaite's, for independent
battles.

With many clusters the correction is made for those that hold much of what is known of some difference, the others
are scaled by G / (G - 1), and the degrees of freedom are those of the information that each cluster has about a
system.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from humeval_power.clusters import Clusters
from humeval_power.inference.rank.battles import Battles
from humeval_power.inference.rank.bradley_terry import BattleFit, Contributions

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
_MOST_EXACT = 300  # clusters of which each is corrected, and its df found
_KEPT = 4_000_000  # numbers of the df of all pairs
_LARGE = 0.05  # of what is known of a difference: the cluster's leverage there
_TINY = 1e-10
_POWER_STEPS = 8


@dataclass(frozen=True, slots=True, eq=False)
class BattleErrors:
    """Covariance of the parameters (p, p). `df` (K, K) are of differences of strengths, on the diagonal of a
    strength about the mean of all."""

    covariance: Floats
    df: Floats


def independent_errors(fit: BattleFit) -> BattleErrors:
    """By the information, as if every battle were independent of all others."""
    return BattleErrors(fit.covariance, np.full((fit.n_systems,) * 2, np.inf))


def clustered_errors(fit: BattleFit, battles: Battles, clusters: Clusters) -> BattleErrors:
    """CR2 covariance and degrees of freedom where battles of a cluster go together."""
    small = clusters.n_clusters * len(fit.parameters) * fit.n_systems <= _KEPT
    exact = small and clusters.n_clusters <= _MOST_EXACT
    return exact_errors(fit, battles, clusters) if exact else sparse_errors(fit, battles, clusters)


def exact_errors(fit: BattleFit, battles: Battles, clusters: Clusters) -> BattleErrors:
    """Every cluster's residuals are corrected; time in proportion to clusters x K x K."""
    K, bread = fit.n_systems, fit.covariance
    values, vectors = np.linalg.eigh(bread)
    half = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    meat = np.zeros_like(bread)
    trace, squares = np.zeros((K, K)), np.zeros((K, K))
    weights, rows = [], fit.of_battles(battles)
    for members in clusters.members():
        touched, score, own = _cluster(fit, rows.only(members))
        adjust = _adjustment(own, bread[np.ix_(touched, touched)])
        moved = bread[:, touched] @ adjust  # A^-1 C_g
        step = moved @ score
        meat += np.outer(step, step)
        by_system = moved[:K]
        spread = _contrasts(by_system @ own @ by_system.T)
        weight = half[:, touched] @ own @ by_system.T  # (p, K)
        inner = _contrasts(weight.T @ weight)
        trace += spread - inner
        squares += spread**2 - 2 * spread * inner
        weights.append(weight)
    squares += _shared_squares(np.array(weights))
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.where(squares > 0, trace**2 / squares, 1.0)
    return BattleErrors(meat, np.maximum(df, 1.0))


def sparse_errors(fit: BattleFit, battles: Battles, clusters: Clusters) -> BattleErrors:
    """Time in proportion to battles, and to clusters by the systems that each met, squared."""
    bread, G = fit.covariance, clusters.n_clusters
    rows = fit.of_battles(battles)
    scores = _scores(fit, rows, clusters)
    meat = np.asarray((scores.T @ scores).todense()) * (G / (G - 1))
    information, leverage = known_of_systems(fit, rows, clusters)
    large = np.flatnonzero(leverage > _LARGE)
    if len(large):
        order = np.argsort(clusters.codes, kind="stable")
        ends = np.concatenate([[0], np.cumsum(clusters.sizes)])
        for cluster in large:
            touched, score, own = _cluster(fit, rows.only(order[ends[cluster] : ends[cluster + 1]]))
            inside = bread[np.ix_(touched, touched)]
            if _largest_leverage(own, inside) > _LARGE:
                better = _adjustment(own, inside) @ score
                meat[np.ix_(touched, touched)] += np.outer(better, better) - np.outer(score, score) * (
                    G / (G - 1)
                )
    df = herfindahl_df(information)
    pairs = np.minimum(df[:, None], df[None, :])
    return BattleErrors(np.asarray(bread @ meat @ bread), np.maximum(pairs, 1.0))


def known_of_systems(
    fit: BattleFit, rows: Contributions, clusters: Clusters
) -> tuple[sparse.csr_array, Floats]:
    """The information of each cluster about each system (G, K), and the sum of its leverages (G,)."""
    G, K = clusters.n_clusters, fit.n_systems
    weight = rows.weight[:, 0]
    at = np.concatenate([clusters.codes, clusters.codes])
    systems = np.concatenate([rows.first, rows.second])
    information = sparse.coo_array((np.concatenate([weight, weight]), (at, systems)), shape=(G, K)).tocsr()
    own = np.diag(fit.covariance)[:K]
    spread = own[:, None] + own[None, :] - 2 * fit.covariance[:K, :K]
    leverage = np.bincount(clusters.codes, weight * spread[rows.first, rows.second], minlength=G)
    return information, np.asarray(leverage)


def herfindahl_df(information: sparse.csr_array) -> Floats:
    """Clusters of equal information that would know as much of each system, (K,)."""
    total = np.asarray(information.sum(axis=0)).ravel()
    squares = np.asarray(information.multiply(information).sum(axis=0)).ravel()
    return np.asarray(total**2 / np.maximum(squares, 1e-300))


def _scores(fit: BattleFit, rows: Contributions, clusters: Clusters) -> sparse.csr_array:
    """Scores of the parameters summed by cluster, (G, p)."""
    by_eta, by_tie = rows.score.T
    K = fit.n_systems
    summed = [by_eta] * fit.with_order + [by_eta * x for x in rows.covariates.T]
    summed += [by_tie] * (fit.ties is not None)
    of_clusters = [np.bincount(clusters.codes, each, clusters.n_clusters) for each in summed]
    places = (np.concatenate([clusters.codes] * 2), np.concatenate([rows.first, rows.second]))
    entries = (np.concatenate([by_eta, -by_eta]), places)
    strengths = sparse.coo_array(entries, shape=(clusters.n_clusters, K)).tocsr()
    if not summed:
        return strengths
    return sparse.hstack([strengths, sparse.csr_array(np.column_stack(of_clusters))]).tocsr()


def _cluster(fit: BattleFit, rows: Contributions) -> tuple[Codes, Floats, Floats]:
    """Of the battles of a cluster: which parameters they move, their score and their information."""
    n, K = len(rows.first), fit.n_systems
    systems, place = np.unique(np.concatenate([rows.first, rows.second]), return_inverse=True)
    own = Contributions(place[:n], place[n:], rows.score, rows.weight, rows.covariates)
    which = {"with_order": fit.with_order, "with_ties": fit.ties is not None}
    touched = np.concatenate([systems, np.arange(K, len(fit.parameters))])
    return touched, own.scores(len(systems), **which), own.information(len(systems), **which)


def _largest_leverage(own: Floats, bread: Floats) -> float:
    """The largest eigenvalue of the cluster's block of the hat matrix, about."""
    along = 1.0 + np.arange(len(own)) / len(own)
    size = 0.0
    for _ in range(_POWER_STEPS):
        along = own @ (bread @ along)
        size = float(np.linalg.norm(along))
        if size == 0:
            break
        along /= size
    return size


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
