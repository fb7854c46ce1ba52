"""`runs power`, `mde`, `size`, `surface` and `budget` as a user runs them."""

import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import each_case
from cli import run, run_json
from runs.tables import nested_scores, write

from humeval_power.comparisons.runs.budget import RunsPrices, divide_budget
from humeval_power.comparisons.runs.files import read_pilot
from humeval_power.comparisons.runs.scenario import RunsPlan
from humeval_power.errors import InputError
from humeval_power.runs_parameters import RunsParameters

NESTED = ("--nested", "--sd-item", 0.3, "--sd-run", 0.4)
CROSSED = ("--crossed", "--sd-item", 0.3, "--sd-prompt-slope", 0.05, "--sd-residual", 0.3)
FAST = ("--method", "analytic")


@pytest.fixture
def pilot(tmp_path: Path) -> Path:
    scores = nested_scores(np.random.default_rng(1), n=40, effect=0.2)
    run("runs", "test", write(tmp_path / "gen.csv", scores, group=4), "-o", tmp_path / "pilot.json")
    return tmp_path / "pilot.json"


def test_a_pilot_gives_what_its_numbers_give_by_options(pilot: Path) -> None:
    found = json.loads(pilot.read_text())["parameters"]
    by_hand = [
        word
        for name in ("sd_item", "sd_run_a", "sd_run_b", "icc")
        for word in (f"--{name.replace('_', '-')}", found[name])
    ]
    asked = ("--runs", 3, "--n", 100, "--effect", 0.1, "--cluster-size", 4, *FAST)
    one = run_json("runs", "power", "--pilot", pilot, *asked)
    other = run_json("runs", "power", "--nested", *by_hand, *asked)
    assert one["computed"]["power"] == pytest.approx(other["computed"]["power"], rel=1e-12)
    changed = run_json("runs", "power", "--pilot", pilot, "--icc", 0.9, *asked)
    assert changed["computed"]["power"] < one["computed"]["power"]


def test_a_program_changes_what_the_command_changes_of_a_pilot(pilot: Path) -> None:
    words = ("runs", "power", "--pilot", pilot, "--nested", "--icc", 0.9, "--runs", 3, "--n", 100)
    words = (*words, "--effect", 0.1, "--cluster-size", 4, *FAST)
    said: dict[str, Any] = {}
    exec(run(*words, "--code", "python").stdout, said)
    assert said["result"].record()["computed"] == run_json(*words)["computed"]
    with pytest.raises(InputError, match="holds nested runs"):
        read_pilot(pilot, kind="crossed")


def test_a_pilot_of_several_pairs_asks_which_and_turns_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    scores = np.concatenate([nested_scores(rng, n=30), nested_scores(rng, n=30)], axis=1)[:, :3]
    record = tmp_path / "three.json"
    run("runs", "test", write(tmp_path / "three.csv", scores), "-o", record)
    asked = (
        "runs",
        "power",
        "--pilot",
        record,
        "--runs-a",
        1,
        "--runs-b",
        9,
        "--n",
        50,
        "--effect",
        0.1,
        *FAST,
    )
    assert "A,B" in run(*asked, code=2).stderr
    assert "no pair" in run(*asked, "--systems", "A,Z", code=2).stderr
    forth, back = (run_json(*asked, "--systems", pair) for pair in ("A,C", "C,A"))
    assert forth["computed"]["power"] != back["computed"]["power"]


def test_the_smallest_effect_has_the_target_power() -> None:
    asked = (*NESTED, "--runs", 2, "--n", 60, "--cluster-size", 5, "--icc", 0.3, *FAST)
    effect = run_json("runs", "mde", *asked)["found"][0]["effect"]
    assert run_json("runs", "power", *asked, "--effect", effect)["computed"]["power"] == pytest.approx(
        0.8, abs=1e-3
    )


def test_a_size_is_found_for_equivalence_without_a_difference() -> None:
    asked = (*CROSSED, "--prompts", 12, "--effect", 0, "--alternative", "equivalent", "--margin", 0.1)
    n = run_json("runs", "size", *asked, *FAST)["found"]["n"]
    powers = [
        run_json("runs", "power", *asked, "--n", size, *FAST)["computed"]["power"] for size in (n - 1, n)
    ]
    assert powers[0] < 0.8 <= powers[1]


def test_too_few_prompts_have_no_size() -> None:
    found = run_json("runs", "size", *CROSSED, "--prompts", 2, "--effect", 0.1, *FAST, code=3)
    assert found["found"]["n"] is None


def test_a_surface_has_a_row_for_each_cell() -> None:
    found = run_json("runs", "surface", *NESTED, "--runs", 2, "--n", "50,100", "--effect", "0.1,0.2", *FAST)
    assert len(found["rows"]) == 4


@each_case(
    ("words", "said"),
    [
        (("--sd-item", 0.3, "--runs", 2), "--nested"),
        (("--nested", "--runs", 2), "--sd-item, --sd-run"),
        (("--crossed", "--family", "binary", "--prompts", 4), "--sd-prompt-slope, --baseline"),
        ((*NESTED, "--prompts", 3), "--runs"),
        ((*CROSSED, "--runs", 3), "--prompts"),
        ((*NESTED, "--sd-residual", 0.2, "--runs", 3), "no such parameter"),
        ((*NESTED, "--runs", 3, "--systems", "A,B"), "--pilot"),
        ((*NESTED, "--runs", 3, "--alternative", "equivalent"), "margin"),
        (
            (*NESTED, "--runs", 3, "--family", "binary", "--mean-accuracy", 0.9, "--effect", 0.4),
            "at most 0.2",
        ),
    ],
)
def test_what_is_missing_or_foreign_is_said(words: tuple[object, ...], said: str) -> None:
    assert said in " ".join(run("runs", "power", "--n", 50, "--effect", 0.1, *words, code=2).stderr.split())


@each_case(
    ("text", "said"),
    [
        ("[1]", "not a JSON object"),
        ('{"schema": "humeval_power/fit/1"}', "no record"),
        ('{"kind": "nested", "sd_item": -1}', "negative"),
        ('{"schema": "humeval_power/runs_test/1", "comparisons": [{"systems": ["a"]}]}', "without systems"),
        (
            '{"schema": "humeval_power/runs_test/1", "comparisons": [{"systems": ["a", "b"], "parameters": null}]}',
            "too little",
        ),
        ("{", "JSON"),
    ],
)
def test_a_file_that_is_no_pilot_is_refused(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    file.write_text(text)
    told = run("runs", "power", "--pilot", file, "--runs", 2, "--n", 50, "--effect", 0.1, code=2).stderr
    assert said in " ".join(told.split())


def _divided(total: str, **prices: str) -> object:
    parameters = RunsParameters(kind="nested", sd_item=0.3, sd_run_a=0.45, sd_run_b=0.45)
    return divide_budget(
        parameters,
        RunsPlan(n_items=2, runs_a=1, runs_b=1),
        effect=0.06,
        total=Decimal(total),
        prices=RunsPrices(**{name: Decimal(price) for name, price in prices.items()}),
    )


def test_the_best_split_is_that_of_the_square_root_rule() -> None:
    found = _divided("30000", call="0.02", item="0.5")
    rule = math.sqrt(2 * 0.45**2 * 0.5 / (2 * 0.02 * 0.3**2))
    least = min(found.splits, key=lambda split: split.standard_error)  # type: ignore[attr-defined]
    assert abs(least.runs - rule) <= 1


def test_no_other_split_of_the_budget_finds_more() -> None:
    found = _divided("40", call="0.1", item="0.5")
    parameters, prices = found.parameters, found.prices  # type: ignore[attr-defined]
    from humeval_power.comparisons.runs.scenario import runs_scenario

    every = [
        runs_scenario(parameters, RunsPlan(n_items=n, runs_a=k, runs_b=k), effect=0.06).computed().power
        for k in range(1, 20)
        for n in range(2, 60)
        if prices.of(n, k, crossed=False) <= 40
    ]
    assert found.best.power == pytest.approx(max(every), abs=1e-9)  # type: ignore[attr-defined]


def test_items_that_are_free_of_charge_leave_one_generation_each() -> None:
    assert _divided("40", call="0.1").best.runs == 1  # type: ignore[attr-defined]


def test_a_budget_is_kept_to_and_told_the_same_way_everywhere(tmp_path: Path) -> None:
    asked = ("runs", "budget", *CROSSED, "--effect", 0.08, "--budget", 500, "--cost-per-call", 0.002)
    asked = (*asked, "--cost-per-item", 0.1, "--cost-per-prompt", 15)
    found = run_json(*asked)
    assert all(split["cost"] <= 500 for split in found["splits"])
    assert found["best"] in found["splits"]
    assert {step["what"] for step in found["steps"]} == {"item", "prompt"}
    text = " ".join(run(*asked).stdout.split())
    assert f"Items {found['best']['n_items']:,}" in text
    assert f"Power {found['best']['power']:.3f}" in text
    capped = run_json(*asked, "--max-items", 50)
    assert max(split["n_items"] for split in capped["splits"]) == 50
    run(*asked, "-o", tmp_path / "budget.html")
    assert f"{found['best']['power']:.3f}" in (tmp_path / "budget.html").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--budget", 0.5, "--cost-per-call", 1), "does not pay"),
        (("--budget", 5, "--cost-per-call", 0), "nothing to divide"),
        (("--budget", -5, "--cost-per-call", 1), "above 0"),
        (("--budget", 5, "--cost-per-call", -1), "negative"),
    ],
)
def test_a_budget_that_is_none_is_refused(words: tuple[object, ...], said: str) -> None:
    assert said in " ".join(run("runs", "budget", *NESTED, "--effect", 0.1, *words, code=2).stderr.split())


def test_prices_are_checked_where_there_is_no_command() -> None:
    with pytest.raises(InputError, match="negative"):
        RunsPrices(call=Decimal(1), item=Decimal(-1))
