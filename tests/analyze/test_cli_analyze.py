"""The command `analyze`: the plan's decision, deviations, several systems."""

import json

import numpy as np
import pandas as pd
import pytest
from cli import run
from scipy import stats
from seven import seven

from humeval_power.designs import k_per_item
from humeval_power.estimation.fitting import fit
from humeval_power.ratings import ratings_from_table
from humeval_power.scales import RatingScale
from humeval_power.simulation.study import simulate
from humeval_power.studies.fit.many_systems import compare_systems, indistinct_groups
from humeval_power.studies.fit.wald import standardised_effect

TRUTH = seven(0.55, 0.1, 0.08, 0.05, 0.12, 0.1, 0.18)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A Likert study of 12 workers and 50 items in a CSV file."""
    design = k_per_item(12, 50, ratings_per_item=3)
    ratings = simulate(TRUTH, design, seed=5, response="likert", points=5)
    table = ratings.to_frame(RatingScale(1, 5, points=5)).replace({"system": {"A": "old", "B": "new"}})
    path = tmp_path_factory.mktemp("study") / "study.csv"
    table.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def plan(study):
    """A plan from that study as a pilot."""
    path = study.with_name("plan.json")
    words = (
        "--scale 1:5 --systems old,new --effect 0.1 --items 40:80:20 --max-workers 12 --cost-per-rating 0.1"
    )
    words += " --ratings-per-item 1:3 --simulations 100 -q"
    run("plan", study, *words.split(), "-o", path)
    return path


def test_the_analysis_has_the_numbers_of_the_fit(study):
    said = json.loads(run("analyze", study, "--scale", "1:5", "--systems", "old,new", "--json").stdout)
    ratings = ratings_from_table(
        pd.read_csv(study, dtype=str), scale=RatingScale(1, 5, points=5), systems=("old", "new")
    )
    fitted = fit(ratings)
    assert said["schema"] == "humeval_power/analysis/1"
    assert said["effect"]["estimate"] == pytest.approx(fitted.parameters.effect, rel=1e-12)
    assert said["effect"]["df"] == pytest.approx(fitted.df_kenward_roger, rel=1e-12)
    p = 2 * stats.t.sf(
        abs(fitted.parameters.effect) / fitted.standard_error_adjusted, fitted.df_kenward_roger
    )
    assert said["effect"]["p_value"] == pytest.approx(p, rel=1e-10)
    assert said["deviations"] is None
    assert said["power_at_interest"] is None


def test_a_study_as_planned_has_its_deviations_listed_and_power_at_the_effect_of_interest(study, plan):
    said = json.loads(run("analyze", study, "--plan", plan, "--json", "-q").stdout)
    promised = json.loads(plan.read_text())
    found = {one["what"]: one for one in said["deviations"]}
    assert int(found["ratings"]["actual"]) == 300
    assert said["power_at_interest"]["effect"] == promised["study"]["effect"] == 0.1
    assert "test" not in found
    assert "systems" not in found


@pytest.fixture(scope="module")
def renamed(tmp_path_factory):
    """A plan of A and B with two looks, assigned to bart and pegasus, of which the last is rated 1 higher."""
    folder = tmp_path_factory.mktemp("renamed")
    sizes = "--effect 0.2 --scale 1:5 --workers 6 --items 10 --ratings-per-item 3 --cost-per-rating 0.1"
    values = (
        "--values sd_worker_slope=0.05,sd_residual=0.2,sd_item_intercept=0.1 --power 0.1 --simulations 50"
    )
    run("plan", *f"{sizes} {values} --looks 2 -o".split(), folder / "plan.json", "-q")
    told = run(
        *("assign", "--plan", folder / "plan.json", "--systems", "bart,pegasus", "-o", folder / "work.csv")
    )
    assert "The plan calls them A, B. Beside it say --systems bart,pegasus." in " ".join(
        told.stderr.split()
    )
    work = pd.read_csv(folder / "work.csv").rename(columns={"worker_slot": "worker"})
    noise = np.random.default_rng(1).integers(0, 3, len(work))
    rated = work.assign(rating=2 + (work["system"] == "pegasus") + noise)
    rated[["worker", "item", "system", "rating"]].to_csv(folder / "ratings.csv", index=False)
    return folder


def test_a_plan_whose_systems_were_named_later_says_how_to_name_them(renamed):
    for command in ("analyze", "monitor"):
        told = run(command, renamed / "ratings.csv", "--plan", renamed / "plan.json", code=2).output
        said = " ".join(told.split())
        assert "there are no systems 'A' and 'B', but 'bart' and 'pegasus'" in said
        assert "--systems bart,pegasus, or the other way round" in said


def test_names_that_the_systems_of_a_plan_got_later_are_no_deviation(renamed):
    beside = (renamed / "ratings.csv", "--plan", renamed / "plan.json", "--systems")
    looked = run("monitor", *beside, "bart,pegasus", "--final", "--ledger", renamed / "looks.jsonl")
    assert "The plan's A is 'bart', and its B is 'pegasus'." in " ".join(looked.stderr.split())
    said = json.loads(
        run("analyze", *beside, "bart,pegasus", "--ledger", renamed / "looks.jsonl", "--json", "-q").stdout
    )
    assert said["effect"]["estimate"] > 0.1  # pegasus - bart: 1 of 4 points
    assert "systems" not in {one["what"] for one in said["deviations"]}
    assert "ratings" not in {one["what"] for one in said["deviations"]}


def test_another_test_than_planned_is_a_deviation(study, plan):
    said = json.loads(run("analyze", study, "--plan", plan, "--alpha", "0.01", "--json", "-q").stdout)
    assert any(one["what"] == "test" for one in said["deviations"])


def test_type_m_is_that_of_the_effect_of_interest_and_not_of_the_observed_one(study):
    text = [
        run(
            "analyze", study, "--scale", "1:5", "--systems", "old,new", "--effect-of-interest", effect, "-q"
        ).stdout
        for effect in ("0.02", "0.2")
    ]
    assert "If the true difference is 0.08 points" in text[0]
    assert float(text[0].split("exaggerate it ")[1].split(" times")[0]) > 1.5
    assert "exaggerate it by less than 1 %" in " ".join(text[1].split())


def test_a_plan_and_several_systems_exclude_each_other(study, plan):
    result = run("analyze", study, "--plan", plan, "--all-pairs", code=2)
    assert "This plan compares two systems" in result.stderr


def three_systems():
    design = k_per_item(8, 30, ratings_per_item=3)
    parts = []
    for name, difference in (("x", 0.0), ("y", 0.02), ("z", 0.4)):
        table = simulate(TRUTH.with_difference(difference), design, seed=9).to_frame()
        parts.append(table[table.system == "B"].assign(system=name))
    table = pd.concat(parts)
    table["rating"] = np.clip(table.rating, 0, 1).round(4).astype(str)
    return ratings_from_table(table, scale=RatingScale(0, 1), require_pair=False)


def test_pairs_are_each_fitted_by_themselves_and_corrected_by_holm():
    ratings = three_systems()
    results = compare_systems(ratings, rule=fit_rule())
    assert [(r.first, r.second) for r in results] == [("x", "y"), ("x", "z"), ("y", "z")]
    alone = fit(ratings.pair("x", "z"))
    assert results[1].test.estimate == pytest.approx(alone.parameters.effect, rel=1e-12)
    raw = np.array([r.test.p_value for r in results])
    order = np.argsort(raw)
    holm = np.maximum.accumulate(raw[order] * np.array([3, 2, 1])).clip(max=1)
    assert np.array([r.corrected_p for r in results])[order] == pytest.approx(holm)


def fit_rule():
    from humeval_power.rules import DecisionRule

    return DecisionRule()


def test_groups_hold_neighbours_that_no_test_tells_apart():
    ratings = three_systems()
    results = compare_systems(ratings, rule=fit_rule())
    means = {"x": 0.5, "y": 0.51, "z": 0.9}
    assert indistinct_groups(results, means) == (("z",), ("y", "x"))


def test_the_standardised_effect_divides_by_the_spread_of_one_rating():
    total = 0.08**2 + 0.12**2 + (0.05**2 + 0.1**2) / 4 + 0.18**2
    found = standardised_effect(TRUTH)
    assert found.by_rating == pytest.approx(0.1 / np.sqrt(total))
    assert found.by_residual == pytest.approx(0.1 / 0.18)


def test_an_interval_that_goes_below_the_effect_of_interest_says_so(tmp_path):
    design = k_per_item(12, 50, ratings_per_item=3)
    drawn = simulate(TRUTH.with_difference(0.3), design, seed=5, response="likert", points=5)
    drawn.to_frame(RatingScale(1, 5)).to_csv(tmp_path / "clear.csv", index=False)
    words = ("analyze", tmp_path / "clear.csv", "--scale", "1:5", "-q", "--effect-of-interest")
    low, high = json.loads(run(*words, "0.2", "--json").stdout)["effect"]["interval"]
    assert low > 0
    inside, below = (
        " ".join(run(*words, str(effect)).stdout.split()) for effect in ((low + high) / 2, low / 2)
    )
    said = f"The interval goes below {2 * (low + high):.4g} points: that the difference is as large is not shown."
    assert (said in inside, "The interval goes below" in below) == (True, False)


def test_the_first_sentence_of_a_rehearsal_says_that_it_is_one(study, tmp_path):
    rows = study.read_text().splitlines()
    at = rows[0].split(",").index("worker")
    cells = [row.split(",") for row in rows[1:]]
    made = [",".join([*row[:at], f"rehearsal-{row[at]}", *row[at + 1 :]]) for row in cells]
    rehearsed = tmp_path / "rehearsed.csv"
    rehearsed.write_text("\n".join([rows[0], *made, ""]))
    real, played = (
        run("analyze", table, "--scale", "1:5", "--systems", "old,new", "-q").stdout.splitlines()[1]
        for table in (study, rehearsed)
    )
    assert played.startswith("Rehearsal, no real ratings: ")
    assert "Rehearsal" not in real
