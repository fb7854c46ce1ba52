"""`runs test` and `runs check` as a user runs them."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from cli import run, run_json
from places import ROOT
from runs.tables import crossed_scores, nested_scores, write

from humeval_power.runs_parameters import RunsParameters


@pytest.fixture
def generations(tmp_path: Path) -> Path:
    scores = nested_scores(np.random.default_rng(1), n=24, effect=0.2)
    return write(tmp_path / "gen.csv", scores, group=4)


def test_generations_are_read_as_nested_and_prompts_as_crossed(generations: Path, tmp_path: Path) -> None:
    assert run_json("runs", "check", generations)["kind"] == "nested"
    prompts = write(tmp_path / "p.csv", crossed_scores(np.random.default_rng(2)), column="prompt")
    found = run_json("runs", "check", prompts)
    assert (found["kind"], found["named"]) == ("crossed", "crossed")


def test_numbers_under_a_name_that_says_nothing_are_asked_about(tmp_path: Path) -> None:
    table = write(tmp_path / "r.csv", nested_scores(np.random.default_rng(3)), column="run")
    assert run_json("runs", "check", table)["kind"] is None
    refused = run("runs", "test", table, code=2).stderr
    assert "--nested" in refused
    assert "--crossed" in refused
    assert run_json("runs", "test", table, "--nested")["kind_was_said"] is True


def test_check_says_what_runs_are_where_there_are_no_workers(generations: Path, tmp_path: Path) -> None:
    assert run_json("check", generations) == run_json("runs", "check", generations) | {
        "command": f"humeval-power check {generations} --json"
    }
    rated = tmp_path / "rated.csv"
    rated.write_text(generations.read_text().replace("generation", "worker"))
    assert "kind" not in run_json("check", rated)


def test_labels_of_their_own_are_nested_whatever_the_column_is_called(tmp_path: Path) -> None:
    lines = [f"q{i},{s},r{i}-{k},{(i * 7 + k * 3) % 10}" for i in range(8) for s in "AB" for k in range(2)]
    (tmp_path / "own.csv").write_text("\n".join(["item,system,run,score", *lines]))
    assert run_json("runs", "check", tmp_path / "own.csv")["kind"] == "nested"


def test_shared_prompts_read_as_generations_are_warned_of(tmp_path: Path) -> None:
    scores = crossed_scores(np.random.default_rng(4), sd_prompt=0.8)
    found = run_json("runs", "test", write(tmp_path / "g.csv", scores))
    assert found["kind"] == "nested"
    assert "--crossed" in found["contradictions"][0]
    assert "Read this first" in run("runs", "test", tmp_path / "g.csv").stdout


def test_the_record_is_a_pilot_that_planning_reads(generations: Path, tmp_path: Path) -> None:
    run("runs", "test", generations, "--cluster", "passage", "-o", tmp_path / "pilot.json")
    record = json.loads((tmp_path / "pilot.json").read_text())
    pilot = RunsParameters.from_dict(record["parameters"])
    assert pilot.kind == "nested"
    assert pilot.sd_run_a == pytest.approx(0.4, abs=0.15)
    assert [each["of"] for each in record["independence"]] == ["items", "runs"]
    assert "cluster:passage:6" in record["signature"]


def test_screen_record_and_table_say_the_same(generations: Path) -> None:
    record = run_json("runs", "test", generations)
    screen = run("runs", "test", generations).stdout
    row = record["rows"][0]
    assert f"{row['estimate']:.4g}" in screen
    assert f"{row['low']:.4g} to {row['high']:.4g}" in screen
    csv = run("runs", "test", generations, "--format", "csv").stdout
    assert f"{row['p_value']:.6g}"[:6] in csv
    parts = sum(part["variance"] for part in record["comparisons"][0]["error_parts"])
    assert math.sqrt(parts) == pytest.approx(row["standard_error"])


def test_columns_that_look_like_clusters_are_named(generations: Path) -> None:
    result = run("runs", "test", generations)
    assert "--cluster passage" in result.stderr
    assert "--cluster passage" in result.stdout.replace("\n    ", " ")


def test_eight_systems_are_compared_in_pairs_at_eighty_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    rng = np.random.default_rng(5)
    scores = np.concatenate([nested_scores(rng, n=12) for _ in range(4)], axis=1)
    table = write(tmp_path / "eight.csv", scores)
    screen = run("runs", "test", table).stdout
    assert max(map(len, screen.splitlines())) <= 80
    assert len(run_json("runs", "test", table)["rows"]) == 28
    chosen = run_json("runs", "test", table, "--systems", "C,A")
    assert chosen["systems"] == ["C", "A"]
    assert chosen["rows"][0]["first"] == "C"


def test_what_holds_for_all_pairs_is_said_once(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    scores = np.concatenate([crossed_scores(rng, prompts=3, n=10) for _ in range(3)], axis=1)
    table = write(tmp_path / "six.csv", scores, column="prompt")
    screen = " ".join(run("runs", "test", table).stdout.split())
    assert screen.count("3 runs are few") == 1
    assert screen.count("degrees of freedom, however many") == 1


def test_every_problem_of_a_table_is_told_at_once(tmp_path: Path) -> None:
    lines = ["q1,A,1,high", "q1,B,1,", ",A,1,0.4", "q2,A,1,0.3", "q2,A,1,0.5", "q2,B,1,1"]
    (tmp_path / "bad.csv").write_text("\n".join(["item,system,generation,score", *lines]))
    told = run("runs", "test", tmp_path / "bad.csv", code=2).stderr
    for words in ("row 2", "high", "row 3", "--drop-missing", "row 4", "row 6", "second score"):
        assert words in " ".join(told.split())


def test_items_without_a_system_are_refused_or_left_out(tmp_path: Path) -> None:
    scores = nested_scores(np.random.default_rng(6), n=10)
    scores[3, 1] = np.nan
    table = write(tmp_path / "gap.csv", scores)
    assert "'q3' (no score of B)" in " ".join(run("runs", "test", table, code=2).stderr.split())
    found = run_json("runs", "test", table, "--drop-missing")
    assert found["rows"][0]["n_items"] == 9
    assert "Left out for want of a score of a system: 1 item." in found["notices"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--systems", "A,Z"), "no system 'Z'"),
        (("--run", "gen"), "no column 'gen'"),
        (("--cluster", "passages"), "no column 'passages'"),
        (("--family", "binary"), "0 and 1"),
        (("--alternative", "equivalent"), "margin"),
        (("--margin", "0.1"), "margin"),
        (("--systems", "A"), "two systems"),
    ],
)
def test_what_does_not_fit_is_refused(generations: Path, words: tuple[str, ...], said: str) -> None:
    assert said in " ".join(run("runs", "test", generations, *words, code=2).stderr.split())


def test_names_that_a_terminal_or_page_would_obey_are_shown_as_text(tmp_path: Path) -> None:
    hostile = ["\x1b[31mred", "<script>alert(1)</script>"]
    lines = [
        f'q{i},"{name}",{k},{(i * 5 + k * 3 + len(name)) % 7}'
        for i in range(6)
        for name in hostile
        for k in range(3)
    ]
    (tmp_path / "h.csv").write_text("\n".join(["item,system,generation,score", *lines]))
    assert "\x1b" not in run("runs", "test", tmp_path / "h.csv").stdout
    page = run("runs", "test", tmp_path / "h.csv", "--format", "html").stdout
    assert "<script>alert" not in page
    run("runs", "check", tmp_path / "h.csv")


def test_right_or_wrong_under_prompts_is_fitted_on_log_odds(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    x = np.array([-0.5, 0.5])[None, :, None]
    eta = rng.normal(0.5, 1, (40, 1, 1)) + rng.normal(0, 0.4, (1, 1, 6)) + 0.8 * x
    right = (rng.random((40, 2, 6)) < 1 / (1 + np.exp(-eta))).astype(float)
    table = write(tmp_path / "p.csv", right, column="prompt")
    found = run_json("runs", "test", table)
    assert found["family"] == "binary"
    ratio, low, high = found["comparisons"][0]["odds_ratio"]
    assert low < ratio < high
    assert found["parameters"]["kind"] == "crossed"
    as_numbers = run_json("runs", "test", table, "--family", "gaussian")
    assert as_numbers["rows"][0]["estimate"] == pytest.approx(found["rows"][0]["estimate"], abs=0.03)


def test_what_clusters_share_stays_where_items_own_differences_come_out_at_zero() -> None:
    """In the shipped answers generations explain more than items vary within passages, but passages differ."""
    data = ROOT / "data" / "answers.csv"
    record = run_json("runs", "test", data, "--systems", "baseline,larger", "--cluster", "passage")
    assert record["parameters"]["icc"] == 1
    assert record["parameters"]["sd_item"] == pytest.approx(0.1290556, abs=1e-7)  # by anova() of R 4.2.2
    by_source = {part["source"]: part["variance"] for part in record["comparisons"][0]["error_parts"]}
    assert by_source["items"] == 0
    assert by_source["clusters (passage)"] == pytest.approx(5 * 0.1290556**2 / 120, rel=1e-6)


def test_a_column_of_runs_leads_other_commands_to_the_same_test(generations: Path, tmp_path: Path) -> None:
    direct = run_json("runs", "test", generations, "--cluster", "passage")
    words = ("--run", "generation", "--cluster", "passage")
    there = run_json("compare", "scores", generations, *words)
    assert there["rows"] == direct["rows"]
    assert there["schema"] == direct["schema"]
    scores = (nested_scores(np.random.default_rng(8)) > 0.5).astype(float)
    right = write(tmp_path / "right.csv", scores)
    rows = run_json("accuracy", "test", right, "--run", "generation", "--alpha", "0.1")["rows"]
    assert rows == run_json("runs", "test", right, "--alpha", "0.1")["rows"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--test", "wilcoxon"), "--test is no option of tests of runs"),
        (("--question", "better"), "--question is no option"),
        (("--run", "gen"), "no column 'gen'"),
    ],
)
def test_options_that_runs_do_not_have_are_refused(
    generations: Path, words: tuple[str, ...], said: str
) -> None:
    typed = ("compare", "scores", generations, "--run", "generation", *words)
    assert said in " ".join(run(*typed, code=2).stderr.split())


def test_more_items_of_the_same_clusters_are_no_advice_where_clusters_matter(tmp_path: Path) -> None:
    table = write(tmp_path / "g.csv", nested_scores(np.random.default_rng(5), n=24), group=4)
    alone = " ".join(run("runs", "test", table).stdout.split())
    assert "only more items make it smaller" in alone
    clustered = " ".join(run("runs", "test", table, "--cluster", "passage").stdout.split())
    assert "only more items make it smaller" not in clustered
    assert "only more clusters make all of it smaller" in clustered
