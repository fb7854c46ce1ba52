"""Files that real runs of harnesses wrote, where they are at hand: the means that the harness itself reports."""

from pathlib import Path

import pytest
from cli import run_json

# Means of the program itself, by folder, system and metric
MEANS = {
    "inspect/eval": {
        "mockllm/alpha": {"match": 0.458333, "model_graded_qa": 0.546875},
        "mockllm/beta": {"match": 0.666667, "model_graded_qa": 0.479167},
    },
    "inspect/json": {
        "mockllm/alpha": {"match": 0.444444, "model_graded_qa": 0.638889},
        "mockllm/beta": {"match": 0.888889, "model_graded_qa": 0.527778},
    },
    "inspect/limit": {
        "mockllm/alpha": {"match": 0.5, "model_graded_qa": 0.65},
        "mockllm/beta": {"match": 0.8, "model_graded_qa": 0.5},
    },
    "lm-eval/seeded": {
        "acme/alpha": {"acc": 0.5, "exact_match,first": 0.5},
        "acme/beta": {"acc": 0.166667, "exact_match,maj": 0.5},
    },
    "promptfoo": {
        f"echo-{name}/{prompt}": {"right": right}
        for name in ("alpha", "beta")
        for prompt, right in (("plain", 1 / 6), ("terse", 5 / 6))
    },
    "deepeval": {"alpha": {"Right": 8 / 15, "Length": 0.675}},
    "pydantic-evals": {"alpha": {"EqualsExpected": 19 / 30, "length": 0.6375}},
    "ragas": {"result_alpha": {"exact_match": 8 / 15}},
}
SIZES = {
    "inspect/eval": (192, 32),
    "lm-eval/seeded": (148, 74),
    "promptfoo": (48, 6),
    "pydantic-evals": (30, 15),
}


@pytest.mark.parametrize("folder", MEANS)
def test_the_means_of_a_real_log_are_those_that_the_harness_reports(folder: str, shared: Path) -> None:
    logs = logs_of(shared) / folder
    if folder == "inspect/eval":
        pytest.importorskip("zstandard")
    found = run_json("import", logs)
    for system, means in MEANS[folder].items():
        assert {name: found["means"][system][name] for name in means} == pytest.approx(means, abs=1e-6)
    assert all(
        one["mean"] == pytest.approx(one["reported"]) for log in found["logs"] for one in log["reported"]
    )
    if folder in SIZES:
        assert (found["n_rows"], found["n_items"]) == SIZES[folder]


def test_passages_of_two_real_tasks_are_clusters_of_their_own(shared: Path) -> None:
    tasks = ("--task", "bridge_arches", "--task", "bridge_spans")
    found = run_json("import", logs_of(shared) / "lm-eval" / "seeded", *tasks)
    assert [one["n_clusters"] for one in found["clusters"] if one["column"] == "passage"] == [18]


def logs_of(shared: Path) -> Path:
    folder = shared / "logs"
    if not folder.is_dir():
        pytest.skip(f"there are no logs of real runs in {shared}")
    return folder
