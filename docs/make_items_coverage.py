"""Coverage and gain of items drawn from a pool, and what shortcuts do: the tables of docs/choosing-items.md.

    python docs/make_items_coverage.py [studies]     # 1,000 of each row: minutes on two cores

Every study has a pool, a metric, workers and ratings of its own; the truth is the mean of its pool, and for items
like these the mean of all pools. Complete tables are analysed by the closed form of the mixed model; in every row
some studies are analysed by `estimate_pool` too, as `humeval-power analyze --pool` does, and must give the same.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import numpy as np
from scipy import special

from humeval_power.inference.chosen_items import estimate_pool
from humeval_power.inference.item_sampling import (
    balancing_columns,
    draw_balanced,
    draw_from_strata,
    explained_by_strata,
    precision,
    strata_of,
)
from humeval_power.item_pool import ItemPool
from humeval_power.parameters import PRESETS

WORKERS, ITEMS, STRATA = 10, 40, 5
POOLS = (200, 1_000, 10_000)
CORRELATIONS = (0.0, 0.3, 0.5, 0.7)
AHEAD = 0.5  # how much better B is, in SDs of the items' differences, by people and by the metric alike
CHECKED = 3  # studies of each row that the product analyses too
WAYS = {
    "random": "drawn at random",
    "strata": "drawn from strata",
    "largest": "largest differences of the metric",
    "diverse": "most diverse by the metric",
    "favouring": "where the metric prefers B",
}


def chosen(way: str, scores: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The places of the items that are rated, and the stratum of every item of the pool."""
    size, f = len(scores), scores[:, 1] - scores[:, 0]
    one = np.zeros(size, dtype=np.int64)
    if way == "random":
        return rng.permutation(size)[:ITEMS], one
    if way == "strata":
        stratum = strata_of(f, ITEMS, rng)
        return draw_from_strata(stratum, ITEMS, rng)[0], stratum
    if way == "largest":
        return np.argsort(-np.abs(f))[:ITEMS], one
    if way == "favouring":
        return np.argsort(-f)[:ITEMS], one
    picked, distance = [int(np.argmax(scores.sum(axis=1)))], np.full(size, np.inf)
    while len(picked) < ITEMS:  # each as far as can be from those that there are
        distance = np.minimum(distance, ((scores - scores[picked[-1]]) ** 2).sum(axis=1))
        picked.append(int(np.argmax(distance)))
    return np.array(picked), one


def closed_form(d: np.ndarray, stratum: np.ndarray, size: int) -> tuple[float, ...]:
    """Estimate, then variance and df for the pool and for items like these, of equal strata."""
    m, n = d.shape
    of_items, h = d.mean(axis=0), int(stratum.max()) + 1
    of_strata = np.bincount(stratum, of_items) / np.bincount(stratum)
    noise = ((d - of_items - d.mean(axis=1, keepdims=True) + d.mean()) ** 2).sum() / ((m - 1) * (n - 1))
    items = max(m * ((of_items - of_strata[stratum]) ** 2).sum() / (n - h), noise)
    workers = d.mean(axis=1).var(ddof=1) / m
    values = [float(of_items.mean())]
    for share, more in ((1 / n - 1 / size, 0.0), (1 / n, of_strata.var() / size)):
        variance = workers + share * (items - noise) / m + more
        spread = workers**2 / (m - 1) + (share * items / m) ** 2 / (n - h)
        spread += (share * noise / m) ** 2 / ((m - 1) * (n - 1))
        values += [float(variance), float(variance**2 / spread)]
    return tuple(values)


def check(d: np.ndarray, drawn: np.ndarray, stratum: np.ndarray, values: tuple[float, ...]) -> None:
    """See that the product says the same of one study, where workers and items differ by more than noise: else the
    model sets a variance to 0, which the closed form does not."""
    size, (m, n) = len(stratum), d.shape
    rest = d - d.mean(axis=0) - d.mean(axis=1, keepdims=True) + d.mean()
    noise = (rest**2).sum() / ((m - 1) * (n - 1))
    if n * d.mean(axis=1).var(ddof=1) < noise or m * d.mean(axis=0).var(ddof=1) < 2 * noise:
        return
    order = np.concatenate([drawn, np.setdiff1d(np.arange(size), drawn)])
    names = tuple(map(str, range(size)))
    pool = ItemPool(
        names, ("A", "B"), np.empty((size, 0)), stratum[order], np.full(size, n / size), np.arange(size) < n
    )
    worker, item, system = (x.ravel() for x in np.meshgrid(range(m), range(n), (0, 1), indexing="ij"))
    rating = (system - 0.5) * d[worker, item]
    one = estimate_pool(pool, ("A", "B"), worker, item, system, rating, names[:n], by_differences=True)
    np.testing.assert_allclose((one.estimate, one.pool_variance, one.pool_df), values[:3], rtol=1e-3)
    np.testing.assert_allclose(one.population_variance, values[3], rtol=1e-3)


def row(task: tuple[str, int, float, int, int]) -> tuple[str, int, float, dict[str, tuple[float, ...]]]:
    """Of each way: mean error in SDs of items' differences, mean squared error, coverage of the pool and of D."""
    preset, size, rho, n_studies, place = task
    law = PRESETS[preset].recoded()
    results = {way: [] for way in WAYS}
    for number in range(n_studies):
        rng = np.random.default_rng([40, place, number])
        f, rest, level = rng.normal(size=(3, size))
        truth = law.sd_item_slope * (AHEAD + rho * f + np.sqrt(1 - rho**2) * rest)
        scores = np.column_stack([level, level + f + AHEAD])
        slope = rng.normal(0, law.sd_worker_slope, (WORKERS, 1))
        noise = rng.normal(0, np.sqrt(2) * law.sd_residual, (WORKERS, ITEMS))
        for way, kept in results.items():
            drawn, stratum = chosen(way, scores, rng)
            d = truth[drawn] + slope + noise
            values = closed_form(d, stratum[drawn], size)
            if number < CHECKED and way in ("random", "strata"):
                check(d, drawn, stratum, values)
            estimate, pool, pool_df, like, like_df = values
            error = estimate - truth.mean()
            reach = [
                -special.stdtrit(df, 0.025) * np.sqrt(v) for v, df in ((pool, pool_df), (like, like_df))
            ]
            beyond = estimate - AHEAD * law.sd_item_slope
            kept.append(
                (error / law.sd_item_slope, error**2, abs(error) <= reach[0], abs(beyond) <= reach[1])
            )
    return preset, size, rho, {way: tuple(np.mean(kept, axis=0)) for way, kept in results.items()}


def by_formula(preset: str, size: int, rho: float) -> float:
    """The variance from strata over that of a random draw, by the formula that 'items' prints its gains by."""
    law = PRESETS[preset].recoded()
    f = special.ndtri((np.arange(100_000) + 0.5) / 100_000)
    share = explained_by_strata(f, np.arange(100_000) * STRATA // 100_000)
    how = {
        "ratings_per_item": WORKERS,
        "sd_worker": law.sd_worker_slope,
        "sd_item": law.sd_item_slope,
        "sd_residual": law.sd_residual,
        "pool": size,
    }
    strata = precision(WORKERS, ITEMS, explained=rho**2 * share, n_strata=STRATA, **how)[0]
    return strata / precision(WORKERS, ITEMS, **how)[0]


def balanced(n_studies: int) -> dict[float, tuple[float, float]]:
    """Of a pair of three systems, 40 of 500 items by the cube method: coverage of the pool, in a fifth of the
    studies, and the variance of the item part over that of a random draw; by correlation."""
    law = PRESETS["low"].recoded()
    results: dict[float, list[tuple[float, float, float]]] = {rho: [] for rho in CORRELATIONS}
    names = tuple(map(str, range(500)))
    for number in range(n_studies):
        rng = np.random.default_rng([41, number])
        scores, rest = rng.normal(size=(2, 500, 3))
        drawn = draw_balanced(balancing_columns(scores, ITEMS), ITEMS, rng)
        other = rng.permutation(500)[:ITEMS]
        order = np.concatenate([drawn, np.setdiff1d(np.arange(500), drawn)])
        pool = ItemPool(
            names, tuple("ABC"), scores[order], np.zeros(500, dtype=np.int64),
            np.full(500, ITEMS / 500), np.arange(500) < ITEMS,
        )  # fmt: skip
        noise = rng.normal(0, law.sd_worker_slope, (WORKERS, 1))
        noise = noise + rng.normal(0, np.sqrt(2) * law.sd_residual, (WORKERS, ITEMS))
        worker, item, system = (
            x.ravel() for x in np.meshgrid(range(WORKERS), range(ITEMS), (0, 1), indexing="ij")
        )
        for rho, kept in results.items():
            of_systems = law.sd_item_slope / np.sqrt(2) * (rho * scores + np.sqrt(1 - rho**2) * rest)
            truth = of_systems[:, 1] - of_systems[:, 0]
            covered = np.nan
            if number < n_studies // 5:
                rating = (system - 0.5) * (truth[drawn] + noise)[worker, item]
                one = estimate_pool(
                    pool, ("A", "B"), worker, item, system, rating, names[:ITEMS], by_differences=True
                )
                reach = -special.stdtrit(one.pool_df, 0.025) * np.sqrt(one.pool_variance)
                covered = float(abs(one.estimate - truth.mean()) <= reach)
            gaps = (truth[drawn].mean() - truth.mean(), truth[other].mean() - truth.mean())
            kept.append((covered, gaps[0] ** 2, gaps[1] ** 2))
    means = {rho: np.nanmean(kept, axis=0) for rho, kept in results.items()}
    return {rho: (float(one[0]), float(one[1] / one[2])) for rho, one in means.items()}


def main() -> None:
    """Print the tables."""
    n_studies = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    cells = product(PRESETS, POOLS, CORRELATIONS)
    with ProcessPoolExecutor(2) as workers:
        three = workers.submit(balanced, n_studies)
        rows = list(workers.map(row, [(*one, n_studies, place) for place, one in enumerate(cells)]))
        print(
            "| setting | pool | correlation | variance by formula | simulated | pool | items like these |"
        )
        print("|---|---|---|---|---|---|---|")
        for preset, size, rho, ways in rows:
            ratio = ways["strata"][1] / ways["random"][1]
            print(
                f"| {preset} | {size:,} | {rho:g} | {by_formula(preset, size, rho):.2f} | {ratio:.2f} "
                f"| {ways['strata'][2]:.3f} | {ways['strata'][3]:.3f} |"
            )
        print("\n| chosen | correlation | times the difference | coverage, high | coverage, low |")
        print("|---|---|---|---|---|")
        for way, said in WAYS.items():
            for rho in CORRELATIONS:
                both = [
                    np.mean([w[way] for p, _, r, w in rows if (p, r) == (preset, rho)], axis=0)
                    for preset in ("high", "low")
                ]
                bias = (both[0][0] + both[1][0]) / 2
                print(
                    f"| {said} | {rho:g} | {1 + bias / AHEAD:.2f} | {both[0][2]:.3f} | {both[1][2]:.3f} |"
                )
        print("\n| correlation | coverage of a pair's pool | variance of the item part |\n|---|---|---|")
        for rho, (coverage, ratio) in three.result().items():
            print(f"| {rho:g} | {coverage:.3f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
