"""Paired counts the slow way: every table, one at a time, with p-values from statsmodels and SciPy."""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
from scipy import optimize, stats
from statsmodels.stats.contingency_tables import mcnemar


def asymptotic(b: int, c: int, n: int) -> float:
    if b + c == 0:
        return 1.0
    return float(mcnemar([[0, c], [b, n - b - c]], exact=False, correction=False).pvalue)


def exact(b: int, c: int, n: int) -> float:
    if b + c == 0:
        return 1.0
    return float(mcnemar([[0, c], [b, n - b - c]], exact=True).pvalue)


def mid_p(b: int, c: int, n: int) -> float:
    """The probability of tables less likely than this one plus half that of those as likely."""
    del n
    if b + c == 0:
        return 1.0
    ways = np.array([math.comb(b + c, k) for k in range(b + c + 1)])
    mine = math.comb(b + c, b)
    return float((ways[ways < mine].sum() + ways[ways == mine].sum() / 2) / 2 ** (b + c))


def unconditional(b: int, c: int, n: int) -> float:
    """The largest probability of a |Z| as large, over 800 rates of discordant items and then locally."""

    def z(up: int, down: int) -> float:
        return abs(up - down) / math.sqrt(up + down) if up + down else 0.0

    observed = z(b, c)
    ways = np.zeros(n + 1)
    for k in range(n + 1):
        for up in range(k + 1):
            if z(up, k - up) >= observed - 1e-9:
                ways[k] += math.comb(k, up) / 2**k

    def probability(rate: float) -> float:
        return float(stats.binom.pmf(np.arange(n + 1), n, rate) @ ways)

    grid = np.linspace(0.0, 1.0, 801)
    values = stats.binom.pmf(np.arange(n + 1), n, grid[:, None]) @ ways
    best = int(values.argmax())
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, 800)]
    found = optimize.minimize_scalar(
        lambda rate: -probability(rate), bounds=(low, high), method="bounded", options={"xatol": 1e-10}
    )
    return float(max(values[best], -found.fun))


TESTS: dict[str, Callable[[int, int, int], float]] = {
    "asymptotic": asymptotic,
    "exact": exact,
    "mid-p": mid_p,
    "unconditional": unconditional,
}


def power_by_table(
    n: int, only_b: float, only_a: float, p_value: Callable[[int, int, int], float], *, alpha: float
) -> tuple[float, float, float]:
    """P(significant and b > c), P(significant and b < c), and E[|b - c| / n; significant]."""
    p_value = cache(p_value)
    right = wrong = size = 0.0
    for b in range(n + 1):
        for c in range(n - b + 1):
            if p_value(max(b, c), min(b, c), n) <= alpha:
                chance = stats.multinomial.pmf([b, c, n - b - c], n, [only_b, only_a, 1 - only_b - only_a])
                right += chance * (b > c)
                wrong += chance * (b < c)
                size += chance * abs(b - c) / n
    return right, wrong, size
