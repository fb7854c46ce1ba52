"""Two systems that are counted or named are asked about as two: the same numbers, under their names."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cases import few_fast
from cli import run

import humeval_power as hp

STUDY = "--no-study --preset high --workers 8 --items 20 --effect 0.2 --seed 3 --simulations 60"
COMMANDS = {
    "power": STUDY,
    "mde": STUDY.replace("--effect 0.2 ", ""),
    "size": f"{STUDY.replace('--workers 8', '')} --find workers --method analytic",
    "surface": STUDY,
    "simulate": STUDY.replace(" --simulations 60", ""),
    "calibrate": STUDY.replace("--effect 0.2 ", ""),
    "looks study": STUDY,
    "plan": "--no-study --preset low --effect 0.15 --items 40:80:20 --max-workers 12 --cost-per-rating 0.1 "
    "--simulations 20 --date 2026-01-01",
}


def numbers(record: object) -> object:
    """A record without names of systems and without what was typed."""
    if isinstance(record, dict):
        left = {"command", "created", "systems", "versions", "given", "study", "understood"}
        return {name: numbers(one) for name, one in record.items() if name not in left}
    return [numbers(one) for one in record] if isinstance(record, list) else record


@pytest.mark.parametrize("command", COMMANDS)
def test_two_systems_are_asked_about_as_two(command: str) -> None:
    words = [*command.split(), *COMMANDS[command].split()]
    alone, counted, named = (
        json.loads(run(*words, *more, "--json").stdout)
        for more in ((), ("--n-systems", "2"), ("--systems", "old,new"))
    )
    assert alone["schema"] == counted["schema"] == named["schema"]
    assert numbers(alone) == numbers(counted) == numbers(named)


def test_they_go_by_their_names() -> None:
    found = run("power", *STUDY.split(), "--systems", "old,new").stdout
    assert "new - old = 0.2" in found


def test_choices_that_need_several_systems_change_nothing_and_say_so() -> None:
    words = ("--goal", "any", "--pattern", "steps", "--correction", "bh", "--baseline", "old")
    alone = run("power", *STUDY.split(), "--systems", "old,new", "--json")
    found = run("power", *STUDY.split(), "--systems", "old,new", *words, "--json")
    assert numbers(json.loads(found.stdout)) == numbers(json.loads(alone.stdout))
    assert "one test of it: --pattern, --goal, --baseline, --correction say nothing more" in " ".join(
        found.stderr.split()
    )


@pytest.mark.parametrize(
    ("words", "why"), [("--goal first", "no test"), ("--baseline new", "--systems new,old")]
)
def test_other_questions_than_that_of_the_one_test_are_refused(words: str, why: str) -> None:
    found = run("power", *STUDY.split(), "--systems", "old,new", *words.split(), code=2)
    assert why in " ".join(found.stderr.split())


def test_two_means_are_the_difference_and_the_centre() -> None:
    study = STUDY.replace("--effect 0.2", "--response clipped").split()
    means = json.loads(run("power", *study, "--system-means", "0.7,0.9", "--json").stdout)
    said = json.loads(run("power", *study, "--n-systems", "2", "--effect", "0.2", "--json").stdout)
    assert means["effect"] == pytest.approx(0.2)
    assert means["parameters"]["baseline"] == pytest.approx(0.8)
    assert means["power"] < said["power"]  # the scale ends close by


def random_study(seed: int) -> list[str]:
    """Options of a study: crossed, with few ratings of each item, unpaired, or with variances of zero."""
    rng = np.random.default_rng(seed)
    names = ("sd_worker_slope", "sd_item_slope", "sd_worker_intercept", "sd_item_intercept")
    values = [f"{name}={0 if rng.random() < 0.3 else rng.uniform(0.02, 0.3):.3f}" for name in names]
    values.append(f"sd_residual={rng.uniform(0.1, 0.4):.3f}")
    workers, items = int(rng.integers(3, 9)), int(rng.integers(9, 20))
    words = ["--values", ",".join(values), "--workers", str(workers), "--items", str(items)]
    if rng.random() < 0.6:
        words += ["--ratings-per-item", str(rng.integers(1, 1 + workers // 2))]
        words += ["--unpaired"] if rng.random() < 0.4 else []
    words += [["--alternative", "greater"], ["--response", "clipped"], []][rng.integers(3)]
    words += ["--effect", f"{rng.uniform(-0.1, 0.3):.3f}", "--seed", str(seed), "--simulations", "40"]
    return words


@few_fast("seed", range(30), fast=3)
def test_any_study_of_two_systems_has_one_record(seed: int) -> None:
    words = random_study(seed)
    alone, counted, named = (
        json.loads(run("power", *words, *more, "--json").stdout)
        for more in ((), ("--n-systems", "2"), ("--systems", "old,new", "--model", "joint"))
    )
    assert alone["n_simulations"] == 40
    assert numbers(alone) == numbers(counted) == numbers(named)


def test_parts_of_a_study_of_two_are_that_study() -> None:
    values = hp.models.SystemsParameters.of_parameters(hp.preset("high"), 2).with_pattern("one", 0.2)
    design = hp.crossed(8, 20)
    several = hp.models.SystemsStudy(values, design, goal="best")
    alone = hp.RatingStudy(values.pair(0, 1), design)
    how = {"n_simulations": 50, "seed": 3}
    for ask in (hp.power, hp.mde):
        assert ask(several, **how).content() == ask(alone, **how).content()
    assert hp.surface([several], **how).rows[0]["power"] == hp.power(alone, **how).simulated.power
    lossy = {"losses": hp.Losses(missing=0.4), "exclusion": "careless"}
    several, alone = replace(several, **lossy), replace(alone, **lossy)
    assert hp.power(several, **how).content() == hp.power(alone, **how).content()
    assert hp.power(alone, **how).content()["losses"]["missing"] == 0.4
    with pytest.raises(hp.InputError, match="no test"):
        hp.power(hp.models.SystemsStudy(values, design, goal="first"))


def test_two_systems_are_analysed_as_two(tmp_path: Path) -> None:
    table = tmp_path / "ratings.csv"
    drawn = ("--preset", "low", *STUDY.split()[3:7], "--systems", "old,new", "--effect", "0.2")
    run("simulate", *drawn, "-o", table)
    words = ("analyze", table, "--simulations", "20")
    alone, paired, turned = (
        json.loads(run(*words, *more, "--json").stdout)
        for more in ((), ("--all-pairs", "--model", "joint"), ("--baseline", "old"))
    )
    assert numbers(alone) == numbers(paired)
    (a, b), (c, d) = alone["systems"], turned["systems"]
    assert (c, d) == ("old", "new")
    sign = 1 if (a, b) == (c, d) else -1
    assert turned["effect"]["estimate"] == pytest.approx(sign * alone["effect"]["estimate"])
    assert "There is no system" in run(*words, "--baseline", "other", code=2).stderr


def test_the_drawn_table_has_their_names_so_that_the_same_study_reads_it(tmp_path: Path) -> None:
    study, table = tmp_path / "study.toml", tmp_path / "ratings.csv"
    study.write_text(
        'schema = "humeval_power/study/1"\nsystems = ["old", "new"]\nscale = "1:5"\n'
        'preset = "low"\neffect_raw = 0.8\nworkers = 8\nitems = 12\nresponse = "likert"\n'
    )
    run("simulate", study, "--seed", 3, "-o", table)
    assert {line.split(",")[2] for line in table.read_text().splitlines()[1:]} == {"old", "new"}
    found = run("analyze", table, "--study", study).stdout
    assert "new" in found.splitlines()[0]
