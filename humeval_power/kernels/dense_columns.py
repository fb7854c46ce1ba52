"""What a design says about its variances, for any number of factors: by one dense matrix of all columns.

The columns of all factors stand side by side, as in `dense`, and nothing is eliminated: the order of the
matrix is the number of columns of workers, items and documents. Notation as there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse import csr_array, hstack

from humeval_power.kernels.information import Information, with_residual

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


class Columns(NamedTuple):
    """Crossproducts of a design: Z'Z, Z'X, X'X, which type each column of Z has, and the number of rows."""

    z_z: Floats
    z_x: Floats
    xx: Floats
    member: Floats
    n: int


def crossproducts(factors: list[Codes], x: Floats, weights: csr_array | None = None) -> Columns:
    """Every factor has the columns of X for each of its levels (x: (rows, p)): an intercept and a slope.

    weights : from the rows to those that are fitted, None if those are the rows themselves.
    """
    rows, p = x.shape
    blocks, kinds = [], []
    for place, codes in enumerate(factors):
        levels = int(codes.max()) + 1
        for column in range(p):
            blocks.append(csr_array((x[:, column], (np.arange(rows), codes)), shape=(rows, levels)))
            kinds.append(np.full(levels, place * p + column))
    z, fixed = csr_array(hstack(blocks)), x
    if weights is not None:
        z, fixed = csr_array(weights @ z), np.asarray(weights @ x)
    member = (np.concatenate(kinds)[:, None] == np.arange(p * len(factors))).astype(float)
    return Columns((z.T @ z).toarray(), np.asarray(z.T @ fixed), fixed.T @ fixed, member, len(fixed))


def design_information(columns: Columns, gamma: Floats) -> tuple[Information, Floats]:
    """Information at assumed variances relative to the residual's, and (X'H^-1X)^-1, in units of H."""
    root = columns.member @ np.sqrt(gamma)
    lower = linalg.cholesky(np.eye(len(root)) + root[:, None] * columns.z_z * root, lower=True)
    half = linalg.solve_triangular(lower, root[:, None] * columns.z_z, lower=True)
    of_x = linalg.solve_triangular(lower, root[:, None] * columns.z_x, lower=True)
    phi = np.linalg.inv(columns.xx - of_x.T @ of_x)
    phi = 0.5 * (phi + phi.T)
    seen = columns.z_x - half.T @ of_x  # Z'H^-1X
    t = columns.z_z - half.T @ half  # Z'H^-1Z
    norm = columns.member.T @ (t * t) @ columns.member
    by_type = columns.member.T[:, :, None] * seen  # (q, columns, p)
    xgx = np.einsum("tcj,tck->tjk", by_type, by_type)
    xggx = np.einsum("scj,tck->stjk", by_type, np.einsum("cd,tdk->tck", t, by_type, optimize=True))
    trace = columns.member.T @ np.diag(t)
    return with_residual(gamma, trace, norm, xgx, xggx, phi, columns.n), phi
