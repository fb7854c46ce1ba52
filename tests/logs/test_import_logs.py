"""`import` makes one table of logs, and what takes tables of scores takes logs."""

import csv
import json
from pathlib import Path

import pytest
from cases import few_fast
from cli import run, run_json
from harness_logs import (
    DOCUMENTED,
    METRIC,
    NAMELESS,
    SCORES,
    WRITERS,
    lines,
    write_helm,
    write_inspect,
    write_lm_eval,
)

MAPPING = """
schema = "humeval_power/log_mapping/1"
item = "question.id"
system = "model"
run = "seed"
[scores]
acc = "grades.0"
[fields]
passage = "question.passage"
[words]
right = 1
wrong = 0
"""


def own_records() -> list[dict[str, object]]:
    return [
        {
            "model": model,
            "seed": seed,
            "question": {"id": f"q{item}", "passage": f"p{item // 2}"},
            "grades": ["right" if (item + seed) % 3 else "wrong"],
        }
        for model in ("a", "b")
        for item in range(12)
        for seed in (1, 2)
    ]


def rows_of(table: Path) -> list[dict[str, str]]:
    with table.open() as file:
        return list(csv.DictReader(file))


@few_fast("harness", WRITERS, fast=1)
def test_a_folder_of_logs_becomes_a_table_that_gives_the_same_comparison(
    harness: str, tmp_path: Path
) -> None:
    folder, table = WRITERS[harness](tmp_path / "logs"), tmp_path / "scores.csv"
    score = METRIC[harness]
    run("import", folder, "--score", score, "-o", table)
    asked = ("--question", "mean", "--simulations", 20, "--score", score)
    of_logs = run_json("compare", "scores", folder, *asked)
    of_table = run_json("compare", "scores", table, *asked)
    a, b = SCORES.values()
    assert of_logs["test"] == of_table["test"]
    assert of_logs["test"]["estimate"] == pytest.approx((sum(b) - sum(a)) / len(a))


def test_the_record_has_the_means_that_the_harness_reports(tmp_path: Path) -> None:
    found = run_json("import", write_lm_eval(tmp_path))
    results = [json.loads(path.read_text()) for path in tmp_path.rglob("results_*")]
    reported = {one["model_name"]: one["results"]["bridges"]["acc,none"] for one in results}
    assert {system: means["acc"] for system, means in found["means"].items()} == pytest.approx(reported)


@pytest.mark.parametrize(
    "harness", [name for name in WRITERS if name not in ("pydantic-evals", "mteb", *NAMELESS, *DOCUMENTED)]
)
def test_means_are_compared_with_those_that_the_harness_reported(harness: str, tmp_path: Path) -> None:
    folder = WRITERS[harness](tmp_path / "logs")
    whole = run_json("import", folder)
    reported = [one for log in whole["logs"] for one in log["reported"]]
    n_means = (
        6 if harness == "promptfoo" else 2
    )  # of each system the metric; and its score, and what passed
    assert len(reported) == n_means
    assert all(one["mean"] == pytest.approx(one["reported"]) for one in reported)
    assert f"{n_means} of {n_means}" in run("import", folder).stdout


def test_samples_that_were_lost_show_in_the_mean(tmp_path: Path) -> None:
    log = next(write_lm_eval(tmp_path).rglob("samples_*"))
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:-3]))
    said = " ".join(run("import", tmp_path).stderr.split())
    assert "the harness reported" in said
    assert "of the 12 items" in said


def test_the_metric_of_a_log_goes_before_texts_that_are_compared(tmp_path: Path) -> None:
    folder = write_inspect(tmp_path)
    for log in folder.iterdir():  # the scorer took "yes." for right; text for text it is wrong
        log.write_text(log.read_text().replace('"answer": "yes"', '"answer": "yes."'))
    found = run_json("accuracy", "test", folder)
    a, b = SCORES.values()
    assert f"{(sum(b) - sum(a)) / len(a):.6f}" in {f"{value:.6f}" for value in numbers_in(found)}


def test_one_of_several_metrics_is_asked_for(tmp_path: Path) -> None:
    folder = write_helm(tmp_path)
    assert "--column" in run("accuracy", "test", folder, code=2).stderr
    run("accuracy", "test", folder, "--column", "exact_match")


def test_epochs_are_runs_of_the_test_of_runs(tmp_path: Path) -> None:
    folder = write_inspect(tmp_path, epochs=3)
    a, b = SCORES.values()
    found = run_json("runs", "test", folder, "--nested", "--cluster", "passage_id")
    assert f"{(sum(b) - sum(a)) / len(a):.6f}" in {f"{value:.6f}" for value in numbers_in(found)}


def numbers_in(value: object) -> list[float]:
    """Every number of a record."""
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return [number for one in inner for number in numbers_in(one)]
    return [float(value)] if isinstance(value, int | float) else []


def test_two_logs_are_named_beside_each_other(tmp_path: Path) -> None:
    logs = sorted(write_inspect(tmp_path).iterdir())
    found = run_json("compare", "scores", *logs, "--question", "mean", "--simulations", 20)
    assert found["test"]["n"] == 12


def test_from_names_the_harness_and_refuses_others(tmp_path: Path) -> None:
    folder = write_inspect(tmp_path)
    assert run_json("import", folder, "--from", "inspect")["n_rows"] == 24
    (log, *_) = sorted(folder.iterdir())
    assert "is no log of HELM" in run("import", log, "--from", "helm", code=2).stderr


def test_another_log_is_read_by_a_mapping(tmp_path: Path) -> None:
    log, mapping, table = tmp_path / "own.jsonl", tmp_path / "mapping.toml", tmp_path / "scores.csv"
    log.write_text(lines(own_records()))
    mapping.write_text(MAPPING)
    run("import", log, "--map", mapping, "-o", table)
    rows = rows_of(table)
    assert list(rows[0]) == ["system", "item", "run", "acc", "passage"]
    expected = [int(record["grades"] == ["right"]) for record in own_records()]
    assert [int(row["acc"]) for row in sorted(rows, key=lambda row: row["system"])] == expected


@pytest.mark.parametrize("form", ["array", "document", "csv"])
def test_a_mapping_reads_documents_and_tables(form: str, tmp_path: Path) -> None:
    log, mapping = tmp_path / f"own.{form}", tmp_path / "mapping.toml"
    records = [{"id": str(number), "m": "a", "s": str(number % 2)} for number in range(6)]
    text = {"array": json.dumps(records), "document": json.dumps({"all": {"of": records}}, indent=1)}
    log.write_text(text.get(form) or "id,m,s\n" + "".join(f"{r['id']},a,{r['s']}\n" for r in records))
    inside = 'records = "all.of"\n' if form == "document" else ""
    head = f'schema = "humeval_power/log_mapping/1"\nitem = "id"\nsystem = "m"\n{inside}'
    mapping.write_text(head + '[scores]\nright = "s"\n')
    assert run_json("import", log, "--map", mapping)["means"] == {"a": {"right": 0.5}}


def test_the_system_of_a_log_that_is_mapped_can_be_named(tmp_path: Path) -> None:
    mapping = tmp_path / "mapping.toml"
    mapping.write_text('schema = "humeval_power/log_mapping/1"\nitem = "id"\n[scores]\nright = "s"\n')
    for name in ("one", "two"):
        (tmp_path / f"{name}.csv").write_text("id,s\n1,0\n2,1\n")
    options = (
        "--system-name",
        f"old={tmp_path / 'one.csv'}",
        "--system-name",
        f"new={tmp_path / 'two.csv'}",
    )
    assert set(run_json("import", *options, "--map", mapping)["means"]) == {"old", "new"}


def test_a_word_without_a_number_is_refused_with_its_row(tmp_path: Path) -> None:
    log, mapping = tmp_path / "own.jsonl", tmp_path / "mapping.toml"
    log.write_text(lines(own_records()))
    mapping.write_text(MAPPING.replace("wrong = 0\n", ""))
    said = run("import", log, "--map", mapping, code=2).stderr
    assert "row 4" in said
    assert "[words]" in said


def test_a_mapping_that_names_nothing_is_refused_with_all_its_problems(tmp_path: Path) -> None:
    log, mapping = tmp_path / "own.jsonl", tmp_path / "mapping.toml"
    log.write_text(lines(own_records()))
    mapping.write_text('schema = "humeval_power/log_mapping/1"\nitme = "id"\n')
    said = run("import", log, "--map", mapping, code=2).stderr
    assert "itme" in said
    assert "scores" in said
    mapping.write_text(MAPPING.replace("question.id", "question.number"))
    assert "question.number" in run("import", log, "--map", mapping, code=2).stderr


def test_nothing_is_written_where_logs_are_refused(tmp_path: Path) -> None:
    write_lm_eval(tmp_path / "logs", {"m/a": [1, 0]})
    write_lm_eval(tmp_path / "logs", {"m/a": [0, 0]}, stamp="2026-03-02T10-00-00.5")
    table = tmp_path / "scores.csv"
    assert "--again" in run("import", tmp_path / "logs", "-o", table, code=2).stderr
    assert not table.exists()
    run("import", tmp_path / "logs", "--again", "run", "-o", table)
    assert {row["run"] for row in rows_of(table)} == {"1", "2"}


def test_names_out_of_logs_cannot_command_a_terminal_or_a_page(tmp_path: Path) -> None:
    hostile = "m\x1b[31m<script>alert(1)</script>"
    folder = write_inspect(tmp_path / "logs", {hostile: [1, 0, 1]})
    shown = run("import", folder)
    assert "\x1b" not in shown.output
    page = run("import", folder, "--format", "html").stdout
    assert "<script>alert" not in page


@pytest.mark.parametrize("command", ["fit", "check"])
def test_commands_of_ratings_name_those_of_scores(command: str, tmp_path: Path) -> None:
    said = run(command, write_inspect(tmp_path), code=2).stderr
    assert "is a log of models' scores" in " ".join(said.split())


def test_options_of_logs_are_refused_beside_exports(tmp_path: Path) -> None:
    table = tmp_path / "ratings.csv"
    table.write_text("worker,item,system,rating\nw,i,s,3\n")
    assert "logs" in run("import", table, "--from", "table", "--task", "x", code=2).stderr
    assert "draft" in run("import", write_inspect(tmp_path / "logs"), "--draft", code=2).stderr
