"""Rank and sign-flip tests by listing every assignment of signs, in fractions: slow, and without rounding."""

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction


def moved(differences: Sequence[str], null: str) -> list[Fraction]:
    """The typed differences less the typed null difference."""
    return [Fraction(text) - Fraction(null) for text in differences]


def middle_ranks(values: Sequence[Fraction]) -> list[Fraction]:
    """Ranks from 1; equal values share their mean rank."""
    return [
        Fraction(sum(other < value for other in values))
        + Fraction(sum(other == value for other in values) + 1, 2)
        for value in values
    ]


def signed_rank_p(values: Sequence[Fraction], alternative: str) -> Fraction:
    """P-value of Wilcoxon's signed-rank sum; zeros are dropped, two-sided is twice the smaller tail."""
    active = [value for value in values if value != 0]
    ranks = middle_ranks([abs(value) for value in active])
    observed = sum((r for r, v in zip(ranks, active, strict=True) if v > 0), Fraction(0))
    sums = [
        sum((r for r, up in zip(ranks, ups, strict=True) if up), Fraction(0))
        for ups in itertools.product((False, True), repeat=len(ranks))
    ]
    return _tail(sums, observed, alternative)


def sign_flip_p(
    values: Sequence[Fraction], statistic: Callable[[Sequence[Fraction]], Fraction], alternative: str
) -> Fraction:
    """Share of the assignments of signs whose statistic is as extreme as the observed one."""
    drawn = [
        statistic([value * sign for value, sign in zip(values, signs, strict=True)])
        for signs in itertools.product((1, -1), repeat=len(values))
    ]
    seen = statistic(values)
    if alternative == "two-sided":
        return Fraction(sum(abs(each) >= abs(seen) for each in drawn), len(drawn))
    return _tail(drawn, seen, alternative)


def mann_whitney(a: Sequence[Fraction], b: Sequence[Fraction]) -> tuple[Fraction, int]:
    """U of b over a with ties counted half, and the sum of t^3 - t over groups of ties."""
    u = sum((Fraction((y > x) * 2 + (y == x), 2) for x in a for y in b), Fraction(0))
    both = [*a, *b]
    return u, sum(both.count(value) ** 3 - both.count(value) for value in set(both))


def _tail(drawn: Sequence[Fraction], observed: Fraction, alternative: str) -> Fraction:
    below = Fraction(sum(each <= observed for each in drawn), len(drawn))
    above = Fraction(sum(each >= observed for each in drawn), len(drawn))
    both = min(Fraction(1), 2 * min(below, above))
    return {"less": below, "greater": above, "two-sided": both}[alternative]
