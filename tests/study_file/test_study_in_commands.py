"""What commands say of a study file that does not say all, or names what is not there yet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import humeval_power as hp
from humeval_power.doors.terminal.main import main

HEAD = 'schema = "humeval_power/study/1"\n'


def run(*words: str) -> Result:
    return CliRunner().invoke(main, [*words], prog_name="humeval-power")


@pytest.mark.parametrize(
    ("command", "written", "message"),
    [
        ("analyze", 'plan = "plan"\nratings = "r.csv"', "line 3, [files] plan: there is no file"),
        ("check", 'ratings = "r.csv"', "line 3, [files] ratings: there is no file"),
        ("check", 'ratings = "r.csv"\npilot = "p.csv"', "line 4, [files] pilot: there is no file"),
        ("power", 'pilot = "p.csv"', "line 3, [files] pilot: there is no file"),
    ],
)
def test_a_file_that_is_not_there_is_named_where_the_study_names_it(
    command: str, written: str, message: str, tmp_path: Path
) -> None:
    study = tmp_path / "s.toml"
    study.write_text(
        f"{HEAD}[files]\n{written}\n[effect]\neffect = 0.1\n[design]\nworkers = 9\nitems = 9\n"
    )
    result = run(command, str(study))
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.replace("s.toml,", "").split())
    writer = {"plan": "plan", "ratings": "import"}.get(message.split("[files] ")[1].split(":")[0])
    assert (f"'humeval-power {writer}' writes it." in " ".join(result.stderr.split())) == bool(writer)


def test_an_argument_that_is_missing_may_stand_in_the_study(tmp_path: Path) -> None:
    study = tmp_path / "s.toml"
    study.write_text(HEAD)
    assert "Give RATINGS, or say ratings in [files] of a study file." in run("analyze", str(study)).stderr


def test_the_typical_preset_is_that_of_the_scale() -> None:
    size = ("--workers", "9", "--items", "20", "--effect", "0.1", "--method", "analytic", "--no-study")
    assert hp.preset("typical") == hp.preset("pplm-fluency-steered")
    for scale, name in (("1:5", "pplm-fluency-steered"), ("0:100", None)):
        found = json.loads(run("power", "--preset", "typical", "--scale", scale, *size, "--json").stdout)
        assert found["setting"] == (name or found["setting"])
        same = json.loads(
            run("power", "--preset", found["setting"], "--scale", scale, *size, "--json").stdout
        )
        assert found["analytic"] == same["analytic"]


def test_a_plan_of_the_typical_preset_shows_both_ends() -> None:
    search = ("--effect", "0.1", "--items", "50:100:50", "--cost-per-rating", "0.1", "--simulations", "20")
    plain, named = (
        run("plan", *search, *preset, "--scale", "1:5", "--no-study", "--json")
        for preset in ((), ("--preset", "typical"))
    )
    assert plain.exit_code == named.exit_code
    assert json.loads(plain.stdout)["assumed"] == json.loads(named.stdout)["assumed"]


def test_a_plan_beside_its_study_leaves_aside_what_it_was_made_from(tmp_path: Path) -> None:
    pilot = Path(__file__).parents[2] / "data" / "pilot.csv"
    study, plan = tmp_path / "s.toml", tmp_path / "plan.json"
    study.write_text(
        f'{HEAD}[files]\npilot = "{pilot}"\n[ratings]\nscale = "1:5"\n[effect]\neffect = 0.2\n'
        "[search]\nitems_range = 40\nmax_workers = 12\n[cost]\ncost_per_rating = 0.1\n"
    )
    run("plan", str(study), "--simulations", "20", "-o", str(plan))
    beside = run("power", "--study", str(study), "--plan", str(plan), "--method", "analytic", "--json")
    assert beside.exit_code == 0, beside.stderr
    alone = run("power", "--plan", str(plan), "--method", "analytic", "--no-study", "--json")
    assert json.loads(beside.stdout)["power"] == json.loads(alone.stdout)["power"]
    refused = run("power", "--plan", str(plan), "--pilot", str(pilot), "--no-study")
    assert refused.exit_code == 2
    assert "leave out --pilot" in " ".join(refused.stderr.split())


def test_power_of_a_study_with_criteria_says_that_it_is_of_one_of_them(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        'schema = "humeval_power/study/1"\nn_systems = 3\ncriteria = ["fluency", "adequacy"]\npreset = ["high"]\n'
        "effect = 0.1\nworkers = 8\nitems = 16\nratings_per_item = 4\n"
    )
    few = ("--simulations", "20", "--seed", "1")
    for words in (("power",), ("mde",), ("size", "--find", "items")):
        said = " ".join(run(*words, str(study), *few).stderr.split())
        assert "It has 2 criteria: this is one of them with all of alpha; 'plan' shares alpha." in said
    study.write_text(study.read_text().replace('"fluency", "adequacy"', '"fluency"'))
    answer = run("power", str(study), *few)
    assert "criteria" not in answer.stderr
    assert "none of 20 studies" in answer.stdout
    assert "under 0.1 % of studies" not in answer.stdout
