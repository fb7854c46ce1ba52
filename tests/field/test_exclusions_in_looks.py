"""`monitor` tests the workers who stay by the plan's rules, and seals the rows of all."""

from dataclasses import replace

import pytest
from careless_study import CLICKER, ITEMS, LINER, WORKERS, collected, plan_of, write_plan, write_table
from cli import run, run_json

from humeval_power.studies.looks.rating_looks import LookSchedule
from humeval_power.studies.looks.replicates import Looks
from humeval_power.studies.looks.stopping_rule import efficacy_of
from humeval_power.studies.monitor.files import read_ledger


@pytest.fixture
def plan(tmp_path):
    plan = plan_of()
    looks = LookSchedule(Looks("items", (0.5, 1.0)), efficacy_of("lan-demets-obrien-fleming"))
    plan = replace(plan, looks=looks, rules=replace(plan.rules, cost=replace(plan.rules.cost)))
    plan = replace(plan, predicted=replace(plan.predicted, analytic=plan.recomputed_power()))
    return write_plan(tmp_path, plan)


def half(frame):
    return frame[frame["item"].isin([f"i{i}" for i in range(ITEMS // 2)]) | (frame["kind"] == "check")]


def test_a_look_tests_those_who_stay_and_seals_the_rows_of_all(plan, tmp_path):
    first = run("monitor", write_table(tmp_path, half(collected())), "--plan", plan)
    assert "The rules leave out 2 of 8 workers" in " ".join(first.stderr.split())
    looks = [entry for entry in read_ledger(tmp_path / "plan.looks.jsonl") if entry.kind == "look"]
    assert looks[0].content["look"]["data"]["n_workers"] == WORKERS - 2
    assert len(looks[0].content["new_rows"]) == WORKERS * ITEMS


def test_ratings_of_workers_left_out_cannot_vanish_between_looks(plan, tmp_path):
    run("monitor", write_table(tmp_path, half(collected())), "--plan", plan)
    frame = collected()
    gone = write_table(tmp_path, frame[~frame["worker"].isin([CLICKER, LINER])])
    result = run("monitor", gone, "--plan", plan, code=2)
    assert "of an earlier look missing now" in " ".join(result.stderr.split())


def test_the_study_is_analysed_by_its_last_look(plan, tmp_path):
    run("monitor", write_table(tmp_path, half(collected())), "--plan", plan)
    table = write_table(tmp_path, collected())
    taken = run_json("monitor", table, "--plan", plan, "--final")
    found = run_json("analyze", table, "--plan", plan)
    assert found["n_workers"] == WORKERS - 2
    assert found["sequential"]["looks"][-1]["data"]["estimate"] == pytest.approx(
        found["effect"]["estimate"]
    )
    assert taken["looks"]
