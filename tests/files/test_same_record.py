"""What does not change a result does not stand in its record; and a run that is killed leaves nothing for good."""

import json
import os
from pathlib import Path

import pytest
from cli import run

from humeval_power.studies.monitor.files import kept_secret

STUDY = ("power", "--preset", "low", "--workers", 6, "--items", 24, "--effect", 0.1, "--method", "analytic")


@pytest.mark.parametrize("where", [("--jobs", 2), ("--jobs=2",), ("--jobs", 1, "--jobs", 2)])
def test_the_number_of_cores_does_not_stand_in_the_record(where: tuple[object, ...]) -> None:
    one = run(*STUDY, "--jobs", 1, "--seed", 3, "--json").stdout
    assert run(*STUDY, *where, "--seed", 3, "--json").stdout == one
    assert json.loads(one)["command"].endswith("--method analytic --seed 3 --json")


def test_a_secret_whose_maker_was_killed_leaves_nothing_for_good(tmp_path: Path) -> None:
    path = tmp_path / "study.secret"
    child = os.fork()
    if child == 0:
        os.fsync = lambda _file: os._exit(9)  # type: ignore[assignment]
        kept_secret(path)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert list(tmp_path.iterdir())  # what it left, under another name than the secret's
    assert not path.exists()
    kept_secret(path)
    assert [each.name for each in tmp_path.iterdir()] == ["study.secret"]
