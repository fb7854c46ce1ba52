"""Which outputs people rate: drawn with known probabilities by the judge's scores, and the mean that follows.

Strata are cut at quantiles of the score before anybody rates, each gets its share of the labels, and its mean
counts by its share of all outputs (Neyman 1934; Cochran 1977, ch. 5). A judge that gives probabilities of a yes can
set the probability of each output alone; the mean is then that of the probabilities, corrected by inverse weights
(Särndal, Swensson and Wretman 1992).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import DEFAULT_CONFIDENCE
from humeval_power.comparisons.judge.assisted import (
    LEAST_LABELS,
    Assisted,
    is_binary,
    label_mean,
    wilson_at,
)
from humeval_power.comparisons.judge.means import JudgedMean, JudgedMeans
from humeval_power.errors import InputError
from humeval_power.inference.clustered import student_interval, student_p
from humeval_power.inference.item_sampling import (
    ITEMS_OF_A_STRATUM,
    LARGEST_WEIGHT,
    LEAST_EFFECTIVE,
    LEAST_OF_A_STRATUM,
    MOST_STRATA,
    allocate,
    effective_number,
    explained_by_strata,
)

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

UNIFORM = 0.5  # part of each output's probability that does not ask the judge
_LARGEST_RATE = 2.0  # times the smallest rate of a stratum
_EQUAL = 1.25  # ratio of probabilities up to which they count as equal: sizes are whole numbers


@dataclass(frozen=True, slots=True, eq=False)
class ScoreStrata:
    """Outputs by their score: `code` (T,) from 0, and of each stratum its `size`, lowest and highest score, which
    are NaN where its outputs have none."""

    code: Codes
    size: Codes
    low: Floats
    high: Floats

    def place(self, score: Floats) -> Codes:
        """The strata of other scores; -1 for none where all these have one."""
        cut = int(np.isfinite(self.high).sum())
        place = np.minimum(np.searchsorted(self.high[:cut], score), cut - 1)
        return np.where(np.isfinite(score), place, cut if cut < len(self.size) else -1)


def strata_of(score: Floats, n: int) -> ScoreStrata:
    """At most 5 strata of about equal size by quantiles of the score (T,), for n labels; equal scores stay
    together, and outputs without one (NaN) stand apart. A stratum of one output joins the one below."""
    known = np.isfinite(score)
    _, group, count = np.unique(score[known], return_inverse=True, return_counts=True)
    wanted = max(1, min(MOST_STRATA, n // ITEMS_OF_A_STRATUM))
    middle = (np.cumsum(count) - count / 2) / max(1, known.sum())
    of_value = np.unique(np.floor(wanted * middle), return_inverse=True)[1]
    code = np.full(len(score), -1, dtype=np.int64)
    code[known] = of_value[group]
    code[~known] = code.max() + 1
    size = np.bincount(code)
    while len(size) > 1 and size.min() < LEAST_OF_A_STRATUM:
        small = int(size.argmin())
        code[code >= max(small, 1)] -= 1
        size = np.bincount(code)
    ends = np.full((2, len(size)), math.nan)
    for place in range(len(size)):
        inside = score[(code == place) & known]
        if len(inside):
            ends[:, place] = inside.min(), inside.max()
    return ScoreStrata(code, size, *ends)


def neyman_spreads(strata: ScoreStrata, score: Floats, human: Floats) -> Floats:
    """Spreads of a pilot's human values within the strata: shrunk halfway to their mean, and so that no stratum
    has more than twice the rate of another. score, human : (n,), of the pilot's outputs. InputError: a stratum
    with too few labels of the pilot, or values that do not vary."""
    place = strata.place(score)
    within = [human[place == stratum] for stratum in range(len(strata.size))]
    if few := [stratum for stratum, one in enumerate(within) if len(one) < ITEMS_OF_A_STRATUM]:
        said = ", ".join(f"{len(within[stratum])} of stratum {stratum + 1}" for stratum in few)
        raise InputError(
            f"There are too few labels of the pilot: {said}. {ITEMS_OF_A_STRATUM} of each are needed to know how "
            "they vary: draw in proportion to size (--allocation proportional)."
        )
    spread = np.array([one.std(ddof=1) for one in within])
    if not spread.max() > 0:
        raise InputError(
            "Within no stratum do the labels of the pilot vary: draw in proportion to size "
            "(--allocation proportional)."
        )
    shrunk = (spread + spread @ strata.size / strata.size.sum()) / 2
    return np.asarray(np.maximum(shrunk, shrunk.max() / _LARGEST_RATE))


def inclusion_probabilities(weight: Floats, n: int) -> Floats:
    """Of each output, in proportion to its weight (T,), none above 1, n together."""
    probability, free = np.ones(len(weight)), np.ones(len(weight), dtype=bool)
    while True:
        probability[free] = (n - (~free).sum()) * weight[free] / weight[free].sum()
        over = free & (probability > 1)
        if not over.any():
            return probability
        probability[over], free = 1.0, free & ~over


def active_probabilities(score: Floats, n: int) -> Floats:
    """Half alike, half by how uncertain a judge is that gives probabilities of a yes, (T,). InputError: scores
    that are no probabilities, or say yes or no for sure."""
    if not (np.isfinite(score).all() and score.min() >= 0 and score.max() <= 1):
        raise InputError(
            "--active takes the judge's scores as probabilities of a yes: all between 0 and 1, none blank. Strata "
            "(without --active) need no such scores."
        )
    doubt = np.sqrt(score * (1 - score))
    if not doubt.sum() > 0:
        raise InputError(
            "--active: the judge says yes or no for sure of every output, so that nothing tells which labels would "
            "say most. Leave it out: strata by the judge's answer."
        )
    return inclusion_probabilities(UNIFORM / len(score) + (1 - UNIFORM) * doubt / doubt.sum(), n)


def draw_strata(strata: ScoreStrata, drawn: Codes, rng: np.random.Generator) -> Codes:
    """Places of the outputs drawn, `drawn` (H,) of each stratum, in random order."""
    order = rng.permutation(len(strata.code))
    chosen = [order[strata.code[order] == place][:count] for place, count in enumerate(drawn)]
    return rng.permutation(np.concatenate(chosen))


def draw_systematic(probability: Floats, rng: np.random.Generator) -> Codes:
    """Places of outputs drawn with these probabilities (T,), of a fixed number, in random order."""
    order = rng.permutation(len(probability))
    upper = np.cumsum(probability[order])
    n = round(float(upper[-1]))
    return rng.permutation(order[np.searchsorted(upper, rng.random() + np.arange(n), side="right")])


@dataclass(frozen=True, slots=True, eq=False)
class DrawnSample:
    """The sample as it was drawn, by items: the stratum `code` (-1: not drawn), the `probability` (NaN: not drawn),
    and the `size` of each stratum; `active` says that each output has a probability of its own."""

    code: Codes
    probability: Floats
    size: Codes
    active: bool

    @property
    def is_equal(self) -> bool:
        """Whether all outputs had the same probability, but for whole numbers."""
        known = self.probability[self.code >= 0]
        return bool(known.max() <= _EQUAL * known.min())


def stratified_mean(
    labels: Floats,
    code: Codes,
    size: Codes,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    binary: bool = False,
    of_classes: bool = True,
) -> Assisted:
    """The mean of strata by their sizes; of yes and no with Wilson's interval at the labels it is worth.

    V = sum W_h^2 s_h^2 / n_h + sum W_h (y_h - y)^2 / T of the population that the outputs are a part of, for
    just these sum W_h^2 s_h^2 / n_h (1 - n_h / N_h); df = V^2 / sum V_h^2 / (n_h - 1). Of yes and no s_h^2 = q
    (1 - q) n_h / (n_h - 1) and y_h = q, with q = (x_h + 1/2) / (n_h + 1) for x_h of n_h that say yes. labels,
    code : (n,), human values and their strata. size : (H,), outputs of each stratum. InputError: a stratum with
    fewer than two labels.
    """
    n, total = np.bincount(code, minlength=len(size)), int(size.sum())
    if n.min() < LEAST_OF_A_STRATUM:
        few = [place for place, count in enumerate(n.tolist()) if count < LEAST_OF_A_STRATUM]
        said = ", ".join(f"{n[place]} of stratum {place + 1}" for place in few)
        raise InputError(
            f"There are too few human values: {said}. {LEAST_OF_A_STRATUM} of each are needed: have outputs rated "
            "that are in the sample."
        )
    share = size / total
    mean = np.bincount(code, labels) / n
    spread = np.bincount(code, (labels - mean[code]) ** 2) / (n - 1)
    estimate = float(share @ mean)
    alone = float(np.sum((share / n)[code] * (labels - estimate) ** 2))  # of one label
    explained = max(0.0, 1 - float(share @ spread) / alone) if alone > 0 else 0.0
    if np.ptp(labels) == 0 and not binary:
        return replace(
            label_mean(labels, confidence=confidence, of_classes=of_classes), method="stratified"
        )
    centre = mean
    if binary:
        centre = (n * mean + 0.5) / (n + 1)
        spread = centre * (1 - centre) * n / (n - 1)  # strata are small: without it .935 in place of .95
    part = share**2 * spread / n
    middle = float(share @ centre)
    variance = float(part.sum() + share @ (centre - middle) ** 2 / total)
    squares = float(np.sum(part**2 / (n - 1)))
    df = variance**2 / squares if squares > 0 else math.inf
    error = math.sqrt(variance)
    if binary:
        p_value, ends = math.nan, wilson_at(estimate, middle * (1 - middle) / variance, df, confidence)
    else:
        p_value = student_p(estimate / error, df) if error > 0 else math.nan
        ends = student_interval(estimate, error, df, confidence)
    pool = math.sqrt(float(part @ (1 - n / size)))
    return Assisted("stratified", estimate, error, pool, df, p_value, ends, (), (0,), explained)


def inverse_weighted_mean(
    labels: Floats,
    probability: Floats,
    score: Floats,
    everywhere: Floats,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
) -> Assisted:
    """The rate of yes from the judge's probabilities of all outputs, (T,), corrected by the labels that were
    drawn.

    mean g + sum (y - g) / pi / T. Of just these outputs V = n / (n - 1) sum (1 - pi) (a - A)^2 / T^2 with a =
    (y - g) / pi and A its mean weighted by 1 - pi (Hájek 1964); of their population p (1 - p) / T more. df =
    (sum a^2)^2 / sum a^4. labels, probability, score : (n,), yes (1) or no (0) of the outputs drawn, their
    probabilities and scores. InputError: labels that are not yes or no, or weights so unequal that no interval
    holds.
    """
    n, total = len(labels), len(everywhere)
    if not is_binary(labels):
        raise InputError(
            "Outputs drawn one by one (--active) need labels of yes or no: 1 and 0, or words that stand for them."
        )
    weight, effective = 1 / probability, effective_number(probability)
    if effective < LEAST_EFFECTIVE or weight.max() > LARGEST_WEIGHT * weight.mean():
        raise InputError(
            f"{n} labels of unequal probabilities count as {effective:.3g}, the largest weight is "
            f"{weight.max() / weight.mean():.3g} times their mean: an interval needs {LEAST_EFFECTIVE:g} and at "
            f"most {LARGEST_WEIGHT:g}. Have more outputs rated."
        )
    error = (labels - score) * weight
    estimate = float(everywhere.mean() + error.sum() / total)
    left = 1 - probability
    middle = float(left @ error / left.sum()) if left.sum() > 0 else 0.0
    pool = float(n / (n - 1) * np.sum(left * (error - middle) ** 2) / total**2)
    rate = min(max(estimate, 1 / (2 * n)), 1 - 1 / (2 * n))
    variance = pool + rate * (1 - rate) / total
    squares = float(np.sum(error**2))
    df = squares**2 / float(np.sum(error**4)) if squares > 0 else n - 1.0
    low, high = student_interval(estimate, math.sqrt(variance), df, confidence)
    return Assisted(
        "inverse-weighted",
        min(max(estimate, 0.0), 1.0),
        math.sqrt(variance),
        math.sqrt(pool),
        df,
        math.nan,
        (max(0.0, low), min(1.0, high)),
        (1.0,),
        (0,),
        max(0.0, 1 - n * pool / (rate * (1 - rate))),
    )


def sample_size_problem(n: int, total: int) -> str:
    """Why so many of all outputs cannot be drawn; '' where they can."""
    if n < LEAST_LABELS:
        return f"at least {LEAST_LABELS} outputs have to be rated."
    return f"there are {total:,} outputs to draw from." if n > total else ""


def sampled_means(
    human: Floats,
    judge: Floats,
    extra: Floats,
    items: Codes,
    sample: DrawnSample,
    *,
    confidence: float,
    seed: int,
    is_difference: bool,
    of_classes: bool,
) -> JudgedMeans:
    """The mean by the probabilities of the sample ('tuned'), and as many labels drawn alike ('human').

    human, judge, items : (n,), (n, J) and (n,), of the outputs that were drawn and rated.
    extra : (N, J), the judges' scores of the others.
    InputError: what `stratified_mean` and `inverse_weighted_mean` raise, or outputs drawn one by one for a
    difference, by several judges, or out of another number than have scores.
    """
    n, binary = len(human), not is_difference and is_binary(human)
    if not n:
        raise InputError("No output of the sample has a human value.")
    if sample.active:
        probability = sample.probability[items] * n / int((sample.code >= 0).sum())
        weight = 1 / probability
        if is_difference or judge.shape[1] != 1:
            why = "a difference of systems" if is_difference else f"{judge.shape[1]} judges"
            raise InputError(
                f"Outputs drawn one by one (--active) are for the rate of one system and one judge; this is {why}."
            )
        if n + len(extra) != sample.size.sum():
            raise InputError(
                f"The sample was drawn out of {sample.size.sum():,} outputs; {n + len(extra):,} have scores here."
            )
        everywhere = np.concatenate([judge[:, 0], extra[:, 0]])
        best = inverse_weighted_mean(human, probability, judge[:, 0], everywhere, confidence=confidence)
    else:
        best = stratified_mean(
            human,
            sample.code[items],
            sample.size,
            confidence=confidence,
            binary=binary,
            of_classes=of_classes,
        )
        weight = (sample.size / np.bincount(sample.code[items]))[sample.code[items]]
    alike = np.ptp(human) == 0
    mean = float(weight @ human / weight.sum())
    error = math.sqrt(float(weight @ (human - mean) ** 2 / weight.sum()) / (n - 1))
    if binary:
        ends, p_value = wilson_at(mean, n, math.inf, confidence), math.nan
    else:
        ends = (math.nan, math.nan) if alike else student_interval(mean, error, n - 1.0, confidence)
        p_value = math.nan if alike else student_p(mean / error, n - 1.0)
    scored = np.isfinite(judge[:, 0])
    varies = not alike and scored.any() and np.ptp(human[scored]) > 0 and np.ptp(judge[scored, 0]) > 0
    return JudgedMeans(
        human=JudgedMean("human", mean, error, n - 1.0, p_value, ends, ()),
        plain=None,
        cross_fitted=None,
        tuned=JudgedMean(
            "tuned",
            best.estimate,
            best.standard_error,
            best.df,
            best.p_value,
            best.interval,
            best.weights,
        ),
        method=best.method,
        reason="All labels are alike, so that nothing tells what the draw adds." if alike else "",
        pool_error=best.pool_error,
        n=n,
        extra=len(extra),
        correlation=float(np.corrcoef(human[scored], judge[scored, 0])[0, 1]) if varies else 0.0,
        confidence=confidence,
        seed=seed,
        used=tuple(range(judge.shape[1])),
    )


# Drawing a sample from a table of scores.


@dataclass(frozen=True, slots=True, eq=False)
class SamplePlan:
    """Outputs to rate: their places among the T items in the order that they are given out (n,), the strata, the
    `drawn` of each, and each output's probability (T,); `explained` is the share of the scores' variance that the
    strata take away."""

    chosen: Codes
    strata: ScoreStrata
    drawn: Codes
    probability: Floats
    explained: float
    active: bool


def plan_sample(
    score: Floats,
    n: int,
    *,
    pilot: tuple[Floats, Floats] | None = None,
    active: bool = False,
    seed: int,
) -> SamplePlan:
    """Draw n outputs of those with these scores, (T,), NaN where one has none. pilot : scores and human values
    of a pilot, for Neyman's allocation; in proportion to size without one. InputError: what `neyman_spreads`
    and `active_probabilities` raise, or too few labels of unequal probabilities."""
    rng = np.random.default_rng(seed)
    if active:
        probability = active_probabilities(score, n)
        chosen = draw_systematic(probability, rng)
        if effective_number(probability[chosen]) < LEAST_EFFECTIVE:
            raise InputError(
                f"{n} labels of unequal probabilities count as {effective_number(probability[chosen]):.3g} drawn "
                f"alike; an interval needs {LEAST_EFFECTIVE:g}: draw more, or leave out --active."
            )
        ends = np.array([score.min()]), np.array([score.max()])
        one = ScoreStrata(np.zeros(len(score), dtype=np.int64), np.array([len(score)]), *ends)
        return SamplePlan(chosen, one, np.array([n]), probability, math.nan, True)
    strata = strata_of(score, n)
    spread = None if pilot is None else neyman_spreads(strata, *pilot)
    drawn = allocate(strata.size, n, spread=spread)
    probability = (drawn / strata.size)[strata.code]
    explained = explained_by_strata(score, strata.code)
    return SamplePlan(draw_strata(strata, drawn, rng), strata, drawn, probability, explained, False)
