"""Complete Gaussian tables that grow by blocks of one factor: sums of squares at every look, without the table.

A table of values v = A_p + B_q + e has P levels of a fixed factor and Q levels of a growing one, which come in
blocks. The levels' means within a block, the block means and the two sums of squares within a block are
independent, so a look needs a few normals and chi-squares, however many cells it has. The fixed factor's block
means share A: the Gram matrix of their deviations is Wishart (drawn by Bartlett's decomposition).
Vectorised over replicates, the last axis. NumPy alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class GrowingSums(NamedTuple):
    """At each look, shape (K, replicates): the mean of all cells, and sums of squares over single cells
    for the fixed factor, the growing one and the remainder."""

    mean: Floats
    fixed: Floats
    growing: Floats
    remainder: Floats


def growing_sums(
    rng: np.random.Generator,
    *,
    n_fixed: int,
    blocks: Sequence[int],
    variances: tuple[float, float, float],
    n_replicates: int,
) -> GrowingSums:
    """Draw the sums of squares of one growing table.

    blocks : levels of the growing factor that each look adds
    variances : of A, of B and of a cell's e
    """
    of_fixed, of_growing, of_cell = variances
    size = np.array(blocks, dtype=float)
    total = np.cumsum(size)
    shape = (len(blocks), n_replicates)
    level = np.sqrt((of_growing + of_cell / n_fixed) / size)[:, None] * rng.standard_normal(shape)
    shared = np.sqrt(of_fixed / n_fixed) * rng.standard_normal(n_replicates)
    weighted = np.cumsum(size[:, None] * level, axis=0)
    growing_within = _chi_squares(rng, size - 1, n_replicates) * (of_growing + of_cell / n_fixed)
    remainder_within = _chi_squares(rng, (n_fixed - 1) * (size - 1), n_replicates) * of_cell
    between = np.cumsum(size[:, None] * level**2, axis=0) - weighted**2 / total[:, None]
    deviations = _deviations(rng, n_fixed - 1, of_fixed, of_cell / size, n_replicates)
    summed = np.cumsum(size[:, None, None] * deviations, axis=0)
    fixed = (summed**2).sum(axis=1) / total[:, None]
    of_blocks = np.cumsum(size[:, None] * (deviations**2).sum(axis=1), axis=0)
    return GrowingSums(
        mean=shared + weighted / total[:, None],
        fixed=fixed,
        growing=n_fixed * (np.cumsum(growing_within, axis=0) + between),
        remainder=np.cumsum(remainder_within, axis=0) + of_blocks - fixed,
    )


def _deviations(rng: np.random.Generator, df: int, shared: float, own: Floats, n_replicates: int) -> Floats:
    """Coordinates, shape (K, min(K, df), replicates), whose products have the law of the products of the K
    block vectors of the fixed factor's deviations: `df` columns with variance `shared` + `own`."""
    n_looks = len(own)
    width = min(n_looks, df)
    corner = np.zeros((n_looks, width, n_replicates))
    for row in range(n_looks):
        for column in range(min(row, width)):
            corner[row, column] = rng.standard_normal(n_replicates)
        if row < width:
            corner[row, row] = np.sqrt(rng.chisquare(df - row, n_replicates))
    root = np.linalg.cholesky(np.full((n_looks, n_looks), shared) + np.diag(own))
    return np.asarray(np.einsum("ij,jkn->ikn", root, corner))


def _chi_squares(rng: np.random.Generator, df: Floats, n_replicates: int) -> Floats:
    rows = [rng.chisquare(value, n_replicates) if value > 0 else np.zeros(n_replicates) for value in df]
    return np.stack(rows)
