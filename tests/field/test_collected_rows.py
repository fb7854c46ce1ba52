"""Repeats and attention checks of a collected table leave every analysis by themselves, and are counted."""

import html
import json
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from humeval_power.errors import InputError
from humeval_power.ratings import ratings_from_table
from tests.cli import run

EXTRA = 8


@pytest.fixture
def collected():
    """Six workers rate five items of two systems; two repeats and two checks are far from all other ratings."""
    rng = np.random.default_rng(1)
    rows = [
        {
            "worker": f"w{w}",
            "item": f"i{i}",
            "system": s,
            "rating": int(rng.integers(1, 6)),
            "kind": "rating",
        }
        for w in range(6)
        for i in range(5)
        for s in "AB"
    ]
    for w in range(4):
        rows.insert(7 * w, {"worker": f"w{w}", "item": "", "system": "", "rating": 99, "kind": "check"})
        rows.insert(
            7 * w + 3, {"worker": f"w{w}", "item": "i1", "system": "B", "rating": 77, "kind": "repeat"}
        )
    return pd.DataFrame(rows)


def test_they_are_left_out_and_counted(collected):
    found = ratings_from_table(collected)
    bare = ratings_from_table(collected[collected["kind"] == "rating"].drop(columns="kind"))
    np.testing.assert_array_equal(found.rating, bare.rating)
    assert (found.scale, found.n_ratings) == (bare.scale, 60)
    steps = [(step.step, step.rows, step.reason) for step in found.flow]
    assert steps[1] == (
        "dropped",
        EXTRA,
        "repeats and attention checks (kind is 'check': 4, 'repeat': 4)",
    )


def test_a_column_of_other_words_is_no_column_of_kinds(collected):
    other = collected.replace({"kind": {"check": "cheque"}})
    with pytest.raises(InputError, match="the item is blank"):
        ratings_from_table(other)


def test_a_column_that_is_something_else_by_name_is_that(collected):
    ours = collected[collected["kind"] != "check"]
    assert ratings_from_table(ours, system="kind").n_ratings == 64


def test_ratings_without_a_kind_among_others_are_refused(collected):
    collected.loc[collected.index[5:7], "kind"] = ""
    with pytest.raises(InputError, match=r"no kind in 2 of the ratings.*rating, repeat, check") as refused:
        ratings_from_table(collected)
    assert refused.value.problems[0].row == 7


def test_every_command_says_so(tmp_path, collected):
    path = tmp_path / "ratings.csv"
    collected.to_csv(path, index=False)
    for command in (["check"], ["fit"], ["analyze"]):
        record = json.loads(run(*command, path, "--scale", "1:5", "--json").stdout)
        assert "repeats and attention checks (kind is" in json.dumps(record), command
    page = html.unescape(run("check", path, "--scale", "1:5", "--format", "html").stdout)
    assert "8: repeats and attention checks (kind is" in page
    run("release", path, "-o", tmp_path / "released", "--scale", "1:5")
    assert len((tmp_path / "released" / "ratings.csv").read_text().splitlines()) == 61


@pytest.mark.r
def test_r_reads_the_same_rows(tmp_path, collected):
    path, script = tmp_path / "ratings.csv", tmp_path / "fit.R"
    collected.to_csv(path, index=False)
    run("fit", path, "--scale", "1:5", "-o", script)
    lines = script.read_text().splitlines()
    end = next(at for at, line in enumerate(lines) if "nlevels(d$item)" in line)
    script.write_text("\n".join([*lines[: end + 1], 'cat("rows", nrow(d))']))
    r = shutil.which("Rscript")
    assert r is not None
    assert "rows 60" in subprocess.run([r, script], capture_output=True, text=True, check=True).stdout
