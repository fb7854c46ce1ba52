"""Which tests suit a question and the data at hand, each with its reason.

The question is asked first and never changed here: data that look skewed do not turn a question about the
mean into one about the median. Zhu et al.'s (2020) procedure, which does that, is kept beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from humeval_power.choices import Question
from humeval_power.inference.compare.data_analysis import DataAnalysis

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
    found = by_question[question](data)
    return tuple(sorted(found, key=lambda one: STANDINGS.index(one.standing)))


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
