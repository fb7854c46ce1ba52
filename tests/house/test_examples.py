"""The worked examples run as a reader would run them, tell their story and save their picture."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cases import each_case
from places import ROOT

EXAMPLES = ROOT / "examples"
STORIES = {
    "two_system_likert": "The cheapest of 5,106 designs that finds 0.1 in 8 of 10 studies",
    "five_hundred_dollars": "500 USD: ",
    "five_experts": "on any number of items at most",
    "compare_metrics": "Clusters, best first: ",
}
TOLD = {  # examples that print and draw nothing
    "reproduce_miller2024": "All numbers hold, or their reason is said.",
    "own_scenario": "100 people: power 0.34",
}


def run(name: str, *arguments: str, folder: Path) -> str:
    command = [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py"), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", STORIES)
def test_an_example_tells_its_story_and_saves_its_picture(name, tmp_path):
    story = run(name, str(tmp_path / "pictures"), folder=tmp_path)
    assert STORIES[name] in story
    assert [path.name for path in tmp_path.iterdir()] == ["pictures"]
    assert [path.name for path in (tmp_path / "pictures").iterdir()] == [f"{name}.png"]
    assert (tmp_path / "pictures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
@pytest.mark.parametrize("name", TOLD)
def test_an_example_without_a_picture_tells_its_story(name, tmp_path):
    assert TOLD[name] in run(name, folder=tmp_path)


@pytest.mark.slow
def test_without_a_folder_the_picture_goes_to_example_output(tmp_path):
    run("five_experts", folder=tmp_path)
    assert (tmp_path / "example-output" / "five_experts.png").is_file()


def shell_script(name: str, into: str, *, folder: Path) -> subprocess.CompletedProcess[str]:
    """An example in shell, beside the program of this environment."""
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", str(EXAMPLES / f"{name}.sh"), into],
        cwd=folder,
        env={**os.environ, "PATH": beside},
        capture_output=True,
        text=True,
        timeout=1800,  # a minute or two of work; on a busy machine much more
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.slow
def test_no_plan_of_the_five_hundred_dollars_costs_more_than_its_money(tmp_path):
    story = run("five_hundred_dollars", str(tmp_path), folder=tmp_path)
    lines = re.findall(r"^(\d+) USD: .* ratings each, ([\d.]+) USD\.", story, re.MULTILINE)
    assert [int(money) for money, _ in lines] == [100, 200, 300, 400, 500]
    assert all(float(cost) <= float(money) for money, cost in lines)


@pytest.mark.long
@pytest.mark.slow
def test_one_study_goes_from_its_pilot_to_what_is_published(tmp_path):
    done = shell_script("one_study", "study", folder=tmp_path)
    assert "Traceback" not in done.stderr
    assert max(map(len, (line for line in done.stdout.splitlines() if line[:1] not in ("$", "W")))) <= 110
    assert (
        "1,116 of 1,127 answers are in\n99 % of the work is done" in done.stdout
    )  # no spare is called yet
    assert "Done     1,070 of 1,080 ratings, 46 of 47 checks\n" in done.stdout
    assert "Deviations from the plan\n  - workers: planned 47; found 48\n\n" in done.stdout
    assert "rehearsal: nobody gave them" in (tmp_path / "study" / "paper.tex").read_text()
    files = [path for path in (tmp_path / "study").rglob("*") if path.is_file()]
    written = {str(path.relative_to(tmp_path / "study")) for path in files}
    listed = set(re.findall(r"^\./(.+)$", done.stdout, re.MULTILINE))
    assert listed == written - {"bundle.key"}
    words = {"paper.docx"} if shutil.which("pandoc") else set()
    reports = {"preregistration.md", "report.html", "heds.json", "heds.html", "arr.md", "paper.tex"}
    assert {*reports, *words, "for-the-next-study.json", "bundle/ratings.csv"} <= listed
    effect = json.loads((tmp_path / "study" / "analysis.json").read_text())["effect"]
    # One study of one seed: the true difference of 0.08 lies in its interval.
    assert effect["interval"][0] < 0.08 < effect["interval"][1]


@pytest.mark.long
@pytest.mark.slow
def test_a_rehearsal_takes_its_looks_beside_the_study(tmp_path):
    done = shell_script("rehearsal", "rehearsed", folder=tmp_path)
    assert re.findall(r"^Look (\d) at the study of baseline and new$", done.stdout, re.MULTILINE) == list(
        "1231"
    )
    assert "The study has ended, and its boundary is passed." in done.stdout
    assert "These ratings were drawn in a rehearsal: nobody gave them. We compared" in done.stdout
    ledgers = (tmp_path / "rehearsed").rglob("*.looks.jsonl")
    assert {path.parent.name for path in ledgers} == {"as-planned", "no-effect"}


@pytest.mark.long
@pytest.mark.slow
def test_a_shared_task_goes_from_its_plan_to_its_forms_with_one_set_of_numbers(tmp_path):
    done = shell_script("shared_task", "task", folder=tmp_path)
    assert "Traceback" not in done.stderr
    told = done.stdout[: done.stdout.index("Written to ")]
    assert max(map(len, (line for line in told.splitlines() if line[:1] not in ("$", "W")))) <= 120
    assert "Deviations from the plan\n  None.\n" in done.stdout
    files = tmp_path / "task"
    plan = json.loads((files / "plan" / "plan.json").read_text())
    record = json.loads((files / "analysis.json").read_text())
    assert record["family_of_tests"]["n_tests"] == plan["promise"]["n_tests"] == 84
    paper, arr = ((files / name).read_text() for name in ("paper.tex", "arr.md"))
    n_found = 0
    for one in record["criteria"]:
        found = sum(pair["significant"] for pair in one["pairs"])
        n_found += found
        said = f"{found} of 28 differences"
        assert said in paper
        assert said in arr
        assert one["n_ratings"] == plan["design"]["n_ratings"]
        for pair in one["pairs"]:  # a letter in common exactly where the p-value tells nothing apart
            together = any({pair["first"], pair["second"]} <= set(group) for group in one["groups"])
            assert together == (pair["corrected_p_value"] > 0.05)
        for row in one["findings"]["rows"]:
            assert f"{row['low']:.2f} to {row['high']:.2f}" in done.stdout
            assert f"{row['low']:.2f} to {row['high']:.2f}" in paper
    assert f"{n_found} of 84 differences are shown" in done.stdout
    assert n_found > 0
    for name in ("ranking.png", "adequacy-heat_map.png"):
        assert (files / "analysis" / name).read_bytes().startswith(b"\x89PNG")


# The reproductions are proofs, with every published cell; the others are there to be copied.
SHORT = sorted(path for path in EXAMPLES.glob("*.py") if not path.stem.startswith("reproduce_"))


@each_case("path", SHORT, ids=lambda path: path.stem)
def test_an_example_is_shorter_than_sixty_lines(path):
    assert len(path.read_text().splitlines()) < 60


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("data/make_parameter_library.py", "The ratings are not here: HUMEVAL_SHARED is to name a folder"),
        ("docs/render_notebooks.py", "Name the folder to write to"),
    ],
)
def test_a_script_that_lacks_something_says_what_and_writes_nothing(
    script: str, said: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / script)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "HUMEVAL_SHARED": str(tmp_path / "none")},
    )
    assert done.returncode == 1
    assert done.stderr.startswith(said)
    assert not list(tmp_path.iterdir())
