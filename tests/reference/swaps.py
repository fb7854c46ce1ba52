"""Randomisation tests as their definition says: every exchange, item by item, and nothing clever."""

import itertools

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from humeval_power.kernels.metrics.contingency import metric_value

METRICS = {"bleu": BLEU, "chrf": CHRF, "chrf++": lambda: CHRF(word_order=2)}


def metric_difference(system_a, system_b, references, metric):
    """B - A by sacreBLEU, from the texts."""
    a, b = (METRICS[metric]().corpus_score(each, references).score for each in (system_a, system_b))
    return b - a


def exchanged(system_a, system_b, swapped):
    """Both systems' texts with the sentences of `swapped` exchanged."""
    a, b = list(system_a), list(system_b)
    for place in np.flatnonzero(swapped):
        a[place], b[place] = b[place], a[place]
    return a, b


def listed_sign_flip_p(effects):
    """P-value of the sign-flip test of one row of swap effects, over all 2^n signs."""
    observed = abs(effects.sum())
    sums = [abs(np.dot(signs, effects)) for signs in itertools.product((-1, 1), repeat=len(effects))]
    return np.mean(np.array(sums) >= observed - 1e-12)


def listed_contingency_p(counts, metric, positive=1):
    """P-value of the paired randomisation test of a table (K, K, K), over all 2^n exchanges of its items."""
    k = len(counts)
    items = [cell for cell in itertools.product(range(k), repeat=3) for _ in range(counts[cell])]

    def difference(items):
        a, b = np.zeros((k, k)), np.zeros((k, k))
        for true, of_a, of_b in items:
            a[true, of_a] += 1
            b[true, of_b] += 1
        return float(
            metric_value(metric, b, positive=positive) - metric_value(metric, a, positive=positive)
        )

    observed, count = abs(difference(items)), 0
    for swaps in itertools.product((False, True), repeat=len(items)):
        moved = [(c, b, a) if swap else (c, a, b) for (c, a, b), swap in zip(items, swaps, strict=True)]
        count += abs(difference(moved)) >= observed - 1e-12
    return count / 2 ** len(items)
