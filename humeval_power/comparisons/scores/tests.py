"""Paired tests of two systems on the same items, and what each is about."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from humeval_power.choices import Question
from humeval_power.clusters import Clusters
from humeval_power.comparisons.scores.answers import (
    ROUNDING,
    Floats,
    PairedTest,
    TestSettings,
    all_alike,
    dropped_ties,
)
from humeval_power.comparisons.scores.bootstrap import (
    bootstrap_mean,
    bootstrap_median,
    bootstrap_t,
    sign_flip_mean,
    sign_flip_median,
)
from humeval_power.comparisons.scores.effect_sizes import (
    EXACT_RANKS_UP_TO,
    exact_rank_sum_p,
    hodges_lehmann,
    median_difference,
    share_better,
    signed_rank_z,
)
from humeval_power.comparisons.scores.primer import primer_test
from humeval_power.errors import InputError
from humeval_power.inference.clustered import Direction, clustered_mean, normal_p, student_p
from humeval_power.inference.exact_comparison import mid_ranks
from humeval_power.inference.item_bootstrap import binomial_at_most
from humeval_power.inference.mcnemar import at_most


@dataclass(frozen=True, slots=True)
class TestKind:
    """A test by its name: the questions that it answers, and how it is run."""

    label: str
    questions: tuple[Question, ...]
    run: Callable[[Floats, TestSettings], PairedTest]

    __test__ = False


def t_test(differences: Floats, settings: TestSettings) -> PairedTest:
    """Student's paired t test of the mean difference."""
    if all_alike(differences):
        raise InputError(
            f"All {len(differences):,} differences are {differences[0]:g}: a t test has no spread to judge by."
        )
    mean, df = float(differences.mean()), len(differences) - 1
    error = float(differences.std(ddof=1)) / math.sqrt(len(differences))
    half = -float(special.stdtrit(df, (1 - settings.confidence) / 2)) * error
    t = (mean - settings.null) / error
    return PairedTest(
        name="t",
        label="Paired t test",
        estimand="mean",
        estimate=mean,
        interval=(mean - half, mean + half),
        confidence=settings.confidence,
        statistic_name=f"t({df})",
        statistic=t,
        p_value=student_p(t, df, settings.alternative),
        lead=mean - settings.null,
        n=len(differences),
        method="Student's t distribution",
    )


def wilcoxon_test(differences: Floats, settings: TestSettings) -> PairedTest:
    """Wilcoxon's signed-rank test; zeros are dropped, ties get mid-ranks.

    The distribution of the rank sum given the ranks, tied or not, up to 200 differences that are not zero;
    beyond, the normal approximation with its correction for ties and none for continuity. The estimate is
    the pseudomedian (Hodges-Lehmann).
    """
    moved = settings.moved(differences)
    active = moved[moved != 0]
    ranks = mid_ranks(np.abs(active))
    rank_sum = float(ranks[active > 0].sum())
    exact = len(active) <= EXACT_RANKS_UP_TO
    if exact:
        p_value = exact_rank_sum_p(ranks, rank_sum, settings.alternative)
    else:
        z, _ = signed_rank_z(active)
        p_value = normal_p(z, settings.alternative)
    center = hodges_lehmann(differences, confidence=settings.confidence)
    dropped = len(moved) - len(active)
    return PairedTest(
        name="wilcoxon",
        label="Wilcoxon signed-rank test",
        estimand="pseudomedian",
        estimate=center.value,
        interval=(center.low, center.high),
        confidence=settings.confidence,
        statistic_name="W+",
        statistic=rank_sum,
        p_value=p_value,
        lead=rank_sum - float(ranks.sum()) / 2,
        n=len(differences),
        method="all assignments of signs to the ranks" if exact else "normal approximation, ties corrected",
        exact=exact,
        remarks=dropped_ties(dropped, len(moved)),
    )


def sign_test(differences: Floats, settings: TestSettings) -> PairedTest:
    """Sign test: among the items on which the systems differ, is each as often the better one?

    Binomial at one half. About the median difference, with its interval by order statistics.
    """
    moved = settings.moved(differences)
    n_up, n_down = int((moved > 0).sum()), int((moved < 0).sum())
    fewer, sides = _fewer(n_up, n_down, settings.alternative)
    p_value = min(1.0, sides * binomial_at_most(fewer, n_up + n_down))
    center = median_difference(differences, confidence=settings.confidence)
    dropped = len(moved) - n_up - n_down
    return PairedTest(
        name="sign",
        label="Sign test",
        estimand="median",
        estimate=center.value,
        interval=(center.low, center.high),
        confidence=settings.confidence,
        statistic_name="items above : below",
        statistic=float(n_up),
        p_value=p_value,
        lead=float(n_up - n_down),
        n=len(differences),
        method=f"binomial, {n_up:,} above and {n_down:,} below",
        exact=True,
        remarks=dropped_ties(dropped, len(moved)),
    )


def mcnemar_test(differences: Floats, settings: TestSettings) -> PairedTest:
    """McNemar's test of 0/1 scores with half the probability of the observed table, mid-p (Fagerland, Lydersen
    and Laake 2013); the sign test is its exact form."""
    if not set(np.unique(differences).tolist()) <= {-1.0, 0.0, 1.0} or settings.null != 0:
        raise InputError("McNemar's test is for scores of 0 and 1 and a null difference of 0.")
    n_up, n_down = int((differences == 1).sum()), int((differences == -1).sum())
    fewer, sides = _fewer(n_up, n_down, settings.alternative)
    tail = float(at_most(np.array([fewer, fewer - 1]), np.array([n_up + n_down])).sum()) / 2
    share = share_better(differences, confidence=settings.confidence)
    return PairedTest(
        name="mcnemar",
        label="McNemar test, mid-p",
        estimand="mean",
        estimate=2 * share.value - 1,
        interval=(2 * share.low - 1, 2 * share.high - 1),
        confidence=settings.confidence,
        statistic_name="items above : below",
        statistic=float(n_up),
        p_value=min(1.0, sides * tail),
        lead=float(n_up - n_down),
        n=len(differences),
        method=f"binomial mid-p, {n_up:,} above and {n_down:,} below",
    )


def _fewer(n_up: int, n_down: int, alternative: Direction) -> tuple[int, int]:
    """The count whose lower tail is the p-value or a half of it, and how many tails there are."""
    fewer = {"greater": n_down, "less": n_up, "two-sided": min(n_up, n_down)}[alternative]
    return fewer, 2 if alternative == "two-sided" else 1


TESTS: Mapping[str, TestKind] = {
    "t": TestKind("Paired t test", ("mean",), t_test),
    "bootstrap-t": TestKind("Bootstrap-t test", ("mean",), bootstrap_t),
    "permutation": TestKind("Sign-flip permutation test of the mean", ("mean",), sign_flip_mean),
    "bootstrap": TestKind("Bootstrap test of the mean, centred", ("mean",), bootstrap_mean),
    "wilcoxon": TestKind("Wilcoxon signed-rank test", ("pseudomedian",), wilcoxon_test),
    "sign": TestKind("Sign test", ("median", "better"), sign_test),
    "mcnemar": TestKind("McNemar test, mid-p", ("mean", "better"), mcnemar_test),
    "bootstrap-median": TestKind("Bootstrap test of the median, centred", ("median",), bootstrap_median),
    "permutation-median": TestKind(
        "Sign-flip permutation test of the median", ("median",), sign_flip_median
    ),
    "primer": TestKind("The bootstrap primer's p", ("mean",), primer_test),
}
DEFAULT_TEST: Mapping[Question, str] = {
    "mean": "t",
    "median": "sign",
    "pseudomedian": "wilcoxon",
    "better": "sign",
}


def run_test(
    name: str,
    differences: Floats,
    settings: TestSettings,
    *,
    question: Question | None = None,
    clusters: Clusters | None = None,
) -> PairedTest:
    """Run a test by its name; for the question 'better' the estimate is the share of items on which B is.

    Systems that agree on every item give p = 1 in every test. With clusters of the items, in their order, the
    version of the test that knows them is run.
    """
    if name not in TESTS:
        raise InputError(f"There is no test {name!r}; the tests are {', '.join(TESTS)}.")
    kind = TESTS[name]
    if question is not None and question not in kind.questions:
        fitting = ", ".join(test for test, other in TESTS.items() if question in other.questions)
        raise InputError(
            f"The test {name!r} is about the {kind.questions[0]}, not about the question {question!r}; "
            f"tests for it: {fitting}."
        )
    if not settings.moved(differences).any():
        return _no_difference(name, kind, differences, settings)
    if clusters is None:
        result = kind.run(differences, settings)
    else:
        from humeval_power.comparisons.scores.clustered_tests import run_clustered_test

        result = run_clustered_test(name, differences, clusters, settings)
    if question != "better":
        return result
    value, low, high = _share(differences, clusters, settings)
    return replace(
        result, estimand="share of items on which B is better", estimate=value, interval=(low, high)
    )


def _share(
    differences: Floats, clusters: Clusters | None, settings: TestSettings
) -> tuple[float, float, float]:
    if clusters is not None:
        from humeval_power.comparisons.scores.clustered_tests import share_estimate

        return share_estimate(differences, clusters, settings)
    share = share_better(settings.moved(differences), confidence=settings.confidence)
    return share.value, share.low, share.high


def _no_difference(name: str, kind: TestKind, differences: Floats, settings: TestSettings) -> PairedTest:
    return PairedTest(
        name=name,
        label=kind.label,
        estimand=kind.questions[0],
        estimate=settings.null,
        interval=(settings.null, settings.null),
        confidence=settings.confidence,
        statistic_name="difference",
        statistic=0.0,
        p_value=1.0,
        lead=0.0,
        n=len(differences),
        method="no test needed",
        exact=True,
        remarks=("No item differs from the null difference: nothing speaks against it.",),
    )


# Are two systems alike within a margin? Two one-sided t tests (Schuirmann 1987).


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Two one-sided tests of |mean B - A| < margin, and of B no worse than A by the margin.

    `interval` has confidence 1 - 2 alpha: the systems are equivalent at `alpha` just where it lies within
    the margins, and B is not inferior where its lower end lies above -margin.
    """

    mean: float
    interval: tuple[float, float]
    margin: float
    alpha: float
    p_not_below: float
    p_not_above: float
    n: int

    @property
    def p_value(self) -> float:
        """P-value of equivalence: the larger of both."""
        return max(self.p_not_below, self.p_not_above)

    @property
    def is_equivalent(self) -> bool:
        """Whether both tests reject."""
        return self.p_value <= self.alpha

    @property
    def is_not_inferior(self) -> bool:
        """Whether B is shown to be worse by less than the margin."""
        return self.p_not_below <= self.alpha


def equivalence_test(
    differences: Floats, *, margin: float, alpha: float = 0.05, clusters: Clusters | None = None
) -> Equivalence:
    """Test equivalence of means within +- margin, in the metric's units: Student's t test, twice.

    clusters : of the items, in their order: the tests then take the CR2 error, df of Bell and McCaffrey.
    """
    if not (margin > 0 and math.isfinite(margin)):
        raise InputError(f"The margin must be a positive number in the metric's units; got {margin}.")
    if not 0 < alpha < 0.5:
        raise InputError(f"alpha must lie between 0 and 0.5; got {alpha:g}.")
    n, mean = len(differences), float(differences.mean())
    if all_alike(differences):
        inside = abs(mean) < margin
        if not inside:
            raise InputError(f"All {n:,} differences are {mean:g}, which is outside the margin {margin:g}.")
        return Equivalence(mean, (mean, mean), margin, alpha, 0.0, 0.0, n)
    if clusters is not None:
        return _clustered(differences, clusters, margin=margin, alpha=alpha)
    error = float(differences.std(ddof=1)) / math.sqrt(n)
    half = -float(special.stdtrit(n - 1, alpha)) * error
    return Equivalence(
        mean,
        (mean - half, mean + half),
        margin,
        alpha,
        student_p((mean + margin) / error, n - 1, "greater"),
        student_p((mean - margin) / error, n - 1, "less"),
        n,
    )


def _clustered(differences: Floats, clusters: Clusters, *, margin: float, alpha: float) -> Equivalence:
    clustered = clustered_mean(differences, clusters)
    if clustered.standard_error <= ROUNDING * float(np.abs(differences).max()):
        raise InputError(
            f"The differences do not vary between the {clusters.n_clusters:,} clusters ({clusters.name}): there is "
            "no spread to judge equivalence by."
        )
    return Equivalence(
        clustered.estimate,
        clustered.interval(1 - 2 * alpha),
        margin,
        alpha,
        clustered.p_value(-margin, "greater"),
        clustered.p_value(margin, "less"),
        clustered.n,
    )
