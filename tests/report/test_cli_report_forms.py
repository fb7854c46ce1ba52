"""`report --form`: the forms and paragraphs, from the files that other commands write."""

import json

import pytest
from click.testing import CliRunner

from humeval_power.doors.terminal.main import main


def run(*words, code=0):
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A plan and an analysis of the shipped pilot."""
    folder = tmp_path_factory.mktemp("report")
    pilot = ("data/pilot.csv", "--scale", "1:5", "--systems", "baseline,new", "-q")
    run(
        "plan",
        *pilot,
        *("--effect", 0.1, "--items", "50:100:10", "--max-workers", 40, "--ratings-per-item", "1:3"),
        *("--cost-per-rating", 0.1, "--simulations", 200, "-o", folder / "plan.json"),
    )
    run("analyze", *pilot, "--plan", folder / "plan.json", "-o", folder / "analysis.json")
    return folder


def test_heds_as_json_merges_into_the_users_own_file_whose_answers_win(files, tmp_path):
    first = tmp_path / "first.json"
    run("report", "--findings", files / "analysis.json", "--form", "heds", "-o", first)
    form = json.loads(first.read_text())
    key = next(key for key, value in form.items() if value["data"].get(""))
    form[key]["data"][""] = "my own words"
    mine = tmp_path / "mine.json"
    mine.write_text(json.dumps(form))
    merged = tmp_path / "merged.json"
    run(
        *("report", "--findings", files / "analysis.json", "--form", "heds"),
        *("--into", mine, "-o", merged),
    )
    assert json.loads(merged.read_text())[key]["data"][""] == "my own words"


def test_the_paragraphs_have_the_numbers_of_the_analysis(files):
    text = run("report", "--findings", files / "analysis.json", "--form", "paper").stdout
    estimate = json.loads((files / "analysis.json").read_text())["effect"]["estimate"]
    assert f"{estimate:+.4f}" in text
    assert run(
        "report", "--findings", files / "analysis.json", "--form", "paper", "--format", "latex"
    ).stdout.startswith("\\documentclass")


@pytest.mark.parametrize("form", ["aspredicted", "osf"])
def test_a_preregistration_is_written_from_a_plan_and_never_from_data(files, form):
    assert "Preregistration" in run("report", files / "plan.json", "--form", form).stdout
    refused = run("report", "--findings", files / "analysis.json", "--form", form, code=2)
    assert "before collection" in refused.stderr


def test_open_items_end_with_3_under_strict(files):
    run("report", "--findings", files / "analysis.json", "--form", "arr", "--strict", code=3)


def test_the_users_configuration_answers_what_only_the_user_knows(files, tmp_path):
    config = tmp_path / "humeval.toml"
    config.write_text('[report.person]\nname = "Ada"\n')
    text = run(
        "report", "--findings", files / "analysis.json", "--form", "heds", "--answers", config
    ).stdout
    assert "Ada" in text
    config.write_text("[other]\n")
    refused = run(
        "report", "--findings", files / "analysis.json", "--form", "heds", "--answers", config, code=2
    )
    assert "no table [report]" in refused.stderr
