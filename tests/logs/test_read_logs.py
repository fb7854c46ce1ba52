"""Logs of ten harnesses, made from one table of scores, give this table back."""

import gzip
import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from cases import each_case
from harness_logs import (
    METRIC,
    NAMELESS,
    SCORES,
    WRITERS,
    inspect_header,
    inspect_samples,
    lm_eval_samples,
    table_in,
    write_helm,
    write_inspect,
    write_lm_eval,
    write_openai,
    write_zstandard,
)

from humeval_power.checking.logs.combined import LogTable
from humeval_power.files.logs.reading import read_logs
from humeval_power.files.tables import read_table

CLUSTER = {
    "lm-eval": "passage",
    "lmms-eval": "category",
    "inspect": "passage_id",
    "promptfoo": "passage",
    "deepeval": "passage",
    "pydantic-evals": "passage",
    "ragas": "retrieved_contexts",
    "mlflow": "passage",
}


def by_system(found: LogTable, metric: str) -> dict[str, list[float]]:
    """The scores of each system, in the order of the numbers in the items' names."""
    frame = found.frame.assign(
        number=found.frame["item"].str.extract(r"(\d+)\D*$", expand=False).astype(int)
    )
    groups = frame.sort_values("number").groupby("system", sort=False)
    return {str(name): group[metric].tolist() for name, group in groups}


@each_case("harness", WRITERS)
def test_each_harness_gives_the_table_that_its_logs_were_made_from(harness: str, tmp_path: Path) -> None:
    found = table_in(WRITERS[harness](tmp_path / "logs"))
    names = {name: name.split("/")[-1] if harness in NAMELESS else name for name in SCORES}
    assert by_system(found, METRIC[harness]) == {names[name]: own for name, own in SCORES.items()}
    assert METRIC[harness] in found.scores


@each_case("harness", CLUSTER)
def test_what_two_items_share_is_found_as_their_cluster(harness: str, tmp_path: Path) -> None:
    found = table_in(WRITERS[harness](tmp_path / "logs"))
    (cluster,) = found.clusters
    assert (cluster.column, cluster.n_clusters, cluster.largest) == (CLUSTER[harness], 6, 2)
    items = found.frame.drop_duplicates("item")
    assert items.groupby(CLUSTER[harness]).size().tolist() == [2] * 6


def test_a_whole_passage_is_numbered_in_the_place_of_its_text(tmp_path: Path) -> None:
    found = table_in(write_lm_eval(tmp_path))
    assert found.frame["passage"].unique().tolist() == [f"passage {number}" for number in range(1, 7)]


@pytest.mark.parametrize("summed", [True, False])
def test_a_packed_log_of_inspect_says_what_its_json_says(summed: bool, tmp_path: Path) -> None:
    plain = table_in(write_inspect(tmp_path / "json"))
    packed = table_in(write_inspect(tmp_path / "eval", packed=True, summed=summed))
    assert by_system(packed, "match") == by_system(plain, "match") == SCORES


@pytest.mark.parametrize("summed", [True, False])
def test_a_log_packed_by_zstandard_is_read(summed: bool, tmp_path: Path) -> None:
    pytest.importorskip("zstandard")
    for file in write_inspect(tmp_path, packed=True, summed=summed).iterdir():
        with zipfile.ZipFile(file) as archive:
            members = {name: archive.read(name).decode() for name in archive.namelist()}
        write_zstandard(file, members)
    assert by_system(table_in(tmp_path), "match") == SCORES


def test_a_field_that_was_cut_in_the_summary_is_read_from_the_sample(tmp_path: Path) -> None:
    (file,) = write_inspect(tmp_path, {"m": [1, 0, 1, 1]}, packed=True).iterdir()
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name).decode() for name in archive.namelist()}
    cut = json.loads(members["summaries.json"])
    for sample in cut:
        sample["metadata"]["passage_id"] = "Key removed from summary (> 1k)"
    members["summaries.json"] = json.dumps(cut)
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    assert table_in(file).frame["passage_id"].tolist() == ["p0", "p0", "p1", "p1"]


def test_words_of_inspect_count_as_its_own_accuracy_counts_them(tmp_path: Path) -> None:
    values = {"C": 1, "I": 0, "P": 0.5, "N": 0, "yes": 1, "No": 0, "0.25": 0.25, True: 1, 3: 3}
    samples = [
        {"id": number, "epoch": 1, "input": f"{number}", "target": "x", "scores": {"s": {"value": value}}}
        for number, value in enumerate(values)
    ]
    file = tmp_path / "log.json"
    file.write_text(json.dumps({**inspect_header("m"), "samples": samples}))
    assert table_in(file).frame["s"].tolist() == list(values.values())


def test_epochs_and_trials_are_runs(tmp_path: Path) -> None:
    for found in (
        table_in(write_inspect(tmp_path / "epochs", epochs=3)),
        table_in(write_helm(tmp_path / "trials", trials=3)),
    ):
        assert found.frame["run"].nunique() == 3
        assert found.frame.groupby(["system", "item"]).size().eq(3).all()


def test_the_one_score_of_older_logs_of_inspect_is_read(tmp_path: Path) -> None:
    samples = [{"id": 1, "epoch": 1, "target": "x", "score": {"value": "C"}}]
    file = tmp_path / "log.json"
    file.write_text(json.dumps({**inspect_header("m"), "version": 1, "samples": samples}, indent=4))
    assert table_in(file).frame["score"].tolist() == [1]


def test_a_sample_that_ended_with_an_error_has_no_score_and_is_said(tmp_path: Path) -> None:
    samples = inspect_samples([1, 0, 1])
    del samples[1]["scores"]
    samples[1]["error"] = {"message": "timed out"}
    file = tmp_path / "log.json"
    file.write_text(json.dumps({**inspect_header("m"), "samples": samples}))
    found = table_in(file)
    assert found.scores == ("match",)
    assert found.frame["match"].isna().tolist() == [False, True, False]
    assert any("1 of 3 samples ended with an error" in notice for notice in found.said)


def test_the_predictions_that_helm_displays_are_read_where_its_statistics_are_not(tmp_path: Path) -> None:
    for statistics in write_helm(tmp_path).rglob("per_instance_stats.json"):
        shown = [
            {
                "instance_id": one["instance_id"],
                "predicted_text": " yes\n",
                "train_trial_index": one["train_trial_index"],
                "stats": {stat["name"]["name"]: stat["mean"] for stat in one["stats"]},
            }
            for one in json.loads(statistics.read_text())
            if "perturbation" not in one
        ]
        statistics.with_name("display_predictions.json").write_text(json.dumps(shown, indent=2))
        beside = table_in(tmp_path)  # both are there: one is read
        assert by_system(beside, "exact_match") == SCORES
        statistics.unlink()
    found = table_in(tmp_path)
    assert by_system(found, "exact_match") == SCORES
    assert set(found.frame["prediction"]) == {"yes"}


@pytest.mark.parametrize(
    "run",
    [
        "mmlu:subject=law,model={},eval_split=test",
        "mmlu:model={},subject=law,eval_split=test",
        "mmlu:subject=law,model={0},model_deployment=here_{0},eval_split=test",
    ],
)
def test_a_task_of_helm_is_named_without_the_model(run: str, tmp_path: Path) -> None:
    for number, folder in enumerate(
        sorted(path.parent for path in write_helm(tmp_path).rglob("run_spec.json"))
    ):
        (folder / "run_spec.json").unlink()
        folder.rename(folder.with_name(run.format(f"m{number}")))
    found = table_in(tmp_path)
    assert {log.task for log in found.logs} == {"mmlu:subject=law,eval_split=test"}
    assert [log.system for log in found.logs] == ["m0", "m1"]


def test_a_report_may_stand_before_the_events(tmp_path: Path) -> None:
    (log,) = write_openai(tmp_path, {"m": [1, 0, 1]}).iterdir()
    first, *events, report = log.read_text().splitlines(keepends=True)
    log.write_text("".join([first, report, *events]))
    assert table_in(log).frame["correct"].tolist() == [1, 0, 1]


def test_a_single_run_takes_no_column(tmp_path: Path) -> None:
    assert "run" not in table_in(write_inspect(tmp_path)).frame


def test_filters_make_metrics_named_as_the_harness_names_them(tmp_path: Path) -> None:
    folder = write_lm_eval(tmp_path, filters=("strict-match", "flexible-extract"), metric="exact_match")
    found = table_in(folder)
    assert found.scores == ("exact_match,strict-match", "exact_match,flexible-extract")
    assert by_system(found, "exact_match,strict-match") == SCORES


def test_the_model_is_named_by_the_results_then_by_the_folder(tmp_path: Path) -> None:
    folder = write_lm_eval(tmp_path)
    for results in folder.rglob("results_*"):
        results.unlink()
    found = table_in(folder)
    assert list(by_system(found, "acc")) == list(SCORES)
    (tmp_path / "acme__base-7b").rename(tmp_path / "first")
    renamed = table_in(tmp_path)
    assert "first" in set(renamed.frame["system"])
    assert any("called as the folder" in notice for notice in renamed.said)


def test_a_gzipped_log_is_read_as_it_is(tmp_path: Path) -> None:
    (log,) = list(write_lm_eval(tmp_path, {"m/a": [1, 0, 1]}).rglob("samples_*"))
    packed = log.with_name(log.name + ".gz")
    packed.write_bytes(gzip.compress(log.read_bytes()))
    log.unlink()
    assert by_system(table_in(packed), "acc") == {"m/a": [1, 0, 1]}


def test_older_samples_in_one_array_are_read(tmp_path: Path) -> None:
    file = tmp_path / "samples_bridges.jsonl"
    file.write_text(json.dumps(lm_eval_samples([1, 0, 1]), indent=2))
    assert table_in(file).frame["acc"].tolist() == [1, 0, 1]


def test_tables_of_other_kinds_are_no_logs(tmp_path: Path) -> None:
    table = tmp_path / "ratings.csv"
    table.write_text("worker,item,system,rating\nw,i,s,3\n")
    objects = tmp_path / "ratings.jsonl"
    objects.write_text('{"worker": "w", "item": "i", "system": "s", "rating": 3}\n' * 2)
    book = tmp_path / "book.xlsx"
    pd.DataFrame({"a": [1], "b": [2]}).to_excel(book, index=False)
    for path in (table, objects, book, "-", tmp_path / "absent.json"):
        assert read_logs(path) is None
    assert len(read_table(objects).frame) == 2


def test_a_log_is_a_table_wherever_tables_are_read(tmp_path: Path) -> None:
    found = read_table(write_lm_eval(tmp_path))
    assert found.scores == ("acc",)
    assert list(found.frame["system"].unique()) == list(SCORES)
