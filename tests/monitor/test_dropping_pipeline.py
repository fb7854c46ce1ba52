"""The whole way of a study whose looks drop systems, against the fast path that plans are made by."""

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import few_fast
from cli import run
from places import ROOT

from humeval_power.inference.item_sampling import balancing_columns, draw_balanced
from humeval_power.item_pool import ItemPool
from humeval_power.ratings import Ratings, ratings_from_table
from humeval_power.scales import RatingScale
from humeval_power.studies.fit.wald import wald_p
from humeval_power.studies.looks.dropping import drop_boundaries, drop_expectations, follow, true_claims
from humeval_power.studies.looks.systems_looks import (
    SystemsLookReplicates,
    SystemsLooks,
    pair_rows_at_looks,
)
from humeval_power.studies.monitor.dropping import DroppingMonitoring
from humeval_power.studies.monitor.followed import data_of, monitoring_of, take
from humeval_power.studies.plan.files import read_plan
from humeval_power.studies.plan.plan import Plan

sys.path.append(str(ROOT / "docs"))
from make_items_looks import over_pool

PLANNED = (
    *("plan", "--n-systems", 3, "--preset", "low", "--pattern", "one", "--effect", 0.2),
    *("--workers", 12, "--items", 16, "--ratings-per-item", 12, "--looks", "0.5,0.75,1", "--drop-systems"),
    *("--cost-per-rating", "0.1", "--scale", "1:5"),
)


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    place = tmp_path_factory.mktemp("pipeline")
    run(*PLANNED, "-o", Path(place) / "plan.json", code=None)
    return read_plan(place / "plan.json")


def source_of(plan: Plan) -> SystemsLooks:
    many, looks = plan.many, plan.looks
    assert many is not None
    assert looks is not None
    return SystemsLooks(many.parameters, plan.design(), looks.looks, many.family, plan.rule)


def study_of(plan: Plan, values: np.ndarray, items: Sequence[str] = ()) -> Ratings:
    """The ratings of a whole study, which nobody was dropped from."""
    rows = plan.design().assignment
    items = items or [f"i{i:02d}" for i in range(plan.counts.n_items)]
    table = pd.DataFrame(
        {
            "worker": [f"w{w:02d}" for w in rows.worker],
            "item": [items[i] for i in rows.item],
            "system": [plan.systems[s] for s in rows.system],
            "rating": values,
        }
    )
    low, high = math.floor(values.min()) - 1, math.ceil(values.max()) + 1
    scale = RatingScale(float(low), float(high), source="declared")
    return ratings_from_table(table, scale=scale, require_pair=False)


def monitored(plan: Plan, whole: Ratings, pool: ItemPool | None = None) -> DroppingMonitoring:
    """Look after look, with the ratings of those systems alone that are left."""
    state, gone = monitoring_of(plan), dict[str, int]()
    assert plan.looks is not None
    for share in plan.looks.looks.shares:
        workers = round(share * plan.counts.n_workers)
        most = np.array([gone.get(name, workers) for name in whole.system_names])
        seen = whole.of_rows(whole.worker < most[whole.system])
        state = take(state, data_of(seen, plan, pool=pool))
        assert isinstance(state, DroppingMonitoring)
        gone |= dict.fromkeys(state.taken[-1].dropped, workers)
        if state.ended:
            break
    assert isinstance(state, DroppingMonitoring)
    return state


def agree(plan: Plan, n: int, seed: int, pool: ItemPool | None = None) -> list[DroppingMonitoring]:
    """Follow the same ratings both ways, with no difference in any study."""
    source = source_of(plan)
    values = source._replications[-1].ratings(range(n), seed=seed)
    fitted = source.from_ratings(values) if pool is None else over_pool_fast(source, values, pool)
    rows = [pair_rows_at_looks(source, place) for place in range(3)]
    shares = [[row.information_share for row in of_pair] for of_pair in rows]
    assert plan.looks is not None
    bounds = drop_boundaries(plan.looks.rule(plan.rule), shares, n_systems=3)
    bounds = bounds.scaled(plan.looks.factor, plan.looks.interval_factor)
    ended = follow(fitted, bounds, source.pairs)
    states = []
    for at in range(n):
        whole = study_of(plan, values[at], () if pool is None else pool.chosen_items)
        state = monitored(plan, whole, pool)
        best = ended.best[at]
        assert state.best == (None if best < 0 else plan.systems[best]), at
        assert len(state.looks) == ended.look[at] + 1, at
        fast = [None if look == 3 else look + 1 for look in ended.dropped_at[at].tolist()]
        assert [state.dropped_at(name) for name in plan.systems] == fast, at
        states.append(state)
    return states


def over_pool_fast(source: SystemsLooks, values: np.ndarray, pool: ItemPool) -> SystemsLookReplicates:
    """Every look over the pool by the closed form of complete tables, which docs/choosing-items.md simulates by."""
    design = source.design
    table = values.reshape(len(values), design.n_workers, design.n_items, source.parameters.n_systems)
    workers = tuple(one.n_workers for one in source.nested.designs)
    found = over_pool(table, pool, workers, source.pairs)
    error, df = np.sqrt(found[1]), found[2]
    p = wald_p(found[0], error, df, "two-sided")
    means = np.zeros((*p.shape[:2], source.parameters.n_systems))
    return SystemsLookReplicates(means, found[0], error, df, p, np.ones(len(values), dtype=bool))


def chosen_of(plan: Plan) -> ItemPool:
    """The items of the plan as drawn from a pool of 80, balanced on a metric."""
    rng, n = np.random.default_rng(4), plan.counts.n_items
    scores = rng.normal(size=(80, 3))
    first = draw_balanced(balancing_columns(scores, n), n, rng)
    order = np.concatenate([first, np.setdiff1d(np.arange(80), first)])
    names = tuple(f"d{i:02d}" for i in range(80))
    zeros, chances = np.zeros(80, dtype=np.int64), np.full(80, n / 80)
    return ItemPool(names, plan.systems, scores[order], zeros, chances, np.arange(80) < n)


@few_fast("items", [24, 16])
def test_a_look_at_chosen_items_decides_as_they_were_simulated(plan: Plan, items: int) -> None:
    plan = replace(
        plan, counts=replace(plan.counts, n_items=items)
    )  # with the metric as a covariate from 20
    states = agree(plan, 8, seed=5, pool=chosen_of(plan))
    assert any(state.best is not None for state in states)


@pytest.mark.long
@pytest.mark.slow
def test_false_claims_of_studies_at_chosen_items_are_as_rare_as_is_said(plan: Plan) -> None:
    # 400 studies in which two tie: 4 standard errors above 0.05
    assert plan.many is not None
    many = replace(plan.many, parameters=plan.many.parameters.with_means((0.5, 0.7, 0.7)))
    states = agree(replace(plan, many=many), 400, seed=8, pool=chosen_of(plan))
    assert sum(state.best is not None for state in states) <= 400 * 0.05 + 4 * math.sqrt(400 * 0.05 * 0.95)


@pytest.mark.slow
def test_a_look_decides_as_the_simulation_of_the_plan_does(plan: Plan) -> None:
    states = agree(plan, 24, seed=5)
    assert any(state.best is not None for state in states)
    assert any(len(state.looks) < 3 for state in states)
    assert any(sum(map(len, (look.dropped for look in state.taken))) > 0 for state in states)


@pytest.mark.long
@pytest.mark.slow
def test_a_thousand_studies_go_as_the_plan_says(plan: Plan) -> None:
    n = 1000
    for means in ((0.5, 0.5, 0.7), (0.5, 0.7, 0.7)):
        assert plan.many is not None
        many = replace(plan.many, parameters=plan.many.parameters.with_means(means))
        states = agree(replace(plan, many=many), n, seed=6)
        place = {name: code for code, name in enumerate(plan.systems)}
        named = np.array([-1 if state.best is None else place[state.best] for state in states])
        right, false = true_claims(named, means)
        source = source_of(plan)
        rows = [pair_rows_at_looks(source, at) for at in range(3)]
        shares = [[row.information_share for row in of_pair] for of_pair in rows]
        assert plan.looks is not None
        bounds = drop_boundaries(plan.looks.rule(plan.rule), shares, n_systems=3)
        bounds = bounds.scaled(plan.looks.factor, plan.looks.interval_factor)
        (fast,) = drop_expectations(source, bounds, {"": means}, n_simulations=10_000, seed=9)
        for ours, theirs in ((right.mean(), fast.best_named), (false.mean(), fast.false_claim)):
            assert abs(ours - theirs) <= 4 * math.sqrt(max(theirs * (1 - theirs), 0.01) * (1 / n + 1e-4))
