"""Systems with variances of their own that are all rated together, with equal loads: many responses side by side.

Where all inner levels have a ratings of each system and all outer levels have as many as each other, the
eigenvectors e of E = C C' (C the ratings of outer levels by inner level) do not meet (general balance, Nelder
1965). With Go and Gi the covariances (K, K) of what an outer and an inner level gives the systems, lambda_e the
eigenvalues and b_e those of B = load I - E / a,

    O_e = b_e I + (lambda_e / a) M,   M = (I + a Gi)^-1,   N_e = (I + O_e Go)^-1,   K_e = Go N_e

make up Zo'H^-1 Zo = N_e O_e, Zo'H^-1 Zi = N_e M C and Zi'H^-1 Zi = a M - M C'K_e C M. The means have a part in one
eigenvector alone, that of equal numbers. Each variance v stands for a vector h of systems, Go and Gi being sums of
v h h': of all ones for what systems share, then one system each. Lanes come first in all arrays, then e.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class OwnVariancesDesign(NamedTuple):
    """base, met, reach (m,): b_e, lambda_e and C 1, in eigenvectors; replication, n_inner : a, and how many inner
    levels there are; n : ratings."""

    base: Floats
    met: Floats
    reach: Floats
    replication: float
    n_inner: int
    n: int

    @property
    def constant(self) -> int:
        """The eigenvector in which the means have a part."""
        return int(np.abs(self.reach).argmax())


class OwnVariancesSums(NamedTuple):
    """Of responses: base and meet (lanes, m, K), Zo'y without the inner levels' means and C times the inner levels'
    sums; inner (lanes, K) and gram (lanes, K, K), the sum of these and their products; left and total (lanes,), y'y
    without the means and as it is."""

    base: Floats
    meet: Floats
    inner: Floats
    gram: Floats
    left: Floats
    total: Floats

    def of(self, lanes: Ints) -> OwnVariancesSums:
        """Some lanes of them."""
        return OwnVariancesSums(*(part[lanes] for part in self))


class OwnVariancesPoint(NamedTuple):
    """What is known at one gamma (q, lanes), outer variances first. Lanes are last down to `ok`."""

    gamma: Floats
    criterion: Floats
    rss: Floats
    slope: Floats
    trace: Floats
    quadratic: Floats
    square: Floats
    ok: NDArray[np.bool_]
    beta: Floats
    phi: Floats
    xgx: Floats
    in_outer: Floats
    across: Floats
    in_inner: Floats
    own_part: Floats
    outer_x: Floats
    inner_x: Floats
    pairs_x: tuple[Floats, Floats, Floats]


def evaluate(design: OwnVariancesDesign, sums: OwnVariancesSums, gamma: Floats) -> OwnVariancesPoint:
    """Restricted criterion, its slope and the working products at gamma (q, lanes)."""
    K, a, n_inner, at = sums.base.shape[2], design.replication, design.n_inner, design.constant
    met, h, far = design.met[:, None, None], K + 1, design.reach[at]
    Go, Gi = (_covariance(part.T) for part in (gamma[:h], gamma[h:]))
    M, inner_det = _inverse(np.eye(K) + a * Gi)
    O = design.base[:, None, None] * np.eye(K) + met / a * M[:, None]  # noqa: E741
    N, log_det = _inverse(np.eye(K) + O @ Go[:, None])
    G_N = Go[:, None] @ N
    own = sums.base + sums.meet @ (M / a)
    ku, seen = (G_N @ own[..., None])[..., 0], (N @ own[..., None])[..., 0]
    own_x = far * M
    ku_x, seen_x = G_N[:, at] @ own_x, N[:, at] @ own_x
    xx = a * n_inner * M - own_x @ ku_x
    xy = (M @ sums.inner[..., None])[..., 0] - (own_x @ ku[:, at, :, None])[..., 0]
    yy = sums.left + (M * sums.gram).sum(axis=(1, 2)) / a - (own * ku).sum(axis=(1, 2))
    phi, log_det_x = _inverse(xx)
    beta = (phi @ xy[..., None])[..., 0]
    rss = yy - (beta * xy).sum(axis=1)
    log_det = log_det.sum(axis=1) + n_inner * inner_det + log_det_x
    ok = np.isfinite(log_det) & (rss > 1e-14 * sums.total) & (rss > 0.0)
    rss = np.where(ok, rss, 1.0)
    df = design.n - K
    criterion = df * (1.0 + np.log(2.0 * np.pi * rss / df)) + log_det

    # from here on y is free of the means: it stands for Py
    seen[:, at] -= (seen_x @ beta[..., None])[..., 0]
    ku[:, at] -= (ku_x @ beta[..., None])[..., 0]
    take = a * beta
    meet = sums.meet.copy()
    meet[:, at] -= far * take
    pull = meet - design.met[:, None] * ku
    pull_x = a * far * np.eye(K) - design.met[at] * ku_x
    total, total_x = sums.inner - n_inner * take - far * ku[:, at], a * n_inner * np.eye(K) - far * ku_x
    mixed = take[:, :, None] * sums.inner[:, None]
    mixed = mixed + (ku[..., None] * (meet + pull)[:, :, None]).sum(axis=1) / 2
    spread = sums.gram + n_inner * take[:, :, None] * take[:, None] - mixed - mixed.swapaxes(1, 2)

    H_M = _with_sum(M, 1)
    outer, inner = _with_sum(seen, 2), pull @ H_M.swapaxes(1, 2)  # (lanes, e, h)
    outer_x, inner_x = _with_sum(seen_x, 1), H_M @ pull_x  # (lanes, h, K)
    pushed, inner_total = H_M @ ku_x, H_M @ total_x
    own_part = a * _with_sum(H_M, 2)
    in_outer = _with_sum(_with_sum(N @ O, 2), 3)
    across = _with_sum(N, 2) @ H_M[:, None].swapaxes(2, 3)
    in_inner = H_M[:, None] @ G_N @ H_M[:, None].swapaxes(2, 3)
    far_spread = H_M @ spread @ H_M.swapaxes(1, 2)
    square = np.concatenate([(outer**2).sum(axis=1), np.diagonal(far_spread, axis1=1, axis2=2)], axis=1)
    quadratic = np.empty((len(rss), 2 * h, 2 * h))
    quadratic[:, :h, :h] = (outer[..., None] * outer[:, :, None] * in_outer).sum(axis=1)
    quadratic[:, :h, h:] = (outer[..., None] * inner[:, :, None] * across).sum(axis=1)
    quadratic[:, h:, :h] = quadratic[:, :h, h:].swapaxes(1, 2)
    quadratic[:, h:, h:] = own_part * far_spread - (inner[..., None] * inner[:, :, None] * in_inner).sum(
        axis=1
    )
    x_y = np.concatenate(
        [
            outer_x * outer[:, at, :, None],
            a * H_M * (H_M @ total[..., None]) - pushed * inner[:, at, :, None],
        ],
        axis=1,
    )
    quadratic -= x_y @ phi @ x_y.swapaxes(1, 2)
    trace = np.concatenate(
        [
            np.diagonal(in_outer, axis1=2, axis2=3).sum(axis=1),
            n_inner * np.diagonal(own_part, axis1=1, axis2=2)
            - (design.met[:, None] * np.diagonal(in_inner, axis1=2, axis2=3)).sum(axis=1),
        ],
        axis=1,
    )
    xgx = np.concatenate(
        [
            outer_x[..., None] * outer_x[:, :, None],
            a * H_M[..., None] * inner_total[:, :, None] - pushed[..., None] * inner_x[:, :, None],
        ],
        axis=1,
    )
    slope = trace - square * (df / rss)[:, None] - (phi[:, None] * xgx).sum(axis=(2, 3))
    return OwnVariancesPoint(
        gamma=gamma,
        criterion=np.where(ok, criterion, np.inf),
        rss=rss,
        slope=slope.T,
        trace=trace,
        quadratic=np.moveaxis(quadratic, 0, -1),
        square=square.T,
        ok=ok,
        beta=beta,
        phi=phi,
        xgx=xgx,
        in_outer=in_outer,
        across=across,
        in_inner=in_inner,
        own_part=own_part,
        outer_x=outer_x,
        inner_x=inner_x,
        pairs_x=(a * H_M, inner_total, pushed),
    )


def second_order(design: OwnVariancesDesign, point: OwnVariancesPoint) -> tuple[Floats, Floats]:
    """Squared norms of the blocks of T (lanes, q, q), and X'H^-1G_tH^-1G_uH^-1X (lanes, q, q, K, K)."""
    lanes, h, K = point.outer_x.shape
    met, at = design.met[:, None, None], design.constant
    in_outer, across, in_inner, own_part = point.in_outer, point.across, point.in_inner, point.own_part
    norm = np.empty((lanes, 2 * h, 2 * h))
    norm[:, :h, :h] = (in_outer**2).sum(axis=1)
    norm[:, :h, h:] = (met * across**2).sum(axis=1)
    norm[:, h:, :h] = norm[:, :h, h:].swapaxes(1, 2)
    norm[:, h:, h:] = design.n_inner * own_part**2 - 2.0 * own_part * (met * in_inner).sum(axis=1)
    norm[:, h:, h:] += (met**2 * in_inner**2).sum(axis=1)
    values = np.empty((lanes, 2 * h, 2 * h, K, K))

    def pairs(left: Floats, right: Floats, weight: Floats) -> Floats:
        return left[:, :, None, :, None] * right[:, None, :, None] * weight[..., None, None]

    seen, total, pushed = point.pairs_x
    values[:, :h, :h] = pairs(point.outer_x, point.outer_x, in_outer[:, at])
    values[:, :h, h:] = pairs(point.outer_x, point.inner_x, across[:, at])
    values[:, h:, :h] = values[:, :h, h:].transpose(0, 2, 1, 4, 3)
    values[:, h:, h:] = pairs(seen, total, own_part) - pairs(pushed, point.inner_x, own_part)
    values[:, h:, h:] -= pairs(point.inner_x, point.inner_x, in_inner[:, at])
    return norm, values


def _covariance(variances: Floats) -> Floats:
    """Of what a level gives the systems (lanes, K, K): what they share, then each one's own."""
    own = variances[:, 1:]
    return variances[:, :1, None] + own[:, :, None] * np.eye(own.shape[1])


def _with_sum(part: Floats, axis: int) -> Floats:
    """The vectors h along an axis of systems: their sum first, then each."""
    return np.concatenate([part.sum(axis=axis, keepdims=True), part], axis=axis)


def _inverse(matrices: Floats) -> tuple[Floats, Floats]:
    """Inverses and log determinants, NaN where it is not positive."""
    sign, log_det = np.linalg.slogdet(matrices)
    good = (sign > 0) & np.isfinite(log_det)
    usable = np.where(good[..., None, None], matrices, np.eye(matrices.shape[-1]))
    return np.linalg.inv(usable), np.where(good, log_det, np.nan)
