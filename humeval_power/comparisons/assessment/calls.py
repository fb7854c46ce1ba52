"""Direct assessment: tests of independent ratings, quality and noise in them, and what was significant in a
collection of comparisons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from humeval_power.choices import DEFAULT_SEED, FEWEST_ABOVE, SHARE, USUAL_CORRELATIONS, ScoreTest
from humeval_power.inference.item_bootstrap import DEFAULT_RESAMPLES

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from humeval_power.comparisons.assessment.pairs import RatedOutputs
    from humeval_power.comparisons.assessment.result import Decomposition, ObservedThresholds, RatedPairs
    from humeval_power.ratings import Ratings


def test(
    rated: RatedOutputs,
    *,
    test: ScoreTest = "mann-whitney",
    baseline: str | None = None,
    continuity: bool = True,
    alpha: float = 0.05,
) -> RatedPairs:
    """Whether systems are rated differently, pair by pair, by ratings that are taken as independent.

    Parameters
    ----------
    rated : as `read_rated` gives them; with a cluster, errors are robust to what its ratings share.
    test : two-sided: Mann-Whitney's U (normal approximation, corrected for ties), Welch's or Student's t.
    baseline : the system that every other one is compared with. [all pairs]
    continuity : whether Mann-Whitney is corrected for continuity.
    alpha : level of the tests; the intervals of the mean differences have 1 - alpha.

    Returns
    -------
    RatedPairs
        Differences in points of the ratings; `to_frame` has a row for each pair, with `difference` and `p` as
        `observed_mde` takes them (Wei, Kocmi and Federmann 2022, section 5.2).

    Raises
    ------
    InputError
        A baseline that is no system, clusters with Student's test, no pair with two ratings each, or an alpha
        that is none.
    """
    from humeval_power.comparisons.assessment.pairs import compare_pairs
    from humeval_power.comparisons.assessment.result import RatedPairs
    from humeval_power.errors import InputError

    if not 0 < alpha < 1:
        raise InputError(f"alpha must lie between 0 and 1; got {alpha!r}.")
    tests = compare_pairs(rated, test=test, baseline=baseline, continuity=continuity, alpha=alpha)
    return RatedPairs(found=tests, rated=rated)


def decompose(
    ratings: Ratings,
    *,
    correlations: Sequence[float] = USUAL_CORRELATIONS,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Decomposition:
    """How much of the variance of ratings is quality and how much is noise.

    Parameters
    ----------
    ratings : in which outputs were judged more than once.
    correlations : of a metric with true quality, at which its worth is told.
    resamples, seed : of items, for the intervals.

    Returns
    -------
    Decomposition
        Variances on [0, 1] squared, the reducible share, and the data efficiency at each correlation.

    Raises
    ------
    InputError
        No output with two ratings, or not two outputs of any system.
    """
    from humeval_power.comparisons.agreement.reliability import variance_decomposition
    from humeval_power.comparisons.assessment.result import Decomposition, efficiencies
    from humeval_power.saying.result import Provenance

    decomposition = variance_decomposition(ratings, n_resamples=resamples, seed=seed)
    return Decomposition(
        found=decomposition,
        efficiencies=efficiencies(decomposition.gamma, correlations),
        scale=ratings.scale,
        source=ratings.source,
        provenance=Provenance(seed=seed),
    )


def observed_mde(
    difference: ArrayLike,
    p_value: ArrayLike,
    *,
    groups: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    alpha: float = 0.05,
    share: float = SHARE,
    fewest_above: int = FEWEST_ABOVE,
    remarks: Sequence[str] = (),
) -> ObservedThresholds:
    """The observed difference from which comparisons were significant.

    Parameters
    ----------
    difference, p_value : (n,), of each comparison; the sign of a difference does not matter.
    groups : differences and p-values of parts of the collection by name, to look at by themselves too.
    alpha, share : level, and share of comparisons above a threshold that must be significant.
    fewest_above : comparisons that must lie at or above a threshold for it to count.
    remarks : what was noticed in reading.

    Returns
    -------
    ObservedThresholds
        The smallest difference that reaches the share, and the one from which on every larger one does;
        `to_frame` has a row for each group.

    Raises
    ------
    InputError
        No comparisons, or values that are no differences and p-values.
    """
    from humeval_power.comparisons.assessment import pairs as assessment
    from humeval_power.comparisons.assessment.result import ALL, ObservedThresholds

    parts = {ALL: (difference, p_value), **(groups or {})}
    return ObservedThresholds(
        found={
            name: assessment.observed_mde(size, p, alpha=alpha, share=share, fewest_above=fewest_above)
            for name, (size, p) in parts.items()
        },
        alpha=alpha,
        remarks=tuple(remarks),
    )
