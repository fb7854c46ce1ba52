"""Searches as Python runs them: where an engine has no compiled likelihood, and at the end of single fits."""

from __future__ import annotations

from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humeval_power.kernels.crossed import balanced_ml, reml


def run_by_python(compiled: Any, **replaced: Any) -> Any:
    """A compiled function as Python runs its source, with other functions behind some of its names."""
    source = compiled.py_func
    return FunctionType(source.__code__, {**source.__globals__, **replaced}, source.__name__)


def optimise_with(*, working_products: Any, **engine: Any) -> Any:
    """`reml.optimise` with an engine's `factorise`, `profile`, `traces`, `gradient` and `working_products`."""
    return run_by_python(
        reml.optimise,
        **engine,
        newton_direction=_newton_direction,
        likelihood=SimpleNamespace(working_products=working_products),
    )


def _newton_direction(
    hessian: NDArray[np.float64], slope: NDArray[np.float64], free: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """What `reml.newton_direction` gives."""
    direction = np.zeros(len(slope))
    scale = np.sqrt(np.maximum(hessian.diagonal()[free], 1e-300))
    scaled = hessian[free][:, free] / scale[:, None] / scale
    ridge = 1e-7
    for _ in range(12):
        try:
            lower = np.linalg.cholesky(scaled + ridge * np.eye(len(scale)))
        except np.linalg.LinAlgError:
            ridge *= 10.0
            continue
        inverse = np.linalg.inv(lower)
        direction[free] = -(inverse.T @ (inverse @ (slope[free] / scale))) / scale
        return direction
    direction[free] = -slope[free] / scale**2
    return direction


# The end of a search for maximum likelihood: of one table Python is there before the kernels are loaded.
polished = run_by_python(
    balanced_ml.polished,
    _value=balanced_ml._value.py_func,
    _derivatives=balanced_ml._derivatives.py_func,
    _force=balanced_ml._force.py_func,
    newton_direction=_newton_direction,
)
