"""Paired tests of two systems on the same items, and what each is about."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import special

from humeval_power.choices import Question
from humeval_power.clusters import Clusters
from humeval_power.comparisons.scores.bootstrap import (
    LISTED_UP_TO,
    all_clusters_alike,
    bootstrap_mean,
    bootstrap_median,
    bootstrap_t,
    counted_clusters,
    extreme,
    flipped_sums,
    sign_flip_mean,
    sign_flip_median,
    too_few_clusters,
)
from humeval_power.comparisons.scores.effect_sizes import (
    EXACT_RANKS_UP_TO,
    ROUNDING,
    Floats,
    PairedTest,
    TestSettings,
    all_alike,
    dropped_ties,
    exact_rank_sum_p,
    hodges_lehmann,
    median_difference,
    rank_sum_share,
    share_better,
    signed_rank_z,
    signed_ranks,
    tail_p,
)
from humeval_power.comparisons.scores.primer import primer_test
from humeval_power.errors import InputError
from humeval_power.inference.clustered import Direction, clustered_mean, normal_p, student_p
from humeval_power.inference.item_bootstrap import binomial_at_most
from humeval_power.inference.mcnemar import at_most


@dataclass(frozen=True, slots=True)
class TestKind:
    """A test by its name: the questions that it answers, and how it is run."""

    label: str
    questions: tuple[Question, ...]
    run: Callable[..., PairedTest]
    refuses_clusters: str = ""  # where it knows none: why, and what to take instead

    __test__ = False


def t_test(differences: Floats, settings: TestSettings, clusters: Clusters | None = None) -> PairedTest:
    """Student's paired t test of the mean difference; in clusters by its CR2 error, df of Bell and McCaffrey
    (2002)."""
    df: float
    if clusters is None:
        if all_alike(differences):
            raise InputError(
                f"All {len(differences):,} differences are {differences[0]:g}: a t test has no spread to judge by."
            )
        mean, df = float(differences.mean()), len(differences) - 1
        error = float(differences.std(ddof=1)) / math.sqrt(len(differences))
        half = -float(special.stdtrit(df, (1 - settings.confidence) / 2)) * error
        interval = (mean - half, mean + half)
        p_value = student_p((mean - settings.null) / error, df, settings.alternative)
    else:
        clustered = clustered_mean(differences, clusters)
        if clustered.standard_error <= ROUNDING * float(np.abs(differences).max()):
            raise all_clusters_alike(clusters)
        mean, error, df = clustered.estimate, clustered.standard_error, clustered.df
        interval = clustered.interval(settings.confidence)
        p_value = clustered.p_value(settings.null, settings.alternative)
    return PairedTest(
        name="t",
        label="Paired t test" if clusters is None else "Paired t test with CR2 errors",
        estimand="mean",
        estimate=mean,
        interval=interval,
        confidence=settings.confidence,
        statistic_name=f"t({df})" if clusters is None else f"t({df:.4g})",
        statistic=(mean - settings.null) / error,
        p_value=p_value,
        lead=mean - settings.null,
        n=len(differences),
        method="Student's t distribution"
        if clusters is None
        else f"{counted_clusters(clusters)}, degrees of freedom of Bell and McCaffrey",
        remarks=(_ROUGH,) if clusters is not None and clustered.is_rough else (),
    )


# The distribution of a sum over clusters whose signs are flipped together.

MOST_STEPS = 10_000_000  # clusters times places of the sum, beyond which the normal law is taken


class Flips(NamedTuple):
    """The p-value of a sum when each of `n_active` clusters may have either sign; others sum to 0."""

    p_value: float
    n_active: int
    exact: bool


def flips_of(sums: Floats, alternative: Direction) -> Flips:
    """Test whether sums of clusters, halves of whole numbers, lie around 0.

    All signs are listed up to 20 clusters, counted by place of the sum where there are not too many places, and
    else the sum is compared with a normal law of variance sum of squares (Rosner, Glynn and Lee 2006).
    """
    active = sums[sums != 0]
    n, observed = len(active), float(active.sum())
    if n == 0:
        return Flips(1.0, 0, exact=True)
    if n <= LISTED_UP_TO:
        return Flips(extreme(flipped_sums(active), observed, alternative) / 2**n, n, exact=True)
    steps = np.round(2 * np.abs(active)).astype(np.int64)
    unit = int(np.gcd.reduce(steps))
    steps //= unit
    if n * int(steps.sum()) <= MOST_STEPS:
        place = round((2 * observed / unit + float(steps.sum())) / 2)
        value = float(tail_p(rank_sum_share(np.sort(steps)), np.array([place]), alternative)[0])
        return Flips(value, n, exact=True)
    z = observed / math.sqrt(float(active @ active))
    return Flips(normal_p(z, alternative), n, exact=False)


def wilcoxon_test(
    differences: Floats, settings: TestSettings, clusters: Clusters | None = None
) -> PairedTest:
    """Wilcoxon's signed-rank test; zeros are dropped, ties get mid-ranks.

    The distribution of the rank sum given the ranks, tied or not, up to 200 differences that are not zero;
    beyond, the normal approximation with its correction for ties and none for continuity. In clusters the ranks
    change their signs together (Rosner, Glynn and Lee 2006). The estimate is the pseudomedian (Hodges-Lehmann).
    """
    moved = settings.moved(differences)
    active, ranks = moved[moved != 0], signed_ranks(moved)
    rank_sum = float(ranks[ranks > 0].sum())
    remarks = dropped_ties(len(moved) - len(active), len(moved))
    if clusters is None:
        exact, label = len(active) <= EXACT_RANKS_UP_TO, "Wilcoxon signed-rank test"
        if exact:
            method = "all assignments of signs to the ranks"
            p_value = exact_rank_sum_p(np.abs(ranks[ranks != 0]), rank_sum, settings.alternative)
        else:
            method = "normal approximation, ties corrected"
            p_value = normal_p(signed_rank_z(active)[0], settings.alternative)
        lead = rank_sum - float(np.abs(ranks).sum()) / 2
    else:
        p_value, n_active, exact = flips_of(clusters.sums(ranks), settings.alternative)
        label, method = "Wilcoxon signed-rank test of whole clusters", _flipped(clusters, exact=exact)
        lead = float(ranks.sum())
        remarks = (*remarks, *too_few_clusters(n_active, settings))
    center = hodges_lehmann(differences, clusters, confidence=settings.confidence)
    return PairedTest(
        name="wilcoxon",
        label=label,
        estimand="pseudomedian",
        estimate=center.value,
        interval=(center.low, center.high),
        confidence=settings.confidence,
        statistic_name="W+",
        statistic=rank_sum,
        p_value=p_value,
        lead=lead,
        n=len(differences),
        method=method,
        exact=exact,
        remarks=remarks,
    )


def sign_test(differences: Floats, settings: TestSettings, clusters: Clusters | None = None) -> PairedTest:
    """Sign test: among the items on which the systems differ, is each as often the better one?

    Binomial at one half; in clusters all their items may turn together. About the median difference, with its
    interval.
    """
    signs = np.sign(settings.moved(differences))
    n_up, n_down = int((signs > 0).sum()), int((signs < 0).sum())
    remarks = dropped_ties(len(signs) - n_up - n_down, len(signs))
    above, label, exact = f"{n_up:,} above and {n_down:,} below", "Sign test", True
    if clusters is None:
        fewer, sides = _fewer(n_up, n_down, settings.alternative)
        p_value, method = min(1.0, sides * binomial_at_most(fewer, n_up + n_down)), f"binomial, {above}"
    else:
        p_value, n_active, exact = flips_of(clusters.sums(signs), settings.alternative)
        label, method = "Sign test of whole clusters", f"{above}, {_flipped(clusters, exact=exact)}"
        remarks = (*remarks, *too_few_clusters(n_active, settings))
    center = median_difference(differences, clusters, confidence=settings.confidence)
    return PairedTest(
        name="sign",
        label=label,
        estimand="median",
        estimate=center.value,
        interval=(center.low, center.high),
        confidence=settings.confidence,
        statistic_name="items above : below",
        statistic=float(n_up),
        p_value=p_value,
        lead=float(n_up - n_down),
        n=len(differences),
        method=method,
        exact=exact,
        remarks=remarks,
    )


def _flipped(clusters: Clusters, *, exact: bool) -> str:
    how = "all assignments of signs to" if exact else "normal approximation for signs of"
    return f"{how} {counted_clusters(clusters)}"


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
    "mcnemar": TestKind(
        "McNemar test, mid-p",
        ("mean", "better"),
        mcnemar_test,
        "McNemar's test counts items as independent. For 0/1 scores in clusters take the test 't' (CR2 errors of "
        "the difference of shares) or 'permutation' (whole clusters).",
    ),
    "bootstrap-median": TestKind("Bootstrap test of the median, centred", ("median",), bootstrap_median),
    "permutation-median": TestKind(
        "Sign-flip permutation test of the median", ("median",), sign_flip_median
    ),
    "primer": TestKind(
        "The bootstrap primer's p",
        ("mean",),
        primer_test,
        "The primer's p is defined for independent items. Whole clusters are resampled by the tests 'bootstrap-t' "
        "and 'bootstrap'.",
    ),
}
_ROUGH = (
    "Below 5 degrees of freedom the interval and the p-value are no more than a hint: the clusters are too few, or "
    "one of them rules."
)
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
    if clusters is not None and kind.refuses_clusters:
        raise InputError(kind.refuses_clusters)
    result = kind.run(differences, settings, *(() if clusters is None else (clusters,)))
    if question != "better":
        return result
    share = share_better(settings.moved(differences), clusters, confidence=settings.confidence)
    return replace(
        result,
        estimand="share of items on which B is better",
        estimate=share.value,
        interval=(share.low, share.high),
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
    clustered = clustered_mean(differences, clusters)
    if clusters is not None and clustered.standard_error <= ROUNDING * float(np.abs(differences).max()):
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
