"""What each of the newer harnesses writes: which is the item, which the system, which the run."""

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from cli import run, run_json
from harness_logs import (
    DOCUMENTED,
    SCORES,
    WRITERS,
    braintrust_row,
    langsmith_row,
    lines,
    promptfoo_results,
    sacrebleu_line,
    table_in,
    write_deepeval,
    write_langfuse,
    write_mlflow,
    write_promptfoo,
    write_pydantic_evals,
    write_ragas,
    write_rows,
    write_sacrebleu,
)
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from humeval_power.checking.logs.combined import LogTable
from humeval_power.errors import InputError
from humeval_power.files.logs.reading import read_logs

TWO = {"m/a": [1, 0, 1, 1], "m/b": [0, 0, 1, 1]}


def refused(*paths: Path, **options: Any) -> str:
    with pytest.raises(InputError) as error:
        read_logs(*paths, **options)
    return str(error.value)


def changed(path: Path, change: dict[str, Any]) -> Path:
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    return path


def test_a_repeated_test_of_promptfoo_is_one_item_with_runs(tmp_path: Path) -> None:
    frame = table_in(write_promptfoo(tmp_path, repeats=3)).frame
    assert frame["item"].nunique() == 12
    assert frame.groupby(["system", "item"])["run"].apply(list).map(tuple).unique().tolist() == [
        ("1", "2", "3")
    ]


def test_a_system_of_promptfoo_is_a_provider_with_a_prompt(tmp_path: Path) -> None:
    found = table_in(write_promptfoo(tmp_path, TWO, prompts=("plain", "x" * 200)))
    assert set(found.frame["system"]) == {"m/a/plain", "m/a/prompt 2", "m/b/plain", "m/b/prompt 2"}
    alike = [one | {"provider": "echo"} for one in promptfoo_results(TWO)]
    (tmp_path / "alike").mkdir()
    (tmp_path / "alike" / "results.jsonl").write_text(lines(alike))
    assert set(table_in(tmp_path / "alike").frame["system"]) == {"echo #0", "echo #1"}


def test_lines_of_promptfoo_say_what_its_document_says(tmp_path: Path) -> None:
    whole = table_in(write_promptfoo(tmp_path / "json", repeats=2)).frame
    (tmp_path / "results.jsonl").write_text(lines(promptfoo_results(SCORES, repeats=2)))
    assert table_in(tmp_path / "results.jsonl").frame.equals(whole)
    beside = tmp_path / "json" / "results.jsonl"  # one evaluation in both forms
    beside.write_text((tmp_path / "results.jsonl").read_text())
    assert len(table_in(tmp_path / "json").frame) == len(whole)


def test_tests_of_promptfoo_without_a_description_are_known_by_their_variables(tmp_path: Path) -> None:
    results = promptfoo_results(TWO)
    for one in results:
        del one["testCase"]["description"]
        one["vars"]["sessionId"] = one["id"]  # new for each answer
    (tmp_path / "results.jsonl").write_text(lines(results))
    frame = table_in(tmp_path).frame
    assert frame["item"].nunique() == 4
    assert frame["item"].iloc[0] == "question=Was bridge 0 open?, passage=p0"


def test_two_tests_of_promptfoo_with_one_description_stay_two(tmp_path: Path) -> None:
    results = promptfoo_results(TWO)
    for one in results:
        one["testCase"]["description"] = "open?"
    (tmp_path / "results.jsonl").write_text(lines(results))
    frame = table_in(tmp_path).frame
    assert frame["item"].nunique() == 4
    assert "run" not in frame


def test_an_error_of_a_provider_is_no_score_of_0(tmp_path: Path) -> None:
    results = promptfoo_results({"m/a": [1, 0, 1]})
    results[1] |= {"failureReason": 2, "error": "timed out", "namedScores": {}}
    (tmp_path / "results.jsonl").write_text(lines(results))
    found = table_in(tmp_path)
    assert found.frame["right"].isna().tolist() == [False, True, False]
    assert any("1 of 3 results are errors" in notice for notice in found.said)


def test_the_rounded_table_of_promptfoo_is_refused_and_left_out_beside_its_json(tmp_path: Path) -> None:
    folder = write_promptfoo(tmp_path, TWO)
    table = folder / "out.csv"
    table.write_text(
        "Description,n,[m/a] plain,Status,Score,Named Scores,Comment\nRow #1,0,x,PASS,0.39,{},\n"
    )
    assert len(table_in(folder).frame) == 8
    assert "promptfoo eval -o results.json" in refused(table)


def test_metrics_of_deepeval_are_found_by_their_names(tmp_path: Path) -> None:
    found = table_in(write_deepeval(tmp_path, TWO))
    assert set(found.frame["Length [GEval]"]) == {0.5}
    assert set(found.scores) == {"Right", "Length [GEval]"}


def test_the_copy_of_the_latest_run_of_deepeval_is_that_run(tmp_path: Path) -> None:
    folder = write_deepeval(tmp_path, TWO)
    last = max(folder.iterdir())
    copy = {"testRunData": json.loads(last.read_text()), "testRunLink": None}
    (folder / "latest_test_run.json").write_text(json.dumps(copy))
    assert len(table_in(folder).frame) == 8


def test_the_model_of_deepeval_names_a_run_without_an_identifier(tmp_path: Path) -> None:
    first, second = sorted(write_deepeval(tmp_path, TWO).iterdir())
    changed(first, {"identifier": None, "hyperparameters": {"model": "m/new"}})
    changed(second, {"identifier": None})
    assert set(table_in(tmp_path).frame["system"]) == {"m/new", "test_run_20260301_100001"}


def test_cases_of_pydantic_evals_that_were_repeated_are_runs(tmp_path: Path) -> None:
    folder = write_pydantic_evals(tmp_path, TWO, repeats=2)
    first = min(folder.iterdir())
    cases = json.loads(first.read_text())["cases"]
    failed = {
        "name": "q3 [2/2]",
        "source_case_name": "q3",
        "inputs": "Was bridge 3 open?",
        "error_message": "x",
    }
    changed(first, {"cases": cases[:-1], "failures": [failed]})
    found = table_in(folder)
    assert set(found.frame["item"]) == {"q0", "q1", "q2", "q3"}
    assert set(found.frame["run"]) == {"1", "2"}
    assert found.frame["right"].isna().sum() == 1
    assert any("1 of 8 cases failed" in notice for notice in found.said)


def test_a_table_without_a_system_is_called_as_its_file_its_folder_or_as_one_says(tmp_path: Path) -> None:
    folder = write_ragas(tmp_path / "logs", TWO)
    assert set(table_in(folder).frame["system"]) == {"a", "b"}
    tables = sorted(folder.rglob("*.csv"))
    assert set(table_in(*tables).frame["system"]) == {"a", "b"}  # files of one name
    for table in tables:
        table.rename(tmp_path / f"{table.parent.name}-4.1.csv")
    first, second = sorted(tmp_path.glob("*.csv"))
    assert set(table_in(first, second).frame["system"]) == {"a-4.1", "b-4.1"}
    named = {str(first): "old", str(second): "new"}
    assert set(table_in(first, second, systems=named).frame["system"]) == {"old", "new"}
    options = [word for path, name in named.items() for word in ("--system-name", f"{name}={path}")]
    assert set(run_json("import", *options)["means"]) == {"old", "new"}
    assert "write NAME=FILE" in run("import", first, "--system-name", "old", code=2).stderr
    assert "holds no log" in refused(first, systems={str(tmp_path / "other"): "old"})
    (many,) = write_promptfoo(tmp_path / "many", TWO).iterdir()
    assert "holds several systems" in refused(many, systems={str(many): "one"})


def test_a_question_that_comes_again_is_a_run_and_one_with_another_reference_an_item(
    tmp_path: Path,
) -> None:
    (table,) = write_ragas(tmp_path, {"m": [1, 0]}).rglob("*.csv")
    rows = list(csv.DictReader(table.read_text().splitlines()))

    def written(*added: dict[str, str]) -> LogTable:
        with table.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows([*rows, *added])
        return table_in(table)

    again = written(rows[0] | {"exact_match": "0.0"}).frame
    assert again["run"].tolist() == ["1", "1", "2"]
    other = written(rows[0] | {"reference": "no"}).frame
    assert other["item"].nunique() == 3


def test_scores_of_mlflow_are_its_values_and_no_expectation(tmp_path: Path) -> None:
    found = table_in(write_mlflow(tmp_path, TWO))
    assert found.scores == ("right",)
    assert found.frame["right"].tolist() == [1, 0, 1, 1, 0, 0, 1, 1]


def test_a_trace_that_is_longer_than_what_a_format_is_told_from_hides_no_column(tmp_path: Path) -> None:
    table = tmp_path / "results.csv"
    head = "trace_id,right/value,trace,request,response\n"
    table.write_text(head + "".join(f"t{n},{n % 2},{'x' * 100_000},say {n},{n}\n" for n in range(3)))
    assert table_in(table).frame["right"].tolist() == [0, 1, 0]


@pytest.mark.parametrize("column", ["worker", "system"])
def test_a_table_with_workers_or_systems_is_no_log(column: str, tmp_path: Path) -> None:
    table = tmp_path / "ratings.csv"
    table.write_text(f"{column},user_input,reference,rating\nw,x,y,3\n")
    assert read_logs(table) is None


@pytest.mark.parametrize(
    ("writer", "old", "new", "told"),
    [
        (
            write_promptfoo,
            '"right": 0',
            '"right": "zero"',
            ("results.json", "row 2", "right", "'zero'", "number"),
        ),
        (write_deepeval, '"score": 0}', '"score": []}', ("test_run", "row 2", "metricsData.0.score", "[]")),
        (
            write_pydantic_evals,
            '"value": false',
            '"value": "no"',
            ("report", "row 2", "assertions.right", "'no'"),
        ),
    ],
)
def test_a_score_that_is_no_number_is_named_with_its_place(
    writer: Any, old: str, new: str, told: tuple[str, ...], tmp_path: Path
) -> None:
    file = min(path for path in writer(tmp_path, TWO).iterdir())
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    said = refused(file)
    assert all(word in said for word in told), said


@pytest.mark.parametrize("harness", DOCUMENTED)
def test_what_is_read_by_a_documentation_alone_is_marked_as_such(harness: str, tmp_path: Path) -> None:
    said = table_in(WRITERS[harness](tmp_path / "logs")).said
    assert any("has seen no file of it" in one for one in said)
    assert not any("has seen no file" in one for one in table_in(write_ragas(tmp_path / "ragas")).said)


def test_a_table_of_langsmith_has_its_feedback_as_metrics(tmp_path: Path) -> None:
    found = table_in(write_rows(tmp_path, TWO, "experiment", langsmith_row))
    assert found.scores == ("right",)  # and not the seconds of each run
    assert found.frame.groupby("system")["right"].sum().to_dict() == {"a": 3, "b": 2}
    assert [cluster.column for cluster in found.clusters] == ["passage"]


def test_a_table_of_braintrust_has_its_scores_in_a_cell(tmp_path: Path) -> None:
    def row(item: int, score: float) -> dict[str, Any]:
        known = braintrust_row(item, score)
        return {
            name: json.dumps(value) if isinstance(value, dict) else value for name, value in known.items()
        }

    found = table_in(write_rows(tmp_path, TWO, "experiment", row))
    assert found.frame.groupby("system")["right"].sum().to_dict() == {"a": 3, "b": 2}
    spans = [braintrust_row(0, 1) | {"is_root": True}, braintrust_row(1, 0) | {"is_root": False}]
    (tmp_path / "spans.json").write_text(json.dumps(spans))
    assert len(table_in(tmp_path / "spans.json").frame) == 1
    columns = {
        name: json.dumps(value) if isinstance(value, dict) else value for name, value in spans[0].items()
    }
    as_csv = [
        columns,
        {**columns, "is_root": "false", "id": "span"},
        {**columns, "is_root": "False", "id": "more"},
    ]
    pd.DataFrame(as_csv).to_csv(tmp_path / "spans.csv", index=False)
    assert len(table_in(tmp_path / "spans.csv").frame) == 1


def test_scores_of_langfuse_need_the_observations_of_their_traces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_langfuse(tmp_path, TWO)
    (first, _) = sorted(folder.rglob("scores/*"))
    monkeypatch.chdir(first.parent)
    assert len(table_in(Path(first.name)).frame) == 4
    assert "tone" in " ".join(table_in(folder).said)
    (file, _) = sorted(folder.rglob("observations_v2/*"))
    whole = file.read_text()
    file.write_text("".join(whole.splitlines(keepends=True)[:-2]))
    assert "no observation of 1 of 4 traces" in refused(folder)
    file.unlink()
    assert "Export observations_v2 too" in refused(folder)
    file.write_text(whole)
    (scores, _) = sorted(folder.rglob("scores/*"))
    rows = [json.loads(line) for line in scores.read_text().splitlines()]
    scores.write_text(lines([*rows, rows[0] | {"value": 0.5}]))
    assert "two scores called 'right'" in refused(folder)
    scores.write_text(lines([*rows, {"trace_id": None, "session_id": "s", "name": "right", "value": 1}]))
    assert len(table_in(folder).frame) == 8
    named = {"metadata": json.dumps({"dataset_item_id": "d7"})}
    file.write_text(lines([json.loads(line) | named for line in whole.splitlines()]))
    assert all(
        item.startswith("d7 ") for item in table_in(scores).frame["item"]
    )  # one name of four questions


def test_segment_scores_that_the_installed_sacrebleu_prints_are_read(tmp_path: Path) -> None:
    texts = {
        "reference": ["the river rose until spring", "it rained", "the bridge was shut"],
        "old": ["the river rose till spring", "it rained", "the bridge is shut"],
        "new": ["the river fell until spring", "it snowed all day", "the bridge was shut"],
    }
    for name, lines_of in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines_of))
    (tmp_path / "logs").mkdir()
    for metric, counted in (("bleu", BLEU(effective_order=True)), ("chrf", CHRF()), ("ter", TER())):
        for system in ("old", "new"):
            words = ["reference", "-i", system, "-m", metric, "--sentence-level", "-w", "4"]
            program = [sys.executable, "-m", "sacrebleu", *words]
            printed = subprocess.run(
                program, cwd=tmp_path, capture_output=True, text=True, check=True
            ).stdout
            (tmp_path / "logs" / f"{system}.txt").write_text(printed)
        found = table_in(tmp_path / "logs")
        for system, own in found.frame.groupby("system"):
            pairs = zip(texts[str(system)], texts["reference"], strict=True)
            expected = [counted.sentence_score(text, [reference]).score for text, reference in pairs]
            assert own[found.scores[0]].tolist() == pytest.approx(expected, abs=5e-5)
        assert any("A lower TER is better." in one for one in found.said) == (metric == "ter")


def test_blank_lines_at_the_end_of_segment_scores_are_no_segments(tmp_path: Path) -> None:
    folder = write_sacrebleu(tmp_path, TWO)
    expected = table_in(folder).frame
    segments = folder / "b" / "segments.txt"
    segments.write_text(segments.read_text() + "\n\n")
    assert table_in(folder).frame.equals(expected)
    segments.write_text(segments.read_text().rstrip() + "\nnot a score\n")
    assert "Score the segments again" in refused(folder)


def test_segments_scored_with_other_settings_are_not_compared(tmp_path: Path) -> None:
    folder = write_sacrebleu(tmp_path, TWO)
    (folder / "b" / "segments.txt").write_text("".join(sacrebleu_line(one, "intl") for one in TWO["m/b"]))
    assert "scored otherwise" in refused(folder)
    (folder / "b" / "segments.txt").write_text(sacrebleu_line(1) + sacrebleu_line(1, "intl"))
    assert "another metric or signature than row 1" in refused(folder)


@pytest.mark.parametrize(
    "printed",
    [
        sacrebleu_line(34.2),
        sacrebleu_line(34.2) + sacrebleu_line(73.1).replace("BLEU", "chrF2"),
        json.dumps({"name": "BLEU", "score": 34.2, "signature": "nrefs:1|version:2.6.0"}, indent=1),
        json.dumps([{"name": "BLEU", "score": 34.2, "signature": "nrefs:1|version:2.6.0"}], indent=1),
    ],
)
def test_a_score_of_a_whole_test_set_leads_to_the_comparison_of_its_texts(
    printed: str, tmp_path: Path
) -> None:
    (tmp_path / "whole.txt").write_text(printed)
    assert "compare corpus test" in refused(tmp_path / "whole.txt")
