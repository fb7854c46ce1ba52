"""Information about the variances of the crossed model, and what a contrast's test takes from it.

The information of Kenward and Roger (1997), their adjusted standard error and degrees of freedom, and
Satterthwaite's as lmerTest has them, for one fit or many: the matrices have q + 1 or p rows, so NumPy does it
without compiling anything. Every array may have leading axes, one entry for each fit; results of a fit do
not depend on which others stand beside it. Notation as in `likelihood`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_LEAST_EIGENVALUE = 1e-9  # of a matrix with unit diagonal: below, a direction is not identified


class Information(NamedTuple):
    """Second-order quantities in units of H, residual last (index q), for p coefficients.

    gg : (..., q + 1, q + 1), tr(H^-1G_sH^-1G_t)
    xgx : (..., q + 1, p, p), X'H^-1G_tH^-1X; xggx : (..., q + 1, q + 1, p, p), X'H^-1G_sH^-1G_tH^-1X
    """

    gg: Floats
    xgx: Floats
    xggx: Floats


class Precision(NamedTuple):
    """Standard error of the contrast, Kenward and Roger's adjusted one, and the two df."""

    standard_error: Floats
    standard_error_adjusted: Floats
    df_satterthwaite: Floats
    df_kenward_roger: Floats


class Fitted(NamedTuple):
    """What a fit leaves for its precision, each array with the same leading axes.

    gamma : (..., q); phi : (..., p, p), (X'H^-1X)^-1; rss : (...), y'Py; trace : (..., q), tr(Z_t'H^-1Z_t)
    quadratic, square : (..., q, q), (..., q), the working products
    norm, xgx, xggx : as `second_order.second_order` fills them
    """

    gamma: Floats
    phi: Floats
    rss: Floats
    trace: Floats
    quadratic: Floats
    square: Floats
    norm: Floats
    xgx: Floats
    xggx: Floats

    def information(self, n: int | NDArray[np.int64]) -> Information:
        """With the residual's part, for tables of n rows."""
        return with_residual(self.gamma, self.trace, self.norm, self.xgx, self.xggx, self.phi, n)


def with_residual(
    gamma: Floats,
    trace: Floats,
    norm: Floats,
    xgx: Floats,
    xggx: Floats,
    phi: Floats,
    n: int | NDArray[np.int64],
) -> Information:
    """Add the residual: H^-1 = H^-2 + sum_t gamma_t H^-1G_tH^-1, so that nothing but T is needed."""
    q, p = gamma.shape[-1], phi.shape[-1]
    lead = gamma.shape[:-1]
    gg, full, pairs = (
        np.empty((*lead, *shape)) for shape in ((q + 1, q + 1), (q + 1, p, p), (q + 1, q + 1, p, p))
    )
    mixed = trace - _weighted(gamma, norm)
    gg[..., :q, :q] = norm
    gg[..., :q, q] = gg[..., q, :q] = mixed
    gg[..., q, q] = n - _weighted(gamma, trace) - _weighted(gamma, mixed)
    full[..., :q, :, :] = xgx
    full[..., q, :, :] = _symmetric_inverse(phi) - _weighted(gamma, xgx)
    pairs[..., :q, :q, :, :] = xggx
    for s in range(q):
        rest = xgx[..., s, :, :] - _weighted(gamma, xggx[..., s, :, :, :])
        pairs[..., s, q, :, :] = rest
        pairs[..., q, s, :, :] = _transposed(rest)
    pairs[..., q, q, :, :] = full[..., q, :, :] - _weighted(gamma, pairs[..., q, :q, :, :])
    return Information(gg, full, pairs)


def expected_information(info: Information, phi: Floats, sigma2: ArrayLike, restricted: bool) -> Floats:
    """Expected information of theta = (gamma sigma^2, sigma^2): Kenward and Roger (1997), REML;
    without the terms of the fixed effects for ML. Shape (..., q + 1, q + 1)."""
    expected = info.gg
    if restricted:
        *lead, q1, _, p, _ = info.xggx.shape
        across = phi[..., None, :, :] @ info.xgx
        products = across.reshape(*lead, q1, p * p) @ _transposed(
            _transposed(across).reshape(*lead, q1, p * p)
        )
        flat = _transposed(info.xggx).reshape(*lead, q1 * q1, p * p)
        twice = (flat @ phi.reshape(*lead, p * p, 1)).reshape(*lead, q1, q1)
        expected = expected + products - (twice + _transposed(twice))
    return np.asarray(0.5 * expected / np.asarray(sigma2)[..., None, None] ** 2)


def contrast_variance_slopes(info: Information, half: Floats) -> Floats:
    """d Var(l'b) / d theta_t = l'Phi X'V^-1G_tV^-1X Phi l, shape (..., q + 1), free of sigma^2; half is
    Phi l."""
    seen = (info.xgx @ half[..., None, :, None])[..., 0]
    return np.asarray((seen @ half[..., :, None])[..., 0])


def kenward_roger(
    info: Information, phi: Floats, sigma2: ArrayLike, contrast: Floats, expected: Floats
) -> tuple[Floats, Floats]:
    """Adjusted standard error and df of one contrast (Kenward and Roger 1997): the df is
    Satterthwaite's with the expected information, all components kept."""
    sigma2 = np.asarray(sigma2, dtype=np.float64)
    half = phi @ contrast
    weight = pseudo_inverse(expected)
    seen = (info.xgx @ half[..., None, :, None])[..., 0]
    projected = seen @ phi @ _transposed(seen)
    paired = (half[..., None, None, None, :] @ info.xggx @ half[..., None, None, :, None])[..., 0, 0]
    parts = weight * (paired - projected)
    correction = parts.reshape(*parts.shape[:-2], -1).sum(axis=-1)
    variance = sigma2 * (half * contrast).sum(axis=-1)
    adjusted = variance + 2.0 * correction / sigma2
    with np.errstate(invalid="ignore"):
        error = np.sqrt(np.where(adjusted > 0.0, adjusted, np.nan))
    return error, _df(variance, contrast_variance_slopes(info, half), weight)


def satterthwaite(
    fitted: Fitted,
    info: Information,
    sigma2: Floats,
    contrast: Floats,
    expected: Floats,
    free: NDArray[np.bool_] | None = None,
) -> Floats:
    """df from the observed information of the components that are `free` (..., q), as lmerTest; None for those
    that are not at zero."""
    gamma = fitted.gamma
    observed = np.empty_like(expected)
    mixed = fitted.square - _weighted(gamma, fitted.quadratic)
    observed[..., :-1, :-1] = fitted.quadratic
    observed[..., :-1, -1] = observed[..., -1, :-1] = mixed
    observed[..., -1, -1] = fitted.rss - _weighted(gamma, fitted.square) - _weighted(gamma, mixed)
    # twice the average information less the expected
    observed = observed / sigma2[..., None, None] ** 3 - expected
    inside = gamma > 0.0 if free is None else free
    free = np.concatenate([inside, np.ones((*gamma.shape[:-1], 1), dtype=bool)], axis=-1)
    half = fitted.phi @ contrast
    return _df(
        sigma2 * (half * contrast).sum(axis=-1),
        contrast_variance_slopes(info, half),
        pseudo_inverse(observed, free),
    )


def precision(
    fitted: Fitted,
    contrast: Floats,
    *,
    n: int | NDArray[np.int64],
    restricted: bool,
    free: NDArray[np.bool_] | None = None,
) -> Precision:
    """Standard errors and degrees of freedom of one contrast of tables of n rows; NaN where the fit is.
    `free` as in `satterthwaite`."""
    blank = np.isnan(fitted.rss)
    fitted = Fitted(
        *(
            np.where(blank.reshape((*blank.shape, *[1] * (part.ndim - blank.ndim))), 1.0, part)
            for part in fitted
        )
    )
    p = len(contrast)
    fitted = fitted._replace(phi=np.where(blank[..., None, None], np.eye(p), fitted.phi))
    sigma2 = fitted.rss / (n - p if restricted else n)
    info = fitted.information(n)
    expected = expected_information(info, fitted.phi, sigma2, restricted)
    df = satterthwaite(fitted, info, sigma2, contrast, expected, free)
    adjusted, df_adjusted = np.full_like(df, np.nan), np.full_like(df, np.nan)
    if restricted:
        adjusted, df_adjusted = kenward_roger(info, fitted.phi, sigma2, contrast, expected)
    error = np.sqrt(sigma2 * (fitted.phi @ contrast * contrast).sum(axis=-1))
    return Precision(*(np.where(blank, np.nan, part) for part in (error, adjusted, df, df_adjusted)))


def pseudo_inverse(matrix: Floats, kept: NDArray[np.bool_] | None = None) -> Floats:
    """Inverse over the eigenvalues that are clearly positive, after scaling to unit diagonal; of the rows
    and columns `kept` (..., n) alone, zero in the others."""
    diagonal = np.diagonal(matrix, axis1=-2, axis2=-1)
    used = diagonal > 0.0
    if kept is not None:
        used &= kept
    scale = np.sqrt(np.where(used, diagonal, 1.0))
    outer = scale[..., :, None] * scale[..., None, :]
    both = used[..., :, None] & used[..., None, :]
    scaled = np.where(both, matrix / outer, np.eye(matrix.shape[-1]))
    values, vectors = np.linalg.eigh(scaled)
    clear = values > _LEAST_EIGENVALUE
    inverted = np.where(clear, 1.0, 0.0) / np.where(clear, values, 1.0)
    return np.asarray(
        np.where(both, (vectors * inverted[..., None, :]) @ _transposed(vectors) / outer, 0.0)
    )


def _df(variance: Floats, slopes: Floats, weight: Floats) -> Floats:
    spread = (slopes[..., None, :] @ weight @ slopes[..., :, None])[..., 0, 0]
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(spread > 0.0, 2.0 * variance**2 / np.abs(spread), np.inf))


def _symmetric_inverse(matrix: Floats) -> Floats:
    inverse = np.linalg.inv(matrix)
    return np.asarray(0.5 * (inverse + _transposed(inverse)))


def _transposed(matrix: NDArray[Any]) -> Floats:
    return np.asarray(np.swapaxes(matrix, -1, -2))


def _weighted(gamma: Floats, parts: Floats) -> Floats:
    """sum_t gamma_t parts_t over the axis of `parts` that follows the leading ones.

    One term after the other: the sum of a fit is then the same whatever stands beside it.
    """
    lead = gamma.shape[:-1]
    behind = [1] * (parts.ndim - gamma.ndim)
    terms = np.moveaxis(parts, len(lead), 0)
    total = np.zeros(terms.shape[1:])
    for t, term in enumerate(terms):
        total += np.asarray(gamma[..., t]).reshape((*lead, *behind)) * term
    return total
