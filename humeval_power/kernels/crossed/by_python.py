"""Searches as Python runs them: where an engine has no compiled likelihood, and at the end of single fits."""

from __future__ import annotations

from types import FunctionType, SimpleNamespace
from typing import Any

from humeval_power.kernels import small_matrices
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


_newton_direction = run_by_python(reml.newton_direction, spd_inverse=small_matrices.spd_inverse.py_func)

# The end of a search for maximum likelihood: of one table Python is there before the kernels are loaded.
polished = run_by_python(
    balanced_ml.polished,
    _value=balanced_ml._value.py_func,
    _derivatives=balanced_ml._derivatives.py_func,
    _force=balanced_ml._force.py_func,
    newton_direction=_newton_direction,
)
