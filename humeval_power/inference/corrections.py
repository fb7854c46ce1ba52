"""P-values of several tests, corrected for their number; which of them are significant."""

from __future__ import annotations

from typing import assert_never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humeval_power.errors import InputError
from humeval_power.rules import Correction

Floats = NDArray[np.float64]


def correct(p_values: ArrayLike, correction: Correction) -> Floats:
    """Corrected p-values in the order given: Holm's (1979), Bonferroni's, Benjamini and Hochberg's (1995), or as
    they are.

    A missing one, of a comparison without a test, stays missing and counts as one of the family with p = 1:
    that it could not be made is no reason to correct the others for less.

    Raises
    ------
    InputError
        'max-t', which is not one of p-values alone: see `studies.fit.max_t`.
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
    elif correction == "bh":
        stepped = np.minimum.accumulate((full[order] / (np.arange(1, n + 1) / n))[::-1])[::-1]
    else:
        assert_never(correction)
    corrected = np.empty(n)
    corrected[order] = np.minimum(stepped, 1.0)
    return np.where(missing, np.nan, corrected)


def significant(p_values: Floats, correction: Correction, alpha: float) -> NDArray[np.bool_]:
    """Which p-values (studies, tests) are significant; a missing one never is, and counts as one of the tests.

    Holm's (1979) steps down, Benjamini and Hochberg's (1995) steps up, Bonferroni's single one or none. 'max-t' is
    not one of p-values alone.
    """
    n = p_values.shape[1]
    p = np.where(np.isnan(p_values), np.inf, p_values)
    if correction == "none":
        return np.asarray(p <= alpha)
    if correction == "bonferroni":
        return np.asarray(p <= alpha / n)
    if correction == "max-t":
        raise InputError("max-t is a correction of t statistics, not of p-values.")
    ordered = np.sort(p, axis=1)
    step = np.arange(1, n + 1)
    if correction == "holm":
        below = ordered <= alpha / (n - step + 1)
        count = np.where(below.all(axis=1), n, below.argmin(axis=1))
    elif correction == "bh":
        below = ordered <= alpha * step / n
        count = np.where(below.any(axis=1), n - below[:, ::-1].argmax(axis=1), 0)
    else:
        assert_never(correction)
    last = np.take_along_axis(ordered, np.maximum(count - 1, 0)[:, None], axis=1)
    return np.asarray((p <= last) & (count > 0)[:, None])
