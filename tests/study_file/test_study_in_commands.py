"""What commands say of a study file that does not say all, or names what is not there yet."""

import json
from pathlib import Path

import pytest
from cli import run

import humeval_power as hp

HEAD = 'schema = "humeval_power/study/1"\n'


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
    result = run(command, str(study), code=2)
    assert message in " ".join(result.stderr.replace("s.toml,", "").split())
    writer = {"plan": "plan", "ratings": "import"}.get(message.split("[files] ")[1].split(":")[0])
    assert (f"'humeval-power {writer}' writes it." in " ".join(result.stderr.split())) == bool(writer)


def test_an_argument_that_is_missing_may_stand_in_the_study(tmp_path: Path) -> None:
    study = tmp_path / "s.toml"
    study.write_text(HEAD)
    assert (
        "Give RATINGS, or say ratings in [files] of a study file." in run("analyze", study, code=2).stderr
    )


def test_what_is_missing_may_stand_in_a_study_file_that_was_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(f"{HEAD}[design]\nitems = 9\n", encoding="utf-8")
    told = " ".join(run("power", "--workers", 5, "-q", code=2).stderr.split())
    assert "Or take what study.toml says, with --workers in its place: --study study.toml." in told
    Path("study.toml").unlink()
    assert "study.toml" not in run("power", "--workers", 5, code=2).stderr


def test_an_option_that_is_missing_says_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("worker,item,system,rating\n", encoding="utf-8")
    told = " ".join(run("monitor", tmp_path / "r.csv", code=2).stderr.split())
    assert "Give --plan. The sealed plan, with its looks: plan.json" in told


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
    search = ("--effect", "0.1", "--items", "50", "--cost-per-rating", "0.1", "--simulations", "20")
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
    alone = run("power", "--plan", str(plan), "--method", "analytic", "--no-study", "--json")
    assert json.loads(beside.stdout)["power"] == json.loads(alone.stdout)["power"]
    refused = run("power", "--plan", str(plan), "--pilot", str(pilot), "--no-study", code=2)
    assert "leave out --pilot" in " ".join(refused.stderr.split())


def test_power_of_a_study_with_criteria_is_of_one_of_them_at_its_share_of_alpha(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        'schema = "humeval_power/study/1"\nn_systems = 3\ncriteria = ["fluency", "adequacy"]\npreset = ["high"]\n'
        "effect = 0.1\nworkers = 8\nitems = 16\nratings_per_item = 4\n"
    )
    few = ("--simulations", "20", "--seed", "1")
    for words in (("power",), ("mde",), ("size", "--find", "items")):
        said = " ".join(run(*words, study, *few, code=None).stderr.split())
        assert (
            "of any one of 2 criteria, tested at alpha 0.025, as in a plan: holm shares 0.05 among them."
            in said
        )
    for_each = run("power", str(study), "--correct-over", "criterion", *few)
    assert "tested at alpha 0.05, as in a plan: each has a test of its own." in " ".join(
        for_each.stderr.split()
    )
    study.write_text(study.read_text().replace('"fluency", "adequacy"', '"fluency"'))
    answer = run("power", str(study), *few)
    assert "criteria" not in answer.stderr
    assert "none of 20 studies" in answer.stdout
    assert "under 0.1 % of studies" not in answer.stdout


def test_power_of_a_study_with_criteria_is_that_of_its_plan() -> None:
    study = hp.Study(
        scale="1:5",
        criteria=("fluency", "adequacy"),
        systems=("old", "new"),
        preset=("high",),
        effect_raw=0.4,
        workers=40,
        items=80,
        ratings_per_item=3,
    )
    by_formula = hp.power(study, method="analytic").analytic.power
    at_half = hp.power(study.with_(criteria=None, alpha=0.025), method="analytic").analytic.power
    assert by_formula == at_half
    study = study.with_(cost_per_rating=0.1)
    study = study.with_(items_range="80", ratings_per_item_range="3", power=by_formula - 0.01)
    plan = hp.plan(study, n_simulations=200).plan
    sized = study.with_(workers=plan.design().n_workers, items=80)
    assert plan.recomputed_power() == pytest.approx(
        hp.power(sized, method="analytic").analytic.power, abs=1e-3
    )


def test_a_study_with_criteria_is_drawn_on_each_of_them_and_analysed(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        f'{HEAD}scale = "1:5"\ncriteria = ["fluency", "adequacy"]\nsystems = ["old", "new"]\npreset = ["high"]\n'
        'response = "clipped"\neffect_raw = 0.4\nworkers = 6\nitems = 9\nratings_per_item = 3\n'
    )
    table = tmp_path / "r.csv"
    run("simulate", str(study), "-o", str(table))
    drawn = [line.split(",") for line in table.read_text().splitlines()]
    assert drawn[0] == ["worker", "item", "system", "criterion", "rating"]
    assert len(drawn) == 1 + 2 * 54
    ratings = {name: [row[4] for row in drawn if row[3] == name] for name in ("fluency", "adequacy")}
    assert ratings["fluency"] != ratings["adequacy"]
    analysed = run("analyze", str(table), "--study", str(study), "--json")
    assert [one["criterion_name"] for one in json.loads(analysed.stdout)["criteria"]] == [
        "fluency",
        "adequacy",
    ]
    for name, own in ratings.items():
        one = run("simulate", str(study), "--criterion", name, "--format", "csv")
        of_one = [float(line.split(",")[4]) for line in one.stdout.splitlines()[1:]]
        assert of_one == pytest.approx([float(rating) for rating in own], abs=1e-4)
    refused = run("simulate", str(study), "--criterion", "style", code=2)
    assert "the criteria of the study are fluency, adequacy" in " ".join(refused.stderr.split())
