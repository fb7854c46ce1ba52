"""power, mde, size, surface and simulate of several systems, as a user asks for them."""

import csv
import re

import pytest
from cases import few_fast
from cli import run, run_json, text_of

from humeval_power.rules import DecisionRule
from humeval_power.saying.rule_words import ENOUGH_WORKERS

HIGH = ("--preset", "high", "--n-systems", "4")
SIZE = ("--workers", "8", "--items", "40")
FAST = ("--simulations", "200")
HOSTILE = "<b>bold</b>,50% \\alpha_{x},🙂,a name that is sixty characters long and then some more of it"


def refused(*words: object) -> str:
    return " ".join(run(*words, code=2).stderr.split())


def rows_of(path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    """An analysis of three systems with a joint fit."""
    folder = tmp_path_factory.mktemp("fit")
    run("simulate", "--preset", "high", "--systems", "base,small,large", *SIZE, "--effect", "0.2",
        "--pattern", "steps", "-o", folder / "ratings.csv")  # fmt: skip
    run("analyze", folder / "ratings.csv", "--all-pairs", "--model", "joint", "-o", folder / "an.json")
    return folder / "an.json"


def test_power_tells_every_goal_by_formula_and_by_simulation():
    record = run_json("power", *HIGH, *SIZE, "--effect", "0.3", *FAST)
    assert record["schema"] == "humeval_power/power/1"
    assert set(record["analytic"]["goals"]) == {"pair", "any", "all", "best", "first"}
    assert record["power"] == record["simulated"]["goals"]["pair"]
    low, high = record["simulated"]["intervals"]["pair"]
    assert low <= record["power"] <= high
    assert record["analytic"]["power"] == pytest.approx(record["power"], abs=0.15)
    assert len(record["simulated"]["pairs"]) == 6
    assert record["simulated"]["best_margin"]["estimate"] > 0
    assert record["assumed"]
    text = run("power", *HIGH, *SIZE, "--effect", "0.3", *FAST).stdout
    for words in (
        "find at least one true difference",
        "compound symmetry",
        "Hsu's interval",
        "D             0.825",
    ):
        assert words in text
    assert max(map(len, text.splitlines())) <= 80


def test_the_same_seed_gives_the_same_bytes_on_any_number_of_cores():
    words = ("power", *HIGH, *SIZE, "--effect", "0.3", "--simulations", "600", "--method", "simulate")
    one, two = (run_json(*words, "--jobs", jobs) for jobs in (1, 2))
    assert {**one, "command": ""} == {**two, "command": ""}


def test_two_systems_by_number_have_the_power_of_a_study_of_two():
    words = ("--preset", "high", *SIZE, "--effect", "0.3", "--method", "analytic")
    many = run_json("power", "--n-systems", "2", *words)
    two = run_json("power", *words)
    assert many["power"] == pytest.approx(two["power"], rel=1e-6)


def test_names_means_and_deviations_come_from_a_joint_fit(analysis):
    record = run_json("power", "--parameters", analysis, *SIZE, "--goal", "first", "--method", "analytic")
    assert record["parameters"]["names"] == ["base", "large", "small"]
    assert record["power"] == record["analytic"]["goals"]["first"] > 0.5
    # a pattern keeps the order of the fit
    placed = run_json("power", "--parameters", analysis, *SIZE, "--effect", "0.1", "--pattern", "steps",
                      "--method", "analytic")  # fmt: skip
    means = dict(zip(placed["parameters"]["names"], placed["parameters"]["means"], strict=True))
    assert means["large"] - means["small"] == pytest.approx(0.1)
    assert means["small"] - means["base"] == pytest.approx(0.1)
    fewer = run_json("power", "--parameters", analysis, "--systems", "base,large", *SIZE, "--effect", "0.1",
                     "--method", "analytic")  # fmt: skip
    assert "large - base" in fewer["understood"]
    both = run_json(
        "power", "--parameters", analysis, "--systems", "base,large", *SIZE, "--method", "analytic"
    )
    assert both["effect"] == pytest.approx(
        record["parameters"]["means"][1] - record["parameters"]["means"][0]
    )


def test_the_smallest_difference_is_found_with_the_power_that_was_asked_for():
    found = run_json("mde", *HIGH, *SIZE, "--goal", "any", "--pattern", "extremes", "--method", "analytic")
    again = run_json("power", *HIGH, *SIZE, "--goal", "any", "--pattern", "extremes", "--effect",
                     found["analytic"], "--method", "analytic")  # fmt: skip
    assert again["power"] == pytest.approx(0.8, abs=0.005)


@pytest.mark.slow
def test_the_smallest_difference_of_simulated_studies_is_near_that_of_the_formula():
    words = ("mde", *HIGH, *SIZE, "--goal", "any", "--pattern", "extremes")
    found, simulated = run_json(*words, "--method", "analytic"), run_json(*words, *FAST)
    assert simulated["simulated"]["effect"] == pytest.approx(found["analytic"], rel=0.2)


def test_a_size_has_the_power_and_one_less_has_not():
    words = ("--preset", "low", "--n-systems", "3", "--effect", "0.15", "--goal", "all")
    found = run_json("size", *words, "--find", "workers", "--items", "60", *FAST)
    size = found["workers"]

    def power(workers: int) -> float:
        return run_json("power", *words, "--workers", workers, "--items", "60", "--method", "analytic")[
            "power"
        ]

    assert power(size - 1) < 0.8
    assert found["analytic"]["power"] == pytest.approx(power(size))
    of_items = run_json("size", *words, "--find", "items", "--workers", "12", "--ratings-per-item", "3",
                        "--simulations", "50")  # fmt: skip
    assert of_items["ratings_per_item"] == 3
    nothing = run_json("size", "--preset", "high", "--n-systems", "3", "--effect", "0.02", "--find", "items",
                       "--workers", "5", code=3)  # fmt: skip
    assert nothing["items"] is None
    assert "by formula" in nothing["reason"]


def test_a_surface_has_a_row_for_each_study(tmp_path):
    words = ("surface", "--preset", "low", "--n-systems", "3", "--workers", "5,10", "--items", "30,60", "--effect",
             "0.1,0.2", *FAST)  # fmt: skip
    rows = run_json(*words)["rows"]
    assert len(rows) == 8
    assert {row["effect"] for row in rows} == {0.1, 0.2}
    powers = {(row["workers"], row["items"], row["effect"]): row["power"] for row in rows}
    assert powers[10, 60, 0.2] > powers[5, 30, 0.1]
    run(*words, "-o", tmp_path / "surface.csv")
    assert len(rows_of(tmp_path / "surface.csv")) == 8
    assert "core hours" in run(*words, "--dry-run").stdout


def test_pictures_and_pages_are_written(tmp_path):
    words = ("--preset", "low", "--n-systems", "3", "--effect", "0.1", *FAST)
    run("power", *words, *SIZE, "-o", tmp_path / "power")
    run("surface", *words, "--workers", "5,10", "--items", "30,60", "-o", tmp_path / "surface.png")
    assert (tmp_path / "power" / "index.html").exists()
    assert (tmp_path / "surface.png").stat().st_size > 10_000
    run("mde", "--preset", "low", "--n-systems", "3", *SIZE, *FAST, "-o", tmp_path / "mde.tex")
    assert "pair" in (tmp_path / "mde.tex").read_text(encoding="utf-8")


def test_hostile_names_are_told_as_they_are(tmp_path):
    words = ("--preset", "low", "--systems", HOSTILE, *SIZE, "--effect", "0.2", "--pattern", "steps")
    run("simulate", *words, "-o", tmp_path / "ratings.csv")
    rows = rows_of(tmp_path / "ratings.csv")
    assert {row["system"] for row in rows} == set(HOSTILE.split(","))
    assert len(rows) == 4 * 8 * 40
    for ending in ("html", "tex", "md"):
        run("power", *words, "--method", "analytic", "-o", tmp_path / f"power.{ending}")
    assert "<b>bold" not in (tmp_path / "power.html").read_text(encoding="utf-8")


def test_a_baseline_and_margins_have_their_own_goals():
    words = (*HIGH, *SIZE, "--baseline", "A", "--model", "joint", "--correction", "max-t")
    record = run_json("power", *words, "--effect", "0.3", "--method", "analytic")
    assert [pair["first"] for pair in record["analytic"]["pairs"]] == ["A"] * 3
    assert record["analytic"]["goals"]["best"] is None
    assert "'best' needs" in refused("power", *words, "--effect", "0.3", "--goal", "best")
    alike = run_json("power", "--preset", "low", "--n-systems", "3", *SIZE, "--alternative", "equivalent",
                     "--margin", "0.2", *FAST)  # fmt: skip
    assert 0 < alike["power"] <= 1


def test_what_says_nothing_or_contradicts_itself_is_refused():
    assert "--effect" in refused("power", *HIGH, *SIZE)
    assert "disagree" in refused("power", *HIGH, "--systems", "a,b", *SIZE, "--effect", "0.1")
    assert "not both" in refused("power", *HIGH, *SIZE, "--system-means", ".5,.5,.6,.7", "--effect", "0.1")
    few = refused("power", "--preset", "high", *SIZE, "--systems", "a,b", "--system-means", ".5,.6,.7")
    assert "disagree: --systems 2, --system-means 3" in few
    assert "--goal is for several" in refused(
        "power", "--preset", "high", *SIZE, "--effect", "0.1", "--goal", "any"
    )
    assert "--correction is for several" in refused("power", "--preset", "high", *SIZE, "--effect", "0.1",
                                                    "--correction", "holm")  # fmt: skip
    assert "categories of several systems" in refused("power", *HIGH, *SIZE, "--effect", "0.1", "--shares",
                                                      ".2,.3,.5")  # fmt: skip
    assert "no document effects" in refused("power", *HIGH, *SIZE, "--effect", "0.1", "--documents", "5",
                                            "--model", "joint")  # fmt: skip
    assert "whole scale" in refused("power", *HIGH, *SIZE, "--effect", "0.5", "--pattern", "steps")
    assert "above 0" in refused("power", *HIGH, *SIZE, "--effect", "-0.1")
    assert "nothing to find" in refused("power", *HIGH, *SIZE, "--system-means", ".5,.5,.5,.5")
    looks = ("looks", "study", "--preset", "high", *SIZE, "--looks", "2", "--effect", "0.2")
    max_t = ("--n-systems", "8", "--correction", "max-t", "--model", "joint")
    assert "no known joint law" in refused(*looks, *max_t)


def test_means_that_are_typed_are_the_truth():
    record = run_json(
        "power", "--preset", "high", *SIZE, "--system-means", ".5,.6,.9", "--method", "analytic"
    )
    assert record["parameters"]["means"] == [0.5, 0.6, 0.9]
    assert record["effect"] == pytest.approx(0.1)
    powers = {(pair["first"], pair["second"]): pair["power"] for pair in record["analytic"]["pairs"]}
    assert powers["A", "C"] > powers["B", "C"] > powers["A", "B"]


@pytest.mark.parametrize("systems", [(), ("--n-systems", "4")])
def test_a_size_by_formula_simulates_nothing_and_heeds_the_ratings_per_item(systems):
    words = ("--find", "workers", "--items", "150", "--effect", "0.2", "--ratings-per-item", "3")
    found = run_json("size", "--preset", "high", *systems, *words, "--method", "analytic")
    assert found["ratings_per_item"] == 3
    assert found["workers"] > 3
    assert not found.get("simulated")
    assert not found["n_simulations"]


def test_power_says_how_many_workers_or_items_would_do_as_size_finds_them():
    study = ("--preset", "typical", "--n-systems", "4", "--effect", "0.15", "--method", "analytic")
    said = run("power", *study, "--workers", "8", "--items", "40", "--ratings-per-item", "3").stdout
    sizes = [
        run_json("size", *study, "--find", sought, *given, "--ratings-per-item", "3")[sought]
        for sought, given in {"workers": ("--items", "40"), "items": ("--workers", "8")}.items()
    ]
    assert f"{sizes[0]} workers or {sizes[1]} items would do for 80 of 100." in " ".join(said.split())
    hard = run("power", *HIGH, *SIZE, "--effect", "0.1", "--method", "analytic").stdout
    assert "Neither more workers nor more items alone would do for 80 of 100." in " ".join(hard.split())


@pytest.mark.parametrize("systems", [(), ("--n-systems", "8")])
def test_workers_too_few_for_the_test_are_not_said_to_do_without_saying_why(systems):
    # Below ENOUGH_WORKERS the simulated false-positive rates of SIZE_AT_5_PERCENT leave the level.
    study = (
        "--preset",
        "typical",
        *systems,
        "--effect",
        "0.4",
        "--ratings-per-item",
        "2",
        "--method",
        "analytic",
    )
    given, enough = ("--items", "60"), ENOUGH_WORKERS[DecisionRule().df]
    assert run_json("size", *study, "--find", "workers", *given)["workers"] < enough
    sized = " ".join(run("size", *study, "--find", "workers", *given).stdout.split())
    assert (
        f"With fewer than {enough} workers the test rejects more often than it says: take {enough}."
        in sized
    )
    said = " ".join(run("power", *study, "--workers", "25", *given).stdout.split())
    assert re.search(r"by formula\. \d+ items would do for 80 of 100\.", said)


def test_an_answer_on_several_systems_names_its_correction():
    study = (*HIGH, *SIZE, "--effect", "0.1", "--method", "analytic")
    said = " ".join(run("power", *study).stdout.split())
    assert ", after Holm's correction over 6 tests, by formula." in said  # 4 x 3 / 2 pairs
    assert (
        "after"
        not in " ".join(run("power", *study, "--correction", "none").stdout.split()).partition(".")[0]
    )


@few_fast("words", [("power", "--items", "60"), ("size", "--find", "items"), ("mde", "--items", "60")])
def test_a_study_of_several_says_its_power_at_both_ends_of_what_is_usual(words):
    asked = (*words, "--workers", "12", "--ratings-per-item", "3", "--n-systems", "4", "--scale", "1:5")
    effect = () if words[0] == "mde" else ("--effect-raw", "0.6")
    found = run_json(*asked, *effect, "--preset", "typical", "--method", "analytic")
    # the twin: the same study under each setting that `plan` names, one by one
    settings = run_json(
        *("plan", "--items", "60", "--workers", "12", "--ratings-per-item", "3", "--simulations", "20"),
        *("--n-systems", "4", "--scale", "1:5", "--effect-raw", "0.6", "--cost-per-rating", "0.1"),
        code=None,
    )["assumed"]["origins"]
    size = str(found.get("items") or 60)
    effect = ("--effect", f"{found['analytic']:.17g}") if words[0] == "mde" else effect
    at = ("--items", size, *asked[asked.index("--workers") :])
    powers = [
        run_json("power", *at, *effect, "--preset", name, "--method", "analytic")["analytic"]["power"]
        for name in settings
    ]
    assert len(powers) == 3
    assert (found["spread"]["low"], found["spread"]["high"]) == pytest.approx(
        (min(powers), max(powers)), abs=2e-3
    )


def test_the_same_sum_is_shared_among_workers_and_items_with_the_power_that_such_studies_have():
    words = (
        "power",
        "--no-study",
        "--preset",
        "low",
        "--effect",
        0.2,
        "--n-systems",
        3,
        "--method",
        "analytic",
    )
    prices = ("--cost-per-rating", 0.1, "--cost-per-worker", 2)
    found = run_json(*words, "--workers", 8, "--items", 24, *prices, "--budget", 300)["costs"]["splits"]
    assert all(cost <= 300 for cost in found["cost"])
    best = max(range(len(found["power"])), key=found["power"].__getitem__)
    size = ("--workers", found["workers"][best], "--items", found["items"][best])
    alone = run_json(*words, *size, *prices)
    assert alone["power"] == pytest.approx(found["power"][best], rel=1e-9)
    assert float(alone["costs"]["cost"]) == pytest.approx(found["cost"][best])
    larger = ("--workers", found["workers"][best], "--items", found["items"][best] + 1)
    assert float(run_json(*words, *larger, *prices)["costs"]["cost"]) > 300
    said = text_of(*words, "--workers", 8, "--items", 24, *prices, "--budget", 300)
    assert f"Same sum {found['workers'][best]} workers and {found['items'][best]} items" in said
