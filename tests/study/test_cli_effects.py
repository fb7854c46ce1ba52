"""Commands that take an effect: its units are said first, and none that cannot exist is computed with."""

import json

import cli
import pytest
from cases import each_case, few_fast
from places import ROOT

import humeval_power as hp
from humeval_power.saying.render import as_markdown
from humeval_power.studies.plan.files import read_plan
from humeval_power.studies.plan.result import plan_document

PILOT = str(ROOT / "data" / "pilot.csv")
SIZE = ("--workers", "6", "--items", "20")
HIGH = ("--preset", "high")
LIBRARY = ("--preset", "squality-bart-human")
PRICE = ("--cost-per-rating", "0.1")
FAST = ("--simulations", "50")
STUDIES = {
    "power": ("power", *HIGH, *SIZE, "--method", "analytic"),
    "size": ("size", *HIGH, "--find", "items", "--workers", "30", *FAST),
    "surface": ("surface", *HIGH, *SIZE, *FAST),
    "looks study": ("looks", "study", *HIGH, "--workers", "10", "--items", "30", "--looks", "2", *FAST,
                    "--calibrate", "never"),
    "judge study": ("judge", "study", *HIGH, *SIZE, "--extra", "10", "--correlation", "0.5"),
    "plan": ("plan", *HIGH, *PRICE, "--items", "50", "--workers", "30", *FAST),
    "mde": ("mde", *HIGH, *SIZE, "--method", "analytic", "--alternative", "equivalent"),
}  # fmt: skip


def run(*arguments: object, code: int | None = 0) -> tuple[str, str]:
    result = cli.run(*arguments, code=code)
    return result.stdout, " ".join(result.stderr.split())


def refused(*arguments: object) -> str:
    return run(*arguments, code=2)[1]


@each_case("command", STUDIES)
@each_case("value", ["3", "-1.5", "1e308", "nan", "inf"])
def test_an_effect_that_cannot_exist_is_refused_by_the_name_of_its_option(command, value):
    message = refused(*STUDIES[command], "--effect", value)
    assert "--effect" in message
    assert "finite" in message or "of a size between" in message or "lies between -1 and 1" in message


@each_case("command", STUDIES)
def test_points_beyond_the_scale_are_refused_and_points_of_no_scale_asked_for(command):
    assert "between -4 and 4 points" in refused(*STUDIES[command], "--effect-raw", "30", "--scale", "1:5")
    assert "points of which scale? Add --scale" in refused(*STUDIES[command], "--effect-raw", "0.3")
    both = refused(*STUDIES[command], "--effect-raw", "0.3", "--effect", "0.1", "--scale", "1:5")
    assert "--effect on [0, 1]" in both
    assert "--effect-raw in points of the scale" in both


@each_case("command", STUDIES)
@each_case("scale", ["5:1", "3:3", "1:nan", "one:five", "1:5:1"])
def test_a_scale_that_is_none_is_refused_by_the_name_of_its_option(command, scale):
    message = refused(*STUDIES[command], "--effect-raw", "0.3", "--scale", scale)
    assert "'--scale'" in message


@few_fast("command", STUDIES, fast=1)
def test_the_effect_is_said_in_points_and_in_the_record_on_the_unit_scale_too(command):
    arguments = (*STUDIES[command], "--effect-raw", "0.8", "--scale", "1:5")
    if command == "mde":
        arguments = (*STUDIES[command], "--effect-raw", "0.08", "--scale", "1:5")
    words = "0.08 points" if command == "mde" else "0.8 points"
    text, _ = run(*arguments, code=None)
    assert words in " ".join(text.split())
    record = json.loads(run(*arguments, "--json", code=None)[0])
    assert record["understood"].startswith(f"{words} of the scale 1 to 5, that is B - A = ")


def test_points_give_the_same_power_as_the_share_that_they_are():
    points = json.loads(run(*STUDIES["power"], "--effect-raw", "30", "--scale", "0:100", "--json")[0])
    share = json.loads(run(*STUDIES["power"], "--effect", "0.3", "--json")[0])
    assert points["power"] == share["power"]


def test_a_margin_may_be_given_in_points_and_cannot_be_wider_than_the_scale():
    study = (*STUDIES["power"], "--alternative", "equivalent")
    points = json.loads(run(*study, "--margin-raw", "1.2", "--scale", "1:5", "--json")[0])
    assert points["rule"]["margin"] == pytest.approx(0.3)
    text, _ = run(*study, "--margin-raw", "1.2", "--scale", "1:5")
    margin = next(line for line in text.splitlines() if line.startswith("Margin"))
    assert " ".join(margin.split()) == "Margin 0.3 on [0, 1], 1.2 on the scale 1 to 5"
    assert "--margin: value 3.0" in refused(*study, "--margin", "3")
    assert "--margin-raw" in refused(*study, "--margin-raw", "9", "--scale", "1:5")
    assert "Add --scale" in refused(*study, "--margin-raw", "1")
    assert "not both" in refused(*study, "--margin-raw", "1", "--margin", "0.1", "--scale", "1:5")


@pytest.mark.parametrize("command", ["analyze", "fit", "calibrate"])
def test_a_margin_in_points_is_said_on_the_unit_scale_before_it_decides(command):
    source = (*HIGH, *SIZE, *FAST) if command == "calibrate" else (PILOT, *FAST)
    margin = ("--alternative", "equivalent", "--margin-raw", "1.2")
    text, told = run(command, *source, "--scale", "1:5", *margin)
    assert "Margin: 1.2 points of the scale 1 to 5, that is 0.3 on [0, 1]." in told
    if command == "calibrate":
        assert "Margin   0.3 on [0, 1], 1.2 on the scale 1 to 5" in text
    assert "points of which scale?" in refused(command, *source, *margin)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("fit") / "mine.json"
    run("fit", PILOT, "--scale", "1:5", "-o", path)
    return str(path)


def test_ones_own_file_lends_its_scale_and_a_typed_scale_wins(fitted):
    study = ("power", "--parameters", fitted, *SIZE, "--effect-raw", "0.3", "--method", "analytic")
    assert json.loads(run(*study, "--json")[0])["difference"] == pytest.approx(0.075)
    typed = run(*study, "--scale", "0:100", "--json")[0]
    assert json.loads(typed)["difference"] == pytest.approx(0.003)


def test_a_plan_from_a_file_keeps_to_the_scale_that_was_typed(fitted, tmp_path):
    exported = tmp_path / "lib.json"
    run("more", "parameters", "show", "squality-bart-human", "-o", exported)
    plan = ("plan", *PRICE, "--items", "50", "--workers", "10", *FAST, "--effect-raw", "0.3", "--json")
    for source in (("--parameters", fitted), LIBRARY, ("--parameters", exported)):
        record = json.loads(run(*plan, *source, "--scale", "1:7", code=None)[0])
        assert record["effect"] == pytest.approx(0.05)


@few_fast("command", STUDIES, fast=1)
def test_an_entry_of_the_library_works_wherever_parameters_do(command):
    arguments = [part if part != "high" else LIBRARY[1] for part in STUDIES[command]]
    text, _ = run(*arguments, "--effect", "0.05" if command == "mde" else "0.15", code=None)
    words = "if B is 0.05 better than A" if command == "mde" else "0.15"
    assert words in " ".join(text.split())


def test_simulate_says_how_many_ratings_lie_beyond_the_scale():
    study = ("simulate", *HIGH, *SIZE, "--scale", "1:5", "--effect", "0.3")
    assert "ratings lie beyond the ends of the scale" in run(*study)[1]
    assert "beyond" not in run(*study, "--response", "likert")[1]


def test_simulate_and_calibrate_take_an_entry_of_the_library():
    study = ("simulate", *LIBRARY, *SIZE, "--scale", "1:5", "--effect-raw", "0.4")
    text, _ = run(*study)
    assert "0.4 points of the scale 1 to 5" in text
    assert "B - A = 0.1 on" in text
    assert run(*study, "--format", "csv")[0].startswith("worker,item,system,rating")
    shown = " ".join(run("calibrate", *LIBRARY, *SIZE, *FAST)[0].split())
    assert f"Setting {LIBRARY[1]} (Overall quality of summaries: BART and people), no difference" in shown


def test_python_knows_the_entries_of_the_library_by_name():
    assert hp.preset("high").sd_worker_slope == 0.11
    entry = hp.library_entry("squality-bart-human")
    assert hp.preset("squality-bart-human") == entry.parameters
    assert entry.systems == ("bart", "human")
    with pytest.raises(hp.InputError, match="Did you mean 'squality-bart-human'"):
        hp.preset("squality-bart-humen")


def test_a_misspelt_preset_offers_the_nearest_of_all():
    assert "Did you mean 'high'?" in refused("power", "--preset", "hihg", *SIZE, "--effect", "0.1")


@each_case(
    ("arguments", "low", "high"),
    [
        (("assessment", "power", "--n", "50"), "-75", "25 points"),
        (("corpus", "power", "--n", "50"), "-100", "100"),
        (("accuracy", "power", "--n", "50", "--agreement", "0.9"), "-1", "1"),
        (("preference", "power", "--n", "50"), "-0.5", "0.5"),
        (
            (
                *("contingency", "power", "--n", "50", "--prevalence", "0.3"),
                *("--recall", "0.8", "--precision", "0.8", "--label-agreement", "0.9"),
            ),
            "-0.15",
            "0.15",
        ),
        (("looks", "scores", "--n", "50"), "-75", "25 points"),
        (("looks", "preference", "--n", "50"), "-0.5", "0.5"),
        (("looks", "accuracy", "--n", "50", "--agreement", "0.9"), "-1", "1"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else None,
)
@each_case("value", ["300", "1e308", "nan"])
def test_every_family_refuses_what_cannot_exist_in_its_own_units(arguments, low, high, value):
    message = refused(*arguments, "--effect", value)
    assert "--effect" in message
    if value == "300":
        assert f"between {low}" in message
        assert high in message


def test_an_effect_without_room_around_the_baseline_is_warned_of_and_computed():
    _, told = run(
        "power", "--values", "baseline=0.9,sd_worker_slope=0.1,sd_residual=0.2", *SIZE,
        "--effect", "0.5", "--method", "analytic",
    )  # fmt: skip
    assert "there is room for 0.2" in told


def test_the_coefficient_of_card_et_al_is_half_a_difference():
    study = ("power", *HIGH, *SIZE, "--compat", "card2020", *FAST, "--method", "analytic")
    assert "between -0.5 and 0.5" in refused(*study, "--effect", "0.6")
    assert "give the coefficient with --effect" in refused(*study, "--effect-raw", "0.6", "--scale", "1:5")


def test_resample_takes_points_too():
    text, _ = run("resample", PILOT, "--scale", "1:5", "--shift-raw", "0.4", "--simulations", "20")
    assert "Effect    0.4 points of the scale 1 to 5, that is new - baseline = 0.1 on [0, 1]" in text


@each_case(
    ("arguments", "missing"),
    [
        (("power",), ("--parameters FILE", "--workers", "--items", "--effect or --effect-raw")),
        (("size",), ("--find", "--parameters FILE", "--effect or --effect-raw")),
        (("surface",), ("--workers", "--items", "--parameters FILE", "--effect or --effect-raw")),
        (("mde",), ("--workers", "--items", "--parameters FILE")),
        (("simulate",), ("--workers", "--items", "--parameters FILE")),
        (("plan",), ("--items", "--cost-per-rating", "--effect or --effect-raw")),
        (("looks", "study"), ("--workers", "--items", "--parameters FILE", "--effect")),
        (("judge", "study"), ("--workers", "--items", "--extra", "--correlation", "--effect")),
        (("accuracy", "surface"), ("--n", "--effect")),
        (("survey",), ("TABLE", "--parameters FILE")),
    ],
    ids=lambda value: " ".join(value) if value and not value[0].startswith("-") else None,
)
def test_everything_that_is_missing_is_named_at_once(arguments, missing):
    message = refused(*arguments, "--seed", "1") if arguments[0] == "power" else refused(*arguments)
    assert "These are missing:" in message
    for name in missing:
        assert name in message


# -- a plan without a pilot ---------------------------------------------------------------------------

NOTHING = ("plan", *PRICE, "--items", "50:100:50", "--max-workers", "12", *FAST)


@few_fast(
    ("scale", "points", "entry", "absent"),
    [
        (("--scale", "1:5"), ("--effect-raw", "1.2"), "pplm-fluency-steered", "squality-bart-human"),
        (("--scale", "1:7"), ("--effect-raw", "1.8"), "pplm-fluency-steered", "squality-bart-human"),
        (("--scale", "0:100"), ("--effect-raw", "30"), "squality-bart-human", "pplm-fluency-steered"),
        (("--scale=-25:0",), ("--effect-raw", "7.5"), "wmt23-zhen-hwtsc-gpt4", "squality-bart-human"),
        ((), ("--effect", "0.3"), "pplm-fluency-steered", "squality-bart-human"),
    ],
    fast=1,
)
def test_without_a_pilot_a_plan_is_for_what_is_typical_beside_both_ends(scale, points, entry, absent):
    text, _ = run(*NOTHING, *scale, *points, code=None)
    assert text.startswith("Plan: ")
    assert "Your answer hangs on this" in " ".join(text.split())
    assert entry in text
    assert absent not in text
    record = json.loads(run(*NOTHING, *scale, *points, "--json", code=None)[0])
    assumed = record["assumed"]
    assert record["effect"] == pytest.approx(0.3)
    assert assumed["planned_for"] == entry
    ends = {standing: name for name, standing in assumed["standings"].items()}
    assert list(ends) == ["typical", "cautious end", "hopeful end"]
    power = assumed["power"]
    assert power[ends["cautious end"]] <= power[entry] <= power[ends["hopeful end"]]
    assert all(whose in " ".join(text.split()) for whose in assumed["whose"].values())
    assert assumed["power_range"] == [min(assumed["power"].values()), max(assumed["power"].values())]
    assert "no pilot" in assumed["chosen_because"]


def test_the_sealed_plan_is_made_from_one_entry_and_lists_the_others(tmp_path):
    path = tmp_path / "plan.json"
    run(*NOTHING, "--preset", "low,squality-bart-human,high", "--effect", "0.2", "--systems", "old,new",
        "-o", path, code=None)  # fmt: skip
    plan = json.loads(path.read_text())
    assert plan["source"]["name"] == "low"
    assert plan["study"]["systems"] == ["old", "new"]
    assert plan["source"]["scale"] is None
    assert [other["name"] for other in plan["sensitivity"]["others"]] == ["squality-bart-human", "high"]
    assert len(plan["sensitivity"]["powers"]) == 2
    page = as_markdown(plan_document(read_plan(path)))
    assert "What the answer hangs on" in page
    assert "squality-bart-human" in page
    run("power", "--plan", path, "--method", "analytic")


def test_a_power_in_the_list_of_others_that_was_changed_is_found(tmp_path):
    path = tmp_path / "plan.json"
    run(*NOTHING, "--preset", "low,high", "--effect", "0.2", "-o", path, code=None)
    plan = json.loads(path.read_text())
    plan["sensitivity"]["powers"][0] = 0.999
    path.write_text(json.dumps(plan))
    assert "sensitivity.powers" in refused("power", "--plan", path, "--method", "analytic")


def test_a_budget_that_does_not_reach_the_power_ends_with_3():
    poor = ("plan", *HIGH, *PRICE, "--items", "20:60:20", "--max-workers", "8", *FAST, "--effect", "0.1")
    text, _ = run(*poor, "--budget", "50", code=3)
    assert "Not met" in text


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["1:5", "0:100", "1:7", None])
def test_a_study_goes_from_nothing_to_its_report(scale, tmp_path):
    said = () if scale is None else ("--scale", scale)
    folder = tmp_path / "study"
    plan = folder / "plan"
    run("plan", *PRICE, "--items", "20:40:20", "--workers", "6", "--effect", "0.3", *said, *FAST,
        "--preset", "low", "-o", plan, code=None)  # fmt: skip
    content = json.loads((plan / "plan.json").read_text())
    counts = content["study"]
    run("assign", "--plan", plan, "-o", folder / "assignment.csv")
    run("simulate", "--preset", "low", "--workers", counts["workers"], "--items", counts["items"],
        "--ratings-per-item", counts["ratings_per_item"], "--effect", "0.3", *said,
        "--response", "clipped" if scale in (None, "0:100") else "likert",
        "-o", folder / "ratings.csv")  # fmt: skip
    given = ("--scale", "0:1") if scale is None else ()
    run("analyze", folder / "ratings.csv", "--plan", plan, *given, *FAST, "-o", folder / "analysis.json")
    run("report", "--findings", folder / "analysis.json", "--plan", plan, "-o", folder / "report.md")
    assert "B - A" in (plan / "index.html").read_text()
    assert (folder / "report.md").exists()
