"""Which of the engine's ways takes a single fit: dense matrices that need no compiling, or the kernels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from numpy.typing import NDArray

from humeval_power.kernels.crossed import dense, reml
from humeval_power.kernels.crossed.likelihood import Gram
from humeval_power.kernels.kernel import is_loaded, is_ready

DENSE_GAMMA = 1e3  # relative variances beyond which one dense matrix loses digits that the kernels keep
_SMALL_DESIGN = 300  # columns of workers and items up to which one dense matrix is as fast as the kernels
_quick: ContextVar[bool] = ContextVar("quick_start", default=False)


@contextmanager
def quick_start() -> Iterator[None]:
    """Within the block small single fits are by dense matrices unless the kernels are loaded already: for a
    command that fits one table, loading them takes longer than the fit."""
    token = _quick.set(True)
    try:
        yield
    finally:
        _quick.reset(token)


def by_dense_matrices(gram: Gram) -> bool:
    """Whether a single fit is found by dense matrices: it is small, and the kernels are not at hand."""
    if dense.n_columns(gram) > _SMALL_DESIGN or is_loaded(reml.fit_many):
        return False
    return _quick.get() or not kernels_ready()


def kernels_ready() -> bool:
    """Whether fits need no compiling any more."""
    return is_ready(reml.fit_many)


def by_dense_design(gram: Gram, gamma: NDArray[np.float64]) -> bool:
    """Whether what a design alone says is found by one dense matrix."""
    return bool(dense.n_columns(gram) <= _SMALL_DESIGN and gamma.max() <= DENSE_GAMMA)
