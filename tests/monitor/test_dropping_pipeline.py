"""The whole way of a study whose looks drop systems, against the fast path that plans are made by."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli import run

from humeval_power.ratings import Ratings, ratings_from_table
from humeval_power.scales import RatingScale
from humeval_power.studies.looks.dropping import (
    drop_boundaries,
    drop_expectations,
    follow,
    true_claims,
)
from humeval_power.studies.looks.systems_looks import SystemsLooks, pair_rows_at_looks
from humeval_power.studies.monitor.dropping import DroppingMonitoring
from humeval_power.studies.monitor.followed import data_of, monitoring_of, take
from humeval_power.studies.plan.files import read_plan
from humeval_power.studies.plan.plan import Plan

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


def study_of(plan: Plan, values: np.ndarray) -> Ratings:
    """The ratings of a whole study, which nobody was dropped from."""
    rows = plan.design().assignment
    table = pd.DataFrame(
        {
            "worker": [f"w{w:02d}" for w in rows.worker],
            "item": [f"i{i:02d}" for i in rows.item],
            "system": [plan.systems[s] for s in rows.system],
            "rating": values,
        }
    )
    low, high = math.floor(values.min()) - 1, math.ceil(values.max()) + 1
    scale = RatingScale(float(low), float(high), source="declared")
    return ratings_from_table(table, scale=scale, require_pair=False)


def monitored(plan: Plan, whole: Ratings) -> DroppingMonitoring:
    """Look after look, with the ratings of those systems alone that are left."""
    state, gone = monitoring_of(plan), dict[str, int]()
    assert plan.looks is not None
    for share in plan.looks.looks.shares:
        workers = round(share * plan.counts.n_workers)
        most = np.array([gone.get(name, workers) for name in whole.system_names])
        seen = whole.of_rows(whole.worker < most[whole.system])
        state = take(state, data_of(seen, plan))
        assert isinstance(state, DroppingMonitoring)
        gone |= dict.fromkeys(state.taken[-1].dropped, workers)
        if state.ended:
            break
    assert isinstance(state, DroppingMonitoring)
    return state


def agree(plan: Plan, n: int, seed: int) -> list[DroppingMonitoring]:
    """Follow the same ratings both ways, with no difference in any study."""
    source = source_of(plan)
    values = source._replications[-1].ratings(range(n), seed=seed)
    fitted = source.from_ratings(values)
    rows = [pair_rows_at_looks(source, place) for place in range(3)]
    shares = [[row.information_share for row in of_pair] for of_pair in rows]
    assert plan.looks is not None
    bounds = drop_boundaries(plan.looks.rule(plan.rule), shares, n_systems=3)
    bounds = bounds.scaled(plan.looks.factor, plan.looks.interval_factor)
    ended = follow(fitted, bounds, source.pairs)
    states = []
    for at in range(n):
        state = monitored(plan, study_of(plan, values[at]))
        best = ended.best[at]
        assert state.best == (None if best < 0 else plan.systems[best]), at
        assert len(state.looks) == ended.look[at] + 1, at
        fast = [None if look == 3 else look + 1 for look in ended.dropped_at[at].tolist()]
        assert [state.dropped_at(name) for name in plan.systems] == fast, at
        states.append(state)
    return states


def test_a_look_decides_as_the_simulation_of_the_plan_does(plan: Plan) -> None:
    states = agree(plan, 24, seed=5)
    assert any(state.best is not None for state in states)
    assert any(len(state.looks) < 3 for state in states)
    assert any(sum(map(len, (look.dropped for look in state.taken))) > 0 for state in states)


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
