"""Resampling by the definition: one resample after the other, items listed, nothing shared or clever."""

import itertools
import math

import numpy as np


def resamples(counts):
    """The positions of the items in each resample, from how often each item is drawn."""
    return [np.repeat(np.arange(counts.shape[1]), row.astype(int)) for row in counts]


def t_of(values, null=0.0):
    """Student's t of one sample."""
    return (np.mean(values) - null) / (np.std(values, ddof=1) / math.sqrt(len(values)))


def primer_p(differences):
    """The primer's p from all n^n resamples."""
    n = len(differences)
    sums = [sum(differences[i] for i in draw) for draw in itertools.product(range(n), repeat=n)]
    return float(np.mean([total <= 1e-12 for total in sums]))


def sign_flip_p(differences, statistic, null=0.0):
    """Two-sided p-value from all 2^n assignments of signs."""
    moved = np.asarray(differences) - null
    observed = abs(statistic(moved))
    found = [
        abs(statistic(moved * np.array(signs))) >= observed - 1e-12
        for signs in itertools.product((1, -1), repeat=len(moved))
    ]
    return float(np.mean(found))


def step_down(observed, drawn):
    """Romano and Wolf's corrected p-values, one hypothesis after the other."""
    order = sorted(range(len(observed)), key=lambda place: -observed[place])
    found, before = {}, 0.0
    for rank, place in enumerate(order):
        left = order[rank:]
        beyond = sum(max(row[i] for i in left) >= observed[place] for row in drawn)
        before = max(before, (1 + beyond) / (1 + len(drawn)))
        found[place] = before
    return [found[place] for place in range(len(observed))]
