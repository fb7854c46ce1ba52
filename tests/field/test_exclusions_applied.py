"""`analyze` leaves out workers by the sealed rules, and shows the result with and without them."""

import json

import numpy as np
import pytest
from careless_study import (
    CLICKER,
    ITEMS,
    LINER,
    RULES,
    WORKERS,
    collected,
    plan_of,
    write_plan,
    write_table,
)
from cli import run, run_json

import humeval_power as hp
from humeval_power.errors import InputError
from humeval_power.files.tables import answers_of, ratings_of, read_rating_table
from humeval_power.studies.analyze.calls import analyze
from humeval_power.studies.field.worker_quality import exclude_workers
from humeval_power.studies.plan.files import read_plan

SCALE = ("--scale", "1:5")
EACH = 2 * ITEMS  # ratings of a worker


@pytest.fixture
def files(tmp_path):
    return write_table(tmp_path, collected()), write_plan(tmp_path)


def without(frame, *workers):
    return frame[~frame["worker"].isin(workers)]


def test_the_headline_is_that_of_the_workers_who_stay_and_the_other_stands_beside_it(files, tmp_path):
    table, plan = files
    found = run_json("analyze", table, "--plan", plan)
    both = tmp_path / "both"
    both.mkdir()
    rest = run_json("analyze", write_table(both, without(collected(), CLICKER, LINER)), *SCALE)
    everybody = run_json("analyze", table, *SCALE)
    row = found["worker_exclusion"]["comparisons"][0]
    for name, other in (("with_rules", rest), ("without_rules", everybody)):
        assert row[name]["estimate"] == pytest.approx(other["effect"]["estimate"], rel=1e-9)
        assert row[name]["interval"] == pytest.approx(other["effect"]["interval"], rel=1e-9)
        assert row[name]["p_value"] == pytest.approx(other["effect"]["p_value"], rel=1e-9)
    assert found["effect"]["estimate"] == row["with_rules"]["estimate"]
    assert found["worker_exclusion"]["workers"] == {"with_rules": WORKERS - 2, "without_rules": WORKERS}
    assert found["worker_exclusion"]["ratings"]["with_rules"] == (WORKERS - 2) * EACH
    assert found["worker_exclusion"]["sealed"] is True


def test_the_flow_counts_each_rule_and_adds_up(files):
    table, plan = files
    flow = run_json("analyze", table, "--plan", plan)["flow"]
    steps = {step["reason"]: step["rows"] for step in flow}
    assert steps[
        "worker left out by a rule: who failed more than 34 % of their attention checks (2 workers)"
    ] == (2 * EACH)
    read, *dropped, analysed = flow
    assert read["rows"] - sum(step["rows"] for step in dropped) == analysed["rows"]


def test_rules_that_were_followed_are_no_deviation(files):
    assert run_json("analyze", files[0], "--plan", files[1])["deviations"] == []


def test_text_page_and_paper_say_the_same(files, tmp_path):
    table, plan = files
    said = run("analyze", table, "--plan", plan).stdout
    assert "The rules leave out 2 of 8 workers (80 of 320 ratings)." in " ".join(said.split())
    assert "sealed in the plan" in said
    record = tmp_path / "analysis.json"
    run("analyze", table, "--plan", plan, "-o", record)
    run("analyze", table, "--plan", plan, "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    paper = " ".join(run("report", record, plan, "--form", "paper").stdout.split())
    row = json.loads(record.read_text())["worker_exclusion"]["comparisons"][0]["without_rules"]
    assert f"{row['estimate']:+.4f}" in page
    assert "By rules that were sealed beforehand 2 of 8 workers were left out" in paper
    assert f"With all workers the difference would be {row['estimate']:.4f}" in paper


def test_rules_without_a_plan_are_labelled(files):
    said = run("analyze", files[0], *SCALE, "--exclude-if", "seconds=4").stdout
    assert "NOT SEALED" in said
    found = run_json("analyze", files[0], *SCALE, "--exclude-if", "seconds=4")
    assert found["worker_exclusion"]["sealed"] is False


def test_typed_rules_beside_a_plan_without_rules_are_a_deviation(files, tmp_path):
    plan = write_plan(tmp_path, plan_of(None))
    found = run_json("analyze", files[0], "--plan", plan, "--exclude-if", "seconds=4")
    what = {one["what"]: one for one in found["deviations"]}
    assert what["rules for leaving out workers"]["actual"] == "seconds=4"


def test_typed_rules_against_sealed_ones_are_refused(files):
    result = run("analyze", files[0], "--plan", files[1], "--exclude-if", "seconds=9", code=2)
    assert "The plan seals its own rules" in result.stderr
    run("analyze", files[0], "--plan", files[1], "--exclude-if", RULES)


def test_a_rule_without_its_columns_is_a_warning_and_a_deviation(files, tmp_path):
    table = write_table(tmp_path, collected().drop(columns=["passed", "seconds"]))
    result = run("analyze", table, "--plan", files[1])
    said = " ".join((result.stdout + result.stderr).split())
    assert (
        "WARNING: the rule failed-checks=0.34 was not applied, for the table has no column 'passed'" in said
    )
    found = run_json("analyze", table, "--plan", files[1])
    planned = [one["planned"] for one in found["deviations"]]
    assert planned == ["failed-checks=0.34", "seconds=4"]
    # who gives one answer is still left out
    assert found["worker_exclusion"]["workers"] == {"with_rules": WORKERS - 1, "without_rules": WORKERS}


def test_nobody_left_out_says_so(tmp_path):
    table = write_table(tmp_path, without(collected(), CLICKER, LINER))
    found = run_json("analyze", table, "--plan", write_plan(tmp_path))
    both = found["worker_exclusion"]["comparisons"][0]
    assert both["with_rules"] == both["without_rules"]
    assert [one["what"] for one in found["deviations"]] == [
        "workers",
        "ratings",
        "ratings per item and system",
    ]


@pytest.mark.parametrize(("rules", "left"), [("seconds=1000", "nobody"), ("seconds=LIMIT", "1 worker")])
def test_too_few_who_stay_is_one_clear_error(tmp_path, rules, left):
    frame = collected()
    typical = frame[frame["kind"] == "rating"].groupby("worker")["seconds"].median().sort_values()
    rules = rules.replace("LIMIT", str(typical.iloc[-1]))
    result = run("analyze", write_table(tmp_path, frame), *SCALE, "--exclude-if", rules, code=2)
    assert f"leave {left} of 8 workers" in " ".join(result.stderr.split())
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [("seconds", "soon", "must be a number of seconds"), ("passed", "2", "must be 1 or 0")],
)
def test_bad_cells_are_named_with_their_row(tmp_path, column, value, words):
    frame = collected().astype(object)
    row = frame.index[frame["kind"] == ("check" if column == "passed" else "rating")][0]
    frame.loc[row, column] = value
    result = run("analyze", write_table(tmp_path, frame), "--plan", write_plan(tmp_path), code=2)
    assert words in " ".join(result.stderr.split())
    assert f"row {row + 2}" in result.stderr


def test_rules_edited_by_hand_are_refused_and_can_be_amended(files):
    table, plan = files
    values = json.loads(plan.read_text())
    values["study"]["exclude_if"]["seconds"] = 30.0
    plan.write_text(json.dumps(values))
    result = run("analyze", table, "--plan", plan, code=2)
    assert "study.exclude_if.seconds" in result.stderr
    run("analyze", table, "--plan", plan, "--amend", "slower than thought", code=None)
    assert read_plan(plan).exclusion_rules.seconds == 30


@pytest.mark.parametrize("way", ["taken out", "put in"])
def test_rules_that_come_or_go_by_hand_are_a_change_and_the_chain_holds(tmp_path, way):
    plan = write_plan(tmp_path, plan_of() if way == "taken out" else plan_of(None))
    values, other = json.loads(plan.read_text()), json.loads(write_plan(tmp_path).read_text())
    plan = write_plan(tmp_path, plan_of() if way == "taken out" else plan_of(None))
    if way == "taken out":
        for name in ("exclude_if", "careless", "checks", "repeats"):
            del values["study"][name]
    else:
        values |= {name: other[name] for name in ("study", "promise")}
    plan.write_text(json.dumps(values))
    table = write_table(tmp_path, collected())
    assert "study.exclude_if" in run("analyze", table, "--plan", plan, code=2).stderr
    run("analyze", table, "--plan", plan, "--amend", "thought again")
    run("analyze", table, "--plan", plan)  # the amended plan is whole
    assert bool(read_plan(plan).exclusion_rules) == (way == "put in")


def test_impossible_limits_in_a_plan_are_named(files):
    table, plan = files
    values = json.loads(plan.read_text())
    values["study"]["exclude_if"]["failed-checks"] = 34.0
    plan.write_text(json.dumps(values))
    assert "share from 0 to below 1" in " ".join(
        run("analyze", table, "--plan", plan, code=2).stderr.split()
    )


def test_several_systems_and_criteria_are_shown_both_ways(tmp_path):
    table = write_table(tmp_path, collected(systems="ABC"))
    found = run_json("analyze", table, *SCALE, "--all-pairs", "--exclude-if", RULES)
    assert len(found["worker_exclusion"]["comparisons"]) == 3
    assert found["n_workers"] == WORKERS - 2
    table = write_table(tmp_path, collected(criteria=("fluency", "adequacy")))
    found = run_json("analyze", table, *SCALE, "--criteria", "all", "--exclude-if", RULES)
    for one in found["criteria"]:
        assert one["worker_exclusion"]["workers"]["with_rules"] == WORKERS - 2
        assert one["worker_exclusion"]["comparisons"][0]["criterion"] == one["criterion_name"]
    said = run("analyze", table, *SCALE, "--criteria", "all", "--exclude-if", RULES).stdout
    assert said.count("With and without the workers left out") == 1
    assert "fluency: B - A" in " ".join(said.split())


def test_a_worker_left_out_is_left_out_of_every_criterion(tmp_path):
    # straight lines under one criterion alone are no straight line over both
    frame = collected(criteria=("fluency", "adequacy"))
    frame.loc[(frame["worker"] == "w0") & (frame["criterion"] == "fluency"), "rating"] = 3
    table = write_table(tmp_path, frame)
    both = run_json("analyze", table, *SCALE, "--criteria", "all", "--exclude-if", "same-answer=0.9")
    assert {one["worker_exclusion"]["workers"]["with_rules"] for one in both["criteria"]} == {WORKERS - 1}
    one = run_json("analyze", table, *SCALE, "--criterion", "fluency", "--exclude-if", "same-answer=0.9")
    assert one["worker_exclusion"]["workers"]["with_rules"] == WORKERS - 2


def test_python_needs_what_the_rules_do_and_gives_the_same(files):
    plan, ratings = read_plan(files[1]), hp.read_ratings(files[0], scale="1:5")
    with pytest.raises(InputError, match="leaves out workers by its rules"):
        analyze(ratings, plan=plan)
    answers = hp.models.read_answers(files[0], ratings)
    exclusion = hp.models.exclude_workers(answers, plan.exclusion_rules)
    found = hp.analyze(ratings, plan=plan, exclusion=exclusion, diagnostics=False)
    assert found.tested.estimate == run_json("analyze", files[0], "--plan", files[1])["effect"]["estimate"]
    assert set(exclusion.first_broken) == {CLICKER, LINER}


def test_exchanging_the_systems_of_items_leaves_out_the_same_workers(tmp_path):
    rules = "failed-checks=0.34,repeats=0.2,seconds=15,same-answer=0.5,agreement=0.5"
    frame, rng = collected(), np.random.default_rng(4)
    turned = {f"i{i}" for i in range(ITEMS) if rng.random() < 0.5}
    mine = frame["item"].isin(turned)
    other = frame.assign(
        system=frame["system"].where(~mine, frame["system"].map({"A": "B", "B": "A", "": ""}))
    )
    found = []
    for each in (frame, other):
        table = read_rating_table(write_table(tmp_path, each))
        answers = answers_of(table, [ratings_of(table, scale="1:5")])
        found.append(exclude_workers(answers, hp.plans.ExclusionRules.parse(rules)).first_broken)
    assert found[0] == found[1]
    assert 2 < len(found[0]) < WORKERS
