"""Fit the mixture of zeros and a Laplace distribution to effects of swapping (Card et al. 2020, App. G)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humeval_power.choices import CorpusMetric, Tokenizer
from humeval_power.clusters import Clusters
from humeval_power.errors import InputError
from humeval_power.extras import require_extra
from humeval_power.kernels.metrics.corpus import bleu, chrf

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric


@dataclass(frozen=True, slots=True)
class DeltaLaplace:
    """Share of effects that are exactly zero and Laplace scale of the others.

    `scale` is b0 = n b with b the maximum-likelihood scale around the median, as Card et al. report;
    `matched_scale` is the b0 with which the model has the observed mean square of the effects, and so the
    observed null standard deviation of the sign-flip test: power depends on the effects through that
    alone, which is `null_sd`. Both scales are NaN without an effect that is not zero; `mean` is over all
    effects. Standard errors are those of large samples.
    """

    n_sentences: int
    n_zero: int
    mean: float
    scale: float
    matched_scale: float
    null_sd: float

    @property
    def zero_share(self) -> float:
        """P0."""
        return self.n_zero / self.n_sentences

    @property
    def zero_share_error(self) -> float:
        """Standard error of P0, binomial."""
        return math.sqrt(self.zero_share * (1 - self.zero_share) / self.n_sentences)

    @property
    def scale_error(self) -> float:
        """Standard error of b0 by maximum likelihood: b0 / sqrt(number of effects that are not zero)."""
        left = self.n_sentences - self.n_zero
        return self.scale / math.sqrt(left) if left else math.nan


def fit_delta_laplace(effects: ArrayLike) -> DeltaLaplace:
    """Fit P0 and b0 to the effects of swapping each sentence, shape (n_sentences,).

    Raises
    ------
    InputError
        Fewer than two effects, or one that is not a finite number.
    """
    values = np.asarray(effects, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2 or not np.isfinite(values).all():
        raise InputError(f"At least two finite effects of swapping are needed; got shape {values.shape}.")
    n, moved = len(values), values[values != 0]
    square = float(values @ values)
    if not len(moved):
        return DeltaLaplace(n, n, 0.0, math.nan, math.nan, 0.0)
    scale = float(np.abs(moved - np.median(moved)).mean())
    # (1 - P0)(2 b^2 + mu^2) = mean square, with mu the mean of the effects that are not zero
    matched = math.sqrt(max((square / len(moved) - float(moved.mean()) ** 2) / 2, 0.0))
    return DeltaLaplace(
        n_sentences=n,
        n_zero=n - len(moved),
        mean=float(values.mean()),
        scale=n * scale,
        matched_scale=n * matched,
        null_sd=math.sqrt(square) / 2,
    )


# What a corpus metric keeps of each sentence, from text, as sacreBLEU (Post 2018) counts it.

Floats = NDArray[np.float64]
METRIC_NAMES: dict[CorpusMetric, str] = {"bleu": "BLEU", "chrf": "chrF", "chrf++": "chrF++"}


@dataclass(frozen=True, slots=True, eq=False)
class SentenceCounts:
    """Counts of each sentence under both systems, shape (n_sentences, k); they add up over sentences.

    `signature` is sacreBLEU's, to be reported with the metric.
    """

    metric: CorpusMetric
    a: Floats
    b: Floats
    signature: str

    def __len__(self) -> int:
        return len(self.a)

    def summed(self, clusters: Clusters) -> SentenceCounts:
        """Counts of whole clusters of sentences, such as documents."""
        return replace(self, a=clusters.sums(self.a), b=clusters.sums(self.b))

    def value(self, counts: Floats) -> Floats:
        """The metric, 0 to 100, of summed counts (..., k)."""
        return bleu(counts) if self.metric == "bleu" else chrf(counts)

    @property
    def values(self) -> tuple[float, float]:
        """The metric of both systems."""
        return float(self.value(self.a.sum(axis=0))), float(self.value(self.b.sum(axis=0)))

    @property
    def difference(self) -> float:
        """B - A."""
        a, b = self.values
        return b - a


def sentence_counts(
    system_a: Sequence[str],
    system_b: Sequence[str],
    *,
    references: Sequence[Sequence[str]],
    metric: CorpusMetric = "bleu",
    tokenizer: Tokenizer = "13a",
    lowercase: bool = False,
) -> SentenceCounts:
    """Count n-grams of both systems' outputs against the references, sentence by sentence.

    Parameters
    ----------
    references : one or more complete translations of the test set.
    tokenizer : of BLEU; chrF needs none.

    Raises
    ------
    InputError
        Outputs and references of different lengths, fewer than two sentences, or an unknown metric.
    EngineMissingError
        The extra [mt] is not installed.
    """
    lengths = {len(system_a), len(system_b), *map(len, references)}
    if len(lengths) != 1 or not references:
        raise InputError(
            "Every system and every reference must have one segment for each sentence; got "
            f"{len(system_a)} of A, {len(system_b)} of B, "
            f"and {', '.join(str(len(each)) for each in references) or 'no reference'}."
        )
    if lengths.pop() < 2:
        raise InputError("At least two sentences are needed to compare systems.")
    if metric not in get_args(CorpusMetric):
        raise InputError(f"metric must be one of {', '.join(get_args(CorpusMetric))}; got {metric!r}.")
    require_extra("mt", wanted_for=f"Counting what {METRIC_NAMES[metric]} is made of")
    counter = _counter(metric, tokenizer, lowercase)
    counted = [_counted(counter, system, references) for system in (system_a, system_b)]
    return SentenceCounts(metric, counted[0], counted[1], str(counter.get_signature()))


def _counter(metric: CorpusMetric, tokenizer: Tokenizer, lowercase: bool) -> Metric:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    if metric == "bleu":
        return BLEU(tokenize=tokenizer, lowercase=lowercase, force=True)
    return CHRF(word_order=2 if metric == "chrf++" else 0, lowercase=lowercase)


def _counted(counter: Metric, system: Sequence[str], references: Sequence[Sequence[str]]) -> Floats:
    # sacreBLEU has no public way to these counts; a test compares the metric with its corpus_score.
    counts = counter._extract_corpus_statistics(list(system), [list(each) for each in references])
    return np.array(counts, dtype=np.float64)


# How much each sentence moves the difference of a corpus metric: its influence value (Hampel 1974).

_STEP = 1e-4  # of a count: its square is the relative error of a central difference


def influence_values(counts: SentenceCounts) -> Floats:
    """The influence of each sentence on B - A, in points of the metric, shape (n_sentences,); they sum to 0.

    n times the derivative of the metric by the summed counts, along the counts of the sentence. A metric is the
    same for twice as many of every count, so that no mean is to be taken away.
    """
    n = len(counts)
    return np.asarray(
        n
        * (
            counts.b @ _slopes(counts, counts.b.sum(axis=0))
            - counts.a @ _slopes(counts, counts.a.sum(axis=0))
        )
    )


def _slopes(counts: SentenceCounts, total: Floats) -> Floats:
    """Derivative of the metric by each summed count; 0 for a count that no sentence has."""
    steps = np.diag(_STEP * total)
    rise = counts.value(total + steps) - counts.value(total - steps)
    return np.divide(rise, 2 * np.diag(steps), out=np.zeros_like(total), where=total > 0)


# What swapping sentences between two systems does to the difference of a corpus metric.

_PORTION = 256  # subsets swapped at a time


def swap_effects(counts: SentenceCounts) -> Floats:
    """Change of B - A when one sentence is swapped and all others are left, shape (n_sentences,).

    Card et al. (2020, section 4) call it delta_i; it is exactly 0 where both outputs count alike.
    """
    moved = counts.b - counts.a
    a, b = counts.a.sum(axis=0), counts.b.sum(axis=0)
    return np.asarray(counts.value(b - moved) - counts.value(a + moved) - counts.difference)


def swapped_differences(counts: SentenceCounts, swapped: NDArray[np.bool_]) -> Floats:
    """B - A after the sentences of each subset are swapped, shape (n_subsets,).

    swapped : shape (n_subsets, n_sentences).
    """
    moved = counts.b - counts.a
    a, b = counts.a.sum(axis=0), counts.b.sum(axis=0)
    differences = []
    for begin in range(0, len(swapped), _PORTION):
        change = swapped[begin : begin + _PORTION].astype(np.float64) @ moved
        differences.append(counts.value(b - change) - counts.value(a + change))
    return np.concatenate(differences)


def random_subsets(rng: np.random.Generator, n_sentences: int, n_subsets: int) -> NDArray[np.bool_]:
    """Subsets that hold each sentence with probability 1/2, shape (n_subsets, n_sentences)."""
    bits = rng.integers(256, size=(n_subsets, -(-n_sentences // 8)), dtype=np.uint8)
    return np.unpackbits(bits, axis=1, count=n_sentences).view(np.bool_)


@dataclass(frozen=True, eq=False)
class Additivity:
    """Sums of single effects against the true effect of swapping the same subsets (Card et al., Fig. 15).

    Both of shape (n_subsets,). Additive effects have correlation 1, slope 1 and no error.
    """

    summed: Floats
    true: Floats

    @cached_property
    def correlation(self) -> float:
        """Pearson's; NaN where no swap changes anything."""
        if np.ptp(self.summed) == 0 or np.ptp(self.true) == 0:
            return float("nan")
        return float(np.corrcoef(self.summed, self.true)[0, 1])

    @cached_property
    def slope(self) -> float:
        """Of the true effect on the sum, by least squares; NaN where no swap changes anything."""
        centred = self.summed - self.summed.mean()
        spread = float(centred @ centred)
        return float(centred @ self.true) / spread if spread > 0 else float("nan")

    @cached_property
    def error(self) -> float:
        """Root mean square of true effect minus sum, in the metric's points."""
        return float(np.sqrt(np.mean((self.true - self.summed) ** 2)))


def additivity(
    counts: SentenceCounts, effects: Floats, *, rng: np.random.Generator, n_subsets: int = 1000
) -> Additivity:
    """Swap random halves of the sentences and compare with the sums of their single effects.

    Raises
    ------
    InputError
        Fewer than 2 subsets.
    """
    if n_subsets < 2:
        raise InputError(f"At least 2 subsets are needed to see whether effects add up; got {n_subsets}.")
    swapped = random_subsets(rng, len(counts), n_subsets)
    true = swapped_differences(counts, swapped) - counts.difference
    return Additivity(swapped @ effects, true)
