"""The command `humeval-power check`, as a person meets it in a terminal."""

import json
from pathlib import Path

import click
import numpy as np
import pytest
from cli import run

from humeval_power.asking.options import made_of, option_of
from humeval_power.asking.study_values import StudyValues, study_fields
from humeval_power.errors import HumevalPowerError
from humeval_power.files import tables as rating_tables
from humeval_power.rules import DecisionRule
from humeval_power.saying.document import Table
from humeval_power.saying.render.terminal import table_lines
from humeval_power.scales import RatingScale
from humeval_power.studies.fit.figures import ratings_figure
from humeval_power.studies.resolve import rule_of

ROWS = [f"w{w},i{i},{s},{1 + (w + i + (s == 'B')) % 5}" for w in range(3) for i in range(4) for s in "AB"]
TEXT = "worker,item,system,rating\n" + "\n".join(ROWS) + "\n"


@pytest.fixture
def pilot(tmp_path: Path) -> Path:
    path = tmp_path / "pilot.csv"
    path.write_text(TEXT)
    return path


def test_check_describes_the_table_within_80_columns(pilot: Path) -> None:
    result = run("check", pilot)
    assert result.stderr == ""
    assert "  Read    24\n  Usable  24" in result.stdout
    assert "1 to 5 (5 points), taken from the ratings" in result.stdout
    assert "worker-item pairs that saw both systems       100.0 %" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_check_as_json_is_a_versioned_document(pilot: Path) -> None:
    result = run("check", pilot, "--json", "--scale", "1:5")
    document = json.loads(result.stdout)
    assert result.stderr.startswith("Ratings in pilot.csv")
    assert document["schema"] == "humeval_power/check/1"
    assert document["flow"] == [
        {"step": "read", "rows": 24, "reason": ""},
        {"step": "analysed", "rows": 24, "reason": ""},
    ]
    assert (document["n_workers"], document["n_items"], document["n_ratings"]) == (3, 4, 24)
    assert document["ratings_per_worker"] == {"minimum": 8, "median": 8.0, "maximum": 8}
    assert document["ratings_per_item_and_system"] == {"minimum": 3, "median": 3.0, "maximum": 3}
    assert (document["share_paired"], document["n_repeats"], document["n_parts"]) == (1.0, 0, 1)
    # worker w, item i, A: 1 + (w + i) mod 5 is 1,2,3,4 / 2,3,4,5 / 3,4,5,1, with the mean 37/12.
    assert document["systems"][0]["mean"] == pytest.approx(37 / 12)
    assert document["scale"]["source"] == "declared"
    assert document["data"] == {"source": "pilot.csv"}


def test_groups_that_share_no_rating_are_counted() -> None:
    apart = TEXT + "".join(f"v{w},j{i},{s},{1 + i}\n" for w in range(2) for i in range(2) for s in "AB")
    assert "no, 2 separate parts" in run("check", "-", stdin=apart).stdout


def test_check_reads_standard_input() -> None:
    result = run("check", "-", stdin=TEXT)
    assert result.stdout.startswith("Ratings in standard input")


def test_all_problems_end_on_standard_error_with_exit_code_2() -> None:
    bad = TEXT.replace("w1,i1,A,3", "w1,,A,3").replace("w2,i1,A,4", "w2,i1,A,four")
    result = run("check", "-", stdin=bad, code=2)
    assert result.stdout == ""
    assert result.stderr.startswith(
        "Error: the input has problems.\n- standard input, row 12, column 'item'"
    )
    assert "value 'four': a rating must be a number." in " ".join(result.stderr.split())
    assert max(map(len, result.stderr.splitlines())) <= 80


def test_many_systems_are_described_and_not_refused() -> None:
    three = TEXT + "".join(f"w{w},i{i},C,2\n" for w in range(3) for i in range(4))
    result = run("check", "-", stdin=three)
    assert "worker-item pairs that saw two systems or more  100.0 %" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--systems", "A"], "name two systems, A first: A,B; got 'A'."),
        (["--scale", "five"], "A scale is written low:high, for example 1:5 or 0:100; got 'five'."),
        (["--no-such-option"], "No such option"),
    ],
)
def test_a_wrong_option_is_explained(pilot: Path, arguments: list[str], expected: str) -> None:
    result = run("check", pilot, *arguments, code=2)
    assert expected in " ".join(result.stderr.split())


def test_a_page_shows_how_the_ratings_of_each_system_are_spread(pilot: Path, tmp_path: Path) -> None:
    run("check", pilot, "-o", tmp_path / "page")
    names = {path.name for path in (tmp_path / "page").iterdir()}
    assert names == {"index.html", "record.json", "table.csv", "ratings.svg", "ratings.png"} | {
        f"assignment.{end}" for end in ("svg", "png")
    }
    assert (tmp_path / "page" / "table.csv").read_text().splitlines()[1].startswith(",A,12,3,4,3.08")


def test_each_criterion_of_a_table_is_described_and_pictured(tmp_path: Path) -> None:
    several = [f"{row},{criterion}" for row in ROWS for criterion in ("=fluency", "../adequacy")]
    table = "worker,item,system,rating,criterion\n" + "\n".join(several) + "\n"
    result = run("check", "-", "--json", "-o", tmp_path / "page", stdin=table)
    document = json.loads(result.stdout)
    assert [each["criterion_name"] for each in document["criteria"]] == ["../adequacy", "=fluency"]
    assert "--criterion ../adequacy" in result.stderr
    names = {path.name for path in (tmp_path / "page").iterdir()}
    assert {"ratings-1.svg", "ratings-2.svg"} < names  # the criterion's name is no path


@pytest.mark.parametrize(
    ("ratings", "scale", "n_bars"),
    [
        ([1, 1, 5], RatingScale(1, 5, points=5), 5),  # each point of the scale, rated or not
        ([0.1, 0.2], None, 2),
        (list(range(90)), RatingScale(0, 100), 20),
    ],
)
def test_bars_of_ratings_are_shares_of_each_system(
    ratings: list[float], scale: RatingScale | None, n_bars: int
) -> None:
    figure = ratings_figure({"$x <b>": np.array(ratings, dtype=float)}, scale)
    heights = [bar.get_height() for bar in figure.axes[0].patches]
    assert sum(heights) == pytest.approx(1)
    assert sum(height > 0 for height in heights) <= n_bars <= len(heights)
    assert figure.axes[0].lines[0].get_xdata()[0] == pytest.approx(np.mean(ratings))


def test_missing_codes_are_added_to_the_usual_ones(pilot: Path) -> None:
    pilot.write_text(TEXT.replace("w1,i1,A,3", "w1,i1,A,Invalid").replace("w2,i1,A,4", "w2,i1,A,N/A"))
    result = run("check", pilot, "--missing", "Invalid")
    assert "Left out  2: rating is missing ('Invalid': 1, 'N/A': 1)" in result.stdout


@pytest.mark.parametrize(
    ("error", "exit_code", "expected"),
    [
        (KeyboardInterrupt(), 130, "Interrupted; no file was left half-written."),
        (HumevalPowerError("It went wrong."), 1, "Error: It went wrong."),
        (PermissionError(13, "Permission denied", "secret"), 1, "Error: 'secret': Permission denied."),
    ],
)
def test_what_goes_wrong_is_told_in_words(
    pilot: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, exit_code: int, expected: str
) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise error

    run("check", pilot)
    monkeypatch.setattr(rating_tables, "read_rating_table", fail)
    result = run("check", pilot, code=exit_code)
    assert result.stderr.strip() == expected


def test_versions_of_what_results_depend_on_are_shown() -> None:
    result = run("--show-versions")
    assert all(name in result.stdout for name in ("python", "humeval-power", "numpy", "Rscript"))


def test_the_options_of_the_rule_take_their_defaults_from_the_rule() -> None:
    def rule(*words: str) -> DecisionRule:
        fields = study_fields("test")
        show = click.Command("show", params=[made_of(option_of(name, one)) for name, one in fields.items()])
        return rule_of(StudyValues.of(show.make_context("show", list(words))))

    assert rule() == DecisionRule()
    with pytest.raises(click.UsageError, match="defined for REML"):
        rule("--estimator", "ml", "--df", "kenward-roger")


def test_a_long_first_column_is_shortened_to_fit_80_columns() -> None:
    table = table_lines(Table(("system", "mean"), (("x" * 100, "1"), ("y", "22"))))
    assert all(len(line) <= 80 for line in table.splitlines())
    assert "..." in table


def test_check_on_real_tables_fits_the_terminal(shared_data: Path) -> None:
    for name, *options in (
        ("pplm_fluency.csv", "--item", "prompt"),
        ("squality.csv", "--criterion", "overall"),
        ("wmt23_sxs_mqm_zhen.csv", "--scale", "-25:0"),
    ):
        result = run("check", shared_data / name, *options)
        assert max(map(len, result.stdout.splitlines())) <= 80
