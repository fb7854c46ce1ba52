"""One's own regression of agreement: its fit, its record, and commands that take it."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from places import ROOT

import humeval_power as hp
from humeval_power.comparisons.accuracy.charts import overlap_chart
from humeval_power.comparisons.accuracy.claims import SystemPair, fit_improvements, fit_overlap
from humeval_power.errors import InputError
from humeval_power.saying.figure_style import figure_bytes
from tests.cli import run, run_json

TABLES = ROOT / "examples" / "papers" / "card2020_repository"
HEAD = "baseline,improvement,agreement\n"


def some_pairs(n: int) -> list[SystemPair]:
    rng = np.random.default_rng(5)
    worse, difference = rng.uniform(0.7, 0.9, n), rng.uniform(0.0, 0.05, n)
    agreement = 0.4 + 0.55 * worse - 0.5 * difference + rng.normal(0, 0.004, n)
    return [SystemPair(*map(float, row)) for row in zip(worse, difference, agreement, strict=True)]


@pytest.mark.parametrize("n", [5, 60])
def test_the_regressions_are_those_of_statsmodels(n: int) -> None:
    pairs = some_pairs(n)
    frame = pd.DataFrame(pairs)
    for ours, formula in (
        (fit_overlap(pairs).fit, "agreement ~ worse + difference"),
        (fit_improvements(pairs), "difference ~ worse"),
    ):
        theirs = smf.ols(formula, frame).fit()
        assert [term.estimate for term in ours.terms] == pytest.approx(list(theirs.params))
        assert [term.standard_error for term in ours.terms] == pytest.approx(list(theirs.bse))
        assert [term.p_value for term in ours.terms] == pytest.approx(list(theirs.pvalues))
        limits = [bound for term in ours.terms for bound in (term.low, term.high)]
        assert limits == pytest.approx(list(theirs.conf_int().to_numpy().ravel()))
        assert ours.r_squared == pytest.approx(theirs.rsquared)
        assert ours.adjusted_r_squared == pytest.approx(theirs.rsquared_adj)
        assert (ours.f_statistic, ours.f_p_value) == pytest.approx((theirs.fvalue, theirs.f_pvalue))
        assert ours.residual_sd**2 == pytest.approx(theirs.mse_resid)


@pytest.mark.parametrize("n", [0, 3])
def test_too_few_pairs_are_refused(n: int) -> None:
    with pytest.raises(InputError, match="too few"):
        fit_overlap(some_pairs(n))


def test_pairs_of_one_accuracy_are_refused() -> None:
    with pytest.raises(InputError, match="do not determine"):
        fit_overlap([SystemPair(0.9, 0.01 * step, 0.9) for step in range(6)])


def test_the_improvements_of_squad_are_those_of_table_8() -> None:
    # Card et al. (2020), Table 8: constant .1331 (.023), slope -.1408 (.028), R2 .672, F 24.55, 14 improvements.
    board, _ = hp.accuracy.read_leaderboard(TABLES / "models.tsv")
    counted = hp.accuracy.read_pairs(TABLES / "pairs_dev.tsv", board, n_validation=11873)
    pairs = hp.accuracy.pairs_of_leaderboard(board, counted, new_best_of=8862, power_on="validation")
    fit = hp.accuracy.overlap(pairs).improvements
    assert fit.n == 14
    assert [round(term.estimate, 4) for term in fit.terms] == [0.1331, -0.1408]
    assert [round(term.standard_error, 3) for term in fit.terms] == [0.023, 0.028]
    assert (round(fit.r_squared, 3), round(fit.f_statistic, 2)) == (0.672, 24.55)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [f"{100 * p.worse},{100 * p.difference},{100 * p.agreement}\n" for p in some_pairs(30)]
    (tmp_path / "pairs.csv").write_text(HEAD + "".join(rows))
    return tmp_path / "pairs.csv"


def test_a_regression_that_was_written_is_taken_by_other_commands(table: Path) -> None:
    record = table.with_name("own.json")
    run("accuracy", "overlap", table, "-o", record)
    known = hp.accuracy.read_overlap(record)
    assert known.per_accuracy == pytest.approx(fit_overlap(some_pairs(30)).regression.per_accuracy)
    comparison = hp.accuracy.PairedAccuracy(900, difference=0.02, agreement=known, baseline=0.8)
    asked = (
        "--n",
        900,
        "--effect",
        0.02,
        "--baseline-accuracy",
        0.8,
        "--overlap",
        record,
        "--method",
        "analytic",
    )
    found = run_json("accuracy", "power", *asked)
    assert found["computed"]["power"] == pytest.approx(comparison.computed().power)
    claims = table.with_name("claims.csv")
    claims.write_text("task,n,baseline,accuracy\na,900,0.8,0.82\na,900,0.82,0.83\na,900,0.83,0.86\n")
    judged = run_json("accuracy", "claims", claims, "--overlap", record)
    assert judged["claims"][0]["agreement"] == pytest.approx(1 - comparison.disagreement)


def test_the_report_says_what_the_record_holds(table: Path) -> None:
    out = " ".join(run("accuracy", "overlap", table).stdout.split())
    found = run_json("accuracy", "overlap", table)
    assert f"{found['overlap']['constant']:.4f}" in out
    assert f"R2 {found['agreement']['r_squared']:.3f}" in out


def test_a_pair_that_agrees_more_than_its_accuracies_allow_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(HEAD + "80,2,90\n80,30,95\n81,1,91\n85,40,92\n")
    with pytest.raises(InputError) as caught:
        hp.accuracy.read_system_pairs(tmp_path / "p.csv")
    assert [problem.row for problem in caught.value.problems] == [3, 5]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"schema": "humeval_power/accuracy_bounds/1"}, "is no record of a regression"),
        ({"schema": "humeval_power/accuracy_overlap/1", "overlap": [1]}, "is no record of a regression"),
        ({"schema": "humeval_power/accuracy_overlap/1", "overlap": {"constant": "x"}}, "finite number"),
    ],
)
def test_other_records_are_refused(tmp_path: Path, record: dict[str, object], said: str) -> None:
    (tmp_path / "r.json").write_text(json.dumps(record))
    done = run(
        "accuracy", "mde", "--n", 900, "--baseline-accuracy", 0.9, "--overlap", tmp_path / "r.json", code=2
    )
    assert said in " ".join(done.stderr.split())
    assert "r.json" in done.stderr


@pytest.mark.parametrize("options", [["--of", "new-best"], ["--n", "900"], ["--n-validation", "900"]])
def test_options_of_a_leaderboard_need_its_pairs(table: Path, options: list[str]) -> None:
    assert "--pairs" in run("accuracy", "overlap", table, *options, code=2).stderr


def test_the_picture_is_the_same_bytes_whichever_way_the_linear_algebra_rounds() -> None:
    # Machines differ in the last digits of a least squares solution, by more than one unit of the last place.
    board, _ = hp.accuracy.read_leaderboard(TABLES / "models.tsv")
    known = hp.accuracy.read_pairs(TABLES / "pairs_dev.tsv", board, n_validation=11873)
    fitted = fit_overlap(hp.accuracy.pairs_of_leaderboard(board, known))
    drawn = set()
    for step in (-3, 0, 3):
        constant = fitted.regression.constant * (1 + step * 4e-16)
        moved = replace(fitted, regression=replace(fitted.regression, constant=constant))
        drawn.add(figure_bytes(overlap_chart(moved).figure, "png"))
    assert len(drawn) == 1
