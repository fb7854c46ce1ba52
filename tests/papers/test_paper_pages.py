"""The pages of the papers: verdicts, ledgers, and every script of a paper run again."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest
from cases import each_case
from matplotlib import rc_context
from matplotlib.figure import Figure
from places import ROOT

from humeval_power.saying.figure_style import house_style

PAPERS = ROOT / "examples" / "papers"
sys.path.insert(0, str(PAPERS))
import make  # noqa: E402
from paper import Data, Paper, compared  # noqa: E402

SCRIPTS = sorted(path.stem for path in PAPERS.glob("*.py") if path.stem not in ("make", "paper"))


@each_case(
    ("printed", "ours", "verdict", "difference"),
    [
        ("5.38", 5.384, "equal", "+0.004"),
        ("5.38", 5.386, "differs", "+0.006"),
        ("5.38", 5.38 - 1e-15, "equal", "+0.00"),
        (".80", 0.795, "equal", "-0.005"),
        ("68.8 %", 68.75, "equal", "-0.05"),
        ("1,358", 1358, "equal", "+0"),
        ("\u22120.14", -0.138, "equal", "+0.002"),
        ("< .001", 0.0004, "equal", ""),
        ("< .001", 0.002, "differs", ""),
        ("> 0.9", 0.95, "equal", ""),
        ("46 %", 54.4, "differs", "+8.4"),
        ("yes", "yes", "equal", ""),
        ("yes", "no", "differs", ""),
        ("0.5", float("nan"), "differs", "none"),
    ],
)
def test_a_number_is_equal_where_it_rounds_to_what_is_printed(
    printed: str, ours: float | str, verdict: str, difference: str
) -> None:
    found = compared(printed, ours)
    assert (found.verdict, found.difference) == (verdict, difference)


def test_a_tolerance_has_a_cause_and_a_reason_stays_only_where_it_is_needed() -> None:
    near = compared("0.80", 0.83, within=0.05, because="of 500 draws", reason="another seed")
    assert (near.verdict, near.reason) == ("within", "of 500 draws")
    assert compared("0.80", 0.9, within=0.05, because="of 500 draws", reason="another seed").reason == (
        "another seed"
    )
    assert compared("0.80", 0.801, reason="another seed").reason == ""
    with pytest.raises(ValueError, match="needs its cause"):
        compared("0.80", 0.83, within=0.05)
    with pytest.raises(ValueError, match="no printed number"):
        compared("many", 3)


def page_of(*numbers: float, data: Data | None = None) -> Paper:
    paper = Paper("small", "A small paper", "Nobody (2020).")
    paper.section("Table 1", "Two numbers", data=data)
    for k, ours in enumerate(numbers):
        paper.number(f"number {k}", compared("1.0", ours, reason="theirs is another" if k else ""))
    return paper


def ended(paper: Paper, folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> object:
    monkeypatch.setattr(sys, "argv", ["small.py", *words, "--folder", str(folder)])
    with pytest.raises(SystemExit) as end:
        paper.finish()
    return end.value.code


def test_the_ledger_keeps_what_held_and_fails_where_it_no_longer_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(page_of(1.01, 1.02), tmp_path, monkeypatch, "--write") == 0
    assert "| number 0 |   1.0 | 1.01 |      +0.01 |" in capsys.readouterr().out
    with (tmp_path / "small.csv").open(encoding="utf-8") as file:
        assert [row["verdict"] for row in csv.DictReader(file)] == ["equal", "equal"]
    before = (tmp_path / "small.csv").read_bytes()
    for mode in ("--check", "--write"):
        lost = ended(page_of(1.01, 1.3), tmp_path, monkeypatch, mode)
        assert "number 1: held (1.02), now 1.30 is found" in str(lost)
        gone = ended(page_of(1.01), tmp_path, monkeypatch, mode)
        assert "number 1: held (1.02), now nothing is found" in str(gone)
        unexplained = ended(page_of(1.3, 1.02), tmp_path, monkeypatch, mode, "--accept")
        assert "number 0: the paper has 1.0, found is 1.30, and no reason" in str(unexplained)
    assert (tmp_path / "small.csv").read_bytes() == before
    assert ended(page_of(1.01, 1.3), tmp_path, monkeypatch, "--write", "--accept") == 0
    assert "1.30 a" in (tmp_path / "small.md").read_text()
    assert ended(page_of(1.01, 1.3), tmp_path, monkeypatch, "--check") == 0


ABSENT = Data("ratings.csv", "Its authors have it.")


def without_data() -> Paper:
    """The page of two numbers where the data of their section are not here."""
    paper = Paper("small", "A small paper", "Nobody (2020).")
    paper.keep("Table 1", ABSENT)
    return paper


def with_another(paper: Paper) -> Paper:
    """The same page with a number that can be computed anywhere."""
    paper.section("Table 2", "One more")
    paper.number("number 2", compared("1.0", 1.01))
    return paper


def test_a_section_whose_data_are_not_here_stands_as_it_was_last_computed_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("HUMEVAL_SHARED", raising=False)
    assert ABSENT.path() is None
    full = page_of(1.01, 1.02, data=ABSENT)
    full.picture(Figure(), "figure-1", "One picture.")
    full = with_another(full)
    assert ended(full, tmp_path, monkeypatch, "--write") == 0
    picture, ledger = tmp_path / "images" / "small-figure-1.png", tmp_path / "small.csv"
    before = {path: path.read_bytes() for path in (picture, ledger, tmp_path / "small.md")}
    capsys.readouterr()
    assert ended(with_another(without_data()), tmp_path, monkeypatch, "--check") == 0
    said = "`ratings.csv` is looked for in `data` of the folder that HUMEVAL_SHARED names. Its authors have it."
    assert capsys.readouterr().out == f"Table 1: not computed here. {said}\n"

    for _ in range(2):  # the second time from what the first has written
        assert ended(with_another(without_data()), tmp_path, monkeypatch, "--write") == 0
        assert {path: path.read_bytes() for path in before} == before
    page = (tmp_path / "small.md").read_text(encoding="utf-8")
    mark = "**Computed where its data are at hand; elsewhere the last result stands.**"
    assert f"## Table 1: Two numbers\n\n{mark} {said}\n\n|" in page
    assert "3 numbers were computed again, 2 of them from data that are not passed on. Equal" in page
    rows = csv.DictReader(ledger.read_text("utf-8").splitlines())
    assert [row["reason"] for row in rows] == ["its data are not passed on"] * 2 + [""]

    lost = ended(page_of(1.01, 1.3), tmp_path, monkeypatch, "--write")
    assert "number 1: held (1.02), now 1.30 is found" in str(lost)


def test_a_section_that_was_never_computed_is_named_among_what_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ended(without_data(), tmp_path, monkeypatch, "--write") == 0
    page = (tmp_path / "small.md").read_text(encoding="utf-8")
    assert "## Not computed here\n\n- **Table 1**: `ratings.csv` is looked for" in page
    assert "## Table 1" not in page


def test_making_all_pages_names_the_data_that_are_wanted_and_fails_for_a_script_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    says, fails = tmp_path / "says.py", tmp_path / "fails.py"
    says.write_text("print('# Page'); print('Table 1: not computed here. Its authors have it.')")
    fails.write_text("raise ValueError('no such column')")
    monkeypatch.setattr(sys, "argv", ["make.py", "--check"])
    monkeypatch.setattr(make, "scripts", lambda: [says])
    make.main()
    assert capfd.readouterr().out.splitlines()[1:] == ["  Table 1: not computed here. Its authors have it."]
    monkeypatch.setattr(make, "scripts", lambda: [says, fails])
    with pytest.raises(SystemExit, match=r"scripts that failed: fails\.$"):
        make.main()


def test_pictures_are_the_same_bytes_whatever_a_matplotlibrc_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    for settings in ({}, {"savefig.facecolor": "red", "savefig.pad_inches": 1.0}):
        paper = page_of(1.0)
        with house_style():
            figure = Figure()
            figure.subplots().plot([1, 2], [3, 4])
        paper.picture(figure, "figure-1", "One picture.")
        with rc_context(settings):
            assert ended(paper, tmp_path, monkeypatch, "--write") == 0
        written.append((tmp_path / "images" / "small-figure-1.png").read_bytes())
    assert written[0] == written[1]


def test_a_number_is_named_once_in_its_place() -> None:
    paper = page_of(1.0)
    with pytest.raises(ValueError, match="there twice"):
        paper.number("number 0", compared("1.0", 1.0))
    paper.section("Table 2", "Others")
    paper.number("number 0", compared("1.0", 1.0))
    paper.grid(
        "row", {"a": {"x": compared("2", 2.0), "y": None}, "b": {"y": compared("2", 3, reason="why")}}
    )
    page = paper.page()
    assert "| a   | 2 (2) |         |" in page
    assert "| b   |       | 3 (2) a |\n\na: why" in page
    assert "4 numbers were computed again. Equal as printed: 3;" in page


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
def test_every_number_of_a_paper_that_held_still_does(script: str) -> None:
    command = [sys.executable, "-W", "error", str(PAPERS / f"{script}.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    assert (done.returncode, done.stderr) == (0, "")
