"""Walk whole studies: the table of which docs/dropping-systems.md speaks: python docs/make_whole_studies.py

Each study is what its commands do: `more items` draws items from a pool of its own, `assign` gives out a stage,
`simulate` rates it, `monitor` looks over the pool and drops systems, until it ends, and `analyze` decides. The same
is simulated by the closed form of complete tables beside it, without the five points of the scale. About half an
hour of a core that does nothing else; `--quick` follows few.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from make_items_looks import draw_pool, over_pool
from numpy.typing import NDArray
from scipy import stats

import humeval_power as hp
from humeval_power.checking.exports.assigned import assigned_of
from humeval_power.checking.outputs import ScoredOutputs
from humeval_power.inference.item_sampling import spread_over_workers
from humeval_power.item_pool import ItemPool
from humeval_power.ratings import ratings_from_table
from humeval_power.studies.analyze.family import LooksTaken
from humeval_power.studies.fit.wald import wald_p
from humeval_power.studies.looks.dropping import drop_boundaries, follow, true_claims
from humeval_power.studies.looks.systems_looks import (
    SystemsLookReplicates,
    SystemsLooks,
    pair_rows_at_looks,
)
from humeval_power.studies.monitor.dropping import DroppingMonitoring
from humeval_power.studies.plan.calls import assign_work
from humeval_power.studies.plan.plan import Plan

STUDIES, BY_FORMULA, TOGETHER = 1_000, 10_000, 80
SYSTEMS, ITEMS, POOL = 4, 40, 200
LEAD = 0.7  # points, on a scale from 1 to 5
WORLDS = {"one leads": 1, "all tie": SYSTEMS}  # how many systems are the best

Floats = NDArray[np.float64]


class Ended(NamedTuple):
    """How studies ended, (n,): the place of the system that was named, -1 for none; the share of all ratings that
    were collected; and whether systems as good as the best were dropped, (n, number of these)."""

    best: NDArray[np.int64]
    rated: Floats
    dropped: NDArray[np.bool_]


def planned() -> Plan:
    """The plan that all studies follow."""
    study = hp.Study(
        systems=tuple(f"s{k}" for k in range(1, SYSTEMS + 1)),
        scale="1:5",
        preset="low",
        pattern="one",
        effect_raw=LEAD,
        items_range=(ITEMS,),
        workers_range=(12,),
        ratings_per_item_range=(12,),
        cost_per_rating=0.1,
        looks="0.5,0.75,1",
        drop_systems=True,
        estimand="population",
    )
    plan = hp.plan(study).plan
    assert isinstance(plan, Plan)
    return plan


def means_of(plan: Plan, world: str) -> tuple[float, ...]:
    """True means on [0, 1]: the last systems lead, or all are equal."""
    lead = LEAD / 4
    n_best = WORLDS[world]
    low = 0.5 - (0.0 if n_best == SYSTEMS else lead / 2)
    assert plan.many is not None
    return (low,) * (SYSTEMS - n_best) + (low + (0.0 if n_best == SYSTEMS else lead),) * n_best


def chosen_items(plan: Plan, rng: np.random.Generator, seed: int) -> ItemPool:
    """Items drawn from a pool with scores, as `more items` draws them."""
    names = tuple(f"d{number:03d}" for number in range(POOL))
    outputs = ScoredOutputs(names, plan.systems, rng.normal(size=(POOL, SYSTEMS)), None, "pool", "metric")
    return hp.items.choose(outputs, ITEMS, seed=seed).pool


def walk(plan: Plan, means: tuple[float, ...], seed: int) -> DroppingMonitoring:
    """A study from the draw of its items to its result."""
    rng = np.random.default_rng([seed, POOL])
    pool = chosen_items(plan, rng, seed)
    rows = plan.design().assignment
    places = spread_over_workers(rows.worker, rows.item, pool.stratum[pool.chosen])
    names = [pool.chosen_items[place] for place in places]
    state, stages, ratings = None, [], None
    while state is None or not state.ended:
        given = assign_work(plan, item_names=names, after=state)
        stages.append((given.to_frame(), f"stage{len(stages) + 1}"))
        table = hp.plans.rehearse(plan, assigned_of(stages), means=means, seed=seed).to_frame()
        ratings = ratings_from_table(table, scale=plan.scale, require_pair=False)
        looked = hp.monitor(ratings, plan, before=state, pool=pool).state
        assert isinstance(looked, DroppingMonitoring)
        state = looked
    result = hp.analyze(ratings, plan=plan, looks=LooksTaken(state=state), pool=pool, diagnostics=False)
    said = f"{state.best} is shown to be the best" if state.best is not None else "the best is one of them"
    assert said in result.decision, result.decision
    return state


def walked(plan: Plan, means: tuple[float, ...], n: int) -> Ended:
    """How n studies end that are walked."""
    best, rated, dropped = [], [], []
    sizes = np.bincount(plan.look_of_ratings())[1:]
    for seed in range(1, n + 1):
        state = walk(plan, means, seed)
        best.append(-1 if state.best is None else plan.systems.index(state.best))
        left = [len(state.left_before(at)) for at in range(len(state.looks))]
        rated.append((sizes[: len(left)] * np.array(left) / SYSTEMS).sum() / sizes.sum())
        dropped.append(
            [
                name not in state.left
                for name, mean in zip(plan.systems, means, strict=True)
                if mean == max(means)
            ]
        )
    return Ended(np.array(best), np.array(rated), np.array(dropped))


def by_formula(plan: Plan, means: tuple[float, ...], n: int) -> Ended:
    """The same by the sums of squares of complete tables, whose systems are followed at the levels of the plan."""
    assert plan.many is not None
    assert plan.looks is not None
    source = SystemsLooks(
        plan.many.parameters, plan.design(), plan.looks.looks, plan.many.family, plan.rule
    ).with_means(means)
    rows = [pair_rows_at_looks(source, place) for place in range(len(source.pairs))]
    shares = [[row.information_share for row in of_pair] for of_pair in rows]
    bounds = drop_boundaries(plan.looks.rule(plan.rule), shares, n_systems=SYSTEMS)
    bounds = bounds.scaled(plan.looks.factor, plan.looks.interval_factor)
    parts = []
    for one in _replicates(source, n):
        ended = follow(one, bounds, source.pairs)
        at = np.array([row.n_workers for row in rows[0]])
        until = np.where(ended.dropped_at < len(at), ended.dropped_at, ended.look[:, None])
        rated = at[np.minimum(until, ended.look[:, None])].sum(axis=1) / (at[-1] * SYSTEMS)
        parts.append(Ended(ended.best, rated, ~ended.left[:, np.array(means) == max(means)]))
    return Ended(*(np.concatenate(part)[:n] for part in zip(*parts, strict=True)))


def _replicates(source: SystemsLooks, n: int) -> Iterator[SystemsLookReplicates]:
    """Studies over pools of their own, so many together."""
    workers = tuple(one.n_workers for one in source.nested.designs)
    for number in range(-(-n // TOGETHER)):
        pool = draw_pool(np.random.default_rng([3, number]), POOL, SYSTEMS)
        values = source._replications[-1].ratings(range(TOGETHER), seed=[17, number])
        table = values.reshape(TOGETHER, workers[-1], ITEMS, SYSTEMS)
        estimate, _, _, variance, df = over_pool(table, pool, workers, source.pairs)
        error = np.sqrt(variance)
        p = wald_p(estimate, error, df, "two-sided")
        nothing = np.zeros((*p.shape[:2], SYSTEMS))
        yield SystemsLookReplicates(nothing, estimate, error, df, p, np.ones(TOGETHER, dtype=bool))


def whole(n: int, n_formula: int) -> str:
    """False claims, drops, claims and savings, with 95 % intervals of the first two (Clopper and Pearson)."""
    header = [
        "true means",
        "by",
        "studies",
        "false claims",
        "a best one dropped",
        "the best named",
        "saved",
    ]
    plan, rows = planned(), []
    for world in WORLDS:
        means = means_of(plan, world)
        ways = (
            ("the commands", walked(plan, means, n)),
            ("closed form", by_formula(plan, means, n_formula)),
        )
        for way, ended in ways:
            right, false = true_claims(ended.best, means)
            worst = ended.dropped[:, ended.dropped.sum(axis=0).argmax()]
            rows.append(
                [
                    world,
                    way,
                    f"{len(false):,}",
                    _share(false),
                    _share(worst),
                    f"{right.mean():.3f}" if WORLDS[world] == 1 else "-",
                    f"{100 * (1 - ended.rated.mean()):.0f} %",
                ]
            )
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, ["---"] * len(header), *rows))


def _share(happened: NDArray[np.bool_]) -> str:
    interval = stats.binomtest(int(happened.sum()), len(happened)).proportion_ci(method="exact")
    return f"{happened.mean():.3f} ({interval.low:.3f} to {interval.high:.3f})"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    print(whole(4, 400) if parser.parse_args().quick else whole(STUDIES, BY_FORMULA))


if __name__ == "__main__":
    main()
