"""Claims by every way of guessing the agreement, and by task."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import humeval_power as hp
from humeval_power.comparisons.accuracy.claims import Claim, by_every_method
from tests.cli import run

CLAIMS = (
    Claim("a", 900, 0.80, 0.03, "one"),
    Claim("a", 900, 0.84, 0.01, "two"),
    Claim("a", 900, 0.82, 0.06, "three"),
    Claim("b", 4000, 0.90, 0.02, "four"),
)
TABLE = "name,task,n,baseline,improvement\n" + "".join(
    f"{c.name},{c.task},{c.n_items},{c.baseline},{c.improvement}\n" for c in CLAIMS
)


def test_each_method_is_what_bounds_finds_for_the_claim() -> None:
    found = by_every_method(CLAIMS, test="mid-p", power=0.8, alpha=0.05)
    for claim, ours in zip(CLAIMS, found.smallest, strict=True):
        asked = hp.accuracy.bounds(claim.n_items, claim.baseline).found
        assert ours == {name: each.effect for name, each in asked.items()}
    for name, share in found.reached.items():
        reached = [c.improvement >= each[name] for c, each in zip(CLAIMS, found.smallest, strict=True)]
        assert share == np.mean(reached)


def test_a_method_that_finds_nothing_possible_is_reached_by_no_claim() -> None:
    found = by_every_method([Claim("a", 147, 0.945, 0.05)], test="mid-p", power=0.8, alpha=0.05)
    assert math.isnan(found.smallest[0]["glue"])
    assert found.reached["glue"] == 0


def test_tasks_have_their_means_and_standard_errors() -> None:
    a, b = by_every_method(CLAIMS, test="mid-p", power=0.8, alpha=0.05).tasks
    gains = [0.03, 0.01, 0.06]
    assert (a.task, a.n_claims, a.best_baseline) == ("a", 3, 0.84)
    assert a.mean_improvement == pytest.approx(np.mean(gains))
    assert a.standard_error == pytest.approx(stats.sem(gains))
    assert a.smallest["middle"] == hp.accuracy.bounds(900, 0.84).found["middle"].effect
    assert math.isnan(b.standard_error)  # a single claim has none


def test_report_and_record_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "claims.csv").write_text(TABLE)
    claims, *_ = hp.accuracy.read_claims(tmp_path / "claims.csv")
    result = hp.accuracy.claims(claims)
    record, out = result.record(), str(result)
    assert f"{100 * record['smallest'][3]['squad']:.2f}" in out
    assert f"{100 * record['tasks'][0]['standard_error']:.2f}" in out
    assert record["reached"]["most"] == 1.0
    assert "By how the agreement is guessed" in out


@pytest.mark.slow  # of few tasks: test_a_folder_holds_page_record_table_and_picture
def test_the_pictures_are_drawn_for_many_tasks_and_hostile_names(tmp_path: Path) -> None:
    rows = [
        f"$x_{i}$ <b>,task $\\frac{{{i}}}$,1000,{0.7 + 0.01 * i + 0.02 * k:.2f},0.0{k + 1}"
        for i in range(9)
        for k in (0, 1)
    ]
    (tmp_path / "claims.csv").write_text("name,task,n,baseline,improvement\n" + "\n".join(rows) + "\n")
    run("accuracy", "claims", tmp_path / "claims.csv", "-o", tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").glob("*.png")}
    assert names == {"claims.png", "improvements.png", "baselines.png", "methods.png"}
    assert "<b>" not in (tmp_path / "out" / "index.html").read_text().partition("<body")[2]
