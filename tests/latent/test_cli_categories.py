"""Commands that plan studies whose ratings arise in categories, as a user types them."""

import json
from pathlib import Path

import numpy as np
import pytest
from cases import few_fast
from cli import refusal_of, run, run_json

from humeval_power.latent import Latent
from humeval_power.studies.plan.files import read_plan

VALUES = "sd_worker_intercept=0.08,sd_worker_slope=0.05,sd_item_intercept=0.1,sd_item_slope=0.08"
BOXES = ("--shares", ".05,.1,.2,.4,.25", "--values", VALUES)
THUMBS = ("--shares", ".3,.7", "--values", "sd_worker_slope=0.05,sd_item_intercept=0.1")
SIZE = ("--workers", 5, "--items", 12)
QUICK = ("--simulations", 6)


@pytest.mark.parametrize("kind", [BOXES, THUMBS], ids=["boxes", "thumbs"])
def test_power_of_boxes_and_thumbs(kind: tuple[str, ...]) -> None:
    record = run_json("power", *kind, *SIZE, "--effect", 0.1, *QUICK)
    family = "ordinal" if kind is BOXES else "binary"
    assert record["rule"]["family"] == family
    assert record["difference"] == pytest.approx(0.1)
    assert record["n_simulations"] == 6
    assert 0 < record["analytic"]["power"] < 1
    latent = record["parameters"]["latent"]
    # the effect of the record is that of its latent parameters
    assert record["parameters"]["effect"] == pytest.approx(0.1)
    assert len(latent["scores"]) == (5 if kind is BOXES else 2)


def test_the_same_effect_is_said_in_three_ways() -> None:
    asked = ("power", *BOXES, "--scale", "1:5", *SIZE, "--method", "analytic")
    one = run_json(*asked, "--effect", 0.1)
    points = run_json(*asked, "--effect-raw", 0.4)
    latent = run_json(*asked, "--effect-latent", one["parameters"]["latent"]["effect"])
    assert points["power"] == one["power"]
    assert latent["power"] == pytest.approx(one["power"], abs=1e-6)
    assert latent["difference"] == pytest.approx(0.1, abs=1e-7)


@few_fast(
    ("shares", "effect"), [(".1,.2,.3,.4", 2.0), (".02,.98", 3.5), (".02,.98", -3.0), (".5,.5", -7.0)]
)
def test_a_latent_effect_far_from_its_guess_is_found(shares: str, effect: float) -> None:
    """What comes out has the effect and the shares that were asked for; a guess at 0 is far off at the ends."""
    values = "sd_worker_slope=0.03"
    record = run_json(
        *("power", "--shares", shares, "--values", values, *SIZE),
        *("--effect-latent", effect, "--method", "analytic"),
    )
    latent = Latent.from_dict(record["parameters"]["latent"])
    assert latent.effect == pytest.approx(effect, rel=1e-4)
    said = [float(share) for share in shares.split(",")]
    means = latent.mean(0), latent.mean(1)
    assert sum(means) / 2 == pytest.approx(np.dot(said, np.linspace(0, 1, len(said))), abs=1e-6)
    assert means[1] - means[0] == pytest.approx(record["difference"], abs=1e-6)


def test_a_latent_effect_that_shares_do_not_allow_is_refused() -> None:
    said = refusal_of("power", *BOXES, *SIZE, "--effect-latent", 40, "--method", "analytic")
    assert "--effect-latent: value 40.0: is more than these shares and standard deviations allow" in said


@pytest.mark.slow
def test_the_largest_latent_effect_that_shares_allow_is_said() -> None:
    said = refusal_of("power", *BOXES, *SIZE, "--effect-latent", 40, "--method", "analytic")
    largest = float(said.split("the largest is ")[1].rstrip("."))
    run("power", *BOXES, *SIZE, "--effect-latent", 0.99 * largest, "--method", "analytic")
    refusal_of("power", *BOXES, *SIZE, "--effect-latent", 1.01 * largest, "--method", "analytic")


def test_a_surface_of_latent_effects_is_that_of_their_differences() -> None:
    size = ("--workers", "5", "--items", "12", *QUICK)
    one = run_json("power", *BOXES, *SIZE, "--effect", 0.1, "--method", "analytic")
    latent = one["parameters"]["latent"]["effect"]
    asked = run_json("surface", *BOXES, *size, "--effect-latent", latent)
    same = run_json("surface", *BOXES, *size, "--effect", 0.1)
    assert [row["power"] for row in asked["rows"]] == [row["power"] for row in same["rows"]]
    assert asked["rows"][0]["effect"] == pytest.approx(0.1, abs=1e-7)


def test_the_family_is_told_and_numbers_can_be_asked_for() -> None:
    said = run("power", *BOXES, *SIZE, "--effect", 0.1, "--method", "analytic")
    assert "analysed as family 'ordinal'" in " ".join(said.stderr.split())
    assert "5 (ordinal, probit), shares 5, 10, 20, 40, 25 %" in said.stdout
    record = run_json("power", *BOXES, *SIZE, "--effect", 0.1, "--family", "gaussian", *QUICK)
    assert record["rule"]["family"] == "gaussian"
    logit = run_json("power", *BOXES, *SIZE, "--effect", 0.1, "--link", "logit", "--method", "analytic")
    assert logit["rule"]["link"] == logit["parameters"]["latent"]["link"] == "logit"


@few_fast(
    ("options", "words"),
    [
        (("--shares", ".5,.6"), "must add up to 1; they add up to 1.1"),
        (("--shares", ".5,-.1,.6"), "must all be above 0"),
        (("--shares", "1"), "two or more categories"),
        (("--shares", "much"), "one share for each category"),
        (("--shares", ".5,.5", "--scale", "1:5"), "one for each of the scale's 5 points"),
        (("--values", "sd_worker_intercept=0.3,sd_item_intercept=0.3"), "times these standard deviations"),
        (("--values", VALUES + ",sd_residual=0.3"), "contradicts the shares"),
        (("--values", VALUES + ",correlation_worker=0.3"), "leave it out"),
        (("--response", "clipped"), "in categories already"),
        (("--family", "binary"), "ratings of two values"),
        (("--effect", "0.9"), "largest difference is 0.4"),
    ],
    fast=1,
)
def test_what_cannot_be_is_refused(options: tuple[str, ...], words: str) -> None:
    given = dict(zip(BOXES[::2], BOXES[1::2], strict=True)) | {"--effect": "0.1"}
    given |= dict(zip(options[::2], options[1::2], strict=True))
    typed = [word for pair in given.items() for word in pair]
    said = run("power", *typed, *SIZE, "--method", "analytic", code=2)
    assert words in " ".join(said.stderr.split())


def test_numbers_have_no_latent_effect_and_no_family() -> None:
    numbers = ("power", "--preset", "high", *SIZE, "--method", "analytic")
    assert "add --shares" in run(*numbers, "--effect-latent", 0.1, code=2).stderr
    said = run(*numbers, "--effect", 0.1, "--family", "ordinal", code=2).stderr
    assert "these parameters give none" in " ".join(said.split())


def test_other_commands_take_shares() -> None:
    found = run_json("mde", *BOXES, *SIZE, "--method", "analytic")
    assert 0.05 < found["analytic"] < 0.4
    size = run_json("size", *BOXES, "--workers", 8, "--find", "items", "--effect", 0.15, *QUICK)
    assert size["items"] >= 2
    surface = run_json("surface", *BOXES, *SIZE, "--effect", "0,0.1", *QUICK)
    assert [row["effect"] for row in surface["rows"]] == pytest.approx([0, 0.1])
    table = run("simulate", *BOXES, *SIZE, "--effect", 0.1, "--scale", "1:5", "--format", "csv").stdout
    assert {line.rsplit(",", 1)[1] for line in table.splitlines()[1:]} <= set("12345")
    tests = run_json("calibrate", *BOXES, *SIZE, "--simulations", 4)
    assert [row["test"] for row in tests["rows"]][:2] == ["categories", "categories-wald-z"]


def test_a_plan_carries_the_family_and_the_latent_parameters(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    asked = ("--items", "20:30:10", "--workers", "6:8", "--cost-per-rating", 0.1, *QUICK)
    run("plan", *BOXES, "--effect", 0.15, *asked, "-o", path, code=None)
    plan = read_plan(path)
    assert plan.rule.family == "ordinal"
    assert plan.parameters.latent is not None
    assert plan.study().true_effect == pytest.approx(0.15)
    record = run_json("power", "--plan", path, "--method", "analytic")
    assert record["power"] == pytest.approx(plan.predicted.analytic)
    document = json.loads(path.read_text())
    document["study"]["values"]["latent"]["sd_worker_slope"] = 0.1
    path.write_text(json.dumps(document))
    assert "latent" in run("power", "--plan", path, "--method", "analytic", code=2).stderr


@pytest.mark.slow
def test_a_pilot_in_boxes_is_fitted_and_planned_from(tmp_path: Path) -> None:
    pilot, parameters = tmp_path / "pilot.csv", tmp_path / "parameters.json"
    drawn = ("--workers", 8, "--items", 20, "--effect", 0.1, "--scale", "1:5")
    run("simulate", *BOXES, *drawn, "-o", pilot)
    run("fit", pilot, "--family", "ordinal", "--scale", "1:5", "-o", parameters)
    record = run_json("power", "--parameters", parameters, *SIZE, "--effect", 0.1, "--method", "analytic")
    assert record["rule"]["family"] == "ordinal"
    assert json.loads(parameters.read_text())["uncertainty"] is not None
    asked = ("--items", "20:30:10", "--workers", "6:8", "--cost-per-rating", 0.1, *QUICK)
    both = [
        run_json(
            "plan", *source, "--effect", 0.2, "--assurance", 0.6, *asked, "--family", "ordinal", code=None
        )
        for source in ((pilot, "--scale", "1:5"), ("--parameters", parameters))
    ]
    sizes = [[plan["chosen"][name] for name in ("n_workers", "n_items", "cost")] for plan in both]
    assert sizes[0] == sizes[1]


def test_looks_at_ratings_in_boxes() -> None:
    record = run_json(
        "looks", "study", *BOXES, "--workers", 10, "--items", 12, "--effect", 0.15, "--looks", 2,
        "--calibrate", "never", *QUICK,
    )  # fmt: skip
    assert record["parameters"]["latent"] is not None


def test_too_many_failed_fits_end_with_three() -> None:
    rare = ("--shares", ".01,.99", "--values", "sd_item_intercept=0.01")
    said = run("power", *rare, "--workers", 3, "--items", 4, "--effect", 0, "--simulations", 20, code=3)
    assert "none" in said.stdout
