"""Least squares with what a table of it shows: standard errors, intervals, R2, F."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.errors import InputError

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Term:
    """A coefficient with its 95 % interval by Student's t; NaN where no degree of freedom is left."""

    name: str
    estimate: float
    standard_error: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True, slots=True)
class LeastSquares:
    """Terms of a regression and how well it fits; shares of variance are NaN where nothing varies."""

    terms: tuple[Term, ...]
    n: int
    df: int
    r_squared: float
    adjusted_r_squared: float
    residual_sd: float
    f_statistic: float
    f_p_value: float


def least_squares(columns: Mapping[str, Floats], y: Floats, *, refusal: str) -> LeastSquares:
    """Ordinary least squares of `y`, shape (n,), on the columns, shape (n,) each, and a constant.

    Raises
    ------
    InputError
        Columns that do not determine the coefficients; `refusal` says what is to be done.
    """
    design = np.column_stack([np.ones(len(y)), *columns.values()])
    if (
        not len(y)
        or np.linalg.matrix_rank(design - np.r_[0.0, design[:, 1:].mean(axis=0)]) < design.shape[1]
    ):
        raise InputError(refusal)
    solution = np.linalg.lstsq(design, y, rcond=None)[0]
    left, spread = y - design @ solution, y - y.mean()
    n, df, total = len(y), len(y) - design.shape[1], float(spread @ spread)
    error = float(left @ left)
    variance = error / df if df > 0 else math.nan
    errors = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))
    named = zip(("constant", *columns), solution, errors, strict=True)
    slopes = design.shape[1] - 1
    explained = 1 - error / total if total > 0 else math.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        f = float(np.divide((total - error) / max(slopes, 1), variance))
    return LeastSquares(
        tuple(_term(name, float(estimate), float(se), df) for name, estimate, se in named),
        n,
        df,
        explained,
        1 - (1 - explained) * (n - 1) / df if df > 0 else math.nan,
        math.sqrt(variance),
        f,
        float(special.fdtrc(slopes, df, f)) if df > 0 else math.nan,
    )


def _term(name: str, estimate: float, error: float, df: int) -> Term:
    if math.isnan(error) or error == 0:
        return Term(name, estimate, error, math.nan, math.nan, math.nan)
    half = float(special.stdtrit(df, 0.975)) * error
    p_value = 2 * float(special.stdtr(df, -abs(estimate) / error))
    return Term(name, estimate, error, estimate - half, estimate + half, p_value)
