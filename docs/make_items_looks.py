"""Chosen items with looks: the tables of which docs/choosing-items.md speaks: python docs/make_items_looks.py

Complete tables of items that a metric chose are analysed over their pool at each look by the closed form of the
mixed model, at levels that are sealed for studies of this size without a pool. Studies of one draw of items have
item effects, workers and ratings of their own. Of every row one study is analysed by `estimate_pool` too, as
`humeval-power monitor --pool` does, and must give the same. `--quick` uses few studies.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from make_drop_errors import planned as planned_dropping
from make_stop_errors import RULE, SEED, SETTINGS, study_of
from make_stop_errors import STUDIES as CALIBRATING
from numpy.typing import NDArray
from scipy import optimize

from humeval_power.designs import crossed
from humeval_power.inference.chosen_items import (
    ITEMS_FOR_BOTH,
    ITEMS_FOR_METRIC,
    estimate_pool,
    explained_by_draw,
    item_sd_factor,
    over_the_pool,
)
from humeval_power.inference.item_sampling import (
    balancing_columns,
    draw_balanced,
    draw_from_strata,
    strata_of,
)
from humeval_power.item_pool import ItemPool
from humeval_power.kernels.crossed import balanced
from humeval_power.parameters import Parameters
from humeval_power.rules import DEFAULT_RULE
from humeval_power.studies.fit.wald import wald_p
from humeval_power.studies.looks.dropping import follow, tied_configurations, true_claims
from humeval_power.studies.looks.rating_looks import plan_looks
from humeval_power.studies.looks.repeated import half_widths
from humeval_power.studies.looks.systems_looks import SystemsLookReplicates
from humeval_power.studies.power.formula import effect_precision, power_at

ITEMS = 40
TWO, SEVERAL, POWER = 8_000, 4_000, 2_000  # studies of a row
TOGETHER = {2: 100, 3: 80, 8: 80}  # studies of one draw of items, by systems
OF_TWO = product(
    ("high", "high, SDs of differences halved", "low"),
    ((5, 10, 15, 20), (6, 9, 12), (8, 12, 16, 20)),
    ((60, 0.7), (200, 0.0), (200, 0.7), (1000, 0.7)),  # items of the pool, and correlation of the metric
)
OF_SEVERAL = (
    *product(
        ("high, SDs of differences halved",),
        ((6, 9, 12), (8, 12, 16)),
        (8, 3),
        ((60, 0.7), (500, 0.7), (500, 0.0)),
    ),
    *product(("low",), ((6, 9, 12), (8, 12, 16)), (8,), ((500, 0.7),)),
)
ABOUT = ("pool", "population")

Floats = NDArray[np.float64]
Pairs = tuple[tuple[int, int], ...]


def draw_pool(rng: np.random.Generator, size: int, systems: int) -> ItemPool:
    """A pool with a metric's scores, from which items were drawn as `more items` draws them."""
    scores, names = rng.normal(size=(size, systems)), tuple("ABCDEFGH"[:systems])
    stratum = np.zeros(size, dtype=np.int64)
    if systems == 2:
        stratum = strata_of(scores[:, 1] - scores[:, 0], ITEMS, rng)
        chosen = draw_from_strata(stratum, ITEMS, rng)[0]
    else:
        chosen = draw_balanced(balancing_columns(scores, ITEMS), ITEMS, rng)
    order = np.concatenate([chosen, np.setdiff1d(np.arange(size), chosen)])
    probability, first = np.full(size, ITEMS / size), np.arange(size) < ITEMS
    return ItemPool(tuple(map(str, range(size))), names, scores[order], stratum[order], probability, first)


def draw_studies(
    rng: np.random.Generator,
    pool: ItemPool,
    n: int,
    workers: int,
    sds: tuple[float, float, float],
    rho: float,
    about: str,
) -> Floats:
    """Ratings (n, workers, items, systems) of equal systems: equal over the pool, or over all items like these."""
    worker, item, sd = sds
    size, systems = pool.scores.shape
    truth = rho * pool.scores + math.sqrt(1 - rho**2) * rng.normal(size=(n, size, systems))
    truth = item / math.sqrt(2) * truth
    if about == "pool":
        truth = truth - truth.mean(axis=1, keepdims=True)
    ratings = truth[:, None, :ITEMS, :] + rng.normal(0, worker / math.sqrt(2), (n, workers, 1, systems))
    ratings += rng.normal(0, sd, ratings.shape)
    ratings += rng.normal(0, 0.1, (n, workers, 1, 1)) + rng.normal(0, 0.1, (n, 1, ITEMS, 1))
    return ratings


def over_pool(ratings: Floats, pool: ItemPool, looks: tuple[int, ...], pairs: Pairs) -> Floats:
    """Estimate, then variance and df for the pool and for items like these, (5, n, looks, pairs), of the first
    workers of each look.

    Items' means are regressed on strata and metric, centred at the pool: `h` is the variance of the intercept. What
    is left of items has n - q df; the strata of workers and of the residual are those of a table without a pool.
    """
    n, _, items, _ = ratings.shape
    result = np.empty((5, n, len(looks), len(pairs)))
    for at, m in enumerate(looks):
        table = ratings[:, :m]
        of_items, of_workers = table.mean(axis=1), table.mean(axis=2)
        left = table - of_items[:, None] - of_workers[:, :, None] + of_items.mean(axis=1)[:, None, None]
        residual = (left**2).sum(axis=(1, 2))
        for place, (a, b) in enumerate(pairs):
            x, in_pool, rated = _columns(pool, a, b)
            q, inverse = x.shape[1], np.linalg.inv(x.T @ x)
            h, basis = inverse[0, 0], np.linalg.qr(x)[0]
            df = np.array([m - 1.0, m - 1.0, items - q, items - q, 2.0 * (m - 1) * (items - 1)])
            squares = []
            for values, weight in ((of_workers, items), (of_items, m)):
                for factor, mixed in (
                    (2.0, (values[..., a] + values[..., b]) / 2),
                    (0.5, values[..., b] - values[..., a]),
                ):
                    rest = mixed - mixed.mean(axis=1, keepdims=True)
                    if values is of_items:
                        rest = mixed - (mixed @ basis) @ basis.T
                    squares.append(factor * weight * (rest**2).sum(axis=1))
            squares.append(residual[:, a] + residual[:, b])
            expected = balanced.pool(np.stack(squares) / df[:, None], df).expected
            slopes = (of_items[..., b] - of_items[..., a]) @ x @ inverse
            result[0, :, at, place] = slopes[:, 0]
            for row, share in ((1, rated), (3, 0.0)):
                of_item = 2 * (h - share) / m
                weights = (2 / (m * items), of_item, 2 * share / m - 2 / (m * items))
                parts = np.stack([w * expected[k] for w, k in zip(weights, (1, 3, 4), strict=True)])
                variance = parts.sum(axis=0)
                freedom = variance**2 / (parts**2 / df[[1, 3, 4], None]).sum(axis=0)
                if row == 3 and q > 1:
                    between = (in_pool @ slopes[:, 1:].T).var(axis=0) / len(in_pool)
                    freedom = freedom * ((variance + between) / variance) ** 2
                    variance = variance + between
                result[row, :, at, place], result[row + 1, :, at, place] = variance, freedom
    return result


def _columns(pool: ItemPool, a: int, b: int) -> tuple[Floats, Floats, float]:
    """Strata and metric of the chosen items, and of all without the intercept, centred at the pool; sum W^2 / N."""
    frame = pool.frame(pool.chosen_items, pool.systems[a], pool.systems[b])
    n, H = len(frame.stratum), len(frame.weight)
    chosen = [np.ones(n), *((frame.stratum == k) - frame.weight[k] for k in range(1, H))]
    everything = [(frame.stratum_in_pool == k) - frame.weight[k] for k in range(1, H)]
    if n >= (ITEMS_FOR_BOTH if H > 1 else ITEMS_FOR_METRIC):
        chosen.append(frame.predicted)
        everything.append(frame.predicted_in_pool)
    in_pool = np.column_stack([np.empty((len(frame.stratum_in_pool), 0)), *everything])
    return np.column_stack(chosen), in_pool, float((frame.weight**2 / frame.size).sum())


def check(ratings: Floats, pool: ItemPool, looks: tuple[int, ...], values: Floats) -> None:
    """See that the product says the same of the first study and pair at the last look."""
    m = looks[-1]
    worker, item, system = (x.ravel() for x in np.meshgrid(range(m), range(ITEMS), (0, 1), indexing="ij"))
    rating = ratings[0][worker, item, system]
    one = estimate_pool(pool, pool.systems[:2], worker, item, system, rating, pool.chosen_items)
    known = (
        one.estimate,
        one.pool_variance,
        one.pool_df,
        one.population_variance,
        one.population_df,
    )
    np.testing.assert_allclose(values[:, 0, -1, 0], known, rtol=1e-4)


def chunks(
    rng: np.random.Generator,
    n: int,
    systems: int,
    looks: tuple[int, ...],
    setting: str,
    size: int,
    rho: float,
    about: str,
) -> Iterator[Floats]:
    """What `over_pool` says of n studies, a draw of items after the other."""
    pairs = tuple((a, b) for a in range(systems) for b in range(a + 1, systems))
    for number in range(-(-n // TOGETHER[systems])):
        pool = draw_pool(rng, size, systems)
        ratings = draw_studies(rng, pool, TOGETHER[systems], looks[-1], SETTINGS[setting], rho, about)
        values = over_pool(ratings, pool, looks, pairs)
        if number == 0:
            check(ratings, pool, looks, values)
        yield values


def two(n: int) -> str:
    """Two systems that intervals stop: how often some interval excludes no difference."""
    rows = []
    for setting, workers, (size, rho) in OF_TWO:
        study = study_of(setting, workers, ITEMS)
        plan = plan_looks(study, RULE, calibration="always", n_simulations=CALIBRATING, seed=SEED)
        cells = [setting, ", ".join(map(str, workers)), f"{size:,}", f"{rho:g}"]
        for about in ABOUT:
            rng = np.random.default_rng([7, size, int(rho * 10), about == "pool"])
            place = 1 if about == "pool" else 3
            outside = [
                np.abs(values[0, :, :, 0])
                >= half_widths(
                    np.sqrt(values[place, :, :, 0]), values[place + 1, :, :, 0], plan.bounds.nominal
                )
                for values in chunks(rng, n, 2, workers, setting, size, rho, about)
            ]
            cells.append(f"{np.concatenate(outside).any(axis=1).mean():.3f}")
        rows.append(cells)
    header = ["setting", "workers at the looks", "pool", "correlation", "false positives: the pool"]
    return _table([*header, "items like these"], rows)


def several(n: int) -> str:
    """Systems that looks drop: the worst false claim and drop of a best one, and intervals that all cover."""
    rows = []
    for setting, workers, systems, (size, rho) in OF_SEVERAL:
        plan = planned_dropping(setting, workers, systems, SEVERAL, ITEMS)
        study, error = plan.study, plan.rows[-1].precision.standard_error
        source = study.with_means((0.5,) * systems)
        cells = [setting, ", ".join(map(str, workers)), str(systems), f"{size:,}", f"{rho:g}"]
        for about in ABOUT:
            rng = np.random.default_rng([8, size, int(rho * 10), systems, about == "pool"])
            place, parts = (1 if about == "pool" else 3), []
            for values in chunks(rng, n, systems, workers, setting, size, rho, about):
                se, df = np.sqrt(values[place]), values[place + 1]
                p = wald_p(values[0], se, df, "two-sided")
                means, usable = (
                    np.zeros((*values.shape[1:3], systems)),
                    np.ones(values.shape[1], dtype=bool),
                )
                parts.append(SystemsLookReplicates(means, values[0], se, df, p, usable))
            looks = SystemsLookReplicates.joined(parts)
            half = half_widths(looks.standard_error, looks.df, plan.bounds.interval)
            claims, drops = [], []
            for means in tied_configurations(study, error).values():
                ended = follow(source.at_means(looks, np.array(means) - 0.5), plan.bounds, study.pairs)
                claims.append(true_claims(ended.best, means)[1].mean())
                drops.append((~ended.left)[:, np.array(means) == max(means)].mean(axis=0).max())
            covers = (np.abs(looks.estimate) <= half).all(axis=(1, 2)).mean()
            cells += [f"{max(claims):.3f}", f"{max(drops):.3f}", f"{covers:.3f}"]
        rows.append(cells)
    header = ["setting", "workers at the looks", "systems", "pool", "correlation"]
    for about in ("the pool", "items like these"):
        header += [f"{about}: false claim", "drop of a best one", "intervals cover"]
    return _table(header, rows)


def power(n: int) -> str:
    """The power that `plan --pool` gives by formula, at the difference for which that is 0.8, and simulated."""
    rows = []
    for setting, workers, size, rho in product(("high", "low"), (6, 12), (60, 200, 1000), (0.0, 0.5, 0.7)):
        worker, item, sd = SETTINGS[setting]
        cells = [setting, str(workers), f"{size:,}", f"{rho:g}"]
        for about in ABOUT:
            rng = np.random.default_rng([9, size, int(rho * 10), workers, about == "pool"])
            pool = draw_pool(rng, size, 2)
            factor = item_sd_factor(
                pool, explained=explained_by_draw(pool), correlation=rho, estimand=about
            )
            plain = Parameters(
                baseline=0.5,
                effect=0.0,
                sd_worker_intercept=0.1,
                sd_worker_slope=worker,
                sd_item_intercept=0.1,
                sd_item_slope=item,
                sd_residual=sd,
            )
            precision = effect_precision(over_the_pool(plain, factor, 1.0), crossed(workers, ITEMS))
            effect = optimize.brentq(
                lambda d, at=precision: power_at(d, at, rule=DEFAULT_RULE).power - 0.8, 1e-4, 2.0
            )
            place = 1 if about == "pool" else 3
            found = [
                wald_p(values[0] + effect, np.sqrt(values[place]), values[place + 1], "two-sided") <= 0.05
                for values in chunks(rng, n, 2, (workers,), setting, size, rho, about)
            ]
            cells += [f"{factor:.2f}", f"{np.concatenate(found).mean():.3f}"]
        rows.append(cells)
    header = ["setting", "workers", "pool", "correlation", "the pool: SD of items x", "simulated power"]
    return _table([*header, "items like these: SD of items x", "simulated power"], rows)


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


TABLES: dict[str, tuple[Callable[[int], str], int]] = {
    "two": (two, TWO),
    "several": (several, SEVERAL),
    "power": (power, POWER),
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("tables", nargs="*", help="Those to make. [all]")
    typed = parser.parse_args()
    for name, (make, n) in TABLES.items():
        if not typed.tables or name in typed.tables:
            print(name, make(200 if typed.quick else n), sep="\n\n", end="\n\n")


if __name__ == "__main__":
    main()
