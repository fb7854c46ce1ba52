"""Equivalence and non-inferiority on the command line: the story of a plan, and what is refused."""

import datetime
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from places import ROOT

from humeval_power.doors.terminal.main import main
from humeval_power.errors import InputError
from humeval_power.rules import DecisionRule
from humeval_power.saying.render import as_markdown
from humeval_power.scales import RatingScale
from humeval_power.simulation.study import simulate
from humeval_power.studies.plan.files import amend_plan, read_plan
from humeval_power.studies.plan.result import plan_document

PILOT = ROOT / "data" / "pilot.csv"
STUDY = ("--preset", "high", "--workers", "12", "--items", "40", "--simulations", "300")
EQUIVALENT = ("--alternative", "equivalent", "--margin", "0.2")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], prog_name="humeval-power")


def text(*arguments: object, code: int = 0) -> str:
    """Standard output with single blanks; every line fits a terminal."""
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert max(map(len, result.stdout.splitlines())) <= 80
    return " ".join(result.stdout.split())


def record(*arguments: object, code: int = 0) -> dict:
    result = run(*arguments, "--json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def refused(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    return " ".join(result.stderr.split())


# power, mde, size, surface, calibrate


def test_power_is_shown_at_no_difference_and_halfway_to_the_margin() -> None:
    found = record("power", *STUDY, *EQUIVALENT)
    assert (found["effect"], found["type_m"], found["type_s"]) == (0, None, None)
    assert found["rule"]["margin"] == 0.2
    halfway = found["halfway_to_margin"]
    assert halfway["effect"] == 0.1
    assert halfway["power"] < found["power"]
    assert halfway["analytic"] == pytest.approx(halfway["power"], abs=0.1)  # 300 studies
    there = record("power", *STUDY, *EQUIVALENT, "--effect", "0.1")
    assert there["power"] == halfway["power"]  # the same studies
    assert "halfway_to_margin" not in there


def test_a_negative_true_difference_is_accepted() -> None:
    found = record("power", *STUDY, *EQUIVALENT, "--effect", "-0.05", "--method", "analytic")
    mirrored = record("power", *STUDY, *EQUIVALENT, "--effect", "0.05", "--method", "analytic")
    assert found["power"] == pytest.approx(mirrored["power"], abs=1e-12)


def test_mde_finds_the_smallest_margin() -> None:
    assert "Target power 0.8 at B - A = 0" in text("mde", *STUDY, "--alternative", "equivalent")
    found = record("mde", *STUDY, "--alternative", "non-inferior", "--effect", "-0.02")
    assert (found["sought"], found["effect"], found["rule"]["margin"]) == ("margin", -0.02, None)
    margin = str(found["simulated"]["effect"])
    rule = ("--alternative", "non-inferior", "--effect", "-0.02", "--margin", margin)
    assert record("power", *STUDY, *rule)["power"] == pytest.approx(0.8, abs=1 / 300)


def test_size_counts_what_the_margin_needs() -> None:
    arguments = ("size", "--preset", "high", "--find", "workers", "--items", 60, "--simulations", 100)
    said = text(*arguments, *EQUIVALENT)
    assert "Margin 0.2 on [0, 1]" in said
    assert "halfway to the margin" in said
    near = record(*arguments, *EQUIVALENT)
    wide = record(*arguments, "--alternative", "equivalent", "--margin", "0.3")
    assert near["workers"] > wide["workers"]
    assert near["halfway_to_margin"]["analytic"] < near["analytic_power"]


def test_size_says_which_margin_no_number_of_items_can_show() -> None:
    arguments = ("size", "--preset", "high", "--find", "items", "--workers", 5, "--simulations", 100)
    said = text(*arguments, *EQUIVALENT, code=3)
    assert "of 100 such studies show equivalence within 0.2 at best" in said
    assert "the smallest margin that 80 show is" in said


def test_surface_looks_halfway_by_itself() -> None:
    arguments = ("surface", "--preset", "high", "--workers", 12, "--items", 40, "--simulations", 100)
    found = record(*arguments, *EQUIVALENT)
    assert [row["effect"] for row in found["rows"]] == [0.0, 0.1]
    said = text(*arguments, *EQUIVALENT)
    assert "type M" not in said
    assert "Power to show equivalence within 0.2" in said
    assert "optimistic" in run(*arguments, *EQUIVALENT, "--effect", "0,0.05").stderr


def test_calibrate_simulates_at_the_margin(tmp_path: Path) -> None:
    arguments = ("calibrate", "--preset", "high", "--workers", 6, "--items", 12, "--simulations", 100)
    said = text(*arguments, *EQUIVALENT)
    run(*arguments, *EQUIVALENT, "-o", tmp_path / "out")
    assert "a true difference B - A of -0.2, at the margin" in said
    assert "Tests that know no margin are left out" in said
    assert "B better" not in said
    refused = " ".join(run(*arguments, *EQUIVALENT, "--p", 0.03).stderr.split())
    assert "p is judged for a test of a difference: leave out the margin" in refused
    stored = json.loads((tmp_path / "out" / "record.json").read_text())
    assert stored["rule"]["margin"] == 0.2
    assert stored["settings"]["high"]["effect"] == pytest.approx(-0.1)  # under -1/+1 coding


def test_the_checklist_takes_the_margin_from_a_power_document(tmp_path: Path) -> None:
    result = run("power", *STUDY, *EQUIVALENT, "--json", "-o", tmp_path / "power.json")
    assert result.exit_code == 0, result.output
    said = text_of_report("--form", "card2020", "--power-file", tmp_path / "power.json")
    assert "A margin of 0.2 on [0, 1]; power was computed for a true difference of 0" in said
    assert "to show equivalence within 0.2 for a true difference of 0" in said


# Bad input


@pytest.mark.parametrize("command", [("power", *STUDY), ("calibrate", *STUDY)])
def test_a_margin_is_refused_or_missed_in_one_sentence(command: tuple[str, ...]) -> None:
    assert "needs a margin" in refused(*command, "--alternative", "equivalent")
    assert "above 0 and at most 1" in refused(*command, "--alternative", "equivalent", "--margin", "0")
    assert "value -0.1" in refused(*command, "--alternative", "non-inferior", "--margin", "-0.1")
    assert "'two-sided' has none" in refused(*command, "--margin", "0.1")


def test_what_does_not_go_with_a_margin_is_refused() -> None:
    assert "leave out --margin" in refused("mde", *STUDY, *EQUIVALENT)
    assert "it belongs to --alternative" in refused("mde", *STUDY, "--effect", "0.1")
    assert "tests for a difference" in refused("power", *STUDY, *EQUIVALENT, "--compat", "card2020")
    surface = ("surface", "--preset", "high", "--workers", 5, "--items", 20)
    assert "leave out --margin" in refused(*surface, *EQUIVALENT, "--compare", "card2020")
    assert "--effect or --effect-raw" in refused(*surface)
    size = ("size", "--preset", "high", "--find", "items", "--workers", 5)
    assert "--effect or --effect-raw" in refused(*size)
    assert "give an --effect between -0.2 and 0.2" in refused(*size, *EQUIVALENT, "--effect", "0.3")


def test_all_pairs_are_decided_by_a_margin_as_the_pair_by_itself() -> None:
    asked = ("analyze", PILOT, "--scale", "1:5", *EQUIVALENT, "--json")
    alone, together = (json.loads(run(*asked, *more).stdout) for more in ((), ("--all-pairs",)))
    del alone["command"], together["command"]
    assert together == alone  # one comparison: nothing to correct


# A plan, its file and the analysis by it


@pytest.fixture(scope="module")
def plan(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("plan") / "plan.json"
    limits = ("--items", "40:80:20", "--max-workers", 20, "--ratings-per-item", "2:3")
    result = run(
        "plan", PILOT, "--scale", "1:5", *EQUIVALENT, *limits, "--cost-per-rating", "0.1",
        "--simulations", 100, "-o", path, "--json", "--date", "2026-01-05",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    (path.parent / "record.json").write_text(result.stdout)
    return path


@pytest.fixture(scope="module")
def ratings(plan: Path) -> Path:
    """Ratings as planned, of systems that do not differ."""
    planned = read_plan(plan)
    found = simulate(
        planned.parameters.with_difference(0.0), planned.design(), seed=4, response="likert", points=5
    )
    a, b = planned.systems
    table = found.to_frame(RatingScale(1, 5, points=5)).replace({"system": {"A": a, "B": b}})
    path = plan.parent / "ratings.csv"
    table.to_csv(path, index=False)
    return path


def test_the_plan_keeps_its_margin_and_says_it_on_its_page(plan: Path) -> None:
    read = read_plan(plan)
    assert read.rule == DecisionRule(alternative="equivalent", margin=0.2)
    assert read.effect == 0
    assert read.question == "Are baseline and new rated alike, within 0.2 on [0, 1]?"
    page = as_markdown(plan_document(read))
    assert "would show that baseline and new differ by less than 0.8 points" in page
    assert "0.2 on [0, 1], 0.8 on the scale 1 to 5: the smallest difference that would matter" in page
    assert "said to be equivalent within 0.2 if both one-sided tests are significant" in page
    assert "halfway to the margin" in page
    search = json.loads((plan.parent / "record.json").read_text())
    assert search["halfway_to_margin"]["effect"] == 0.1


def test_another_margin_in_the_file_is_noticed_and_can_be_amended(plan: Path, tmp_path: Path) -> None:
    edited = tmp_path / "plan.json"
    document = json.loads(plan.read_text())
    document["study"]["margin"] = 0.25
    edited.write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"study\.margin: 0\.2 -> 0\.25"):
        read_plan(edited)
    amended, _ = amend_plan(edited, "a wider margin", date=datetime.date(2026, 2, 1))
    assert amended.rule.margin == 0.25
    assert amended.predicted.analytic > read_plan(plan).predicted.analytic


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"margin": None}, "needs a margin"),
        ({"alternative": "two-sided"}, "has none"),
        ({"alternative": "two-sided", "margin": None}, "must not be 0: no study can find that"),
        ({"alpha": 0.6}, "alpha must lie below 0.5"),
    ],
)
def test_a_plan_whose_rule_and_margin_do_not_agree_is_refused(
    changes: dict, said: str, plan: Path, tmp_path: Path
) -> None:
    edited = tmp_path / "plan.json"
    document = json.loads(plan.read_text())
    document["study"].update(changes)
    edited.write_text(json.dumps(document))
    with pytest.raises(InputError) as caught:
        read_plan(edited)
    assert said in str(caught.value)


def test_a_plan_for_a_difference_beyond_its_margin_is_refused(plan: Path, tmp_path: Path) -> None:
    edited = tmp_path / "plan.json"
    document = json.loads(plan.read_text())
    document["study"]["effect"] = 0.2
    edited.write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"claim of the rule, equivalence within 0\.2, is true"):
        read_plan(edited)


def test_the_analysis_decides_by_the_margin_of_the_plan(plan: Path, ratings: Path, tmp_path: Path) -> None:
    said = text("analyze", ratings, "--plan", plan)
    run("analyze", ratings, "--plan", plan, "-o", tmp_path / "analysis.json")
    assert (
        "baseline and new are equivalent: they differ by less than 0.8 points on a scale from 1 to 5"
        in said
    )
    assert "lies inside -0.8 to 0.8)." in said
    assert "against a difference of -0.2 or less" in said
    assert "against a difference of 0.2 or more" in said
    assert "90 % interval" in said
    assert "No difference" not in said
    assert "Deviations from the plan None." in said
    effect = json.loads((tmp_path / "analysis.json").read_text())["effect"]
    assert effect["significant"]
    assert effect["p_value"] == max(effect["p_values"])
    assert effect["raw_margin"] == pytest.approx(0.8)
    assert -0.2 < effect["interval"][0] < effect["interval"][1] < 0.2
    paper = text_of_report("--form", "paper", "--findings", tmp_path / "analysis.json", "--plan", plan)
    assert "are equivalent: they differ by less than 0.8 points on a scale from 1 to 5" in paper
    assert "|eq:.2|" in paper
    checklist = text_of_report(
        "--form", "card2020", "--findings", tmp_path / "analysis.json", "--plan", plan
    )
    assert "A margin of 0.2 on [0, 1], 0.8 on the scale 1 to 5, by the plan." in checklist
    assert "two one-sided Wald tests" in text_of_report("--form", "osf", "--plan", plan)


def text_of_report(*arguments: object) -> str:
    result = run("report", *arguments)
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split())


def test_another_margin_than_the_plans_is_a_deviation(plan: Path, ratings: Path) -> None:
    said = text("analyze", ratings, "--plan", plan, "--alternative", "equivalent", "--margin", "0.02")
    assert "are not shown to be equivalent, to differ by less than 0.08 points on a scale" in said
    assert "does not show that they differ" in said
    assert "margin: planned 0.2 on [0, 1]; found 0.02 on [0, 1]" in said


def test_without_a_plan_the_margin_has_to_be_justified(ratings: Path) -> None:
    rule = ("--alternative", "non-inferior", "--margin", "0.3")
    said = text("analyze", ratings, "--scale", "1:5", "--systems", "baseline,new", *rule)
    assert "new is non-inferior to baseline: less than 1.2 points worse on a scale from 1 to 5" in said
    assert "The margin has to be fixed before the ratings are seen" in said


def test_power_from_the_plan_has_its_margin(plan: Path) -> None:
    found = record("power", "--plan", plan, "--method", "analytic")
    assert found["power"] == pytest.approx(read_plan(plan).predicted.analytic, abs=1e-9)
    assert found["rule"]["margin"] == 0.2
