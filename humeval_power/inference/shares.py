"""Wilson's interval for a share: that of simulated studies, or of judgements."""

from __future__ import annotations

import math

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
