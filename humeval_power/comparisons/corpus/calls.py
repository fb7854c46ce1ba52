"""Two systems by BLEU, chrF and other metrics of a whole test set: the test, and what planning needs."""

from __future__ import annotations

from collections.abc import Sequence

from humeval_power.choices import DEFAULT_SEED, DEFAULT_SUBSETS, DEFAULT_SWAPS, CorpusMetric, Tokenizer
from humeval_power.clusters import Clusters
from humeval_power.comparisons.corpus.result import CorpusEstimateResult, CorpusTestResult
from humeval_power.estimation.metrics import additivity, fit_delta_laplace, sentence_counts, swap_effects
from humeval_power.inference.corpus import metric_mean, paired_randomisation_test
from humeval_power.rules import DEFAULT_RULE
from humeval_power.saying.result import UNKNOWN, Provenance
from humeval_power.simulation.study import replicate_generator


def test(
    system_a: Sequence[str],
    system_b: Sequence[str],
    *,
    references: Sequence[Sequence[str]],
    metric: CorpusMetric = "bleu",
    tokenizer: Tokenizer = "13a",
    lowercase: bool = False,
    clusters: Clusters | Sequence[object] | None = None,
    n_swaps: int = DEFAULT_SWAPS,
    alpha: float = DEFAULT_RULE.alpha,
    seed: int = DEFAULT_SEED,
    remarks: Sequence[str] = (),
) -> CorpusTestResult:
    """Test by paired randomisation whether B is better than A.

    Parameters
    ----------
    system_a, system_b : outputs, segment by segment; the effect is B - A.
    references : one list of segments, or several.
    metric, tokenizer, lowercase : as sacreBLEU computes it.
    clusters : the cluster of each segment, such as its document: whole clusters are swapped, and errors are CR2's.
    n_swaps : random swaps; all swaps of up to 12 segments, or clusters, are listed instead.
    remarks : what was noticed in reading.

    Returns
    -------
    CorpusTestResult
        The metric of both in points, 0 to 100, the interval of their difference, and the p-value, with its Monte
        Carlo interval if swaps were drawn.

    Raises
    ------
    InputError
        Texts of different lengths, clusters of another number of segments, or a number of swaps outside 1 to 10
        million.
    """
    counts = sentence_counts(
        system_a, system_b, references=references, metric=metric, tokenizer=tokenizer, lowercase=lowercase
    )
    known = clusters if clusters is None or isinstance(clusters, Clusters) else Clusters.of(clusters)
    mean = metric_mean(counts, known)
    tests = paired_randomisation_test(counts, clusters=known, n_swaps=n_swaps, seed=seed)
    return CorpusTestResult(
        counts=counts,
        found=tests,
        mean=mean,
        clusters=known,
        alpha=alpha,
        remarks=tuple(remarks),
        provenance=UNKNOWN if tests.exact else Provenance(seed=seed),
    )


def estimate(
    system_a: Sequence[str],
    system_b: Sequence[str],
    *,
    references: Sequence[Sequence[str]],
    metric: CorpusMetric = "bleu",
    tokenizer: Tokenizer = "13a",
    lowercase: bool = False,
    n_subsets: int = DEFAULT_SUBSETS,
    seed: int = DEFAULT_SEED,
    remarks: Sequence[str] = (),
) -> CorpusEstimateResult:
    """Find what swaps of single segments do: P0 and b0, with which power is computed.

    Parameters
    ----------
    system_a, system_b, references, metric, tokenizer, lowercase, remarks : as of `test`.
    n_subsets : random swaps of half the segments, to see whether single effects add up.

    Returns
    -------
    CorpusEstimateResult
        P0, the share of swaps that change nothing, b0, the spread of the others, and how well single effects
        add up; `to_frame` has the effect of swapping each segment, in points.

    Raises
    ------
    InputError
        Texts of different lengths.
    """
    counts = sentence_counts(
        system_a, system_b, references=references, metric=metric, tokenizer=tokenizer, lowercase=lowercase
    )
    effects = swap_effects(counts)
    return CorpusEstimateResult(
        counts=counts,
        effects=effects,
        fit=fit_delta_laplace(effects),
        check=additivity(counts, effects, rng=replicate_generator(seed, 0), n_subsets=n_subsets),
        remarks=tuple(remarks),
        provenance=Provenance(seed=seed),
    )
