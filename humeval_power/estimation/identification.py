"""Which variance components a table can tell apart, from its design alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from humeval_power.estimation.crossed.examination import design_information
from humeval_power.estimation.crossed.problem import CrossedProblem
from humeval_power.kernels.crossed.information import Information, expected_information

Floats = NDArray[np.float64]

_RANK_TOLERANCE = 1e-8  # relative to unit diagonal; rounding leaves about 1e-13


def information_matrix(problem: CrossedProblem, gamma: Floats, *, sigma2: float = 1.0) -> Floats:
    """Expected REML information of the variances, shape (q + 1, q + 1), in the order of the problem's components,
    the residual's last.

    gamma : (q,), variances relative to the residual's `sigma2`.
    """
    info, phi = design_information(problem, gamma)
    return arranged_information(problem, info, phi, sigma2=sigma2)


def design_matrix(problem: CrossedProblem) -> Floats:
    """The same at variances where it is exact whatever the size of the table: all are one, or, for a very large
    table, zero. What it cannot tell apart is the same at any."""
    if not problem.is_iterative:
        return information_matrix(problem, np.ones(problem.n_components))
    from humeval_power.estimation.large.system import LargeSystem

    info, phi = LargeSystem(problem.design).plain_information(problem.x.T @ problem.x)
    return arranged_information(problem, info, phi, sigma2=1.0)


def arranged_information(
    problem: CrossedProblem, info: Information, phi: Floats, *, sigma2: float
) -> Floats:
    """The same from information quantities that are at hand."""
    expected = expected_information(info, phi, sigma2, True)
    q = expected.shape[0] - 1
    order = np.append(problem.from_kernel(np.arange(float(q))), float(q)).astype(int)
    return np.asarray(expected[np.ix_(order, order)])


def unidentified(matrix: Floats, names: Sequence[str]) -> tuple[tuple[str, ...], tuple[Floats, ...]]:
    """Names of the components that trade off against each other, and the sums that do not.

    matrix : (q + 1, q + 1), the information at variances that are all positive, of the SDs `names`. Where it is
    singular, some direction in the variances leaves the distribution of all contrasts unchanged. Returned
    are the components with a part in such a direction, and the rows (q + 1,) of a basis of the identified
    linear combinations that involve them.
    """
    scale = np.sqrt(np.diag(matrix))
    values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
    flat = vectors[:, values < _RANK_TOLERANCE] / scale[:, None]
    if flat.shape[1] == 0:
        return (), ()
    involved = np.abs(flat / np.abs(flat).max(axis=0)).max(axis=1) > 1e-6
    together = tuple(name for name, part in zip(names, involved, strict=True) if part)
    combinations = row_echelon(null_space(flat[involved].T))
    rows = []
    for combination in combinations:
        row = np.zeros(len(names))
        row[involved] = combination
        rows.append(row)
    return together, tuple(rows)


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


def in_words(combination: Floats, variances: Floats, names: Sequence[str]) -> str:
    """A combination of the variances of SDs `names` with its value, for example 'a^2 + 0.25 b^2 = 0.031'."""
    terms = []
    for name, weight in zip(names, combination, strict=True):
        if weight != 0:
            sign = "-" if weight < 0 else "+"
            factor = "" if np.isclose(abs(weight), 1) else f"{abs(weight):.4g} "
            terms.append(f"{sign} {factor}{name}^2")
    text = " ".join(terms).removeprefix("+ ")
    return f"{text} = {float(combination @ variances):.6g}"
