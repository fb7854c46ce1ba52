"""One rating's log probability and its derivatives, exact far out in both tails.

A rating in a category between the bounds l < u (thresholds minus the linear predictor) has probability
P = F(u) - F(l), F the normal or the logistic distribution function; the lowest category has no l, the highest
no u. All derivatives of log P come from four numbers: a = f(u)/P, b = f(l)/P, and f'/f at u and at l.
"""

from __future__ import annotations

import math

from humeval_power.kernels.kernel import inner

_ROOT_HALF = math.sqrt(0.5)
_LOG_ROOT_2PI = 0.5 * math.log(2.0 * math.pi)
_FAR = 25.0  # standard deviations beyond which the tail's series is exact to rounding, and erfc nears zero


@inner
def normal_tail(x):
    """log F(x) and f(x)/F(x) of the normal distribution."""
    if x > -_FAR:
        probability = 0.5 * math.erfc(-x * _ROOT_HALF)
        return math.log(probability), math.exp(-0.5 * x * x - _LOG_ROOT_2PI) / probability
    # F(x) = f(x)/|x| (1 - 1/x^2 + 3/x^4 - ...), Abramowitz and Stegun (1964), 26.2.12
    w = 1.0 / (x * x)
    series = 1.0 - w * (1.0 - 3.0 * w * (1.0 - 5.0 * w * (1.0 - 7.0 * w * (1.0 - 9.0 * w))))
    return -0.5 * x * x - _LOG_ROOT_2PI - math.log(-x) + math.log(series), -x / series


@inner
def logistic(x):
    """F(x) of the logistic distribution."""
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    e = math.exp(x)
    return e / (1.0 + e)


@inner
def log_logistic(x):
    """log F(x) of the logistic distribution."""
    if x >= 0.0:
        return -math.log1p(math.exp(-x))
    return x - math.log1p(math.exp(x))


@inner
def cell(u, lo, has_u, has_l, logit):
    """log P, a = f(u)/P, b = f(l)/P, f'(u)/f(u), f'(l)/f(l); the parts of a missing bound are zero.

    The bounds must be ordered: lo < u where both are there.
    """
    if logit:
        # P = F(u) F(-l) (1 - exp(l - u))
        log_p, a, b, cu, cl = 0.0, 0.0, 0.0, 0.0, 0.0
        if has_u:
            upper = logistic(-u)
            log_p += log_logistic(u)
            a, cu = upper, 2.0 * upper - 1.0
        if has_l:
            lower = logistic(lo)
            log_p += log_logistic(-lo)
            b, cl = lower, 1.0 - 2.0 * lower
        if has_u and has_l:
            gap = 1.0 / math.expm1(u - lo) if u - lo < 700.0 else 0.0
            log_p += math.log(-math.expm1(lo - u))
            a += gap
            b += gap
        return log_p, a, b, cu, cl
    if not has_l:
        log_p, a = normal_tail(u)
        return log_p, a, 0.0, -u, 0.0
    if not has_u:
        log_p, b = normal_tail(-lo)
        return log_p, 0.0, b, 0.0, -lo
    flip = lo + u > 0.0  # the mirror image lies in the lower tail, where F keeps its digits
    high, low = (-lo, -u) if flip else (u, lo)
    if high > -_FAR:
        probability = 0.5 * (math.erfc(-high * _ROOT_HALF) - math.erfc(-low * _ROOT_HALF))
        if probability > 0.0:
            a = math.exp(-0.5 * u * u - _LOG_ROOT_2PI) / probability
            b = math.exp(-0.5 * lo * lo - _LOG_ROOT_2PI) / probability
            return math.log(probability), a, b, -u, -lo
    log_high, ratio_high = normal_tail(high)
    log_low, ratio_low = normal_tail(low)
    fall = min(log_low - log_high, -1e-300)
    share = -math.expm1(fall)  # 1 - F(low)/F(high)
    at_high, at_low = ratio_high / share, ratio_low * math.exp(fall) / share
    a, b = (at_low, at_high) if flip else (at_high, at_low)
    return log_high + math.log(share), a, b, -u, -lo


@inner
def curvature(a, b, cu, cl):
    """The negative second derivatives of log P: in u twice, in u and l, in l twice."""
    return a * (a - cu), -a * b, b * (b + cl)


@inner
def third(a, b, cu, cl, logit):
    """The third derivatives of log P: uuu, uul, ull, lll."""
    # f''/f is c^2 - 1 (normal) and (3 c^2 - 1)/2 (logistic), c = f'/f
    eu = 1.5 * cu * cu - 0.5 if logit else cu * cu - 1.0
    el = 1.5 * cl * cl - 0.5 if logit else cl * cl - 1.0
    return (
        a * (eu - 3.0 * a * cu + 2.0 * a * a),
        a * b * (cu - 2.0 * a),
        a * b * (cl + 2.0 * b),
        -b * (el + 3.0 * b * cl + 2.0 * b * b),
    )
