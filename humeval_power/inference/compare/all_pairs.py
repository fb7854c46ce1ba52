"""Several systems on the same items: a test for each pair, corrected for their number, and clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from humeval_power.errors import InputError
from humeval_power.inference.compare.advice import RECOMMENDED, recommended_test
from humeval_power.inference.compare.bootstrap import outer_quantiles, studentised
from humeval_power.inference.compare.data_analysis import analyse
from humeval_power.inference.compare.result import (
    Direction,
    Floats,
    PairedTest,
    Question,
    TestSettings,
    score_differences,
)
from humeval_power.inference.compare.score_table import Pairs, ScoreTable, all_pairs
from humeval_power.inference.compare.tests import DEFAULT_TEST, TESTS, run_test
from humeval_power.inference.ranked_values import at_least
from humeval_power.inference.resampled import in_blocks
from humeval_power.kernels.resampling import drawn_counts


@dataclass(frozen=True, slots=True, eq=False)
class JointBootstrap:
    """Bootstrap-t of the mean differences B - A of many pairs (last axis) by shared resamples.

    `t` is observed, shape (n_pairs,), `drawn` the same in the resamples around the observed means, shape
    (n_resamples, n_pairs). A pair that agrees on every item has t = 0 everywhere.
    """

    mean: Floats
    standard_error: Floats
    t: Floats
    drawn: Floats
    direction: Direction

    def p_values(self) -> Floats:
        """Of each pair by itself; two-sided is twice the smaller tail, as in `bootstrap_t`."""
        n = len(self.drawn)
        above = (1 + at_least(self.drawn, self.t).sum(axis=0)) / (1 + n)
        below = (1 + at_least(-self.drawn, -self.t).sum(axis=0)) / (1 + n)
        both = np.minimum(1.0, 2 * np.minimum(above, below))
        return np.asarray({"greater": above, "less": below, "two-sided": both}[self.direction])

    def intervals(self, confidence: float) -> tuple[Floats, Floats]:
        """Ends of the bootstrap-t interval of each mean difference, not corrected for their number."""
        low, high = outer_quantiles(self.drawn, (1 - confidence) / 2)
        return self.mean - high * self.standard_error, self.mean - low * self.standard_error

    def max_t(self) -> Floats:
        """P-values corrected in a single step by the largest t of all pairs (Westfall and Young 1993)."""
        observed, drawn = self._sizes()
        largest = drawn.max(axis=1)
        count = np.array([at_least(largest, each).sum() for each in observed])
        return np.asarray((1 + count) / (1 + len(largest)))

    def romano_wolf(self) -> Floats:
        """P-values corrected step by step (Romano and Wolf 2005): each pair against the largest t of those
        that are not yet rejected; never larger than max-t's."""
        observed, drawn = self._sizes()
        order = np.argsort(-observed, kind="stable")
        remaining = np.maximum.accumulate(drawn[:, order[::-1]], axis=1)[:, ::-1]
        count = at_least(remaining, observed[order]).sum(axis=0)
        p_value = np.empty(len(observed))
        p_value[order] = np.maximum.accumulate((1 + count) / (1 + len(drawn)))
        return p_value

    def _sizes(self) -> tuple[Floats, Floats]:
        """What counts as large in the direction of the test, observed and drawn."""
        if self.direction == "two-sided":
            return np.abs(self.t), np.abs(self.drawn)
        sign = 1.0 if self.direction == "greater" else -1.0
        return sign * self.t, sign * self.drawn


def joint_bootstrap(
    scores: Floats, pairs: Pairs, settings: TestSettings, *, n_jobs: int = 1
) -> JointBootstrap:
    """Bootstrap-t of every pair.

    Parameters
    ----------
    scores : (n_items, n_systems).
    pairs : (n_pairs, 2), positions of A and B.

    Raises
    ------
    InputError
        A pair whose differences are all the same number other than the null difference.
    """
    n = len(scores)
    differences = np.column_stack([score_differences(scores[:, a], scores[:, b]) for a, b in pairs])
    mean = differences.mean(axis=0)
    error = differences.std(axis=0, ddof=1) / np.sqrt(n)
    flat = np.ptp(differences, axis=0) == 0
    if (flat & (settings.moved(differences[0]) != 0)).any():
        raise InputError(
            "A pair of systems differs by the same number on every item: no spread to judge by."
        )
    centred = np.where(flat, 0.0, differences - mean)
    both = np.hstack([centred, centred**2])
    sums = in_blocks(
        lambda rng, size: drawn_counts(rng, n, size) @ both,
        settings.n_resamples,
        seed=settings.seed,
        n_jobs=n_jobs,
    )
    drawn = studentised(sums[:, : len(pairs)], sums[:, len(pairs) :], n)
    t = np.where(flat, 0.0, (mean - settings.null) / np.where(flat, 1.0, error))
    return JointBootstrap(mean, error, t, drawn, settings.direction)


ScoreCorrection = Literal["holm", "romano-wolf", "max-t", "bonferroni", "bh", "none"]
BY_RESAMPLING: tuple[ScoreCorrection, ...] = ("romano-wolf", "max-t")
_STATSMODELS = {"holm": "holm", "bonferroni": "bonferroni", "bh": "fdr_bh"}


@dataclass(frozen=True, slots=True)
class ScorePair:
    """The test of one pair, B - A with A `first`, and its p-value corrected for all pairs."""

    first: str
    second: str
    test: PairedTest
    corrected_p: float
    significant: bool


@dataclass(frozen=True, slots=True)
class PairwiseScores:
    """All comparisons of a table. `means` by system, best first."""

    means: dict[str, float]
    pairs: tuple[ScorePair, ...]
    correction: ScoreCorrection
    question: Question
    n_items: int

    @property
    def clusters(self) -> tuple[tuple[str, ...], ...]:
        """Systems in clusters, best first: every system of a cluster differs significantly from every one
        of the clusters below it, as the WMT shared tasks group them. None unless all pairs were compared."""
        if len(self.pairs) < len(self.means) * (len(self.means) - 1) // 2:
            return ()
        apart = {frozenset((pair.first, pair.second)) for pair in self.pairs if pair.significant}
        return clusters(list(self.means), apart)


def clusters(order: Sequence[str], apart: set[frozenset[str]]) -> tuple[tuple[str, ...], ...]:
    """Cut the systems, in this order, wherever all before differ from all after.

    apart : the pairs that differ significantly.
    """
    cuts = [
        place
        for place in range(1, len(order))
        if all(frozenset((a, b)) in apart for a in order[:place] for b in order[place:])
    ]
    ends = [0, *cuts, len(order)]
    return tuple(tuple(order[low:high]) for low, high in pairwise(ends))


def compare_scores(
    table: ScoreTable,
    *,
    question: Question,
    settings: TestSettings,
    test: str | None = None,
    correction: ScoreCorrection = "holm",
    baseline: str | None = None,
    n_jobs: int = 1,
) -> PairwiseScores:
    """Test all pairs, or every system against a baseline.

    'holm' suits any test; 'romano-wolf' and 'max-t' use the dependence between the pairs and are bootstrap-t
    tests of means; 'bh' bounds the expected share of false ones among the significant (Benjamini and
    Hochberg 1995), not the chance of any.

    Raises
    ------
    InputError
        A correction by resampling for a question other than the mean, or as `run_test`.
    """
    pairs = _pairs(table, baseline)
    if correction in BY_RESAMPLING and test in (None, RECOMMENDED):
        name = "bootstrap-t"
    elif test == RECOMMENDED:
        name = recommended_test(
            question, [analyse(table.scores[:, a], table.scores[:, b]) for a, b in pairs]
        )
    else:
        name = test or DEFAULT_TEST[question]
    if correction in BY_RESAMPLING and (question != "mean" or name != "bootstrap-t"):
        raise InputError(
            f"The correction {correction!r} resamples mean differences: ask for the mean and the test "
            "'bootstrap-t', or correct with 'holm'."
        )
    if name == "bootstrap-t" and question == "mean":
        joint = joint_bootstrap(table.scores, pairs, settings, n_jobs=n_jobs)
        tests = _joint_tests(joint, table, settings)
    else:
        joint = None
        tests = [_pair_test(name, table, pair, settings, question) for pair in pairs]
    corrected = _corrected(np.array([one.p_value for one in tests]), correction, joint)
    means = dict(zip(table.systems, table.scores.mean(axis=0).tolist(), strict=True))
    return PairwiseScores(
        means=dict(sorted(means.items(), key=lambda entry: -entry[1])),
        pairs=tuple(
            ScorePair(table.systems[a], table.systems[b], one, float(p), bool(p <= settings.alpha))
            for (a, b), one, p in zip(pairs, tests, corrected, strict=True)
        ),
        correction=correction,
        question=question,
        n_items=table.n_items,
    )


def _pair_test(
    name: str, table: ScoreTable, pair: Pairs, settings: TestSettings, question: Question
) -> PairedTest:
    """The test of one pair; what it refuses is told with the names of the systems."""
    a, b = pair
    try:
        differences = score_differences(table.scores[:, a], table.scores[:, b])
        return run_test(name, differences, settings, question=question)
    except InputError as error:
        raise InputError(f"{table.systems[a]} and {table.systems[b]}: {error}") from None


def _pairs(table: ScoreTable, baseline: str | None) -> Pairs:
    if baseline is None:
        return all_pairs(len(table.systems))
    if baseline not in table.systems:
        raise InputError(f"There is no system {baseline!r}; the systems are {', '.join(table.systems)}.")
    first = table.systems.index(baseline)
    others = [place for place in range(len(table.systems)) if place != first]
    return np.array([(first, other) for other in others], dtype=np.int64)


def _joint_tests(joint: JointBootstrap, table: ScoreTable, settings: TestSettings) -> list[PairedTest]:
    p_values, (low, high) = joint.p_values(), joint.intervals(settings.confidence)
    pattern = PairedTest(
        name="bootstrap-t",
        label=TESTS["bootstrap-t"].label,
        estimand="mean",
        estimate=0.0,
        interval=(0.0, 0.0),
        confidence=settings.confidence,
        statistic_name="t",
        statistic=0.0,
        p_value=1.0,
        lead=0.0,
        n=table.n_items,
        method=f"{settings.n_resamples:,} resamples of items, the same for every pair",
    )
    return [
        replace(
            pattern,
            estimate=float(joint.mean[place]),
            interval=(float(low[place]), float(high[place])),
            statistic=float(joint.t[place]),
            p_value=float(p_values[place]),
            lead=float(joint.t[place]),
        )
        for place in range(len(p_values))
    ]


def _corrected(p_values: Floats, correction: ScoreCorrection, joint: JointBootstrap | None) -> Floats:
    if correction == "none":
        return p_values
    if correction in BY_RESAMPLING:
        assert joint is not None
        return joint.max_t() if correction == "max-t" else joint.romano_wolf()
    from statsmodels.stats.multitest import multipletests

    return np.asarray(multipletests(p_values, method=_STATSMODELS[correction])[1])
