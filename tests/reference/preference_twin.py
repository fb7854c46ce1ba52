"""Preferences of workers on items, dense and slow: the restricted Laplace criterion and its linearised test.

The latent strength of B in a judgement is eta = strength + position x bias + w_worker + u_item; B wins where
eta + noise > t, loses where it is < -t (Rao & Kupper 1967 with a probit or logit). Nothing is shared with the
package.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats


def _distribution(x, link):
    """F, f and f' at x."""
    if link == "probit":
        density = stats.norm.pdf(x)
        return stats.norm.cdf(x), density, -np.where(np.isfinite(x), x, 0.0) * density
    below = 1 / (1 + np.exp(-np.clip(x, -700, 700)))
    return below, below * (1 - below), below * (1 - below) * (1 - 2 * below)


def judgement(eta, t, outcome, link):
    """log p of an outcome (-1, 0, +1), its gradient in (t, eta) and its second derivatives."""
    upper = np.where(outcome > 0, np.inf, np.where(outcome < 0, -t - eta, t - eta))
    lower = np.where(outcome < 0, -np.inf, np.where(outcome > 0, t - eta, -t - eta))
    (Fu, fu, du), (Fl, fl, dl) = _distribution(upper, link), _distribution(lower, link)
    p = Fu - Fl
    by_upper = np.where(outcome < 0, -1.0, 1.0), -1.0  # of the upper end by t and by eta
    by_lower = np.where(outcome > 0, 1.0, -1.0), -1.0
    first = [fu * u - fl * low for u, low in zip(by_upper, by_lower, strict=True)]
    gradient = np.array([each / p for each in first])
    second = np.empty((2, 2, len(eta)))
    for a in range(2):
        for b in range(2):
            curve = du * by_upper[a] * by_upper[b] - dl * by_lower[a] * by_lower[b]
            second[a, b] = curve / p - gradient[a] * gradient[b]
    return np.log(p), gradient, second


@dataclass
class Twin:
    """One table; `outcome` is -1, 0 or +1. Columns of `J`: [t,] strength [, position], workers, items."""

    worker: np.ndarray
    item: np.ndarray
    outcome: np.ndarray
    position: np.ndarray | None = None
    link: str = "probit"

    def __post_init__(self):
        n = len(self.outcome)
        self.ties = bool((self.outcome == 0).any())
        fixed = [np.ones(n)] + ([] if self.position is None else [np.asarray(self.position, dtype=float)])
        self.Z = [np.eye(code.max() + 1)[code] for code in (self.worker, self.item)]
        eta = np.column_stack([*fixed, *self.Z])
        blank = np.zeros((n, int(self.ties)))
        self.n_fixed = int(self.ties) + len(fixed)
        self.strength = int(self.ties)
        by_t = np.column_stack([np.ones((n, 1))] * int(self.ties) + [np.zeros_like(eta)])
        self.J = np.stack([by_t, np.column_stack([blank, eta])])  # (2, n, columns)

    def at(self, sd, restricted=True):
        """R(s) = -2 h + log |H|, the mode, and H and K there; `sd` is (worker, item)."""
        scales = [np.full(Z.shape[1], s) for Z, s in zip(self.Z, sd, strict=True)]
        scale = np.concatenate([np.ones(self.n_fixed), *scales])
        free = np.concatenate([np.zeros(self.n_fixed), np.ones(len(scale) - self.n_fixed)])
        J = self.J * scale
        x = np.zeros(len(scale))
        x[: self.strength] = 0.5

        def parts(x):
            t, eta = J[0] @ x, J[1] @ x
            log_p, gradient, second = judgement(eta, t, self.outcome, self.link)
            h = log_p.sum() - (free * x**2).sum() / 2
            g = J[0].T @ gradient[0] + J[1].T @ gradient[1] - free * x
            K = -sum(J[a].T @ (second[a, b][:, None] * J[b]) for a in range(2) for b in range(2))
            return h, g, K

        h, g, K = parts(x)
        for _ in range(200):
            step = np.linalg.solve(K + np.diag(free), g)
            length = 1.0
            while True:
                trial = x + length * step
                if not self.ties or trial[0] > 0:
                    new = parts(trial)
                    if np.isfinite(new[0]) and new[0] >= h - 1e-12:
                        break
                length /= 2
                if length < 1e-10:
                    raise ArithmeticError("no step")
            x, (h, g, K) = trial, new
            if np.abs(g).max() < 1e-9:
                break
        H = K + np.diag(free)
        part = H if restricted else H[self.n_fixed :, self.n_fixed :]
        return -2 * h + np.linalg.slogdet(part)[1], x, H, scale

    def test(self, sd, free=(True, True), column=None):
        """Estimate, standard error, adjusted standard error and df of a fixed column (strength)."""
        column = self.strength if column is None else column
        _, x, H, scale = self.at(sd)
        weights = judgement((self.J * scale)[1] @ x, (self.J * scale)[0] @ x, self.outcome, self.link)[2]
        K = -sum(self.J[a].T @ (weights[a, b][:, None] * self.J[b]) for a in range(2) for b in range(2))
        C = scale[:, None] * np.linalg.inv(H) * scale
        return self.linearised(K, C, free, column, x[column])

    def linearised(self, K, C, free, column, estimate):
        """The test from K = [X Z]'W[X Z] and the unscaled inverse C of H."""
        projected, phi = K - K @ C @ K, C[column, column]
        m = self.Z[0].shape[1]
        parts = [slice(self.n_fixed, self.n_fixed + m), slice(self.n_fixed + m, None)]
        parts = [part for part, kept in zip(parts, free, strict=True) if kept]
        if not parts:
            return estimate, np.sqrt(phi), np.sqrt(phi), np.inf
        info = np.array([[0.5 * (projected[a, b] ** 2).sum() for b in parts] for a in parts])
        q = [(K @ C)[a, column] for a in parts]
        g = np.array([each @ each for each in q])
        W = np.linalg.inv(info)
        df = 2 * phi**2 / (g @ W @ g)
        more = 0.0
        for a, rows in enumerate(parts):
            for b, columns in enumerate(parts):
                more += 2 * W[a, b] * q[a] @ projected[rows, columns] @ q[b]
        return estimate, np.sqrt(phi), np.sqrt(phi + more), df
