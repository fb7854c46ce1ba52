"""The effect in units of standard deviations."""

from __future__ import annotations

import math
from dataclasses import dataclass

from humeval_power.parameters import STANDARD_DEVIATIONS, Parameters


@dataclass(frozen=True, slots=True)
class StandardisedEffect:
    """The difference B - A over two spreads, each named so that it cannot be taken for another.

    `by_rating` divides by the SD of a single rating (all components; Westfall, Kenny and Judd 2014, d);
    `by_residual` by the residual SD alone.
    """

    by_rating: float
    by_residual: float


def standardised_effect(parameters: Parameters) -> StandardisedEffect:
    """Both, from the seven parameters; a rating's variance has the slopes' at x = +- 1/2."""
    coded = parameters.recoded()
    w0, w1, i0, i1, residual = (getattr(coded, name) ** 2 for name in STANDARD_DEVIATIONS)
    total = w0 + i0 + (w1 + i1) / 4 + residual + coded.sd_worker_item**2
    return StandardisedEffect(coded.effect / math.sqrt(total), coded.effect / math.sqrt(residual))
