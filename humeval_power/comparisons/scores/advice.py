"""Which tests suit a question and the data at hand, each with its reason.

The question is asked first and never changed here: data that look skewed do not turn a question about the
mean into one about the median. Zhu et al.'s (2020) procedure, which does that, is kept beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import NORMALITY_ALPHA, Question
from humeval_power.clusters import Clusters
from humeval_power.comparisons.scores.effect_sizes import all_alike, score_differences
from humeval_power.comparisons.scores.tests import TESTS
from humeval_power.inference.clustered import FEW_DF, bell_mccaffrey_df
from humeval_power.inference.exact_comparison import rounded

# The test of normality of Shapiro and Wilk (1965), by Royston's (1995) approximations, algorithm AS R94.

Floats = NDArray[np.float64]

_LARGEST = (0.0, 0.221157, -0.147981, -2.07119, 4.434685, -2.706056)  # its weight, in 1 / sqrt(n)
_SECOND = (0.0, 0.042981, -0.293762, -1.752461, 5.682633, -3.582633)
_FEW = 11  # values up to which -log(gamma - log(1 - W)) is normal, beyond them log(1 - W)
_FEW_GAMMA = (-2.273, 0.459)
_FEW_MEAN = (0.544, -0.39978, 0.025054, -6.714e-4)
_FEW_LOG_SD = (1.3822, -0.77857, 0.062767, -0.0020322)
_MANY_MEAN = (-1.5861, -0.31082, -0.083751, 0.0038915)  # in log n
_MANY_LOG_SD = (-0.4803, -0.082676, 0.0030302)
# Beasley and Springer's (1977) normal quantiles, AS 111, right to nine digits: those of SciPy's W.
_MIDDLE = (2.50662823884, -18.61500062529, 41.39119773534, -25.44106049637)
_MIDDLE_BELOW = (1.0, -8.47351093090, 23.08336743743, -21.06224101826, 3.13082909833)
_TAIL = (-2.78718931138, -2.29796479134, 4.85014127135, 2.32121276858)
_TAIL_BELOW = (1.0, 3.54388924762, 1.63706781897)


class ShapiroWilk(NamedTuple):
    """W, and the probability of a smaller one if the values are normal."""

    w: float
    p_value: float


def shapiro_wilk(values: Floats) -> ShapiroWilk:
    """Test three values or more, not all alike."""
    n = len(values)
    ordered = np.sort(values) - values[n // 2]
    centred = ordered / (ordered[-1] - ordered[0])
    centred -= centred.mean()
    weights = _weights(n)
    both = math.sqrt(float((weights @ weights) * (centred @ centred)))
    along = float(weights @ centred)
    lacking = max(0.0, (both - along) * (both + along) / both**2)  # 1 - W, which may be small
    return ShapiroWilk(1 - lacking, _p_value(lacking, n))


def _weights(n: int) -> Floats:
    """Of the ordered values, their squares summing to 1."""
    if n == 3:
        return np.array([-math.sqrt(0.5), 0.0, math.sqrt(0.5)])
    probability = (np.arange(1.0, n + 1) - 0.375) / (n + 0.25)
    off = probability - 0.5
    square = off * off
    middle = off * np.polyval(_MIDDLE[::-1], square) / np.polyval(_MIDDLE_BELOW[::-1], square)
    root = np.sqrt(-np.log(np.minimum(probability, 1 - probability)))
    tail = np.polyval(_TAIL[::-1], root) / np.polyval(_TAIL_BELOW[::-1], root)
    scores = np.where(np.abs(off) <= 0.42, middle, np.sign(off) * tail)
    squares, unit = float(scores @ scores), 1 / math.sqrt(n)
    ends = [scores[-1] / math.sqrt(squares) + _polynomial(_LARGEST, unit)]
    if n > 5:
        ends.append(scores[-2] / math.sqrt(squares) + _polynomial(_SECOND, unit))
    replaced = scores[-len(ends) :]
    weights = scores / math.sqrt(
        (squares - 2 * float(replaced @ replaced)) / (1 - 2 * sum(a * a for a in ends))
    )
    for place, end in enumerate(ends):
        weights[place], weights[-1 - place] = -end, end
    return np.asarray(weights)


def _p_value(lacking: float, n: int) -> float:
    if n == 3:  # exactly
        return max(0.0, 6 / math.pi * (math.asin(math.sqrt(1 - lacking)) - math.asin(math.sqrt(0.75))))
    if lacking == 0:
        return 1.0
    log = math.log(lacking)
    if n <= _FEW:
        score = -math.log(_polynomial(_FEW_GAMMA, n) - log)
        mean, log_sd = _polynomial(_FEW_MEAN, n), _polynomial(_FEW_LOG_SD, n)
    else:
        score, mean, log_sd = (
            log,
            _polynomial(_MANY_MEAN, math.log(n)),
            _polynomial(_MANY_LOG_SD, math.log(n)),
        )
    return float(special.ndtr((mean - score) / math.exp(log_sd)))


def _polynomial(coefficients: tuple[float, ...], x: float) -> float:
    return float(np.polyval(coefficients[::-1], x))


# What paired scores look like before they are tested, and what that says about a test.

Skew = Literal["roughly symmetric", "slightly skewed", "highly skewed"]
SLIGHT, HIGH = 0.5, 1.0  # Bulmer's (1979) thresholds of |skewness|
SHAPIRO_RANGE = (3, 5000)  # items between which the p-value of the test is trusted


@dataclass(frozen=True, slots=True)
class Summary:
    """Summary statistics of one column; the SD has n - 1."""

    name: str
    n: int
    mean: float
    median: float
    sd: float
    minimum: float
    maximum: float


@dataclass(frozen=True, slots=True)
class DataAnalysis:
    """Both columns and their difference, and the shape of the difference.

    `skewness` is m3 / m2^1.5, NaN without spread. The Shapiro-Wilk test is run only where the difference is
    not skewed, else its fields are None. B scores higher on `n_helped` items and lower on `n_hurt`. `is_binary`:
    all scores are 0 or 1.
    """

    first: Summary
    second: Summary
    difference: Summary
    skewness: float
    skew: Skew
    shapiro_w: float | None
    shapiro_p: float | None
    normality_alpha: float
    n_ties: int
    n_helped: int
    n_hurt: int
    is_binary: bool

    @property
    def is_normal(self) -> bool | None:
        """Whether normality is not rejected; None where it was not tested."""
        return None if self.shapiro_p is None else self.shapiro_p >= self.normality_alpha

    @property
    def nlpstattest_statistic(self) -> Literal["mean", "median"]:
        """What Zhu et al. (2020, section 3.1.3) would test: the mean unless the difference is skewed."""
        return "mean" if self.skew == "roughly symmetric" else "median"

    @property
    def t_is_safe(self) -> bool:
        """Whether Student's t may be trusted with the mean: no sign against normality, or
        n > 25 skewness^2 (Cochran 1977, p. 42) and n at least 30."""
        n = self.difference.n
        return bool(self.is_normal) or (n >= 30 and n > 25 * self.skewness**2)


def analyse(
    first: Floats,
    second: Floats,
    *,
    names: tuple[str, str] = ("A", "B"),
    normality_alpha: float = NORMALITY_ALPHA,
    is_clustered: bool = False,
) -> DataAnalysis:
    """Summaries of A, B and B - A, skewness, and normality where the difference is not skewed.

    is_clustered : items come in clusters, for which the test of normality does not hold and is not run.
    """
    difference = score_differences(first, second)
    skewness = sample_skewness(difference)
    skew = skew_words(skewness)
    w, p = None, None
    low, high = SHAPIRO_RANGE
    if (
        skew == "roughly symmetric"
        and not is_clustered
        and low <= len(difference) <= high
        and not all_alike(difference)
    ):
        w, p = shapiro_wilk(difference)
    return DataAnalysis(
        first=summarise(first, name=names[0]),
        second=summarise(second, name=names[1]),
        difference=summarise(difference, name=f"{names[1]} - {names[0]}"),
        skewness=skewness,
        skew=skew,
        shapiro_w=w,
        shapiro_p=p,
        normality_alpha=normality_alpha,
        n_ties=int((difference == 0).sum()),
        n_helped=int((difference > 0).sum()),
        n_hurt=int((difference < 0).sum()),
        is_binary=bool(np.isin(first, (0.0, 1.0)).all() and np.isin(second, (0.0, 1.0)).all()),
    )


def summarise(values: Floats, *, name: str) -> Summary:
    """Summary statistics of at least two values."""
    largest = float(np.abs(values).max())
    return Summary(
        name=name,
        n=len(values),
        mean=float(rounded(np.array([values.mean()]), largest=largest)[0]),
        median=float(np.median(values)),
        sd=float(values.std(ddof=1)),
        minimum=float(values.min()),
        maximum=float(values.max()),
    )


def sample_skewness(values: Floats) -> float:
    """m3 / m2^1.5, NaN without spread."""
    if all_alike(values):
        return math.nan
    off = values - values.mean()
    return float((off * off * off).mean() / (off * off).mean() ** 1.5)


def skew_words(skewness: float) -> Skew:
    """Bulmer's (1979) rule of thumb; differences without spread are symmetric."""
    size = abs(skewness)
    if size >= HIGH:
        return "highly skewed"
    return "slightly skewed" if size >= SLIGHT else "roughly symmetric"


Standing = Literal["preferred", "allowed", "less preferred", "inappropriate"]
STANDINGS: tuple[Standing, ...] = ("preferred", "allowed", "less preferred", "inappropriate")
BOLD_BELOW = 50  # items: bootstrap tests that are not studentised are too bold with fewer
SWITCH_WARNING = (
    "This procedure chooses between mean and median by looking at the same data: with equal means and skewed "
    "differences it rejects in 71 % of studies of 100 items (exponential differences, simulated), because it "
    "then tests another hypothesis. Ask the question first: --question."
)


@dataclass(frozen=True, slots=True)
class TestAdvice:
    """A test, how well it suits, and why."""

    name: str
    standing: Standing
    reason: str

    __test__ = False


def advise(question: Question, data: DataAnalysis) -> tuple[TestAdvice, ...]:
    """Every test, those that suit the question and the data best first."""
    by_question = {"mean": _mean, "median": _median, "pseudomedian": _pseudomedian, "better": _better}
    result = by_question[question](data)
    return tuple(sorted(result, key=lambda one: STANDINGS.index(one.standing)))


def recommended_test(question: Question, each: Sequence[DataAnalysis]) -> str:
    """The test that suits a question best for all pairs of systems: the one whose worst standing is best.

    It is chosen by the number of items and the shape of the differences, never by which system is ahead, and
    always answers the question.
    """
    worst: dict[str, int] = {}
    for data in each:
        for advice in advise(question, data):
            place = STANDINGS.index(advice.standing)
            worst[advice.name] = max(place, worst.get(advice.name, 0))
    listed = [{one.name for one in advise(question, data)} for data in each]
    return min(
        (name for name in worst if all(name in names for names in listed)), key=lambda name: worst[name]
    )


def nlpstattest_advice(data: DataAnalysis) -> tuple[TestAdvice, ...]:
    """The tests in the order of Zhu et al. (2020, sections 3.1.3 to 3.1.5 and Fig. 2).

    Normal differences: t. Symmetric ones that are not normal: Wilcoxon. Skewed ones: a test of the median;
    the sign test comes first here, because Wilcoxon's asks for symmetry.
    """
    if data.nlpstattest_statistic == "median":
        return (
            TestAdvice(
                "sign",
                "preferred",
                "The differences are skewed; the sign test of the median needs no symmetry.",
            ),
            TestAdvice(
                "bootstrap-median", "allowed", "A bootstrap test of the median assumes no distribution."
            ),
            TestAdvice("permutation-median", "less preferred", "Exact for symmetric differences alone."),
            TestAdvice(
                "wilcoxon", "less preferred", "Asks for symmetry, which the skewness speaks against."
            ),
            TestAdvice("t", "inappropriate", "About the mean, and the differences are skewed."),
            TestAdvice("bootstrap-t", "inappropriate", "About the mean, and the differences are skewed."),
            TestAdvice("permutation", "inappropriate", "About the mean, and the differences are skewed."),
        )
    others = (
        TestAdvice("bootstrap-t", "less preferred", "Assumes no distribution, but has less power."),
        TestAdvice("permutation", "less preferred", "Needs symmetry alone."),
        TestAdvice("sign", "less preferred", "Assumes least, and has the least power."),
    )
    if data.is_normal:
        return (
            TestAdvice("t", "preferred", "The differences pass the test of normality."),
            TestAdvice("wilcoxon", "less preferred", "Needs symmetry alone, with a little less power."),
            *others,
        )
    return (
        TestAdvice("wilcoxon", "preferred", "Needs symmetry, which the skewness allows, and no normality."),
        *others,
        TestAdvice("t", "inappropriate", "The differences do not pass the test of normality."),
    )


def _mean(data: DataAnalysis) -> list[TestAdvice]:
    n, symmetric = data.difference.n, data.skew == "roughly symmetric"
    if data.is_binary:
        t = TestAdvice("t", "allowed", "Approximate for 0/1 scores; good with many items that differ.")
    elif data.t_is_safe:
        why = (
            "the differences pass the test of normality"
            if data.is_normal
            else "n > 25 skewness^2 and n >= 30"
        )
        t = TestAdvice("t", "preferred", f"The mean of {n:,} differences is close to normal: {why}.")
    else:
        t = TestAdvice(
            "t", "less preferred", f"{n:,} items are few for this skewness ({data.skewness:.2f})."
        )
    binary = [
        TestAdvice(
            "mcnemar",
            "preferred",
            "For 0/1 scores the mean difference is 0 where B is as often better as worse.",
        )
    ]
    about = "About the {0}, which is the mean only where the differences are symmetric."
    wilcoxon: Standing = "less preferred" if symmetric else "inappropriate"
    return [
        *(binary if data.is_binary else []),
        TestAdvice("sign", "inappropriate", about.format("median")),
        t,
        TestAdvice(
            "bootstrap-t",
            "allowed" if data.t_is_safe or data.is_binary else "preferred",
            "Corrects Student's t for skewness; needs no distribution.",
        ),
        TestAdvice(
            "permutation",
            "allowed" if symmetric else "less preferred",
            "Exact where the differences are symmetric around the null"
            + ("." if symmetric else ", which the skewness speaks against."),
        ),
        _centred("bootstrap", n),
        TestAdvice("wilcoxon", wilcoxon, about.format("pseudomedian")),
        TestAdvice("bootstrap-median", "inappropriate", about.format("median")),
        TestAdvice("permutation-median", "inappropriate", about.format("median")),
        TestAdvice(
            "primer",
            "inappropriate",
            "One-sided and not centred at the null: no test of the mean, but an inverted interval.",
        ),
    ]


def _median(data: DataAnalysis) -> list[TestAdvice]:
    symmetric = data.skew == "roughly symmetric"
    about = "About the mean, which is the median only where the differences are symmetric."
    fit: Standing = "allowed" if symmetric else "inappropriate"
    return [
        TestAdvice("sign", "preferred", "Exact for the median of any distribution; ties are left out."),
        _centred("bootstrap-median", data.difference.n),
        TestAdvice("wilcoxon", fit, "A test of the median only where the differences are symmetric."),
        TestAdvice("permutation-median", fit, "Exact only where the differences are symmetric."),
        *(
            TestAdvice(name, "inappropriate", about)
            for name in ("t", "bootstrap-t", "permutation", "bootstrap", "primer")
        ),
    ]


def _pseudomedian(data: DataAnalysis) -> list[TestAdvice]:
    symmetric = data.skew == "roughly symmetric"
    fit: Standing = "less preferred" if symmetric else "inappropriate"
    mean = "About the mean, which is the pseudomedian only where the differences are symmetric."
    median = "About the median, which is the pseudomedian only where the differences are symmetric."
    return [
        TestAdvice(
            "wilcoxon",
            "preferred",
            "Exact where the differences are symmetric, and close to its level for the pseudomedian otherwise.",
        ),
        *(TestAdvice(name, fit, mean) for name in ("t", "bootstrap-t", "permutation")),
        *(TestAdvice(name, fit, median) for name in ("sign", "bootstrap-median", "permutation-median")),
        TestAdvice("bootstrap", fit, mean),
        TestAdvice("primer", "inappropriate", mean),
    ]


def _better(data: DataAnalysis) -> list[TestAdvice]:
    exact = "McNemar's exact test" if data.is_binary else "exact"
    about = "How much better B is enters this test; the question is how often."
    mid_p = "The same with mid-p: less conservative, and close to its level."
    return [
        *([TestAdvice("mcnemar", "preferred", mid_p)] if data.is_binary else []),
        TestAdvice(
            "sign", "preferred", f"Counts the items on which B is better and those on which A is; {exact}."
        ),
        *(
            TestAdvice(name, "inappropriate", about)
            for name in (
                "t",
                "bootstrap-t",
                "permutation",
                "bootstrap",
                "wilcoxon",
                "bootstrap-median",
                "permutation-median",
                "primer",
            )
        ),
    ]


def _centred(name: str, n: int) -> TestAdvice:
    if n < BOLD_BELOW:
        return TestAdvice(name, "less preferred", f"Not studentised: too bold with {n:,} items.")
    return TestAdvice(name, "allowed", "Assumes no distribution; good with this many items.")


# Where items come in clusters.

FEWEST_FLIPS = 6  # clusters of which all assignments of signs give a two-sided p-value below 0.05


def advise_clusters(question: Question, clusters: Clusters) -> tuple[TestAdvice, ...]:
    """Every test by its clustered version, those that suit the question and the number of clusters best first."""
    n, df = clusters.n_clusters, bell_mccaffrey_df(clusters.sizes.astype(float))
    said = {**_of_means(n, df), **_of_signs(n)}
    advice = [
        TestAdvice(name, *said[name])
        if not kind.refuses_clusters and question in kind.questions
        else TestAdvice(name, "inappropriate", kind.refuses_clusters or f"About the {kind.questions[0]}.")
        for name, kind in TESTS.items()
    ]
    return tuple(sorted(advice, key=lambda one: STANDINGS.index(one.standing)))


def _of_means(n: int, df: float) -> dict[str, tuple[Standing, str]]:
    few = df < FEW_DF
    return {
        "t": (
            "less preferred" if few else "preferred",
            f"{df:.1f} degrees of freedom: no more than a hint."
            if few
            else f"CR2 errors keep their level with few clusters ({df:.1f} degrees of freedom).",
        ),
        "permutation": _flips(n, "Exact where the sums of the clusters are symmetric around the null."),
        "bootstrap-t": _resamples(n, "Corrects for skewness; resamples whole clusters"),
        "bootstrap": _resamples(n, "Not studentised; resamples whole clusters"),
    }


def _of_signs(n: int) -> dict[str, tuple[Standing, str]]:
    why = "Whole clusters change their signs: {0} where A and B can be exchanged in a cluster."
    sign, wilcoxon = _flips(n, why.format("exact")), _flips(n, why.format("exact, or close to it,"))
    return {
        "sign": ("preferred" if sign[0] == "allowed" else sign[0], sign[1]),
        "wilcoxon": ("preferred" if wilcoxon[0] == "allowed" else wilcoxon[0], wilcoxon[1]),
        "permutation-median": _flips(n, "Exact only where the differences are symmetric."),
        "bootstrap-median": _resamples(n, "Resamples whole clusters"),
    }


def _flips(n: int, why: str) -> tuple[Standing, str]:
    if n < FEWEST_FLIPS:
        return (
            "less preferred",
            f"The signs of {n} clusters have no two-sided p-value below {0.5 ** (n - 1):.2g}.",
        )
    return "allowed", why


def _resamples(n: int, why: str) -> tuple[Standing, str]:
    if n < BOLD_BELOW:
        return "less preferred", f"{why}, of which {n} are few."
    return "allowed", f"{why}; good with this many."
