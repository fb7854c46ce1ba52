"""Rows of rejected, returned or unfinished work are never analysed, nor left out, without a word."""

import json
from pathlib import Path

import pandas as pd
import pytest
from cases import each_case
from click.testing import CliRunner, Result

from humeval_power.doors.terminal.main import main
from humeval_power.errors import InputError
from humeval_power.ratings import ratings_from_table


def table(column: str, states: list[str]) -> pd.DataFrame:
    """48 ratings by six workers; the states are those of the first rows."""
    rows = [
        (f"w{worker}", f"i{item}", system, 1 + (worker + 2 * item + (system == "B")) % 5)
        for worker in range(6)
        for item in range(4)
        for system in "AB"
    ]
    frame = pd.DataFrame(rows, columns=["worker", "item", "system", "rating"])
    fine = {"Finished": "True", "Status": "IP Address", "status": "APPROVED"}.get(column, "Approved")
    frame[column] = states + [fine] * (len(frame) - len(states))
    return frame


@each_case(
    ("column", "states", "words"),
    [
        ("AssignmentStatus", ["Rejected"] * 3, "AssignmentStatus is 'Rejected': 3"),
        ("Status", ["Survey Preview", "Spam"], "Status is 'Survey Preview': 1, 'Spam': 1"),
        ("status", ["RETURNED", "TIMED-OUT", "REJECTED", "AWAITING REVIEW"], "status is 'RETURNED': 1"),
        ("Finished", ["False", "0"], "Finished is 'False': 1, '0': 1"),
        ("response status", ["discarded"], "response status is 'discarded': 1"),
        ("was_cancelled", ["True"], "was_cancelled is 'True': 1"),
    ],
)
def test_a_table_with_marked_rows_is_refused_until_it_is_decided(
    column: str, states: list[str], words: str
) -> None:
    found = table(column, states)
    with pytest.raises(InputError) as caught:
        ratings_from_table(found)
    (problem,) = caught.value.problems
    assert f"{len(states)} of 48 rows hold rejected or unfinished work by their {column}" in problem.rule
    assert words in problem.rule
    assert "--rejected-rows drop" in problem.remedy
    dropped = ratings_from_table(found, rejected_rows="drop")
    assert dropped.n_ratings == 48 - len(states)
    steps = [(step.step, step.rows) for step in dropped.flow]
    assert steps == [("read", 48), ("dropped", len(states)), ("analysed", 48 - len(states))]
    kept = ratings_from_table(found, rejected_rows="keep")
    assert kept.n_ratings == 48
    assert any(
        f"{len(states)} row" in notice and "--rejected-rows keep" in notice for notice in kept.notices
    )


@each_case(
    ("column", "state"),
    [
        ("AssignmentStatus", "Submitted"),
        ("AssignmentStatus", "Approved"),
        ("status", "APPROVED"),
        ("status", "1"),
        ("Finished", "TRUE"),
        ("comment", "rejected"),
        ("Reject", "too fast"),
    ],
)
def test_work_that_was_accepted_is_analysed_as_it_is(column: str, state: str) -> None:
    assert ratings_from_table(table(column, [state])).n_ratings == 48


def test_a_column_that_is_read_as_an_id_is_no_column_of_states() -> None:
    found = table("status", ["rejected"] * 10)
    found["status"] = ["rejected" if system == "A" else "accepted" for system in found["system"]]
    assert ratings_from_table(found, system="status").system_names == ("accepted", "rejected")


def test_the_reason_of_a_requester_marks_a_row_that_is_submitted() -> None:
    found = table("AssignmentStatus", ["Submitted"] * 48)
    found["Reject"] = ["too fast", "", *[""] * 46]
    with pytest.raises(InputError, match=r"1 of 48 rows .* Reject is 'too fast': 1"):
        ratings_from_table(found)


def test_marked_rows_of_other_systems_do_not_matter() -> None:
    found = table("AssignmentStatus", [])
    extra = found.iloc[:2].assign(system="C", AssignmentStatus="Rejected")
    both = pd.concat([found, extra], ignore_index=True)
    assert ratings_from_table(both, systems=("A", "B")).n_ratings == 48
    with pytest.raises(InputError, match="2 of 50 rows"):
        ratings_from_table(both, require_pair=False)


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "batch.csv"
    table("AssignmentStatus", ["Rejected"] * 3).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("check",),
        ("fit",),
        ("analyze",),
        ("release",),
        ("plan", "--effect", "0.1", "--items", "20:40:4", "--max-workers", "10", "--cost-per-rating", "1"),
        ("assessment", "decompose"),
        ("resample",),
        ("judge", "estimate"),
        ("looks", "pool"),
    ],
)
def test_no_command_takes_rejected_ratings_without_a_word(export: Path, words: tuple[str, ...]) -> None:
    frame = pd.read_csv(export)
    frame["judge"] = frame["rating"]
    frame.to_csv(export, index=False)
    at = 2 if words[0] in ("assessment", "judge", "looks") else 1
    found = run(*words[:at], export, *words[at:])
    told = " ".join(found.stderr.split())
    assert found.exit_code == 2, told
    assert "3 of 48 rows hold rejected or unfinished work by their AssignmentStatus" in told
    assert "--rejected-rows drop leaves them out" in told


def test_rejected_judgements_are_not_tested_without_a_word(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    votes = pd.DataFrame({"preference": ["A", "B"] * 10, "status": ["RETURNED"] + ["APPROVED"] * 19})
    votes.to_csv(path, index=False)
    found = run("preference", "test", path)
    assert found.exit_code == 2
    assert "1 of 20 rows hold rejected or unfinished work" in " ".join(found.stderr.split())
    dropped = run("preference", "test", path, "--rejected-rows", "drop")
    assert dropped.exit_code == 0, dropped.stderr
    assert "1 row is left out: status is 'RETURNED': 1." in " ".join(dropped.stderr.split())


def test_the_count_stands_in_the_text_and_in_the_record(export: Path) -> None:
    text = run("check", export, "--rejected-rows", "drop")
    assert "Left out  3: rejected or unfinished (AssignmentStatus is 'Rejected': 3)" in text.stdout
    record = json.loads(run("check", export, "--rejected-rows", "drop", "--json").stdout)
    assert record["flow"][1] == {
        "step": "dropped",
        "rows": 3,
        "reason": "rejected or unfinished (AssignmentStatus is 'Rejected': 3)",
    }
    kept = json.loads(run("check", export, "--rejected-rows", "keep", "--json").stdout)
    assert any("3 rows are of rejected or unfinished work" in notice for notice in kept["notices"])
