"""Which tests suit a question where items come in clusters, each with its reason."""

from __future__ import annotations

from humeval_power.choices import Question
from humeval_power.clusters import Clusters
from humeval_power.comparisons.scores.advice import BOLD_BELOW, STANDINGS, Standing, TestAdvice
from humeval_power.comparisons.scores.clustered_tests import REFUSED, TESTS_OF_CLUSTERS
from humeval_power.comparisons.scores.tests import TESTS
from humeval_power.inference.clustered import FEW_DF, bell_mccaffrey_df

FEWEST_FLIPS = 6  # clusters of which all assignments of signs give a two-sided p-value below 0.05


def advise_clusters(question: Question, clusters: Clusters) -> tuple[TestAdvice, ...]:
    """Every test by its clustered version, those that suit the question and the number of clusters best first."""
    n, df = clusters.n_clusters, bell_mccaffrey_df(clusters.sizes.astype(float))
    said = {**_of_means(n, df), **_of_signs(n)}
    advice = [
        TestAdvice(name, *said[name])
        if name in TESTS_OF_CLUSTERS and question in kind.questions
        else TestAdvice(name, "inappropriate", REFUSED.get(name, f"About the {kind.questions[0]}."))
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
