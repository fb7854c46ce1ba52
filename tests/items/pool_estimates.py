"""Slow and obvious twins of estimates over a pool: closed forms of complete tables, and a dense mixed model."""

from typing import NamedTuple

import numpy as np
from scipy import optimize


class ClosedForm(NamedTuple):
    """An estimate with variance and df for the pool and for items like these."""

    estimate: float
    pool: tuple[float, float]
    population: tuple[float, float]


def stratified(d, stratum, weight, size, *, pooled=False, predicted=None, predicted_mean=0.0):
    """The mean difference of a pool from a complete table d (workers, items), stratum by stratum.

    Mean squares and Satterthwaite's df of their combination; `pooled`: items of all strata share a variance.
    """
    m, n = d.shape
    strata = range(len(weight))
    n_h = np.array([int((stratum == h).sum()) for h in strata])
    w = np.array([weight[h] / n_h[h] for h in stratum])
    of_items = d.mean(axis=0)
    estimate = float(w @ of_items)
    lost = len(weight)
    fitted = np.array([of_items[stratum == h].mean() for h in stratum])
    if predicted is not None:
        f_mean = np.array([predicted[stratum == h].mean() for h in stratum])
        centred = predicted - f_mean
        slope = float(centred @ of_items / (centred @ centred))
        estimate += slope * (predicted_mean - float(w @ predicted))
        fitted = fitted + slope * centred
        lost += 1
    residual = d - of_items - d.mean(axis=1, keepdims=True) + d.mean()
    ms_e = (residual**2).sum() / ((m - 1) * (n - 1))
    square = m * (of_items - fitted) ** 2
    if pooled or predicted is not None:
        ms, df_h = [square.sum() / (n - lost)], [n - lost]
    else:
        ms = [square[stratum == h].sum() / (n_h[h] - 1) for h in strata]
        df_h = list(n_h - 1)
    by_workers = (d @ w).var(ddof=1) / m

    def with_factor(finite):
        c = np.array([weight[h] ** 2 / n_h[h] * (1 - n_h[h] / size[h] if finite else 1) for h in strata])
        parts = [c.sum()] if len(ms) == 1 else list(c)
        items = sum(one * square / m for one, square in zip(parts, ms, strict=True))
        v = by_workers + items - c.sum() * ms_e / m
        spread = by_workers**2 / (m - 1) + (c.sum() * ms_e / m) ** 2 / ((m - 1) * (n - 1))
        spread += sum((one * square / m) ** 2 / df for one, square, df in zip(parts, ms, df_h, strict=True))
        return float(v), float(v**2 / spread)

    return ClosedForm(estimate, with_factor(True), with_factor(False))


def dense_mixed(worker, item, system, rating, of_items, rated):
    """REML of the rating model by dense matrices and a general optimiser, and of the system's coefficient the
    estimate, and the variance less rated * (variance of items' differences) with its df by expected information."""
    x = system - 0.5
    f = of_items[item]
    design = np.column_stack([np.ones(len(x)), x, f, f * x[:, None]])
    one = [(codes[:, None] == np.unique(codes)).astype(float) for codes in (worker, item)]
    parts = [z * c[:, None] for z in one for c in (np.ones(len(x)), x)]
    g = [z @ z.T for z in parts] + [np.eye(len(x))]

    def criterion(sd):  # a component of 0 lies inside, as its square counts
        v = sum(s**2 * one for s, one in zip(sd, g, strict=True))
        low = np.linalg.cholesky(v)
        a, b = np.linalg.solve(low, design), np.linalg.solve(low, rating)
        beta = np.linalg.lstsq(a, b, rcond=None)[0]
        return 2 * np.log(np.diag(low)).sum() + np.linalg.slogdet(a.T @ a)[1] + ((b - a @ beta) ** 2).sum()

    start = np.full(5, rating.std() / 2)
    options = {"xatol": 1e-9, "fatol": 1e-12, "maxiter": 20_000, "maxfev": 20_000}
    best = optimize.minimize(criterion, start, method="Nelder-Mead", options=options)
    theta = best.x**2
    v = sum(t * one for t, one in zip(theta, g, strict=True))
    inverse = np.linalg.inv(v)
    phi = np.linalg.inv(design.T @ inverse @ design)
    project = inverse - inverse @ design @ phi @ design.T @ inverse
    expected = 0.5 * np.array([[np.trace(project @ a @ project @ b) for b in g] for a in g])
    beta = phi @ design.T @ inverse @ rating
    half = phi[:, 1]
    slopes = np.array([half @ design.T @ inverse @ one @ inverse @ design @ half for one in g])
    slopes[3] -= rated
    variance = phi[1, 1] - rated * theta[3]
    return beta[1], variance, 2 * variance**2 / (slopes @ np.linalg.inv(expected) @ slopes)
