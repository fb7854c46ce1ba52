"""How often tests of leaderboards err: the tables of docs/rank.md, by simulation.

    python docs/make_board_errors.py scores|fixed|newcomers [STUDIES]
    python docs/make_board_errors.py scores 2000 500 100    # of K = 100, drawn laws in 500 studies

scores: some difference shown where all systems are as good, and the best missing among those that may be first; K
systems, G clusters. "z" and "z of t" are a single step by the normal law of the largest difference, as others do.
fixed: the same with tasks as strata. newcomers: the lower bound of a newcomer with few losses, where voters have
tastes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import special, stats

from humeval_power.clusters import Clusters
from humeval_power.comparisons.rank.battles import Battles
from humeval_power.comparisons.rank.bradley_terry import fit_battles, newcomers
from humeval_power.comparisons.rank.leaderboard import rank_scores, stratified_covariance
from humeval_power.comparisons.scores.score_table import ScoreTable
from humeval_power.inference.clustered import bell_mccaffrey_df, clustered_covariance

Floats, Singles = NDArray[np.float64], NDArray[np.float32]
SHAPES = ("normal", "skewed", "unequal SDs", "unequal sizes", "common factor")
ALPHA, SEED, N_DRAWS = 0.05, 38, 1_000


def deviations(rng: np.random.Generator, K: int, G: int, shape: str) -> tuple[Floats, NDArray[np.int64]]:
    """Scores of items, all systems as good, and the clusters of the items."""
    sizes = np.ones(G, dtype=int)
    if shape == "unequal sizes":
        sizes = np.maximum(np.round(4 * np.exp(rng.normal(0, 1, G))), 1).astype(int)
    own = rng.normal(size=(G, K))
    if shape == "skewed":
        own[:, ::2] = rng.exponential(size=own[:, ::2].shape) - 1
    if shape == "unequal SDs":
        own *= np.linspace(0.15, 1.2, K)
    if shape == "common factor":
        own = 0.4 * own + rng.normal(size=(G, 1)) * rng.choice([0.0, 1.0], K)
    codes = np.repeat(np.arange(G), sizes)
    return own[codes] + (rng.normal(0, 0.5, (len(codes), K)) if len(codes) > G else 0.0), codes


@njit(fastmath=True, cache=True)
def _largest(drawn: Singles, scale: Singles, found: Singles) -> None:
    for start in range(0, len(found), 256):
        kept = found[start : start + 256]
        for i in range(len(drawn)):
            one = drawn[i, start : start + 256]
            for j in range(i):
                other, by = drawn[j, start : start + 256], scale[i, j]
                for b in range(len(kept)):
                    value = abs(one[b] - other[b]) * by
                    kept[b] = value if value > kept[b] else kept[b]


def largest_of_pairs(drawn: Floats, scale: Floats) -> Floats:
    """The largest |difference| of two systems over its standard deviation, in each draw (B, K)."""
    found = np.zeros(len(drawn), dtype=np.float32)
    _largest(np.ascontiguousarray(drawn.T, dtype=np.float32), scale.astype(np.float32), found)
    return found.astype(np.float64)


def over(size: Floats) -> Floats:
    """1 / sqrt, 0 on the diagonal."""
    np.fill_diagonal(size, np.inf)
    return np.asarray(1 / np.sqrt(size))


def drawn_laws(
    rng: np.random.Generator, values: Floats, clusters: Clusters, scale: Floats, df: float, largest: float
) -> list[bool]:
    """Whether the normal law, as z and by z of t, and random signs find a difference."""
    n, G = len(values), clusters.n_clusters
    sums, share = clusters.sums(values), clusters.sizes[:, None] / n
    # draws with the covariance Z'Z: normal weights of the clusters' influence
    influence = (sums / n - share * values.mean(axis=0)) / np.sqrt(1 - share)
    drawn = largest_of_pairs(rng.standard_normal((N_DRAWS, G)) @ influence, scale)
    critical = np.quantile(drawn, 1 - ALPHA, method="higher")
    squares = sums.T @ sums
    size = over(np.diag(squares)[:, None] + np.diag(squares) - 2 * squares)
    total = sums.sum(axis=0)
    seen = float(((total[:, None] - total) * size).max())
    flipped = largest_of_pairs(rng.choice(np.array([-1.0, 1.0]), (N_DRAWS, G)) @ sums, size)
    by_signs = (1 + np.count_nonzero(flipped >= seen - 1e-5)) / (1 + N_DRAWS) <= ALPHA
    return [largest > critical, -special.ndtri(special.stdtr(df, -largest)) > critical, by_signs]


def cells() -> Iterator[tuple[int, int, str]]:
    for K, numbers in ((20, (10, 41, 100, 300)), (100, (10, 41, 100, 300)), (200, (41, 300))):
        for G in numbers:
            for shape in SHAPES:
                yield K, G, shape


def scores(n_studies: int, n_drawn: int | None = None, n_systems: int | None = None) -> None:
    """The table of laws, drawn ones in the first `n_drawn` studies; the first board of each row is made by
    `rank_scores`, too."""
    print(
        "| K, G, shape | studies | z | z of t | signs | Holm, t | its 95 % interval | best missing |\n"
        "|---|---|---|---|---|---|---|---|"
    )
    n_drawn = n_drawn or n_studies
    for K, G, shape in cells():
        if n_systems not in (None, K):
            continue
        rng = np.random.default_rng([SEED, K, G, SHAPES.index(shape)])
        wrong = np.zeros(5)
        for study in range(n_studies):
            values, codes = deviations(rng, K, G, shape)
            clusters = Clusters(codes, tuple(map(str, range(G))))
            covariance = clustered_covariance(values, clusters)
            df = bell_mccaffrey_df(clusters.sizes.astype(float))
            own, mean = np.diag(covariance), values.mean(axis=0)
            scale = over(own[:, None] + own - 2 * covariance)
            t = (mean[:, None] - mean) * scale
            largest = float(t.max())
            by_holm = special.stdtr(df, -largest) * K * (K - 1) <= ALPHA
            missing = special.stdtr(df, -t[:, 0].max()) * (K - 1) <= ALPHA
            wrong[3:] += [by_holm, missing]
            if study < n_drawn:
                wrong[:3] += drawn_laws(rng, values, clusters, scale, df, largest)
            if study == 0:
                board = rank_scores(ScoreTable(values, tuple(map(str, range(K))), clusters=clusters)).board
                first = next(place for place in board.places if place.system == "0")
                assert by_holm == (board.n_apart > 0)
                assert missing != first.may_be_first
        interval = stats.binomtest(int(wrong[3]), n_studies).proportion_ci()
        rates = [f"{x:.3f}" for x in wrong / np.array([n_drawn] * 3 + [n_studies] * 2)]
        rates.insert(4, f"{interval.low:.3f} to {interval.high:.3f}")
        print(f"| {K}, {G}, {shape} | {n_drawn:,}, {n_studies:,} | {' | '.join(rates)} |", flush=True)


def fixed(n_studies: int) -> None:
    """Tasks as strata, with items of very different numbers and spreads."""
    print("| K, tasks, items a task, shape | studies | Holm, t | best missing |\n|---|---|---|---|")
    for K, G, low, high, shape in (
        (20, 41, 5, 5, "normal"),
        (20, 41, 2, 20, "normal"),
        (20, 41, 2, 20, "skewed"),
        (20, 5, 10, 100, "skewed"),
        (20, 8, 2, 6, "normal"),
        (100, 41, 2, 20, "normal"),
        (100, 41, 2, 20, "skewed"),
        (100, 41, 20, 50, "skewed"),
    ):
        rng = np.random.default_rng([SEED, K, G, low, high])
        wrong = np.zeros(2)
        for study in range(n_studies):
            sizes = rng.integers(low, high + 1, G)
            codes = np.repeat(np.arange(G), sizes)
            own = rng.normal(size=(len(codes), K))
            if shape == "skewed":
                own[:, ::2] = rng.exponential(size=own[:, ::2].shape) - 1
            spread = np.exp(rng.normal(0, 0.5, G))[codes, None]
            ability = rng.normal(0, 1, (G, K))
            ability -= (sizes @ ability) / sizes.sum()  # as good over these tasks, and different in each
            values = spread * own + ability[codes]
            clusters = Clusters(codes, tuple(map(str, range(G))))
            covariance, df, _ = stratified_covariance(values, clusters)
            mean, variances = values.mean(axis=0), np.diag(covariance)
            t = (mean[:, None] - mean) * over(variances[:, None] + variances - 2 * covariance)
            p = special.stdtr(df, -t)
            np.fill_diagonal(p, 1.0)
            by_holm = p.min() * K * (K - 1) <= ALPHA
            missing = p[:, 0].min() * (K - 1) <= ALPHA
            wrong += [by_holm, missing]
            if study == 0:
                table = ScoreTable(values, tuple(map(str, range(K))), clusters=clusters)
                board = rank_scores(table, tasks="fixed").board
                first = next(place for place in board.places if place.system == "0")
                assert by_holm == (board.n_apart > 0)
                assert missing != first.may_be_first
        rates = " | ".join(f"{x:.3f}" for x in wrong / n_studies)
        print(f"| {K}, {G}, {low} to {high}, {shape} | {n_studies} | {rates} |", flush=True)


def newcomer_bounds(n_studies: int) -> None:
    """Error of the lower bound of a newcomer with few losses, on a board of 11 others with 100 battles each."""
    print(
        "| strength | voter SD | battles | voters | studies with a bound | error |\n|---|---|---|---|---|---|"
    )
    for strength, taste, n, voters in (
        (0.5, 0.0, 10, 10),
        (2.0, 0.0, 10, 10),
        (0.5, 1.0, 20, 2),
        (0.5, 1.0, 20, 5),
        (2.0, 1.0, 20, 5),
    ):
        rng = np.random.default_rng([SEED, n, voters, int(10 * strength), int(10 * taste)])
        known = wrong = 0
        for _ in range(n_studies):
            others = np.linspace(-0.8, 0.8, 11)
            theta = np.r_[others, strength]
            first = np.r_[rng.integers(0, 11, 550), np.full(n, 11)]
            second = np.r_[(first[:550] + rng.integers(1, 11, 550)) % 11, rng.integers(0, 11, n)]
            user = np.r_[rng.integers(0, 150, 550), 150 + np.arange(n) % voters]
            swap = rng.random(len(first)) < 0.5
            first, second = np.where(swap, second, first), np.where(swap, first, second)
            own = rng.normal(0, taste, (150 + voters, 12))
            eta = theta[first] - theta[second] + own[user, first] - own[user, second]
            outcome = np.where(rng.random(len(eta)) < special.expit(eta), 1, -1)
            names, codes = np.unique(user, return_inverse=True)
            clusters = Clusters(codes, tuple(map(str, names)))
            met = Battles(
                tuple(map(str, range(12))),
                first,
                second,
                outcome,
                clusters if taste or voters < n else None,
            )
            fit = fit_battles(met, with_order=False)
            one = newcomers(met, fit).get(11)
            if one is None:
                continue
            # the truth is about the mean of the others, as averaged over tastes where there are any
            shrunk = 1 / np.sqrt(1 + 2 * taste**2 * 0.3457) if taste else 1.0
            centre = float(fit.strengths[:11].mean())
            known += 1
            wrong += one.bounds(2 * ALPHA if one.missed else ALPHA)[0] - centre > shrunk * strength
        rate = f"{wrong / known:.3f}" if known else "-"
        print(f"| {strength} | {taste} | {n} | {voters} | {known} | {rate} |", flush=True)


if __name__ == "__main__":
    numbers = [int(each) for each in sys.argv[2:]] or [300]
    {"scores": scores, "fixed": fixed, "newcomers": newcomer_bounds}[sys.argv[1]](*numbers)
