"""Looks at items that were drawn from a pool: from the draw to the result, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli import run

import humeval_power as hp
from humeval_power.errors import InputError
from humeval_power.inference.chosen_items import estimate_pool
from humeval_power.ratings import Ratings, ratings_from_table
from humeval_power.scales import RatingScale
from humeval_power.studies.monitor.dropping import DroppingMonitoring
from humeval_power.studies.monitor.followed import check_pool_at_looks, data_of, monitoring_of, take
from humeval_power.studies.monitor.systems import SystemsLookData
from humeval_power.studies.plan.files import read_plan

STUDY = """\
schema = "humeval_power/study/1"
question = "Which is best?"
estimand = "{estimand}"
systems = [{systems}]
[ratings]
scale = "1:5"
[variation]
preset = "low"
[effect]
{effect}
[search]
items_range = [{items}]
workers_range = [12]
ratings_per_item_range = [12]
[cost]
cost_per_rating = 0.1
[looks]
looks = "0.5,0.75,1"
{stops}
"""
TWO = {"effect": "effect_raw = 0.4", "stops": 'stop_when = "decision"'}
SEVERAL = {"effect": 'pattern = "one"\neffect_raw = {raw}', "stops": "drop_systems = true"}


def begun(
    place: Path, n_systems: int, *, items: int, estimand: str = "population", raw: float = 1.0
) -> Path:
    """A folder with a pool of 200 items, of which a tenth are identical, the chosen ones and a sealed plan."""
    rng = np.random.default_rng(3)
    names = [f"s{k}" for k in range(1, n_systems + 1)]
    rows = [
        (f"d{i:03d}", name, f"text {i}" if i % 10 == 0 else f"text {i} {name}", i % 10 and rng.normal())
        for i in range(200)
        for name in names
    ]
    table = pd.DataFrame(rows, columns=["item", "system", "text", "metric"])
    table.to_csv(place / "outputs.csv", index=False)
    run(
        "more",
        "items",
        place / "outputs.csv",
        "--n",
        items,
        "--score",
        "metric",
        "-o",
        place / "chosen.csv",
    )
    said = {name: words.format(raw=raw) for name, words in (TWO if n_systems == 2 else SEVERAL).items()}
    systems = ", ".join(f'"{name}"' for name in names)
    (place / "study.toml").write_text(STUDY.format(estimand=estimand, systems=systems, items=items, **said))
    run("plan", "--study", place / "study.toml", "--simulations", 200, "-o", place / "plan.json", code=None)
    return place


def taken(place: Path, seed: int, *stage: str) -> list[dict[str, Any]]:
    """Stage after stage given out, rated and looked at over the pool until the study ends; what monitor said."""
    plan, key, pool, said, files = (
        place / "plan.json",
        place / "key.csv",
        place / "chosen.csv",
        [],
        list[Any](),
    )
    drops = read_plan(plan).drops_systems
    for look in (1, 2, 3):
        table, ratings = place / f"stage{look}.csv", place / f"ratings{look}.csv"
        if look == 1 or drops:
            run("assign", "--plan", plan, "--pool", pool, "-o", table, "--key", key, *stage)
            files += ["--assignment", table]
        run("simulate", "--plan", plan, *files, "--key", key, "--seed", seed, "--look", look, "-o", ratings)
        frame = pd.read_csv(ratings)
        frame["worker"] = frame["worker"].str.removeprefix("rehearsal-")
        frame.to_csv(ratings, index=False)
        said.append(json.loads(run("monitor", ratings, "--plan", plan, "--pool", pool, "--json").stdout))
        if said[-1]["decision"] != "continue":
            break
    return said


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems that intervals stop, walked to its end."""
    place = begun(tmp_path_factory.mktemp("two"), 2, items=40)
    (place / "said.json").write_text(json.dumps(taken(place, 5)))
    return place


def test_looks_are_about_items_like_those_of_the_pool(two: Path) -> None:
    said = json.loads((two / "said.json").read_text())
    pool, last = hp.items.read_pool(two / "chosen.csv"), said[-1]
    about = "This is about items like the 200 of chosen.csv, of which 40 were drawn and rated."
    assert all(one["about"] == about for one in said)
    ratings = hp.read_ratings(two / f"ratings{len(said)}.csv", scale="1:5", systems=("s1", "s2"))
    known = estimate_pool(
        pool, ("s1", "s2"), ratings.worker, ratings.item, ratings.system, ratings.rating, ratings.item_names
    )
    data = last["look"]["data"]
    assert data["estimate"] == pytest.approx(known.estimate, rel=1e-9)
    assert data["standard_error"] == pytest.approx(known.population_variance**0.5, rel=1e-9)
    assert data["df"] == pytest.approx(known.population_df, rel=1e-6)
    assert known.pool_variance < known.population_variance
    words = ("analyze", two / ratings.source, "--plan", two / "plan.json", "--pool", two / "chosen.csv")
    record = json.loads(run(*words, "--json").stdout)
    assert record["pool"]["sentence"] == about
    assert record["sequential"]["inference"]["interval"] == last["inference"]["interval"]
    assert record["sequential"]["inference"]["estimate"] == pytest.approx(known.estimate)
    text = " ".join(run(*words).stdout.split())
    assert about in text
    assert "which holds at all looks together" in text


def test_every_look_and_the_analysis_have_the_same_pool(two: Path) -> None:
    said = json.loads((two / "said.json").read_text())
    ratings = two / f"ratings{len(said)}.csv"
    table = pd.read_csv(two / "chosen.csv")
    scores = [name for name in table.columns if name.startswith("score_")]
    table[scores[0]] += np.arange(len(table))
    table.to_csv(two / "other.csv", index=False)
    for command in ("monitor", "analyze"):
        words = (command, ratings, "--plan", two / "plan.json")
        none = run(*words, code=2)
        assert "Name it: --pool FILE" in " ".join(none.stderr.split())
        other = run(*words, "--pool", two / "other.csv", code=2)
        assert "at items of another pool than" in " ".join(other.stderr.split())
    words = ("analyze", ratings, "--plan", two / "plan.json", "--pool", two / "chosen.csv")
    refused = run(*words, "--estimand", "pool", code=2)
    assert "leave out --estimand" in " ".join(refused.stderr.split())
    own = two / "own.jsonl"
    run("monitor", two / "ratings1.csv", "--plan", two / "plan.json", "--ledger", own)
    late = run(
        *("monitor", ratings, "--plan", two / "plan.json", "--ledger", own, "--pool", two / "chosen.csv"),
        code=2,
    )
    assert "were taken without a pool" in " ".join(late.stderr.split())


def test_pools_and_looks_that_were_not_simulated_together_are_refused_all_at_once(two: Path) -> None:
    plan, pool = read_plan(two / "plan.json"), hp.items.read_pool(two / "chosen.csv")
    assert plan.looks is not None
    check_pool_at_looks(plan, pool)
    plain = replace(plan, looks=replace(plan.looks, stop_when=None))
    picked = replace(pool, probability=np.full(pool.n_items, np.nan))
    with pytest.raises(InputError) as caught:
        check_pool_at_looks(plain, picked)
    assert "with stop_when and with drop_systems alone" in str(caught.value)
    assert "picked and not drawn" in str(caught.value)
    drawn = np.where(pool.identical, 0.0, np.linspace(0.1, 0.4, pool.n_items))
    uneven = replace(pool, probability=drawn, stratum=np.where(pool.identical, -1, 0))
    with pytest.raises(InputError, match="unequal probabilities"):
        check_pool_at_looks(plan, uneven)


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return begun(tmp_path_factory.mktemp("four"), 4, items=30, estimand="pool")


def study_ratings(place: Path, means: dict[str, float], seed: int) -> Ratings:
    """All systems rated by all workers, of the chosen items."""
    plan, pool = read_plan(place / "plan.json"), hp.items.read_pool(place / "chosen.csv")
    rng = np.random.default_rng(seed)
    rows = [
        (f"w{w:02d}", item, name, 1 + 4 * np.clip(mean + rng.normal(0, 0.1), 0, 1))
        for w in range(plan.counts.n_workers)
        for item in pool.chosen_items
        for name, mean in means.items()
    ]
    table = pd.DataFrame(rows, columns=["worker", "item", "system", "rating"])
    return ratings_from_table(table, scale=RatingScale(1, 5, source="declared"), require_pair=False)


def test_a_system_is_dropped_by_what_the_pool_says(four: Path) -> None:
    plan, pool = read_plan(four / "plan.json"), hp.items.read_pool(four / "chosen.csv")
    whole = study_ratings(four, {"s1": 0.2, "s2": 0.6, "s3": 0.6, "s4": 0.6}, seed=4)
    first = whole.of_rows(whole.worker < 6)
    data = data_of(first, plan, pool=pool)
    assert isinstance(data, SystemsLookData)
    pair = first.pair("s1", "s2")
    known = estimate_pool(
        pool, ("s1", "s2"), pair.worker, pair.item, pair.system, pair.rating, pair.item_names
    )
    assert data.pairs[0].estimate == pytest.approx(known.estimate)
    assert data.pairs[0].standard_error == pytest.approx(known.pool_variance**0.5)
    assert data.pairs[0].df == pytest.approx(known.pool_df)
    plain = data_of(first, plan)
    assert isinstance(plain, SystemsLookData)
    # a tenth of the pool differs by nothing
    assert data.pairs[0].estimate == pytest.approx(0.9 * plain.pairs[0].estimate, abs=0.01)
    assert data.pairs[0].information == plain.pairs[0].information  # as planned, by who rated what
    state = take(monitoring_of(plan), data)
    assert isinstance(state, DroppingMonitoring)
    assert state.left == ("s2", "s3", "s4")
    later = whole.of_rows((whole.worker < 9) & ((whole.system > 0) | (whole.worker < 6)))
    after = take(state, data_of(later, plan, pool=pool))
    assert after.looks[1].data.pairs[0] == state.looks[0].data.pairs[0]
    taken_look = hp.monitor(first, plan, pool=pool)
    assert "This is about the 200 items of" in taken_look.about


@pytest.mark.slow
def test_eight_systems_of_chosen_items_are_walked_to_the_best_with_spares(tmp_path: Path) -> None:
    place = begun(tmp_path, 8, items=40, raw=0.7)
    said = taken(place, 14, "--replacements", "2")
    assert said[-1]["best"] == "s8"
    assert sum(at is not None for at in said[0]["dropped_at"].values()) >= 4
    spare = ("--replacements", 2, "--replace", "r01=w01")
    words = (
        "assign",
        "--plan",
        place / "plan.json",
        "--pool",
        place / "chosen.csv",
        "--key",
        place / "key.csv",
    )
    refused = run(*words, *spare, "-o", place / "late.csv", code=2)  # the study has ended
    assert "nothing is left to be rated" in refused.stderr
    ratings = place / f"ratings{len(said)}.csv"
    words = (ratings, "--plan", place / "plan.json", "--pool", place / "chosen.csv")
    answer = " ".join(run("analyze", *words).stdout.split())
    assert "s8 is shown to be the best of 8 systems." in answer
    assert "This is about items like the 200 of chosen.csv" in answer
    run("analyze", *words, "-o", place / "analysis.json")
    for form in ("paper", "heds", "arr"):
        text = run("report", place / "analysis.json", "--plan", place / "plan.json", "--form", form).stdout
        assert "s8" in text
