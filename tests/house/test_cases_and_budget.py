"""Loops of cases report all that failed, and the CPU budget finds the tests that are above it, and only those."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cases import each_case, every_case
from cpu_budget import ALONE
from places import TESTS

TRIED: list[tuple[int, str]] = []


@each_case("number", lambda: range(1, 4))
@each_case("letter", ["a", "b"], ids=["first", "second"])
def test_every_combination_is_tried_with_a_folder_of_its_own(
    number: int, letter: str, tmp_path: Path
) -> None:
    assert not list(tmp_path.iterdir())
    (tmp_path / letter).touch()
    TRIED.append((number, letter))


def test_the_loop_before_has_tried_them_all() -> None:
    if not TRIED:
        pytest.skip("the test before was not run")
    assert TRIED[-6:] == [(number, letter) for number in (1, 2, 3) for letter in "ab"]


def test_all_cases_that_fail_are_reported_with_their_number() -> None:
    @each_case("number", range(5), ids="case {}".format)
    def even(number: int) -> None:
        assert number % 2 == 0, "odd"

    with pytest.raises(pytest.fail.Exception) as failed:
        even()
    told = str(failed.value)
    assert told.startswith("2 of 5 cases failed:")
    assert "--- case 1" in told
    assert "--- case 3" in told
    assert "case 2" not in told
    assert told.count("AssertionError: odd") == 2


def test_no_cases_at_all_are_a_failure() -> None:
    with pytest.raises(pytest.fail.Exception, match="There are no cases"), every_case():
        pass


def test_cases_that_are_skipped_skip_the_test_only_if_all_are() -> None:
    def tried(skipped: range) -> int:
        with every_case() as cases:
            for number in range(3):
                with cases.case(number):
                    if number in skipped:
                        pytest.skip("not here")
        return cases.n - len(cases.skipped)

    assert tried(range(1)) == 2
    with pytest.raises(pytest.skip.Exception, match="0: not here"):
        tried(range(3))


def test_patches_of_a_case_end_with_it() -> None:
    seen = []

    @each_case("value", ["one", "two"])
    def patched(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
        seen.append(os.environ.get("HUMEVAL_CASE"))
        monkeypatch.setenv("HUMEVAL_CASE", value)

    with pytest.MonkeyPatch.context() as outer:
        patched(monkeypatch=outer)
    assert seen == [None, None]


MEASURED = """
import time
import pytest
from cases import each_case

def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

@pytest.fixture(scope="module")
def shared():
    burn(0.15)

def test_with_what_others_share(shared): pass

def test_above(): burn(0.15)

def test_only_the_first_time(seen=[]):
    seen or burn(0.15)
    seen.append(1)

@pytest.mark.slow
def test_marked(): burn(0.15)

@each_case("number", range(7))
def test_seven(number): pass
"""


def test_a_test_above_the_budget_alone_too_fails_the_run_and_no_other_does(tmp_path: Path) -> None:
    (tmp_path / "test_measured.py").write_text(MEASURED)
    (tmp_path / "conftest.py").write_text("pytest_plugins = ['cpu_budget']\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow: ...\n")

    places = f"{TESTS}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    kept = {name: value for name, value in os.environ.items() if name != ALONE}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--cpu-budget", "0.1"],
        cwd=tmp_path,
        env={**kept, "PYTHONPATH": places, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "11 cases, those within a test counted." in done.stdout
    lines = [line for line in done.stdout.splitlines() if " s, alone " in line]
    assert sorted(line.split("::")[1].partition(":")[0] for line in lines) == [
        "test_above",
        "test_only_the_first_time",
    ]
    assert [line.split("::")[1].partition(":")[0] for line in lines if "make it faster" in line] == [
        "test_above"
    ]
