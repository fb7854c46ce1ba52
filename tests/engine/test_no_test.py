"""Where there is no test there is no p-value, no interval and no decision, in any command or form."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from cases import each_case, few_fast
from click.testing import CliRunner, Result
from study_files import run, write_ratings

from humeval_power.doors.terminal.main import main
from humeval_power.estimation.crossed import fits
from humeval_power.estimation.joint import fit as joint_fit
from humeval_power.rules import DecisionRule
from humeval_power.saying import numbers
from humeval_power.studies.fit.wald import finished_test
from humeval_power.studies.power.estimate import PowerEstimate, Tally

REASON = "the fit did not converge (too many steps)"


def plain(result: Result) -> str:
    return " ".join(result.output.split())


@pytest.fixture
def unconverged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches that are cut off after one step."""
    monkeypatch.setattr(fits, "MAX_STEPS", 1)
    monkeypatch.setattr(joint_fit, "_MAX_STEPS", 1)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Ratings of which some are lost, so that nothing has a closed form."""
    return write_ratings(tmp_path / "ratings.csv", lost=5)


def three_systems(path: Path) -> Path:
    frame = pd.read_csv(path)
    third = frame[frame["system"] == "old"].assign(system="third")
    third["rating"] = (third["rating"] % 5) + 1
    pd.concat([frame, third.iloc[3:]]).to_csv(path, index=False)
    return path


@pytest.mark.usefixtures("unconverged")
@few_fast(
    "extra", [(), ("--analysis", "differences"), ("--alternative", "equivalent", "--margin", "0.1")], fast=1
)
@pytest.mark.parametrize("command", ["fit", "analyze"])
def test_a_fit_that_did_not_converge_has_no_p_value_no_interval_and_no_decision(
    command: str, extra: tuple[str, ...], table: Path
) -> None:
    result = run(command, table, "--scale", "1:5", *extra)
    said = plain(result)
    assert "no test, no p-value and no interval: the fit did not converge" in said
    assert "p =" not in said
    assert "p <" not in said
    for decision in ("is rated higher", "No difference is shown", "not shown", "is shown to"):
        assert decision not in said
    effect = json.loads(run(command, table, "--scale", "1:5", *extra, "--json").stdout)["effect"]
    assert (effect["p_value"], effect["interval"], effect["significant"]) == (None, [None, None], None)
    assert effect["reason"].startswith("the fit did not converge")


@pytest.mark.usefixtures("unconverged")
def test_a_fit_that_did_not_converge_ends_with_3_under_strict(table: Path) -> None:
    run("fit", table, "--scale", "1:5", "--strict", code=3)


@pytest.mark.usefixtures("unconverged")
@few_fast(
    "model", [("pairwise", "holm"), ("joint", "holm"), ("joint", "max-t"), ("pairwise", "none")], fast=1
)
def test_comparisons_of_several_systems_without_a_test_decide_nothing(
    model: tuple[str, str], table: Path
) -> None:
    words = ("analyze", three_systems(table), "--scale", "1:5", "--all-pairs", "--model", model[0])
    words += ("--correction", model[1])
    said = plain(run(*words))
    assert "No test of " in said
    assert "did not converge" in said
    assert "*" not in said
    record = json.loads(run(*words, "--json").stdout)
    for pair in record["pairs"]:
        assert pair["p_value"] is pair["corrected_p_value"] is pair["significant"] is None
        assert pair["reason"].startswith("the fit did not converge")
        assert pair["interval"] == [None, None]


@pytest.mark.usefixtures("unconverged")
@few_fast("form", ["paper", "heds", "arr", "card2020"], fast=1)
def test_no_form_reports_a_decision_of_a_fit_that_did_not_converge(
    form: str, table: Path, tmp_path: Path
) -> None:
    run("analyze", table, "--scale", "1:5", "-o", tmp_path / "analysis.json")
    result = run(
        "report", "--form", form, "--findings", tmp_path / "analysis.json", "-o", tmp_path / "r.md"
    )
    text = " ".join((tmp_path / "r.md").read_text().split())
    assert result.exit_code == 0
    for decision in ("p = ", "p < ", "is significant: ", "was rated higher", "not significant"):
        assert decision not in text, decision


@pytest.mark.usefixtures("unconverged")
def test_power_is_not_given_where_more_than_a_fifth_of_the_fits_fail() -> None:
    words = ("power", "--preset", "high", "--workers", 8, "--items", 24, "--ratings-per-item", 3)
    words += ("--effect", 0.1, "--simulations", 20, "--lost", 0.1)
    result = run(*words, code=3)
    said = plain(result)
    assert "There is no power: too many of the simulated studies could not be fitted" in said
    assert "20 simulated, 20 failed (100 %" in said
    record = json.loads(run(*words, "--json", code=3).stdout)
    assert record["power"] is None
    assert record["failure_rate"] == 1.0


def test_failed_fits_count_as_not_significant_up_to_a_fifth_of_them() -> None:
    some = PowerEstimate(Tally(n=100, n_failed=20, n_right=40, n_wrong=10), 0.1, 0.05)
    assert (some.power, some.rejection_rate) == (0.4, 0.5)
    assert some.interval[0] < 0.4 < some.interval[1]
    many = PowerEstimate(Tally(n=100, n_failed=21, n_right=40), 0.1, 0.05)
    assert many.too_many_failed
    assert all(map(math.isnan, (many.power, many.rejection_rate, *many.interval, *many.rejection_interval)))


@each_case(
    ("error", "df"),
    [(0.0, 5.0), (math.nan, 5.0), (math.inf, 5.0), (0.1, math.nan), (0.1, math.inf), (0.1, -2.0)],
)
def test_no_standard_error_or_no_df_gives_no_p_value(error: float, df: float) -> None:
    test = finished_test(0.2, error, df, DecisionRule())
    assert test.reason
    assert not test.significant
    assert all(map(math.isnan, (test.p_value, *test.interval)))


@pytest.mark.parametrize("form", [numbers.p_cell, numbers.p_words])
def test_no_formatter_prints_a_missing_p_as_a_number(form) -> None:
    said = form(math.nan)
    assert said in ("none", "no p-value", "-")
    assert numbers.p_words(math.nan) == "no p-value"


@pytest.mark.parametrize("df", ["kenward-roger", "satterthwaite", "bootstrap"])
def test_an_engine_without_a_df_says_so_before_it_fits(
    df: str, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It printed 'SE nan, t = nan, p < 1e-15' and ended with 0."""
    from humeval_power.estimation import other_engines as statsmodels_engine

    monkeypatch.setattr(statsmodels_engine, "fit_statsmodels", None)
    result = run("fit", table, "--scale", "1:5", "--engine", "statsmodels", "--df", df, code=2)
    assert f"The statsmodels engine has no df '{df}'" in plain(result)
    assert "--df min" in plain(result)


def test_lme4_says_before_it_fits_that_a_large_table_has_no_kenward_roger(tmp_path: Path) -> None:
    rows = [f"w{w},i{i},{s},{(w * i) % 5 + 1}" for w in range(6) for i in range(100) for s in "AB"]
    (tmp_path / "t.csv").write_text("worker,item,system,rating\n" + "\n".join(rows) + "\n")
    result = CliRunner().invoke(
        main, ["fit", str(tmp_path / "t.csv"), "--scale", "1:5", "--engine", "lme4"]
    )
    assert result.exit_code == 2
    assert "at most 1,000 ratings; there are 1,200" in plain(result)


ROWS = [(worker, item, 1 + (3 * worker + 5 * item) % 5) for worker in range(6) for item in range(8)]


@each_case(
    ("noun", "system_of"),
    [
        ("worker", lambda worker, _: worker if worker < 2 else None),
        ("item", lambda _, item: item if item < 2 else None),
        ("document", lambda _, item: item % 2),
    ],
)
@each_case("extra", [(), ("--family", "ordinal"), ("--estimator", "ml", "--df", "normal")])
def test_one_worker_item_or_document_for_each_system_is_refused(
    noun: str, system_of: Callable[[int, int], int | None], extra: tuple[str, ...], tmp_path: Path
) -> None:
    """The contrast lies in the space of that factor, so that its variance is anything (a t of 227 SDs was seen)."""
    rows = [
        (f"w{worker}", f"i{item}", "AB"[system], rating, f"d{item % 2}")
        for worker, item, rating in ROWS
        if (system := system_of(worker, item)) is not None
    ]
    path = tmp_path / "ratings.csv"
    columns = ["worker", "item", "system", "rating", "document"]
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
    given = ("--document", "document") if noun == "document" else ()
    said = plain(run("analyze", path, "--scale", "1:5", *given, *extra, code=2))
    assert f"Each system has one {noun} only, so that a difference" in said
    if noun != "document":
        assert f"cannot be analysed, as it has one {noun} only for each system" in plain(run("check", path))


@each_case("model", ["pairwise", "joint"])
def test_one_worker_for_each_of_several_systems_is_refused(model: str, tmp_path: Path) -> None:
    rows = [
        (f"w{worker}", f"i{item}", "ABC"[worker], rating) for worker, item, rating in ROWS if worker < 3
    ]
    path = tmp_path / "ratings.csv"
    pd.DataFrame(rows, columns=["worker", "item", "system", "rating"]).to_csv(path, index=False)
    words = ("analyze", path, "--scale", "1:5", "--all-pairs", "--model", model)
    said = plain(run(*words, code=2))
    assert ("B - A: " if model == "pairwise" else "") + "Each system has one worker only" in said
