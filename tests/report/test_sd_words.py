"""What a table does not tell of the SDs is said in the same words by a fit and by a report of it."""

from pathlib import Path

import numpy as np
import pytest
from cli import run

from humeval_power.parameters import FURTHER_DEVIATIONS, STANDARD_DEVIATIONS
from humeval_power.saying.rule_words import SD_WORDS, sds_in_words


@pytest.fixture
def once_rated(tmp_path: Path) -> Path:
    """Each item is rated by one worker only, under both systems: its own SDs cannot be told from the noise."""
    rng = np.random.default_rng(5)
    rows = ["worker,item,system,rating"]
    for worker in range(8):
        for item in range(6):
            rows += [
                f"w{worker},i{worker}-{item},{system},{rng.integers(low, low + 4)}"
                for system, low in (("old", 1), ("new", 2))
            ]
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(rows))
    return path


def test_every_deviation_of_two_systems_has_words():
    assert SD_WORDS.keys() >= {*STANDARD_DEVIATIONS, *FURTHER_DEVIATIONS}


def test_the_names_of_systems_stand_in_the_words_and_in_how_many_fits_behind_the_name():
    said = sds_in_words(["sd_item_slope (in 2 of 3 fits)", "sd_residual"], ("old", "new"))
    assert said == (
        "how much items differ in new - old (sd_item_slope, in 2 of 3 fits) and the noise of single ratings "
        "(sd_residual)"
    )
    assert "the difference of two systems" in sds_in_words(["sd_item_slope"], ("a", "b", "c"))


def test_a_fit_and_a_report_of_it_say_alike_what_cannot_be_told_apart(
    once_rated: Path, tmp_path: Path
) -> None:
    systems = ("--scale", "1:5", "--systems", "old,new")
    found = tmp_path / "analysis.json"
    assert run("analyze", once_rated, *systems, "-o", found).exit_code == 0
    fact = (
        "ratings cannot tell apart how much items differ in level (sd_item_intercept), how much "
        "items differ in new - old (sd_item_slope) and the noise of single ratings (sd_residual)."
    )
    fit, paper, form = (
        " ".join(run(*words).stdout.split()).replace("\u2212", "-")
        for words in (
            ("fit", once_rated, *systems),
            ("report", found, "--form", "paper"),
            ("report", found, "--form", "arr"),
        )
    )
    assert fact in fit
    assert fact in paper
    assert "sd_residual not identified" in form
