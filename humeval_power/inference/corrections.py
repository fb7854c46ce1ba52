"""P-values of several tests, corrected for their number."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humeval_power.comparisons import Correction
from humeval_power.errors import InputError

Floats = NDArray[np.float64]


def correct(p_values: ArrayLike, correction: Correction) -> Floats:
    """Corrected p-values in the order given: Holm's (1979), Bonferroni's, Benjamini and Hochberg's (1995), or as
    they are.

    A missing one, of a comparison without a test, stays missing and counts as one of the family with p = 1:
    that it could not be made is no reason to correct the others for less.

    Raises
    ------
    InputError
        'max-t', which is not one of p-values alone: see `inference.study.max_t`.
    """
    raw = np.asarray(p_values, dtype=np.float64)
    if correction == "max-t":
        raise InputError("max-t is no correction of p-values alone; take holm.")
    if correction == "none":
        return raw
    missing, n = np.isnan(raw), len(raw)
    full = np.where(missing, 1.0, raw)
    order = np.argsort(full)
    if correction == "bonferroni":
        stepped = full[order] * n
    elif correction == "holm":
        stepped = np.maximum.accumulate(full[order] * np.arange(n, 0, -1))
    else:
        stepped = np.minimum.accumulate((full[order] / (np.arange(1, n + 1) / n))[::-1])[::-1]
    corrected = np.empty(n)
    corrected[order] = np.minimum(stepped, 1.0)
    return np.where(missing, np.nan, corrected)
