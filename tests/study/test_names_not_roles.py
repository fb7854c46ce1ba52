"""Words and cells name systems by their names: with systems called A, B and C a role is another system's name."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cli import run

from humeval_power.estimation.crossed.interaction_score import InteractionTest
from humeval_power.inference.study.spread import SpreadTest
from humeval_power.reporting.study.fits.family_words import spread_words
from humeval_power.reporting.study.fits.fit_blocks import fit_notes

DEFINITION = "A is 'B', B is 'C'"  # of the letters that rules are worded with
ROLES = re.compile(r"\bB - A\b|\bA (?:observed|fitted)\b|\bfor A\b|\bA's\b|\bof A\b")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(3)
    rows = [
        (f"w{worker}", f"i{item}", system, int(np.clip(round(3 + spread * rng.normal()), 1, 5)))
        for system, spread in (("A", 0.4), ("B", 0.6), ("C", 1.6))
        for worker in range(4)
        for item in range(8)
    ]
    path = tmp_path_factory.mktemp("names") / "ratings.csv"
    pd.DataFrame(rows, columns=["worker", "item", "system", "rating"]).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("words", [(), ("--family", "ordinal")])
def test_a_fit_of_b_and_c_speaks_of_b_and_c(table: Path, words: tuple[str, ...]) -> None:
    printed = run("fit", table, "--scale", "1:5", "--systems", "B,C", "--details", *words).output
    assert "Effect C - B" in printed
    assert not ROLES.search(" ".join(printed.split()).replace(DEFINITION, ""))


def test_a_spread_is_that_of_the_systems_by_name() -> None:
    ratings = SimpleNamespace(system_names=("B", "C"))
    said = spread_words(SpreadTest(ratio=1.12, p_value=0.001), ratings)  # type: ignore[arg-type]
    assert "the ratings of C spread about 1.12 times as widely as those of B" in said


def test_an_accuracy_is_compared_by_name(tmp_path: Path) -> None:
    pd.DataFrame({"B": [1, 1, 0, 1, 0, 1, 0, 0], "C": [1, 1, 1, 1, 1, 1, 0, 1]}).to_csv(
        tmp_path / "right.csv", index=False
    )
    printed = " ".join(run("accuracy", "test", tmp_path / "right.csv", "--systems", "B,C").output.split())
    assert "C - B +0.3750" in printed
    assert "C alone right on 3, B alone on 0" in printed


def test_a_term_that_is_left_out_is_told_without_a_direction_that_nobody_computed() -> None:
    # One real table has SE 0.01158 with the missing terms and 0.01201 without them: the test is not too bold there.
    fitted = SimpleNamespace(
        converged=True,
        monte_carlo=None,
        n_optima=1,
        not_identified=(),
        correlations=(),
        boundary=(),
        df_satterthwaite=9.0,
        df_kenward_roger=9.0,
    )
    found = InteractionTest(z=3.0, p_value=0.001, monte_carlo_error=0.0)
    (note,) = fit_notes(None, fitted, None, interaction=found)  # type: ignore[arg-type]
    assert "fit the term of worker and item too and compare" in note
    assert "bold" not in note
