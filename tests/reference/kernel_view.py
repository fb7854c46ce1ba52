"""Everything that the crossed kernel knows at one gamma, in one place for the tests to compare."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from humeval_power.estimation.native import CrossedProblem
from humeval_power.kernels import crossed, crossed_information
from humeval_power.kernels.crossproducts import build_gram, response_products


class KernelView(NamedTuple):
    """Fields in the kernel's own order of column types: outer factor first."""

    gram: Any
    profile: Any
    gamma: np.ndarray
    slope: np.ndarray
    quadratic: np.ndarray
    square: np.ndarray
    factor: Any
    trace: np.ndarray
    restricted: bool

    def precision(self, contrast):
        return crossed_information.precision(
            self.gram,
            self.factor,
            self.profile,
            self.gamma,
            self.trace,
            self.quadratic,
            self.square,
            np.asarray(contrast, dtype=float),
            self.restricted,
        )


def view(gram, products, gamma, *, restricted=True):
    """The kernel at `gamma` (its own order) for the products of one response."""
    gamma = np.ascontiguousarray(gamma, dtype=np.float64)
    response = crossed.Response(*(part[0] for part in products))
    factor = crossed.factorise(gram, gamma)
    profile = crossed.profile(gram, response, factor, restricted)
    trace = crossed.traces(gram, factor, gamma)
    slope = crossed.gradient(gram, profile, trace, restricted)
    quadratic, square = crossed.working_products(gram, factor, profile, len(gamma))
    return KernelView(gram, profile, gamma, slope, quadratic, square, factor, trace, restricted)


def view_of_table(worker, item, system, rating, gamma, *, restricted=True):
    """The problem of a table, and the kernel at relative variances in the package's order."""
    problem = CrossedProblem.of_design(worker, item, system)
    products = problem.products(np.asarray(rating, dtype=float)[None])
    return problem, view(problem.gram, products, problem.to_kernel(gamma), restricted=restricted)


def view_of_columns(outer, inner, outer_columns, inner_columns, x, y, gamma):
    """The kernel for any columns of the two factors and any fixed effects."""
    gram = build_gram(outer, inner, outer_columns=outer_columns, inner_columns=inner_columns, x=x)
    products = response_products(gram, outer, inner, outer_columns, inner_columns, x, y[None])
    return view(gram, products, gamma)
