"""`humeval-power more calibrate`: the table on standard output, the files of -o, and what is refused."""

import json
from pathlib import Path

import cli
import pandas as pd
import pytest
from cases import each_case
from click.testing import Result

from humeval_power.studies.power.calibration import NULL_TESTS

STUDY = ["calibrate", "--workers", "3", "--items", "12", "--simulations", "200"]


def run(*arguments: object, preset: str = "high", code: int = 0) -> Result:
    """The command as a user would type it."""
    return cli.run(*STUDY, "--preset", preset, *arguments, code=code)


def test_the_table_names_the_planned_test_and_fits_the_terminal() -> None:
    result = run()
    assert "Mixed model, Kenward-Roger *" in result.stdout
    assert "planned test (Mixed model, Kenward-Roger)" in result.stdout.splitlines()[1]
    assert "200 simulated, the same for every test" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert len([line for line in result.stdout.splitlines() if "0." in line]) >= len(NULL_TESTS)


def test_the_same_seed_gives_the_same_answer_for_any_number_of_jobs() -> None:
    assert run("--seed", "5", "--jobs", "1").stdout == run("--seed", "5", "--jobs", "2").stdout
    assert run("--seed", "5").stdout != run("--seed", "6").stdout


def test_json_holds_every_test_and_what_it_was_computed_from() -> None:
    document = json.loads(run("--json", "--seed", "7").stdout)
    assert document["schema"] == "humeval_power/calibration/3"
    assert [row["test"] for row in document["rows"]] == list(NULL_TESTS)
    assert (document["seed"], document["n_workers"], document["n_ratings"]) == (7, 3, 72)
    assert document["settings"]["high"]["effect"] == 0
    assert document["p"] is None
    assert document["versions"]["numpy"]


def test_output_writes_table_figure_and_record(tmp_path: Path) -> None:
    run("-o", tmp_path / "null")
    names = {"index.html", "record.json", "table.csv", "calibration.svg", "calibration.png"}
    assert {path.name for path in (tmp_path / "null").iterdir()} == names
    table = pd.read_csv(tmp_path / "null" / "table.csv")
    record = json.loads((tmp_path / "null" / "record.json").read_text())
    assert list(table["rejection_rate"]) == pytest.approx([row["rejection_rate"] for row in record["rows"]])
    assert (tmp_path / "null" / "calibration.png").read_bytes().startswith(b"\x89PNG")


def test_a_one_sided_rule_is_judged_by_its_claims() -> None:
    result = run("--alternative", "greater", "--alpha", "0.025", "--df", "min")
    assert "Mixed model, min df *" in result.stdout
    assert "The verdict is on 'B better'" in result.stdout


def test_a_design_without_pairs_says_which_tests_are_not_defined() -> None:
    result = run("--workers", "6", "--design", "both-nested")
    assert result.stdout.count("not defined") == 4
    assert "Not defined: the design lacks the pairs" in result.stdout.replace("\n", " ")


@each_case(
    ("arguments", "message"),
    [
        (["--df", "bootstrap"], "bootstrap"),
        (["--unpaired"], "ratings per item"),
        (["--response", "likert"], "--points"),
        (["--p", "1.2"], "--p"),
        (["--p", "0"], "--p"),
        (["--alternative", "greater", "--alpha", "0.6"], "below 0.5"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_reason(arguments: list[str], message: str) -> None:
    assert message in run(*arguments, code=2).stderr.replace("\n", " ")


def test_several_settings_are_judged_side_by_side() -> None:
    both = run("--simulations", "50", preset="high,low")
    said = " ".join(both.stdout.split())
    assert "high: Whether the planned test (Mixed model, Kenward-Roger)" in said
    assert "low: Whether the planned test (Mixed model, Kenward-Roger)" in said
    record = json.loads(run("--simulations", "50", "--json", preset="high,low").stdout)
    n = len(NULL_TESTS)
    assert [row["setting"] for row in record["rows"]] == ["high"] * n + ["low"] * n
    alone = json.loads(run("--simulations", "50", "--json", preset="low").stdout)
    assert record["rows"][n:] == alone["rows"]


P = ["calibrate", "--p", "0.03", "--workers", "3", "--items", "100", "--simulations", "800"]


def test_a_reported_p_value_is_answered_first_and_without_parameters() -> None:
    result = cli.run(*P)
    shown = " ".join(result.stdout.split())
    first = "Is p = 0.03 credible? It depends on the ratings: p = 0.03 from 3 workers and 100 items"
    assert shown.startswith(f"{first} is credible at 5 % under typical public ratings")
    assert "pplm-fluency-steered is a typical fit of public ratings" in " ".join(result.stderr.split())
    record = cli.run_json(*P)
    assert (record["p"], record["rule"]["alpha"]) == (0.03, 0.05)
    assert list(record["settings"]) == ["pplm-fluency-steered", "high"]
    rates = {(row["setting"], row["test"]): row for row in record["rows"]}
    # With three workers of high variance a t test of item means takes their luck for an effect.
    common = rates["high", "item-means-t"]
    assert common["rejection_rate"] > 0.5
    assert common["credible"] == "no"
    planned = rates["high", "kenward-roger"]
    assert f"high: {100 * planned['rejection_rate']:.1f} % of studies without any difference" in shown


def test_a_p_value_equal_to_alpha_is_judged_by_the_same_rates() -> None:
    asked = ["--json", "--alpha", "0.1"]
    without, of_p = (json.loads(run(*words).stdout) for words in (asked, [*asked, "--p", "0.1"]))
    for row, judged in zip(without["rows"], of_p["rows"], strict=True):
        assert {name: judged[name] for name in row} == row
