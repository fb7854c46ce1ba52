"""Tables of independent judgements: every form that a look takes, what is left out, and what is refused."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from humeval_power.comparisons.accuracy.agreement import KnownAgreement
from humeval_power.comparisons.accuracy.paired import PairedAccuracy
from humeval_power.comparisons.assessment.scenario import DirectAssessment
from humeval_power.comparisons.preference.scenario import Preference
from humeval_power.errors import InputError
from humeval_power.studies.looks.judgement_plan import JudgementPlan
from humeval_power.studies.looks.stopping_rule import StoppingRule, efficacy_of
from humeval_power.studies.monitor.state import Observations
from humeval_power.studies.monitor.taking import read_observations

HOSTILE = 'new, "<b>é😀</b>" & $\\frac{1}{2}$ ' + "y" * 30


def plan_of(study, systems=("old", "new")) -> JudgementPlan:
    return JudgementPlan(systems, study, (0.5, 1.0), StoppingRule(efficacy_of("pocock")))


SCORES = plan_of(DirectAssessment(50, effect=5.0))
PREFERENCE = plan_of(Preference(50, preference=0.2))
ACCURACY = plan_of(PairedAccuracy(50, difference=0.1, agreement=KnownAgreement(0.7)))


def read(tmp_path: Path, frame: pd.DataFrame, plan: JudgementPlan, **how) -> Observations:
    path = tmp_path / "judged.csv"
    frame.to_csv(path, index=False)
    return read_observations(path, plan, **how)


def test_scores_by_system_with_what_was_left_out(tmp_path) -> None:
    frame = pd.DataFrame(
        {
            "annotator": list("abcdef"),
            "system": ["old", " new", "old", "new", "third", "new"],
            "score": ["70", "80.5", "", "90", "1", "60"],
        }
    )
    seen = read(tmp_path, frame, SCORES)
    assert seen.value.tolist() == [70, 80.5, 90, 60]
    assert seen.is_b.tolist() == [False, True, True, True]
    assert seen.worker == ["a", "b", "d", "f"]
    assert seen.item is None
    assert seen.notices == ("1 row of other systems left out.", "1 row without a score left out.")


def test_systems_may_have_any_name(tmp_path) -> None:
    frame = pd.DataFrame({"system": ["old", HOSTILE] * 3, "score": range(6)})
    assert read(tmp_path, frame, plan_of(SCORES.study, ("old", HOSTILE))).is_b.sum() == 3
    assert read(tmp_path, frame, SCORES, systems=("old", HOSTILE)).is_b.sum() == 3
    with pytest.raises(InputError, match=r"has no row of 'new'.*systems=\('A', 'B'\)"):
        read(tmp_path, frame, SCORES)


def test_scores_of_several_criteria_are_refused(tmp_path) -> None:
    frame = pd.DataFrame(
        {"system": ["old", "new"] * 2, "score": range(4), "criterion": ["x", "x", "y", "y"]}
    )
    with pytest.raises(InputError, match="several criteria"):
        read(tmp_path, frame, SCORES)
    assert len(read(tmp_path, frame[:2], SCORES)) == 2


def test_repeats_and_checks_are_left_out(tmp_path) -> None:
    frame = pd.DataFrame(
        {
            "system": ["old", "new", "new", ""],
            "score": [1, 2, 3, 4],
            "kind": ["rating", "rating", "repeat", "check"],
        }
    )
    seen = read(tmp_path, frame, SCORES)
    assert seen.value.tolist() == [1, 2]
    assert "2 rows left out: repeats and attention checks" in seen.notices[0]


def test_preferences_as_rows_and_as_counts(tmp_path) -> None:
    rows = pd.DataFrame({"prompt": list("abcd"), "choice": ["B", "a", "tie", "b"]})
    seen = read(tmp_path, rows, PREFERENCE)
    assert seen.value.tolist() == [1, -1, 0, 1]
    assert seen.item == list("abcd")
    counts = read(tmp_path, pd.DataFrame({"wins": [2], "ties": [1], "losses": [1]}), PREFERENCE)
    assert sorted(counts.value) == sorted(seen.value)
    with pytest.raises(InputError, match="2 comparisons; a look is taken at one"):
        read(tmp_path, pd.DataFrame({"wins": [2, 3], "losses": [1, 4]}), PREFERENCE)


def test_answers_as_columns_as_rows_and_as_counts(tmp_path) -> None:
    wide = pd.DataFrame(
        {
            "item": list("abcde"),
            "old": ["1", "0", "right", "wrong", ""],
            "new": ["0", "1", "right", "wrong", "1"],
        }
    )
    seen = read(tmp_path, wide, ACCURACY)
    assert seen.value.tolist() == [-1, 1, 0, 0]
    assert seen.item == list("abcd")
    assert seen.notices == ("1 item without an answer of both systems left out.",)
    long = wide.melt("item", var_name="model", value_name="correct").sample(frac=1, random_state=2)
    found = read(tmp_path, long, ACCURACY)
    assert dict(zip(found.item, found.value, strict=True)) == dict(zip(seen.item, seen.value, strict=True))
    counts = read(tmp_path, pd.DataFrame({"b": [1], "c": [1], "n": [4]}), ACCURACY)
    assert sorted(counts.value) == sorted(seen.value)


def test_what_is_no_answer_is_refused_with_its_row(tmp_path) -> None:
    wide = pd.DataFrame({"item": list("ab"), "old": ["1", "maybe"], "new": ["2", "1"]})
    with pytest.raises(InputError) as caught:
        read(tmp_path, wide, ACCURACY)
    assert {(problem.row, problem.column) for problem in caught.value.problems} == {(3, "old"), (2, "new")}
    long = pd.DataFrame({"item": ["a", "a", "a"], "system": ["old", "new", "new"], "score": [1, 0, 1]})
    with pytest.raises(InputError, match="item 'a' has a second answer of system 'new'"):
        read(tmp_path, long, ACCURACY)
    with pytest.raises(InputError, match="there are no answers of old and new"):
        read(tmp_path, pd.DataFrame({"x": [1], "y": [2]}), ACCURACY)


def test_a_blank_worker_is_refused(tmp_path) -> None:
    frame = pd.DataFrame({"worker": ["a", ""], "preference": ["A", "B"]})
    with pytest.raises(InputError, match="the worker is blank"):
        read(tmp_path, frame, PREFERENCE)


def test_many_scores_are_read(tmp_path) -> None:
    n = 20_000
    frame = pd.DataFrame(
        {
            "worker": np.arange(n),
            "system": np.where(np.arange(n) % 2, "new", "old"),
            "score": np.arange(n) % 101,
        }
    )
    assert len(read(tmp_path, frame, SCORES)) == n
