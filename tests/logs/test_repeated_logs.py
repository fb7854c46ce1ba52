"""One evaluation in several logs, several of one system, and several tasks: each counts as it should."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from harness_logs import inspect_header, inspect_samples, write_inspect, write_lm_eval

from humeval_power.checking.logs.combined import LogTable
from humeval_power.checking.logs.repeats import Again
from humeval_power.errors import InputError
from humeval_power.interfaces.formats.logs.reading import read_logs

SEEDS = ("random_seed", "numpy_seed", "torch_seed", "fewshot_seed")


def table_in(*paths: Path, **options: Any) -> LogTable:
    found = read_logs(*paths, **options)
    assert found is not None
    return found


def write_evaluation(
    path: Path, samples: list[dict[str, Any]], *, task_id: str, hour: int, status: str = "success"
) -> Path:
    header = inspect_header("m", status=status)
    header["eval"] |= {"task_id": task_id, "created": f"2026-03-01T{hour}:00:00+00:00"}
    path.write_text(json.dumps({**header, "samples": samples}))
    return path


def with_uuids(samples: list[dict[str, Any]], *, of: str = "first") -> list[dict[str, Any]]:
    return [sample | {"uuid": f"{of}-{place}"} for place, sample in enumerate(samples)]


def test_a_retry_replaces_the_evaluation_that_it_goes_on_with(tmp_path: Path) -> None:
    whole = with_uuids(inspect_samples([1, 0, 1, 1]))
    write_evaluation(tmp_path / "a.json", whole[:2], task_id="t", hour=10, status="error")
    write_evaluation(tmp_path / "b.json", whole, task_id="t", hour=11)
    for again in ("refuse", "last", "run"):
        found = table_in(tmp_path, again=again)
        assert found.frame["match"].tolist() == [1, 0, 1, 1]
        assert "run" not in found.frame
        assert any("goes on with the evaluation of a.json" in notice for notice in found.said)


def test_samples_that_only_the_replaced_log_holds_are_counted(tmp_path: Path) -> None:
    whole = with_uuids(inspect_samples([1, 0, 1, 1]))
    write_evaluation(tmp_path / "a.json", whole, task_id="t", hour=10, status="error")
    write_evaluation(tmp_path / "b.json", whole[:3], task_id="t", hour=11, status="cancelled")
    assert any("1 samples stand only there" in notice for notice in table_in(tmp_path).said)


def test_a_generation_in_two_evaluations_counts_once(tmp_path: Path) -> None:
    first = with_uuids(inspect_samples([1, 0, 1, 1]))
    anew = with_uuids(inspect_samples([1, 1, 1, 1]), of="second")
    write_evaluation(tmp_path / "a.json", first, task_id="t", hour=10)
    write_evaluation(tmp_path / "b.json", [*first[:2], *anew[2:]], task_id="u", hour=11)
    runs = table_in(tmp_path, again="run").frame
    assert runs.groupby("item").size().to_dict() == {"q0": 1, "q1": 1, "q2": 2, "q3": 2}
    write_evaluation(tmp_path / "b.json", with_uuids(inspect_samples([0, 0, 1, 1])), task_id="u", hour=11)
    with pytest.raises(InputError, match=r"item 'q0' is the generation of a\.json with other scores"):
        read_logs(tmp_path, again="run")


@pytest.mark.parametrize("again", ["refuse", "run"])
def test_logs_with_other_seeds_are_runs_that_are_named_by_them(again: Again, tmp_path: Path) -> None:
    for hour, seed in enumerate((11, 12)):
        stamp, scores = f"2026-03-01T1{hour}-00-00.5", {"m/a": [1, 0, seed % 2]}
        write_lm_eval(tmp_path, scores, stamp=stamp, seeds=dict.fromkeys(SEEDS, seed))
    found = table_in(tmp_path, again=again)
    runs = found.frame.groupby("run")["acc"].apply(list).to_dict()
    assert runs == {"11": [1, 0, 1], "12": [1, 0, 0]}
    assert any("--crossed" in notice for notice in found.said)


def test_the_same_seeds_and_scores_are_the_same_run_and_other_scores_are_refused(tmp_path: Path) -> None:
    seeds = {**dict.fromkeys(SEEDS, 1234), "random_seed": 0}
    write_lm_eval(tmp_path, {"m/a": [1, 0, 1]}, stamp="2026-03-01T10-00-00.5", seeds=seeds)
    write_lm_eval(tmp_path, {"m/a": [1, 0, 1]}, stamp="2026-03-01T11-00-00.5", seeds=seeds)
    found = table_in(tmp_path)
    assert found.frame["acc"].tolist() == [1, 0, 1]
    assert any("the same evaluation" in notice for notice in found.said)
    write_lm_eval(tmp_path, {"m/a": [1, 1, 1]}, stamp="2026-03-01T12-00-00.5", seeds=seeds)
    with pytest.raises(InputError, match="has 2 logs"):
        read_logs(tmp_path)


def test_a_copy_of_a_log_is_read_once(tmp_path: Path) -> None:
    (log,) = write_inspect(tmp_path, {"m": [1, 0, 1]}).iterdir()
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / log.name).write_bytes(log.read_bytes())
    assert len(table_in(tmp_path, again="run").frame) == 3


def test_tasks_with_different_metrics_are_one_table(tmp_path: Path) -> None:
    write_lm_eval(tmp_path, {"m/a": [1, 0], "m/b": [1, 1]}, task="choice")
    write_lm_eval(tmp_path, {"m/a": [0, 1], "m/b": [1, 1]}, task="free", metric="exact_match")
    found = table_in(tmp_path)
    assert found.scores == ("acc", "exact_match")
    of_task = found.frame.groupby("task")[["acc", "exact_match"]].count()
    assert of_task.loc["choice"].to_dict() == {"acc": 4, "exact_match": 0}
    assert of_task.loc["free"].to_dict() == {"acc": 0, "exact_match": 4}
    one = table_in(tmp_path, scores=["acc"])
    assert "task" not in one.frame
    assert any("Tasks without acc are left out: free" in notice for notice in one.said)


def test_names_of_passages_are_names_within_their_task(tmp_path: Path) -> None:
    for task in ("choice", "free"):
        write_lm_eval(tmp_path, {"m/a": [1, 0] * 6}, task=task)
        for log in tmp_path.rglob(f"samples_{task}_*"):
            lines = [json.loads(line) for line in log.read_text().splitlines()]
            for line in lines:
                line["doc"] = {"passage": f"P{line['doc_id'] // 2}", "difficulty": line["doc_id"] % 6}
            log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (cluster,) = table_in(tmp_path).clusters
    assert (cluster.column, cluster.n_clusters, cluster.n_items) == ("passage", 12, 24)
    assert set(table_in(tmp_path, tasks=["free"]).frame["passage"]) == {f"P{n}" for n in range(6)}


def test_the_text_of_a_passage_is_one_cluster_in_all_tasks(tmp_path: Path) -> None:
    for task in ("choice", "free"):
        write_lm_eval(tmp_path, {"m/a": [1, 0] * 6}, task=task)
    (cluster,) = table_in(tmp_path).clusters
    assert (cluster.n_clusters, cluster.largest) == (6, 4)


def test_a_name_that_the_harness_made_up_is_said(tmp_path: Path) -> None:
    write_lm_eval(tmp_path, {"m/a": [1, 0]})
    (results,) = tmp_path.rglob("results_*")
    stated = json.loads(results.read_text())
    results.write_text(json.dumps({**stated, "model_name": "xKqPwzRt", "config": {"model_args": {}}}))
    assert any("made 'xKqPwzRt' up" in notice for notice in table_in(tmp_path).said)
