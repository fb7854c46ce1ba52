"""Fit the mixture of zeros and a Laplace distribution to effects of swapping (Card et al. 2020, App. G)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from humeval_power.errors import InputError


@dataclass(frozen=True, slots=True)
class DeltaLaplace:
    """Share of effects that are exactly zero and Laplace scale of the others.

    `scale` is b0 = n b with b the maximum-likelihood scale around the median, as Card et al. report;
    `matched_scale` is the b0 with which the model has the observed mean square of the effects, and so the
    observed null standard deviation of the sign-flip test: power depends on the effects through that
    alone, which is `null_sd`. Both scales are NaN without an effect that is not zero; `mean` is over all
    effects. Standard errors are those of large samples.
    """

    n_sentences: int
    n_zero: int
    mean: float
    scale: float
    matched_scale: float
    null_sd: float

    @property
    def zero_share(self) -> float:
        """P0."""
        return self.n_zero / self.n_sentences

    @property
    def zero_share_error(self) -> float:
        """Standard error of P0, binomial."""
        return math.sqrt(self.zero_share * (1 - self.zero_share) / self.n_sentences)

    @property
    def scale_error(self) -> float:
        """Standard error of b0 by maximum likelihood: b0 / sqrt(number of effects that are not zero)."""
        left = self.n_sentences - self.n_zero
        return self.scale / math.sqrt(left) if left else math.nan


def fit_delta_laplace(effects: ArrayLike) -> DeltaLaplace:
    """Fit P0 and b0 to the effects of swapping each sentence, shape (n_sentences,).

    Raises
    ------
    InputError
        Fewer than two effects, or one that is not a finite number.
    """
    values = np.asarray(effects, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2 or not np.isfinite(values).all():
        raise InputError(f"At least two finite effects of swapping are needed; got shape {values.shape}.")
    n, moved = len(values), values[values != 0]
    square = float(values @ values)
    if not len(moved):
        return DeltaLaplace(n, n, 0.0, math.nan, math.nan, 0.0)
    scale = float(np.abs(moved - np.median(moved)).mean())
    # (1 - P0)(2 b^2 + mu^2) = mean square, with mu the mean of the effects that are not zero
    matched = math.sqrt(max((square / len(moved) - float(moved.mean()) ** 2) / 2, 0.0))
    return DeltaLaplace(
        n_sentences=n,
        n_zero=n - len(moved),
        mean=float(values.mean()),
        scale=n * scale,
        matched_scale=n * matched,
        null_sd=math.sqrt(square) / 2,
    )
