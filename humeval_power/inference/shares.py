"""Shares of simulated studies, or of judgements: Wilson's interval, and the quantiles of a binomial count."""

from __future__ import annotations

import math
from bisect import bisect_left

CONFIDENCE = 0.95


def wilson_interval(count: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's (1927) interval for a share; (NaN, NaN) without observations."""
    if n == 0:
        return math.nan, math.nan
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    share = count / n
    center = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # it holds the share; at 0 and 1 rounding would leave it a digit outside
    return min(share, max(0.0, center - reach)), max(share, min(1.0, center + reach))


def binomial_interval(confidence: float, n: int, share: float) -> tuple[int, int]:
    """Quantiles of a binomial count that leave out (1 - confidence) / 2 on either side, as scipy.stats does."""
    tail = (1 - confidence) / 2
    return binomial_quantile(tail, n, share), binomial_quantile(1 - tail, n, share)


def binomial_quantile(probability: float, n: int, share: float) -> int:
    """The smallest k with P(X <= k) >= `probability`, of a binomial count X."""
    return bisect_left(range(n), probability, key=lambda count: binomial_at_most(count, n, share))


def binomial_at_most(count: int, n: int, share: float = 0.5) -> float:
    """P(X <= count) of a binomial count X."""
    if not 0 <= count < n:
        return float(count >= n)
    from scipy.special import betainc

    return float(betainc(n - count, count + 1, 1 - share))
