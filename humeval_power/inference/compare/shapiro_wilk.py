"""The test of normality of Shapiro and Wilk (1965), by Royston's (1995) approximations, algorithm AS R94."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]

_LARGEST = (0.0, 0.221157, -0.147981, -2.07119, 4.434685, -2.706056)  # its weight, in 1 / sqrt(n)
_SECOND = (0.0, 0.042981, -0.293762, -1.752461, 5.682633, -3.582633)
_FEW = 11  # values up to which -log(gamma - log(1 - W)) is normal, beyond them log(1 - W)
_FEW_GAMMA = (-2.273, 0.459)
_FEW_MEAN = (0.544, -0.39978, 0.025054, -6.714e-4)
_FEW_LOG_SD = (1.3822, -0.77857, 0.062767, -0.0020322)
_MANY_MEAN = (-1.5861, -0.31082, -0.083751, 0.0038915)  # in log n
_MANY_LOG_SD = (-0.4803, -0.082676, 0.0030302)
# Beasley and Springer's (1977) normal quantiles, AS 111, right to nine digits: those of SciPy's W.
_MIDDLE = (2.50662823884, -18.61500062529, 41.39119773534, -25.44106049637)
_MIDDLE_BELOW = (1.0, -8.47351093090, 23.08336743743, -21.06224101826, 3.13082909833)
_TAIL = (-2.78718931138, -2.29796479134, 4.85014127135, 2.32121276858)
_TAIL_BELOW = (1.0, 3.54388924762, 1.63706781897)


class ShapiroWilk(NamedTuple):
    """W, and the probability of a smaller one if the values are normal."""

    w: float
    p_value: float


def shapiro_wilk(values: Floats) -> ShapiroWilk:
    """Test three values or more, not all alike."""
    n = len(values)
    ordered = np.sort(values) - values[n // 2]
    centred = ordered / (ordered[-1] - ordered[0])
    centred -= centred.mean()
    weights = _weights(n)
    both = math.sqrt(float((weights @ weights) * (centred @ centred)))
    along = float(weights @ centred)
    lacking = max(0.0, (both - along) * (both + along) / both**2)  # 1 - W, which may be small
    return ShapiroWilk(1 - lacking, _p_value(lacking, n))


def _weights(n: int) -> Floats:
    """Of the ordered values, their squares summing to 1."""
    if n == 3:
        return np.array([-math.sqrt(0.5), 0.0, math.sqrt(0.5)])
    scores = _normal_quantiles((np.arange(1.0, n + 1) - 0.375) / (n + 0.25))
    squares, unit = float(scores @ scores), 1 / math.sqrt(n)
    ends = [scores[-1] / math.sqrt(squares) + _polynomial(_LARGEST, unit)]
    if n > 5:
        ends.append(scores[-2] / math.sqrt(squares) + _polynomial(_SECOND, unit))
    replaced = scores[-len(ends) :]
    weights = scores / math.sqrt(
        (squares - 2 * float(replaced @ replaced)) / (1 - 2 * sum(a * a for a in ends))
    )
    for place, end in enumerate(ends):
        weights[place], weights[-1 - place] = -end, end
    return np.asarray(weights)


def _p_value(lacking: float, n: int) -> float:
    if n == 3:  # exactly
        return max(0.0, 6 / math.pi * (math.asin(math.sqrt(1 - lacking)) - math.asin(math.sqrt(0.75))))
    if lacking == 0:
        return 1.0
    log = math.log(lacking)
    if n <= _FEW:
        score = -math.log(_polynomial(_FEW_GAMMA, n) - log)
        mean, log_sd = _polynomial(_FEW_MEAN, n), _polynomial(_FEW_LOG_SD, n)
    else:
        score, mean, log_sd = (
            log,
            _polynomial(_MANY_MEAN, math.log(n)),
            _polynomial(_MANY_LOG_SD, math.log(n)),
        )
    return float(special.ndtr((mean - score) / math.exp(log_sd)))


def _normal_quantiles(probability: Floats) -> Floats:
    off = probability - 0.5
    square = off * off
    middle = off * np.polyval(_MIDDLE[::-1], square) / np.polyval(_MIDDLE_BELOW[::-1], square)
    root = np.sqrt(-np.log(np.minimum(probability, 1 - probability)))
    tail = np.polyval(_TAIL[::-1], root) / np.polyval(_TAIL_BELOW[::-1], root)
    return np.where(np.abs(off) <= 0.42, middle, np.sign(off) * tail)


def _polynomial(coefficients: tuple[float, ...], x: float) -> float:
    return float(np.polyval(coefficients[::-1], x))
