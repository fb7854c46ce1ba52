"""The restricted Laplace fit of ordinal ratings by dense matrices: slow, plain, and sharing no code.

u = A theta and l = B theta are the bounds of each rating's interval, theta = (cut parameters, beta, v) all the
parameters at once, so every derivative is a product of whole matrices.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import stats


class Mode(NamedTuple):
    """The mode, h there, and the negative second derivatives of log P (K, unscaled columns) and of h (H)."""

    theta: np.ndarray
    value: float
    k: np.ndarray
    h: np.ndarray


class Moments(NamedTuple):
    """What the test needs, at one set of standard deviations."""

    phi: np.ndarray
    information: np.ndarray
    df: float
    adjusted_variance: float


def dummies(codes):
    return (np.asarray(codes)[:, None] == np.arange(np.max(codes) + 1)).astype(float)


def design_columns(worker, item, system, document=None):
    """One matrix Z_a for each standard deviation, in the public order."""
    x = np.asarray(system)[:, None] - 0.5
    factors = [worker, item] if document is None else [worker, item, document]
    return [part for codes in factors for part in (dummies(codes), dummies(codes) * x)]


@dataclass(frozen=True)
class Twin:
    """y : (n,) categories 0 to C-1; z : matrices Z_a; x : (n, p); cuts : (C-1, k), thresholds of the k cut
    parameters; link : 'probit' or 'logit'."""

    y: np.ndarray
    z: list
    x: np.ndarray
    cuts: np.ndarray
    link: str

    def bounds(self, sd):
        """A and B, and which ratings have an upper and a lower bound."""
        top = len(self.cuts)
        upper, lower = self.y < top, self.y > 0
        row_u = np.where(upper[:, None], self.cuts[np.minimum(self.y, top - 1)], 0.0)
        row_l = np.where(lower[:, None], self.cuts[np.maximum(self.y - 1, 0)], 0.0)
        rest = np.hstack([self.x, *(s * z for s, z in zip(sd, self.z, strict=True))])
        return np.hstack([row_u, -rest]), np.hstack([row_l, -rest]), upper, lower

    def derivatives(self, theta, sd):
        """log P (n,), and its first and second derivatives in both bounds."""
        a, b, upper, lower = self.bounds(sd)
        law = stats.norm if self.link == "probit" else stats.logistic
        u, lo = a @ theta, b @ theta
        p = np.where(upper, law.cdf(u), 1.0) - np.where(lower, law.cdf(lo), 0.0)
        fu, fl = np.where(upper, law.pdf(u), 0.0), np.where(lower, law.pdf(lo), 0.0)
        if self.link == "probit":
            slope_u, slope_l = -u * fu, -lo * fl
        else:
            slope_u, slope_l = fu * (1 - 2 * law.cdf(u)), fl * (1 - 2 * law.cdf(lo))
        first = fu / p, -fl / p
        second = slope_u / p - (fu / p) ** 2, fu * fl / p**2, -slope_l / p - (fl / p) ** 2
        return np.log(p), first, second

    def curvature(self, second, sd):
        a, b, _, _ = self.bounds(sd)
        uu, ul, ll = second
        across = a.T @ (ul[:, None] * b)
        return -(a.T @ (uu[:, None] * a) + across + across.T + b.T @ (ll[:, None] * b))

    def mode(self, sd, fixed=None):
        """Maximise h; over v alone if `fixed` (cut parameters and beta) is given."""
        n_fixed = self.cuts.shape[1] + self.x.shape[1]
        a, b, _, _ = self.bounds(sd)
        prior = np.concatenate([np.zeros(n_fixed), np.ones(a.shape[1] - n_fixed)])
        theta = np.zeros(a.shape[1])
        k = self.cuts.shape[1]
        theta[:k] = [0.5] if k < len(self.cuts) else np.linspace(-1, 1, k) if k > 1 else [0.0] * k
        if fixed is not None:
            theta[:n_fixed] = fixed
        free = np.arange(len(theta)) >= (0 if fixed is None else n_fixed)

        def h(at):
            with np.errstate(invalid="ignore", divide="ignore"):
                value = self.derivatives(at, sd)[0].sum() - 0.5 * prior @ at**2
            return value if np.isfinite(value) else -np.inf

        for _ in range(200):
            _, (du, dl), second = self.derivatives(theta, sd)
            gradient = a.T @ du + b.T @ dl - prior * theta
            hessian = self.curvature(second, sd) + np.diag(prior)
            step = np.zeros(len(theta))
            step[free] = np.linalg.solve(hessian[np.ix_(free, free)], gradient[free])
            length = 1.0
            while h(theta + length * step) < h(theta) - 1e-9:
                length /= 2
            theta = theta + length * step
            if np.abs(step).max() < 1e-12:
                break
        second = self.derivatives(theta, sd)[2]
        hessian = self.curvature(second, sd) + np.diag(prior)
        return Mode(theta, h(theta), self.curvature(second, np.ones(len(sd))), hessian)

    def criterion(self, sd):
        """-2 h + log|H|, H over fixed and random effects."""
        mode = self.mode(sd)
        return -2.0 * mode.value + np.linalg.slogdet(mode.h)[1]

    def criterion_ml(self, sd, fixed):
        """-2 h + log|H_vv| at given cut parameters and beta."""
        mode = self.mode(sd, fixed)
        n = len(fixed)
        return -2.0 * mode.value + np.linalg.slogdet(mode.h[n:, n:])[1]

    def moments(self, sd):
        """P = K - K C K, C the inverse of H in unscaled columns [cuts, X, Z]; a component may be zero."""
        sd = np.asarray(sd, dtype=float)
        k = self.mode(sd).k
        n_fixed = self.cuts.shape[1] + self.x.shape[1]
        sizes = [z.shape[1] for z in self.z]
        scale = np.concatenate([np.ones(n_fixed), np.repeat(sd, sizes)])
        prior = np.concatenate([np.zeros(n_fixed), np.ones(sum(sizes))])
        c = scale[:, None] * np.linalg.inv(scale[:, None] * k * scale + np.diag(prior)) * scale
        p = k - k @ c @ k
        ends = n_fixed + np.concatenate([[0], np.cumsum(sizes)])
        parts = [slice(ends[a], ends[a + 1]) for a in range(len(sizes))]
        information = np.array([[0.5 * (p[a, b] ** 2).sum() for b in parts] for a in parts])
        effect = self.cuts.shape[1]
        w = [(k @ c[:, effect])[a] for a in parts]
        phi = c[:n_fixed, :n_fixed]
        g = np.array([part @ part for part in w])
        inverse = np.linalg.inv(information)
        forms = np.array(
            [[w[i] @ p[a, b] @ w[j] for j, b in enumerate(parts)] for i, a in enumerate(parts)]
        )
        variance = phi[effect, effect]
        df = 2.0 * variance**2 / (g @ inverse @ g)
        return Moments(phi, information, df, variance + 2.0 * (inverse * forms).sum())
