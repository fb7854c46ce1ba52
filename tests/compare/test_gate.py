"""May a change go in: the decision, its two tests, and the action that runs it on pull requests."""

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from cli import run
from scipy import stats

import humeval_power as hp
from humeval_power.comparisons.scores.score_table import ScoreTable
from humeval_power.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())


def log(folder: Path, right: list[bool], metric: str = "match") -> None:
    samples = [
        {
            "id": f"q{n}",
            "epoch": 1,
            "input": f"Was bridge {n} open?",
            "target": "yes",
            "scores": {metric: {"value": "C" if mark else "I"}},
        }
        for n, mark in enumerate(right)
    ]
    about = {"task": "bridges", "model": "acme/model", "created": "2026-03-01T10:00:00+00:00"}
    about |= {"run_id": folder.name, "task_id": folder.name}
    folder.mkdir()
    text = json.dumps({"version": 2, "status": "success", "eval": about, "plan": {}, "samples": samples})
    (folder / "log.json").write_text(text)


def lines(path: Path, values: Any) -> Path:
    path.write_text("".join(f"{value:.17g}\n" for value in values))
    return path


def test_it_decides_by_the_one_sided_tests_of_scipy() -> None:
    rng = np.random.default_rng(3)
    decided = set()
    for shift in (-0.6, -0.3, -0.1, 0.0, 0.2):
        for margin in (0.0, 0.2):
            a = rng.normal(size=40)
            b = a + shift + rng.normal(scale=0.5, size=40)
            table = ScoreTable(np.column_stack([a, b]), ("main", "branch"))
            for lower, sign in ((False, 1), (True, -1)):
                better = sign * (b - a)
                worse = stats.ttest_1samp(better, -margin, alternative="less")
                not_worse = stats.ttest_1samp(better, -margin, alternative="greater")
                interval = stats.ttest_1samp(better, 0).confidence_interval(0.90)
                for fails in ("worse", "unproven"):
                    found = hp.compare.gate(table, margin=margin, fails=fails, lower_is_better=lower)
                    np.testing.assert_allclose(
                        [found.p_worse, found.p_not_worse, *found.interval],
                        [worse.pvalue, not_worse.pvalue, *interval],
                        rtol=1e-9,
                    )
                    passes = worse.pvalue > 0.05 if fails == "worse" else not_worse.pvalue <= 0.05
                    assert found.passed == passes
                    assert bool(found.missed) != passes
                    decided.add((fails, passes))
    assert len(decided) == 4


def test_an_interval_beyond_the_margin_is_what_decides() -> None:
    rng = np.random.default_rng(5)
    for shift in np.linspace(-0.5, 0.3, 9):
        a = rng.normal(size=25)
        table = ScoreTable(np.column_stack([a, a + shift + rng.normal(scale=0.4, size=25)]), ("A", "B"))
        found = hp.compare.gate(table, margin=0.1)
        low, high = found.interval
        assert found.is_worse == (high <= -0.1)
        assert found.is_not_worse == (low >= -0.1)


def test_items_that_all_differ_alike_are_as_many_equal_signs() -> None:
    for n, p_worse in ((3, 0.125), (6, 0.5**6)):
        found = hp.compare.gate(ScoreTable(np.column_stack([np.ones(n), np.zeros(n)]), ("A", "B")))
        assert (found.p_worse, found.p_not_worse) == (p_worse, 1.0)
        assert found.passed == (n == 3)
    same = hp.compare.gate(ScoreTable(np.ones((9, 2)), ("A", "B")))
    assert same.passed
    assert not same.is_not_worse


def test_what_cannot_be_decided_is_refused() -> None:
    table = ScoreTable(np.arange(12.0).reshape(4, 3), ("A", "B", "C"))
    with pytest.raises(InputError, match="Two systems"):
        hp.compare.gate(table)
    for wrong in ({"margin": -0.1}, {"margin": float("nan")}, {"alpha": 0.5}):
        with pytest.raises(InputError):
            hp.compare.gate(table.only(("A", "B")), **wrong)


def test_two_folders_of_logs_of_one_model_are_told_apart(tmp_path: Path) -> None:
    log(tmp_path / "main", [True] * 30 + [False] * 10)
    log(tmp_path / "branch", [False] * 12 + [True] * 18 + [False] * 10)
    done = run("compare", "gate", tmp_path / "main", tmp_path / "branch", "--json", code=3)
    found = json.loads(done.stdout)
    assert (found["mean_baseline"], found["mean_candidate"]) == (0.75, 0.45)
    assert (found["n_helped"], found["n_hurt"], found["passed"]) == (0, 12, False)
    said = run("compare", "gate", tmp_path / "main", tmp_path / "branch", "--margin", "0.5").stdout
    assert "Passed: candidate is not worse than baseline by 0.5 or more (p = " in said.replace("\n", " ")
    run("compare", "gate", tmp_path / "branch", tmp_path / "main", "--fails", "unproven")


def test_clusters_take_the_tests_of_clusters(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    clusters = [f"p{n // 5}" for n in range(60)]
    shared = np.repeat(rng.normal(scale=0.5, size=12), 5)
    a = rng.normal(size=60)
    b = a - 0.2 + shared + rng.normal(scale=0.1, size=60)
    (tmp_path / "names").write_text("".join(f"{name}\n" for name in clusters))
    paths = lines(tmp_path / "a", a), lines(tmp_path / "b", b)
    done = run("compare", "gate", *paths, "--cluster", tmp_path / "names", "--json", code=3)
    found = json.loads(done.stdout)
    whole = hp.compare.scores(
        hp.compare.read_scores(*paths, cluster=str(tmp_path / "names")), question="mean", power_by="formula"
    )
    assert found["n_clusters"] == 12
    assert 2 * found["p_worse"] == pytest.approx(whole.content()["test"]["p_value"], rel=1e-9)


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    log(tmp_path / "main", [True, False] * 5)
    said = run("compare", "gate", tmp_path / "main", tmp_path / "brnch", code=2).output
    assert "brnch" in said
    run("compare", "gate", tmp_path / "main", tmp_path / "main", code=2)


def step(name: str) -> dict[str, Any]:
    return next(one for one in ACTION["runs"]["steps"] if one["name"] == name)


def ran(tmp_path: Path, **inputs: str) -> tuple[int, str, str, str]:
    """The exit code of the action's step, its outputs, its summary, and what `gh` was asked."""
    programs = tmp_path / "programs"
    programs.mkdir(exist_ok=True)
    program = "from humeval_power.doors.terminal.main import main; main()"
    command = f'#!/bin/sh\nexec "{sys.executable}" -c "{program}" "$@"\n'
    for name, text in {
        "humeval-power": command,
        "gh": f'#!/bin/sh\nprintf "%s\\n" "$@" > "{tmp_path}/asked-gh"\n',
    }.items():
        (programs / name).write_text(text)
        (programs / name).chmod((programs / name).stat().st_mode | stat.S_IXUSR)
    given = {name: one.get("default", "") for name, one in ACTION["inputs"].items()} | inputs
    env = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: str(given[found[1]]), value)
        for name, value in step("Compare")["env"].items()
    }
    env |= {"PULL_REQUEST": "7", "GH_REPO": "someone/something"}
    files = {name: tmp_path / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    done = subprocess.run(
        ["bash", "-c", step("Compare")["run"]],
        cwd=tmp_path,
        env={
            **os.environ,
            **env,
            **{name: str(path) for name, path in files.items()},
            "RUNNER_TEMP": str(tmp_path),
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
    )
    said = [path.read_text() if path.exists() else "" for path in files.values()]
    asked = (tmp_path / "asked-gh").read_text() if (tmp_path / "asked-gh").exists() else ""
    return done.returncode, *said, asked


@pytest.mark.slow
def test_the_action_comments_and_fails_as_the_gate_does(tmp_path: Path) -> None:
    log(tmp_path / "main", [True] * 30 + [False] * 10)
    log(tmp_path / "branch", [False] * 12 + [True] * 18 + [False] * 10)
    code, outputs, summary, asked = ran(tmp_path, baseline="main", candidate="branch")
    assert code == 3
    assert "passed=false\n" in outputs
    assert summary.startswith("# candidate against baseline\n\nFailed: candidate is worse")
    assert asked.split()[:3] == ["pr", "comment", "7"]
    record = Path(re.search(r"record=(.+)", outputs)[1])
    assert json.loads(record.read_text())["passed"] is False


@pytest.mark.slow
def test_the_action_passes_says_nothing_where_asked_and_hands_on_what_cannot_be_read(
    tmp_path: Path,
) -> None:
    log(tmp_path / "main", [True] * 20 + [False] * 20)
    log(tmp_path / "branch", [True] * 24 + [False] * 16)
    code, outputs, _, asked = ran(tmp_path, baseline="main", candidate="branch", comment="false")
    assert (code, asked) == (0, "")
    assert "passed=true\n" in outputs
    assert ran(tmp_path, baseline="main", candidate="nothing")[0] == 2
    hostile = ran(tmp_path, baseline="main", candidate="branch", score="$(touch made)'; touch made; '")
    assert hostile[0] == 2
    assert not (tmp_path / "made").exists()


def test_the_workflow_of_the_documentation_gives_inputs_that_there_are() -> None:
    page = (ROOT / "docs" / "github-action.md").read_text()
    workflow = yaml.safe_load(re.search(r"```yaml\n(.+?)```", page, re.DOTALL)[1])
    steps = workflow["jobs"]["evaluate"]["steps"]
    (ours,) = [one for one in steps if "humeval_power" in one.get("uses", "")]
    required = {name for name, one in ACTION["inputs"].items() if one.get("required")}
    assert required <= ours["with"].keys() <= ACTION["inputs"].keys()
    named = re.search(r"Other inputs: (.+?) \(", page.replace("\n", " "))
    assert set(re.findall(r"`([\w-]+)`", named[1])) == ACTION["inputs"].keys() - ours["with"].keys()
    options = set(re.findall(r"--([a-z-]+)", step("Compare")["run"]))
    known = run("compare", "gate", "--help").stdout
    assert {one for one in options if f"--{one}" in known} >= {
        "margin",
        "fails",
        "score",
        "cluster",
        "lower-is-better",
    }
