"""Everything that the crossed kernel knows at one gamma, in one place for the tests to compare."""

from typing import Any, NamedTuple

import numpy as np

from humeval_power.estimation.crossed.problem import CrossedProblem
from humeval_power.kernels.crossed import information, likelihood, second_order
from humeval_power.kernels.crossed.crossproducts import response_products, sparse_gram, with_outer_base
from humeval_power.kernels.crossed.second_order import evaluate
from humeval_power.kernels.kernel import kernel


@kernel
def _derivatives(gram, factor, profile, gamma, restricted):
    """Functions that only kernels call have no entry for Python: this is theirs."""
    trace = likelihood.traces(gram, factor, gamma)
    slope = likelihood.gradient(gram, profile, trace, restricted)
    quadratic, square = likelihood.working_products(gram, factor, profile, len(gamma))
    return trace, slope, quadratic, square


@kernel
def _second_order(gram, factor, profile, norm, xgx, xggx):
    second_order.second_order(gram, factor, profile, norm, xgx, xggx)


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
        q, p = len(self.gamma), len(contrast)
        norm, xgx, xggx = np.empty((q, q)), np.empty((q, p, p)), np.empty((q, q, p, p))
        _second_order(self.gram, self.factor, self.profile, norm, xgx, xggx)
        rss = np.array(self.profile.rss)
        fitted = information.Fitted(
            self.gamma, self.profile.phi, rss, self.trace, self.quadratic, self.square, norm, xgx, xggx
        )
        return information.precision(
            fitted, np.asarray(contrast, dtype=float), n=self.gram.n, restricted=self.restricted
        )


def view(gram, products, gamma, *, restricted=True):
    """The kernel at `gamma` (its own order) for the products of one response."""
    gamma = np.ascontiguousarray(gamma, dtype=np.float64)
    response = likelihood.Response(*(part[0] for part in products))
    factor, profile = evaluate(gram, response, gamma, restricted)
    trace, slope, quadratic, square = _derivatives(gram, factor, profile, gamma, restricted)
    return KernelView(gram, profile, gamma, slope, quadratic, square, factor, trace, restricted)


def view_of_table(worker, item, system, rating, gamma, *, restricted=True):
    """The problem of a table, and the kernel at relative variances in the package's order."""
    problem = CrossedProblem.of_design(worker, item, system)
    products = problem.products(np.asarray(rating, dtype=float)[None])
    return problem, view(problem.gram, products, problem.to_kernel(gamma), restricted=restricted)


def view_of_columns(outer, inner, outer_columns, inner_columns, x, y, gamma):
    """The kernel for any columns of the two factors and any fixed effects."""
    outer, outer_columns = np.atleast_2d(outer), outer_columns.reshape(-1, *outer_columns.shape[-2:])
    gram = with_outer_base(
        sparse_gram(outer, inner, outer_columns=outer_columns, inner_columns=inner_columns, x=x)
    )
    products = response_products(gram, outer, inner, outer_columns, inner_columns, x, y[None])
    return view(gram, products, gamma)
