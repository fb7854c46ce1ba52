"""`humeval-power fit` and `simulate`: one result each, its pictures, and the files of -o."""

import json
from pathlib import Path

import numpy as np
import pytest
from cli import run, run_json
from places import ROOT

from humeval_power.designs import crossed
from humeval_power.files.documents.reading import read_parameters
from humeval_power.files.tables import read_ratings
from humeval_power.parameters import preset
from humeval_power.rules import DecisionRule
from humeval_power.scales import RatingScale
from humeval_power.studies.fit.calls import fit
from humeval_power.studies.fit.figures import effect_chart
from humeval_power.studies.fit.wald import finished_test
from humeval_power.studies.power.calls_drawn import simulate

PILOT = ROOT / "data" / "pilot.csv"


def test_a_fit_says_its_answer_first_and_fits_the_terminal() -> None:
    lines = run("fit", PILOT, "--scale", "1:5").stdout.splitlines()
    assert lines[0] == "Fit of pilot.csv"
    assert lines[1].startswith("new is rated 0.28 points higher than baseline on a scale from 1 to 5; no")
    assert max(map(len, lines)) <= 80


def test_a_fit_that_shows_no_difference_says_what_it_would_have_found(tmp_path: Path) -> None:
    answer = " ".join(run("fit", PILOT, "--scale", "1:5", "-o", tmp_path / "fit.json").stdout.split())
    assert "If the true difference were 0.49 points, 80 of 100 such studies would find it" in answer
    same = run_json(
        "mde", "--parameters", tmp_path / "fit.json", "--workers", "10", "--items", "60",
        "--ratings-per-item", "3", "--method", "analytic",
    )  # fmt: skip
    assert 4 * same["analytic"] == pytest.approx(0.49, abs=0.005)


def test_a_folder_holds_the_parameters_and_the_pictures(tmp_path: Path) -> None:
    run("fit", PILOT, "--scale", "1:5", "-o", tmp_path / "fit")
    names = {path.name for path in (tmp_path / "fit").iterdir()}
    pictures = {
        f"{name}.{ending}" for name in ("effect", "ratings", "variation") for ending in ("svg", "png")
    }
    assert names == {"index.html", "record.json", "table.csv", *pictures}
    parameters, document = read_parameters(tmp_path / "fit" / "record.json")
    assert parameters.difference == pytest.approx(document["effect"]["estimate"])


def test_only_a_fit_that_drew_something_has_a_seed(tmp_path: Path) -> None:
    assert "seed" not in run_json("fit", PILOT, "--scale", "1:5")
    experts = ROOT / "data" / "experts.csv"
    three = [line for line in experts.read_text().splitlines() if line.split(",")[0] not in ("w4", "w5")]
    (tmp_path / "few.csv").write_text("\n".join(three) + "\n")
    record = run_json("fit", tmp_path / "few.csv", "--scale", "0:100", "--simulations", "50", "--seed", "7")
    assert record["seed"] == 7
    assert record["effect"]["simulated_size"] is not None


def test_a_significant_result_of_few_workers_names_the_command_that_judges_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    lines = ["worker,item,system,rating"]
    for place in np.ndindex(3, 40):
        for system, mean in (("A", 3.0), ("B", 3.5)):
            lines.append(
                "w{},i{},".format(*place) + f"{system},{np.clip(round(rng.normal(mean, 0.7)), 1, 5)}"
            )
    (tmp_path / "few.csv").write_text("\n".join(lines) + "\n")
    for command in ("fit", "analyze"):
        asked = (command, tmp_path / "few.csv", "--scale", "1:5", "--simulations", "50")
        p_value = run_json(*asked)["effect"]["p_value"]
        assert p_value <= 0.05
        shown = " ".join(run(*asked).stdout.split())
        named = f"humeval-power more calibrate --p {p_value:.2g} --workers 3 --items 40"
        assert f"{named}." in shown
    assert run(*named.split()[1:], "--simulations", "50").stdout.startswith(
        f"Is p = {p_value:.2g} credible?"
    )


def test_from_python_a_fit_is_the_same_and_gives_what_others_plan_from() -> None:
    ratings = read_ratings(PILOT, scale="1:5")
    found = fit(ratings)
    record = run_json("fit", PILOT, "--scale", "1:5")
    assert found.record()["parameters"] == record["parameters"]
    assert found.parameters is found.fitted.parameters
    assert found.design.n_workers == 10
    assert "0.0708" in str(found)
    assert "<svg" in found._repr_html_() or "data:image" in found._repr_html_()
    frame = found.to_frame().set_index("parameter")
    assert frame.loc["effect", "value"] == found.test.estimate


def test_work_is_told_before_a_fit_simulates() -> None:
    told = []
    fit(read_ratings(PILOT, scale="1:5"), ahead=told.append)
    assert told == []
    fit(read_ratings(PILOT, scale="1:5"), n_simulations=10, ahead=told.append)
    assert len(told) == 1


@pytest.mark.parametrize(
    ("rule", "scale", "n_axes", "shaded"),
    [
        (DecisionRule(), None, 0, None),
        (DecisionRule(), RatingScale(1, 5, points=5, higher_is_better=False), 1, None),
        (DecisionRule(alternative="equivalent", margin=0.1), None, 0, (-0.1, 0.1)),
    ],
)
def test_the_effect_is_a_line_against_zero_or_the_margin(rule, scale, n_axes, shaded) -> None:
    tested = finished_test(0.05, 0.02, 12.0, rule)
    chart = effect_chart(tested, ("$old", "<new>"), scale)
    kinds = {each.kind: each for each in chart.series}
    assert kinds["line"].x == tested.interval
    assert kinds["points"].x == (tested.estimate,)
    assert len(chart.figure.axes) == 1 + n_axes
    assert (chart.top is not None) == bool(n_axes)
    ends = [each.x for each in chart.series if each.kind == "band"]
    assert ends == ([] if shaded is None else [pytest.approx(shaded)])
    assert chart.title == "Which is better: $old (left of 0) or <new> (right)?"


def test_a_folder_of_simulate_holds_the_ratings(tmp_path: Path) -> None:
    words = ("simulate", "--preset", "low", "--workers", 4, "--items", 10, "--seed", 3)
    run(*words, "-o", tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"index.html", "record.json", "ratings.csv", "ratings.svg", "ratings.png"}
    record = json.loads((tmp_path / "out" / "record.json").read_text())
    assert (record["seed"], record["n_ratings"], record["n_planned"]) == (3, 80, 80)
    run(*words, "-o", tmp_path / "drawn.csv")
    assert (tmp_path / "drawn.csv").read_bytes() == (tmp_path / "out" / "ratings.csv").read_bytes()


def test_simulate_from_python_keeps_the_ratings_and_what_they_were_drawn_from() -> None:
    drawn = simulate(preset("high"), crossed(4, 12), effect=0.1, scale=RatingScale(1, 5, points=5), seed=2)
    assert drawn.study.parameters.difference == pytest.approx(0.1)
    assert len(drawn.to_frame()) == len(drawn.ratings.rating) == 96
    assert drawn.provenance.seed == 2
    assert drawn.remarks[-1].startswith(f"{drawn.n_beyond} of 96")
