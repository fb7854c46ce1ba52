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


class GrowingProducts(NamedTuple):
    """The sums of a table of K systems at each look: means (looks, n, K), cross products of the means of the fixed
    and of the growing factor's levels around them (looks, n, K, K), times the ratings of a level and system, and
    residual sums of squares of each system (looks, n, K)."""

    means: Floats
    fixed: Floats
    growing: Floats
    residual: Floats


def growing_products(
    rng: np.random.Generator,
    *,
    n_fixed: int,
    blocks: Sequence[int],
    roots: tuple[Floats, Floats],
    residual_sd: float,
    n_repeats: int,
    n_replicates: int,
) -> GrowingProducts:
    """Draw the sums of a growing table in which every level of the one factor meets every level of the other under
    each of K systems. A level's mean, the fixed levels' means within a block and what is left are independent.

    blocks : levels of the growing factor that each look adds
    roots : of the fixed and of the growing factor the weights (K, q) by which independent normals make what a level
        gives each system
    """
    fixed_root, growing_root = roots
    (K, width), r, n = fixed_root.shape, n_repeats, n_replicates
    own = rng.standard_normal((n, n_fixed, width)) @ fixed_root.T
    shared, own = own.mean(axis=1), own - own.mean(axis=1, keepdims=True)
    count, total = 0, np.zeros((n, K))
    squares, within = np.zeros((n, K, K)), np.zeros((n, K))
    deviations, between = np.zeros_like(own), np.zeros((n, K))
    looks = []
    for size in blocks:
        level = rng.standard_normal((n, size, growing_root.shape[1])) @ growing_root.T
        level += residual_sd / np.sqrt(n_fixed * r) * rng.standard_normal((n, size, K))
        apart = residual_sd / np.sqrt(size * r) * rng.standard_normal((n, n_fixed, K))
        apart -= apart.mean(axis=1, keepdims=True)
        df = (n_fixed - 1) * (size - 1) + n_fixed * size * (r - 1)
        if df:
            within = within + residual_sd**2 * rng.chisquare(df, (n, K))
        count, total = count + size, total + level.sum(axis=1)
        squares = squares + level.transpose(0, 2, 1) @ level
        deviations = deviations + size * apart
        between = between + size * (apart**2).sum(axis=1)
        mean = total / count
        of_fixed = own + deviations / count
        looks.append(
            GrowingProducts(
                shared + mean,
                count * r * of_fixed.transpose(0, 2, 1) @ of_fixed,
                n_fixed * r * (squares - count * mean[:, :, None] * mean[:, None, :]),
                within + r * (between - (deviations**2).sum(axis=1) / count),
            )
        )
    return GrowingProducts(*(np.stack(part) for part in zip(*looks, strict=True)))
