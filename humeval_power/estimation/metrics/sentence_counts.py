"""What a corpus metric keeps of each sentence, from text, as sacreBLEU (Post 2018) counts it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, get_args

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import CorpusMetric, Tokenizer
from humeval_power.clusters import Clusters
from humeval_power.errors import InputError
from humeval_power.extras import require_extra
from humeval_power.kernels.metrics.corpus import bleu, chrf

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric

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
    found = counter._extract_corpus_statistics(list(system), [list(each) for each in references])
    return np.array(found, dtype=np.float64)
