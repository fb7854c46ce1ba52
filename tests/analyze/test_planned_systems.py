"""A study of several systems and criteria, held against its plan: the planned family of tests, and deviations."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from statsmodels.stats.multitest import multipletests

from humeval_power.doors.terminal.main import main
from humeval_power.files.tables import read_criteria
from humeval_power.rules import ComparisonFamily
from humeval_power.studies.analyze.calls import analyze_criteria
from humeval_power.studies.plan.files import read_plan_file

SYSTEMS = np.array(["base", "large", "tuned"])
CRITERIA = ("adequacy", "fluency")
FAMILY = ("--comparisons", "baseline", "--baseline", "base", "--model", "joint")


def run(*words, code=0):
    result = CliRunner().invoke(main, [*map(str, words), "-q"])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A plan of three systems and two criteria for 6 workers and 20 items, and such a study."""
    folder = tmp_path_factory.mktemp("planned")
    run(
        *("plan", "--preset", "low", "--systems", ",".join(SYSTEMS), "--criteria", ",".join(CRITERIA)),
        *(
            "--effect",
            "0.2",
            "--items",
            "20",
            "--workers",
            "6",
            "--power",
            "0.1",
            "--scale",
            "1:5",
            *FAMILY,
        ),
        *("--cost-per-rating", "0.1", "--simulations", "20", "-o", folder / "plan.json"),
    )
    rng, parts = np.random.default_rng(1), []
    worker, item, system = np.indices((6, 20, 3)).reshape(3, -1)
    for name in CRITERIA:
        value = (
            0.5
            + 0.1 * system
            + rng.normal(0, 0.05, (6, 3))[worker, system]
            + rng.normal(0, 0.15, len(worker))
        )
        points = np.clip(np.rint(1 + 4 * value), 1, 5).astype(int)
        rows = {
            "worker": worker,
            "item": item,
            "system": SYSTEMS[system],
            "criterion": name,
            "rating": points,
        }
        parts.append(pd.DataFrame(rows))
    pd.concat(parts).to_csv(folder / "study.csv", index=False)
    return folder


def analysed(folder, *words):
    return json.loads(
        run("analyze", folder / "study.csv", "--plan", folder / "plan.json", *words, "--json").stdout
    )


def test_the_planned_family_of_tests_and_criteria_are_taken(folder):
    said = analysed(folder)
    told = said["family_of_tests"]
    assert (told["comparisons"], told["baseline"], told["model"]) == ("baseline", "base", "joint")
    assert (told["n_tests"], told["criteria"]) == (4, list(CRITERIA))
    pairs = [pair for one in said["criteria"] for pair in one["pairs"]]
    raw = [pair["p_value"] for pair in pairs]
    assert [pair["corrected_p_value"] for pair in pairs] == pytest.approx(
        multipletests(raw, method="holm")[1]
    )
    assert said["deviations"] == []
    for one in said["criteria"]:
        assert one["plan"]["checksum"] == read_plan_file(folder / "plan.json").checksum
        planned = {each["what"]: each for each in one["deviations"]}
        assert set(planned) <= {"ratings", "ratings per item and system"}


def test_python_takes_them_as_the_command_does(folder):
    plan = read_plan_file(folder / "plan.json").plan
    by_name = read_criteria(folder / "study.csv", plan.criteria, scale=plan.scale, require_pair=False)
    found = analyze_criteria(by_name, plan=plan)
    assert found.family == plan.family == ComparisonFamily("baseline", "base", model="joint")
    said = analysed(folder)
    expected = [pair["corrected_p_value"] for one in said["criteria"] for pair in one["pairs"]]
    assert [row.corrected_p_value for row in found.rows] == pytest.approx(expected, rel=1e-12)


def test_another_family_and_fewer_criteria_are_deviations(folder):
    said = analysed(folder, "--all-pairs", "--correction", "bh", "--criterion", "fluency")
    told = {one["what"]: (one["planned"], one["actual"]) for one in said["deviations"]}
    assert told == {
        "criteria": ("adequacy, fluency", "fluency"),
        "comparisons": ("every other system with base", "all pairs"),
        "correction": ("holm", "bh"),
    }
    assert said["family_of_tests"]["n_tests"] == 3
    result = run("analyze", folder / "study.csv", "--plan", folder / "plan.json", "--all-pairs")
    text = " ".join(result.stdout.split())
    assert text.count("comparisons: planned every other system with base; found all pairs") == 1


def test_systems_that_were_not_planned_and_those_that_are_missing_are_named(folder, tmp_path):
    table = pd.read_csv(folder / "study.csv")
    path = tmp_path / "study.csv"
    table.assign(system=table["system"].replace("tuned", "other")).to_csv(path, index=False)
    said = json.loads(run("analyze", path, "--plan", folder / "plan.json", "--json").stdout)
    told = {one["what"]: (one["planned"], one["actual"]) for one in said["criteria"][0]["deviations"]}
    assert told["systems that are missing"] == ("tuned", "no ratings of them")
    assert told["systems beyond the plan"] == ("none", "other")


@pytest.mark.slow
def test_names_that_several_systems_got_after_the_plan_are_no_deviation(tmp_path):
    sizes = "--effect 0.2 --scale 1:5 --workers 6 --items 10 --ratings-per-item 3 --cost-per-rating 0.1"
    values = "--values sd_worker_slope=0.05,sd_residual=0.2 --power 0.1 --simulations 20"
    of_three = "--n-systems 3 --comparisons baseline --baseline A"
    plan, work, ratings = tmp_path / "plan.json", tmp_path / "work.csv", tmp_path / "ratings.csv"
    run("plan", *f"{sizes} {values} {of_three} -o".split(), plan)
    run("assign", "--plan", plan, "--systems", "t5,bart,pegasus", "-o", work)
    table = pd.read_csv(work).rename(columns={"worker_slot": "worker"})
    rating = np.random.default_rng(1).integers(1, 6, len(table))
    table.assign(rating=rating)[["worker", "item", "system", "rating"]].to_csv(ratings, index=False)
    refused = " ".join(run("analyze", ratings, "--plan", plan, code=2).output.split())
    assert "There is no system 'A' to compare with" in refused
    assert "--baseline NAME" in refused
    said = json.loads(run("analyze", ratings, "--plan", plan, "--baseline", "t5", "--json").stdout)
    whats = {one["what"] for one in said["deviations"]}
    assert not whats & {"systems that are missing", "systems beyond the plan", "comparisons"}
    table["system"] = table["system"].replace({"t5": "A"})  # one of the plan's names, and two others
    table.assign(rating=rating)[["worker", "item", "system", "rating"]].to_csv(ratings, index=False)
    said = json.loads(run("analyze", ratings, "--plan", plan, "--json").stdout)
    assert "systems that are missing" in {one["what"] for one in said["deviations"]}
