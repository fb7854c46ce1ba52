"""Randomisation tests: power of F1 and BLEU against loops over replicates and swaps, and swaps of real texts.

    python benchmarks/bench_corpus.py [--quick]

One thread. The loops are what a notebook does: for each simulated test set, for each of 1,000 swaps, draw who
is swapped and compute the metric with NumPy over items. Ours does as many replicates and as many swaps; for
two classes their number of extremes is drawn at once from its exact binomial distribution.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest
from studies import machine, print_table, time_of

from humeval_power.comparisons.contingency.scenario import (
    ContingencyStudy,
    binary_recalls,
    correlated_errors,
)
from humeval_power.comparisons.corpus.scenario import CorpusStudy
from humeval_power.estimation.metrics import sentence_counts, swap_effects
from humeval_power.inference.corpus import paired_randomisation_test

N_ITEMS, N_SWAPS = 2000, 1000
WORDS = [
    "the",
    "a",
    "of",
    "to",
    "in",
    "on",
    "and",
    "cat",
    "dog",
    "house",
    "river",
    "city",
    "old",
    "new",
    "sees",
]


def f1(true: np.ndarray, predicted: np.ndarray) -> float:
    """F1 of the positive class over items."""
    hits = np.count_nonzero(true & predicted)
    return 2 * hits / max(np.count_nonzero(true) + np.count_nonzero(predicted), 1)


def loop_contingency(study: ContingencyStudy, n_replicates: int) -> float:
    """Power by two Python loops."""
    rng, found = np.random.default_rng(1), 0
    chance = study.tables.probability.ravel()
    for _ in range(n_replicates):
        cell = rng.choice(8, size=study.n_items, p=chance)
        true, a, b = (cell >> 2) & 1 == 1, (cell >> 1) & 1 == 1, cell & 1 == 1
        observed, count = f1(true, b) - f1(true, a), 0
        for _ in range(N_SWAPS):
            swapped = rng.random(study.n_items) < 0.5
            first, second = np.where(swapped, b, a), np.where(swapped, a, b)
            count += abs(f1(true, second) - f1(true, first)) >= abs(observed) - 1e-12
        found += (1 + count) / (1 + N_SWAPS) <= 0.05 and observed > 0
    return found / n_replicates


def loop_corpus(study: CorpusStudy, n_replicates: int) -> float:
    """Power by two Python loops, from effects of swapping."""
    rng, found = np.random.default_rng(1), 0
    for _ in range(n_replicates):
        effects = study.draw_effects(rng, 1)[0]
        observed = -effects.sum() / 2
        null = [observed + effects[rng.random(len(effects)) < 0.5].sum() for _ in range(N_SWAPS)]
        count = (np.abs(null) >= abs(observed)).sum()
        found += (1 + count) / (1 + N_SWAPS) <= 0.05 and observed > 0
    return found / n_replicates


def texts(n: int) -> tuple[list[str], list[str], list[str]]:
    """Outputs of A and B and a reference."""
    rng = random.Random(1)
    reference = [[rng.choice(WORDS) for _ in range(rng.randint(8, 35))] for _ in range(n)]

    def noisy(share: float) -> list[str]:
        return [
            " ".join(rng.choice(WORDS) if rng.random() < share else w for w in text) for text in reference
        ]

    return noisy(0.3), noisy(0.29), [" ".join(text) for text in reference]


def row(
    name: str, slow: Callable[[], object], n_slow: int, fast: Callable[[], object], n_fast: int
) -> list[str]:
    """Seconds for each replicate of both ways."""
    fast()
    seconds, ours = time_of(slow) / n_slow, time_of(fast) / n_fast
    return [name, f"{seconds * 1e3:.4g}", f"{ours * 1e3:.3g}", f"{seconds / ours:,.0f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer replicates of the loops")
    n_slow = 5 if parser.parse_args().quick else 40
    print(machine())
    recalls = binary_recalls(prevalence=0.1, recall=0.7, precision=0.7)
    base = correlated_errors([0.9, 0.1], recalls, correlation=0.3)
    of_f1 = ContingencyStudy(N_ITEMS, base=base, n_flips=N_SWAPS).with_effect(0.06)
    exact = replace(of_f1, n_flips=None)
    of_bleu = CorpusStudy(N_ITEMS, difference=1.0, test="flips", n_flips=N_SWAPS)
    normal = replace(of_bleu, test="normal")
    print(f"\n{N_ITEMS:,} items or sentences, {N_SWAPS:,} swaps; one thread; ms a replicate\n")
    rows = [
        row(
            "F1, same swaps",
            lambda: loop_contingency(of_f1, n_slow),
            n_slow,
            lambda: of_f1.draw(8192, seed=1),
            8192,
        ),
        row(
            "F1, exact p",
            lambda: loop_contingency(of_f1, n_slow),
            n_slow,
            lambda: exact.draw(8192, seed=1),
            8192,
        ),
        row(
            "BLEU, same swaps",
            lambda: loop_corpus(of_bleu, n_slow),
            n_slow,
            lambda: of_bleu.draw(1024, seed=1),
            1024,
        ),
        row(
            "BLEU, normal p",
            lambda: loop_corpus(of_bleu, n_slow),
            n_slow,
            lambda: normal.draw(1024, seed=1),
            1024,
        ),
    ]
    print_table(["", "double loop", "ours", "times faster"], rows)
    print_real_swaps(1000)


def print_real_swaps(n: int) -> None:
    """Swaps of real texts: sacreBLEU from the texts, and from its counts."""
    a, b, reference = texts(n)
    counts = sentence_counts(a, b, references=[reference])
    systems = [("A", a), ("B", b)]
    test = PairedTest(systems, {"BLEU": BLEU()}, references=[reference], test_type="ar", n_samples=1000)
    recompute = time_of(lambda: [BLEU().corpus_score(each, [reference]) for each in (a, b)])
    theirs, ours = time_of(test), time_of(lambda: paired_randomisation_test(counts, n_swaps=1000))
    effects, counting = (
        time_of(lambda: swap_effects(counts)),
        time_of(lambda: sentence_counts(a, b, references=[reference])),
    )
    print(f"\nBLEU of {n:,} sentences; seconds\n")
    print_table(
        ["", "s"],
        [
            ["both systems from the texts, once", f"{recompute:.3f}"],
            [f"each of {n:,} single swaps from the texts (extrapolated)", f"{n * recompute:.0f}"],
            ["counts of all sentences, once", f"{counting:.3f}"],
            [f"each of {n:,} single swaps from the counts", f"{effects:.5f}"],
            ["sacreBLEU's randomisation test, 1,000 swaps, with counting", f"{theirs:.2f}"],
            ["ours, 1,000 swaps, from the counts", f"{ours:.3f}"],
        ],
    )


if __name__ == "__main__":
    main()
