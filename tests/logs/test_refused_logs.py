"""Logs that contradict themselves, or are not whole: refused in a sentence, or a decision that is said."""

import json
import zipfile
from pathlib import Path

import pytest
from harness_logs import (
    SCORES,
    inspect_header,
    inspect_samples,
    lines,
    lm_eval_samples,
    table_in,
    write_inspect,
    write_lm_eval,
    write_openai,
)

from humeval_power.checking.logs.combined import LogTable
from humeval_power.errors import InputError
from humeval_power.files.logs.reading import read_logs


def by_system(found: LogTable, metric: str) -> dict[str, list[float]]:
    """The scores of each system, in the order of the numbers in the items' names."""
    frame = found.frame.assign(number=found.frame["item"].str.extract(r"(\d+)$", expand=False).astype(int))
    groups = frame.sort_values("number").groupby("system", sort=False)
    return {str(name): group[metric].tolist() for name, group in groups}


def refused(*paths: Path, **options: object) -> str:
    with pytest.raises(InputError) as error:
        read_logs(*paths, **options)  # type: ignore[arg-type]
    return str(error.value)


def test_a_line_that_is_cut_off_is_named(tmp_path: Path) -> None:
    file = tmp_path / "samples_t_2026.jsonl"
    whole = lines(lm_eval_samples([1, 0, 1]))
    file.write_text(whole[:-40])
    said = refused(file)
    assert "row 3" in said
    assert "cut off" in said


@pytest.mark.parametrize("packed", [True, False])
def test_an_evaluation_that_has_not_ended_is_refused(packed: bool, tmp_path: Path) -> None:
    header, samples = inspect_header("m", status="started"), inspect_samples([1, 0])
    file = tmp_path / ("log.eval" if packed else "log.json")
    if packed:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("_journal/start.json", json.dumps({"eval": header["eval"]}))
            archive.writestr("samples/q0_epoch_1.json", json.dumps(samples[0]))
    else:
        file.write_text(json.dumps({**header, "samples": samples}))
    assert "has not ended" in refused(file)


def test_an_archive_that_is_cut_off_is_no_traceback(tmp_path: Path) -> None:
    (log,) = write_inspect(tmp_path, {"m": [1, 0, 1]}, packed=True).iterdir()
    content = bytearray(log.read_bytes())
    place = content.index(b"summaries.json") + 20
    content[place : place + 10] = b"\xff" * 10  # inside the packed bytes: the directory at the end is whole
    log.write_bytes(bytes(content))
    assert "damaged or cut off" in refused(log)


def test_totals_without_samples_say_where_the_samples_are(tmp_path: Path) -> None:
    results = next(write_lm_eval(tmp_path).rglob("results_*"))
    assert "--log_samples" in refused(results)


def test_a_folder_without_a_log_names_the_harnesses(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text("{}")
    assert "lm-evaluation-harness" in refused(tmp_path)


def test_a_sample_that_comes_again_counts_once_or_is_refused(tmp_path: Path) -> None:
    samples = lm_eval_samples([1, 0, 1])
    file = tmp_path / "samples_t.jsonl"
    file.write_text(lines([*samples, samples[1]]))
    found = table_in(file)
    assert found.frame["acc"].tolist() == [1, 0, 1]
    assert any("read once" in notice for notice in found.said)
    file.write_text(lines([*samples, {**samples[1], "acc": 1}]))
    assert "item '1' has other scores" in refused(file)


def test_a_task_that_was_run_twice_is_asked_about(tmp_path: Path) -> None:
    write_lm_eval(tmp_path, {"m/a": [1, 0, 1]})
    write_lm_eval(tmp_path, {"m/a": [0, 0, 1]}, stamp="2026-03-02T10-00-00.5")
    assert "has 2 logs" in refused(tmp_path)
    assert table_in(tmp_path, again="last").frame["acc"].tolist() == [0, 0, 1]
    runs = table_in(tmp_path, again="run").frame
    assert runs.groupby("run")["acc"].apply(list).to_dict() == {"1": [1, 0, 1], "2": [0, 0, 1]}


def test_another_version_of_the_data_set_is_refused(tmp_path: Path) -> None:
    write_lm_eval(tmp_path, {"m/a": [1, 0, 1]})
    write_lm_eval(tmp_path, {"m/b": [1, 0, 1]}, shift=1)
    assert "asked or scored otherwise" in refused(tmp_path)


def test_several_tasks_keep_their_names_where_they_share_a_metric(tmp_path: Path) -> None:
    write_lm_eval(tmp_path, task="bridges")
    write_lm_eval(tmp_path, task="rivers", stamp="2026-03-02T10-00-00.5")
    found = table_in(tmp_path)
    assert set(found.frame["task"]) == {"bridges", "rivers"}
    assert found.frame["item"].iloc[0] == "bridges/0"
    assert by_system(table_in(tmp_path, tasks=["rivers"]), "acc") == SCORES
    both = table_in(tmp_path, tasks=["rivers", "bridges"]).frame
    assert both.groupby("task").size().to_dict() == {"bridges": 24, "rivers": 24}


def test_logs_of_a_task_without_a_metric_in_common_are_refused(tmp_path: Path) -> None:
    write_lm_eval(tmp_path, {"m/a": [1, 0]}, task="rivers")
    write_lm_eval(tmp_path, {"m/b": [1, 0]}, task="rivers", metric="f1")
    said = refused(tmp_path)
    assert "acc" in said
    assert "f1" in said
    assert "there is no task 'river'" in refused(tmp_path, tasks=["river"])


def test_items_that_one_system_lacks_are_said(tmp_path: Path) -> None:
    found = table_in(write_lm_eval(tmp_path, {"m/a": [1, 0, 1, 1], "m/b": [1, 0, 1]}))
    assert "m/b has 3 of the 4 items." in found.notices


def test_systems_without_a_common_item_are_refused(tmp_path: Path) -> None:
    write_openai(tmp_path / "a", {"m/a": [1, 0]})
    write_lm_eval(tmp_path / "b", {"m/b": [1, 0]})
    assert "share no item" in refused(tmp_path)
    write_lm_eval(tmp_path / "c", {"m/a": [1, 0]}, task="one")
    write_lm_eval(tmp_path / "c", {"m/b": [1, 0]}, task="two")
    assert "share no item" in refused(tmp_path / "c")


def test_a_stopped_evaluation_is_said(tmp_path: Path) -> None:
    found = table_in(write_openai(tmp_path, finished=False))
    assert any("no final report" in notice for notice in found.said)


def test_fields_that_differ_from_sample_to_sample_are_counted_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = lm_eval_samples([1, 0] * 10)
    for place, sample in enumerate(samples):
        sample["doc"] = {f"f{place}_{field}": "x" for field in range(5)}
    file = tmp_path / "samples_t.jsonl"
    file.write_text(lines(samples))
    assert len(table_in(file).frame) == 20
    monkeypatch.setenv("HUMEVAL_POWER_MAX_COLUMNS", "50")
    assert "has 101 columns; at most 50 are read" in refused(file)
