"""Logs of harnesses as right and wrong answers."""

from pathlib import Path

import cli
import harness_logs
import pytest

from humeval_power.comparisons.accuracy.files import read_answers


@pytest.mark.parametrize("harness", ["lm-eval", "inspect", "openai-evals"])
def test_logs_of_a_harness_are_a_table_of_right_and_wrong(tmp_path: Path, harness: str) -> None:
    folder = harness_logs.WRITERS[harness](tmp_path / "logs")
    found = read_answers(folder)
    expected = {name: [bool(score) for score in scores] for name, scores in harness_logs.SCORES.items()}
    by_name = dict(zip(found.systems, found.right.T.tolist(), strict=True))
    assert {name: sorted(right) for name, right in by_name.items()} == {
        name: sorted(right) for name, right in expected.items()
    }
    a, b = (expected[name] for name in found.systems)
    assert found.pair(0, 1).only_b == sum(one and not other for one, other in zip(b, a, strict=True))
    assert cli.run_json("accuracy", "test", str(folder))["comparisons"][0]["n_items"] == 12


def test_of_several_metrics_in_logs_one_is_asked_for(tmp_path: Path) -> None:
    folder = harness_logs.WRITERS["helm"](tmp_path / "logs")
    said = " ".join(cli.run("accuracy", "test", str(folder), code=2).stderr.split())
    assert "the logs have several metrics" in said
    assert read_answers(folder, column="exact_match").n_items == 12
