"""Which n of a pool of N items to rate: strata, allocation, balanced draws, and what a metric's scores can win.

Proportional strata by a predicted difference for two systems, the cube method (Deville and Tille 2004; Chauvet and
Tille 2006) for several: every item of the pool is as likely to be drawn as any other, so that the plain analysis
stays unbiased and the metric can only narrow the interval.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.errors import InputError
from humeval_power.inference.student_t import noncentral_t_tail

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]

MOST_STRATA = 5  # more win little: 5 explain 90 % of what the metric does, 10 explain 96 %
ITEMS_OF_A_STRATUM = 5  # chosen ones, at least, on average
LEAST_OF_A_STRATUM = 2  # without two, nothing is known of the spread within it
LEAST_EFFECTIVE = 25  # items that unequal weights leave (Kish), below which no interval holds
LARGEST_WEIGHT = 5.0  # of an item, over the mean weight
_WHOLE = 1e-9  # a probability this close to 0 or 1 is decided
_NO_SPREAD = 1e-9  # of a stratum, times the largest
_HALVINGS = 200


def effective_number(probability: Floats) -> float:
    """How many items drawn alike as many with these probabilities count as (Kish 1965)."""
    return float(np.sum(1 / probability) ** 2 / np.sum(1 / probability**2))


def allocate(sizes: Codes, n: int, *, spread: Floats | None = None) -> Codes:
    """How many of n items each stratum gets, in proportion to its size, or to size times `spread` (Neyman).

    A stratum gets two items, and no more than it has; the largest remainders get what is left over, of equal ones
    the first.

    Raises
    ------
    InputError
        More items than there are.
    """
    if n > sizes.sum():
        raise InputError(f"{n:,} items cannot be drawn of {sizes.sum():,}.")
    share: Floats = sizes.astype(np.float64)
    if spread is not None:
        share = share * np.maximum(spread, _NO_SPREAD * (spread.max() or 1.0))
    least = np.minimum(LEAST_OF_A_STRATUM, sizes)

    def at_rate(rate: float) -> Floats:
        return np.asarray(np.clip(rate * share, least, sizes))

    low, high = 0.0, float((sizes / share).max())
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if at_rate(middle).sum() >= n else (middle, high)
    exact = at_rate(high)
    counts = np.floor(exact + 1e-6).astype(np.int64)
    rest = np.where(counts < sizes, np.round(exact - counts, 6), -1.0)
    counts[np.argsort(-rest, kind="stable")[: n - int(counts.sum())]] += 1
    return counts


def strata_of(predicted: Floats, n: int, rng: np.random.Generator) -> Codes:
    """Strata of equal size by the quantiles of a predicted difference (N,), for a draw of n items.

    Equal predictions are split at random. Items without one (NaN) are a stratum of their own, the last, where it
    gets two items or more, else they lie in the middle.
    """
    unknown = np.isnan(predicted)
    alone = unknown.sum() * n >= LEAST_OF_A_STRATUM * len(predicted) and not unknown.all()
    n_strata = max(1, min(MOST_STRATA, n // ITEMS_OF_A_STRATUM) - int(alone))
    middle = 0.0 if unknown.all() else float(np.median(predicted[~unknown]))
    ranked = np.where(unknown, middle, predicted)
    order = np.lexsort((rng.random(len(ranked)), ranked))
    if alone:
        order = order[~unknown[order]]
    stratum = np.full(len(predicted), n_strata, dtype=np.int64)
    for number, part in enumerate(np.array_split(order, n_strata)):
        stratum[part] = number
    return stratum


def draw_from_strata(stratum: Codes, n: int, rng: np.random.Generator) -> tuple[Codes, Floats]:
    """A proportional draw: the places of n items, in an order of which every beginning is nearly proportional too,
    and the probability of each item of the pool (N,)."""
    sizes = np.bincount(stratum)
    counts = allocate(sizes, n)
    places, turn = [], []
    for number, count in enumerate(counts.tolist()):
        places.append(rng.permutation(np.flatnonzero(stratum == number))[:count])
        turn.append((np.arange(count) + rng.random()) / max(count, 1))
    order = np.argsort(np.concatenate(turn), kind="stable")
    return np.concatenate(places)[order], (counts / sizes)[stratum]


def balancing_columns(scores: Floats, n: int) -> Floats:
    """What a draw of n items is balanced on: the contrasts of the systems' scores (N, K), as principal components
    in SDs, at most n / 5 of them. Missing scores are the mean of their system."""
    centred = scores - np.nanmean(scores, axis=0)
    centred = np.nan_to_num(centred)
    contrasts = centred - centred.mean(axis=1, keepdims=True)
    left, singular, _ = np.linalg.svd(contrasts, full_matrices=False)
    kept = singular > 1e-9 * max(singular[0], 1e-300)
    columns: Floats = left[:, kept][:, : max(n // ITEMS_OF_A_STRATUM, 0)] * math.sqrt(len(scores))
    return columns


def draw_balanced(columns: Floats, n: int, rng: np.random.Generator) -> Codes:
    """The places of n items, each as likely as any other, whose means of `columns` (N, p) are nearly those of the
    pool: the cube method, by its fast flight; in the landing the last columns are given up first.

    Source: Deville and Tille (2004), Efficient balanced sampling: the cube method; Chauvet and Tille (2006).
    """
    size = len(columns)
    probability = np.full(size, n / size)
    if n >= size:
        return rng.permutation(size)
    balanced = np.column_stack([np.ones(size), columns])  # over equal probabilities: the first fixes n
    waiting = list(rng.permutation(size))
    for kept in range(balanced.shape[1], 0, -1):
        active: list[int] = []
        while True:
            while waiting and len(active) <= kept:
                active.append(waiting.pop())
            if len(active) <= kept:
                break
            step = np.linalg.svd(balanced[active, :kept].T)[2][-1]
            now = probability[active]
            with np.errstate(divide="ignore"):
                up = np.where(step > 0, (1 - now) / step, np.where(step < 0, -now / step, np.inf)).min()
                down = np.where(step > 0, now / step, np.where(step < 0, (now - 1) / step, np.inf)).min()
            move = up if rng.random() * (up + down) < down else -down
            now = now + move * step
            now = np.where(now < _WHOLE, 0.0, np.where(now > 1 - _WHOLE, 1.0, now))
            probability[active] = now
            active = [one for one, p in zip(active, now, strict=True) if 0 < p < 1]
        waiting = active
    return rng.permutation(np.flatnonzero(probability > 0.5))


# What scores of all items can win, by formula.


def explained_by_strata(predicted: Floats, stratum: Codes) -> float:
    """The share of a predicted difference's variance that lies between the strata, items without one aside."""
    known = np.isfinite(predicted)
    values, codes = predicted[known], stratum[known]
    total = float(values.var()) if len(values) else 0.0
    if not total > 0:
        return 0.0
    count = np.bincount(codes)
    mean = np.bincount(codes, values) / np.maximum(count, 1)
    within = float(((values - mean[codes]) ** 2).mean())
    return max(0.0, 1.0 - within / total)


def precision(
    workers: int,
    n: float,
    *,
    ratings_per_item: float,
    sd_worker: float,
    sd_item: float,
    sd_residual: float,
    pool: float = math.inf,
    explained: float = 0.0,
    n_strata: int = 1,
    population: bool = False,
) -> tuple[float, float]:
    """Variance and df of the difference over n items of a pool, of whose variance a share is `explained` by strata.

    sd_worker and sd_item are those of the true difference of a worker and of an item. The item part is
    Ti^2 (1 - r^2) (1/n - 1/N), and for items like these Ti^2/N more; the df are Satterthwaite's of its parts.
    """
    noise = 2 * sd_residual**2 / (n * ratings_per_item)
    by_workers = sd_worker**2 / workers + noise
    by_items = sd_item**2 * (1 - explained) * (1 / n - 1 / pool)
    beyond = sd_item**2 / pool if population else 0.0
    variance = by_workers + by_items + beyond
    spread = by_workers**2 / (workers - 1) + (by_items + noise) ** 2 / (n - n_strata)
    spread += noise**2 / ((workers - 1) * (n - 1))
    return variance, variance**2 / spread


def items_of_equal_power(
    n: int,
    workers: int,
    *,
    explained: float,
    n_strata: int,
    ratings_per_item: float,
    sd_worker: float,
    sd_item: float,
    sd_residual: float,
    pool: float,
    power: float = 0.8,
    alpha: float = 0.05,
) -> float:
    """How many items in strata do what n drawn at random do: the same power for the difference that these find with
    `power`. More than n where the strata cost more df than they explain."""
    from scipy import optimize

    def reached(size: float, effect: float, share: float, groups: int) -> float:
        variance, df = precision(
            workers,
            size,
            ratings_per_item=ratings_per_item,
            sd_worker=sd_worker,
            sd_item=sd_item,
            sd_residual=sd_residual,
            pool=pool,
            explained=share,
            n_strata=groups,
        )
        critical = float(-special.stdtrit(df, alpha / 2))
        ratio = effect / math.sqrt(variance)
        return noncentral_t_tail(critical, df, ratio) + noncentral_t_tail(critical, df, -ratio)

    most = 20 * math.sqrt((sd_worker**2 + sd_item**2 + 2 * sd_residual**2) / min(workers, n))
    effect = optimize.brentq(lambda d: reached(n, d, 0.0, 1) - power, 0.0, most)
    low, high = n_strata + 1.0, min(2.0 * n + 10, pool)
    if reached(low, effect, explained, n_strata) >= power:
        return low
    if reached(high, effect, explained, n_strata) < power:
        return high
    return float(
        optimize.brentq(
            lambda size: reached(size, effect, explained, n_strata) - power, low, high, xtol=1e-6
        )
    )


def uneven_strata(stratum: Codes, chosen: NDArray[np.bool_]) -> Codes:
    """Strata with more or fewer chosen items than in proportion to their size, by one or more; those chosen as a
    whole aside, and those with no more than the least.

    stratum, chosen : (N,) of each item of the pool.
    """
    size, n = np.bincount(stratum), np.bincount(stratum[chosen], minlength=int(stratum.max()) + 1)
    rest = (n < size) & (n > LEAST_OF_A_STRATUM)
    due = size * (n[rest].sum() / max(size[rest].sum(), 1))
    return np.flatnonzero(rest & (np.abs(n - due) >= 1))


def spread_over_workers(worker: Codes, item: Codes, stratum: Codes) -> Codes:
    """Which chosen item, by its stratum (n,), takes each of the n places of a design, so that every worker meets
    the strata in their proportion; worker and item (cells,) say who rates which place.

    Place by place the stratum that its workers have met least, for its share, of those that have items left.
    """
    share = np.bincount(stratum) / len(stratum)
    waiting = [list(np.flatnonzero(stratum == number)) for number in range(len(share))]
    met = np.zeros((int(worker.max()) + 1, len(share)))
    taken = np.empty(len(stratum), dtype=np.int64)
    by_place = np.argsort(item, kind="stable")
    cells = np.split(by_place, np.searchsorted(item[by_place], np.arange(1, len(stratum))))
    for place, own in enumerate(cells):
        workers = np.unique(worker[own])
        behind = met[workers].sum(axis=0) / np.maximum(share, 1e-300)
        left = np.array([len(one) for one in waiting])
        behind[left == 0] = np.inf
        number = int(np.lexsort((-left / np.maximum(share, 1e-300), behind))[0])
        taken[place] = waiting[number].pop(0)
        met[workers, number] += 1
    return taken
