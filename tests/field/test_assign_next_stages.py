"""`assign --next` where looks drop systems: what a stage lost is given out again, of the systems that are left."""

import functools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import few_fast

import humeval_power as hp
from humeval_power.checking.exports.assigned import assigned_of
from humeval_power.errors import InputError
from humeval_power.ratings import Ratings, ratings_from_table
from humeval_power.scales import RatingScale
from humeval_power.studies.field.calls import rehearse
from humeval_power.studies.monitor.dropping import DroppingMonitoring
from humeval_power.studies.monitor.files import read_ledger
from humeval_power.studies.monitor.followed import data_of, monitoring_of, take
from humeval_power.studies.monitor.step import collected_share
from humeval_power.studies.plan.calls import assign_work, next_ratings
from humeval_power.studies.plan.files import read_plan
from humeval_power.studies.plan.plan import Plan
from humeval_power.studies.plan.result_assignment import NextRatings
from tests.cli import run
from tests.field import planned_studies as plans
from tests.field.test_assign_next import answered, cells_of

STUDY = """\
schema = "humeval_power/study/1"
question = "Which is best?"
systems = ["s1", "s2", "s3", "s4"]
[ratings]
scale = "1:5"
[variation]
preset = "low"
[effect]
pattern = "one"
effect_raw = 0.4
[search]
items_range = [{items}]
workers_range = [{workers}]
ratings_per_item_range = [{each}]
[cost]
cost_per_rating = 0.1
[looks]
looks = "0.5,0.75,1"
drop_systems = true
"""
LAYOUT = {"batch_size": 16, "check_rate": 0.1, "repeat_rate": 0.0}
SEALED = {"blind": True, "bits": plans.BITS}


def planned(place: Path, *, items: int = 16, workers: int = 12, each: int = 12) -> Plan:
    (place / "study.toml").write_text(STUDY.format(items=items, workers=workers, each=each))
    run("plan", "--study", place / "study.toml", "--simulations", 50, "-o", place / "plan.json", code=None)
    return read_plan(place / "plan.json")


@pytest.fixture(scope="module")
def crossed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("crossed")
    planned(place)
    return place


@pytest.fixture(scope="module")
def sparse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Workers who rate half of the items each."""
    place = tmp_path_factory.mktemp("sparse")
    planned(place, items=24, each=6)
    return place


def rated(table: pd.DataFrame, means: dict[str, float], seed: int = 1) -> Ratings:
    """What workers answer of these rows, in a scale of their own."""
    rng = np.random.default_rng(seed)
    rows = table[table["kind"] == "rating"]
    values = rows["system"].map(means) + rng.normal(0, 0.05, len(rows))
    made = pd.DataFrame(
        {
            "worker": rows["worker_slot"],
            "item": rows["item"],
            "system": rows["system"],
            "rating": 1 + 4 * np.clip(values, 0, 1),
        }
    )
    return ratings_from_table(made, scale=RatingScale(1, 5, source="declared"), require_pair=False)


@functools.cache
def after_first_look(place: Path) -> tuple[Plan, DroppingMonitoring, list[pd.DataFrame]]:
    """The plan, the look at the first stage, which dropped s1, and the tables of both stages."""
    plan = read_plan(place / "plan.json")
    first = assign_work(plan, **LAYOUT, **SEALED)
    means = {"s1": 0.2, "s2": 0.6, "s3": 0.6, "s4": 0.6}
    state = take(monitoring_of(plan), data_of(rated(first.rows, means), plan))
    assert isinstance(state, DroppingMonitoring)
    assert state.left == ("s2", "s3", "s4")
    second = assign_work(plan, **LAYOUT, **SEALED, after=state)
    return plan, state, [first.to_frame(), second.to_frame()]


def asked(
    plan: Plan, n: int, tables: list[pd.DataFrame], after: object, gone: str, **how: object
) -> NextRatings:
    """The next ratings, of a study that all have done but the dropout, who did the first batches."""
    names = [(table, f"stage{number}.csv") for number, table in enumerate(tables, start=1)]
    ratings, batches = how.pop("ratings", None), how.pop("batches", 1)
    export = answered(
        pd.concat(tables),
        lambda row: row["worker_slot"] != gone or row["batch"] <= batches,
        ratings=ratings,
    )
    return next_ratings(
        plan,
        n,
        assignment=assigned_of(names),
        exports=[export],
        dropouts=[gone],
        after=after,
        **LAYOUT,
        **SEALED,
        **how,
    )


def lacking_slowly(plan: Plan, rows: pd.DataFrame, look: int, left: tuple[str, ...]) -> dict[str, int]:
    """Of each item how many workers the plan has until a look, less those who rate it under all that is left."""
    found = {}
    whole = assign_work(plan, **LAYOUT, **SEALED).assignment
    for number, item in enumerate(whole.items):
        workers = {
            int(whole.worker[at])
            for at in range(len(whole.worker))
            if whole.kind[at] == 0 and whole.item[at] == number and whole.look[at] <= look
        }
        mine = rows[rows["item"] == item]
        complete = [slot for slot, one in mine.groupby("worker_slot") if set(left) <= set(one["system"])]
        found[item] = max(len(workers) - len(complete), 0)
    return found


@pytest.mark.long
@few_fast("name", ["crossed", "sparse"])
def test_a_stage_gets_back_what_it_lost_of_the_systems_that_are_left(
    name: str, request: pytest.FixtureRequest
) -> None:
    plan, state, tables = after_first_look(request.getfixturevalue(name))
    gone = str(tables[1]["worker_slot"].iloc[0])
    key = assign_work(plan, **LAYOUT, **SEALED).key().set_index("code")["system"]
    before = pd.concat(tables)
    before = before[
        (before["kind"] == "rating") & ~((before["worker_slot"] == gone) & (before["batch"] > 1))
    ]
    before = before.assign(system=before["code"].map(key))
    lacking = lacking_slowly(plan, before, 2, state.left)
    n = 3 * sum(lacking.values())
    assert n > 0
    found = asked(plan, n, tables, state, gone, new_workers=2)
    cells = cells_of(found)
    assert set(found.to_frame()["look"]) == {2}
    assert set(cells["system"]) == set(state.left)
    assert (cells.groupby(["worker_slot", "item"])["system"].nunique() == 3).all()
    assert cells.groupby("item")["worker_slot"].nunique().to_dict() == {
        item: count for item, count in lacking.items() if count
    }
    # those who rated a system that is gone get no more: their comparisons with it stay as they were
    assert not set(cells["worker_slot"]) & set(tables[0]["worker_slot"])
    stands, after, intact = (found.way(one) for one in ("stands", "next", "planned"))
    assert stands.standard_error > after.standard_error
    assert stands.n_ratings + n == after.n_ratings == intact.n_ratings
    assert np.isnan(after.power)
    assert "half-width at look 2" in found.body().lead
    assert found.counts["planned"] == len(tables[0].query("kind == 'rating'")) + len(
        tables[1].query("kind == 'rating'")
    )
    with pytest.raises(InputError, match="lacking until look 2") as caught:
        asked(plan, n + 1, tables, state, gone, new_workers=2)
    assert f"Ask for {n}." in str(caught.value)


def test_no_rating_is_read_of_a_stage(crossed: Path) -> None:
    plan, state, tables = after_first_look(crossed)
    gone = str(tables[1]["worker_slot"].iloc[0])
    rng = np.random.default_rng(2)
    made = {
        json.dumps(asked(plan, 12, tables, state, gone, new_workers=1, ratings=ratings).content())
        for ratings in (None, lambda n: rng.integers(1, 6, n).astype(str).tolist(), lambda n: ["good"] * n)
    }
    assert len(made) == 1


def test_a_stage_that_lacks_nothing_or_whose_tables_are_missing_is_refused(crossed: Path) -> None:
    plan, state, tables = after_first_look(crossed)
    gone = str(tables[1]["worker_slot"].iloc[0])
    with pytest.raises(InputError, match=r"none is lacking until look 2.*bring looks forward"):
        asked(plan, 3, tables, state, gone, new_workers=2, batches=99)
    with pytest.raises(InputError, match=r"the ratings until look 2 are under way.*those of look 1"):
        asked(plan, 3, tables[:1], state, "w01")
    with pytest.raises(InputError, match=r"the ratings until look 1 are under way.*those of look 1, 2"):
        asked(plan, 3, tables, None, gone)
    with pytest.raises(InputError, match=r"can give 0, since the others have met.*new_workers=1"):
        asked(plan, 3, tables, state, gone)


def test_workers_who_share_the_work_of_one_bring_no_look_forward(crossed: Path) -> None:
    plan = read_plan(crossed / "plan.json")
    table = assign_work(plan, **LAYOUT).rows
    six = table[table["kind"] == "rating"]
    items = sorted(set(six["item"]))
    half = six["item"].isin(items[:8])
    shared = six.assign(
        worker_slot=np.where(
            six["worker_slot"].isin(["w01", "w02", "w03"]) & ~half,
            six["worker_slot"].str.replace("w0", "w9"),
            six["worker_slot"],
        )
    )
    means = dict.fromkeys(plan.systems, 0.5)
    plain, other = rated(six, means), rated(shared, means)
    assert other.n_workers == 9
    assert collected_share(plan, plain) == collected_share(plan, other) == 0.5
    state = take(monitoring_of(plan), data_of(other, plan))
    assert isinstance(state, DroppingMonitoring)
    assert state.taken[0].planned == 1
    assert state.next_planned == 2
    few = plain.of_rows(np.arange(plain.n_ratings) % 10 > 0)  # a tenth is missing: still due
    assert collected_share(plan, few) == 0.5
    late = table.assign(worker_slot=table["worker_slot"].str.replace("w", "x"))
    both = rated(pd.concat([six, late[late["kind"] == "rating"].query("worker_slot < 'x04'")]), means)
    assert collected_share(plan, both) == 0.75


def test_what_is_added_to_a_stage_is_rehearsed_and_changes_nothing_of_the_others(crossed: Path) -> None:
    plan, state, tables = after_first_look(crossed)
    gone = str(tables[1]["worker_slot"].iloc[0])
    found = asked(plan, 12, tables, state, gone, new_workers=1)
    key = assign_work(plan, **LAYOUT, **SEALED).key()
    names = [(table, f"stage{number}.csv") for number, table in enumerate(tables, start=1)]
    before = rehearse(plan, assigned_of(names), key=key, seed=3).to_frame()
    added = [*names, (found.to_frame(), "next.csv")]
    after = rehearse(plan, assigned_of(added), key=key, seed=3).to_frame()
    assert len(after) == len(before) + len(found.to_frame())
    both = before.merge(after, on=["slot", "order"], suffixes=("", "_after"))
    assert len(both) == len(before)
    assert both["rating"].equals(both["rating_after"])


def test_the_command_goes_from_a_dropout_to_the_next_look(crossed: Path, tmp_path: Path) -> None:
    plan, key, ledger = crossed / "plan.json", tmp_path / "key.csv", tmp_path / "own.jsonl"
    stage, back, batch = (tmp_path / f"{name}.csv" for name in ("stage1", "back", "next1"))
    words = ("--plan", plan, "--key", key, "--ledger", ledger)
    run("assign", *words, "--batch-size", 16, "-o", stage)
    run("simulate", "--plan", plan, "--assignment", stage, "--key", key, "--coded", "-o", back)
    table = pd.read_csv(back)
    table = table[(table["slot"] != "w03") | (table["batch"] == 1)]
    table.to_csv(back, index=False)
    asks = ("--next", 48, "--assignment", stage, "--exports", back, "--dropouts", "w03", "--batch-size", 16)
    words = ("assign", *words, *asks, "--new-workers", 1)
    record = json.loads(run(*words, "--json").stdout)
    assert record["look"] == 1
    assert record["n_ratings"] == 48
    assert record["ways"][1]["power"] is None
    text = run(*words, "-o", batch).stdout
    assert "They belong to look 1" in " ".join(text.split()) or "at look 1" in text
    kinds = [entry.kind for entry in read_ledger(ledger)]
    assert kinds == ["start", "cells"]
    ratings = tmp_path / "ratings.csv"
    tables = ("--assignment", stage, "--assignment", batch)
    run("simulate", "--plan", plan, *tables, "--key", key, "-o", ratings)
    frame = pd.read_csv(ratings)
    gone = (frame["slot"] == "w03") & (frame["batch"] > 1)
    frame = frame[~gone].assign(worker=frame["worker"].str.removeprefix("rehearsal-"))
    frame.to_csv(ratings, index=False)
    said = json.loads(run("monitor", ratings, "--plan", plan, "--ledger", ledger, "--json").stdout)
    assert said["look"]["planned"] == 1
    assert said["look"]["data"]["n_workers"] == 7
    more = run("assign", "--plan", plan, "--key", key, "--ledger", ledger, "-o", tmp_path / "stage2.csv")
    assert "to look 2 alone" in " ".join(more.stdout.split())


def test_a_study_in_python_takes_the_looks_so_far(crossed: Path) -> None:
    plan, state, tables = after_first_look(crossed)
    gone = str(tables[1]["worker_slot"].iloc[0])
    export = answered(pd.concat(tables), lambda row: row["worker_slot"] != gone)
    names = [(table, f"stage{number}.csv") for number, table in enumerate(tables, start=1)]
    how = {**LAYOUT, **SEALED, "assignment": assigned_of(names), "exports": [export], "new_workers": 1}
    found = hp.assign(plan, next=3, dropouts=[gone], after=state, **how)
    assert found.n_ratings == 3
