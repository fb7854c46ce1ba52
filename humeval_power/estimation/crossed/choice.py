"""Which of the engine's ways takes a fit: dense matrices that need nothing compiled, or the kernels.

The command and the shape of the table decide, never what happens to be compiled or loaded: the same command prints
the same digits on the day of the installation and ever after.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from numpy.typing import NDArray

from humeval_power.kernels.crossed import dense
from humeval_power.kernels.crossed.likelihood import Gram

DENSE_GAMMA = 1e3  # relative variances beyond which one dense matrix loses digits that the kernels keep
_SMALL_DESIGN = 300  # columns of workers and items up to which a dense fit takes a tenth of a second
_FEW = 6  # such fits take no longer than loading the kernels
_fits: ContextVar[int | None] = ContextVar("few_fits", default=None)


@contextmanager
def few_fits(count: int = 1) -> Iterator[None]:
    """Within the block, which fits a table `count` times, a small one is fitted by dense matrices if that is
    quicker than loading the kernels. Outside of such blocks tables are fitted by the thousand, by the kernels."""
    token = _fits.set(count)
    try:
        yield
    finally:
        _fits.reset(token)


def by_dense_matrices(gram: Gram) -> bool:
    """Whether fits of this design are found by dense matrices here."""
    count, columns = _fits.get(), dense.n_columns(gram)
    return count is not None and count <= _FEW and columns <= _SMALL_DESIGN


def by_dense_design(gram: Gram, gamma: NDArray[np.float64]) -> bool:
    """Whether what a design alone says is found by one dense matrix."""
    return bool(dense.n_columns(gram) <= _SMALL_DESIGN and gamma.max() <= DENSE_GAMMA)
