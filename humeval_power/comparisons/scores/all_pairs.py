"""Several systems on the same items: a test for each pair, corrected for their number, and clusters.

May a change go in? Whether a candidate is worse than a baseline by more than a margin, as a decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from scipy import special

from humeval_power.choices import ADVISED, Question, ScoreCorrection
from humeval_power.comparisons.scores.advice import advise_clusters, analyse, recommended_test
from humeval_power.comparisons.scores.effect_sizes import (
    Floats,
    PairedTest,
    TestSettings,
    score_differences,
)
from humeval_power.comparisons.scores.score_table import Pairs, ScoreTable, all_pairs
from humeval_power.comparisons.scores.tests import DEFAULT_TEST, TESTS, run_test
from humeval_power.errors import InputError
from humeval_power.inference.clustered import ClusteredMean
from humeval_power.inference.corrections import correct
from humeval_power.saying.answer_words import three_digits
from humeval_power.saying.document import Document, Facts, Section
from humeval_power.saying.numbers import counted, level_of, p_words
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record, Result

if TYPE_CHECKING:
    from humeval_power.comparisons.scores.bootstrap import JointBootstrap


BY_RESAMPLING: tuple[ScoreCorrection, ...] = ("romano-wolf", "max-t")


@dataclass(frozen=True, slots=True)
class ScorePair:
    """The test of one pair, B - A with A `first`, and its p-value corrected for all pairs; B scores higher on
    `n_helped` items and lower on `n_hurt`."""

    first: str
    second: str
    test: PairedTest
    corrected_p: float
    significant: bool
    n_helped: int
    n_hurt: int


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
    """
    pairs = _pairs(table, baseline)
    if correction in BY_RESAMPLING and test in (None, ADVISED):
        name = "bootstrap-t"
    elif test == ADVISED:
        name = _recommended(question, table, pairs)
    else:
        name = test or DEFAULT_TEST[question]
    if correction in BY_RESAMPLING and (question != "mean" or name != "bootstrap-t"):
        raise InputError(
            f"The correction {correction!r} resamples mean differences: ask for the mean and the test "
            "'bootstrap-t', or correct with 'holm'."
        )
    if name == "bootstrap-t" and question == "mean":
        from humeval_power.comparisons.scores.bootstrap import joint_bootstrap

        joint = joint_bootstrap(table.scores, pairs, settings, clusters=table.clusters, n_jobs=n_jobs)
        tests = _joint_tests(joint, table, settings)
    else:
        joint = None
        tests = [_pair_test(name, table, pair, settings, question) for pair in pairs]
    corrected = _corrected(np.array([one.p_value for one in tests]), correction, joint)
    means = dict(zip(table.systems, table.scores.mean(axis=0).tolist(), strict=True))
    return PairwiseScores(
        means=dict(sorted(means.items(), key=lambda entry: -entry[1])),
        pairs=tuple(
            ScorePair(
                table.systems[a],
                table.systems[b],
                replace(one, resamples=None),  # of so many pairs nobody looks at them
                float(p),
                bool(p <= settings.alpha),
                n_helped=int((table.scores[:, b] > table.scores[:, a]).sum()),
                n_hurt=int((table.scores[:, b] < table.scores[:, a]).sum()),
            )
            for (a, b), one, p in zip(pairs, tests, corrected, strict=True)
        ),
        correction=correction,
        question=question,
        n_items=table.n_items,
    )


def _recommended(question: Question, table: ScoreTable, pairs: Pairs) -> str:
    if table.clusters is not None:
        return advise_clusters(question, table.clusters)[0].name
    return recommended_test(question, [analyse(table.scores[:, a], table.scores[:, b]) for a, b in pairs])


def _pair_test(
    name: str, table: ScoreTable, pair: Pairs, settings: TestSettings, question: Question
) -> PairedTest:
    """The test of one pair; what it refuses is told with the names of the systems."""
    a, b = pair
    try:
        differences = score_differences(table.scores[:, a], table.scores[:, b])
        return run_test(name, differences, settings, question=question, clusters=table.clusters)
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
    resampled = "items" if table.clusters is None else f"{table.clusters.n_clusters:,} clusters"
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
        method=f"{settings.n_resamples:,} resamples of {resampled}, the same for every pair",
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
    if correction == "romano-wolf":
        assert joint is not None
        return joint.romano_wolf()
    if correction == "max-t":
        assert joint is not None
        return joint.max_t()
    return correct(p_values, correction)


# On how many data sets, or by how many metrics, is B better than A? (Dror et al. 2017; Benjamini and
# Heller 2008)

Combination = Literal["bonferroni", "fisher"]


@dataclass(frozen=True, slots=True)
class Replicability:
    """Counts with a guarantee: with probability 1 - alpha the effect holds in at least `count` data sets.

    `partial_p[u - 1]` tests that it holds in fewer than u. `named` are those of which it can be said one by
    one (Holm 1979), which are fewer or as many.
    """

    combination: Combination
    alpha: float
    partial_p: tuple[float, ...]
    count: int
    holm_p: tuple[float, ...]

    @property
    def named(self) -> tuple[int, ...]:
        """Positions of the data sets that are significant after Holm's correction."""
        return tuple(place for place, p in enumerate(self.holm_p) if p <= self.alpha)


def replicability(
    p_values: Sequence[float], *, combination: Combination = "bonferroni", alpha: float = 0.05
) -> Replicability:
    """Lower confidence bound of the number of true effects behind p-values of one-sided tests.

    'bonferroni' holds under any dependence, as between metrics on the same items; 'fisher' finds more, but
    needs independent data sets.
    """
    p = np.asarray(p_values, dtype=float)
    if p.size == 0 or not ((p >= 0) & (p <= 1)).all():
        raise InputError("Replicability needs at least one p-value, each between 0 and 1.")
    ordered, n = np.sort(p), len(p)
    raw = [_partial(ordered[u - 1 :], combination) for u in range(1, n + 1)]
    partial = np.maximum.accumulate(raw)  # 'at least u' cannot be surer than 'at least u - 1'
    return Replicability(
        combination,
        alpha,
        tuple(float(value) for value in partial),
        int((partial <= alpha).sum()),
        tuple(float(value) for value in correct(p_values, "holm")),
    )


def _partial(largest: np.ndarray, combination: Combination) -> float:
    """P-value of 'fewer than u effects' from the n - u + 1 largest p-values."""
    if combination == "bonferroni":
        return min(1.0, len(largest) * float(largest[0]))
    return float(special.chdtrc(2 * len(largest), -2 * np.log(np.maximum(largest, 1e-300)).sum()))


Fails = Literal["worse", "unproven"]


@dataclass(frozen=True, kw_only=True)
class GateResult(Result):
    """A difference of means and the decision by it.

    `found` is the mean of candidate - baseline, turned round where a lower score is better; `p_worse` is of the
    test that the candidate is worse by more than `margin`, `p_not_worse` of the test that it is not. `changed`
    counts items of scores 0 and 1 that the candidate alone, and the baseline alone, has right.
    """

    schema: ClassVar[str] = "humeval_power/compare_gate/1"

    systems: tuple[str, str]
    metric: str
    means: tuple[float, float]
    found: ClusteredMean
    p_worse: float
    p_not_worse: float
    margin: float
    fails: Fails
    alpha: float
    lower_is_better: bool = False
    changed: tuple[int, int] | None = None
    clusters: str = ""
    notices: tuple[str, ...] = ()

    @property
    def is_worse(self) -> bool:
        """Whether it is shown that the candidate is worse by more than the margin."""
        return self.p_worse <= self.alpha

    @property
    def is_not_worse(self) -> bool:
        """Whether it is shown that the candidate is not worse by the margin."""
        return self.p_not_worse <= self.alpha

    @property
    def passed(self) -> bool:
        """The decision."""
        return not self.is_worse if self.fails == "worse" else self.is_not_worse

    @property
    def interval(self) -> tuple[float, float]:
        """Of confidence 1 - 2 alpha: an end beyond -margin is what the tests decide by."""
        return self.found.interval(1 - 2 * self.alpha)

    @property
    def missed(self) -> str:
        return "" if self.passed else f"{self.systems[1]} does not pass."

    @property
    def remarks(self) -> tuple[str, ...]:
        return self.notices

    def body(self) -> Document:
        baseline, candidate = self.systems
        facts = [
            (baseline, f"{self.means[0]:.4g}, the mean {self.metric}"),
            (candidate, f"{self.means[1]:.4g}"),
            ("Better by", f"{self.found.estimate:+.4g} ({self._interval()})"),
            ("Rule", self._rule()),
            ("Shown to be worse", f"{'yes' if self.is_worse else 'no'} ({p_words(self.p_worse)})"),
            (
                "Shown not to be worse",
                f"{'yes' if self.is_not_worse else 'no'} ({p_words(self.p_not_worse)})",
            ),
            ("Items", f"{self.found.n:,}{self._of_clusters()}"),
        ]
        if self.changed is not None:
            helped, hurt = self.changed
            facts.append(("Items changed", f"{helped:,} helped ({candidate} alone right), {hurt:,} hurt"))
        few = f"{counted(self.found.n_clusters, 'cluster')} ({self.found.df:.1f} degrees of freedom)"
        rough = f"The interval rests on {few}: it is no more than a hint."
        return Document(
            f"{candidate} against {baseline}",
            lead=self._lead(),
            caveats=(rough,) if self.found.is_rough else (),
            sections=(Section("", (Facts(tuple(facts)),)),),
        )

    def _lead(self) -> str:
        baseline, candidate = self.systems
        by = f"by more than {self.margin:g} " if self.margin else ""
        first = "Passed" if self.passed else "Failed"
        if self.is_worse:
            said = f"{candidate} is worse than {baseline} {by}on average ({p_words(self.p_worse)})"
        elif self.is_not_worse:
            most = f"by {self.margin:g} or more" if self.margin else "at all"
            said = f"{candidate} is not worse than {baseline} {most} ({p_words(self.p_not_worse)})"
        else:
            said = (
                f"it is not shown that {candidate} is worse than {baseline} {by}({p_words(self.p_worse)}); nor is "
                f"the contrary ({p_words(self.p_not_worse)}), for which it takes more items"
            )
        side = "better" if self.found.estimate >= 0 else "worse"
        return f"{first}: {said}. It scored {three_digits(abs(self.found.estimate))} {side} ({self._interval()})."

    def _interval(self) -> str:
        low, high = self.interval
        return f"{level_of(1 - 2 * self.alpha)} interval {low:+.3g} to {high:+.3g}"

    def _of_clusters(self) -> str:
        return f" in {self.found.n_clusters:,} clusters ({self.clusters})" if self.clusters else ""

    def _rule(self) -> str:
        level = f"{level_of(1 - self.alpha)} confidence"
        by = f" by more than {self.margin:g}" if self.margin else ""
        if self.fails == "worse":
            return f"fails where it is shown to be worse{by}, with {level}"
        return f"fails unless it is shown not to be worse{by}, with {level}"

    def content(self) -> Record:
        helped, hurt = self.changed or (None, None)
        return {
            "baseline": self.systems[0],
            "candidate": self.systems[1],
            **values(self, "metric", "passed", "fails", "margin", "alpha", "lower_is_better"),
            **values(self, "interval", "p_worse", "p_not_worse"),
            "mean_baseline": self.means[0],
            "mean_candidate": self.means[1],
            "better_by": self.found.estimate,
            "confidence": 1 - 2 * self.alpha,
            "n_items": self.found.n,
            **values(self.found, "n_clusters", "df"),
            "n_helped": helped,
            "n_hurt": hurt,
        }
