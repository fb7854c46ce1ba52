"""The answer stands first, in names: what a plan promises, what was found, and nothing of roles."""

import re
from pathlib import Path

import pytest
from cli import run
from places import ROOT
from test_cli_many_systems import NAMES, frame

from humeval_power.saying.answer_words import with_names

PLAN = "--scale 1:5 --items 20:60:20 --workers 4:12:4 --cost-per-rating 0.1 --simulations 40 --seed 1"


@pytest.fixture
def pilot(tmp_path: Path) -> Path:
    path = tmp_path / "pilot.csv"
    path.write_bytes((ROOT / "data" / "pilot.csv").read_bytes())
    return path


def test_the_first_lines_of_a_plan_say_how_often_it_succeeds_and_whether_that_will_do(
    pilot, tmp_path
) -> None:
    missed = run("plan", pilot, *PLAN.split(), "--effect-raw", "0.1", "-o", tmp_path / "plan", code=3)
    lines = missed.stdout.splitlines()
    assert lines[0] == "Plan that misses its target: Is new rated higher than baseline?"
    assert re.match(
        r"Not met: of 100 such studies, \d+ \(\d+ to \d+\) would find that new is 0\.1 points better",
        " ".join(lines[1:]),
    )
    met = run("plan", pilot, *PLAN.split(), "--effect-raw", "0.6").stdout.splitlines()  # with exit code 0
    assert met[0] == "Plan: Is new rated higher than baseline?"
    assert re.match(
        r"\d+ workers share \d+ items under baseline and new, each output rated (?:once|\d times): "
        r"[\d,]+ ratings, [\d.]+ USD\. "
        r"Of 100 such studies, \d+ \(\d+ to \d+\) would find that new is 0\.6 points better than baseline on a "
        r"scale from 1 to 5; 80 was the target",
        " ".join(met[1:]),
    )
    # what is carried out says so too
    work = run("assign", "--plan", tmp_path / "plan", "-o", tmp_path / "work.csv")
    assert re.search(r"Not met: of 100\s+such\s+studies", work.stdout)


def test_up_to_ten_differences_stand_in_the_answer_and_of_more_where_they_are(tmp_path: Path) -> None:
    for names, n_shown in ((NAMES, 10), ((*NAMES, "zeta"), 0)):
        path = tmp_path / f"{len(names)}.csv"
        frame(3, names).to_csv(path, index=False)
        said = run("analyze", path, "--scale", "0:1", "--all-pairs", "-q").stdout
        rows = re.findall(
            r"^  \w+ - \w+ +-?[\d.]+ +-?[\d.]+ to -?[\d.]+ +[\d.]+ +[<\d. ]+$", said, re.MULTILINE
        )
        assert len(rows) == n_shown, said
        more = "15 differences: they stand under Differences, in a terminal with --details"
        assert (more in " ".join(said.split())) is not bool(n_shown)


def test_words_about_roles_take_names_and_articles_stay() -> None:
    names = ("old \\1", "new")
    assert with_names("A test of B - A: B is better than A, A alone", names) == (
        "A test of new - old \\1: new is better than old \\1, old \\1 alone"
    )
    assert with_names("BCa and ABBA", names) == "BCa and ABBA"


def test_comparisons_name_systems_and_no_role(tmp_path: Path) -> None:
    rows = [
        f"q{i},{name},{(i * 7 + 3 * k * k) % 11 / 10}"
        for i in range(30)
        for k, name in enumerate(("old", "new"))
    ]
    scores = tmp_path / "scores.csv"
    scores.write_text("\n".join(["item,system,score", *rows]) + "\n")
    answers = tmp_path / "answers.csv"
    right = [
        f"q{i},{name},{int((i * 7 + k) % 3 > 0)}"
        for i in range(30)
        for k, name in enumerate(("old", "new"))
    ]
    answers.write_text("\n".join(["item,system,correct", *right]) + "\n")
    for words in (
        ("compare", "scores", scores, "--question", "mean", "--margin", "0.1"),
        ("compare", "scores", scores, "--question", "better", "--alternative", "greater"),
        ("accuracy", "test", answers),
    ):
        said = run(
            *words, *(["--resamples", "100"] if words[0] == "compare" else []), "--details", "-q"
        ).stdout
        assert "new" in said
        assert not re.search(r"\bB\b|[a-z-] A\b(?! paper)", said), said


@pytest.mark.parametrize("command", ["analyze", "fit", "import"])
def test_rows_that_were_left_out_are_told_whatever_o_writes(command: str, tmp_path: Path) -> None:
    rows = ["worker,item,system,rating"]
    rows += [
        f"w{w},i{i},{s},{(w + 2 * i + 3 * (s == 'new') + i * w) % 5 + 1}"
        for w in range(6)
        for i in range(8)
        for s in ("old", "new")
    ]
    table = tmp_path / "ratings.csv"
    table.write_text("\n".join([*rows, "w1,i9,old,N/A", "w2,i9,new,"]) + "\n")
    written = tmp_path / ("out.csv" if command == "import" else "out.json")
    scale = () if command == "import" else ("--scale", "1:5")
    said = " ".join(run(command, table, *scale, "-o", written).stdout.split())
    assert "2 rows were left out (" in said
    assert "left out" not in run(command, table, *scale, "-o", written, "--force", "-q").stdout


def test_agreement_has_a_column_of_other_workers_only_where_something_stands_in_it(tmp_path: Path) -> None:
    for names, told in ((NAMES[:3], True), ((*NAMES, "zeta"), False)):
        path = tmp_path / f"{len(names)}.csv"
        frame(3, names).to_csv(path, index=False)
        said = run("analyze", path, "--scale", "0:1", "--all-pairs", "-q").stdout
        assert ("these workers" in said) is True
        assert bool(re.search(r"these workers +other workers", said)) is told
        assert ("'agreement report' tells of other workers" in " ".join(said.split())) is not told
