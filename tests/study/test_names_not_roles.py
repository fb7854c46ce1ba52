"""Words and cells name systems by their names: with systems called A, B and C a role is another system's name."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cli import run

from humeval_power.estimation.crossed.interaction_score import InteractionTest
from humeval_power.studies.fit.fit_blocks import fit_notes
from humeval_power.studies.fit.fit_result import spread_words
from humeval_power.studies.fit.wald import SpreadTest

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
    assert not ROLES.search(" ".join(printed.split()))


PLANNED = [
    *("--effect", "0.4", "--items", "8:24:8", "--max-workers", "12", "--cost-per-rating", "0.1"),
    *("--simulations", "20"),
]
STUDY = [
    *("--workers", "4", "--items", "8", "--ratings-per-item", "2", "--effect", "0.3"),
    *("--simulations", "20"),
]
DEFINED = re.compile(r"\bA is\b|\bA and B\b")


def test_plans_powers_and_every_form_speak_of_b_and_c(table: Path, tmp_path: Path) -> None:
    def said(*words: object) -> str:
        found = run(*words)
        printed = " ".join(f"{found.stdout} {found.stderr}".split())
        assert not ROLES.search(printed), printed
        assert not DEFINED.search(printed), printed
        return printed

    pair = ("--scale", "1:5", "--systems", "B,C")
    said("fit", table, *pair, "-o", tmp_path / "fit.json")
    planned = ("--parameters", tmp_path / "fit.json", "--scale", "1:5")
    assert "C - B = 0.3 on [0, 1]" in said("power", *planned, *STUDY, "--details")
    assert "would find that C is 1.6 points better than B" in said(
        "plan", *planned, *PLANNED, "--details", "-o", tmp_path / "plan.json"
    )
    said("analyze", table, *pair, "--plan", tmp_path / "plan.json", "-o", tmp_path / "analysis.json")
    for form in ("study", "card2020", "heds", "arr", "aspredicted", "osf", "paper"):
        said("report", tmp_path / "plan.json", "--form", form)
        said("report", tmp_path / "plan.json", tmp_path / "analysis.json", "--form", form)


def test_a_table_without_a_choice_of_systems_names_their_difference(tmp_path: Path) -> None:
    rows = [
        (w, f"i{item}", system, item % 5 + 1) for item in range(8) for system in "BC" for w in ("w1", "w2")
    ]
    path = tmp_path / "two.csv"
    pd.DataFrame(rows, columns=["worker", "item", "system", "rating"]).to_csv(path, index=False)
    assert "The effect is C - B; --systems C,B turns it round." in " ".join(
        run("check", path).output.split()
    )


def test_a_preference_is_for_a_system_by_its_name(tmp_path: Path) -> None:
    rows = [("B", "C", ("B", "C", "tie")[place % 3], f"i{place}", f"w{place % 4}") for place in range(24)]
    path = tmp_path / "judged.csv"
    pd.DataFrame(rows, columns=["system_a", "system_b", "winner", "item", "worker"]).to_csv(
        path, index=False
    )
    printed = " ".join(run("preference", "test", path, "--details").output.split())
    assert "prefers C 8, tie 8 (33 %), prefers B 8" in printed
    assert not re.search(r"prefers? A\b|\(A\)|\bA is\b|over A\b", printed)


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
