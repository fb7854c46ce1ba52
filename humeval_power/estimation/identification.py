"""Which variance components a table can tell apart, from its design alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humeval_power.estimation.native import COMPONENTS, CrossedProblem, design_information
from humeval_power.kernels.information import Information, expected_information

Floats = NDArray[np.float64]

VARIANCES = (*COMPONENTS, "sd_residual")
_RANK_TOLERANCE = 1e-8  # relative to unit diagonal; rounding leaves about 1e-13


def information_matrix(problem: CrossedProblem, gamma: Floats, *, sigma2: float = 1.0) -> Floats:
    """Expected REML information of the five variances, shape (5, 5), in the order of VARIANCES.

    gamma : (4,), variances relative to the residual's `sigma2`.
    """
    info, phi = design_information(problem, gamma)
    return arranged_information(problem, info, phi, sigma2=sigma2)


def arranged_information(
    problem: CrossedProblem, info: Information, phi: Floats, *, sigma2: float
) -> Floats:
    """The same from information quantities that are at hand."""
    expected = expected_information(info, phi, sigma2, True)
    order = np.append(problem.to_kernel(np.arange(4.0)), 4.0).astype(int)
    return np.asarray(expected[np.ix_(order, order)])


def unidentified(matrix: Floats) -> tuple[tuple[str, ...], tuple[Floats, ...]]:
    """Names of the components that trade off against each other, and the sums that do not.

    matrix : (5, 5), the information at variances that are all positive. Where it is singular, some
    direction in the variances leaves the distribution of all contrasts unchanged. Returned are the
    components with a part in such a direction, and the rows (5,) of a basis of the identified linear
    combinations that involve them.
    """
    scale = np.sqrt(np.diag(matrix))
    values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
    flat = vectors[:, values < _RANK_TOLERANCE] / scale[:, None]
    if flat.shape[1] == 0:
        return (), ()
    involved = np.abs(flat / np.abs(flat).max(axis=0)).max(axis=1) > 1e-6
    names = tuple(name for name, part in zip(VARIANCES, involved, strict=True) if part)
    combinations = row_echelon(null_space(flat[involved].T))
    rows = []
    for combination in combinations:
        row = np.zeros(len(VARIANCES))
        row[involved] = combination
        rows.append(row)
    return names, tuple(rows)


def null_space(matrix: Floats) -> Floats:
    """Rows spanning the vectors that `matrix` maps to zero."""
    _, values, vectors = np.linalg.svd(matrix)
    rank = int((values > 1e-10 * values.max()).sum())
    return np.asarray(vectors[rank:])


def row_echelon(rows: Floats) -> Floats:
    """Reduced row echelon form, so that combinations read in small whole numbers."""
    reduced = rows.copy()
    row = 0
    for column in range(reduced.shape[1]):
        if row == len(reduced):
            break
        pivot = row + int(np.argmax(np.abs(reduced[row:, column])))
        if abs(reduced[pivot, column]) < 1e-8:
            continue
        reduced[[row, pivot]] = reduced[[pivot, row]]
        reduced[row] /= reduced[row, column]
        for other in range(len(reduced)):
            if other != row:
                reduced[other] -= reduced[other, column] * reduced[row]
        row += 1
    return np.where(np.abs(reduced) < 1e-8, 0.0, reduced)[:row]


def in_words(combination: Floats, variances: Floats) -> str:
    """A combination of variances with its value, for example 'a^2 + 0.25 b^2 = 0.031'."""
    terms = []
    for name, weight in zip(VARIANCES, combination, strict=True):
        if weight != 0:
            sign = "-" if weight < 0 else "+"
            factor = "" if np.isclose(abs(weight), 1) else f"{abs(weight):.4g} "
            terms.append(f"{sign} {factor}{name}^2")
    text = " ".join(terms).removeprefix("+ ")
    return f"{text} = {float(combination @ variances):.6g}"
