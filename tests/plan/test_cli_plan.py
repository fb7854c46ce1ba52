"""`humeval-power plan`: what is printed, what is written, how it ends, and what is refused."""

import csv
import functools
import json
import re
from decimal import Decimal
from pathlib import Path

import pytest
from cases import each_case
from cli import text_of
from click.testing import CliRunner, Result
from places import ROOT

from humeval_power.doors.terminal.main import main

DATA = ROOT / "data"
PILOT = ("plan", DATA / "pilot.csv", "--scale", "1:5")


def limits(items: str, workers: int, each: str) -> tuple[str, ...]:
    """Limits of a search that is proved by few studies."""
    size = ("--items", items, "--max-workers", str(workers), "--ratings-per-item", each)
    return (*size, "--simulations", "100")


LIMITS = (*limits("40:120:20", 12, "1:4")[:-1], "200")
PRICE = ("--cost-per-rating", "0.12")
EFFECT = ("--effect", "0.1")
USUAL = (*PILOT, *LIMITS, *PRICE, *EFFECT)
FILES = {"plan.json", "index.html", "record.json", "table.csv"} | {
    f"{picture}.{kind}" for picture in ("front", "power") for kind in ("png", "svg")
}


def run(*arguments: object) -> Result:
    words = tuple(map(str, arguments))
    return _printed(words) if words == tuple(map(str, USUAL)) else _run(words)


def _run(words: tuple[str, ...]) -> Result:
    return CliRunner().invoke(main, words, prog_name="humeval-power")


# What many tests ask is computed once: the usual search, and every record that is only printed.
_printed = functools.cache(_run)


def done(*arguments: object) -> Result:
    result = run(*arguments)
    assert result.exit_code == 0, result.stderr
    return result


def searched(*arguments: object, code: int | None = 0) -> dict:
    """The record of --json."""
    result = _printed((*map(str, arguments), "--json"))
    assert code is None or result.exit_code == code, result.stderr
    return json.loads(result.stdout)


def refused(*arguments: object) -> str:
    """The message of a command that ends with 2 and prints no result, on one line."""
    result = run(*arguments)
    assert result.exit_code == 2, (result.exit_code, result.exception, result.stderr)
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return " ".join(result.stderr.split())


# -- answers --------------------------------------------------------------------------------------------


def test_the_answer_names_size_price_power_and_what_blocks_in_eighty_columns():
    result = done(*USUAL)
    text = " ".join(result.stdout.split())
    for word in (
        "Plan: Is new rated higher than baseline?",
        "would find that new is 0.4 points better than baseline on a scale from 1 to 5",
        "Workers 12",
        "Total cost ",
        "Power 0.8",
        "by formula 0.8",
        "Limited by",
    ):
        assert word in text
    assert " in 200 simulated studies (95 % Monte Carlo interval" in text
    assert "on average (assurance)" in text
    assert "cheapest *" in text
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_a_pilot_that_is_too_small_a_limit_ends_with_three_and_says_what_would_do():
    result = run(*PILOT, *LIMITS, *PRICE, "--effect", "0.04")
    assert result.exit_code == 3
    text = " ".join(result.stdout.split())
    assert "Not met: No design within these limits is enough: with the best " in text
    assert "What would do: a difference of" in text


def test_a_budget_is_kept_and_its_best_is_an_answer_even_below_the_target():
    record = searched(*USUAL, "--budget", "50.00", code=3)
    assert Decimal(record["chosen"]["cost"]) <= 50
    assert not record["reached"]
    assert record["budget"] == "50.00"
    assert re.match(r"With 50.00 USD 7\d of 100 such studies find a difference of", record["reason"])
    richer = searched(*USUAL, "--budget", "60", code=None)
    assert richer["chosen"]["analytic_power"]["pilot"] >= record["chosen"]["analytic_power"]["pilot"]


def test_the_ways_to_spend_the_money_are_the_same_three_rows_everywhere():
    words = (*PILOT, *LIMITS, *PRICE, "--effect", "0.15", "--budget", "1000", "--seconds-per-rating", "36")
    words += ("--cost-per-worker", "2")  # without it a fourth has fewer workers
    ways = searched(*words)["ways"]
    assert [way["name"] for way in ways] == ["cheapest", "safer", "all the budget"]
    assert [way["is_planned"] for way in ways] == [True, False, False]
    for form in ("terminal", "markdown", "html"):
        text = run(*words, "--format", form).stdout
        for way in ways:
            cost = f"{Decimal(way['design']['cost']):,.2f}"
            assert any(way["name"] in line and cost in line for line in _rows(text))
    for design in (way["design"] for way in ways):
        # 36 seconds a rating are 100 ratings an hour; a worker rates for one hour a day
        assert design["hours"] == pytest.approx(design["n_ratings"] / 100)
        most = 2 * -(-design["n_items"] * design["ratings_per_item"] // design["n_workers"])
        assert design["days"] == -(-most // 100)
    assert searched(*words, "--spend-budget")["ways"][2]["is_planned"]
    assert "--budget" in refused(*USUAL, "--spend-budget")


def test_many_workers_with_little_to_rate_are_said_to_be_cheap_only_while_a_worker_costs_nothing():
    words = (*PILOT, *limits("90:150:30", 60, "1:2")[:-1], "50", *PRICE, *EFFECT)
    record = searched(*words)
    assert (
        2 * record["chosen"]["n_items"] * record["chosen"]["ratings_per_item"]
        < 20 * record["chosen"]["n_workers"]
    )
    fewer = next(way["design"] for way in record["ways"] if way["name"] == "fewer workers")
    assert fewer["n_workers"] < record["chosen"]["n_workers"]
    assert "nothing says what one more worker costs" in " ".join(run(*words).stdout.split())
    paid = run(*words, "--cost-per-worker", "3").stdout
    assert "fewer workers" not in paid
    assert "nothing says what one more worker costs" not in " ".join(paid.split())


def _rows(text: str) -> list[str]:
    """Rows of a table in text, Markdown or HTML."""
    return text.replace("\n", " ").split("<tr") if "<tr" in text else text.splitlines()


def test_a_design_costs_what_its_parts_cost():
    chosen = searched(
        *PILOT, *LIMITS, *EFFECT, *PRICE, "--cost-per-worker", "2.5", "--cost-per-item", "0.1"
    )["chosen"]
    parts = {name: Decimal(amount) for name, amount in chosen["cost_parts"].items()}
    assert parts["ratings"] == Decimal("0.12") * chosen["n_ratings"]
    assert parts["workers"] == Decimal("2.5") * chosen["n_workers"]
    assert parts["items"] == Decimal("0.1") * chosen["n_items"]
    assert sum(parts.values()) == Decimal(chosen["cost"])


def test_pay_per_hour_is_the_same_as_the_price_that_it_comes_to():
    by_hour = searched(*PILOT, *LIMITS, *EFFECT, "--pay-per-hour", "18", "--seconds-per-rating", "24")
    assert by_hour["chosen"]["cost"] == searched(*PILOT, *LIMITS, *EFFECT, *PRICE)["chosen"]["cost"]


def test_the_effect_may_be_given_in_points_of_the_pilots_scale():
    raw = searched(*PILOT, *LIMITS, *PRICE, "--effect-raw", "0.4")
    assert raw["effect"] == pytest.approx(0.1)  # 0.4 of the four points between 1 and 5
    assert raw["chosen"] == searched(*USUAL)["chosen"]


def test_the_observed_effect_is_taken_only_on_demand_and_with_a_warning():
    result = run(*PILOT, *LIMITS, *PRICE, "--observed-power")
    warning = " ".join(result.stderr.split())
    assert "Warning: the pilot's own estimate" in warning
    assert "Power at the observed effect says nothing that the pilot's p-value does not" in warning
    assert "Warning" not in run(*USUAL).stderr


def test_a_safe_plan_says_what_it_assumes_and_is_never_cheaper():
    wide = limits("40:200:20", 40, "1:4")
    plain = searched(*PILOT, *wide, *PRICE, *EFFECT)
    result = run(*PILOT, *wide, *PRICE, *EFFECT, "--safe", "0.8", "--json")
    assert result.exit_code == 0, result.stderr
    assert "Planning with a worker's difference of SD" in result.stderr
    safe = json.loads(result.stdout)
    assert Decimal(safe["chosen"]["cost"]) > Decimal(plain["chosen"]["cost"])
    slopes = [record["settings"]["pilot"]["sd_worker_slope"] for record in (plain, safe)]
    assert slopes[0] < slopes[1]


def test_a_plan_with_confidence_has_the_target_as_a_lower_quantile():
    wide = limits("40:400:10", 40, "1:6")
    record = searched(*PILOT, *wide, *PRICE, "--effect", "0.12", "--assurance", "0.8")
    assert record["assurance"]["chance_of_target"] >= 0.799  # the quantile is interpolated between draws
    assert record["assurance"]["quantiles"]["0.2"] >= 0.8
    plain = searched(*PILOT, *wide, *PRICE, "--effect", "0.12")
    assert Decimal(record["chosen"]["cost"]) > Decimal(plain["chosen"]["cost"])


def test_robust_takes_the_worst_of_pilot_and_presets():
    wide = limits("50:300:50", 60, "1:4")
    record = searched(*PILOT, *wide, *PRICE, "--effect", "0.2", "--preset", "high,low", "--robust")
    powers = record["chosen"]["analytic_power"]
    assert list(powers) == ["pilot", "high", "low"]
    assert min(powers.values()) == powers["high"] >= 0.8
    first = searched(*PILOT, *wide, *PRICE, "--effect", "0.2", "--preset", "high,low")
    assert list(first["chosen"]["analytic_power"]) == ["pilot", "high", "low"]
    assert first["chosen"]["analytic_power"]["pilot"] >= 0.8 > first["chosen"]["analytic_power"]["high"]


def test_parameters_from_a_file_give_the_plan_of_their_pilot(tmp_path):
    fitted = tmp_path / "pilot.json"
    done("fit", DATA / "pilot.csv", "--scale", "1:5", "-o", fitted)
    from_file = searched("plan", "--parameters", fitted, *LIMITS, *PRICE, *EFFECT)
    from_pilot = searched(*USUAL)
    assert from_file["chosen"] == from_pilot["chosen"]
    assert from_file["assurance"]["quantiles"] == pytest.approx(
        from_pilot["assurance"]["quantiles"], rel=1e-6
    )


def test_nobody_gives_more_ratings_than_the_limit():
    record = searched(*USUAL, "--max-ratings-per-worker", "40", code=3)
    ways = [way["design"] for way in record["ways"] if way["design"] is not None]
    for design in (record["chosen"], *ways):
        pairs = -(-design["n_items"] * design["ratings_per_item"] // design["n_workers"])
        assert 2 * pairs <= 40


def test_the_same_seed_gives_the_same_bytes_for_any_number_of_jobs():
    one, two = (done(*USUAL, "--seed", "4", "--jobs", jobs).stdout for jobs in (1, 2))
    assert one == two


def test_the_cliff_of_fees_shows_and_splitting_is_suggested():
    # 10 assignments of a HIT cost 20 % more than 9 (data/platform_fees.toml)
    wide = ("--items", "60", "--workers", "12", "--ratings-per-item", "10", "--simulations", "50")
    text = " ".join(run(*PILOT, *wide, *PRICE, *EFFECT, "--fee", "mturk").stdout.split())
    assert "copies of 5 + 5 assignments" in text


# -- files ----------------------------------------------------------------------------------------------


DATED = (*USUAL, "--date", "2026-03-02")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a plan."""
    written = tmp_path_factory.mktemp("written") / "plan"
    done(*DATED, "-o", written)
    return written


def test_a_folder_holds_the_plan_its_page_its_pictures_and_the_search(folder):
    assert {path.name for path in folder.iterdir()} == FILES
    assert (folder / "front.png").read_bytes().startswith(b"\x89PNG")
    search = json.loads((folder / "record.json").read_text())
    rows = list(csv.DictReader((folder / "table.csv").read_text().splitlines()))
    assert [float(row["power"]) for row in rows] == pytest.approx(
        [point["power"] for point in search["front"]], abs=1e-6
    )
    assert [Decimal(row["cost"]) for row in rows] == [Decimal(point["cost"]) for point in search["front"]]
    plan = json.loads((folder / "plan.json").read_text())
    assert plan["created"] == "2026-03-02"
    assert plan["study"]["items"] == search["chosen"]["n_items"]
    page = (folder / "index.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert plan["checksum"] in page


def test_a_plan_file_is_the_sealed_plan_alone_and_that_of_the_folder(tmp_path, folder):
    done(*DATED, "-o", tmp_path / "plan.json")
    assert {path.name for path in tmp_path.iterdir()} == {"plan.json"}
    alone = (tmp_path / "plan.json").read_bytes()
    assert alone == (folder / "plan.json").read_bytes()
    assert json.loads(alone)["schema"] == "humeval_power/plan/4"


def test_the_document_is_written_as_its_ending_says(tmp_path):
    done(*USUAL, "-o", tmp_path / "plan.md")
    text = (tmp_path / "plan.md").read_text()
    assert text.startswith("# Plan: ")
    assert "## What would be a deviation" in text  # details too


@pytest.mark.parametrize("command", ["power", "assign"])
def test_a_folder_of_a_plan_is_read_as_its_plan(folder, command):
    few = ("--simulations", "50") if command == "power" else ()
    for_file, for_folder = (
        done(command, "--plan", path, *few).stdout for path in (folder / "plan.json", folder)
    )
    assert for_file == for_folder
    assert command == "assign" or "power" in for_file.lower()


def test_a_folder_without_a_plan_is_refused_by_name(tmp_path):
    assert "plan.json" in refused("power", "--plan", tmp_path)


def test_a_plan_that_was_changed_by_hand_is_refused(tmp_path, folder):
    path = tmp_path / "plan.json"
    path.write_text((folder / "plan.json").read_text().replace('"effect": 0.1', '"effect": 0.2'))
    assert "--amend" in refused("power", "--plan", path)


def test_the_same_plan_has_the_same_bytes(tmp_path, folder):
    done(*DATED, "-o", f"{tmp_path}/again/")
    for name in FILES - {"record.json", "index.html"}:  # these name the command
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes(), name


# -- bad input ------------------------------------------------------------------------------------------


def test_all_negative_prices_are_named_at_once():
    message = refused(*PILOT, *LIMITS, *EFFECT, "--cost-per-rating", "-0.1", "--cost-per-worker", "-2")
    assert "--cost-per-rating -0.1" in message
    assert "--cost-per-worker -2" in message
    assert message.count("must be a number from 0 to") == 2


@each_case(
    ("arguments", "message"),
    [
        ((*EFFECT,), "Give --cost-per-rating, or --pay-per-hour"),
        ((*EFFECT, "--cost-per-rating", "cheap"), "give a number such as 0.12; got 'cheap'"),
        ((*EFFECT, *PRICE, "--rejected", "1.2"), "must be a share from 0 to below 1"),
        ((*EFFECT, *PRICE, "--pay-per-hour", "12"), "both say what a rating costs"),
        ((*EFFECT, *PRICE, "--fee", "mturc"), "Do you mean 'mturk'?"),
        ((*EFFECT, *PRICE, "--currency", "dollars"), "three capital letters"),
        ((*EFFECT, *PRICE, "--power", "1.2"), "1.2 is not in the range 0<x<1"),
        ((*EFFECT, *PRICE, "--power", "0.01"), "target power must lie between 0.025"),
        ((*EFFECT, *PRICE, "--assurance", "1"), "not in the range 0<x<1"),
        ((*EFFECT, *PRICE, "--safe", "0"), "not in the range 0<x<1"),
        ((*EFFECT, *PRICE, "--budget", "0"), "--budget must be an amount above 0"),
        ((*EFFECT, *PRICE, "--budget", "-10"), "--budget must be an amount above 0"),
        ((*EFFECT, *PRICE, "--budget", "nan"), "budget"),
        ((*EFFECT, *PRICE, "--budget", "inf"), "budget"),
        ((*EFFECT, *PRICE, "--budget", "1"), "the cheapest costs 9.60"),
        (("--effect", "0", *PRICE), "must be a positive difference B - A on [0, 1], at most 1; got 0"),
        (("--effect", "-0.1", *PRICE), "exchange the systems"),
        (("--effect", "nan", *PRICE), "finite number"),
        (("--effect", "5", *PRICE), "effect"),
        ((*PRICE,), "the smallest effect of interest"),
        ((*EFFECT, "--effect-raw", "0.4", *PRICE), "Give --effect on [0, 1] or --effect-raw in points"),
        ((*EFFECT, "--observed-power", *PRICE), "Give the smallest effect of interest"),
        ((*EFFECT, *PRICE, "--max-ratings-per-worker", "1"), "limit of 1"),
        ((*EFFECT, *PRICE, "--max-ratings-per-worker", "0"), "0 is not in the range"),
        ((*EFFECT, *PRICE, "--max-workers", "1"), "1 is not in the range"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(arguments, message):
    assert message in refused(*PILOT, *LIMITS, *arguments)


@each_case(
    ("arguments", "message"),
    [
        (
            ("--items", "40", "--workers", "3", "--ratings-per-item", "5"),
            "at least 5 workers, and there are 3",
        ),
        (
            ("--items", "40", "--workers", "5", "--ratings-per-item", "3", "--pairing", "unpaired"),
            "at least 6 workers, and there are 5",
        ),
        (("--items", "1"), "give numbers of at least 2; got 1"),
        (("--items", "40", "--workers", "1"), "give numbers of at least 2; got 1"),
        (("--items", "50:20"), "whole numbers such as"),
        (("--items", "forty"), "whole numbers such as"),
        (("--items", "2:3000", "--workers", "2:3000", "--ratings-per-item", "1"), "too many to compare"),
        (
            (
                "--items",
                "500",
                "--workers",
                "4",
                "--ratings-per-item",
                "2",
                "--max-ratings-per-worker",
                "100",
            ),
            "even 4 workers would give 500 ratings each, above the limit of 100",
        ),
    ],
)
def test_a_space_that_holds_no_design_is_refused_with_the_reason(arguments, message):
    assert message in refused(*PILOT, *PRICE, *EFFECT, *arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--preset", "high", "--safe", "0.8"), "--safe needs a pilot"),
        (("--preset", "high", "--assurance", "0.8"), "plan from a pilot"),
        (("--preset", "middle"), "there is no preset 'middle'"),
        (("--values", "sd_worker_slope=0.1"), "sd_residual"),
    ],
)
def test_what_needs_a_pilot_says_so(arguments, message):
    assert message in refused("plan", *arguments, *LIMITS, *PRICE, *EFFECT)


def test_points_need_a_scale():
    message = refused("plan", "--preset", "high", *LIMITS, *PRICE, "--effect-raw", "0.4")
    assert "0.4 points of which scale? Add --scale LOW:HIGH" in message
    assert "needs a pilot" in refused("plan", "--preset", "high", *LIMITS, *PRICE, "--observed-power")


def pilot_file(path: Path, systems: str, *, workers: int = 3, items: int = 8) -> Path:
    rows = [
        f"w{w},i{i},{system},{1 + (w * i + 2 * i + len(system) + ord(system[-1])) % 5}"
        for w in range(workers)
        for i in range(items)
        for system in systems.split(",")
    ]
    path.write_text("worker,item,system,rating\n" + "\n".join(rows) + "\n")
    return path


def test_a_pilot_with_one_system_is_refused(tmp_path):
    path = pilot_file(tmp_path / "one.csv", "new")
    message = refused("plan", path, "--scale", "1:5", *LIMITS, *PRICE, *EFFECT)
    assert "two systems are compared, but there is only one: new" in message


def test_a_pilot_of_three_systems_is_planned_from_as_a_whole_and_of_two_of_them_if_named(tmp_path):
    path = pilot_file(tmp_path / "three.csv", "a,b,c")
    arguments = ("plan", path, "--scale", "1:5", *LIMITS, *PRICE, *EFFECT)
    of_all = " ".join(run(*arguments, "--simulations", "5").stdout.split())
    assert "120 items under a, b and c" in of_all
    assert "items under a and b," in " ".join(run(*arguments, "--systems", "a,b").stdout.split())


def test_a_pilot_with_one_worker_is_refused(tmp_path):
    path = pilot_file(tmp_path / "lonely.csv", "a,b", workers=1)
    assert "worker" in refused("plan", path, "--scale", "1:5", *LIMITS, *PRICE, *EFFECT)


def test_a_pilot_that_does_not_identify_its_variances_is_refused_with_the_way_out(tmp_path):
    path = tmp_path / "thin.csv"
    done("simulate", "--preset", "low", "--workers", "6", "--items", "30", "--ratings-per-item", "1",
         "--seed", "1", "--response", "clipped", "-o", path)  # fmt: skip
    arguments = ("plan", path, "--scale", "0:1", *LIMITS, *PRICE, "--effect", "0.2")
    message = refused(*arguments)
    assert "does not identify" in message
    assert "--allow-not-identified" in message
    assert run(*arguments, "--allow-not-identified").exit_code in (0, 3)


def test_a_missing_pilot_is_named():
    assert "nowhere.csv" in refused("plan", "nowhere.csv", *LIMITS, *PRICE, *EFFECT)


def test_without_a_pilot_no_effect_is_one_that_a_pilot_showed():
    binary = "plan --scale 0:1 --family binary --shares .5,.5 --effect 0.2 --simulations 10"
    limits = "--items 100 --max-workers 60 --cost-per-rating 0.1"
    printed = done(*binary.split(), *limits.split(), "--details").stdout
    assert "that the pilot showed" not in printed
    assert "not one that was chosen because it matters" not in printed


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (
            ("--max-workers", 12, "--items", "20:40:20"),
            "the limits are 12 workers, 40 items, 3 ratings of an item.",
        ),
        (("--max-workers", 200, "--items", "50:1000:50"), "more would add no power."),
        (("--max-workers", 200, "--items", "50:100:50", "--budget", 20), ""),
    ],
)
def test_a_plan_says_why_it_does_not_spend_all_the_budget(limits: tuple[object, ...], why: str) -> None:
    words = ("--effect", 0.075, "--scale", "1:5", "--ratings-per-item", "1:3", "--cost-per-rating", 0.1)
    found = run("plan", *words, "--budget", 900, *limits, "--simulations", 20)
    shown = " ".join(found.stdout.split())
    assert (f"USD are left: {why}" in shown) if why else ("are left" not in shown)


def test_a_power_a_little_below_the_target_is_said_to_be_within_its_error() -> None:
    search = ("--effect", 0.075, "--scale", "1:5", "--items", "50:200:50", "--max-workers", 60)
    below = set()
    for seed in (1, 3):
        result = run("plan", *search, "--cost-per-rating", 0.12, "--simulations", 60, "--seed", seed)
        shown = " ".join(result.stdout.split())
        number = int(shown.split("Of 100 such studies, ")[1].split()[0])
        assert result.exit_code == 0
        assert ("80 was the target, within the error of the simulation." in shown) == (number < 80)
        below.add(number < 80)
    assert below == {True, False}


@pytest.mark.parametrize("field", ["ratings", "exports"])
def test_a_study_whose_ratings_are_there_is_not_sealed_whatever_the_plan_is_called(
    tmp_path, monkeypatch, field
):
    named = {"ratings": '"given.csv"', "exports": '["empty.csv", "given.csv"]'}[field]
    (tmp_path / "study.toml").write_text(
        'schema = "humeval_power/study/1"\nsystems = ["old", "new"]\n[variation]\npreset = "low"\n'
        "[effect]\neffect = 0.2\n[search]\nitems_range = [20]\nworkers_range = [6]\n"
        "ratings_per_item_range = [2]\n[cost]\ncost_per_rating = 0.1\n"
        f'[files]\nplan = "plan.json"\n{field} = {named}\n'
    )
    (tmp_path / "empty.csv").touch()
    there = tmp_path / "given.csv"
    there.write_text("worker,item,system,rating\nw1,i1,old,3\n")
    monkeypatch.chdir(tmp_path)
    for words in (("study.toml",), ("study.toml", "-o", "other.json"), ("study.toml", "-o", "folder/")):
        said = refused("plan", *words, "--simulations", 100)
        assert "given.csv: Ratings have come in" in said
        assert "empty.csv" not in said
        assert "begin a new one" in said
        assert not any(
            name.exists() for name in map(tmp_path.joinpath, ("plan.json", "other.json", "folder"))
        )
    assert run("plan", "study.toml", "-o", "-", "--simulations", 100, "--json").exit_code in (0, 3)
    there.unlink()
    run("plan", "study.toml", "--simulations", 100)
    assert (tmp_path / "plan.json").exists()


def test_a_design_to_show_beside_is_said_in_three_numbers_and_can_be_built():
    words = USUAL
    assert "got 20,100." in refused(*words, "--beside", "20,100")
    assert "need 5 different workers" in refused(*words, "--beside", "3,150,5")


def test_a_plan_says_what_is_left_of_the_budget_and_how_all_of_it_is_planned() -> None:
    words = "plan --preset low --effect 0.15 --workers 10 --items 20:60:20 --cost-per-rating 0.1 --simulations 20"
    said = text_of(*words.split(), "--budget", 900)
    found = re.search(
        r"Total cost ([\d.]+) USD Budget 900.00 USD: ([\d.]+) USD of it left; --spend-budget", said
    )
    assert found is not None, said
    assert float(found[1]) + float(found[2]) == 900
    assert "of it left" not in text_of(*words.split(), "--budget", 900, "--spend-budget")
