"""A study that its interval stops, walked from nothing by commands and in Python, and attacked."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from cases import each_case
from cli import run, run_json
from scipy import stats

import humeval_power as hp
from humeval_power.errors import InputError
from humeval_power.studies.looks import calibration, rating_looks
from humeval_power.studies.looks.boundaries import boundaries
from humeval_power.studies.monitor.files import read_ledger
from humeval_power.studies.monitor.state import LookData, Monitoring
from humeval_power.studies.monitor.step import repeated_inference, step, study_monitoring
from humeval_power.studies.plan.files import read_plan

STUDY = """schema = "humeval_power/study/1"
[question]
question = "Is new better than old?"
systems = ["old", "new"]
[ratings]
scale = "1:5"
[variation]
preset = "low"
[effect]
effect_raw = 0.5
[search]
items_range = [30]
workers_range = [24]
ratings_per_item_range = [24]
[cost]
cost_per_rating = 0.1
[looks]
looks = 3
stop_when = "decision, equivalence=0.8, half_width=0.6"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A plan, and the ratings of a study with a difference of 0.5 points, at its looks."""
    place = tmp_path_factory.mktemp("stop")
    (place / "study.toml").write_text(STUDY)
    plan = place / "plan.json"
    found = run("plan", "--study", place / "study.toml", "--simulations", 200, "-o", plan, "--json", code=3)
    (place / "found.json").write_text(found.stdout)
    run("assign", "--plan", plan, "-o", place / "who.csv", "--key", place / "key.csv")
    how = ("--assignment", place / "who.csv", "--key", place / "key.csv", "--seed", 8)
    run("simulate", "--plan", plan, *how, "-o", place / "all.csv")
    table = pd.read_csv(place / "all.csv")
    table["worker"] = table["worker"].str.removeprefix("rehearsal-")
    for look in (1, 2, 3):
        table[table["look"] <= look].to_csv(place / f"look{look}.csv", index=False)
    workers = sorted(table.loc[table["look"] == 1, "worker"].unique())
    table[table["worker"].isin(workers[:3])].to_csv(place / "three.csv", index=False)
    return place


def test_the_plan_seals_the_reasons_in_points_and_says_what_they_take(folder) -> None:
    sealed = json.loads((folder / "plan.json").read_text())
    said = {name: sealed["study"][name] for name in ("stop_when", "looks_by", "efficacy")}
    assert said == {
        "stop_when": "decision, equivalence=0.8, half_width=0.6",
        "looks_by": "workers",
        "efficacy": "kim-demets:2",
    }
    plan = read_plan(folder / "plan.json")
    assert plan.looks.stop_when == hp.looks.StopWhen(True, 0.2, 0.15)
    assert [one.effect for one in plan.stops] == pytest.approx([0.0, 0.0625, 0.125, 0.1875])
    effective = plan.stops[2]
    assert effective.fixed_power > effective.decision_power >= effective.power > 0.4
    assert effective.workers < effective.decision_workers < 24
    text = run("report", "--plan", folder / "plan.json", "--form", "osf").stdout
    words = " ".join(text.split())
    assert "its half-width is at most 0.6 points" in words
    assert "never the plain one" in words
    assert "if the repeated interval at the look where the study stops excludes 0" in words
    assert "if the test is significant" not in words


def test_a_plan_that_falls_short_says_so_of_the_study_with_its_looks(folder) -> None:
    found, plan = json.loads((folder / "found.json").read_text()), read_plan(folder / "plan.json")
    assert not found["reached"]
    assert f"the best has {plan.predicted.analytic:.2f} by formula" in found["reason"]
    assert (
        f"If decisions alone stopped it, it would have {plan.stops[2].decision_power:.2f}"
        in found["reason"]
    )
    assert found["would_do"] == []
    assert found["chosen"]["analytic_power"]["low"] == pytest.approx(plan.predicted.analytic)
    assert found["chosen"]["power"] == plan.stops[2].power


def test_a_study_is_followed_to_its_stop_and_reported_by_that_interval(folder, tmp_path) -> None:
    ledger = ("--ledger", tmp_path / "looks.jsonl")
    plan = ("--plan", folder / "plan.json", *ledger)
    decision, look = "continue", 0
    while decision == "continue":
        look += 1
        said = json.loads(run("monitor", folder / f"look{look}.csv", *plan, "--json").stdout)
        decision = said["decision"]
    assert (look, decision) == (2, "stop-half-width")
    last, inference = said["look"], said["inference"]
    error, df = last["data"]["standard_error"], last["data"]["df"]
    reach = stats.t.isf(last["nominal"] / 2, df) * error
    middle = last["data"]["estimate"]
    assert inference["interval"] == pytest.approx([middle - reach, middle + reach], rel=1e-9)
    assert inference["half_width"] == pytest.approx(reach, rel=1e-9)
    assert (inference["p_value"] <= 0.05) == (abs(middle) >= reach)
    assert inference["bias"] == pytest.approx(read_plan(folder / "plan.json").stops[2].half_width_bias)
    found = json.loads(run("analyze", folder / f"look{look}.csv", *plan, "--json").stdout)
    assert found["sequential"]["inference"] == inference
    effect = found["effect"]
    assert (effect["interval"], effect["p_value"]) == (inference["interval"], inference["p_value"])
    assert effect["significant"] is (effect["p_value"] <= 0.05) is (effect["interval"][0] > 0)
    assert effect["plain"]["p_value"] == pytest.approx(last["data"]["p_value"])
    assert effect["plain"]["interval"][0] > effect["interval"][0]
    run("analyze", folder / f"look{look}.csv", *plan, "-o", tmp_path / "analysis")
    row = pd.read_csv(tmp_path / "analysis" / "table.csv").iloc[0]
    assert [row["low"], row["high"]] == pytest.approx(inference["interval"])
    assert row["p_value"] == pytest.approx(inference["p_value"])
    page = " ".join(
        run("analyze", folder / f"look{look}.csv", *plan, "--format", "markdown").stdout.split()
    )
    assert "these hold at all looks together" in page
    assert "Without regard to the looks" in page
    (tmp_path / "findings.json").write_text(json.dumps(found))
    paper = run("report", tmp_path / "findings.json", "--form", "paper").stdout
    assert "which holds at all looks together" in " ".join(paper.split())
    scale = read_plan(folder / "plan.json").scale
    bias = f"is off by {scale.effect_to_raw(inference['bias']):+.3g} points on average"
    monitored = " ".join(run("monitor", "--status", *plan).stdout.split())
    for said in (page, " ".join(paper.split()).replace("\u2212", "-"), monitored):
        assert bias in said
    again = run("monitor", folder / f"look{look}.csv", *plan)
    assert "This look was taken before" in again.output
    after = run("monitor", folder / f"look{look + 1}.csv", *plan, code=2)
    assert "no test holds after that" in " ".join(after.output.split())


def test_looks_without_enough_workers_are_refused_and_leave_no_ledger(folder, tmp_path) -> None:
    ledger = tmp_path / "looks.jsonl"
    plan = ("--plan", folder / "plan.json", "--ledger", ledger)
    few = run("monitor", folder / "three.csv", *plan, "--unplanned", "curious", code=2)
    assert "3 workers are too few" in few.output
    assert not ledger.exists()


@each_case(
    ("options", "message"),
    [
        (("--n-systems", 3), "several systems or criteria"),
        (("--alternative", "greater"), "a test with two ends"),
        (("--exclude-if", "failed-checks=0.34", "--checks", "0.1"), "rules that leave workers out"),
        (("--documents", "10"), "documents, which were not simulated"),
        (("--df", "normal"), "Kenward and Roger's df"),
    ],
)
def test_what_was_not_simulated_is_refused_with_the_reason(tmp_path, options, message) -> None:
    (tmp_path / "study.toml").write_text(STUDY.replace('systems = ["old", "new"]\n', ""))
    found = run("plan", "--study", tmp_path / "study.toml", *options, code=2)
    assert message in " ".join(found.output.split())


def test_stop_when_needs_looks(tmp_path) -> None:
    (tmp_path / "study.toml").write_text(STUDY.replace("looks = 3\n", ""))
    found = run("plan", "--study", tmp_path / "study.toml", code=2)
    assert "needs looks" in found.output


@pytest.mark.slow
def test_a_margin_stops_a_study_at_half_of_alpha_a_side(tmp_path) -> None:
    text = STUDY.replace("effect_raw = 0.5", "effect_raw = 0").replace(", equivalence=0.8", "")
    (tmp_path / "study.toml").write_text(text)
    claim = ("--alternative", "non-inferior", "--margin-raw", "0.5")
    sealed = tmp_path / "plan.json"
    asked = ("plan", "--study", tmp_path / "study.toml", *claim, "--simulations", 400)
    run(*asked, "-o", sealed, code=None)
    found = run(*asked, code=None)
    plan = read_plan(sealed)
    assert plan.predicted.simulated == pytest.approx(plan.stops[0].power, abs=0.08)
    assert plan.predicted.analytic == pytest.approx(plan.stops[0].power, abs=0.06)
    words = " ".join(run("report", "--plan", sealed, "--form", "osf").stdout.split())
    assert "The claim is tested at 0.025 a side" in words
    shown = " ".join(found.stdout.split())
    assert "What it takes" in shown
    assert "falsely" not in shown
    halfway = replace(plan, effect=plan.rule.halfway).recomputed_power()
    assert f"Power {halfway:.3f} by formula, if the true difference is" in shown
    assert "With power 0.8 the study shows" not in shown  # that is one look's
    stops = "if the repeated interval at the look where the study stops lies above \u22120.125"
    assert f"non-inferior to old within 0.125 {stops}" in words
    assert "Wald test" not in words


@pytest.mark.slow
def test_where_no_design_will_do_the_most_powerful_is_planned(tmp_path) -> None:
    text = STUDY.replace("[30]", "[30, 600, 1000]").replace("effect_raw = 0.5", "effect_raw = 0.4")
    (tmp_path / "study.toml").write_text(text)
    found = json.loads(run("plan", "--study", tmp_path / "study.toml", "--json", code=3).stdout)
    assert found["front"][-2]["power"] > 0.995  # of one look at the end, which no step of 0.005 betters
    assert found["chosen"]["n_items"] == 1000
    assert "the best has" in found["reason"]


@pytest.mark.slow
def test_designs_that_intervals_cannot_stop_are_passed_over(tmp_path, monkeypatch) -> None:
    calibrated = []
    kept = calibration.calibrate

    def counted(study, *rest, **how):
        calibrated.append((study.nested.final.n_workers, how["n_simulations"]))
        return kept(study, *rest, **how)

    monkeypatch.setattr(rating_looks, "calibrate", counted)
    text = STUDY.replace("effect_raw = 0.5", "effect_raw = 2").replace("half_width=0.6", "half_width=0.62")
    text = text.replace("[24]", "[6, 8, 12, 18, 24]", 1)
    (tmp_path / "study.toml").write_text(text.replace("ratings_per_item_range = [24]", ""))
    found = run("plan", "--study", tmp_path / "study.toml", "--json", "-o", tmp_path / "plan.json")
    chosen = json.loads(found.stdout)["chosen"]
    assert chosen["power"] > 0.99  # with 6 workers it is too, whose first look has 2
    assert chosen["n_workers"] > 8
    assert {workers for workers, _ in calibrated} == {chosen["n_workers"]}
    assert len(calibrated) <= 2
    ways = json.loads(found.stdout)["ways"]
    others = [way["design"] for way in ways if way["design"] and not way["is_planned"]]
    assert all(design["power"] is None for design in others)


def test_sizes_that_no_design_meets_are_refused_before_anything_is_simulated(tmp_path, monkeypatch) -> None:
    def never(*_, **__):
        raise AssertionError("simulated")

    monkeypatch.setattr(rating_looks, "plan_looks", never)
    (tmp_path / "study.toml").write_text(STUDY.replace("half_width=0.6", "half_width=0.3"))
    found = run("plan", "--study", tmp_path / "study.toml", code=2)
    assert "half_width=0.3 points can be met at no look" in " ".join(found.output.split())
    few = STUDY.replace("[24]", "[6]")
    (tmp_path / "study.toml").write_text(few)
    found = run("plan", "--study", tmp_path / "study.toml", code=2)
    assert "With 6 workers: The first look has 2 workers" in " ".join(found.output.split())


# Looks as pure steps: workers who are missing, or more than planned.


def state_of(folder: Path) -> Monitoring:
    return study_monitoring(read_plan(folder / "plan.json"))


def seen(state: Monitoring, share: float, workers: int, times: float, z: float = 0.5, **how) -> LookData:
    known = times * state.maximum_information
    error = known**-0.5
    p_value = 2 * float(stats.t.sf(abs(z), 40))
    return LookData(workers * 60, workers, 30, share, known, z * error, error, 40.0, p_value, **how)


def test_levels_are_solved_again_for_other_workers_and_the_factor_stays(folder) -> None:
    state = replace(state_of(folder), stop_when=hp.looks.StopWhen())
    wide = state.fractions[0] * 0.5
    one, first = step(state, seen(state, 1 / 3, 9, wide))
    two, second = step(one, seen(state, 2 / 3, 17, wide + 0.3))
    more, last = step(two, seen(state, 30 / 24, 30, 1.2))
    assert last.fraction == pytest.approx(1.2)
    expected = boundaries(state.rule, (wide, wide + 0.3, 1.2)).scaled(state.factor).nominal
    assert [look.nominal for look in more.looks] == pytest.approx(list(expected), rel=1e-9)
    assert (first.decision, second.decision) == ("continue", "continue")
    assert last.decision.startswith("end-")


def test_an_end_with_workers_missing_uses_what_its_information_allows(folder) -> None:
    state, _ = step(state_of(folder), seen(state_of(folder), 1 / 3, 8, 0.3))
    ended, look = step(state, seen(state, 0.8, 19, 0.8, final=True))
    expected = boundaries(state.rule, (0.3, 0.8, 1.0)).scaled(state.factor).nominal
    assert look.nominal == pytest.approx(expected[1], rel=1e-9)
    assert not any("chosen by what was seen" in remark for remark in look.remarks)
    assert ended.ended


def test_at_its_p_value_the_interval_ends_at_no_difference(folder) -> None:
    state = state_of(folder)
    one, _ = step(state, seen(state, 1 / 3, 8, 0.3))
    two, look = step(one, seen(state, 2 / 3, 16, 0.7, z=1.9))
    assert look.decision == "continue"
    found = repeated_inference(two, state.stop_when)
    at = boundaries(hp.looks.StoppingRule(state.rule.efficacy, alpha=found.p_value), (0.3, 0.7, 1.0))
    reach = stats.t.isf(at.scaled(state.factor).nominal[1] / 2, 40) * look.data.standard_error
    assert abs(look.data.estimate) == pytest.approx(reach, rel=1e-5)


def test_a_decision_is_reported_with_the_bias_that_the_plan_predicts(folder) -> None:
    state = state_of(folder)
    one, look = step(state, seen(state, 1 / 3, 8, 0.3, z=6.0))
    assert look.decision == "stop-success"
    found = repeated_inference(one, state.stop_when)
    assert found.reason == "decision"
    assert found.bias == pytest.approx(read_plan(folder / "plan.json").stops[2].decision_bias)
    assert found.interval[0] > 0
    assert found.p_value <= 0.05
    other, _ = step(state, seen(state, 1 / 3, 8, 0.3, z=-6.0))
    assert repeated_inference(other, state.stop_when).bias is None  # of which the plan says nothing


def test_chances_of_success_are_those_of_a_study_that_goes_on_to_its_boundaries(folder) -> None:
    state = state_of(folder)
    assert (
        step(state, seen(state, 1 / 3, 8, 0.3))[1].conditional_power == {}
    )  # a narrow interval may end it
    alone = replace(state, stop_when=hp.looks.StopWhen())
    assert set(step(alone, seen(alone, 1 / 3, 8, 0.3))[1].conditional_power) == {"design", "trend", "null"}
    assert step(alone, seen(alone, 1 / 3, 8, 0.3, z=6.0))[1].conditional_power == {}


def test_an_unfinished_line_is_said_to_be_dropped_and_never_one_that_ended_the_study(
    folder, tmp_path
) -> None:
    ledger = tmp_path / "looks.jsonl"
    plan = ("--plan", folder / "plan.json", "--ledger", ledger)
    run("monitor", folder / "look1.csv", *plan)
    whole = ledger.read_bytes()
    run("monitor", folder / "look2.csv", *plan)
    last = ledger.read_bytes()[len(whole) :]
    at = last.index(b'"decision":"stop-half-width"')
    ledger.write_bytes(whole + last[: at + 16])
    refused = " ".join(run("monitor", folder / "look2.csv", *plan, code=2).output.split())
    assert "its last line is unfinished, and was to record that the study ended (stop" in refused
    assert ledger.read_bytes() == whole + last[: at + 16]
    ledger.write_bytes(whole + last[:at])
    taken = run("monitor", folder / "look2.csv", *plan)
    assert "an unfinished line was dropped" in " ".join(taken.output.split())
    assert read_ledger(ledger)[-1].content["look"]["decision"] == "stop-half-width"


def test_a_stop_for_its_width_is_no_claim(folder) -> None:
    state = state_of(folder)
    one, look = step(state, seen(state, 1 / 3, 8, 60.0, z=0.1))
    assert look.decision in ("stop-equivalence", "stop-half-width")
    with pytest.raises(InputError, match="no test holds after that"):
        step(one, seen(state, 2 / 3, 16, 70.0))


def test_a_sequence_needs_items_of_each_workers_own(folder, tmp_path) -> None:
    rows = [
        (f"w{worker}", f"i{worker}-{item}", system, 2 + (system == "new") + (worker + item) % 2)
        for worker in range(8)
        for item in range(4)
        for system in ("old", "new")
    ]
    fresh = tmp_path / "fresh.csv"
    pd.DataFrame(rows, columns=["worker", "item", "system", "rating"]).to_csv(fresh, index=False)
    found = json.loads(
        run("looks", "anytime", fresh, "--scale", "1:5", "--systems", "old,new", "--json").stdout
    )
    assert [one["workers"] for one in found["steps"]] == list(range(3, 9))
    assert found["steps"][-1]["estimate"] == pytest.approx(0.25, abs=1e-9)
    shared = run("looks", "anytime", folder / "look1.csv", "--scale", "1:5", code=2)
    words = " ".join(shared.output.split())
    assert "30 items were rated by several workers" in words
    assert "over items in 9 to 53 %" in words


def test_python_has_the_sequence_of_a_study_and_of_ratings(tmp_path) -> None:
    rows = [
        (f"w{worker}", f"i{worker}-{item}", system, 2 + (system == "new") + (3 * worker + item) % 2)
        for worker in range(6)
        for item in range(3)
        for system in ("old", "new")
    ]
    fresh = tmp_path / "fresh.csv"
    pd.DataFrame(rows, columns=["worker", "item", "system", "rating"]).to_csv(fresh, index=False)
    about = hp.Study(ratings=str(fresh), scale="1:5", systems=["old", "new"])
    ratings = hp.read_ratings(fresh, scale="1:5", systems=("old", "new"))
    assert hp.looks.anytime(about).steps == hp.looks.anytime(ratings, narrowest_at=10).steps


@pytest.mark.slow
def test_a_worker_for_each_item_is_planned_though_no_other_has_work() -> None:
    found = run_json(
        *("plan", "--preset", "high", "--effect", "0.2", "--items", "60", "--max-workers", "60"),
        *("--cost-per-rating", "0.1", "--looks", "3", "--stop-when", "decision", "--seed", "3"),
    )
    design = found["chosen"]
    assert (design["n_workers"], design["n_items"], design["ratings_per_item"]) == (60, 60, 1)
    assert found["bottleneck"]["more_workers"] == 0
    assert found["reached"]


@pytest.mark.slow
def test_a_size_that_calibrated_looks_can_meet_is_not_refused_beforehand() -> None:
    words = ("--preset", "high", "--effect", "0.1", "--items", "100", "--cost-per-rating", "0.1")
    answer = run(
        *("plan", *words, "--max-workers", "30", "--looks", "3"),
        *("--stop-when", "decision, half_width=0.1085"),
        code=3,
    )
    assert "can be met at no look" not in answer.stderr
