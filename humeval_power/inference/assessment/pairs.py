"""Pairs of systems compared by independent ratings, in each group of a table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import ScoreTest
from humeval_power.errors import InputError
from humeval_power.inference.assessment.clustered_difference import (
    ClusteredDifference,
    clustered_difference,
    clustered_superiority,
)
from humeval_power.inference.assessment.independent_tests import mean_test, rank_sum_test
from humeval_power.inference.corrections import correct

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

FEWEST = 2  # ratings of a system that can be compared


@dataclass(frozen=True, slots=True, eq=False)
class RatedOutputs:
    """Ratings (n,) in any order, and whose they are; codes (n,) count from 0.

    `groups` are parts that are compared by themselves, such as language pairs: ('',) where there are none.
    `worker`, `item` and `cluster` are None where nothing is known of them.
    """

    rating: Floats
    system: Codes
    systems: tuple[str, ...]
    group: Codes
    groups: tuple[str, ...]
    worker: Codes | None = None
    item: Codes | None = None
    cluster: Codes | None = None
    cluster_name: str = ""
    source: str = ""
    sha256: str = ""
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PairTest:
    """Systems a and b of a group: the means of their ratings, their difference B - A, and the test.

    `superiority` is P(B > A), ties counted half; `df` and `n_clusters` are of a test that knows clusters.
    `p_value` is NaN where there is no test.
    """

    group: str
    a: str
    b: str
    n_a: int
    n_b: int
    mean_a: float
    mean_b: float
    sd_a: float
    sd_b: float
    difference: float
    interval: tuple[float, float]
    superiority: float
    p_value: float
    corrected_p: float = math.nan
    df: float | None = None
    n_clusters: int | None = None

    @property
    def is_torn(self) -> bool:
        """Whether means and ranks point in different directions."""
        return self.difference * (self.superiority - 0.5) < 0


@dataclass(frozen=True, slots=True)
class PairTests:
    """The tests of all pairs, and what could not be tested, in words."""

    pairs: tuple[PairTest, ...]
    test: ScoreTest
    continuity: bool
    alpha: float
    baseline: str | None
    left_out: tuple[str, ...] = field(default=())

    @property
    def n_significant(self) -> int:
        """Pairs with p < alpha, uncorrected."""
        return sum(pair.p_value < self.alpha for pair in self.pairs)

    @property
    def n_corrected(self) -> int:
        """Pairs that are significant after Holm's correction."""
        return sum(pair.corrected_p < self.alpha for pair in self.pairs)


def compare_pairs(
    rated: RatedOutputs,
    *,
    test: ScoreTest = "mann-whitney",
    baseline: str | None = None,
    continuity: bool = True,
    alpha: float = 0.05,
) -> PairTests:
    """Test every pair of systems of each group, or every system against `baseline`; p-values corrected by Holm.

    Raises
    ------
    InputError
        A baseline that is no system, clusters with Student's test, or no pair with two ratings each.
    """
    if baseline is not None and baseline not in rated.systems:
        raise InputError(
            f"--baseline {baseline}: there is no such system in {rated.source or 'the table'}."
        )
    if rated.cluster is not None and test == "student":
        raise InputError("Errors robust to clusters are not pooled: take --test welch, or mann-whitney.")
    found: list[PairTest] = []
    left_out: list[str] = []
    for group, name in enumerate(rated.groups):
        rows = np.flatnonzero(rated.group == group)
        count = np.bincount(rated.system[rows], minlength=len(rated.systems))
        left_out += _too_few(rated, name, count)
        pairs = _pairs(rated.systems, count, baseline)
        if not pairs:
            left_out.append(f"{_in(name)}no pair can be compared.")
        for a, b in pairs:
            of_a, of_b = rows[rated.system[rows] == a], rows[rated.system[rows] == b]
            found.append(_pair(rated, name, (a, b), (of_a, of_b), test, continuity, alpha))
    if not found:
        raise InputError(
            f"{rated.source or 'The table'}: no two systems have {FEWEST} ratings each"
            f"{'' if len(rated.groups) == 1 else ' in any group'}; a test needs them."
        )
    corrected = correct([pair.p_value for pair in found], "holm")
    pairs_tested = tuple(
        replace(pair, corrected_p=float(p)) for pair, p in zip(found, corrected, strict=True)
    )
    return PairTests(pairs_tested, test, continuity, alpha, baseline, tuple(left_out))


def _pairs(systems: Sequence[str], count: Codes, baseline: str | None) -> list[tuple[int, int]]:
    usable = [code for code in range(len(systems)) if count[code] >= FEWEST]
    if baseline is None:
        return list(combinations(usable, 2))
    first = list(systems).index(baseline)
    return [(first, other) for other in usable if other != first] if first in usable else []


def _too_few(rated: RatedOutputs, name: str, count: Codes) -> Iterator[str]:
    for code in np.flatnonzero((count > 0) & (count < FEWEST)):
        yield f"{_in(name)}{rated.systems[code]} has one rating and is left out."


def _in(name: str) -> str:
    return f"{name}: " if name else ""


def _pair(
    rated: RatedOutputs,
    group: str,
    systems: tuple[int, int],
    rows: tuple[Codes, Codes],
    test: ScoreTest,
    continuity: bool,
    alpha: float,
) -> PairTest:
    a, b = rated.rating[rows[0]], rated.rating[rows[1]]
    by_rank = rank_sum_test(a[None], b[None], continuity=continuity)
    by_mean = mean_test(a[None], b[None], pooled=test == "student")
    p = by_rank.p_value if test == "mann-whitney" else by_mean.p_value
    error, df = float(by_mean.standard_error[0]), float(by_mean.df[0])
    reach = -float(special.stdtrit(df, alpha / 2)) * error
    difference = float(by_mean.difference[0])
    found = PairTest(
        group=group,
        a=rated.systems[systems[0]],
        b=rated.systems[systems[1]],
        n_a=len(a),
        n_b=len(b),
        mean_a=float(a.mean()),
        mean_b=float(b.mean()),
        sd_a=float(a.std(ddof=1)),
        sd_b=float(b.std(ddof=1)),
        difference=difference,
        interval=(difference - reach, difference + reach),
        superiority=float(by_rank.superiority[0]),
        p_value=float(p[0]),
    )
    if rated.cluster is None:
        return found
    clusters = (rated.cluster[rows[0]], rated.cluster[rows[1]])
    means = clustered_difference(a, b, *clusters)
    tested: ClusteredDifference = (
        clustered_superiority(a, b, *clusters) if test == "mann-whitney" else means
    )
    return replace(
        found,
        interval=means.interval(1 - alpha),
        p_value=tested.p_value,
        df=tested.df,
        n_clusters=tested.n_clusters,
    )
