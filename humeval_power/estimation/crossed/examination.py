"""A second look at one fit, exact where crossproducts lose digits, and what a design alone tells."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.blas import one_blas_thread
from humeval_power.estimation.crossed import choice
from humeval_power.estimation.crossed.problem import CrossedProblem
from humeval_power.kernels.crossed import dense, information, likelihood, second_order
from humeval_power.kernels.crossed.likelihood import Gram

Floats = NDArray[np.float64]


class Examination(NamedTuple):
    """A second look at one fit: exact criterion and residual sum of squares, (X'H^-1X)^-1, and the
    information quantities at its gamma."""

    criterion: float
    rss: float
    phi: Floats
    information: information.Information


def examine(problem: CrossedProblem, response: Floats, gamma: Floats, *, restricted: bool) -> Examination:
    """Evaluate a fit at relative variances `gamma` (q,) from its residuals.

    y'Py is the minimum of |y - Xb - Zu|^2 + u'u / gamma over b and u. Taken from the residuals themselves
    it keeps all its digits, where crossproducts would cancel them if the variance ratios are large.
    """
    center = response.mean()
    products = problem.products(response[None] - center)
    kernel_gamma = np.ascontiguousarray(problem.to_kernel(gamma), dtype=np.float64)
    with one_blas_thread():
        response_of_one = likelihood.Response(*(part[0] for part in products))
        prof, log_det, info = _examine(problem, response_of_one, kernel_gamma, restricted)
    seen, effects = outer_effects(problem, prof, kernel_gamma)
    inner_u = prof.inner_py * kernel_gamma[-prof.inner_py.shape[1] :]
    levels = zip(problem.design.begin[:-1], problem.outer, strict=True)
    random = sum(effects[begin + problem.factors[place].codes] for begin, place in levels)
    random = random + inner_u[problem.factors[problem.inner].codes]
    centered = response - center
    if problem.weights is not None:
        centered = problem.weights @ centered
    n, p = problem.x.shape
    q = random.shape[1]  # the columns of every factor are the first of the fixed effects
    residual = centered - ((random + prof.beta[:q]) * problem.x[:, :q]).sum(axis=1)
    if p > q:
        residual = residual - problem.x[:, q:] @ prof.beta[q:]
    penalty = (effects * seen).sum() + (inner_u * prof.inner_py).sum()
    rss = float(residual @ residual + penalty)
    df = n - p if restricted else n
    criterion = df * (1.0 + np.log(2.0 * np.pi * rss / df)) + log_det + problem.log_det
    if restricted:
        criterion -= np.linalg.slogdet(prof.phi)[1]
    return Examination(float(criterion), rss, prof.phi, info)


def outer_effects(
    problem: CrossedProblem, prof: likelihood.Profile, kernel_gamma: Floats
) -> tuple[Floats, Floats]:
    """Z'Py of the outer levels, kind by kind, and their predicted effects, both (n_outer, q)."""
    qa = len(problem.design.outer_types)
    by_kind = kernel_gamma[: len(problem.outer) * qa].reshape(-1, qa)
    seen = prof.outer_py.reshape(-1, qa)
    return seen, seen * np.repeat(by_kind, np.diff(problem.design.begin), axis=0)


def design_information(problem: CrossedProblem, gamma: Floats) -> tuple[information.Information, Floats]:
    """Information at relative variances `gamma` (q,), and (X'H^-1X)^-1, without any response."""
    gamma = problem.to_kernel(gamma)
    if problem.is_iterative:
        from humeval_power.estimation.large.iterative import information_at

        return information_at(problem, gamma)
    if choice.by_dense_design(problem.design, gamma):
        with one_blas_thread():
            return dense.design_information(problem.design, gamma)
    with one_blas_thread():
        prof, _, info = _examine(problem, dense.no_response(problem.design), gamma, True)
    return info, prof.phi


def gram_information(gram: Gram, gamma: Floats) -> tuple[information.Information, Floats]:
    """The same for any columns, at relative variances in the kernel's order."""
    if choice.by_dense_design(gram, gamma):
        with one_blas_thread():
            return dense.design_information(gram, gamma)
    with one_blas_thread():
        prof, _, info = _looked(second_order.examine, gram, dense.no_response(gram), gamma, True)
    return info, prof.phi


def _examine(
    problem: CrossedProblem, response: likelihood.Response, gamma: Floats, restricted: bool
) -> tuple[likelihood.Profile, float, information.Information]:
    """Profile, log |H| and information at relative variances in the kernel's order."""
    if gamma.max() <= choice.DENSE_GAMMA and choice.by_dense_matrices(problem.design):
        return _looked(dense.examine, problem.design, response, gamma, restricted)
    if problem.is_large:
        from humeval_power.kernels.large import information as large_information

        return _looked(large_information.examine, problem.large, response, gamma, restricted)
    return _looked(second_order.examine, problem.gram, response, gamma, restricted)


def _looked(
    look: Any, design: Any, response: likelihood.Response, gamma: Floats, restricted: bool
) -> tuple[likelihood.Profile, float, information.Information]:
    """What one engine sees of a response, with the residual's part of the information."""
    room = room_for(len(gamma), len(design.xx))
    gamma = np.ascontiguousarray(gamma, dtype=np.float64)
    prof, factor, trace = look(design, response, gamma, restricted, room.norm, room.xgx, room.xggx)
    info = information.with_residual(gamma, trace, room.norm, room.xgx, room.xggx, prof.phi, design.n)
    return prof, factor.log_det, info


def room_for(q: int, p: int, *lead: int) -> information.Fitted:
    """Room for what the kernels find in fits of q column types and p coefficients."""
    shapes = ((q,), (p, p), (), (q,), (q, q), (q,), (q, q), (q, p, p), (q, q, p, p))
    return information.Fitted(*(np.zeros((*lead, *shape)) for shape in shapes))
