"""One evaluation in several logs, several of one system, and several tasks: each counts as it should."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli import run, run_json
from harness_logs import SCORES, inspect_header, inspect_samples, table_in, write_inspect, write_lm_eval

from humeval_power.checking.logs.log import Again
from humeval_power.errors import InputError
from humeval_power.files.logs.reading import read_logs

SEEDS = ("random_seed", "numpy_seed", "torch_seed", "fewshot_seed")


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


def test_a_retry_replaces_an_evaluation_that_was_broken_off(tmp_path: Path) -> None:
    whole = with_uuids(inspect_samples([1, 0, 1, 1]))
    write_evaluation(tmp_path / "a.json", whole[:2], task_id="t", hour=10, status="started")
    with pytest.raises(InputError, match="has not ended"):
        read_logs(tmp_path)
    write_evaluation(tmp_path / "b.json", whole, task_id="t", hour=11)
    assert table_in(tmp_path).frame["match"].tolist() == [1, 0, 1, 1]


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


def test_a_comparison_takes_the_mean_of_an_items_epochs_and_says_so(tmp_path: Path) -> None:
    folder, table = write_inspect(tmp_path / "logs", epochs=3), tmp_path / "scores.csv"
    (log, _) = sorted(folder.iterdir())
    stated = json.loads(log.read_text())
    stated["samples"][0]["scores"]["match"]["value"] = "I"  # the first of three epochs of the first item
    log.write_text(json.dumps(stated))
    run("import", folder, "-o", table)
    a, b = SCORES.values()
    for words in (("compare", "scores", folder), ("compare", "scores", table)):
        found = run_json(*words, "--question", "mean", "--simulations", 20)
        assert found["test"]["estimate"] == pytest.approx((sum(b) - sum(a) + 1 / 3) / len(a))
        assert "the mean over its runs, up to 3" in " ".join(found["notices"])
    run("rank", "scores", folder)


def test_a_comparison_by_a_metric_reads_the_tasks_that_have_it(tmp_path: Path) -> None:
    folder, table = tmp_path / "logs", tmp_path / "scores.csv"
    write_lm_eval(folder, task="choice")
    write_lm_eval(folder, {"acme/base-7b": [0, 1], "acme/tuned-7b": [1, 1]}, task="free", metric="f1")
    run("import", folder, "-o", table)
    for source in (folder, table):
        asked = ("--score", "acc", "--question", "mean", "--simulations", 20)
        assert run_json("compare", "scores", source, *asked)["test"]["n"] == 12
        said = run("accuracy", "test", source, "--column", "acc", "--cluster", "passage").stderr
        assert "Tasks without acc are left out: free." in " ".join(said.split())


def test_inspects_mean_is_over_items_and_that_of_another_reducer_is_not_compared(tmp_path: Path) -> None:
    samples = inspect_samples([1, 0, 1], epochs=2)
    del samples[0]["scores"]  # q0 has one scored epoch, and counts as much as the others
    samples[1]["scores"]["match"]["value"] = "C"
    one = {"name": "match", "scorer": "match"}
    scores = [
        {
            **one,
            "reducer": "mean",
            "metrics": {"accuracy": {"name": "accuracy", "value": (1 + 0.5 + 1) / 3}},
        },
        {**one, "reducer": "pass_at_2", "metrics": {"accuracy": {"name": "accuracy", "value": 1.0}}},
    ]
    log = tmp_path / "log.json"
    log.write_text(json.dumps({**inspect_header("m"), "samples": samples, "results": {"scores": scores}}))
    said = table_in(log).said
    assert not any("the harness reported" in notice for notice in said)
    assert any("no means over epochs: match by pass_at_2" in notice for notice in said)
    (reported,) = run_json("import", log)["logs"][0]["reported"]
    assert (reported["mean"], reported["over"]) == (pytest.approx(2.5 / 3), "items")
    log.write_text(log.read_text().replace('"value": 0.8333', '"value": 0.9333'))
    assert any("over its items, of each the mean" in notice for notice in table_in(log).said)


def test_the_parts_of_a_scorers_scores_are_compared_by_their_names(tmp_path: Path) -> None:
    values = [{"style": 1, "fact": 0}, {"style": 0, "fact": 0}]
    samples = [
        {"id": number, "epoch": 1, "input": "?", "target": "x", "scores": {"judge": {"value": value}}}
        for number, value in enumerate(values)
    ]
    stated = [
        {"name": name, "scorer": "judge", "metrics": {"mean": {"name": "mean", "value": value}}}
        for name, value in (("style", 0.5), ("fact", 0.0))
    ]
    log = tmp_path / "log.json"
    log.write_text(json.dumps({**inspect_header("m"), "samples": samples, "results": {"scores": stated}}))
    reported = run_json("import", log)["logs"][0]["reported"]
    assert [(one["metric"], one["mean"]) for one in reported] == [("judge.style", 0.5), ("judge.fact", 0)]
